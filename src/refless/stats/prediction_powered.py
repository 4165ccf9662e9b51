"""Means and differences of human ratings from few ratings and an estimate of every output.

A difference of two arms is what their ratings say, less a share of what the same outputs' estimates
say too much (prediction-powered inference: Angelopoulos et al. 2023; in surveys the regression
estimator of double sampling, Cochran 1977, chapter 12). Estimates must not know the ratings beside
them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np

from refless.records import FloatArray, IntArray
from refless.stats.intervals import UNDEFINED, Interval, student

FEWEST = 10  # clusters with ratings, from which on estimates are used
STEADY = 20  # the share of estimates is drawn to 0 by 1 + STEADY / clusters squared t-values
NO_SPREAD = 1e-12  # of the largest rating: less is rounding


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Cells:
    """Outputs of one or two arms, one entry for each item that an arm answered.

    Attributes:
        arm: [n] +1 or -1: a difference is the mean of the first less that of the second.
        human: [n] mean human rating of the outputs that were rated, NaN where none was.
        beside: [n] mean estimate of these same outputs; any number where none was rated.
        estimate: [n] mean estimate of all outputs of the item.
        cluster: [n] what is drawn as a whole: items, or groups of them.
        stratum: [n] number from 0 of the part of the items that ratings were drawn from apart.
        probability: [n] chance with which the item was drawn to be rated; NaN where all items of
            an arm and stratum have the same.
    """

    arm: IntArray
    human: FloatArray
    beside: FloatArray
    estimate: FloatArray
    cluster: IntArray
    stratum: IntArray
    probability: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A mean or a difference.

    Attributes:
        value: in the units of the ratings; NaN where an arm has no rating.
        error: standard error, NaN where it cannot be told.
        freedom: degrees of freedom of Student's t behind interval and p.
    """

    value: float
    error: float
    freedom: float

    @property
    def interval(self) -> Interval:
        """95 %, by Student's t."""
        if not self.error >= 0:
            return UNDEFINED
        half = student(self.freedom) * self.error
        return self.value - half, self.value + half

    @property
    def p(self) -> float:
        """Two-sided p-value of no difference."""
        return 2 * min(self.above, 1 - self.above)

    @property
    def above(self) -> float:
        """Probability that the true value lies above 0, if nothing was known of it before."""
        from scipy.special import stdtr

        if not self.error >= 0:
            return math.nan
        if self.error == 0:
            return 0.5 + 0.5 * float(np.sign(self.value))
        return float(stdtr(self.freedom, self.value / self.error))


