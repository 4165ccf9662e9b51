"""The number of ratings a study needs, before it begins: by simulated studies.

A half width differs from study to study: what is enough on average misses the goal in every second
study. So many are planned that four of five studies reach it. Outputs are independent; ratings are
shares of the scale.

Ratings of a pilot tell how far ratings differ, but not exactly. Each simulated study draws from
them with weights of its own (the Bayesian bootstrap, Rubin 1981), so that studies reach the goal in
four of five cases on average over what the spread may be, and not only if it is what it looks like.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from refless.data.records import RatedPool
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.plural import counted
from refless.stats.assurance import SURE
from refless.stats.contrast import contrast
from refless.stats.intervals import VERDICTS, Interval
from refless.stats.samples import Sample
from refless.stats.verdicts import kappa, of_table, proportion

Aim = Literal["pass rate", "mean rating", "kappa", "TPR", "TNR", "difference"]
FEWEST = 10  # ratings that are tried
MOST = 20_000
STEP = 1.02  # by which one number that is tried exceeds the one before
STUDIES = 400  # simulated studies that confirm a number
FIRST = 100  # and those that look for it
USUAL_SPREAD = 0.33  # of the scale: standard deviation of ratings that are not known
WIDEST = 0.499  # of the scale: half of the ratings at each end have 0.5
HALVINGS = 10  # of the range in which the least difference lies that is shown
SHARES = {  # cells of the table that count, and those among which they are counted
    "pass rate": ([0, 2], [0, 1, 2, 3]),
    "TPR": ([0], [0, 2]),
    "TNR": ([3], [1, 3]),
}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Pilot:
    """Ratings that there are already.

    Attributes:
        values: [m] shares of the scale, or 1 for a pass and 0 for a failure.
        text: [m] number of the rated text, from 0.
    """

    values: FloatArray
    text: IntArray

    @property
    def texts(self) -> int:
        """The number of texts with a rating."""
        return int(self.text.max(initial=-1)) + 1

    @property
    def each(self) -> FloatArray:
        """[m] the share of a rating in its text."""
        return np.asarray(1 / np.bincount(self.text)[self.text])

    @property
    def mean(self) -> float:
        """The mean over texts."""
        return float(np.average(self.values, weights=self.each))

    @property
    def spread(self) -> float:
        """The standard deviation of single ratings."""
        squares = np.square(self.values - self.mean)
        square = float(np.average(squares, weights=self.each))
        return math.sqrt(square * self.texts / (self.texts - 1))

    def drawn(self, n: int, arms: int, rng: np.random.Generator) -> FloatArray:
        """[arms, n] ratings of one study, with the weights that this study has."""
        weights = rng.dirichlet(np.ones(self.texts))[self.text] * self.each
        values = rng.choice(self.values, (arms, n), p=weights / weights.sum())
        # weights make the variance so much smaller
        lost = (self.texts + 1) / (self.texts - 1)
        return np.asarray(self.mean + (values - self.mean) * math.sqrt(lost))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Goal:
    """A number that ratings are to tell.

    Attributes:
        aim: the number; within: half the width of its 95 % interval, or the difference to show.
        passing: expected share of passes; agreement: expected kappa of a judge that passes as many.
        scale: whether outputs are rated on a scale, and do not pass or fail.
        spread: standard deviation of ratings, as a share of the scale.
        pilot: ratings that tell the share of passes, or the spread; None if there are none.
    """

    aim: Aim
    within: float
    passing: float
    agreement: float
    scale: bool = False
    spread: float = USUAL_SPREAD
    pilot: Pilot | None = None

    @property
    def arms(self) -> int:
        """Systems that are rated."""
        return 2 if self.aim == "difference" else 1

    @property
    def room(self) -> float:
        """The largest difference that there can be."""
        return 1.0 if self.scale else round(2 * min(self.passing, 1 - self.passing), 12)

    @property
    def shares(self) -> FloatArray:
        """[4] expected table: true and false positives, false and true negatives."""
        off = self.passing * (1 - self.passing) * (1 - self.agreement)
        return np.array([self.passing - off, off, off, 1 - self.passing - off])


def pilot_of(pool: RatedPool) -> Pilot:
    """The single ratings of rated texts, as shares of the scale if there is one.

    Texts are in the order of their ratings, so that of rows changes nothing.
    """
    low, high = pool.scale or VERDICTS
    values = (pool.ratings.values - low) / (high - low)
    texts: dict[int, list[float]] = {}
    ratings = zip(pool.ratings.text.tolist(), values.tolist(), strict=True)
    for text, value in sorted(ratings):
        texts.setdefault(text, []).append(value)
    ordered = sorted(texts.values())
    sizes = [len(ratings) for ratings in ordered]
    return Pilot(
        values=np.concatenate(ordered) if ordered else np.zeros(0),
        text=np.repeat(np.arange(len(ordered)), sizes),
    )


def pilot_read(pool: RatedPool) -> Pilot:
    """The same of texts that the user gave.

    Raises:
        UsageError: too few of them, a rating that is neither 0 nor 1 without a scale, all equal.
    """
    pilot = pilot_of(pool)
    rated = f"{counted(pilot.texts, 'text')} in FILE"
    if pilot.texts < FEWEST:
        raise UsageError(
            f"{called('plan')} learns how far ratings differ from {FEWEST} rated texts or "
            "more, and there "
            f"are {rated}; give {called('sd')} instead of the file"
        )
    if pool.scale is None and not {*pilot.values.tolist()} <= {*VERDICTS}:
        raise UsageError(
            f"{called('scale')} is needed: ratings in FILE are not only 0 and 1"
        )
    if pool.scale is not None and not pilot.spread > 0:
        raise UsageError(
            f"all ratings of {rated} are equal; give {called('sd')} instead of the file"
        )
    return pilot


def ratings_for(goal: Goal, seed: int = 0) -> tuple[int, float]:
    """The fewest ratings with which four of five studies reach a goal, and the share that do.

    0 and NaN if MOST are not enough.
    """
    steps = math.ceil(math.log(MOST / FEWEST, STEP))
    sizes = np.unique([round(FEWEST * STEP**step / goal.arms) for step in range(steps)])
    sizes = (goal.arms * sizes).tolist()
    first = bisect_left(sizes, SURE, key=lambda n: share_reached(goal, n, seed, FIRST))
    for ratings in sizes[first:]:
        reached = share_reached(goal, ratings, seed)
        if reached >= SURE:
            return ratings, reached
    return 0, math.nan


def reach_of(goal: Goal, ratings: int, seed: int = 0) -> tuple[float, float]:
    """The width that four of five studies with so many ratings reach, and the share that do.

    Half the width of the interval, or the difference that is shown; NaN and NaN if there is none.
    """
    if goal.arms == 1:
        return _width_reached(goal, ratings, seed)
    low = 0.0
    high = goal.room
    reached = math.nan
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        share = share_reached(replace(goal, within=middle), ratings, seed)
        if share >= SURE:
            high = middle
            reached = share
        else:
            low = middle
    return (high, reached) if reached >= SURE else (math.nan, math.nan)


def _width_reached(goal: Goal, ratings: int, seed: int) -> tuple[float, float]:
    """The half width that four of five studies reach, and the share that do; NaN without."""
    half = np.array(_half_widths(goal, ratings, seed, STUDIES))
    half = np.sort(np.where(np.isnan(half), math.inf, half))
    within = float(half[math.ceil(SURE * STUDIES) - 1])
    if not within < math.inf:
        return math.nan, math.nan
    return within, float(np.mean(half <= within))


def share_reached(
    goal: Goal, ratings: int, seed: int = 0, studies: int = STUDIES
) -> float:
    """The share of simulated studies with so many ratings that reach a goal."""
    if goal.arms == 1:
        half = np.array(_half_widths(goal, ratings, seed, studies))
        return float(np.mean(half <= goal.within))
    ends = _intervals(goal, ratings, seed, studies)
    return sum(low > 0 or high < 0 for low, high in ends) / studies


def _half_widths(goal: Goal, ratings: int, seed: int, studies: int) -> list[float]:
    return [(high - low) / 2 for low, high in _intervals(goal, ratings, seed, studies)]


def _intervals(goal: Goal, ratings: int, seed: int, studies: int) -> list[Interval]:
    """The intervals that `judge` or `compare` gives in so many simulated studies."""
    rng = np.random.default_rng(seed)
    return [_study(goal, ratings // goal.arms, rng) for _ in range(studies)]


def _study(goal: Goal, n: int, rng: np.random.Generator) -> Interval:
    """The interval that one study of n outputs (of each system) gives."""
    if goal.aim in ("difference", "mean rating"):
        return interval_of(_ratings(goal, n, rng))
    alone = np.arange(n)
    passing = goal.passing
    if goal.aim == "pass rate" and goal.pilot is not None:
        passing = _passing(goal.pilot, rng)
    table = rng.choice(4, size=n, p=replace(goal, passing=passing).shares)
    if goal.aim == "kappa":
        return of_table(kappa, table, alone).interval
    hits, among = (np.isin(table, part) for part in SHARES[goal.aim])
    return proportion(hits[among], alone[among]).interval


def _passing(pilot: Pilot, rng: np.random.Generator) -> float:
    """A share of passes that is as likely as its pilot makes it (Bayes and Laplace)."""
    passes = pilot.mean * pilot.texts
    return float(rng.beta(passes + 1, pilot.texts - passes + 1))


def _ratings(goal: Goal, n: int, rng: np.random.Generator) -> FloatArray:
    """[arms, n] ratings of one study; the second system's are higher by the difference to show."""
    shift = goal.within * np.arange(goal.arms)[:, None]
    if not goal.scale:
        passing = goal.passing if goal.pilot is None else _passing(goal.pilot, rng)
        chance = np.clip(passing - goal.within / 2 + shift, 0.0, 1.0)
        return np.asarray(rng.random((goal.arms, n)) < chance, dtype=np.float64)
    if goal.pilot is not None:
        return goal.pilot.drawn(n, goal.arms, rng) + shift
    shape = (1 / (4 * min(goal.spread, WIDEST) ** 2) - 1) / 2
    return np.asarray(rng.beta(shape, shape, (goal.arms, n)) + shift)


def interval_of(human: FloatArray) -> Interval:
    """The interval of the mean, or the difference, of [arms, n] ratings of different outputs."""
    arms, n = human.shape
    arm = np.repeat(np.array([-1, 1][-arms:]), n)
    sample = Sample.of(human.ravel(), np.arange(human.size), arm=arm)
    return contrast(sample, scale=(0.0, 1.0)).alone.interval
