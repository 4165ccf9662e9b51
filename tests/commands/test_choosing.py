"""The choice of texts to rate next, and its promises."""

import math
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.simulate import simulate
from numpy.random import default_rng

from refless.commands.next.active_learning import learn
from refless.commands.next.sampling_design import (
    Units,
    beside_pair,
    draw,
    items_to_draw,
    outputs_to_draw,
    typical_error,
)
from refless.data.design import Design
from refless.data.records import Outputs, Residuals, as_outputs
from refless.estimators.gp import GaussianProcess
from refless.estimators.neighbors import BLEUNeighbors
from refless.evaluation.comparing import Field, Pair, compared
from refless.stats.intervals import student

POOL = simulate(90, seed=11).pool
RATED = np.arange(60)
OTHERS = np.arange(60, 90)
FITTED = GaussianProcess(threads=1).fit(POOL.take(RATED))
OUTPUTS = as_outputs(POOL.take(OTHERS))
PAIR = ("careful", "hasty")


def test_copies_are_asked_once() -> None:
    """Of equal outputs one; what is there twice counts twice."""
    twice = Outputs(
        ids=tuple(f"{i}" for i in range(60)),
        texts=OUTPUTS.texts * 2,
        sources=OUTPUTS.sources * 2,
    )
    found = learn(FITTED, twice, 60, 0)
    assert found.units == found.n == 30
    assert len({twice.texts[i] for i in found.rows}) == 30


def test_of_many_outputs_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """More different ones than the limit: as many are drawn, with the seed."""
    monkeypatch.setattr("refless.commands.next.active_learning.MOST", 10)
    first, second = (
        {*learn(FITTED, OUTPUTS, 9, seed).rows.tolist()} for seed in (0, 1)
    )
    assert len(first) == len(second) == 9
    assert first != second


def test_half_width_by_hand() -> None:
    """Student's t times the error of a mean: 10 of 30 rated, and 30 a sample themselves."""
    units = outputs_to_draw(BLEUNeighbors(max_fraction=1.0).fit(POOL), OUTPUTS)
    error = math.sqrt(units.spread**2 / 10 * (1 - 10 / 30) + units.variance / 30)
    assert units.half_width(10) == pytest.approx(student(9) * error)
    textbook = Units(goal="mean", members=((0,),) * 50, spread=3.0)
    assert replace(textbook, variance=9.0).half_width(10) == pytest.approx(
        student(9) * 3 / 10**0.5
    )


def test_equal_answers_are_no_difference() -> None:
    """If both systems say the same there is nothing to miss."""
    texts = [f"about {item}" for item in OUTPUTS.items]
    same = replace(OUTPUTS, texts=tuple(texts))
    assert items_to_draw(FITTED, same, PAIR).spread == 0
    assert items_to_draw(FITTED, OUTPUTS, PAIR).spread > 0


def test_a_system_that_is_misjudged_as_a_whole_widens_no_difference() -> None:
    """By hand: errors 1, 3 and -1, -3 of two systems are 1 off their means, with 4 - 2 freedom."""

    class Misjudged:
        """Errors that are mostly a system's."""

        rated = POOL.take(np.arange(4))

        def residuals(self) -> Residuals:
            return Residuals(
                values=np.array([1.0, 3, -1, -3]), systems=("a", "a", "b", "b")
            )

    found = FITTED.estimate(OUTPUTS)
    for of_differences, expected in ((False, np.sqrt(5)), (True, np.sqrt(2))):
        spread, _ = typical_error(Misjudged(), found, of_differences=of_differences)
        assert spread == pytest.approx(expected)


