"""Metrics against people: who agrees with them, and who significantly better than whom."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from refless.commands.judge.pair_influence import accuracy_influence
from refless.commands.judge.pairs import (
    chance_accuracy,
    pairwise_accuracy,
    tie_threshold,
)
from refless.commands.judge.systems import (
    drawn_correlations,
    ranked_by,
    system_means,
)
from refless.data.records import Predictions
from refless.evaluation.differences import difference
from refless.evaluation.jackknife import PERFECT
from refless.evaluation.raters import Raters, rated_coefficient
from refless.metrics.protocol import Scores
from refless.registry.arrays import FloatArray, IntArray, codes, numbered
from refless.registry.errors import UsageError
from refless.stats.answers import Estimate
from refless.stats.corrections import corrected
from refless.stats.correlation import spearman
from refless.stats.intervals import (
    UNDEFINED,
    Interval,
    around,
    of_best,
    percentile_interval,
)
from refless.stats.left_out import COEFFICIENTS
from refless.stats.permutation import PERMUTATIONS, permutation_p
from refless.stats.resampling import RESAMPLES, influence_error

LEVEL = 0.05
FEWEST_SYSTEMS = 3  # two systems correlate perfectly, one way or the other
COIN = 0.5  # share of pairs of systems that chance has in order
MOST_ROWS = (
    20_000  # beyond this, pairs of all rows are too many to be looked at one by one
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreeing:
    """One metric's agreement with people; NaN if undefined.

    Attributes:
        name: of the metric.
        n_scored: rows that it scored.
        pearson, spearman: correlations, with 95 % intervals.
        accuracy: share of pairs that it orders as people do, with a 95 % interval. A pair of texts
            is right if both tie, too (Deutsch et al. 2023); a tie of systems is half a pair, as
            where it is told whether the metric may rank them.
        tie_threshold: difference up to which its scores best tie where people do; of texts.
        tie_accuracy: accuracy with that threshold, chosen on the same rows; of texts.
        chance: what knowing nothing would give there, with as many ties.
        undefined: why a correlation is NaN, or "".
    """

    name: str
    n_scored: int
    pearson: float
    pearson_interval: Interval
    spearman: float
    spearman_interval: Interval
    accuracy: float
    accuracy_interval: Interval
    tie_threshold: float
    tie_accuracy: float
    chance: float
    undefined: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricComparison:
    """Two metrics on the rows that both scored.

    Attributes:
        first, second: names; the first has the larger correlation or comes first by name.
        n: those rows.
        difference: of the correlations, first minus second.
        difference_interval: 95 %, paired.
        permutation_p: paired permutation test, two-sided; permutation_p_holm: the same after Holm,
            over all pairs of the level.
        better: whether the first is significantly better: `permutation_p_holm` below 0.05.
    """

    first: str
    second: str
    n: int
    difference: float
    difference_interval: Interval
    permutation_p: float
    permutation_p_holm: float = math.nan
    better: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Level:
    """Agreement over segments, or over systems.

    Attributes:
        name: `segment` or `system`.
        n: rows with a human score.
        metrics: best first, by Spearman, by which they are compared too.
        comparisons: every pair of metrics over segments; systems are too few to compare them.
        best: metrics that no other is significantly better than.
        best_interval: 95 %, of the first metric's correlation; it allows for the choice of the
            highest of several.
        undefined: why there is nothing, or "".
    """

    name: str
    n: int = 0
    metrics: tuple[Agreeing, ...] = ()
    comparisons: tuple[MetricComparison, ...] = ()
    best: tuple[str, ...] = ()
    best_interval: Interval = UNDEFINED
    undefined: str = ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Meta:
    """The agreement of metrics with people.

    Attributes:
        segments, systems: the two levels.
    """

    segments: Level
    systems: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """Settings: the seed, and the sizes of bootstrap and permutation."""

    seed: int = 0
    resamples: int = RESAMPLES
    permutations: int = PERMUTATIONS


def meta(
    human: Predictions,
    scores: Mapping[str, Scores],
    how: How,
    raters: Raters | None = None,
) -> Meta:
    """The agreement of metrics with people, at segment and at system level.

    A system's human score is the mean over its segments, a metric's what its statistics combine to.
    Segments of one group, or of one item, are resampled and permuted together, as they err together
    (Williams' test knows nothing of that). At system level intervals come from resampled items (or
    segments): they say how the numbers would change with other texts, not with other systems.

    Args:
        human: ratings, systems, items and groups of the segments; its predictions are not read.
        scores: by name, [n] segments with NaN if there is none; higher is better.
        how: settings.
        raters: who rated the segments, None if that is not known.

    Raises:
        UsageError: no metric, or lengths that differ.
    """
    sizes = {len(metric.segments) for metric in scores.values()}
    if sizes != {len(human)}:
        raise UsageError(
            f"meta needs metrics with one score for each of {len(human)} segments"
        )
    scores = dict(sorted(scores.items()))
    return Meta(
        segments=_segments(human, scores, how, raters),
        systems=_systems(human, scores, how),
    )


def _segments(
    human: Predictions, scores: Mapping[str, Scores], how: How, raters: Raters | None
) -> Level:
    columns = {name: metric.segments for name, metric in scores.items()}
    items = _items(human)
    clusters = codes(human.group) if human.group else None
    metrics = {}
    for name, column in columns.items():
        rows = np.flatnonzero(~np.isnan(column))
        people = human.human[rows]
        judge = column[rows]
        units = None if clusters is None else clusters[rows]
        groups = None if items is None else items[rows]
        row_raters = raters and raters.among(rows, len(human))
        estimates = {
            measure: rated_coefficient(measure, people, judge, units, row_raters)
            for measure in ("spearman", "pearson")
        }
        metrics[name] = _described(name, people, judge, estimates, groups, units)

    n_units = len(human) if clusters is None else len(np.unique(clusters))
    compared = _comparisons(human.human, columns, metrics, how, clusters)
    return _level("segment", len(human), metrics, compared, n_units)


def _systems(human: Predictions, scores: Mapping[str, Scores], how: How) -> Level:
    n = len(set(human.system))
    if not human.system:
        return Level(name="system", undefined="there is no system column")
    if n < FEWEST_SYSTEMS:
        few = f"{n} systems are too few to correlate"
        return Level(name="system", undefined=few)
    means, columns = system_means(human, scores, how.seed, how.resamples)
    units = len({*(human.group or human.id)})
    metrics = {}
    for name, column in columns.items():
        scored = ~np.isnan(column[0])
        n_scored = int(scored.sum())
        people = means[0, scored]
        judge = column[0, scored]
        estimates = {"accuracy": ranked_by(means, column, len(human), units)}
        for measure in ("spearman", "pearson"):
            value = COEFFICIENTS[measure].value(people, judge)
            drawn = percentile_interval(drawn_correlations(means, column, measure))
            estimates[measure] = Estimate(value=value, interval=reflected(value, drawn))
        few = "it scored too few systems" if n_scored < FEWEST_SYSTEMS else ""
        metrics[name] = Agreeing(
            name=name,
            n_scored=n_scored,
            **_values_of(estimates),
            tie_threshold=math.nan,
            tie_accuracy=math.nan,
            chance=COIN,
            undefined=few,
        )

    return _level("system", n, metrics, (), units)


def _values_of(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    """Numbers and their intervals by their names in `Agreeing`."""
    values = {name: estimate.value for name, estimate in estimates.items()}
    ends = {
        f"{name}_interval": estimate.interval for name, estimate in estimates.items()
    }
    return values | ends


def reflected(value: float, ends: Interval) -> Interval:
    """A bootstrap's interval, reaching as far to one side of the value as to the other.

    Means of resampled segments have more noise than the means themselves, and noise lowers
    correlations: draws may all lie below the value, as it may below the correlation without noise.
    """
    low, high = ends
    half = max(value - low, high - value)
    return max(value - half, -1.0), min(value + half, 1.0)


def _described(
    name: str,
    human: FloatArray,
    column: FloatArray,
    estimates: Mapping[str, Estimate],
    groups: IntArray | None,
    clusters: IntArray | None,
) -> Agreeing:
    """The agreement with people of a metric's scores; of pairs within groups, if there are any."""
    accuracy = Estimate()
    threshold = best = chance = math.nan
    if groups is not None or len(human) <= MOST_ROWS:
        accuracy = _pairs_right(human, column, groups, clusters)
        threshold, best = tie_threshold(human, column, groups=groups)
        ties = 0.0 if math.isnan(threshold) else threshold
        chance = chance_accuracy(human, column, groups=groups, threshold=ties)
    return Agreeing(
        name=name,
        n_scored=len(human),
        **_values_of({**estimates, "accuracy": accuracy}),
        tie_threshold=threshold,
        tie_accuracy=best,
        chance=chance,
        undefined=estimates["spearman"].undefined,
    )


