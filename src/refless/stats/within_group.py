"""Correlations within blocks of rows that one model predicted, pooled over blocks.

A held-out prediction contains the mean of the other ratings, which is low where its own rating is
high: over all rows, what knows nothing correlates below 0. The ratings of a block are as good as
shuffled to a model that has seen none of them, so within blocks the expectation is then 0, whatever
the predictor. A block whose predictions are all equal ranks nothing and counts as 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from refless.registry.arrays import FloatArray, IntArray
from refless.stats.correlation import (
    balance,
    is_constant,
    ranks,
    settled,
    untied,
    wins_of,
)

DENSE = 100  # rows of a block up to which all pairs are quicker than sorting

Columns = tuple[FloatArray, FloatArray]
Within = Callable[[FloatArray, FloatArray, IntArray], float]


def pearson(human: FloatArray, predicted: FloatArray, blocks: IntArray) -> float:
    """Mean of the blocks' r, each weighing its rows less 1, without the bias of few rows.

    Args:
        human, predicted: [n] finite; blocks: [n] labels.

    NaN where every block is of one prediction, one rating or fewer than three rows.
    """
    total = 0.0
    weight = 0.0
    ranked = False
    for y, p in _blocks(human, predicted, blocks, least=3):
        spare = len(y) - 1
        weight += spare
        if not is_constant(p):
            ranked = True
            r = _correlation(y - y.mean(), p - p.mean())
            enlarged = 1 + (1 - r * r) / (2 * spare)
            total += spare * r * enlarged
    return _bounded(total / weight) if ranked else math.nan


def _correlation(y: FloatArray, p: FloatArray) -> float:
    """The correlation of two centred columns; 0 if the product of their squares is too small."""
    below = math.sqrt(float((y * y).sum()) * float((p * p).sum()))
    return float((y * p).sum()) / below if below > 0 else 0.0


def spearman(human: FloatArray, predicted: FloatArray, blocks: IntArray) -> float:
    """Spearman's rho of the population, from triples of rows of one block: of any size unbiased.

    In m rows rho is (3 tau + (m - 2) rho) / (m + 1) on average, tau being Kendall's (Hoeffding
    1948); of triples of different rows only the second part is left.
    """
    return _pooled(human, predicted, blocks, triples=True)


def kendall(human: FloatArray, predicted: FloatArray, blocks: IntArray) -> float:
    """Kendall's tau-b, from pairs of rows of one block."""
    return _pooled(human, predicted, blocks, triples=False)


def auc(human: FloatArray, predicted: FloatArray, blocks: IntArray) -> float:
    """Chance that a row of the higher rating is predicted above one of the lower of its block."""
    if len(np.unique(human)) != 2:
        return math.nan
    wins = 0.0
    pairs = 0
    for y, p in _blocks(human, predicted, blocks, least=2):
        wins_of_block, pairs_of_block = wins_of(y == y.max(), p)
        wins += wins_of_block
        pairs += pairs_of_block
    return wins / pairs if pairs else math.nan


WITHIN: dict[str, Within] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
    "auc": auc,
}


def positions(predicted: FloatArray, blocks: IntArray) -> FloatArray:
    """[n] place of each prediction among those of its block, from -1 to 1: one scale for all."""
    places = np.empty(len(predicted))
    for rows in rows_of(blocks):
        middles = 2 * ranks(predicted[rows]) - 1
        places[rows] = middles / len(rows) - 1
    return places


def _pooled(
    human: FloatArray, predicted: FloatArray, blocks: IntArray, *, triples: bool
) -> float:
    """Correlation out of mean products of signs; a block weighs its rows less 1."""
    parts = []
    for y, p in _blocks(human, predicted, blocks, least=3 if triples else 2):
        ranked = not is_constant(p)
        products = _products(y, p, triples) if ranked else (0.0, 0.0, 0.0)
        parts.append((len(y) - 1.0, ranked, *products))
    columns = np.array(parts, dtype=np.float64).reshape(-1, 5).T
    weights, ranked_blocks, both, ours, theirs = columns
    below = float((weights * ours).sum() * (weights * theirs).sum())
    if not below > 0:
        return math.nan
    share = float((weights * ranked_blocks).sum() / weights.sum())
    return _bounded(float((weights * both).sum()) / math.sqrt(below) * share)


def _products(
    x: FloatArray, y: FloatArray, triples: bool
) -> tuple[float, float, float]:
    """Mean of sign(x_i - x_j) sign(y_i - y_k), and with x or y alone, over triples or pairs.

    j and k are different rows in triples and the same in pairs. Sums of whole numbers are exact.
    """
    m = float(len(x))
    if m > DENSE:
        pairs = [balance(x, y), untied(x), untied(y)]
        a = 2 * ranks(x) - (m + 1)
        b = 2 * ranks(y) - (m + 1)
    else:
        u = np.sign(x[:, None] - x)
        v = np.sign(y[:, None] - y)
        pairs = [float(np.vdot(c, d)) for c, d in ((u, v), (u, u), (v, v))]
        a = u.sum(axis=1)
        b = v.sum(axis=1)
    if triples:
        sums = [float(np.vdot(c, d)) for c, d in ((a, b), (a, a), (b, b))]
        pairs = [(total - p) / (m - 2) for total, p in zip(sums, pairs, strict=True)]
    count = m * (m - 1)
    return pairs[0] / count, pairs[1] / count, pairs[2] / count


def _blocks(
    human: FloatArray, predicted: FloatArray, blocks: IntArray, *, least: int
) -> Iterator[Columns]:
    """Both columns of each block of so many rows and of more than one rating."""
    human = settled(human)
    predicted = settled(predicted)
    for rows in rows_of(blocks):
        y = human[rows]
        if len(rows) >= least and not is_constant(y):
            yield y, predicted[rows]


def rows_of(blocks: IntArray) -> list[IntArray]:
    """The rows of each block, by label."""
    order = np.argsort(blocks, kind="stable")
    if not len(order):
        return []
    return np.split(order, np.flatnonzero(np.diff(blocks[order])) + 1)


def _bounded(r: float) -> float:
    return min(1.0, max(-1.0, r))
