"""Metrics against people: who agrees with them, and who significantly better than whom."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from refless.data.records import Predictions
from refless.evaluation.held_out import agreement
from refless.evaluation.jackknife import PERFECT
from refless.evaluation.reranking import several
from refless.evaluation.systems import gap_interval, system_table
from refless.evaluation.validation import codes
from refless.metrics.references.protocol import Scores
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.registry.errors import UsageError
from refless.stats.clusters import numbered
from refless.stats.corrections import holm
from refless.stats.intervals import UNDEFINED, Interval, of_best, percentile_interval
from refless.stats.measures import MEASURES
from refless.stats.pairs import pairwise_accuracy, tie_threshold
from refless.stats.permutation import PERMUTATIONS, Measure, permutation_p
from refless.stats.resampling import RESAMPLES
from refless.stats.williams import williams

LEVEL = 0.05
FEWEST_SYSTEMS = 3  # two systems correlate perfectly, one way or the other
MOST_ROWS = 20_000  # beyond this, pairs of all rows are too many to be looked at one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreeing:
    """One metric's agreement with people; NaN where undefined.

    Attributes:
        name: of the metric.
        n_scored: rows that it scored.
        pearson, spearman, kendall: correlations, with 95 % intervals.
        accuracy: share of pairs that it orders as people do, ties included.
        tie_threshold: difference up to which its scores best tie where people do.
        tie_accuracy: accuracy with that threshold, chosen on the same rows.
        undefined: why a correlation is NaN, or "".
    """

    name: str
    n_scored: int
    pearson: float
    pearson_interval: Interval
    spearman: float
    spearman_interval: Interval
    kendall: float
    kendall_interval: Interval
    accuracy: float
    tie_threshold: float
    tie_accuracy: float
    undefined: str = ""

    def interval_of(self, measure: str) -> Interval:
        """The 95 % interval of a correlation, by its name."""
        ends: Interval = getattr(self, f"{measure}_interval")
        return ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two metrics on the rows that both scored.

    Attributes:
        first, second: names; the first has the larger correlation or comes first by name.
        n: those rows.
        difference: of the correlations, first minus second.
        difference_interval: 95 %, paired.
        williams_t, williams_p: Williams' test, two-sided.
        permutation_p: paired permutation test, two-sided.
        williams_p_holm, permutation_p_holm: the same after Holm, over all pairs of the level.
        better: whether the first is significantly better: `permutation_p_holm` below 0.05.
    """

    first: str
    second: str
    n: int
    difference: float
    difference_interval: Interval
    williams_t: float
    williams_p: float
    permutation_p: float
    williams_p_holm: float = math.nan
    permutation_p_holm: float = math.nan
    better: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Level:
    """Agreement over segments, or over systems.

    Attributes:
        name: `segment` or `system`.
        n: rows with a human score.
        metrics: best first, by the measure of the study.
        comparisons: every pair of metrics.
        best: metrics that no other is significantly better than.
        best_interval: 95 %, of the first metric's correlation; it allows for the choice of the
            highest of several.
        undefined: why there is nothing, or "".
    """

    name: str
    n: int = 0
    metrics: tuple[Agreeing, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    best: tuple[str, ...] = ()
    best_interval: Interval = UNDEFINED
    undefined: str = ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Meta:
    """The agreement of metrics with people.

    Attributes:
        measure: the correlation by which metrics are compared.
        segments, systems: the two levels.
    """

    measure: Measure
    segments: Level
    systems: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """Settings: the measure, the seed, and the sizes of bootstrap and permutation."""

    measure: Measure = "spearman"
    seed: int = 0
    resamples: int = RESAMPLES
    permutations: int = PERMUTATIONS


def meta(human: Predictions, scores: Mapping[str, Scores], how: How | None = None) -> Meta:
    """How far metrics agree with people, at segment and at system level.

    A system's human score is the mean over its segments, a metric's what its statistics combine to.
    Segments of one group, or of one item, are resampled and permuted together, as they err together
    (Williams' test knows nothing of that). At system level intervals come from resampled items (or
    segments): they say how the numbers would change with other texts, not with other systems. The
    order of rows does not matter.

    Args:
        human: ratings, systems, items and groups of the segments; its predictions are not read.
        scores: by name, [n] segments with NaN where there is none; higher is better.
        how: settings.

    Raises:
        UsageError: no metric, or lengths that differ.
    """
    how = how or How()
    if not scores or any(len(one.segments) != len(human) for one in scores.values()):
        raise UsageError(f"meta needs metrics with one score for each of {len(human)} segments")
    order = _canonical(human, scores)
    human = human.take(order)
    scores = {
        name: replace(
            one,
            segments=one.segments[order],
            statistics=None if one.statistics is None else one.statistics[order],
        )
        for name, one in sorted(scores.items())
    }
    return Meta(
        measure=how.measure,
        segments=_segments(human, scores, how),
        systems=_systems(human, scores, how),
    )


def _segments(human: Predictions, scores: Mapping[str, Scores], how: How) -> Level:
    columns = {name: one.segments for name, one in scores.items()}
    pairs = _items(human)
    together = together_of(human)
    clusters = codes(together) if together else None

    def agreeing(name: str, column: FloatArray) -> Agreeing:
        reason = ("",) * len(human)
        judged = replace(human, predicted=column, reason=reason, group=together)
        found = agreement(judged, seed=how.seed, resamples=how.resamples)
        known = ~np.isnan(column)
        one = _described(name, human.human[known], column[known], found.interval_of, pairs, known)
        return replace(one, undefined=found.undefined.get(how.measure, ""))

    def gap(first: str, second: str, rows: IntArray) -> Interval:
        held = None if clusters is None else clusters[rows]
        both = columns[first][rows], columns[second][rows]
        return gap_interval(
            how.measure,
            human.human[rows],
            *both,
            seed=how.seed,
            resamples=how.resamples,
            clusters=held,
        )

    units = len(human) if clusters is None else len(np.unique(clusters))
    return _level("segment", human.human, columns, agreeing, gap, how, clusters, units)


def _systems(human: Predictions, scores: Mapping[str, Scores], how: How) -> Level:
    if len(set(human.system)) < FEWEST_SYSTEMS:
        why = "there is no system column"
        if human.system:
            why = f"{len(set(human.system))} systems are too few to correlate"
        return Level(name="system", undefined=why)
    table = system_table(human, scores, how.seed, how.resamples)

    def agreeing(name: str, column: FloatArray) -> Agreeing:
        known = ~np.isnan(column)

        def interval(measure: str) -> Interval:
            return percentile_interval(table.drawn(name, measure))

        one = _described(name, table.human[known], column[known], interval, None, known)
        undefined = "" if known.sum() >= FEWEST_SYSTEMS else "it scored too few systems"
        return replace(one, undefined=undefined)

    def gap(first: str, second: str, _: IntArray) -> Interval:
        drawn = table.drawn(first, how.measure) - table.drawn(second, how.measure)
        return percentile_interval(drawn)

    units = len({*(human.group or human.item or human.id)})
    return _level("system", table.human, table.columns, agreeing, gap, how, None, units)


def _level(
    name: str,
    human: FloatArray,
    columns: Mapping[str, FloatArray],
    agreeing: Callable[[str, FloatArray], Agreeing],
    gap: Callable[[str, str, IntArray], Interval],
    how: How,
    clusters: IntArray | None,
    units: int,
) -> Level:
    found = {metric: agreeing(metric, column) for metric, column in columns.items()}
    ranked = sorted(found, key=lambda metric: (-_known(_value(found[metric], how.measure)), metric))
    comparisons = _corrected(
        [_compared(human, columns, (a, b), gap, how, clusters) for a, b in combinations(ranked, 2)]
    )
    beaten = {one.second for one in comparisons if one.better}
    defined = [metric for metric in ranked if not math.isnan(_value(found[metric], how.measure))]
    return Level(
        name=name,
        n=len(human),
        metrics=tuple(found[metric] for metric in ranked),
        comparisons=comparisons,
        best=tuple(metric for metric in defined if metric not in beaten),
        best_interval=_best_interval([found[metric] for metric in defined], how.measure, units),
        undefined="" if defined else "no metric has a correlation",
    )


def _best_interval(ranked: list[Agreeing], measure: str, units: int) -> Interval:
    """Of the first of several correlations, in Fisher's z."""
    if not ranked:
        return UNDEFINED
    ends = (_value(ranked[0], measure), *ranked[0].interval_of(measure))
    value, low, high = np.arctanh(np.clip(ends, -PERFECT, PERFECT)).tolist()
    low, high = np.tanh(of_best(value, (low, high), len(ranked), units)).tolist()
    return low, high


def _compared(
    human: FloatArray,
    columns: Mapping[str, FloatArray],
    names: tuple[str, str],
    gap: Callable[[str, str, IntArray], Interval],
    how: How,
    clusters: IntArray | None,
) -> Comparison:
    """Two metrics on their common rows; whichever has the larger correlation there is first."""
    rows = np.flatnonzero(~np.isnan(columns[names[0]]) & ~np.isnan(columns[names[1]]))
    of, people = MEASURES[how.measure].value, human[rows]
    values = {name: of(people, columns[name][rows]) for name in names}
    if values[names[1]] > values[names[0]]:
        names = names[::-1]
    first, second = (columns[name][rows] for name in names)
    tested = williams(values[names[0]], values[names[1]], of(first, second), len(rows))
    p = permutation_p(
        people,
        first,
        second,
        how.measure,
        rng=np.random.default_rng(how.seed),
        permutations=how.permutations,
        clusters=None if clusters is None else clusters[rows],
    )
    return Comparison(
        first=names[0],
        second=names[1],
        n=len(rows),
        difference=values[names[0]] - values[names[1]],
        difference_interval=gap(*names, rows),
        williams_t=tested.t,
        williams_p=tested.p,
        permutation_p=p,
    )


def _corrected(found: list[Comparison]) -> tuple[Comparison, ...]:
    by_williams = holm(np.array([one.williams_p for one in found]))
    by_permutation = holm(np.array([one.permutation_p for one in found]))
    return tuple(
        replace(
            one,
            williams_p_holm=float(w),
            permutation_p_holm=float(p),
            better=bool(p < LEVEL and one.difference > 0),
        )
        for one, w, p in zip(found, by_williams, by_permutation, strict=True)
    )


def _described(
    name: str,
    human: FloatArray,
    column: FloatArray,
    interval_of: Callable[[str], Interval],
    items: IntArray | None,
    known: BoolArray,
) -> Agreeing:
    groups = None if items is None else items[known]
    few = groups is not None or len(human) <= MOST_ROWS
    threshold, best = tie_threshold(human, column, groups=groups) if few else (math.nan, math.nan)
    return Agreeing(
        name=name,
        n_scored=len(human),
        pearson=MEASURES["pearson"].value(human, column),
        pearson_interval=interval_of("pearson"),
        spearman=MEASURES["spearman"].value(human, column),
        spearman_interval=interval_of("spearman"),
        kendall=MEASURES["kendall"].value(human, column),
        kendall_interval=interval_of("kendall"),
        accuracy=pairwise_accuracy(human, column, groups=groups) if few else math.nan,
        tie_threshold=threshold,
        tie_accuracy=best,
    )


def together_of(human: Predictions) -> tuple[str, ...]:
    """[n] what is resampled together: groups, else items that several outputs answer, else ()."""
    if human.group or _items(human) is None or len(set(human.item)) < 2:
        return human.group
    return tuple(name or f"\0{i}" for i, name in enumerate(human.item))  # blank ones alone


def _items(human: Predictions) -> IntArray | None:
    """Item codes where items were answered more than once: then only such pairs are counted."""
    if not several(human.item):
        return None
    return numbered(human.item, len(human))


def _value(one: Agreeing, measure: str) -> float:
    return float(getattr(one, measure))


def _known(value: float) -> float:
    return -math.inf if math.isnan(value) else value


def _canonical(human: Predictions, scores: Mapping[str, Scores]) -> IntArray:
    """[n] rows in an order of their own; rows that tie are interchangeable."""
    names = [codes(column) for column in (human.item, human.system, human.group) if column]
    columns = [one.segments for _, one in sorted(scores.items())]
    statistics = [s for _, one in sorted(scores.items()) if (s := one.statistics) is not None]
    return np.lexsort((*(c for s in statistics for c in s.T), *columns, *names, human.human))