def _pairs_right(
    human: FloatArray,
    column: FloatArray,
    groups: IntArray | None,
    clusters: IntArray | None,
) -> Estimate:
    """`pairwise_accuracy` with the jackknife's interval, normal in Fisher's z of 2 A - 1.

    That is Kendall's tau where nothing ties. Where all pairs are right, or all wrong, nothing tells
    how far that may be chance, so there is no interval.
    """
    value = pairwise_accuracy(human, column, groups=groups)
    tau = 2 * value - 1
    influence = accuracy_influence(human, column, groups=groups)
    error = 2 * influence_error(influence, clusters)
    if not error > 0 or not abs(tau) < 1:
        return Estimate(value=value, n=len(human))
    low, high = around(tau, error / (1 - tau * tau))
    interval = ((1 + low) / 2, (1 + high) / 2)
    return Estimate(value=value, interval=interval, n=len(human))


def _level(
    name: str,
    n: int,
    metrics: Mapping[str, Agreeing],
    comparisons: tuple[MetricComparison, ...],
    units: int,
) -> Level:
    """The metrics from the best on, and the cluster of those that no other beats."""
    ranked = sorted(metrics.values(), key=_place)
    beaten = {pair.second for pair in comparisons if pair.better}
    defined = [metric for metric in ranked if not math.isnan(metric.spearman)]
    ends = UNDEFINED
    if defined:
        triple = (defined[0].spearman, *defined[0].spearman_interval)
        clipped = np.clip(triple, -PERFECT, PERFECT)
        z, low, high = np.arctanh(clipped).tolist()
        widened = of_best(z, (low, high), len(defined), units)
        low, high = np.tanh(widened).tolist()
        ends = (low, high)
    return Level(
        name=name,
        n=n,
        metrics=tuple(ranked),
        comparisons=comparisons,
        best=tuple(metric.name for metric in defined if metric.name not in beaten),
        best_interval=ends,
        undefined="" if defined else "no metric has a correlation",
    )


