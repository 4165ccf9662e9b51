"""A metric run over outputs: corpus scores with intervals, overall and by system."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.data.records import Outputs, picked
from refless.loops.threads import single_threaded_blas
from refless.metrics.protocol import Metric, Scores
from refless.registry.arrays import BoolArray, FloatArray, IntArray, codes
from refless.registry.signature import Signature
from refless.stats.intervals import UNDEFINED, Interval, percentile_interval
from refless.stats.resampling import RESAMPLES, weights_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A corpus score.

    Attributes:
        score: NaN without outputs that could be scored.
        score_interval: 95 %, from a bootstrap that re-sums statistics; outputs of one item are
            drawn together. NaN where there are fewer than two items.
        n, n_scored: how many outputs there are, and how many count.
    """

    score: float
    score_interval: Interval
    n: int
    n_scored: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Run:
    """One metric's scores of outputs."""

    label: str  # the metric as the user wrote it
    signature: Signature
    segments: FloatArray  # [n] NaN where undefined
    overall: Corpus
    systems: dict[str, Corpus]  # by name; empty without a system column


def run(
    metric: Metric,
    outputs: Outputs,
    *,
    label: str,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Run:
    """The metric's scores of all outputs that could be read.

    Raises:
        InputError: what the metric's `score` raises.
    """
    bad = np.array(outputs.bad or [False] * len(outputs), dtype=bool)
    rows = np.flatnonzero(~bad)
    readable = outputs.take(rows) if bad.any() else outputs
    scores = metric.score(readable)
    segments = np.full(len(outputs), np.nan)
    segments[rows] = scores.segments

    def corpus(chosen: BoolArray, n: int) -> Corpus:
        """The chosen rows' score: their statistics summed."""
        rows = np.flatnonzero(chosen & ~np.isnan(scores.segments))
        score = float("nan")
        interval = UNDEFINED
        if len(rows) == len(readable):
            score = scores.corpus
        elif len(rows):
            ordered = np.sort(scores.statistics[rows], axis=0)
            score = float(scores.combine(ordered.sum(axis=0)))
        if len(rows):
            items = picked(readable.items, rows) or None
            interval = interval_of(scores, rows, items, seed, resamples)
        return Corpus(score=score, score_interval=interval, n=n, n_scored=len(rows))

    names = np.array(readable.systems, dtype=object)
    counts = Counter(outputs.systems)
    systems = {name: corpus(names == name, counts[name]) for name in sorted(counts)}
    everything = np.ones(len(readable), dtype=bool)
    return Run(
        label=label,
        signature=metric.signature().plus(ci=f"boot-{resamples}", seed=seed),
        segments=segments,
        overall=corpus(everything, len(outputs)),
        systems=systems,
    )


def interval_of(
    scores: Scores,
    rows: IntArray,
    items: Sequence[object] | None,
    seed: int,
    resamples: int,
) -> Interval:
    """Percentile interval of the corpus score of some rows, whatever their order.

    Args:
        items: [rows] what is drawn together; None draws each row alone.
    """
    counts = scores.statistics[rows]
    unit = np.zeros(len(rows), dtype=np.int64)
    if items is not None:
        unit = codes(items)
    order = np.lexsort((*counts.T, unit))
    counts = counts[order]
    unit = unit[order]
    alone = items is None or len(np.unique(unit)) == len(rows)
    clusters = None if alone else unit
    units = len(rows) if alone else len(np.unique(unit))
    if units < 2:
        return UNDEFINED
    rng = np.random.default_rng(seed)
    drawn = weights_of(len(rows), resamples=resamples, rng=rng, clusters=clusters)
    with single_threaded_blas():
        values = [scores.combine(weights @ counts) for weights in drawn]
        return percentile_interval(np.concatenate(values))
