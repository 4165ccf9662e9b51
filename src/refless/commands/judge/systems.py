"""Scores of whole systems, and intervals of correlations, for the comparison of metrics."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from refless.data.records import Predictions
from refless.metrics.protocol import Scores, averaged
from refless.registry.arrays import FloatArray, IntArray, codes
from refless.stats.answers import Estimate
from refless.stats.corrections import holm
from refless.stats.intervals import percentile_interval, student
from refless.stats.measures import MEASURES
from refless.stats.resampling import weights_of

LEVEL = 0.05  # a p-value below this shows that two orders are opposite


def system_means(
    human: Predictions, scores: Mapping[str, Scores], seed: int, resamples: int
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """[1 + b, s] the mean ratings of systems, and by metric the same of its scores.

    First those of all segments, then of each resample. Segments of one group are drawn together, in
    all systems alike; systems are sorted by name, and NaN is one without a score.
    """
    system = codes(human.system)
    clusters = codes(human.group) if human.group else None
    n = len(human)
    weights = [np.ones((1, n))]
    if clusters is None or clusters.max() > 0:
        rng = np.random.default_rng(seed)
        weights += weights_of(n, resamples=resamples, rng=rng, clusters=clusters)
    columns = {
        name: _of_systems(metric, system, weights) for name, metric in scores.items()
    }
    return _of_systems(averaged(human.human), system, weights), columns


def drawn_correlations(
    human: FloatArray, judge: FloatArray, measure: str
) -> FloatArray:
    """[b] the correlation over systems in each resample; NaN if a system is missing.

    Args:
        human, judge: [1 + b, s] as of `system_means`.
    """
    scored = ~np.isnan(judge[0])
    human = human[1:, scored]
    judge = judge[1:, scored]
    complete = ~np.isnan(human + judge).any(axis=1)
    values = np.full(len(human), math.nan)
    for i in np.flatnonzero(complete):
        values[i] = MEASURES[measure].value(human[i], judge[i])
    return values


def _of_systems(
    scores: Scores, system: IntArray, weights: Sequence[FloatArray]
) -> FloatArray:
    """[b, s] scores of systems whose segments stand `weights` times; NaN without a segment."""
    columns = []
    for number in range(int(system.max()) + 1):
        rows = np.flatnonzero((system == number) & ~np.isnan(scores.segments))
        values = [_weighted(scores.take(rows), block[:, rows]) for block in weights]
        columns.append(np.concatenate(values))
    return np.stack(columns, axis=1)


def _weighted(scores: Scores, weights: FloatArray) -> FloatArray:
    # no matrix product, of which threads change the last digits
    sums = [np.einsum("bn,n->b", weights, column) for column in scores.statistics.T]
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.asarray(scores.combine(np.stack(sums, axis=1)))
    return np.where(weights.sum(axis=1) > 0, values, np.nan)


def pairs_in_order(human: FloatArray, judge: FloatArray) -> FloatArray:
    """[b] the share of pairs of systems that both order alike, a tie of one half a pair.

    Args:
        human, judge: [b, s] means of systems, NaN where a resample lacks one.
    """
    alike = np.sign(_gaps(human)) * np.sign(_gaps(judge))
    defined = ~np.isnan(alike)
    right = np.where(defined, (1 + alike) / 2, 0.0).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray(right / defined.sum(axis=1))


def _gaps(means: FloatArray) -> FloatArray:
    """[b, pairs] the mean of the first of each pair of systems, less that of the second."""
    first, second = np.triu_indices(means.shape[1], 1)
    return np.asarray(means[:, first] - means[:, second])


def ranked_by(human: FloatArray, judge: FloatArray, n: int, units: int) -> Estimate:
    """`pairs_in_order`, and what it may be for ratings without noise.

    Noise in people's means hides order, so the low end of the bootstrap is a cautious one, and its
    high end is none: the interval reaches up to the share of pairs that are not shown (after Holm)
    to be in opposite orders.

    Args:
        human, judge: [1 + b, s] means of systems: of all rows, then of resampled ones.
        n: rated texts; units: what is drawn as a whole, of which few scatter more than a bootstrap
            of them says.
    """
    from scipy.special import ndtr

    shares = pairs_in_order(human, judge)
    if math.isnan(shares[0]) or len(shares) < 2:
        return Estimate(undefined="a system has no score")
    value = float(shares[0])
    tail = float(ndtr(-student(max(units - 1, 1))))
    low = percentile_interval(shares[1:], 1 - 2 * tail)[0]
    wrong = opposite(human, judge)
    interval = (min(low, value), max(1 - wrong, value))
    return Estimate(value=value, interval=interval, n=n)


def opposite(human: FloatArray, judge: FloatArray) -> float:
    """The share of pairs of systems that people and judge are shown to order in opposite ways."""
    from scipy.special import ndtr

    by_people = _z_of_gaps(human)
    by_judge = _z_of_gaps(judge)
    p = 2 * ndtr(-np.minimum(np.abs(by_people), np.abs(by_judge)))
    significant = holm(p) < LEVEL
    return float((significant & (by_people * by_judge < 0)).mean())


def _z_of_gaps(means: FloatArray) -> FloatArray:
    """[pairs] the gap of each pair of systems over its spread in resamples; 0 without a spread."""
    gaps = _gaps(means)
    spread = np.ma.masked_invalid(gaps[1:]).std(axis=0).filled(0.0)
    none = np.zeros_like(spread)
    return np.asarray(np.divide(gaps[0], spread, out=none, where=spread > 0))
