"""How many ratings a study needs: the formula against what is known, and against simulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom, nct, t

from refless.stats.planning import MOST, Aim, Goal, half_width, ratings_for, share_reached
from refless.stats.verdicts import kappa, of_table

AIMS: tuple[Aim, ...] = ("pass rate", "mean rating", "kappa", "TPR", "TNR", "difference")


def goal(aim: Aim, within: float, passing: float = 0.8, *, scale: bool = False) -> Goal:
    return Goal(aim=aim, within=within, passing=passing, agreement=0.6, scale=scale)


def test_expected_table() -> None:
    """The judge passes as many as people do, with the kappa that is asked for."""
    shares = goal("kappa", 0.1, 0.7).shares
    assert shares.sum() == pytest.approx(1)
    assert shares[0] + shares[1] == shares[0] + shares[2] == pytest.approx(0.7)
    assert kappa(shares) == pytest.approx(0.6)


def test_half_width_of_a_share() -> None:
    """Clopper and Pearson's interval of 8 of 10 is .4439 to .9748 (R: binom.test(8, 10))."""
    low, high = beta.ppf(0.025, 8, 3), beta.ppf(0.975, 9, 2)
    assert (round(low, 4), round(high, 4)) == (0.4439, 0.9748)
    counts = np.array([6.0, 1.0, 2.0, 1.0])
    assert half_width("pass rate", counts) == pytest.approx((high - low) / 2)
    assert half_width("TPR", counts) == pytest.approx(
        (beta.ppf(0.975, 7, 2) - beta.ppf(0.025, 6, 3)) / 2
    )
    assert half_width("TNR", np.array([5.0, 2.0, 0.0, 8.0])) == half_width("pass rate", counts)


@pytest.mark.parametrize("passing", [0.3, 0.5, 0.8, 0.95])
def test_half_width_of_kappa(passing: float) -> None:
    """By variance it is what `judge` draws, within 4 %."""
    counts = np.round(500 * goal("kappa", 0.1, passing).shares).astype(int)
    low, high = of_table(kappa, np.repeat(np.arange(4), counts), np.arange(counts.sum())).interval
    assert half_width("kappa", counts.astype(float)) == pytest.approx((high - low) / 2, rel=0.04)


def test_ratings_for_a_pass_rate_are_exact() -> None:
    """At the planned size four of five studies tell it: the sum over all counts of passes."""
    n = ratings_for(goal("pass rate", 0.05))
    passes = np.arange(n + 1)
    low = np.nan_to_num(beta.ppf(0.025, passes, n - passes + 1), nan=0.0)
    high = np.nan_to_num(beta.ppf(0.975, passes + 1, n - passes), nan=1.0)
    chance = binom.pmf(passes, n, 0.8)[(high - low) / 2 <= 0.05].sum()
    assert 0.76 <= chance <= 0.86


def test_ratings_for_a_difference() -> None:
    """By hand: 7.85 (.85 x .15 + .75 x .25) / .1² = 247 of each system; t asks for 2 more.

    7.85 is the square of 1.960 + 0.842. On a scale the power is that of Student's noncentral t.
    """
    assert 2 * math.ceil(7.849 * (0.85 * 0.15 + 0.75 * 0.25) / 0.1**2) == 496
    assert 496 <= ratings_for(goal("difference", 0.1)) <= 500
    n = ratings_for(goal("difference", 0.1, scale=True)) // 2

    def power(n: int) -> float:
        freedom, far = 2 * n - 2, 0.1 / (0.25 * math.sqrt(2 / n))
        return float(nct.sf(t.ppf(0.975, freedom), freedom, far))

    assert power(n - 2) < 0.8 <= power(n + 2)


def test_ratings_for_a_mean() -> None:
    """By hand: (1.96 x .25 / .05)² = 96 on average; a tenth more for four of five studies."""
    assert math.ceil((1.96 * 0.25 / 0.05) ** 2) == 97
    assert 97 < ratings_for(goal("mean rating", 0.05, scale=True)) <= 108


@pytest.mark.parametrize("passing", [0.3, 0.8, 0.9])
@pytest.mark.parametrize("aim", AIMS)
def test_simulated_studies_agree(aim: Aim, passing: float) -> None:
    """Four of five studies reach the goal, and fewer with a fifth fewer ratings."""
    asked = goal(aim, 0.1, passing, scale=aim == "mean rating")
    n = ratings_for(asked)
    assert 0.70 <= share_reached(asked, n) <= 0.93
    assert share_reached(asked, int(0.8 * n)) < share_reached(asked, n)


@settings(max_examples=40, deadline=None)
@given(
    aim=st.sampled_from(AIMS),
    within=st.floats(0.03, 0.18),
    passing=st.floats(0.15, 0.85),
    wider=st.floats(1, 1.5),
)
def test_more_exact_takes_more(aim: Aim, within: float, passing: float, wider: float) -> None:
    """A narrower goal takes no fewer ratings, and never an odd number of two systems."""
    narrow, wide = (
        ratings_for(goal(aim, half, passing, scale=aim == "mean rating"))
        for half in (within, within * wider)
    )
    assert 0 < wide <= narrow <= MOST
    assert aim != "difference" or narrow % 2 == wide % 2 == 0


@given(few=st.floats(0.02, 0.4), fewer=st.floats(0.2, 1))
@settings(max_examples=30, deadline=None)
def test_rare_failures_take_more(few: float, fewer: float) -> None:
    """A true negative rate takes more ratings the fewer failures there are, or more than MOST."""
    many = ratings_for(goal("TNR", 0.1, 1 - few))
    more = ratings_for(goal("TNR", 0.1, 1 - few * fewer))
    assert more == 0 or more >= many


def test_beyond_what_is_tried() -> None:
    assert ratings_for(goal("pass rate", 0.001)) == 0
    assert ratings_for(goal("difference", 0.001)) == 0