def test_two_equal_systems_are_not_said_to_be_told_apart() -> None:
    """Systems by dice, compared by estimates: few items should show a difference in at most 5 %."""
    said = 0
    for seed in range(20):
        rng = default_rng(seed)
        pool = simulate(60, seed=seed).pool
        systems = tuple(
            "ab"[k] for k in rng.permuted(np.tile([0, 1], (30, 1)), axis=1).ravel()
        )
        outputs = Outputs(
            ids=pool.ids,
            texts=tuple(pool.texts[i] for i in rng.permutation(60)),
            systems=systems,
            items=tuple(str(i // 2) for i in range(60)),
        )
        known = simulate(60, seed=1_000 + seed).pool
        fitted = GaussianProcess(threads=1).fit(known.texts, known.human)
        field = Field(
            outputs=outputs,
            human=np.full(60, np.nan),
            estimates=fitted.estimate(outputs).values,
            probability=np.full(60, np.nan),
            design=Design.of(outputs),
        )
        pair = compared(field, fitted.residuals(), ["a", "b"]).pairs[0]
        said += 0 < pair.further <= 30
    assert said <= 1


def rated_in_part(
    rng: np.random.Generator, asked: int
) -> tuple[Outputs, Outputs, Pair]:
    """Outputs of two systems for 80 items without and with a rating, and how they compare.

    16 items have both ratings, 24 have one; of these and the others some more are then rated.
    """
    n = 80
    item = np.tile(np.arange(n), 2)
    system = np.repeat([0, 1], n)
    human = rng.normal(size=n)[item] + rng.normal(size=2 * n) + 0.2 * system
    rated = (item < 16) | ((item < 40) & (item % 2 == system))
    left = np.unique(item[~rated])
    rated |= np.isin(item, rng.permutation(left)[:asked])
    outputs = Outputs(
        ids=tuple(f"{s}-{i}" for s, i in zip(system, item, strict=True)),
        texts=tuple(f"{'ab'[s]} says {i}" for s, i in zip(system, item, strict=True)),
        systems=tuple("ab"[s] for s in system),
        items=tuple(f"i{i:02}" for i in item),
    )
    field = Field(
        outputs=outputs,
        human=np.where(rated, human, np.nan),
        estimates=human + rng.normal(size=2 * n),
        probability=np.full(2 * n, np.nan),
        design=Design.of(outputs),
    )
    pair = compared(field, Residuals(values=np.zeros(0)), ["a", "b"]).pairs[0]
    parts = (outputs.take(np.flatnonzero(one)) for one in (~rated, rated))
    return next(parts), next(parts), pair


def test_other_halves_are_asked_and_widths_come_true() -> None:
    """Today's width is that of compare; 20 more items bring the promised one within 10 %."""
    ratios = []
    for seed in range(40):
        left, done, pair = rated_in_part(default_rng(seed), 0)
        units = items_to_draw(None, left, ("a", "b"), done)
        assert (units.already, len(units.members)) == (16, 64)
        assert pair.progress.rated == (28, 28)
        assert (pair.progress.both, pair.progress.common) == (16, 80)
        assert sorted(map(len, units.members)) == [1] * 24 + [2] * 40
        today = beside_pair(units, pair, 1.0)
        low, high = pair.difference.interval
        assert today.half_width(0) == pytest.approx((high - low) / 2)
        assert today.already == 40
        low, high = rated_in_part(default_rng(seed), 20)[2].difference.interval
        ratios.append(today.half_width(20) / ((high - low) / 2))
    assert np.mean(ratios) == pytest.approx(1, abs=0.1)


def test_promised_widths_come_true() -> None:
    """The half width of n drawn ratings is the promised one, on average over pools within 10 %."""
    ratios = []
    for seed in range(6):
        pool = simulate(150, seed=seed).pool
        fitted = GaussianProcess(threads=1).fit(pool.take(np.arange(60)))
        rest = pool.take(np.arange(60, 150))
        units = outputs_to_draw(fitted, as_outputs(rest))
        errors = rest.human - fitted.predict(as_outputs(rest))
        true = math.sqrt(errors.var() * (1 / 30 - 1 / 90) + rest.human.var() / 90)
        ratios.append(units.half_width(30) / (student(29) * true))
    assert 0.9 < float(np.mean(ratios)) < 1.1
    assert math.isfinite(max(ratios))


def test_outputs_that_are_rated_already_count() -> None:
    """50 more beside 30 of 100 are as exact as 80 of 100, at random; none more is what there is."""
    every = Units(
        goal="mean", members=tuple((i,) for i in range(100)), spread=0.5, variance=0.3
    )
    left = Units(
        goal="mean",
        members=every.members[:70],
        spread=0.5,
        variance=0.3,
        already=30,
        most=1.0,
    )
    assert left.half_width(50) == pytest.approx(every.half_width(80))
    assert left.half_width(0) == pytest.approx(every.half_width(30))
    aim = every.half_width(45)
    assert left.needed(aim) == 15
    curve = draw(left, 10, 0, aim).curve
    assert (curve[0].n, curve[0].width) == (0, left.half_width(0))
