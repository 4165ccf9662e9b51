"""The number of ratings that a study needs, against what is known."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, nct, t

from refless.commands.next.planning import (
    Aim,
    Goal,
    Pilot,
    ratings_for,
    reach_of,
    share_reached,
)
from refless.stats.verdicts import kappa

AIMS: tuple[Aim, ...] = (
    "pass rate",
    "mean rating",
    "kappa",
    "TPR",
    "TNR",
    "difference",
)


def goal(aim: Aim, within: float, passing: float = 0.8, *, scale: bool = False) -> Goal:
    return Goal(aim=aim, within=within, passing=passing, agreement=0.6, scale=scale)


def test_expected_table() -> None:
    """The judge passes as many as people do, with the kappa that is asked for."""
    shares = goal("kappa", 0.1, 0.7).shares
    assert shares.sum() == pytest.approx(1)
    assert shares[0] + shares[1] == shares[0] + shares[2] == pytest.approx(0.7)
    assert kappa(shares) == pytest.approx(0.6)


def test_ratings_for_a_pass_rate_are_exact() -> None:
    """At the planned size four of five studies tell it: the sum over all counts of passes.

    By Agresti and Coull's interval: 1.96 roots of p (1 - p) / (n + 3.84), p of two passes more.
    """
    n, _ = ratings_for(goal("pass rate", 0.05))
    share = (np.arange(n + 1) + 1.92) / (n + 3.84)
    half = 1.96 * np.sqrt(share * (1 - share) / (n + 3.84))
    chance = binom.pmf(np.arange(n + 1), n, 0.8)[half <= 0.05].sum()
    assert 0.76 <= chance <= 0.88


def test_ratings_for_a_difference() -> None:
    """By hand: 7.85 (.85 x .15 + .75 x .25) / .1² = 247 of each system.

    7.85 is the square of 1.960 + 0.842. On a scale the power is that of Student's noncentral t.
    """
    assert 2 * math.ceil(7.849 * (0.85 * 0.15 + 0.75 * 0.25) / 0.1**2) == 496
    assert 470 <= ratings_for(goal("difference", 0.1))[0] <= 525
    both = ratings_for(goal("difference", 0.1, scale=True))[0]
    n = both // 2
    assert both == 2 * n

    def power(n: int) -> float:
        freedom = 2 * n - 2
        far = 0.1 / (0.33 * math.sqrt(2 / n))
        return float(nct.sf(t.ppf(0.975, freedom), freedom, far))

    assert 0.76 <= power(n) <= 0.86


def test_ratings_for_a_mean() -> None:
    """By hand: (1.96 x .25 / .05)² = 96 on average; a tenth more for four of five studies.

    Without a spread a third of the scale is expected: (1.96 x .33 / .05)² = 167.
    """
    assert math.ceil((1.96 * 0.25 / 0.05) ** 2) == 97
    on_scale = goal("mean rating", 0.05, scale=True)
    assert 97 < ratings_for(replace(on_scale, spread=0.25))[0] <= 112
    assert 167 < ratings_for(on_scale)[0] <= 184


@pytest.mark.parametrize(
    ("aim", "passing"), [*product(AIMS, [0.9]), ("pass rate", 0.3)]
)
def test_other_studies_agree(aim: Aim, passing: float) -> None:
    """Four of five reach the goal: those that say so, and about as many that are drawn anew."""
    asked = goal(aim, 0.1, passing, scale=aim == "mean rating")
    n, reached = ratings_for(asked)
    assert 0.8 <= reached == share_reached(asked, n)
    assert 0.74 <= share_reached(asked, n, seed=1) <= 0.93
    assert share_reached(asked, int(0.8 * n)) < reached


def test_rare_failures_take_more() -> None:
    """A true negative rate takes more ratings the fewer failures there are, or more than MOST."""
    needed = [
        ratings_for(goal("TNR", 0.1, 1 - few))[0]
        for few in (0.4, 0.2, 0.1, 0.05, 0.001)
    ]
    assert needed[:-1] == sorted(needed[:-1])
    assert needed[-1] == 0


def test_the_spread_of_a_pilot() -> None:
    """By hand: texts rated 0 and 1, .5 and .5: variance (.25 + 0) / 2 x 2 / 1 = .25."""
    pilot = Pilot(values=np.array([0.0, 1.0, 0.5, 0.5]), text=np.array([0, 0, 1, 1]))
    assert (pilot.texts, pilot.mean) == (2, 0.5)
    assert pilot.spread == pytest.approx(math.sqrt(0.25 / 2 * 2))
    rng = np.random.default_rng(0)
    values = rng.beta(0.7, 0.7, 30)
    pilot = Pilot(values=values, text=np.arange(30))
    assert pilot.spread == pytest.approx(values.std(ddof=1))
    squares = [
        np.square(pilot.drawn(500, 1, rng) - pilot.mean).mean() for _ in range(2_000)
    ]
    means = [pilot.drawn(2_000, 1, rng).mean() for _ in range(500)]
    assert np.mean(means) == pytest.approx(pilot.mean, abs=0.01)
    assert np.mean(squares) == pytest.approx(pilot.spread**2 * 31 / 30, rel=0.03)


def test_pilots_keep_the_promise_on_average() -> None:
    """6 pilots of 40: four of five studies reach the goal.

    Less than .76 reach it if the spread of a pilot is taken for the true one: by 5 % too small a
    spread nearly all studies miss it.
    """
    rng = np.random.default_rng(2)
    kept = []
    for _ in range(6):
        pilot = Pilot(values=rng.beta(0.7, 0.7, 40), text=np.arange(40))
        asked = replace(goal("mean rating", 0.08, scale=True), pilot=pilot)
        n, _ = ratings_for(asked)
        spreads = rng.beta(0.7, 0.7, (100, n)).std(axis=1, ddof=1)
        halves = t.ppf(0.975, n - 1) * spreads / math.sqrt(n)
        kept.append(float((halves <= 0.08).mean()))
    assert 0.76 <= np.mean(kept) <= 0.96


@pytest.mark.parametrize("aim", ["pass rate", "difference"])
def test_what_so_many_ratings_tell(aim: Aim) -> None:
    """The least width, or difference, that four of five studies with so many ratings reach."""
    asked = goal(aim, 0.1)
    within, reached = reach_of(asked, 100)
    assert 0.8 <= reached == share_reached(replace(asked, within=within), 100)
    assert share_reached(replace(asked, within=0.97 * within), 100) < reached
    n, _ = ratings_for(replace(asked, within=within))
    assert 80 <= n <= 120


def test_what_too_few_ratings_tell() -> None:
    """12 ratings where 99 % pass: no failure in most studies, and so no true negative rate."""
    assert math.isnan(reach_of(goal("TNR", 0.1, 0.99), 12)[0])
