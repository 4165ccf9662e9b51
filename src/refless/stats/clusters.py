"""Rows that belong together err together: intraclass correlation, design effect, group effects."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.registry.arrays import (
    FloatArray,
    IntArray,
    codes_of,
    numbered,
    rows_by_name,
)
from refless.stats.intervals import LEVEL, student

PRIOR_GROUPS = 2  # docs/estimating.md tells how these two were chosen
PRIOR_SPREAD = 0.4
LEAST_WITHIN = 1e-12  # share of the variance that lies within groups, at least
FEWEST_CLUSTERS = 2
FEWEST_ROWS = 5  # of a group, by which it is known
# one of a dozen systems is often far off the others, as no normal one would be
MOST_FREEDOM = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSums:
    """Sums over n values in groups: all that a mean and its design effects need.

    Attributes:
        n, groups: number of values, and of groups; pairs: sum of the squared sizes of groups.
        mean: of the values, NaN without any.
        within, between: sums of squares within groups, and between their means.
    """

    n: int
    groups: int
    pairs: float
    mean: float
    within: float
    between: float

    @classmethod
    def of(cls, values: FloatArray, labels: Sequence[str]) -> GroupSums:
        """The sums of [n] finite values; labels: [n], blank for a group of its own, or ()."""
        n = len(values)
        number = numbered(labels, n)
        sizes = np.bincount(number).astype(np.float64)
        means = np.bincount(number, values) / sizes
        centre = values.mean() if n else 0.0
        return cls(
            n=n,
            groups=len(sizes),
            pairs=float(np.square(sizes).sum()),
            mean=float(np.sort(values).mean()) if n else math.nan,
            within=float(np.square(values - means[number]).sum()),
            between=float((sizes * np.square(means - centre)).sum()),
        )

    @property
    def variance(self) -> float:
        """The variance of the values."""
        return (self.within + self.between) / max(self.n, 1)

    @property
    def intraclass(self) -> float:
        """The share of the variance between groups, in [0, 1]: one-way ANOVA (Donner 1986).

        0 where no group has two rows, or there is one group.
        """
        n = self.n
        k = self.groups
        if k < 2 or k == n:
            return 0.0
        inside = self.within / (n - k)
        outside = self.between / (k - 1)
        usual = (n - self.pairs / n) / (k - 1)
        total = outside + (usual - 1) * inside
        return min(1.0, max(0.0, (outside - inside) / total)) if total > 0 else 0.0

    def design_effect(self, correlation: float) -> float:
        """Kish's design effect of the grouped values."""
        usual = self.pairs / max(self.n, 1)  # size of a row's group
        return 1.0 + (usual - 1.0) * correlation


def intraclass(values: FloatArray, labels: Sequence[str]) -> float:
    """The share of the variance of [n] values between their groups; see `GroupSums`."""
    return GroupSums.of(values, labels).intraclass


def independent(values: FloatArray, labels: Sequence[str]) -> float:
    """The number of independent values worth these n, of which labels form groups (Kish)."""
    sums = GroupSums.of(values, labels)
    return sums.n / sums.design_effect(sums.intraclass)


def width(values: FloatArray, labels: Sequence[str]) -> float:
    """The width of an interval of one more row, of a group of its own, in that of these rows.

    By Student's t, as the variance between groups is known from few, and by the error of their
    mean; 1 where nothing lies between groups, or no two rows share one.
    """
    sums = GroupSums.of(values, labels)
    rho = sums.intraclass
    n = sums.n
    groups = sums.groups
    if not 1 < groups < n:
        return 1.0
    between = rho**2 / (groups - 1)
    within = (1.0 - rho**2) / (n - 1)
    freedom = 1.0 / (between + within)  # after Satterthwaite
    return widened(freedom) * math.sqrt(1.0 + rho / groups)


def effective_size(influence: FloatArray, clusters: IntArray) -> float:
    """The independent rows that n clustered ones are worth for a mean of influences.

    By the ratio of variances, never above n, and by the quantiles of Student's t, as few clusters
    tell a variance badly; the more so where few of them make it up (the kurtosis of their sums).
    Where nothing varies, the clusters are counted.
    """
    n = len(influence)
    codes = codes_of(clusters)
    groups = int(codes.max()) + 1
    if groups == n:
        return float(n)
    centred = influence - influence.mean()
    alone = float(np.square(centred).sum())
    if not alone > 0 or groups < FEWEST_CLUSTERS:
        return float(groups)
    squares = np.square(np.bincount(codes, centred))
    together = float(squares.sum()) * (groups / (groups - 1)) ** 2
    t = student(n - 1) / student(freedom_of(squares))
    return max(1.0, n * alone / max(alone, together) * t * t)


def effective_size_of_share(values: FloatArray, clusters: IntArray) -> float:
    """The independent rows that [n] values of 0 and 1 in clusters are worth for their mean.

    Never fewer than if all rows of each cluster were equal: the variance is at most that.
    """
    sizes = np.bincount(codes_of(clusters))
    if_equal = len(values) ** 2 / float(sizes @ sizes)
    return max(effective_size(values - values.mean(), clusters), if_equal)


