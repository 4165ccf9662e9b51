"""Correlations of two columns, and their two-sided p-values.

Every measure takes finite [n] columns and is NaN where it is undefined (fewer than two rows, or a
constant column), never 0. P-values take the rows for independent.

Values tie that differ by less than rounding can make them differ: estimates that are equal in exact
arithmetic differ in their sixteenth digit, by the order in which a machine sums. Every rank, every
pair and every "is it constant" goes by what `settled` leaves.
"""

import math
from collections.abc import Callable

import numpy as np

from refless.loops import Loops
from refless.registry.arrays import BoolArray, FloatArray, codes_of

loops = Loops("concordance")

NAN = float("nan")
BITS = 40  # about twelve digits that tell two values apart
# a difference, relative to the largest value, that no rounding makes
CLEAR = 2.0 ** (2 - BITS)


def settled(column: FloatArray) -> FloatArray:
    """[n] the column rounded to twelve digits: of each value, or of the median one if larger.

    The order of rows does not matter, no value overtakes another, and a far larger one takes no
    digits from the others.
    """
    sizes = np.abs(column)
    low = (len(column) - 1) // 2
    high = len(column) // 2
    # numpy's median of finite values, in an eighth of its time for short columns
    median = 0.0
    if len(sizes):
        median = np.partition(sizes, (low, high))[low : high + 1].mean()
    _, exponents = np.frexp(np.maximum(sizes, median))
    whole_numbers = np.rint(np.ldexp(column, BITS - exponents))
    return np.asarray(np.ldexp(whole_numbers, exponents - BITS))


def is_constant(column: FloatArray) -> bool:
    """Whether a column has no two different values, up to rounding."""
    low = float(column.min(initial=math.inf))
    high = float(column.max(initial=-math.inf))
    if high - low > CLEAR * max(abs(low), abs(high)):
        return False
    return len(np.unique(settled(column))) < 2


def pearson(x: FloatArray, y: FloatArray) -> float:
    """Pearson's r, in [-1, 1]; NaN where undefined."""
    if is_constant(x) or is_constant(y):
        return NAN
    r = float((_unit(x) * _unit(y)).sum())
    return min(1.0, max(-1.0, r))


def spearman(x: FloatArray, y: FloatArray) -> float:
    """Spearman's rho: Pearson's r of mid-ranks; NaN where undefined."""
    return pearson(ranks(x), ranks(y))


def concordance(x: FloatArray, y: FloatArray) -> float:
    """Cohen's kappa with quadratic weights (1968): 1 - E (x - y)² / E of independent ones.

    NaN if both columns are one and the same number throughout.
    """
    gap = x.mean() - y.mean()
    by_chance = float(np.var(x) + np.var(y) + gap**2)
    error = float(np.mean(np.square(x - y)))
    return 1 - error / by_chance if by_chance > 0 else NAN


def kendall(x: FloatArray, y: FloatArray) -> float:
    """Kendall's tau-b, in [-1, 1], in O(n log n); NaN where undefined."""
    if is_constant(x) or is_constant(y):
        return NAN
    tau = balance(x, y) / math.sqrt(untied(x) * untied(y))
    return min(1.0, max(-1.0, tau))


def auc(human: FloatArray, predicted: FloatArray) -> float:
    """Chance that a row of the higher rating is predicted above one of the lower, ties one half.

    NaN unless the human rating has exactly two values.
    """
    if len(np.unique(human)) != 2:
        return NAN
    wins, pairs = wins_of(human == human.max(), predicted)
    return wins / pairs


def wins_of(above: BoolArray, predicted: FloatArray) -> tuple[float, int]:
    """Pairs with a row of `above` predicted above one of the others, ties one half; all pairs."""
    n = int(above.sum())
    wins = float(ranks(predicted)[above].sum()) - n * (n + 1) / 2
    return wins, n * (len(above) - n)


def ranks(column: FloatArray) -> FloatArray:
    """[n] ranks from 1; tied values share the mean of their ranks."""
    codes = codes_of(settled(column))
    counts = np.bincount(codes)
    middle = np.cumsum(counts) - (counts - 1) / 2
    return np.asarray(middle[codes])


def untied(column: FloatArray) -> float:
    """The number of ordered pairs of rows that differ."""
    counts = np.unique(settled(column), return_counts=True)[1]
    return float(len(column) ** 2 - np.square(counts).sum())


def balance(x: FloatArray, y: FloatArray) -> float:
    """Concordant minus discordant ordered pairs, exact."""
    return float(balances(x, y)(np.ones((1, len(x))))[0])


def balances(x: FloatArray, y: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """The same of [b, n] whole weights, as if row i stood weights[b, i] times: [b]."""
    x = settled(x)
    y = settled(y)
    order = np.argsort(x, kind="stable")
    codes = codes_of(y)
    x_codes = codes_of(x)[order]
    y_codes = codes[order]
    size = int(codes.max(initial=-1)) + 1

    def of(weights: FloatArray) -> FloatArray:
        ordered = np.ascontiguousarray(weights[:, order])
        return np.asarray(loops.balances(ordered, x_codes, y_codes, size))

    return of


def correlation_p(r: float, n: int) -> float:
    """Two-sided p-value of Pearson's or Spearman's coefficient of n rows, by Student's t.

    NaN where the coefficient is undefined or n < 3.
    """
    if n < 3 or math.isnan(r):
        return NAN
    from scipy.special import betainc

    return float(betainc((n - 2) / 2, 0.5, (1 - r) * (1 + r)))


def _unit(column: FloatArray) -> FloatArray:
    """The column centred and brought to length 1; scaled first, so that squares stay finite.

    Summed without a matrix product, whose last digits depend on the number of threads.
    """
    centred = column - column.mean()
    centred /= np.abs(centred).max()
    return np.asarray(centred / np.sqrt(np.square(centred).sum()), dtype=np.float64)
