"""The paired permutation test of two columns' correlations with a third."""

from typing import Literal

import numpy as np

from refless.registry.arrays import FloatArray, IntArray
from refless.stats.correlation import is_constant, ranks
from refless.stats.influence import standard
from refless.stats.intervals import CELLS

PERMUTATIONS = 1_000
TIE = 1e-12  # a permuted difference within this of the observed one counts as reaching it
Measure = Literal["pearson", "spearman"]


def permutation_p(
    human: FloatArray,
    first: FloatArray,
    second: FloatArray,
    measure: Measure,
    *,
    rng: np.random.Generator,
    permutations: int = PERMUTATIONS,
    clusters: IntArray | None = None,
) -> float:
    """Two-sided p-value of equal correlations, from scores exchanged at random, row by row.

    The columns are first brought to one footing (unit variance for Pearson, ranks for Spearman), as
    else exchanging them would mean nothing (PERM-INPUTS of Deutsch et al. 2021, paired). The
    observed assignment counts as one permutation, so p is never 0. Which rows are exchanged
    depends on their order: sort them canonically first.

    Args:
        human, first, second: [n] finite columns.
        measure: which correlation.
        clusters: [n] labels; rows of one label are exchanged together.

    NaN where a correlation is undefined.
    """
    if any(map(is_constant, (human, first, second))):
        return float("nan")
    foot = standard if measure == "pearson" else ranks
    human, first, second = foot(human), foot(first), foot(second)
    observed = abs(_with(human, first[None]) - _with(human, second[None]))[0]
    codes = np.arange(len(human))
    if clusters is not None:
        codes = np.unique(clusters, return_inverse=True)[1]
    block, reached = max(1, CELLS // len(human)), 0
    for done in range(0, permutations, block):
        size = min(block, permutations - done)
        exchanged = (rng.random((size, int(codes.max()) + 1)) < 0.5)[:, codes]
        ours, theirs = np.where(exchanged, second, first), np.where(exchanged, first, second)
        reached += int((np.abs(_with(human, ours) - _with(human, theirs)) >= observed - TIE).sum())
    return (1 + reached) / (1 + permutations)


def _with(human: FloatArray, columns: FloatArray) -> FloatArray:
    """[b] correlation of each of [b, n] columns with the human one; 0 for a constant column."""
    human = human - human.mean()
    columns = columns - columns.mean(axis=1, keepdims=True)
    below = np.sqrt(np.square(columns).sum(axis=1) * np.square(human).sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below > 0, (columns * human).sum(axis=1) / below, 0.0)
