"""Pairwise accuracy with ties (Deutsch, Foster and Freitag 2023, "Ties Matter")."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from refless.records import FloatArray, IntArray
from refless.stats.ties import settled

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
        groups: [n] labels; only pairs of one label count (systems that answered one item).

    NaN without pairs.
    """
    right = total = 0
    for h, p in _pairs(human, predicted, groups):
        signs = np.where(np.abs(p) <= threshold, 0.0, np.sign(p))
        right += int((np.sign(h) == signs).sum())
        total += len(h)
    return right / total if total else float("nan")


def tie_threshold(
    human: FloatArray, predicted: FloatArray, *, groups: IntArray | None = None
) -> tuple[float, float]:
    """The threshold at which predictions best tie where people do, and the accuracy there.

    The "tie calibration" of the paper: it lets metrics that never tie compete with those that do.
    The smallest of equally good thresholds. Chosen on the same pairs, so the accuracy flatters a
    little; NaN, NaN without pairs or beyond five million of them.
    """
    if _count(len(human), groups) > MOST_PAIRS:
        return float("nan"), float("nan")
    pairs = list(_pairs(human, predicted, groups))
    if not pairs or not sum(len(h) for h, _ in pairs):
        return float("nan"), float("nan")
    h, p = (np.concatenate(column) for column in zip(*pairs, strict=True))
    sizes, places = np.unique(np.abs(p), return_inverse=True)
    # Up to a threshold of sizes[k], pairs of that size or less are tied.
    gained = np.bincount(places, weights=(h == 0), minlength=len(sizes))
    lost = np.bincount(places, weights=(np.sign(h) == np.sign(p)), minlength=len(sizes))
    right = lost.sum() + np.cumsum(gained - lost)
    best = int(np.argmax(right))
    untied = float(lost.sum())
    if untied >= right[best]:
        return 0.0, untied / len(h)
    return float(sizes[best]), float(right[best]) / len(h)


def _pairs(
    human: FloatArray, predicted: FloatArray, groups: IntArray | None
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Differences of all pairs, a row or a group at a time."""
    order = np.arange(len(human)) if groups is None else np.argsort(groups, kind="stable")
    human, predicted = settled(human)[order], settled(predicted)[order]
    ends = np.full(len(human), len(human))
    if groups is not None:
        ends = np.searchsorted(groups[order], groups[order], side="right")
    for i, end in enumerate(ends):
        if end > i + 1:
            yield human[i] - human[i + 1 : end], predicted[i] - predicted[i + 1 : end]


def _count(n: int, groups: IntArray | None) -> int:
    sizes = np.array([n]) if groups is None else np.unique(groups, return_counts=True)[1]
    return int((sizes * (sizes - 1) // 2).sum())
