"""Two columns of verdicts, people's and a judge's: rates, and agreement beyond chance.

What a table of two by two gives has as its interval the middle of what such tables give under
Jeffreys' prior, and under a weaker one, at an effective size: rows that were drawn as a whole count
as fewer.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.stats.answers import NOTHING_MORE, SAID, Estimate, Extra
from refless.stats.clusters import effective_size
from refless.stats.contrast import mean_of
from refless.stats.intervals import LEVEL, VERDICTS, quantile, student

DRAWS = 4_000
# for each of the four cells: Jeffreys', and one that believes in rare cells
CELL_PRIORS = (0.5, 0.2)
Shares = FloatArray  # [..., 4] of true positives, false positives, false negatives, true negatives


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """Counts of rows by their verdicts; people's verdict is the truth.

    Attributes:
        tp, fp, fn, tn: true and false positives (the judge passes), false and true negatives.
    """

    tp: int
    fp: int
    fn: int
    tn: int

    @classmethod
    def of(cls, human: BoolArray, judge: BoolArray) -> "Confusion":
        """The table of two columns [n]."""
        tp, fp, fn, tn = np.bincount(cells_of(human, judge), minlength=4).tolist()
        return cls(tp=tp, fp=fp, fn=fn, tn=tn)


def cells_of(human: BoolArray, judge: BoolArray) -> IntArray:
    """[n] which cell of the table each row is in."""
    cells = np.where(human, np.where(judge, 0, 2), np.where(judge, 1, 3))
    return cells.astype(np.int64)


def kappa(shares: Shares) -> FloatArray:
    """Cohen's kappa (1960): agreement beyond what the two shares of passes give by chance.

    NaN where both always say the same one thing.
    """
    tp, fp, fn, tn = np.moveaxis(shares, -1, 0)
    chance = (tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)
    return _beyond(tp + tn, chance)


def ac1(shares: Shares) -> FloatArray:
    """Gwet's AC1 (2008): chance agreement 2 q (1 - q), q the mean share of passes of the two."""
    tp, fp, fn, tn = np.moveaxis(shares, -1, 0)
    passed = tp + (fp + fn) / 2
    return _beyond(tp + tn, 2 * passed * (1 - passed))


def alpha(shares: Shares, n: float) -> FloatArray:
    """Krippendorff's alpha of two verdicts on each of n rows, nominal.

    1 - D_o / D_e with D_e = 2 q (1 - q) 2 n / (2 n - 1): NaN where all verdicts are the same.
    """
    tp, fp, fn, _ = np.moveaxis(shares, -1, 0)
    passed = tp + (fp + fn) / 2
    chance = 2 * passed * (1 - passed)
    expected = chance * 2 * n / (2 * n - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        agreement = 1 - (fp + fn) / expected
    return np.where(expected > 0, agreement, math.nan)


def _beyond(agreement: FloatArray, chance: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        beyond = (agreement - chance) / (1 - chance)
    return np.where(chance < 1, beyond, math.nan)


def proportion(outcome: BoolArray, unit: IntArray) -> Estimate:
    """The share of rows with an outcome [n], and its 95 % interval; unit: [n] what was drawn."""
    if not len(outcome):
        return Estimate(undefined=SAID["nothing is rated"])
    answer = mean_of(outcome.astype(np.float64), unit, scale=VERDICTS)
    return Estimate.of(answer, len(outcome))


def of_table(
    measure: Callable[[Shares], FloatArray],
    cells: IntArray,
    unit: IntArray,
    seed: int = 0,
    extra: Extra = NOTHING_MORE,
) -> Estimate:
    """A measure of a table of two by two, with its interval.

    Args:
        measure: shares [..., 4] -> [...].
        cells: [n] in 0 to 3; unit: [n] what was drawn as a whole.
        seed: of the tables that are drawn.
        extra: what raters add to the variance of the measure.
    """
    n = len(cells)
    if not n:
        return Estimate(undefined="empty")
    shares = np.bincount(cells, minlength=4) / n
    value = float(measure(shares))
    if math.isnan(value):
        return Estimate(n=n, undefined="all verdicts are the same")
    if len(np.unique(unit)) < 2:
        return Estimate(value=value, n=n, undefined=SAID["one unit is rated"])
    slopes = _slope(measure, shares)[cells]
    size = effective_size(slopes, unit)
    single = float(np.var(slopes))
    freedom = float(max(n - 1, 1))
    if single > 0:
        variance, freedom = extra.joined(single / size, freedom)
        size = single / variance
    size *= (quantile(LEVEL) / student(freedom)) ** 2
    rng = np.random.default_rng(seed)
    tail = (1 - LEVEL) / 2
    ends = [value, value]
    for prior in CELL_PRIORS:
        drawn = measure(rng.dirichlet(shares * size + prior, DRAWS))
        low, high = np.nanquantile(drawn, [tail, 1 - tail]).tolist()
        ends = [min(low, ends[0]), max(high, ends[1])]
    return Estimate(value=value, interval=(ends[0], ends[1]), n=n)


def _slope(measure: Callable[[Shares], FloatArray], shares: FloatArray) -> FloatArray:
    """[4] how a measure changes with each cell's share, which takes from all others alike."""
    step = 1e-6
    raised = (shares + step * np.eye(4)) / (1 + step)
    slope = (measure(raised) - float(measure(shares))) / step
    return np.nan_to_num(slope)
