"""Influences: the derivatives of measures by the weight of each row.

They sum to 0, and the sum of their squares is the variance that a bootstrap converges to. Ties are
counted as they are. The measure itself must be defined.
"""

import numpy as np

from refless.registry.arrays import FloatArray, codes_of
from refless.stats import correlation


def pearson(human: FloatArray, predicted: FloatArray) -> FloatArray:
    """[n] influences on Pearson's r."""
    x = standard(human)
    y = standard(predicted)
    products = x * y
    squares = x * x + y * y
    r = float(products.mean())
    return (products - r / 2 * squares) / len(x)


def spearman(human: FloatArray, predicted: FloatArray) -> FloatArray:
    """[n] influences on Spearman's rho: through a row's own ranks, and through all the others'."""
    x_ranks = correlation.ranks(human)
    y_ranks = correlation.ranks(predicted)
    x = standard(x_ranks)
    y = standard(y_ranks)
    rho = float((x * y).mean())
    n = len(x)
    by_x = (y - rho * x) / (n * x_ranks.std())  # how rho moves with each row's rank
    by_y = (x - rho * y) / (n * y_ranks.std())
    return pearson(x_ranks, y_ranks) + _raised(human, by_x) + _raised(predicted, by_y)


def concordance(human: FloatArray, predicted: FloatArray) -> FloatArray:
    """[n] influences on quadratic kappa."""
    x = human - human.mean()
    y = predicted - predicted.mean()
    gap = float(human.mean() - predicted.mean())
    error = np.square(human - predicted)
    chance = x * x + y * y + 2 * gap * (x - y)
    by_chance = float(np.var(human) + np.var(predicted)) + gap**2
    disagreement = float(error.mean()) / by_chance
    slope = disagreement * (chance - chance.mean()) - error + error.mean()
    return np.asarray(slope / by_chance / len(human))


def standard(column: FloatArray) -> FloatArray:
    """The column with a mean of 0 and a variance of 1."""
    return np.asarray((column - column.mean()) / column.std())


def _raised(column: FloatArray, amounts: FloatArray) -> FloatArray:
    """[n] sum of the amounts of rows with a larger value, and half of those with the same one."""
    codes = codes_of(correlation.settled(column))
    at = np.bincount(codes, weights=amounts)
    return np.asarray((at.sum() - np.cumsum(at) + at / 2)[codes])
