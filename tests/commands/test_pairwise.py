"""Shares of preferred outputs that are picked, by hand; sentences on nulls."""

import re
from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng

from refless.commands.estimating import fitted
from refless.commands.pairs.card import card_of_estimates, worth_using
from refless.commands.pairs.pairwise import Pairwise, pairwise
from refless.commands.pairs.run import held_out_differences
from refless.data.choices import choices_in
from refless.data.records import RatedPool
from refless.data.tables import Columns, Reading, read_pool
from refless.estimators.gp import GaussianProcess
from refless.registry.arrays import FloatArray
from refless.report.document import Figure
from refusals import bad_usage

PICTURE = Figure(template="chart.svg", values={}, caption="")


def pool_of(rows: list[dict[str, Any]], *scores: str) -> RatedPool:
    return read_pool(rows, Reading(columns=Columns(score=scores))).pool


def choice(
    source: int, won: object, a: str = "a", b: str = "b", **more: object
) -> dict[str, Any]:
    return {"prompt": f"s{source}", "output_a": a, "output_b": b, "winner": won, **more}


def by_hand() -> RatedPool:
    """Four pairs of four sources; of the third people are split, the last has three votes."""
    votes = "0a 1b 2a 2b 3a 3a 3b"
    return pool_of([choice(int(source), won) for source, won in votes.split()])


def towards(pool: RatedPool, ahead: dict[str, float]) -> FloatArray:
    """[k] how far the text "a" of each source is ahead, as differences of first and second."""
    choices = choices_in(pool)
    sides = np.array(
        [1.0 if pool.texts[i].startswith("a") else -1.0 for i in choices.first]
    )
    return sides * np.array([ahead[pool.sources[i]] for i in choices.first])


def test_shares_by_hand() -> None:
    """Right of pairs 1, 2 and 4: yes, no opinion, yes."""
    pool = by_hand()
    nan = float("nan")
    differences = {
        "mine": towards(pool, {"s0": 1, "s1": 0, "s2": -1, "s3": 2}),
        "other": towards(pool, {"s0": -1, "s1": -1, "s2": 1, "s3": nan}),
    }
    study = pairwise(pool, choices_in(pool), differences, seed=0, resamples=40)
    assert (study.choices, study.pairs, study.groups, study.even) == (7, 4, 4, 1)
    mine, other = study.judges
    assert mine.accuracy == pytest.approx((1 + 0.5 + 1) / 3)
    assert other.accuracy == pytest.approx((0 + 1 + 0.5) / 3)
    assert other.gap == pytest.approx(1 / 3)


def test_one_person_by_hand() -> None:
    """Votes 1, 1, 0 on one pair: the others of each are split, split, and agree against it."""
    pool = by_hand()
    person = pairwise(
        pool, choices_in(pool), {"a": np.zeros(4)}, seed=0, resamples=40
    ).person
    assert person is not None
    assert (
        person.n == 3
    )  # of the even pair each vote has one other, which is against it
    assert person.accuracy == 0
    assert person.reference == 0.5


def test_length_learns_which_way() -> None:
    """If people prefer the shorter text, it picks that; on its own source it has not looked."""
    rows = [
        choice(i, "a" if i else "b", "short", f"much longer {i}") for i in range(10)
    ]
    pool = pool_of(rows)
    choices = choices_in(pool)
    differences = held_out_differences({}, pool, choices)
    judges = pairwise(pool, choices, differences, seed=0, resamples=40).judges
    assert {judge.name for judge in judges} == {"length", "TF-IDF", "a coin"}
    assert judges[0].accuracy == pytest.approx(0.9)


def test_scores_judge_by_the_higher_one() -> None:
    """A missing score is no opinion."""
    scores = [(2.0, 1.0), (1.0, 2.0), (None, 2.0)]
    rows = [choice(i, "a", judge_a=a, judge_b=b) for i, (a, b) in enumerate(scores)]
    pool = pool_of(rows, "judge")
    choices = choices_in(pool)
    judge = held_out_differences({}, pool, choices)["judge"]
    study = pairwise(pool, choices, {"judge": judge}, seed=0, resamples=40)
    assert study.judges[0].accuracy == pytest.approx((1 + 0 + 0.5) / 3)