def freedom_of(squares: FloatArray) -> float:
    """Degrees of freedom of a variance that is the sum of these squares, one a cluster.

    One fewer than the clusters; of squares more unequal than normal ones have, one fewer than as
    many as make it up (by their kurtosis).
    """
    fourth = max(float(squares @ squares), 1e-300)
    weighty = 3 * float(squares.sum()) ** 2 / fourth
    return max(min(weighty, len(squares)) - 1, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The deviation of a group's mean from the mean of all groups.

    Attributes:
        shift: best guess, drawn towards 0; error: its standard error.
    """

    shift: float
    error: float


def group_effects(
    values: FloatArray, labels: Sequence[str], least: float = 0.0
) -> dict[str, Effect]:
    """Each group's effect.

    Means of groups vary by tau² beyond what their rows explain (DerSimonian & Laird 1986). A
    group's effect is its own mean's deviation, drawn towards 0 as far as its rows are few.

    Args:
        values: [n] errors, finite; labels: [n] group of each, blank for none, or ().
        least: standard deviation between groups that is taken for granted.

    No effect at all with fewer than two groups of two rows.
    """
    groups = _groups(values, labels)
    if len(groups) < 2:
        return {}
    spread = float(np.var(np.concatenate([*groups.values()])))
    if not spread > 0:
        return {name: Effect(shift=0.0, error=0.0) for name in groups}
    sizes = np.array([len(rows) for rows in groups.values()])
    means = np.array([float(np.mean(rows)) for rows in groups.values()])
    within = sum(float(np.var(rows)) * len(rows) for rows in groups.values())
    pooled = within / (int(sizes.sum()) - len(groups))
    variances = max(pooled, LEAST_WITHIN * spread) / sizes
    weights = 1.0 / variances
    total = float(weights.sum())
    centre = float(weights @ means) / total
    excess = float(weights @ np.square(means - centre)) - (len(means) - 1)
    unshared = total - float(np.square(weights).sum()) / total
    tau = max(least**2, excess / unshared)
    drawn = tau / (tau + variances)
    shifts = (drawn * (means - centre)).tolist()
    errors = np.sqrt(drawn * variances).tolist()
    return {
        name: Effect(shift=shift, error=error)
        for name, shift, error in zip(groups, shifts, errors, strict=True)
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """The mean error to expect of a group that is not among the known ones.

    Attributes:
        spread: its standard deviation; groups: how many are known, 0 where none is named.
    """

    spread: float
    groups: int

    def error(self, shares: Sequence[float]) -> float:
        """Standard error of a mean of which unknown groups have these shares, for 1.96 of it."""
        freedom = min(self.groups - 1 + PRIOR_GROUPS, MOST_FREEDOM)
        mixed = math.fsum(share**2 for share in shares)
        of_mean = math.fsum(shares) ** 2 / max(self.groups, 1)
        return self.spread * widened(freedom) * math.sqrt(mixed + of_mean)


def known_groups(labels: Sequence[str]) -> set[str]:
    """The groups of `FEWEST_ROWS` rows or more; if none has as many, all of them; and ""."""
    counts = Counter(labels)
    known = {name for name, count in counts.items() if count >= FEWEST_ROWS}
    return {"", *(known or counts)}


def unseen(afar: FloatArray, values: FloatArray, labels: Sequence[str]) -> Unseen:
    """The expected error of an unseen group, from held-out groups.

    A variance from few groups says little: where it is low, two more count that vary by
    `PRIOR_SPREAD` of the standard deviation of all errors. With one group they are all there is.

    Args:
        afar: [n] errors, each held out with its whole group, NaN where there is none, or empty.
        values: [n] errors; labels: [n] group of each, blank for none, or ().
    """
    count = len({*labels} - {""})
    if not count:
        return Unseen(spread=0.0, groups=0)
    rows = np.flatnonzero(~np.isnan(afar)).tolist()
    groups = _groups(afar[rows], [labels[i] for i in rows])
    means = np.array([float(np.mean(rows)) for rows in groups.values()])
    freedom = max(len(means) - 1, 0)
    prior = PRIOR_SPREAD**2 * float(np.var(values))
    between = float(np.var(means, ddof=1)) if freedom else 0.0
    mixed = (PRIOR_GROUPS * prior + freedom * between) / (PRIOR_GROUPS + freedom)
    return Unseen(spread=math.sqrt(max(between, mixed)), groups=freedom + 1)


def _groups(values: FloatArray, labels: Sequence[str]) -> dict[str, FloatArray]:
    """Values of each group of two rows or more, by name."""
    groups = rows_by_name(labels).items()
    return {name: values[rows] for name, rows in groups if len(rows) > 1}


def widened(freedom: float) -> float:
    """The width of a 95 % interval by Student's t, in that by the normal distribution."""
    from scipy.special import ndtri

    return student(freedom) / float(ndtri((1 + LEVEL) / 2))
