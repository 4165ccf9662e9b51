"""Means and differences of human ratings from few ratings and an estimate of every output.

A difference of two arms is what their ratings say, less a share of what the same outputs' estimates
say too much (prediction-powered inference: Angelopoulos et al. 2023; in surveys the regression
estimator of double sampling, Cochran 1977, chapter 12). Estimates must not know the ratings beside
them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from refless.registry.arrays import FloatArray, IntArray
from refless.stats.confidence_sequence import always_interval
from refless.stats.intervals import UNDEFINED, Interval, student
from refless.stats.raters import Severity

ALIKE = 1e-9  # squared shares of raters: less is rounding
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
        probability: [n] chance with which the item was drawn to be rated; NaN if all items of an
            arm have the same.
        shares: [n, r] of each rater in the human rating; no columns where raters are not known.
        mass: [n] how much of all that is asked about an entry stands for; empty for alike.
    """

    arm: IntArray
    human: FloatArray
    beside: FloatArray
    estimate: FloatArray
    cluster: IntArray
    probability: FloatArray
    shares: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    mass: FloatArray = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if not self.shares.size:
            object.__setattr__(self, "shares", np.zeros((len(self.arm), 0)))
        if not self.mass.size:
            object.__setattr__(self, "mass", np.ones(len(self.arm)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A mean or a difference.

    Attributes:
        value: in the units of the ratings; NaN where an arm has no rating.
        error: standard error, NaN where it cannot be told.
        freedom: degrees of freedom of Student's t behind interval and p.
        wide: by what the interval is wider than that of one look.
        interval: 95 %, by Student's t.
        above: probability that the true value lies above 0, if nothing was known of it before.
        p: two-sided p-value of no difference.
    """

    value: float
    error: float
    freedom: float
    wide: float = 1.0
    interval: Interval = field(init=False)
    above: float = field(init=False)
    p: float = field(init=False)

    def __post_init__(self) -> None:
        from scipy.special import stdtr

        error, interval, above = self.error * self.wide, UNDEFINED, math.nan
        if error >= 0:
            half = student(self.freedom) * error
            interval = self.value - half, self.value + half
            above = 0.5 + 0.5 * float(np.sign(self.value))
        if error > 0:
            above = float(stdtr(self.freedom, self.value / error))
        object.__setattr__(self, "interval", interval)
        object.__setattr__(self, "above", above)
        object.__setattr__(self, "p", 2 * min(above, 1 - above))

    def at_any_look(self, n: int, reach: float) -> Answer:
        """The same with an interval that holds however often one looks: see `always_interval`."""
        if not self.error > 0:
            return self
        low, high = always_interval(0.0, self.error, n, self.freedom, reach=reach)
        return replace(self, wide=(high - low) / 2 / (student(self.freedom) * self.error))


UNKNOWN = Answer(value=math.nan, error=math.nan, freedom=math.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Powered:
    """What ratings say alone, and what they say with estimates.

    Attributes:
        alone: ratings only; both: with estimates, the same where these are not used.
        share: of the estimates that is used, 0 for none (lambda).
        correlation: of ratings and estimates over clusters, of differences where there are two
            arms; NaN where undefined.
        rated: clusters with a rating; worth: how many would be as exact without estimates, NaN if
            undefined.
        strange: what raters' severity adds to the variance, in units of its own variance.
    """

    alone: Answer
    both: Answer
    share: float
    correlation: float
    rated: int
    strange: float = 0.0
    worth: float = field(init=False)

    def __post_init__(self) -> None:
        exact = self.both.error > 0
        worth = self.rated * (self.alone.error / self.both.error) ** 2 if exact else math.nan
        object.__setattr__(self, "worth", worth)


def powered(cells: Cells, severity: Severity | None = None, *, these: bool = False) -> Powered:
    """The mean of one arm, or the difference of two.

    With theta the contrast of ratings Y and f that of estimates, rated (L) or all:
    theta = Y_L - lambda (f_L - f_all). Its variance is (1 - s) var(Y - lambda f) + s var(Y) over
    clusters with a rating, s their share of all. lambda is the regression of Y on f over clusters,
    drawn to 0 where t² of the slope is small (positive-part James and Stein), so that estimates
    which know nothing do next to no harm.

    A rater's severity is in an arm by this rater's share of it. Differences of shares add the sum
    of their squares times the variance of severities, less what changes from cluster to cluster,
    which the variance over clusters knows already.

    Args:
        cells: the outputs.
        severity: of raters; None if the question is what these raters say.
        these: whether the question is about these items, and not about items like them.
    """
    rows = np.flatnonzero(~np.isnan(cells.human))
    if not len(rows) or {*cells.arm[rows].tolist()} != {*cells.arm.tolist()}:
        return Powered(alone=UNKNOWN, both=UNKNOWN, share=0.0, correlation=math.nan, rated=0)
    weight, drawn = _weights(cells, rows)
    sign = cells.arm[rows].astype(np.float64)
    human, beside = cells.human[rows], cells.beside[rows]
    signed = sign * weight
    value, too_much = float(np.sum(signed * human)), float(np.sum(signed * beside)) - _whole(cells)
    cluster, rated = _numbered(cells.cluster[rows])
    arms = _numbered(cells.arm[rows])[0]
    scale = signed * _corrected(arms, cluster)
    everything = np.ones(len(rows))
    again = np.zeros(len(rows)) if these else drawn  # all items are a sample themselves

    def influence(column: FloatArray, part: FloatArray) -> FloatArray:
        means = np.bincount(arms, weight * column) / np.bincount(arms, weight)
        centred = scale * np.sqrt(part) * (column - means[arms])
        return np.asarray(np.bincount(cluster, centred, minlength=rated), dtype=np.float64)

    def squares(column: FloatArray, part: FloatArray) -> float:
        return float(np.square(influence(column, part)).sum())

    y, f, fresh = (
        influence(human, 1 - drawn),
        influence(beside, 1 - drawn),
        squares(human, again),
    )
    freedom = _freedom(influence(human, everything), cluster, arms, weight)
    nothing = math.sqrt(squares(human, everything)) <= NO_SPREAD * float(np.abs(human).max())
    if freedom < 1 or nothing:
        alone = Answer(value=value, error=math.nan, freedom=math.nan)
        return Powered(alone=alone, both=alone, share=0.0, correlation=math.nan, rated=rated)
    strange = math.fsum(
        float(np.sum(signed * share)) ** 2 - squares(share, 1 - drawn) - squares(share, again)
        for share in cells.shares[rows].T
    )
    strange = 0.0 if severity is None or strange < ALIKE else strange
    alone = Answer(value=value, error=math.sqrt(float(y @ y) + fresh), freedom=freedom)
    slope, share, r = _share(y, f, freedom, rated)
    both = alone
    if share:
        lost = freedom / (freedom - 1) * (1 + 1 / (freedom - 2))  # the slope was found on these
        left = float(np.square(y - slope * share * f).sum()) * lost
        value -= slope * share * too_much
        both = Answer(value=value, error=math.sqrt(left + fresh), freedom=freedom - 1)
    alone, both = (with_raters(answer, strange, severity) for answer in (alone, both))
    return Powered(
        alone=alone, both=both, share=slope * share, correlation=r, rated=rated, strange=strange
    )


def with_raters(answer: Answer, strange: float, severity: Severity | None) -> Answer:
    """With what raters' severity adds, by Satterthwaite; NaN where nothing tells it.

    Few raters tell it so badly that they count as half a degree of freedom less.
    """
    if severity is None or not strange:
        return answer
    if not severity.freedom:
        return replace(answer, error=math.nan)
    variance, of_raters = answer.error**2, strange * severity.square
    spare = max(severity.freedom - 0.5, 1.0)
    below = variance**2 / answer.freedom + of_raters**2 / spare
    variance += strange * severity.variance
    freedom = max(variance**2 / below, min(answer.freedom, spare)) if below else answer.freedom
    return replace(answer, error=math.sqrt(variance), freedom=freedom)


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


def _weights(cells: Cells, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """[rows] weights that sum to 1 in each arm, and the chance of each to have been drawn."""
    arms, count = _numbered(cells.arm)
    mine = arms[rows]
    equal = np.bincount(mine, minlength=count) / np.bincount(arms)
    chance = cells.probability[rows]
    chance = np.where(np.isnan(chance), equal[mine], chance)
    weight = cells.mass[rows] / chance
    weight = weight / np.bincount(mine, weight, minlength=count)[mine]
    return weight, np.asarray(np.minimum(chance, 1.0), dtype=np.float64)


def _whole(cells: Cells) -> float:
    """The contrast of the estimates of all items."""
    arms = {arm: cells.arm == arm for arm in {*cells.arm.tolist()}}
    return math.fsum(
        arm * float(np.average(cells.estimate[mine], weights=cells.mass[mine]))
        for arm, mine in arms.items()
    )


def _corrected(arms: IntArray, cluster: IntArray) -> FloatArray:
    """[n] root of g / (g - 1) for the g clusters of each entry's arm."""
    pairs = np.unique(np.stack([arms, cluster], axis=1), axis=0)
    counts = np.bincount(pairs[:, 0]).astype(np.float64)
    return np.sqrt(np.where(counts > 1, counts / np.maximum(counts - 1, 1), 1.0))[arms]


def _freedom(influence: FloatArray, cluster: IntArray, arms: IntArray, weight: FloatArray) -> float:
    """Degrees of freedom after Satterthwaite: clusters in the same arms vary alike.

    Clusters of unequal weights tell no more than (sum of weights)² / sum of squares of equal ones.
    """
    order = np.argsort(cluster, kind="stable")
    starts = np.unique(cluster[order], return_index=True)[1]
    kind = np.bitwise_or.reduceat((1 << arms)[order], starts)
    groups = [np.flatnonzero(kind == name) for name in np.unique(kind)]
    variances = [float(np.square(influence[rows]).sum()) for rows in groups]
    total = math.fsum(variances)
    if not total > 0:
        return float(len(kind) - len(groups))
    weights = np.bincount(cluster, weight)
    alike = [
        round(float(weights[rows].sum() ** 2 / np.square(weights[rows]).sum()), 9)
        for rows in groups
    ]
    below = math.fsum(v**2 / max(n - 1, 0.5) for v, n in zip(variances, alike, strict=True))
    return total**2 / below


def _numbered(labels: IntArray) -> tuple[IntArray, int]:
    """Labels as numbers from 0, and how many there are."""
    names, numbers = np.unique(labels, return_inverse=True)
    return numbers.astype(np.int64), len(names)