UNKNOWN = Answer(value=math.nan, error=math.nan, freedom=math.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Powered:
    """What ratings say alone, and what they say with estimates.

    Attributes:
        alone: ratings only; both: with estimates, the same where these are not used.
        share: of the estimates that is used, 0 for none (lambda).
        correlation: of ratings and estimates over clusters, of differences where there are two
            arms; NaN where undefined.
        rated: clusters with a rating; worth: how many ratings alone would be as exact.
    """

    alone: Answer
    both: Answer
    share: float
    correlation: float
    rated: int

    @property
    def worth(self) -> float:
        """Clusters with ratings that would be as exact without estimates; NaN if undefined."""
        if not self.both.error > 0:
            return math.nan
        return self.rated * (self.alone.error / self.both.error) ** 2


def powered(cells: Cells) -> Powered:
    """The mean of one arm, or the difference of two.

    With theta the contrast of ratings Y and f that of estimates, rated (L) or all:
    theta = Y_L - lambda (f_L - f_all). Its variance is (1 - s) var(Y - lambda f) + s var(Y) over
    clusters with a rating, s their share of all. lambda is the regression of Y on f over clusters,
    drawn to 0 where t² of the slope is small (positive-part James and Stein), so that estimates
    which know nothing do next to no harm. Strata without a rating in some arm are left out.
    """
    cells = _in_all_arms(cells)
    known = np.flatnonzero(~np.isnan(cells.human))
    if not len(known) or {*cells.arm[known].tolist()} != {*cells.arm.tolist()}:
        return Powered(alone=UNKNOWN, both=UNKNOWN, share=0.0, correlation=math.nan, rated=0)
    weight, drawn = _weights(cells, known)
    sign = cells.arm[known].astype(np.float64)
    human, beside = cells.human[known], cells.beside[known]
    value, too_much = float(np.sum(sign * weight * human)), float(np.sum(sign * weight * beside))
    too_much -= _whole(cells)
    cluster, rated = _numbered(cells.cluster[known])
    parts = _numbered_pairs(cells.arm[known], cells.stratum[known])
    scale = sign * weight * _corrected(parts, cluster)

    def influence(column: FloatArray, part: FloatArray) -> FloatArray:
        centred = scale * np.sqrt(part) * (column - _means(column, weight, parts)[parts])
        return np.asarray(np.bincount(cluster, centred, minlength=rated), dtype=np.float64)

    y, f = influence(human, 1 - drawn), influence(beside, 1 - drawn)
    rest = float(np.square(influence(human, drawn)).sum())  # all items are a sample themselves
    freedom = _freedom(influence(human, np.ones(len(known))), cluster, parts)
    plain = float(np.square(y).sum())
    nothing = math.sqrt(plain + rest) <= NO_SPREAD * float(np.abs(human).max(initial=0.0))
    if freedom < 1 or nothing:
        alone = Answer(value=value, error=math.nan, freedom=math.nan)
        return Powered(alone=alone, both=alone, share=0.0, correlation=math.nan, rated=rated)
    alone = Answer(value=value, error=math.sqrt(plain + rest), freedom=freedom)
    slope, share, r = _share(y, f, freedom, rated)
    if not share:
        return Powered(alone=alone, both=alone, share=0.0, correlation=r, rated=rated)
    lost = freedom / (freedom - 1) * (1 + 1 / (freedom - 2))  # the slope was found on these
    left = float(np.square(y - slope * share * f).sum()) * lost
    both = Answer(
        value=value - slope * share * too_much,
        error=math.sqrt(left + rest),
        freedom=freedom - 1,
    )
    return Powered(alone=alone, both=both, share=slope * share, correlation=r, rated=rated)


def _in_all_arms(cells: Cells) -> Cells:
    """The cells of strata with a rating in every arm, so that arms are compared on the same."""
    rated = ~np.isnan(cells.human)
    kept = np.ones(len(rated), dtype=np.bool_)
    for arm in {*cells.arm.tolist()}:
        kept &= np.isin(cells.stratum, cells.stratum[rated & (cells.arm == arm)])
    columns = {one.name: getattr(cells, one.name)[kept] for one in fields(cells)}
    return Cells(**columns)


def _share(y: FloatArray, f: FloatArray, freedom: float, rated: int) -> tuple[float, float, float]:
    """The slope of y on f, by what it is multiplied, and their correlation."""
    squares, of_y = float(f @ f), float(y @ y)
    if not squares > 0 or not of_y > 0:
        return 0.0, 0.0, math.nan
    slope, r = float(y @ f) / squares, float(y @ f) / math.sqrt(squares * of_y)
    if rated < FEWEST or freedom < FEWEST - 1 or slope <= 0:
        return 0.0, 0.0, r
    t2 = r * r * (freedom - 1) / max(1 - r * r, 1e-12)
    return slope, max(0.0, 1 - (1 + STEADY / rated) / t2), r


def _weights(cells: Cells, known: IntArray) -> tuple[FloatArray, FloatArray]:
    """[known] weights that sum to 1 in each arm, and the chance of each to have been drawn."""
    parts = _numbered_pairs(cells.arm, cells.stratum)
    sizes = np.bincount(parts).astype(np.float64)
    mine = parts[known]
    labelled = np.bincount(mine, minlength=len(sizes))
    equal: FloatArray = labelled[mine] / sizes[mine]
    given = cells.probability[known]
    chance = np.where(np.isnan(given), equal, given)
    weight: FloatArray = 1.0 / chance
    arms = np.where(cells.arm[known] > 0, 0, 1)
    total = np.bincount(mine, weight, minlength=len(sizes))
    reached = [np.unique(mine[arms == k]) for k in (0, 1)]
    whole = np.array([sizes[rows].sum() for rows in reached])
    weight = weight / total[mine] * sizes[mine] / whole[arms]
    return weight, np.asarray(np.minimum(chance, 1.0), dtype=np.float64)


def _whole(cells: Cells) -> float:
    """The contrast of the estimates of all items."""
    arms = {*cells.arm.tolist()}
    return math.fsum(arm * float(np.mean(cells.estimate[cells.arm == arm])) for arm in arms)


def _corrected(parts: IntArray, cluster: IntArray) -> FloatArray:
    """[m] root of g / (g - 1) for the g clusters of each entry's arm and stratum."""
    pairs = np.unique(np.stack([parts, cluster], axis=1), axis=0)
    counts = np.bincount(pairs[:, 0], minlength=int(parts.max()) + 1).astype(np.float64)
    with np.errstate(divide="ignore"):
        return np.sqrt(np.where(counts > 1, counts / np.maximum(counts - 1, 1), 1.0))[parts]


def _freedom(influence: FloatArray, cluster: IntArray, parts: IntArray) -> float:
    """Degrees of freedom after Satterthwaite: clusters in the same arms and strata vary alike."""
    kinds: dict[int, set[int]] = {}
    for one, part in zip(cluster.tolist(), parts.tolist(), strict=True):
        kinds.setdefault(one, set()).add(part)
    groups: dict[tuple[int, ...], list[int]] = {}
    for one, found in kinds.items():
        groups.setdefault(tuple(sorted(found)), []).append(one)
    variances = [float(np.square(influence[rows]).sum()) for rows in groups.values()]
    total = math.fsum(variances)
    if not total > 0:
        return float(len(kinds) - len(groups))
    below = math.fsum(
        variance**2 / max(len(rows) - 1, 0.5)
        for variance, rows in zip(variances, groups.values(), strict=True)
    )
    return total**2 / below


def _means(column: FloatArray, weight: FloatArray, parts: IntArray) -> FloatArray:
    """[parts] weighted means."""
    total = np.bincount(parts, weight)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.bincount(parts, weight * column) / total)


def _numbered(labels: IntArray) -> tuple[IntArray, int]:
    """Labels as numbers from 0, and how many there are."""
    known, found = np.unique(labels, return_inverse=True)
    return found.astype(np.int64), len(known)


def _numbered_pairs(first: IntArray, second: IntArray) -> IntArray:
    """Pairs of labels as numbers from 0."""
    return np.unique(np.stack([first, second], axis=1), axis=0, return_inverse=True)[1].ravel()
