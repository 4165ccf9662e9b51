"""Pairwise accuracy with ties (Deutsch, Foster and Freitag 2023, "Ties Matter")."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from refless.registry.arrays import FloatArray, IntArray
from refless.stats.correlation import settled

MOST_PAIRS = 5_000_000  # tie thresholds are looked for among at most so many pairs


def pairwise_accuracy(
    human: FloatArray,
    predicted: FloatArray,
    *,
    groups: IntArray | None = None,
    threshold: float = 0.0,
) -> float:
    """Share of pairs of rows that are ordered as people order them, ties included, in [0, 1].

    A pair counts as right where both order it alike, or where both tie; predictions tie that
    differ by at most the threshold.

    Args:
        human, predicted: [n] finite columns.
        groups: [n] labels; only pairs of one label count (systems that answered one item), and the
            share is the mean over labels, however many rows each has, as in mt-metrics-eval.

    NaN without pairs.
    """
    right: Counter[int] = Counter()
    for size, h, p in _pairs(human, predicted, groups):
        signs = np.where(np.abs(p) <= threshold, 0.0, np.sign(p))
        right[size] += int((np.sign(h) == signs).sum())
    return _mean(right, groups, len(human))


def chance_accuracy(
    human: FloatArray,
    predicted: FloatArray,
    *,
    groups: IntArray | None = None,
    threshold: float = 0.0,
) -> float:
    """The `pairwise_accuracy` of predictions that tie as often, and know nothing else.

    t_h t_p + (1 - t_h) (1 - t_p) / 2, of the shares of pairs that tie for people and by
    predictions; NaN without pairs.
    """
    people: Counter[int] = Counter()
    scores: Counter[int] = Counter()
    for size, h, p in _pairs(human, predicted, groups):
        people[size] += int((h == 0).sum())
        scores[size] += int((np.abs(p) <= threshold).sum())
    by_people = _mean(people, groups, len(human))
    by_scores = _mean(scores, groups, len(human))
    return by_people * by_scores + (1 - by_people) * (1 - by_scores) / 2


def tie_threshold(
    human: FloatArray, predicted: FloatArray, *, groups: IntArray | None = None
) -> tuple[float, float]:
    """The threshold at which predictions best tie where people do, and the accuracy there.

    The "tie calibration" of the paper: it lets metrics that never tie compete with those that do.
    The smallest of equally good thresholds. Chosen on the same pairs, so the accuracy flatters a
    little; NaN, NaN without pairs or beyond five million of them.
    """
    rows = _sizes(len(human), groups)
    total = int((rows * (rows - 1) // 2).sum())
    if not 0 < total <= MOST_PAIRS:
        return float("nan"), float("nan")
    pairs = list(_pairs(human, predicted, groups))
    n_pairs = np.concatenate([np.full(len(h), size) for size, h, _ in pairs])
    h = np.concatenate([gaps for _, gaps, _ in pairs])
    p = np.concatenate([gaps for _, _, gaps in pairs])
    sizes, places = np.unique(np.abs(p), return_inverse=True)
    right = np.zeros(len(sizes) + 1)
    for n in np.unique(n_pairs).tolist():
        inside = n_pairs == n
        place = places[inside]
        ties = h[inside] == 0
        alike = np.sign(h[inside]) == np.sign(p[inside])
        # up to a threshold of sizes[k], pairs of that size or less tie
        gained = np.bincount(place, weights=ties, minlength=len(sizes))
        lost = np.bincount(place, weights=alike, minlength=len(sizes))
        change = np.concatenate([[0.0], np.cumsum(gained - lost)])
        right += change / n + lost.sum() / n
    best = int(np.argmax(settled(right)))
    threshold = float(sizes[best - 1]) if best else 0.0
    accuracy = pairwise_accuracy(human, predicted, groups=groups, threshold=threshold)
    return threshold, accuracy


def _mean(right: Counter[int], groups: IntArray | None, n: int) -> float:
    """Mean share of right pairs over groups, from their number by the pairs of a group; exact."""
    n_groups = int((_sizes(n, groups) > 1).sum())
    if not n_groups:
        return float("nan")
    total = sum((Fraction(count, size) for size, count in right.items()), Fraction(0))
    return float(total / n_groups)


def _pairs(
    human: FloatArray, predicted: FloatArray, groups: IntArray | None
) -> Iterator[tuple[int, FloatArray, FloatArray]]:
    """Differences of all pairs, a row at a time, with the number of pairs in its group."""
    labels = np.zeros(len(human), dtype=np.int64) if groups is None else groups
    order = np.argsort(labels, kind="stable")
    labels = labels[order]
    human = settled(human)[order]
    predicted = settled(predicted)[order]
    begins = np.searchsorted(labels, labels, "left").tolist()
    ends = np.searchsorted(labels, labels, "right").tolist()
    for i, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        size = end - begin
        below = slice(i + 1, end)
        if end > i + 1:
            n_pairs = size * (size - 1) // 2
            yield n_pairs, human[i] - human[below], predicted[i] - predicted[below]


def _sizes(n: int, groups: IntArray | None) -> IntArray:
    """Rows of each group."""
    if groups is None:
        return np.array([n])
    return np.unique(groups, return_counts=True)[1]
