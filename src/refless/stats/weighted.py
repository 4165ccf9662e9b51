"""Measures as functions of weights: row i stands weights[b, i] times in resample b.

A measure is prepared once for its two columns, sorting there, and then answers any number of
resamples without sorting again. Weights are [b, n] whole numbers kept as floats; a measure that
is undefined in a resample is NaN there. Their slow twin repeats rows.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.stats.correlation import balances, settled

ROUNDING = 1e-12  # of a mean of squares: less is rounding
OfWeights = Callable[[FloatArray], FloatArray]
Prepare = Callable[[FloatArray, FloatArray], OfWeights]


@dataclass(frozen=True, slots=True, eq=False)
class _Ties:
    """A column's different values: rows in their order, where each value starts, each row's own."""

    order: IntArray
    starts: IntArray
    inverse: IntArray

    def counts(self, weights: FloatArray) -> FloatArray:
        """[b, k] weight of each of the k different values."""
        return np.add.reduceat(weights[:, self.order], self.starts, axis=1)

    def ranks(self, weights: FloatArray) -> FloatArray:
        """[b, n] mid-rank of each row."""
        counts = self.counts(weights)
        middle = np.cumsum(counts, axis=1) - (counts - 1) / 2
        return np.asarray(middle[:, self.inverse], dtype=np.float64)


def mse(human: FloatArray, predicted: FloatArray) -> OfWeights:
    """Mean squared error."""
    return _mean_of(np.square(predicted - human))


def mae(human: FloatArray, predicted: FloatArray) -> OfWeights:
    """Mean absolute error."""
    return _mean_of(np.abs(predicted - human))


def pearson(human: FloatArray, predicted: FloatArray) -> OfWeights:
    """Pearson's r."""
    x = human - human.mean()
    y = predicted - predicted.mean()
    ties = settled(human), settled(predicted)

    def of(weights: FloatArray) -> FloatArray:
        # Rounding leaves a constant column with a little variance, so it is looked for by itself.
        varied = _varied(ties[0], weights) & _varied(ties[1], weights)
        return np.where(varied, _correlation(weights, x[None, :], y[None, :]), np.nan)

    return of


def spearman(human: FloatArray, predicted: FloatArray) -> OfWeights:
    """Spearman's rho: ranks are half-integers, so a constant column's variance is exactly 0."""
    x = _ties_of(human)
    y = _ties_of(predicted)
    return lambda weights: _correlation(weights, x.ranks(weights), y.ranks(weights))


def concordance(human: FloatArray, predicted: FloatArray) -> OfWeights:
    """Quadratic kappa."""
    error = _mean_of(np.square(human - predicted))
    middle = float(human.mean())
    x = human - middle
    y = predicted - middle

    def of(weights: FloatArray) -> FloatArray:
        totals = weights.sum(axis=1)
        x_means = _ratio((weights * x).sum(axis=1), totals)
        y_means = _ratio((weights * y).sum(axis=1), totals)
        squares = _ratio((weights * (x * x + y * y)).sum(axis=1), totals)
        by_chance = squares - 2 * x_means * y_means
        varied = by_chance > ROUNDING * squares  # else both are one number throughout
        return np.where(varied, 1 - _ratio(error(weights), by_chance), np.nan)

    return of


def kendall(human: FloatArray, predicted: FloatArray) -> OfWeights:
    """Kendall's tau-b."""
    x = _ties_of(human)
    y = _ties_of(predicted)
    balance = balances(human, predicted)

    def of(weights: FloatArray) -> FloatArray:
        pairs = np.square(weights.sum(axis=1))
        x_untied = pairs - np.square(x.counts(weights)).sum(axis=1)
        y_untied = pairs - np.square(y.counts(weights)).sum(axis=1)
        return _ratio(balance(weights), np.sqrt(x_untied) * np.sqrt(y_untied))

    return of


def auc(human: FloatArray, predicted: FloatArray) -> OfWeights:
    """Area under the ROC curve; NaN everywhere unless the human rating has exactly two values."""
    if len(np.unique(human)) != 2:
        return lambda weights: np.full(len(weights), np.nan)
    above = human == human.max()
    ties = _ties_of(predicted)

    def of(weights: FloatArray) -> FloatArray:
        high = ties.counts(weights * above)
        low = ties.counts(weights * ~above)
        beaten = np.cumsum(low, axis=1) - low / 2
        return _ratio((high * beaten).sum(axis=1), high.sum(axis=1) * low.sum(axis=1))

    return of


def _mean_of(values: FloatArray) -> OfWeights:
    return lambda weights: _ratio((weights * values).sum(axis=1), weights.sum(axis=1))


def _correlation(weights: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """[b] weighted correlation of x and y, each [b, n] or [1, n]; centred for each resample."""
    x = _centred(weights, x)
    y = _centred(weights, y)
    weighted_x = weights * x
    covariance = (weighted_x * y).sum(axis=1)
    x_square = (weighted_x * x).sum(axis=1)
    y_square = (weights * y * y).sum(axis=1)
    return np.clip(_ratio(covariance, np.sqrt(x_square) * np.sqrt(y_square)), -1.0, 1.0)


def _centred(weights: FloatArray, column: FloatArray) -> FloatArray:
    # Row sums, not a matrix product: how a product is summed depends on threads and block sizes.
    means = _ratio((weights * column).sum(axis=1), weights.sum(axis=1))
    return column - means[:, None]


def _varied(column: FloatArray, weights: FloatArray) -> BoolArray:
    """[b] whether the rows that stand in a resample have two different values."""
    inside = np.broadcast_to(column, weights.shape)
    low = np.min(inside, axis=1, where=weights > 0, initial=np.inf)
    return np.asarray(np.max(inside, axis=1, where=weights > 0, initial=-np.inf) > low)


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below > 0, above / below, np.nan)


def _ties_of(column: FloatArray) -> _Ties:
    column = settled(column)
    values, inverse = np.unique(column, return_inverse=True)
    order = np.argsort(column, kind="stable")
    return _Ties(order, np.searchsorted(column[order], values), inverse)
