"""An estimator beside annotators on equal terms: a slow twin, and judges who are annotators."""

from __future__ import annotations

import math

import numpy as np
import pytest

from refless.human import human_ratings
from refless.records import Estimates, FloatArray, RatedPool, Ratings, numbered
from refless.stats.correlation import spearman
from refless.studies.beside_annotators import BesideAnnotators, beside_annotators


def pool_from(table: FloatArray) -> RatedPool:
    """[texts, annotators] ratings, NaN where not rated."""
    text, annotator = np.nonzero(~np.isnan(table))
    ratings = Ratings(
        text=text,
        annotator=annotator,
        values=table[text, annotator],
        annotators=tuple(f"p{i:02}" for i in range(table.shape[1])),
    )
    n = len(table)
    return RatedPool(
        ids=numbered(n), texts=("x",) * n, human=human_ratings(ratings, n), ratings=ratings
    )


def judged(values: FloatArray) -> Estimates:
    n, nothing = len(values), np.full(len(values), np.nan)
    return Estimates(
        ids=numbered(n),
        values=values,
        reasons=tuple("too-few" if math.isnan(v) else "" for v in values),
        support=np.zeros(n, dtype=np.int64),
        low=nothing,
        high=nothing,
    )


def drawn(
    rng: np.random.Generator, n: int, people: int, each: int
) -> tuple[FloatArray, FloatArray]:
    """Ratings 1-5 of n texts by `each` of so many people, and those of one more such judge."""
    quality = rng.normal(size=n)
    table = np.clip(np.rint(3 + quality[:, None] + rng.normal(size=(n, people))), 1, 5)
    for row in table:
        row[rng.permutation(people)[each:]] = np.nan
    return table, np.clip(np.rint(3 + quality + rng.normal(size=n)), 1, 5)


def test_against_loops() -> None:
    """Each annotator on the texts that others rated too and that have an estimate."""
    rng = np.random.default_rng(0)
    table, values = drawn(rng, 60, 4, 2)
    table[0, 1:] = np.nan
    values[:5] = np.nan
    found = beside_annotators(pool_from(table), judged(values), resamples=100)
    assert found is not None
    wanted, errors = [], []
    for one in range(4):
        rows = [
            i
            for i in range(60)
            if not math.isnan(table[i, one] + values[i])
            and (~np.isnan(np.delete(table[i], one))).any()
        ]
        others = np.array([np.nanmean(np.delete(table[i], one)) for i in rows])
        both = table[rows, one], values[rows]
        wanted.append([spearman(others, column) for column in both])
        errors.append([np.square(others - column).mean() for column in both])
    np.testing.assert_allclose(found.spearman, wanted)
    np.testing.assert_allclose(found.mse, errors)
    assert found.annotator == pytest.approx(np.mean(wanted, axis=0)[0])
    assert found.estimator == pytest.approx(np.mean(wanted, axis=0)[1])
    low, high = found.difference_interval
    assert low < found.estimator - found.annotator < high


def beside(seed: int, **how: int) -> BesideAnnotators:
    table, values = drawn(np.random.default_rng(seed), **how)
    found = beside_annotators(pool_from(table), judged(values), resamples=100)
    assert found is not None
    return found


def test_a_judge_who_is_an_annotator_is_level() -> None:
    """With two ratings a text the rating that leaves one out is one person's: no advantage by that.

    40 runs; an interval of 95 % leaves out 0 on either side twice on average.
    """
    found = [beside(seed, n=150, people=6, each=2) for seed in range(40)]
    ends = np.array([one.difference_interval for one in found])
    assert ((ends[:, 0] > 0) | (ends[:, 1] < 0)).sum() <= 6
    gaps = [one.estimator - one.annotator for one in found]
    assert abs(np.mean(gaps)) < 3 * np.std(gaps) / math.sqrt(40) + 0.005


def test_nobody_to_compare_with() -> None:
    """One annotator, or no text that two rated, or no estimate at all."""
    table = np.array([[1.0], [2.0], [3.0]])
    assert beside_annotators(pool_from(table), judged(np.ones(3))) is None
    apart = np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, 3.0]])
    assert beside_annotators(pool_from(apart), judged(np.ones(3))) is None
    both = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 1.0]])
    assert beside_annotators(pool_from(both), judged(np.full(3, np.nan))) is None


def test_constant_estimates_are_undefined() -> None:
    """They rank nothing, so no difference is known."""
    rng = np.random.default_rng(1)
    table, _ = drawn(rng, 30, 3, 3)
    found = beside_annotators(pool_from(table), judged(np.ones(30)), resamples=50)
    assert found is not None
    assert math.isnan(found.estimator)
    assert math.isnan(found.difference_interval[0])


def test_clusters_are_drawn_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """All texts in two clusters: another interval; of very many ratings fewer resamples."""
    table, values = drawn(np.random.default_rng(2), 80, 4, 3)
    pool = pool_from(table)
    alone = beside_annotators(pool, judged(values), resamples=200)
    grouped = beside_annotators(pool, judged(values), resamples=200, clusters=np.arange(80) % 2)
    monkeypatch.setattr("refless.studies.beside_annotators.MOST", 10)
    few = beside_annotators(pool, judged(values), resamples=200)
    assert alone is not None
    assert grouped is not None
    assert few is not None
    assert alone.difference_interval != grouped.difference_interval
    np.testing.assert_allclose(few.difference_interval, alone.difference_interval, atol=0.06)


def test_the_order_of_rows_does_not_matter() -> None:
    """Also where texts are alike but for who gave which rating."""
    table = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [2.0, 3.0, 1.0]] * 4)
    values = np.array([0.1, 0.1, 0.3] * 4)
    order = np.random.default_rng(0).permutation(12)
    found = []
    for rows in (np.arange(12), order):
        pool = pool_from(table[rows])
        one = beside_annotators(pool, judged(values[rows]), resamples=100)
        assert one is not None
        found.append(one.difference_interval)
    assert found[0] == found[1]
