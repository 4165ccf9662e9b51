"""Two predictors on the same texts: the difference of a measure, both drawn together."""

import math
from dataclasses import dataclass

import numpy as np

from refless.registry.arrays import FloatArray, IntArray
from refless.stats.intervals import UNDEFINED, Interval, percentile_interval
from refless.stats.measures import MEASURES
from refless.stats.resampling import RESAMPLES, weights_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A measure of one predictor less that of another; NaN where it is undefined.

    Attributes:
        measure: its name.
        value: the difference; interval: 95 %, of both on the same resamples.
    """

    measure: str
    value: float
    interval: Interval


def difference(
    measure: str,
    human: FloatArray,
    first: FloatArray,
    second: FloatArray,
    *,
    clusters: IntArray | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Difference:
    """A measure of `first` less that of `second`, on the texts that both predict.

    From a paired bootstrap. The order of rows does not matter.

    Args:
        measure: a name in `refless.stats.measures.MEASURES`.
        human: [n] human ratings; first, second: [n] predictions, NaN where there is none.
        clusters: [n] labels of texts that are drawn together; single texts without it.
        seed: of the bootstrap; resamples: its size.
    """
    defined = np.flatnonzero(~(np.isnan(first) | np.isnan(second)))
    labels = np.zeros(len(human), dtype=np.int64) if clusters is None else clusters
    rows = defined[
        np.lexsort((labels[defined], second[defined], first[defined], human[defined]))
    ]
    human = human[rows]
    first = first[rows]
    second = second[rows]
    groups = None if clusters is None else clusters[rows]
    of = MEASURES[measure].value
    value = of(human, first) - of(human, second)
    if math.isnan(value) or len(np.unique(rows if groups is None else groups)) < 2:
        ends = UNDEFINED
    else:
        weighted = MEASURES[measure].weighted
        ours = weighted(human, first)
        theirs = weighted(human, second)
        rng = np.random.default_rng(seed)
        drawn = weights_of(len(human), resamples=resamples, rng=rng, clusters=groups)
        ends = percentile_interval(np.concatenate([ours(w) - theirs(w) for w in drawn]))
    return Difference(measure=measure, value=value, interval=ends)
