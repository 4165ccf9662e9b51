"""The gain of ratings from estimates of all outputs, and from items rated for one system."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.registry.arrays import BoolArray, FloatArray
from refless.stats.samples import Arm, Sample

FEWEST = 10  # units with ratings in each arm, and pairs, from which on these are used
STEADY = 20.0  # a slope is drawn to 0 by 1 + STEADY / n squared t-values
USUAL = 0.3  # of how far ratings lie apart: a usual deviation if there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """The gain of the answer by ratings from further data.

    Attributes:
        slope: by which it is used, 0 for not at all.
        ratio: of the variance with it to that without.
        moved: by how much the number falls.
        correlation: with ratings, NaN if undefined.
    """

    slope: float = 0.0
    ratio: float = 1.0
    moved: float = 0.0
    correlation: float = math.nan


def kept_of(r2: float, n: int) -> tuple[float, float]:
    """The share of a slope from n units that is kept, and by what the variance is too small then.

    Positive-part James and Stein: an estimate that knows nothing does next to no harm.
    """
    t2 = r2 * (n - 2) / max(1 - r2, 1e-12)
    factor = max(0.0, 1 - (1 + STEADY / n) / max(t2, 1e-12))
    lost = (n - 1) / (n - 2) * (1 + 1 / (n - 3))
    return factor, lost


def by_estimates(
    sample: Sample, arms: Sequence[Arm], influence: FloatArray, fewest: int
) -> Gain:
    """The regression of ratings on estimates over units, drawn to 0.

    With theta the contrast of ratings Y and f that of estimates, rated (L) or all:
    theta = Y_L - lambda (f_L - f_all).

    Args:
        sample: the entries; arms: its sides.
        influence: [units] of each unit on the contrast of ratings.
        fewest: units with a rating, in the arm that has the fewest.
    """
    if not sample.has_proxy:
        return Gain()
    off, moved = _estimates_off(sample, arms)
    squares = float(off @ off)
    of_ratings = float(influence @ influence)
    product = float(influence @ off)
    if not squares > 0 or not of_ratings > 0:
        return Gain()
    r = product / math.sqrt(squares * of_ratings)
    if fewest < FEWEST or product <= 0:
        return Gain(correlation=r)
    factor, lost = kept_of(r * r, fewest)
    slope = factor * product / squares
    if not slope:
        return Gain(correlation=r)
    residuals = float(np.square(influence - slope * off).sum()) / of_ratings
    return Gain(slope=slope, ratio=residuals * lost, moved=slope * moved, correlation=r)


def _estimates_off(sample: Sample, arms: Sequence[Arm]) -> tuple[FloatArray, float]:
    """[units] influence on (estimates of the rated less those of all), and that difference."""
    off = np.zeros(sample.units)
    moved = 0.0
    for arm in arms:
        mass = sample.mass[arm.every]
        if not mass.any():
            return off, 0.0
        overall = float(np.average(sample.proxy[arm.every], weights=mass))
        rated = float(arm.weight @ sample.proxy_labelled[arm.rows])
        moved += arm.sign * (rated - overall)
        centre = rated if arm.known else overall
        mine = arm.weight * arm.open * (sample.proxy_labelled[arm.rows] - centre)
        off += arm.sign * np.bincount(arm.unit, mine, sample.units)
        if not arm.known:  # all entries are a sample themselves
            every = mass / mass.sum() * (sample.proxy[arm.every] - centre)
            off -= arm.sign * np.bincount(sample.unit[arm.every], every, sample.units)
    return off, moved


def by_pairs(sample: Sample, arms: Sequence[Arm], slope: float) -> Gain:
    """Items rated in both arms, and the others, weighed as well as can be, drawn to 0.

    The weights are best at the correlation of the pairs' ratings, to which two opposed made-up
    pairs are added: ten pairs without a fail look exact.

    Args:
        sample: the entries; arms: its sides; slope: by which estimates are used already.
    """
    twice = _rated_twice(sample, arms)
    if not twice:
        return Gain()
    residuals = sample.rating - slope * sample.proxy_labelled
    sides = zip(arms, twice, strict=True)
    paired = [_in_order(sample, arm, both, residuals) for arm, both in sides]
    if not np.ptp(paired[0]) * np.ptp(paired[1]):
        return Gain()
    n = len(paired[0])
    ratings = [residuals[arm.rows] for arm in arms]
    spread = np.array([float(np.var(column, ddof=1)) for column in ratings])
    usual = USUAL * float(np.ptp(np.concatenate(ratings)))
    r = _correlation(paired, spread, usual)
    factor, lost = kept_of(r * r, n)
    shared = factor * r * math.sqrt(float(spread.prod())) / n
    if not shared:
        return Gain()
    unpaired = np.array([int((~both).sum()) for both in twice])
    inner = spread / n
    outer = spread / np.maximum(unpaired, 1e-6)
    covariance = np.diag(inner + outer) - shared * np.array([[0, 1], [1, 0]])
    best = np.linalg.solve(covariance, outer)
    plain = n / (n + unpaired)
    gaps = np.array([*map(_gap, ratings, twice)])
    signs = np.array([arm.sign for arm in arms])
    new = _variance(best, inner, outer, shared)
    old = _variance(plain, inner, outer, shared)
    moved = float((plain - best) * gaps @ signs)
    return Gain(slope=shared, ratio=new / old * lost, moved=moved)


def _rated_twice(sample: Sample, arms: Sequence[Arm]) -> list[BoolArray]:
    """[rows] of each arm, whether an item is rated in both; nothing if weights could not help."""
    n_items = len(np.unique(sample.item))
    if len(arms) < 2 or sample.weighted:
        return []
    if sample.units < n_items or n_items == len(sample.item):
        return []
    items = [sample.item[arm.rows] for arm in arms]
    pairs = np.intersect1d(items[0], items[1])
    twice = [np.isin(column, pairs) for column in items]
    if len(pairs) < FEWEST or all(both.all() for both in twice):
        return []
    return twice


def _in_order(
    sample: Sample, arm: Arm, both: BoolArray, residuals: FloatArray
) -> FloatArray:
    """[pairs] what is left of an arm's ratings of the items that both have, by item."""
    rows = arm.rows[both]
    return residuals[rows[np.argsort(sample.item[rows], kind="stable")]]


def _correlation(
    paired: Sequence[FloatArray], spread: FloatArray, usual: float
) -> float:
    """The correlation of pairs, two opposed ones among them."""
    deviation = np.sqrt(np.maximum(spread, usual**2))
    signs = np.array([1, -1])
    first = np.append(paired[0], paired[0].mean() + deviation[0] * signs)
    second = np.append(paired[1], paired[1].mean() - deviation[1] * signs)
    return float(np.corrcoef(first, second)[0, 1])


def _gap(ratings: FloatArray, both: BoolArray) -> float:
    """The mean of ratings of paired items less that of the others; 0 without others."""
    if both.all():
        return 0.0
    return float(ratings[both].mean() - ratings[~both].mean())


def _variance(
    share: FloatArray, inner: FloatArray, outer: FloatArray, shared: float
) -> float:
    """Of a difference in which paired items have these shares of each arm."""
    apart = float(np.square(share) @ inner + np.square(1 - share) @ outer)
    return apart - 2 * float(share.prod()) * shared
