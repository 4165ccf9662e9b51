"""How many ratings a study needs, before the first one: by simulated studies.

A half width differs from study to study: what is enough on average misses the goal in every second
study. So many are planned that four of five studies reach it. Outputs are independent; ratings are
shares of the scale.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import Literal

import numpy as np

from refless.registry.arrays import FloatArray
from refless.stats.assurance import SURE
from refless.stats.contrast import contrast
from refless.stats.intervals import Interval
from refless.stats.samples import Sample
from refless.stats.verdicts import kappa, of_table, proportion

Aim = Literal["pass rate", "mean rating", "kappa", "TPR", "TNR", "difference"]
FEWEST, MOST = 10, 20_000  # ratings that are tried
STEP = 1.02  # by which one number that is tried exceeds the one before
STUDIES, FIRST = 400, 100  # simulated studies that confirm a number, and those that look for it
SHAPE = 1.5  # ratings on a scale are of Beta(1.5, 1.5): standard deviation 1/4, kurtosis 2
SHARES = {  # cells of the table that count, and those among which they are counted
    "pass rate": ([0, 2], [0, 1, 2, 3]),
    "TPR": ([0], [0, 2]),
    "TNR": ([3], [1, 3]),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What ratings are to tell.

    Attributes:
        aim: the number; within: half the width of its 95 % interval, or the difference to show.
        passing: expected share of passes; agreement: expected kappa of a judge that passes as many.
        scale: whether outputs are rated on a scale, and do not pass or fail.
    """

    aim: Aim
    within: float
    passing: float
    agreement: float
    scale: bool = False

    @property
    def arms(self) -> int:
        """Systems that are rated."""
        return 2 if self.aim == "difference" else 1

    @property
    def shares(self) -> FloatArray:
        """[4] expected table: true and false positives, false and true negatives."""
        off = self.passing * (1 - self.passing) * (1 - self.agreement)
        return np.array([self.passing - off, off, off, 1 - self.passing - off])


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


def share_reached(goal: Goal, ratings: int, seed: int = 0, studies: int = STUDIES) -> float:
    """The share of simulated studies with so many ratings that reach a goal."""
    rng, reached = np.random.default_rng(seed), 0
    for _ in range(studies):
        low, high = _study(goal, ratings // goal.arms, rng)
        reached += low > 0 or high < 0 if goal.arms > 1 else (high - low) / 2 <= goal.within
    return reached / studies


def _study(goal: Goal, n: int, rng: np.random.Generator) -> Interval:
    """The interval that `judge` or `compare` gives in one study of n outputs (of each system)."""
    alone = np.arange(n * goal.arms)
    if goal.aim not in ("difference", "mean rating"):
        table = rng.choice(4, size=n, p=goal.shares)
        if goal.aim == "kappa":
            return of_table(kappa, table, alone).interval
        hits, among = (np.isin(table, part) for part in SHARES[goal.aim])
        return proportion(hits[among], alone[among]).interval
    shift = goal.within * np.arange(goal.arms)[:, None]
    if goal.scale:
        human = rng.beta(SHAPE, SHAPE, (goal.arms, n)) + shift
    else:
        human = rng.random((goal.arms, n)) < goal.passing - goal.within / 2 + shift
    arm = np.repeat(np.array([-1, 1][-goal.arms :]), n)
    sample = Sample.of(human.ravel().astype(np.float64), alone, arm=arm)
    return contrast(sample, scale=(0.0, 1.0)).alone.interval
