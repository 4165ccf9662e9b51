"""Distances of two ratings of one text, beside those of two ratings of any texts."""

from itertools import pairwise

import numpy as np

from refless.data.records import Ratings
from refless.registry.arrays import FloatArray, IntArray


def repeated(ratings: Ratings) -> tuple[FloatArray, IntArray]:
    """[n] ratings of texts that have two or more, and the text of each."""
    several = np.bincount(ratings.text)[ratings.text] > 1
    return ratings.values[several], ratings.text[several]


def shares_apart(values: FloatArray, text: IntArray, steps: list[float]) -> list[float]:
    """The share of pairs of ratings of one text with at most each distance, and more than the last.

    A text counts as often as it has ratings, as in Krippendorff's alpha (2004, page 219).

    Args:
        values, text: [n] ratings, and the text of each, which has two or more.
        steps: the largest distances, upwards.
    """
    order = np.argsort(text, kind="stable")
    values = values[order]
    text = text[order]
    size = np.bincount(text)[text]
    below = np.zeros(len(steps))
    for lag in range(1, int(size.max())):
        same = text[lag:] == text[:-lag]
        apart = np.abs(values[lag:] - values[:-lag])[same]
        weight = 1.0 / (size[lag:][same] - 1)
        below += [weight[apart <= step * (1 + 1e-12)].sum() for step in steps]
    return _between(2 * below / len(values))


def shares_by_chance(values: FloatArray, steps: list[float]) -> list[float]:
    """The same of every two of these ratings, of whatever texts."""
    values = np.sort(values)
    n = len(values)
    below = []
    for step in steps:
        ends = np.searchsorted(values, values + step * (1 + 1e-12), side="right")
        below.append(2 * float((ends - np.arange(n) - 1).sum()) / (n * (n - 1)))
    return _between(np.array(below))


def _between(below: FloatArray) -> list[float]:
    """Shares up to each step less those up to the one before."""
    return [float(b - a) for a, b in pairwise([0.0, *below.tolist()])]
