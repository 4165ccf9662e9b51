"""The infinitesimal jackknife: intervals of columns too long to be resampled."""

import math
from collections.abc import Mapping

import numpy as np

from refless.registry.arrays import FloatArray, IntArray
from refless.stats.intervals import LEVEL, UNDEFINED, Interval, around, quantile
from refless.stats.measures import Measure


def jackknife(
    measures: Mapping[str, Measure],
    human: FloatArray,
    predicted: FloatArray,
    *,
    clusters: IntArray | None = None,
) -> dict[str, Interval]:
    """95 % intervals of measures from their influences, in O(n log n).

    Correlations are taken to be normal in Fisher's z, the others as they are.

    Args:
        measures: `refless.stats.measures.MEASURES` or a part of it.
        human, predicted: [n] finite columns.
        clusters: [n] labels of rows that belong together; single rows without it.

    Returns:
        For each measure (low, high); NaN where the measure is undefined and with fewer than two
        rows or clusters.
    """
    codes = np.arange(len(human))
    if clusters is not None:
        codes = np.unique(clusters, return_inverse=True)[1]
    return {name: _interval(measure, human, predicted, codes) for name, measure in measures.items()}


def _interval(
    measure: Measure, human: FloatArray, predicted: FloatArray, codes: IntArray
) -> Interval:
    value = measure.value(human, predicted)
    n_units = int(codes.max(initial=-1)) + 1
    if math.isnan(value) or n_units < 2:
        return UNDEFINED
    of_units = np.bincount(codes, weights=measure.influence(human, predicted))
    error = math.sqrt(float(np.square(of_units).sum()) * n_units / (n_units - 1))
    if measure.low < 0:
        return around(value, error / (1 - value * value) if abs(value) < 1 else 0.0)
    half = quantile(LEVEL) * error
    return max(measure.low, value - half), min(measure.high, value + half)
