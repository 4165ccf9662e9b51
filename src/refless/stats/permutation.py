"""Permutation tests: of two correlations, and of a mean."""

import numpy as np

from refless.registry.arrays import FloatArray, IntArray, codes_of
from refless.stats.correlation import is_constant, ranks
from refless.stats.intervals import CELLS

PERMUTATIONS = 1_000
EXCHANGES = 999
TIE = 1e-12  # a difference that is less by no more counts as reaching the observed


def permutation_p(
    human: FloatArray,
    first: FloatArray,
    second: FloatArray,
    *,
    rng: np.random.Generator,
    permutations: int = PERMUTATIONS,
    clusters: IntArray | None = None,
) -> float:
    """Two-sided p-value of equal Spearman correlations, from scores exchanged at random by rows.

    Ranks are exchanged, as else it would mean nothing (PERM-INPUTS of Deutsch et al. 2021, paired).
    The observed assignment counts as one permutation, so p is never 0. Which rows are exchanged
    depends on their order: sort them canonically first.

    Args:
        human, first, second: [n] finite columns.
        clusters: [n] labels; rows of one label are exchanged together.

    NaN where a correlation is undefined.
    """
    if any(map(is_constant, (human, first, second))):
        return float("nan")
    human = ranks(human)
    first = ranks(first)
    second = ranks(second)
    observed = abs(_with(human, first[None]) - _with(human, second[None]))[0]
    codes = np.arange(len(human))
    if clusters is not None:
        codes = codes_of(clusters)
    block = max(1, CELLS // len(human))
    reached = 0
    for done in range(0, permutations, block):
        size = min(block, permutations - done)
        exchanged = (rng.random((size, int(codes.max()) + 1)) < 0.5)[:, codes]
        ours = np.where(exchanged, second, first)
        theirs = np.where(exchanged, first, second)
        gaps = np.abs(_with(human, ours) - _with(human, theirs))
        reached += int((gaps >= observed - TIE).sum())
    return (1 + reached) / (1 + permutations)


def exchange_p(turns: FloatArray, counts: IntArray, clusters: IntArray) -> float:
    """Two-sided p-value of a sum over rows, if all turns of a row were as likely as what was seen.

    Turns are what would have been seen if another had had the place: each annotator's gain beside a
    judge's. Those of one cluster are drawn alike. However skewed they
    are, at most 1 of 20 samples without a difference has a p-value up to .05.

    Args:
        turns: [n, k] of each row, the last one seen; counts: [n] turns of it, which come last.
        clusters: [n] labels of rows that belong together.
    """
    codes = codes_of(clusters)
    groups = int(codes.max(initial=-1)) + 1
    last = turns.shape[1] * np.arange(1, len(turns) + 1) - 1
    rng = np.random.default_rng(0)
    block = max(1, CELLS // max(len(turns), 1))
    observed = float(turns[:, -1].sum())
    slack = TIE * float(np.abs(turns).sum())
    above = below = 1
    for done in range(0, EXCHANGES, block):
        drawn = rng.random((min(block, EXCHANGES - done), groups))[:, codes]
        sums = turns.ravel()[last - (drawn * counts).astype(np.int64)].sum(axis=1)
        above += int((sums >= observed - slack).sum())
        below += int((sums <= observed + slack).sum())
    return min(1.0, 2 * min(above, below) / (1 + EXCHANGES))


def _with(human: FloatArray, columns: FloatArray) -> FloatArray:
    """[b] correlation of each of [b, n] columns with the human one; 0 for a constant column."""
    human = human - human.mean()
    columns = columns - columns.mean(axis=1, keepdims=True)
    below = np.sqrt(np.square(columns).sum(axis=1) * np.square(human).sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below > 0, (columns * human).sum(axis=1) / below, 0.0)
