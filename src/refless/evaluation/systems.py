"""Scores of whole systems, and intervals of correlations, for the comparison of metrics."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from refless.data.records import Predictions
from refless.evaluation.differences import drawn_together
from refless.evaluation.held_out import RESAMPLED_ROWS
from refless.evaluation.validation import codes
from refless.loops.threads import calm
from refless.metrics.references.protocol import Scores, averaged
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.intervals import LEVEL, UNDEFINED, Interval, quantile
from refless.stats.measures import MEASURES
from refless.stats.resampling import weights_of


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SystemTable:
    """Scores of systems, and the same in resamples of their segments.

    Attributes:
        human: [s] mean ratings, systems sorted by name; columns: [s] scores of each metric, NaN
            where it has none.
        human_drawn: [b, s] and columns_drawn: [b, s] the same in each resample.
    """

    human: FloatArray
    columns: dict[str, FloatArray]
    human_drawn: FloatArray
    columns_drawn: dict[str, FloatArray]

    def drawn(self, metric: str, measure: str) -> FloatArray:
        """[b] the correlation over systems in each resample."""
        known = ~np.isnan(self.columns[metric])
        of = MEASURES[measure].value
        pairs = zip(self.human_drawn[:, known], self.columns_drawn[metric][:, known], strict=True)
        return np.array(
            [
                of(human, column) if not np.isnan(human + column).any() else math.nan
                for human, column in pairs
            ]
        )


def system_table(
    human: Predictions, scores: Mapping[str, Scores], seed: int, resamples: int
) -> SystemTable:
    """Mean ratings and scores of systems, with resamples of segments.

    Segments of one group (else of one item) are drawn together, in all systems alike.
    """
    number = codes(human.system)
    inside = np.stack([number == k for k in range(int(number.max()) + 1)]).astype(np.float64)
    together = human.group or human.item
    clusters = codes(together) if together else None
    rng = np.random.default_rng(seed)
    drawn = list(
        weights_of(len(human), resamples=resamples, rng=rng, clusters=clusters)
        if clusters is None or clusters.max() > 0
        else ()
    )
    people = averaged(human.human)
    whole = np.ones((1, len(human)))
    return SystemTable(
        human=_of_systems(people, inside, whole)[0],
        columns={name: _of_systems(one, inside, whole)[0] for name, one in scores.items()},
        human_drawn=_all_drawn(people, inside, drawn),
        columns_drawn={name: _all_drawn(one, inside, drawn) for name, one in scores.items()},
    )


def _all_drawn(scores: Scores, inside: FloatArray, drawn: list[FloatArray]) -> FloatArray:
    if not drawn:
        return np.zeros((0, len(inside)))
    return np.concatenate([_of_systems(scores, inside, weights) for weights in drawn])


def _of_systems(scores: Scores, inside: FloatArray, weights: FloatArray) -> FloatArray:
    """[b, s] scores of systems whose segments stand `weights` times; NaN without a segment."""
    if scores.statistics is None or scores.combine is None:
        scores = averaged(scores.segments)
    statistics, combine = scores.statistics, scores.combine
    if statistics is None or combine is None:
        return np.full((len(weights), len(inside)), np.nan)
    known = ~np.isnan(scores.segments)
    statistics = np.where(known[:, None], statistics, 0.0)
    columns = []
    for system in inside:
        rows = np.flatnonzero((system > 0) & known)
        with calm():
            sums = weights[:, rows] @ statistics[rows]
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.asarray(combine(sums))
        columns.append(np.where(weights[:, rows].sum(axis=1) > 0, found, np.nan))
    return np.stack(columns, axis=1)


def gap_interval(
    measure: str,
    human: FloatArray,
    first: FloatArray,
    second: FloatArray,
    *,
    seed: int,
    resamples: int,
    clusters: IntArray | None,
) -> Interval:
    """95 % interval of the difference of two correlations with one column, paired.

    From a bootstrap over rows or whole clusters; from influences beyond 20,000 rows.
    """
    one = MEASURES[measure]
    if math.isnan(one.value(human, first)) or math.isnan(one.value(human, second)):
        return UNDEFINED
    codes_ = None if clusters is None else np.unique(clusters, return_inverse=True)[1]
    if codes_ is not None and codes_.max() == 0:
        return UNDEFINED
    if len(human) > RESAMPLED_ROWS:
        each = one.influence(human, first) - one.influence(human, second)
        units = each if codes_ is None else np.bincount(codes_, weights=each)
        half = quantile(LEVEL) * math.sqrt(float(np.square(units).sum()))
        gap = one.value(human, first) - one.value(human, second)
        return gap - half, gap + half
    return drawn_together(measure, human, first, second, clusters, seed, resamples)
