"""How many ratings a study needs, before the first one: by formula, and by simulated studies.

A half width differs from study to study: a formula for its mean misses the goal in every second
study. These reach it in four of five, by .84 standard deviations of the half width more (delta
method over the table of two by two). Outputs are independent; ratings are shares of the scale.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import Literal

import numpy as np

from refless.registry.arrays import FloatArray
from refless.stats.assurance import SURE, chance_shown
from refless.stats.intervals import LEVEL, Interval, quantile, student
from refless.stats.prediction_powered import Cells, powered
from refless.stats.verdicts import CELL_PRIOR, clopper_pearson, kappa, of_table, proportion

Aim = Literal["pass rate", "mean rating", "kappa", "TPR", "TNR", "difference"]
FEWEST, MOST = 10, 20_000  # ratings that are tried
STUDIES = 400
FURTHER = NormalDist().inv_cdf(SURE)  # standard deviations below which four of five numbers lie
SHAPE = 1.5  # ratings on a scale are of Beta(1.5, 1.5), with kurtosis 2 and
SPREAD = 0.25  # this standard deviation
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


def ratings_for(goal: Goal) -> int:
    """The fewest ratings that should reach a goal in four of five studies; 0 if MOST do not."""
    sizes = range(FEWEST, MOST // goal.arms + 1)
    place = bisect_left(sizes, 1, key=partial(_enough, goal))
    return goal.arms * sizes[place] if place < len(sizes) else 0


def share_reached(goal: Goal, ratings: int, seed: int = 0) -> float:
    """The share of simulated studies with so many ratings that reach a goal."""
    rng, reached = np.random.default_rng(seed), 0
    for _ in range(STUDIES):
        low, high = _study(goal, ratings // goal.arms, rng)
        reached += low > 0 or high < 0 if goal.arms > 1 else (high - low) / 2 <= goal.within
    return reached / STUDIES


def _enough(goal: Goal, n: int) -> bool:
    """Whether n ratings (of each system) should do."""
    if goal.aim == "difference":
        variance = 2 * goal.passing * (1 - goal.passing) - goal.within**2 / 2
        then = np.array([(2 * SPREAD**2 if goal.scale else variance) / n])
        chance = chance_shown(goal.within, 0.0, then, 1.0, np.array([2.0 * n - 2]), more=False)
        return float(chance[0]) >= SURE
    if goal.aim == "mean rating":
        half = student(n - 1) * SPREAD / math.sqrt(n)
        return half * (1 + FURTHER / (2 * math.sqrt(n))) <= goal.within
    counts = n * goal.shares
    scatter = math.sqrt(n * _variance(partial(half_width, goal.aim), counts, 1e-3))
    return half_width(goal.aim, counts) + FURTHER * scatter <= goal.within


def half_width(aim: str, counts: FloatArray) -> float:
    """Half the width of the interval in `verdicts` of a table of any real counts [4].

    Of kappa, whose interval is drawn, by the variance of what is drawn.
    """
    if aim != "kappa":
        hits, among = (float(counts[cells].sum()) for cells in SHARES[aim])
        low, high = clopper_pearson(hits, among)
        return (high - low) / 2
    fewer = (quantile(LEVEL) / student(float(counts.sum()) - 1)) ** 2
    posterior = fewer * counts + CELL_PRIOR
    size = float(posterior.sum())
    variance = _variance(lambda shares: float(kappa(shares)), posterior / size, 1e-6)
    return quantile(LEVEL) * math.sqrt(variance / (size + 1))


def _variance(of: Callable[[FloatArray], float], table: FloatArray, step: float) -> float:
    """The variance of a number's slope at a cell that is drawn as often as in the table [4]."""
    slope = np.array([(of(table + step * cell) - of(table)) / step for cell in np.eye(4)])
    shares = table / table.sum()
    return max(0.0, float(shares @ slope**2 - (shares @ slope) ** 2))


def _study(goal: Goal, n: int, rng: np.random.Generator) -> Interval:
    """The interval that `judge` or `compare` gives in one study of n outputs (of each system)."""
    alone = np.arange(n * goal.arms)
    if goal.aim not in ("difference", "mean rating"):
        table = rng.choice(4, size=n, p=goal.shares)
        if goal.aim == "kappa":
            return of_table(kappa, table, alone).interval
        hits, among = (np.isin(table, part) for part in SHARES[goal.aim])
        return proportion(hits, alone, among).interval
    shift = goal.within * np.arange(goal.arms)[:, None]
    if goal.scale:
        human = rng.beta(SHAPE, SHAPE, (goal.arms, n)) + shift
    else:
        human = rng.random((goal.arms, n)) < goal.passing - goal.within / 2 + shift
    none, arm = np.zeros(len(alone)), np.repeat([-1, 1][-goal.arms :], n)
    cells = Cells(
        arm=arm, human=human.ravel().astype(np.float64), beside=none, estimate=none,
        cluster=alone, probability=np.full(len(alone), math.nan),
    )  # fmt: skip
    return powered(cells).alone.interval
