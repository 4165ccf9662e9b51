"""Annotators left out of their own rating, and their agreement."""

import numpy as np
import pytest
from scipy import stats

from published import huse_pool
from records import pool_from
from refless.data.design import Design
from refless.data.human import pool_of
from refless.evaluation.annotators import annotators
from refless.evaluation.rater_agreement import (
    TENTATIVE,
    agreement_said,
    rater_agreement,
)


def test_left_out_by_hand() -> None:
    """Three people, two texts; against the others' means "a" errs by 1/2 and 1, of 4 points."""
    rows = [
        ("x", "a", 1),
        ("x", "b", 2),
        ("x", "c", 4),
        ("y", "a", 5),
        ("y", "b", 5),
        ("y", "c", 3),
    ]
    found = annotators(pool_from(rows, scale=(1, 5)), leave_out=True)
    assert found.names[0] == "a"
    wanted = (((3 - 1) / 4) ** 2 + ((5 - 4) / 4) ** 2) / 2
    assert found.values["mse"][0] == pytest.approx(wanted)
    assert found.values["spearman"][0] == pytest.approx(1.0)


def test_texts_of_one_annotator_say_nothing_when_left_out() -> None:
    """If nobody else rated a text, there is no human rating to compare with."""
    rows = [("x", "a", 1), ("y", "a", 3), ("y", "b", 3), ("z", "b", 2)]
    found = annotators(pool_from(rows), leave_out=True)
    assert found.names == ("a", "b")
    assert annotators(pool_from(rows[:1] + rows[3:]), leave_out=True) is None


def test_left_out_on_huse() -> None:
    """Each worker against the other 19 ratings, counted here with plain loops."""
    pool = huse_pool()
    found = annotators(pool, leave_out=True)
    values: dict[int, dict[int, float]] = {}
    for text, who, value in zip(
        pool.ratings.text, pool.ratings.annotator, pool.ratings.values, strict=True
    ):
        values.setdefault(int(who), {})[int(text)] = (value - 1) / 5
    rho = []
    for who, mine in values.items():
        others = []
        for text in mine:
            theirs = [
                ratings[text]
                for w, ratings in values.items()
                if w != who and text in ratings
            ]
            others.append(np.mean(theirs))
        if len(mine) > 1 and np.ptp(list(mine.values())) > 0:
            rho.append(
                stats.spearmanr(np.round(others, 12), list(mine.values())).statistic
            )
    assert found.average["spearman"] == pytest.approx(np.mean(rho), abs=1e-9)
    assert found.average["spearman"] < annotators(pool).average["spearman"]


def test_no_agreement_without_second_ratings() -> None:
    """It says so."""
    found = rater_agreement(pool_of(["a", "b"], [1, 2]))
    assert found.alpha_interval.undefined == "no text has two ratings"
    assert np.isnan(found.alpha_interval.value)
    assert np.isnan(found.icc_mean.value)


def test_few_texts_do_not_tell_whether_raters_agree() -> None:
    """An interval with 0 and the bar says nothing; hope would read it as agreement."""
    pool = pool_of(
        [*"abcdefg"], [[1, 2], [3, 2], [2, 2], [4, 1], [1, 1], [3, 4], [2, 4]]
    )
    low, high = rater_agreement(pool).alpha_ordinal.interval
    assert low < 0 < TENTATIVE < high
    said = agreement_said(pool, Design.of(pool))
    assert said.startswith("Not known yet whether raters agree: several people rated 7")
