"""Intervals of correlations and of the root mean squared error: the jackknife over units.

A number is computed again without each unit, on a scale on which it is nearly normal: Fisher's z of
a correlation (Efron & Stein 1981 for the variance). Student's t has as many degrees of freedom as
units make up the variance, by the kurtosis of what each adds. Of very many units the derivatives
of the number by the weight of each row say the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from refless.registry.arrays import FloatArray, IntArray, numbers_of
from refless.stats import correlation, influence, weighted
from refless.stats.answers import NOTHING_MORE, SAID, Answer, Estimate, Extra
from refless.stats.contrast import equal_units
from refless.stats.intervals import CELLS, student
from refless.stats.weighted import Prepare

FEWEST = 5  # units, of which fewer tell no spread, and of them unlike the commonest
MOST_WEIGHTS = 2**20  # units times rows; beyond this derivatives stand for leaving out
LIMIT = 1e-9  # an error below this is none
TOO_EVEN = "the rows are too few, or too even, to tell"
CONSTANT = "all scores, or all ratings, are the same"


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One coefficient of agreement of [n] scores with [n] ratings, in three forms.

    Attributes:
        value: the coefficient, NaN if undefined.
        weighted: the same as a function of weights.
        influence: [n] its derivatives by the weight of each row.
    """

    value: Callable[[FloatArray, FloatArray], float]
    weighted: Prepare
    influence: Callable[[FloatArray, FloatArray], FloatArray]


COEFFICIENTS = {
    "spearman": Coefficient(
        correlation.spearman, weighted.spearman, influence.spearman
    ),
    "pearson": Coefficient(correlation.pearson, weighted.pearson, influence.pearson),
    "quadratic_kappa": Coefficient(
        correlation.concordance, weighted.concordance, influence.concordance
    ),
}


def correlated(
    name: str,
    human: FloatArray,
    judge: FloatArray,
    unit: IntArray | None = None,
    extra: Extra = NOTHING_MORE,
) -> Estimate:
    """A coefficient of ratings and scores with its 95 % interval, by leaving out units.

    Args:
        name: one of COEFFICIENTS; human: [n].
        judge: [n], or [n, k] for the mean coefficient of k columns.
        unit: [n] what was drawn as a whole; None for each row.
        extra: what raters add to the variance, in Fisher's z.
    """
    n = len(human)
    if not n:
        return Estimate(undefined=SAID["nothing is rated"])
    columns = judge.reshape(n, -1).T
    coefficient = COEFFICIENTS[name]
    value = math.nan
    if n > 1:
        value = float(np.mean([coefficient.value(human, column) for column in columns]))
    if math.isnan(value) or not np.ptp(human) * np.ptp(columns, axis=1).min():
        return Estimate(value=value, n=n, undefined=CONSTANT)
    unit = np.arange(n) if unit is None else numbers_of(unit)
    uneven = min(_uneven(column, unit) for column in (human, *columns))
    if abs(value) >= 1 or uneven < FEWEST:
        return Estimate(value=value, n=n, undefined=TOO_EVEN)
    deviations = _deviations(coefficient, human, columns, unit, value)
    if deviations is None:
        return Estimate(value=value, n=n, undefined=TOO_EVEN)
    return around(value, deviations, extra, n)


def around(value: float, deviations: FloatArray, extra: Extra, n: int) -> Estimate:
    """A number between -1 and 1 with its 95 % interval, in Fisher's z.

    Args:
        value: the number; n: rows behind it.
        deviations: [units] what leaving out each unit does; extra: variance that comes on top.
    """
    middle = math.atanh(value)
    half = _half_width(deviations, extra)
    ends = math.tanh(middle - half), math.tanh(middle + half)
    return Estimate(value=value, interval=ends, n=n)


def _deviations(
    coefficient: Coefficient,
    human: FloatArray,
    columns: FloatArray,
    unit: IntArray,
    value: float,
) -> FloatArray | None:
    """[units] what leaving out each unit does in Fisher's z; None where that is undefined."""
    if (int(unit.max()) + 1) * len(human) > MOST_WEIGHTS:
        slopes = [coefficient.influence(human, column) for column in columns]
        sums = np.bincount(unit, np.mean(slopes, axis=0))
        return sums / (1 - value**2)
    prepared = [coefficient.weighted(human, column) for column in columns]

    def mean_of_columns(weights: FloatArray) -> FloatArray:
        return np.asarray(np.mean([of(weights) for of in prepared], axis=0))

    values = without_each(mean_of_columns, unit)
    if np.isnan(values).any() or (np.abs(values) >= 1).any():
        return None
    moved = np.arctanh(values)
    return np.asarray(moved - moved.mean())


def _uneven(column: FloatArray, unit: IntArray) -> int:
    """The number of units with a value that is not the commonest one."""
    values, counts = np.unique(column, return_counts=True)
    return len(np.unique(unit[column != values[counts.argmax()]]))


def without_each(
    of_weights: Callable[[FloatArray], FloatArray], unit: IntArray
) -> FloatArray:
    """[units] a number without each unit, from a function of weights [b, n] -> [b]."""
    units = int(unit.max()) + 1
    block = max(1, CELLS // len(unit))
    parts = []
    for first in range(0, units, block):
        left_out = np.arange(first, min(first + block, units))
        weights = (unit[None, :] != left_out[:, None]).astype(np.float64)
        parts.append(of_weights(weights))
    return np.concatenate(parts)


def _half_width(deviations: FloatArray, extra: Extra) -> float:
    """Half the width of a 95 % interval, from what leaving out each of the units does."""
    units = len(deviations)
    squares = np.square(deviations)
    variance = (units - 1) / units * float(squares.sum())
    weighty = 3 * equal_units(squares)
    freedom = max(min(weighty - 1, units - 2), (units - 2) / 2)
    variance, freedom = extra.joined(variance, freedom)
    error = math.sqrt(variance)
    return student(freedom) * error if error > LIMIT else 0.0


def root_mean_square(
    errors: FloatArray, unit: IntArray, mean: Answer, extra: Extra = NOTHING_MORE
) -> Estimate:
    """The root of the mean of squared errors [n] with its 95 % interval.

    The low end comes from leaving out units, on the scale of the power -2/3. The high end is that
    of the mean of squares: the few large errors behind it may be unseen.

    Args:
        errors: [n]; unit: [n] what was drawn as a whole.
        mean: of the squared errors.
        extra: what raters add to the variance of this mean.
    """
    n = len(errors)
    squares = np.square(errors)
    value = math.sqrt(float(squares.mean()))
    ends = mean.interval
    if math.isnan(ends[0]):
        return Estimate(value=value, n=n, undefined=SAID[mean.untold])
    high = max(math.sqrt(ends[1]), value)
    low = _low_end(squares, numbers_of(unit), extra)
    if low is None:
        low = math.sqrt(max(ends[0], 0.0))
    return Estimate(value=value, interval=(min(low, value), high), n=n)


def _low_end(squares: FloatArray, unit: IntArray, extra: Extra) -> float | None:
    """The low end of the root of a mean of squares; None if too few units are there to tell."""
    units = int(unit.max()) + 1
    sums = np.bincount(unit, squares, units)
    counts = np.maximum(len(squares) - np.bincount(unit), 1)
    means = (sums.sum() - sums) / counts
    if units < FEWEST or means.min() <= 0:
        return None
    powers = -(means ** (-1 / 3))
    square = float(squares.mean())
    slope = square ** (-4 / 3) / 3
    half = _half_width(powers - powers.mean(), extra.times(slope))
    end = -(square ** (-1 / 3)) - half
    return float((-end) ** -1.5)
