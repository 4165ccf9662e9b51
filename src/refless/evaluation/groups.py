"""The groups by which rated texts and outputs are held out and drawn."""

from collections.abc import Sequence

import numpy as np

from refless.data.human import copies_in_order
from refless.data.records import RatedPool
from refless.estimators.folds import whole
from refless.registry.arrays import FloatArray, IntArray, codes_of, numbered

FEWEST_WHOLE = 20  # groups


def drawn_rows(
    pool: RatedPool, labels: Sequence[str], most: int, seed: int
) -> IntArray:
    """Rows of at most so many texts, ascending; no rating decides.

    Groups are drawn whole if 20 or more fit, else single texts with their copies.

    Args:
        pool: the rated texts, sorted by content; labels: [n] what is held out together.
        most: texts, at least 1.
        seed: of the drawing.
    """
    rng = np.random.default_rng(seed)
    copies = copies_in_order(pool)
    groups = numbered(labels, len(pool))
    rows = whole(copies if len({*labels}) == len(pool) else groups, most, rng)
    if len(np.unique(groups[rows])) < FEWEST_WHOLE:
        rows = whole(copies, most, rng)
    return np.sort(rows)


def sum_of_others(column: FloatArray, groups: IntArray) -> FloatArray:
    """[n] sum of the column over all rows outside each row's group."""
    codes = codes_of(groups)
    sums = np.bincount(codes, weights=column)
    return np.asarray(column.sum() - sums[codes], dtype=np.float64)


def label_means(human: FloatArray, codes: IntArray, groups: IntArray) -> FloatArray:
    """[n] mean rating of the texts of the same label outside each text's group, NaN without any."""
    pairs = np.unique(np.stack([codes, groups]), axis=1, return_inverse=True)[1].ravel()
    sums = np.zeros(len(human))
    counts = np.zeros(len(human))
    for sign, labels in ((1, codes), (-1, pairs)):
        sums += sign * np.bincount(labels, human)[labels]
        counts += sign * np.bincount(labels)[labels]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(counts > 0, sums / counts, np.nan)


def mean_of_others(values: FloatArray, groups: IntArray) -> FloatArray:
    """[n] mean of the values outside each row's group; NaN if there are none.

    Its errors are what a predictor has to beat. Its correlations mean nothing: a row's own value
    is missing from its prediction, so single rows give exactly -1.
    """
    return label_means(values, np.zeros(len(values), dtype=np.int64), groups)
