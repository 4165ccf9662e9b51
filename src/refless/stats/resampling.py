"""Intervals of measures: the bootstrap, as whole-number weights on rows, and its limit."""

import math
from collections.abc import Iterator, Mapping

import numpy as np

from refless.registry.arrays import FloatArray, IntArray, codes_of
from refless.stats.intervals import (
    CELLS,
    UNDEFINED,
    Interval,
    percentile_interval,
)
from refless.stats.weighted import Prepare

RESAMPLES = 1_000


def bootstrap(
    statistics: Mapping[str, Prepare],
    human: FloatArray,
    predicted: FloatArray,
    *,
    resamples: int = RESAMPLES,
    rng: np.random.Generator,
    clusters: IntArray | None = None,
) -> dict[str, Interval]:
    """95 % percentile intervals of several measures, all on the same resamples.

    Which rows are drawn depends on their order: sort them canonically first.

    Args:
        statistics: measures by name, such as `refless.stats.measures.WEIGHTED` or a part of it.
        human, predicted: [n] finite columns.
        clusters: [n] labels; rows of one label are drawn together. Single rows without it.

    Returns:
        For each measure (low, high). Resamples in which the measure is undefined are left out;
        both ends are NaN when more than half are, or with fewer than two rows or clusters.
    """
    n_units = len(human) if clusters is None else len(np.unique(clusters))
    if n_units < 2 or resamples < 1:
        return dict.fromkeys(statistics, UNDEFINED)
    prepared = {name: prepare(human, predicted) for name, prepare in statistics.items()}
    values: dict[str, list[FloatArray]] = {name: [] for name in prepared}
    for weights in weights_of(
        len(human), resamples=resamples, rng=rng, clusters=clusters
    ):
        for name, of_weights in prepared.items():
            values[name].append(of_weights(weights))
    return {
        name: percentile_interval(np.concatenate(parts))
        for name, parts in values.items()
    }


def weights_of(
    n: int,
    *,
    resamples: int,
    rng: np.random.Generator,
    clusters: IntArray | None = None,
) -> Iterator[FloatArray]:
    """Blocks [b, n] of weights, `resamples` lines in all: how often each row was drawn.

    As many clusters (or single rows) are drawn with replacement as there are.
    """
    codes = None if clusters is None else codes_of(clusters)
    n_units = n if codes is None else int(codes.max()) + 1
    block = max(1, CELLS // n)
    for done in range(0, resamples, block):
        size = min(block, resamples - done)
        drawn = rng.integers(n_units, size=(size, n_units))
        drawn += n_units * np.arange(size)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * n_units).astype(np.float64)
        weights = counts.reshape(size, n_units)
        yield weights if codes is None else weights[:, codes]


def influence_error(influences: FloatArray, clusters: IntArray | None = None) -> float:
    """Standard error of a number from [n] influences; NaN with fewer than two rows or clusters."""
    codes = np.arange(len(influences))
    if clusters is not None:
        codes = codes_of(clusters)
    n = int(codes.max(initial=-1)) + 1
    of_units = np.bincount(codes, weights=influences)
    if n < 2:
        return math.nan
    squares = float(np.square(of_units).sum())
    return math.sqrt(squares * n / (n - 1))