def _place(metric: Agreeing) -> tuple[float, str]:
    if math.isnan(metric.spearman):
        return math.inf, metric.name
    return -metric.spearman, metric.name


def _comparisons(
    human: FloatArray,
    columns: Mapping[str, FloatArray],
    metrics: Mapping[str, Agreeing],
    how: How,
    clusters: IntArray | None,
) -> tuple[MetricComparison, ...]:
    """Every pair of metrics, from the best on, with p-values corrected over the pairs."""
    ranked = sorted(columns, key=lambda name: _place(metrics[name]))
    pairs = [
        _compared(human, columns, names, how, clusters)
        for names in combinations(ranked, 2)
    ]
    p_values = corrected(pair.permutation_p for pair in pairs)
    return tuple(
        replace(pair, permutation_p_holm=p, better=p < LEVEL and pair.difference > 0)
        for pair, p in zip(pairs, p_values, strict=True)
    )


def _compared(
    human: FloatArray,
    columns: Mapping[str, FloatArray],
    names: tuple[str, str],
    how: How,
    clusters: IntArray | None,
) -> MetricComparison:
    """Two metrics on their common rows; the one with the larger correlation there is first."""
    ahead, behind = names
    rows = np.flatnonzero(~np.isnan(columns[ahead] + columns[behind]))
    people = human[rows]
    values = {name: spearman(people, columns[name][rows]) for name in names}
    if values[behind] > values[ahead]:
        behind, ahead = names
    judged = (people, columns[ahead][rows], columns[behind][rows])
    units = None if clusters is None else clusters[rows]
    gap = difference(
        "spearman", *judged, clusters=units, seed=how.seed, resamples=how.resamples
    )
    rng = np.random.default_rng(how.seed)
    p = permutation_p(*judged, rng=rng, permutations=how.permutations, clusters=units)
    return MetricComparison(
        first=ahead,
        second=behind,
        n=len(rows),
        difference=values[ahead] - values[behind],
        difference_interval=gap.interval,
        permutation_p=p,
    )


def _items(human: Predictions) -> IntArray | None:
    """Item codes if items were answered more than once: then only such pairs are counted."""
    several = any(name and count > 1 for name, count in Counter(human.item).items())
    return numbered(human.item, len(human)) if several else None
