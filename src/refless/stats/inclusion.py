"""Samples with unequal chances: probabilities of inclusion, a draw that has them, its error."""

from __future__ import annotations

import numpy as np

from refless.records import FloatArray, IntArray

FLOOR = 0.2  # share of the chances that is equal for all: no weight is above 1 / FLOOR
ROUNDING = 1e-9


def probabilities(spread: FloatArray, n: int, floor: float = FLOOR) -> FloatArray:
    """[N] chances that sum to n, proportional to the spreads but for an equal part of each.

    With chances in proportion to the standard deviations of what is unknown, the variance of the
    estimated mean is least (Zrnic and Candes 2024). An equal part for all keeps what is weighted by
    1 / chance in bounds: no weight is more than 1 / floor times that of equal chances.

    Args:
        spread: [N] standard deviations, finite, at least 0; all equal chances where all are 0.
        n: how many are to be drawn, at most N.
        floor: share of each chance that is equal, above 0.
    """
    size = len(spread)
    chances = floor * n / size + (1 - floor) * _proportional(spread, n)
    return np.minimum(chances, 1.0)


def _proportional(spread: FloatArray, n: int) -> FloatArray:
    """[N] chances in proportion to the spreads, at most 1 each, that sum to n."""
    chances, certain = np.ones(len(spread)), np.zeros(len(spread), dtype=np.bool_)
    while not certain.all():
        rest = spread[~certain]
        rest = rest / rest.max() if rest.max() > 0 else np.ones(len(rest))
        chances[~certain] = rest * (n - int(certain.sum())) / float(np.sort(rest).sum())
        if not (chances > 1.0).any():
            break
        certain |= chances > 1.0
        chances[certain] = 1.0
    return chances


def drawn(chances: FloatArray, rng: np.random.Generator) -> IntArray:
    """The places that are drawn, ascending: each with its chance, as many as they sum to.

    Systematic sampling on a random order (Madow 1949; Hartley and Rao 1962).

    Args:
        chances: [N] in [0, 1] with a whole number as their sum.
        rng: where chance comes from.
    """
    order = rng.permutation(len(chances))
    ends = np.cumsum(chances[order])
    n = int(np.rint(ends[-1])) if len(ends) else 0
    if n:
        ends *= n / ends[-1]  # rounding
    marks = np.minimum(np.arange(n) + rng.random(), n - ROUNDING)
    return np.sort(order[np.searchsorted(ends, marks, side="right")])


def error_of_mean(spread: FloatArray, chances: FloatArray, variance: float) -> float:
    """Expected standard error of a mean by ratings drawn with these chances, and estimates.

    The root of [sum (1 / chance - 1) spread² / N + variance] / N: what is not rated, and that the N
    are themselves a sample (Zrnic and Candes 2024, section 2).

    Args:
        spread: [N] standard deviations of rating minus estimate.
        chances: [N] above 0.
        variance: of ratings over all such outputs; 0 for the mean of these N alone.
    """
    missed = float(np.sort(np.square(spread) * (1.0 / chances - 1.0)).mean())
    return float(np.sqrt((missed + variance) / len(spread)))