def test_one_source_cannot_be_held_out() -> None:
    """The remedy is a column of sources."""
    pool = pool_of([choice(0, "a"), choice(0, "a", "b", "c")])
    with bad_usage("add a column of sources"):
        held_out_differences({}, pool, choices_in(pool))


def test_no_text_is_estimated_from_its_rival() -> None:
    """Errors of noise are no smaller because the rival's rating, 1 less its own, is known."""
    squares = []
    for seed in range(
        6
    ):  # of a coin: a quarter, and more by what was learned from noise
        rng = default_rng(seed)
        rows = [
            {
                "output_a": f"a {i} text",
                "output_b": f"a {i} word",
                "winner": "ab"[rng.integers(2)],
            }
            for i in range(40)
        ]
        errors = fitted(GaussianProcess(), pool_of(rows)).residuals()
        squares.append(float(np.square(errors.values).mean()))
    assert np.mean(squares) > 0.24


def ahead_of(n: int, shares: dict[str, FloatArray], per_source: int = 1) -> Pairwise:
    """Methods that are right where their columns are above 0, on n pairs."""
    pool = pool_of([choice(i // per_source, "a", f"a{i}", f"b{i}") for i in range(n)])
    choices = choices_in(pool)
    number = np.array([int(pool.texts[i][1:]) for i in choices.first])
    sides = np.where(choices.share > 0.5, 1.0, -1.0)
    return pairwise(
        pool,
        choices,
        {name: sides * column[number] for name, column in shares.items()},
        seed=0,
        resamples=200,
    )


def null(rng: np.random.Generator, rule: float, mine: float) -> bool:
    """Whether use is advised of a method that is right with one chance, beside a rule's."""
    columns = {
        name: np.where(rng.random(60) < chance, 1.0, -1.0)
        for name, chance in (("mine", mine), ("length", rule))
    }
    study = ahead_of(60, {**columns, "a coin": np.zeros(60)}, per_source=2)
    return worth_using(study, ("length", "a coin"))


@pytest.mark.parametrize(("rule", "mine"), [(0.5, 0.5), (0.65, 0.65)])
def test_an_honest_null_is_not_advised(rule: float, mine: float) -> None:
    """No better than a coin, or no better than a rule: use is advised at most 5 % of the time."""
    rng = default_rng(7)
    assert sum(null(rng, rule, mine) for _ in range(100)) <= 0.05 * 100


def test_what_is_better_is_advised() -> None:
    """Right 85 times in 100 beside 55: seen in 60 pairs nearly always."""
    rng = default_rng(7)
    assert sum(null(rng, 0.55, 0.85) for _ in range(40)) >= 36


@pytest.mark.parametrize(
    ("accuracy", "state", "said"),
    [
        ((0.8, 0.5, 0.6, 0.55), "yes", "80 % of .*, more often than TF-IDF"),
        ((0.5, 0.5, 0.5, 0.5), "open", "50 % of the pairs .*, as a coin can be"),
        ((0.6, 0.8, 0.6, 0.6), "no", "No: length is right more often, in 80 %"),
        ((0.6, 0.5, 0.605, 0.55), "open", "60 % .*, but TF-IDF may do as well"),
        ((0.6, 0.5, 0.6, 0.9), "no", "No: judge is right more often, in 90 %"),
    ],
)
def test_what_is_said(accuracy: tuple[float, ...], state: str, said: str) -> None:
    """One answer for each way that it can go; a score that is better takes its place."""
    names = ("the Gaussian process", "length", "TF-IDF", "judge")
    columns = {
        name: np.where(np.arange(200) < share * 200, 1.0, -1.0)
        for name, share in zip(names, accuracy, strict=True)
    }
    study = ahead_of(200, columns)
    card = card_of_estimates(study, names[1:], ("judge",), PICTURE, "refless score")
    assert re.search(said, card.answer), card.answer
    assert card.state == state
    assert len(card.answer.split()) <= 20
    assert card.command == ("refless score" if state == "yes" else "")
    assert (card.advice == "use judge.") == ("No: judge" in said)


def test_few_pairs_say_nothing() -> None:
    """Fewer than twenty decided pairs."""
    pool = by_hand()
    columns = {"mine": np.zeros(4), "length": np.zeros(4)}
    study = pairwise(pool, choices_in(pool), columns, seed=0, resamples=40)
    card = card_of_estimates(study, ("length",), (), PICTURE, "")
    assert card.answer == "Not known: 3 decided pairs are too few to tell."
