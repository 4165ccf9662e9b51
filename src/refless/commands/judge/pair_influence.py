"""Influences of rows on a share of pairs that are ordered as people order them."""

import numpy as np

from refless.registry.arrays import FloatArray, IntArray
from refless.stats.correlation import settled
from refless.stats.within_group import rows_of


def accuracy_influence(
    human: FloatArray, predicted: FloatArray, *, groups: IntArray | None = None
) -> FloatArray:
    """[n] derivatives of `pairwise_accuracy` by the weight of each row; they sum to 0.

    The accuracy A is the mean, over G groups of n_g rows, of the shares A_g of right pairs. A row
    that is right in r of its n_g - 1 pairs moves its own group's share by
    2 (r - A_g (n_g - 1)) / (n_g (n_g - 1)), and the group moves the mean by A_g - A, which its rows
    carry alike; both over G.

    Args:
        human, predicted: [n] finite columns.
        groups: [n] labels; only pairs of one label count. One group without them.
    """
    influences = np.zeros(len(human))
    labels = np.zeros(len(human), dtype=np.int64) if groups is None else groups
    parts = [rows for rows in rows_of(labels) if len(rows) > 1]
    right = [
        _right_pairs(settled(human)[rows], settled(predicted)[rows]) for rows in parts
    ]
    shares = [float(counts.mean()) / (len(counts) - 1) for counts in right]
    for rows, counts, share in zip(parts, right, shares, strict=True):
        n = len(rows)
        n_pairs = n * (n - 1)
        inside = 2 * (counts - share * (n - 1)) / n_pairs
        between = (share - float(np.mean(shares))) / n
        influences[rows] = (inside + between) / len(parts)
    return influences


def _right_pairs(human: FloatArray, predicted: FloatArray) -> FloatArray:
    """[n] of the pairs with all other rows, how many both columns order, or tie, alike."""
    counts = np.empty(len(human))
    for row in range(len(human)):
        by_people = np.sign(human[row] - human)
        by_scores = np.sign(predicted[row] - predicted)
        counts[row] = (by_people == by_scores).sum() - 1  # not with itself
    return counts
