"""Intervals that hold at any look: by hand, and in simulated rounds of looks after each rating."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import norm

from refless.registry.arrays import FloatArray
from refless.stats.confidence_sequence import (
    FEWEST,
    MADE_UP,
    always_interval,
    first_quantile,
)

RUNS = 1_000
LAST = 300
N = np.arange(FEWEST, LAST + 1)


def widths(freedom: int) -> FloatArray:
    """Half widths for each n, in standard errors; 0 stands for n - 1 degrees of freedom."""
    ends = [always_interval(0.0, 1.0, n, freedom or n - 1) for n in N.tolist()]
    return np.array(ends)[:, 1]


WIDTHS = {freedom: widths(freedom) for freedom in (0, 10**9)}
RATINGS = {
    "even": [0.2, 0.2, 0.2, 0.2, 0.2],
    "middling": [0.05, 0.15, 0.35, 0.3, 0.15],
    "ceiling": [0.02, 0.03, 0.05, 0.1, 0.8],
}


def test_first_look_by_hand() -> None:
    """At a = 2.7955: 2 (.00259 + 2.7955 x .00802) = .05; the look at 60 adds log 6 to a²."""
    assert first_quantile(0.05) == pytest.approx(2.7955, abs=1e-3)
    assert 2 * (norm.sf(2.7955) + 2.7955 * norm.pdf(2.7955)) == pytest.approx(
        0.05, abs=1e-4
    )
    assert always_interval(0.0, 1.0, FEWEST, 1e9)[1] == pytest.approx(2.7955, abs=1e-3)
    low, high = always_interval(1.0, 1.0, 60, 1e9)
    assert high - 1 == pytest.approx(math.sqrt(2.7955**2 + math.log(6)), abs=1e-3)
    assert low - 1 == pytest.approx(1 - high)
    assert math.isnan(always_interval(0.0, 1.0, FEWEST - 1, 8)[0])
    assert always_interval(1.0, 1.0, 60, 1e9, 3)[1] > high
    assert always_interval(0.0, 0.0, 60, 59, reach=4.0)[1] == pytest.approx(
        MADE_UP * 4 / 60
    )


def test_random_walks_reach_it_with_the_chance_that_is_given() -> None:
    """Steps of a tenth of a value, so that little is jumped over: 4,000 walks from 10 to 1,000."""
    rng = default_rng(0)
    start = rng.normal(0, math.sqrt(FEWEST), 4000)
    times = np.arange(FEWEST * 10, 10_001, 10) / 10
    walk = start
    ever = np.abs(start) > math.sqrt(FEWEST) * first_quantile(0.05)
    for before, now in pairwise(times.tolist()):
        walk = walk + rng.normal(0, math.sqrt(now - before), len(walk))
        bound = math.sqrt(now * (first_quantile(0.05) ** 2 + math.log(now / FEWEST)))
        ever |= np.abs(walk) > bound
    assert 0.03 <= ever.mean() <= 0.052


def half_widths(errors: np.ndarray, reach: float, freedom: int = 0) -> np.ndarray:
    """[runs, looks] half widths; the slow twin of one of them is `always_interval`."""
    halves = np.hypot(WIDTHS[freedom] * errors, MADE_UP * reach / N)
    place = 60 - FEWEST
    low, high = always_interval(0.0, errors[0, place], 60, freedom or 59, reach=reach)
    assert halves[0, place] == pytest.approx((high - low) / 2)
    return halves


def plain(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[runs, looks] means and their errors; what is all equal is as unsure as one other value.

    As equal values are by `refless.stats`: the square of a usual difference, by how many are equal.
    """
    n = np.arange(1, LAST + 1)
    means = np.cumsum(values, axis=1) / n
    squares = np.cumsum(np.square(values), axis=1) / n - means**2
    common = np.stack(
        [np.cumsum(values == value, axis=1) for value in np.unique(values)]
    )
    largest = np.take_along_axis(common, common.argmax(axis=0)[None], axis=0)[0]
    usual = np.unique(values)[common.argmax(axis=0)] - means
    others = squares * n - largest * np.square(usual)
    other = np.where(largest < n, others / np.maximum(n - largest, 1), 1.2**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        equal = (largest - 1) / (n - 1) * other / n**2
        errors = np.sqrt(np.maximum(squares, 0) / (n - 1) + equal)
    return means[:, FEWEST - 1 :], errors[:, FEWEST - 1 :]


def ever_wrong(values: np.ndarray, true: float, reach: float) -> float:
    """The share of rounds in which the truth is outside at some look."""
    means, errors = plain(values)
    return float((np.abs(means - true) > half_widths(errors, reach)).any(axis=1).mean())


def drawn(rng: np.random.Generator, kind: str) -> np.ndarray:
    return rng.choice(5, (RUNS, LAST), p=RATINGS[kind]).astype(np.float64)


@pytest.mark.parametrize("kind", RATINGS)
def test_differences_of_ratings_from_1_to_5(kind: str) -> None:
    """Equal systems, and one whose ratings are middling: wrong at some look in at most 5 %."""
    rng = default_rng(3)
    assert ever_wrong(drawn(rng, kind) - drawn(rng, kind), 0.0, 4.0) <= 0.05
    true = float(
        np.dot(RATINGS[kind], range(5)) - np.dot(RATINGS["middling"], range(5))
    )
    assert ever_wrong(drawn(rng, kind) - drawn(rng, "middling"), true, 4.0) <= 0.05


@pytest.mark.parametrize("passing", [0.5, 0.7, 0.9, 0.95])
def test_shares_of_passes(passing: float) -> None:
    """With the two made-up successes and failures of Agresti and Coull: at most 5 %."""
    rng = default_rng(4)
    passes = np.cumsum(rng.random((RUNS, LAST)) < passing, axis=1)[:, FEWEST - 1 :]
    made_up = norm.ppf(0.975) ** 2 / 2
    total = N + 2 * made_up
    centre = (passes + made_up) / total
    halves = half_widths(np.sqrt(centre * (1 - centre) / total), 1.0, 10**9)
    assert (np.abs(centre - passing) > halves).any(axis=1).mean() <= 0.05


def _skewed(rng: np.random.Generator, kind: str) -> tuple[np.ndarray, float]:
    """[1000, 300] differences of ratings from 1 to 5 with few far off on one side; their mean."""
    shape = (RUNS, LAST)
    if kind == "exponential":
        return np.round(np.minimum(rng.exponential(size=shape), 4), 1), 1 - math.exp(-4)
    low = rng.choice([-1, 0, 1], shape, p=[0.05, 0.9, 0.05])
    low -= np.where(rng.random(shape) < 0.05, rng.integers(1, 5, shape), 0)
    return low.astype(np.float64), -0.125


@pytest.mark.parametrize("kind", ["exponential", "nearly all at the top"])
def test_intervals_hold_if_differences_are_skewed(kind: str) -> None:
    """Outside at some look in at most 5 % (standard error .7 %); without what is made up 10 %."""
    values, true = _skewed(default_rng(6), kind)
    assert ever_wrong(values, true, 4.0) <= 0.055
    assert ever_wrong(values, true, 0.0) > 0.09
