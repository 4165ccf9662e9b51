"""Baselines that read no words: each text is predicted from the other groups' ratings alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from refless.records import FloatArray, IntArray

Baseline = Callable[[FloatArray, FloatArray, IntArray], FloatArray]

# Below this share of the lengths' whole variation, what is left of it is rounding.
NO_VARIATION = 1e-12


def constant(human: FloatArray, groups: IntArray) -> FloatArray:
    """[n] mean truth of the texts outside each text's group; NaN where there are none.

    Its errors are what a predictor has to beat. Its correlations mean nothing: a text's own rating
    is missing from its prediction, so single texts give exactly -1.
    """
    count, total = _outside(np.ones(len(human)), human, groups), _outside(human, human, groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(count > 0, total / count, np.nan)


def length_only(human: FloatArray, lengths: FloatArray, groups: IntArray) -> FloatArray:
    """[n] truth read off the least-squares line on log(1 + length) of the texts outside the group.

    Args:
        human: [n] truth.
        lengths: [n] lengths in characters.
        groups: [n] labels of texts that are held out together.

    Where all the others are of one length it is their mean; NaN where there are no others.
    """
    if len(human) == 0:
        return np.zeros(0)
    x, y = np.log1p(lengths), human
    # Centred first: the sums are then taken apart again without much loss.
    x_mean, y_mean = np.sort(x).mean(), np.sort(y).mean()
    x, y = x - x_mean, y - y_mean
    n, sx, sy, sxx, sxy = (
        _outside(column, x, groups) for column in (np.ones(len(x)), x, y, x * x, x * y)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        variation, together = sxx - sx * sx / n, sxy - sx * sy / n
        varied = variation > NO_VARIATION * np.square(np.sort(x)).sum()
        slope = np.where(varied, together / variation, 0.0)
        line = y_mean + sy / n + slope * (x - sx / n)
        return np.where(n > 0, line, np.nan)


BASELINES: dict[str, Baseline] = {
    "constant": lambda human, _lengths, groups: constant(human, groups),
    "length_only": length_only,
}


def _outside(column: FloatArray, key: FloatArray, groups: IntArray) -> FloatArray:
    """[n] sum of the column over all rows outside each row's group.

    Summed in the order of (key, column), so neither the order of rows nor the labels matter.
    """
    order = np.lexsort((column, key))
    _, codes = np.unique(groups, return_inverse=True)
    of_groups = np.bincount(codes[order], weights=column[order])
    return np.asarray(column[order].sum() - of_groups[codes], dtype=np.float64)
