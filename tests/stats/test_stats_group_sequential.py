"""Planned looks: boundaries beside published ones, and beside slow twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy.stats import multivariate_normal, norm
from scipy.stats import t as student_t

from refless.stats.group_sequential import (
    LookPlan,
    Looks,
    Spending,
    after_stopping,
    critical_value,
    crossing_chances,
    ended_by,
    inflation,
    information_of,
    normal_value,
    spent,
)

SPENDINGS: tuple[Spending, ...] = ("pocock", "obrien-fleming")
PUBLISHED: dict[Spending, list[float]] = {
    # five equal looks, error .025 a side, as R's gsDesign 3 (sfLDOF) and ldbounds 2 (iuse = 1)
    # and WinLD (Reboussin, DeMets, Kim & Lan 2000, Controlled Clinical Trials 21) print them
    "obrien-fleming": [4.8769, 3.3570, 2.6803, 2.2898, 2.0310],
    # the same programs by sfLDPocock, and by iuse 2
    "pocock": [2.4380, 2.4268, 2.4101, 2.3966, 2.3859],
}


@pytest.mark.parametrize("spending", SPENDINGS)
def test_five_looks_as_published(spending: Spending) -> None:
    """To three digits after the point."""
    looks = Looks.at((1, 2, 3, 4, 5), 5, spending)
    assert looks.boundaries == pytest.approx(PUBLISHED[spending], abs=3e-4)


def test_unequal_looks_as_rpact() -> None:
    """rpact's tests of 'asP' (x6a): one-sided error .13 at .35, .7 and 1, stage levels .0612 ...

    A walk may also leave on the other side, which one-sided boundaries do not count: of so large an
    error that is .0006 at the end.
    """
    looks = Looks.at((0.35, 0.7, 1.0), 1, "pocock", alpha=0.26)
    assert looks.boundaries == pytest.approx(
        [1.5446617, 1.4828682, 1.4620058], abs=6e-4
    )
    assert [level / 2 for level in looks.spent] == pytest.approx(
        [0.061214062, 0.10266465, 0.13], abs=1e-8
    )


def test_spending_by_hand() -> None:
    """Pocock-like: .025 log(1 + 1.71828 / 2) = .015503; O'Brien-Fleming-like: 2 (1 - Phi(3.17))."""
    assert spent(0.5, 0.025, "pocock") == pytest.approx(0.025 * 0.620115, abs=1e-7)
    assert spent(0.5, 0.025, "obrien-fleming") == pytest.approx(0.0015253, abs=1e-6)
    assert spent(0.5, 0.025, "obrien-fleming") == pytest.approx(
        2 * norm.sf(norm.isf(0.0125) / math.sqrt(0.5))
    )
    for spending in SPENDINGS:
        assert spent(0.0, 0.025, spending) == 0
        assert spent(1.3, 0.025, spending) == 0.025


def inside_at_all(
    information: tuple[float, ...], boundaries: tuple[float, ...]
) -> float:
    """The chance of no crossing, as the volume of a box under a multivariate normal density."""
    times = np.array(information)
    joint = np.sqrt(np.minimum.outer(times, times) / np.maximum.outer(times, times))
    ends = np.minimum(boundaries, 12.0)
    normal = multivariate_normal(cov=joint, seed=0)
    normal.maxpts = 200_000  # which SciPy 1.12 takes nowhere else
    normal.abseps = 1e-7
    normal.releps = 1e-7
    return float(normal.cdf(ends, lower_limit=-ends))


TIMES = st.lists(st.floats(0.05, 1.0), min_size=1, max_size=4, unique=True).map(sorted)


@settings(max_examples=30)
@given(
    times=TIMES,
    spending=st.sampled_from(SPENDINGS),
    alpha=st.sampled_from((0.01, 0.05, 0.2)),
)
def test_boundaries_spend_what_the_slow_twin_says(
    times: list[float], spending: Spending, alpha: float
) -> None:
    """Up to four looks anywhere: what has crossed by each is what may be spent by then."""
    gaps = np.diff([0.0, *times])
    if gaps.min() < 0.02:
        return
    looks = Looks.at(tuple(times), 1.0, spending, alpha=alpha)
    for k in range(1, len(times) + 1):
        crossed = 1 - inside_at_all(looks.information[:k], looks.boundaries[:k])
        assert crossed == pytest.approx(looks.spent[k - 1], abs=2e-5)


def test_power_of_a_fixed_plan_and_of_a_drift() -> None:
    """One look is the z-test; a drift of 3.2415 has power .9 with it (1.96 + 1.2816)."""
    looks = Looks.at((1,), 1, "pocock")
    assert looks.last == pytest.approx(norm.isf(0.025))
    power = crossing_chances((1.0,), (looks.last,), 1.959964 + 1.281552)
    assert power.sum() == pytest.approx(0.9, abs=1e-6)
    five = Looks.at((1, 2, 3, 4, 5), 5, "obrien-fleming")
    drifting = crossing_chances(
        five.information, five.boundaries, 3.2415 / math.sqrt(5)
    ).sum()
    assert drifting == pytest.approx(
        0.893, abs=2e-3
    )  # O'Brien-Fleming-like looks cost .7 %


@pytest.mark.parametrize(
    ("spending", "factor"), [("obrien-fleming", 1.028), ("pocock", 1.228)]
)
def test_inflation_for_power(spending: Spending, factor: float) -> None:
    """Five looks, power .8: the fixed plan times 1.028 and 1.228.

    Jennison & Turnbull 2000, tables 2.3 and 2.4, have 1.028 and 1.229 for the boundaries of
    O'Brien & Fleming and of Pocock, of which the spending functions are approximations.
    """
    looks = Looks.at((1, 2, 3, 4, 5), 5, spending)
    assert inflation(looks, 0.8) == pytest.approx(factor, abs=0.02)
    assert ended_by(looks, 0.0)[-1] == pytest.approx(0.05, abs=1e-6)


def test_student() -> None:
    """The chance beyond is that of the normal boundary; back and forth."""
    assert critical_value(1.959964, 9) == pytest.approx(
        2.262157, abs=1e-5
    )  # tables of t
    assert student_t.sf(critical_value(3.357, 39), 39) == pytest.approx(norm.sf(3.357))
    assert normal_value(critical_value(2.4, 12), 12) == pytest.approx(2.4)
    assert normal_value(-2.262157, 9) == pytest.approx(-1.959964, abs=1e-5)
    assert critical_value(math.inf, 5) == math.inf


def test_a_look_that_may_spend_nothing_shows_nothing() -> None:
    """A second look after the end of the plan has no error left."""
    looks = Looks.at((50, 100, 110), 100, "pocock")
    assert looks.last == math.inf
    assert Looks.at((50, 110), 100, "pocock").last < math.inf


def test_information_of_a_finite_population() -> None:
    """1 / (1 / 50 - 1 / 100) = 100; of many it is the number, of all it has no end."""
    assert information_of(50, 100) == pytest.approx(100)
    assert information_of(50) == 50
    assert information_of(100, 100) == math.inf


@pytest.mark.parametrize("spending", SPENDINGS)
def test_draws_without_replacement_cross_as_often(spending: Spending) -> None:
    """All 100 items are the question and their mean is 0: 20,000 orders cross by 90 in .05 x .9."""
    units = (20, 40, 60, 80, 90)
    looks = Looks.at(units, 100, spending, population=100)
    rng = default_rng(1)
    values = rng.standard_normal(100)
    values = (values - values.mean()) / values.std(ddof=1)
    orders = rng.permuted(np.tile(values, (20_000, 1)), axis=1)
    sums = orders.cumsum(axis=1)
    crossed = np.zeros(len(orders), dtype=bool)
    for n, boundary in zip(units, looks.boundaries, strict=True):
        z = sums[:, n - 1] / n * math.sqrt(information_of(n, 100))
        crossed |= np.abs(z) >= boundary
    assert crossed.mean() == pytest.approx(looks.spent[-1], abs=0.006)


def test_repeated_p_is_below_the_level_where_a_boundary_is_crossed() -> None:
    """At the boundary it is the level; of one look it is the p-value of that look."""
    looks = Looks.at((20, 40), 100, "obrien-fleming")
    assert looks.repeated_p(looks.last) == pytest.approx(0.05, abs=1e-12)
    assert (
        looks.repeated_p(-looks.last - 0.1) < 0.05 < looks.repeated_p(looks.last - 0.1)
    )
    for z in (0.3, 1.2, 2.5, 3.9, 6.0):
        one = Looks.at((7,), 7, "pocock").repeated_p(z)
        assert one == pytest.approx(2 * norm.sf(z), rel=2e-3)
    assert looks.repeated_p(0.0) == 1.0
    assert looks.repeated_p(30.0) <= 1e-20


def test_an_estimate_after_one_look_is_the_plain_one() -> None:
    """And turning the difference round turns the estimate round."""
    one = after_stopping(Looks.at((30,), 100, "pocock"), 2.9)
    assert one.median == pytest.approx(2.9, abs=1e-6)
    assert one.interval == pytest.approx((2.9 - 1.959964, 2.9 + 1.959964), abs=1e-5)
    looks = Looks.at((30, 60), 100, "pocock")
    up = after_stopping(looks, 2.9)
    down = after_stopping(looks, -2.9)
    assert down.median == -up.median
    assert down.interval == (-up.interval[1], -up.interval[0])
    assert up.median < 2.9
    assert up.p == down.p > 2 * norm.sf(2.9)


def test_which_look_it_is() -> None:
    """Five looks at 20, 40 ... 100: one at 10 is an early first, one at 47 a late second."""
    plan = LookPlan.equal(5, 100, "obrien-fleming")
    assert plan.at == (20, 40, 60, 80, 100)
    assert [plan.number(n) for n in (10, 20, 47, 60, 100, 120)] == [1, 1, 2, 3, 5, 5]
    assert plan.looks(47).shares == (0.2, 0.47)
    assert plan.looks(120).shares == (0.2, 0.4, 0.6, 0.8, 1.2)
    assert plan.looks_to_the_end(47).shares == (0.2, 0.47, 0.6, 0.8, 1.0)
    whole = plan.looks_to_the_end(47, population=100)
    assert whole.shares == (0.2, 0.47, 0.6, 0.8)
    assert LookPlan.equal(10, 4, "pocock").at == (1, 2, 3, 4)
