"""Forecasts of an interval once more is rated: its width, and how sure that is.

One formula tells the variance of a mean, or of a difference of two arms, by how much of each arm is
rated (`variance_by`). What is rated today says how large it is per rating (`Today`); before the
first rating the errors of estimates do (`Prospect`).

Two ratings of one item go together, and a difference is told so much better by items with both. A
few such items tell badly how much, so their correlation is drawn to a usual one unless they show
another. On 13 of 14 real pools the correlation lies between -.01 and .16; near copies have .66
(`benchmarks/plans.py alike`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from refless.registry.arrays import FloatArray, IntArray
from refless.stats.intervals import quantile, student

USUAL_ALIKE = 0.1  # correlation of the ratings of two answers to one item
SPREAD_ALIKE = 0.2  # standard deviation of its Fisher's z from one question to another
STEADY = 10.0  # a correlation is drawn to the usual by 1 + STEADY / items squared t
LOST = 3.0  # items with both ratings that Fisher's z takes
MOST_ALIKE = 0.95  # so much at most, as a forecast may not be 0
LEAST_TAILS = 0.5  # of a distribution that is flat or has two values
RANGE = 0.9  # of widths lie in the range of a forecast


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The part of one arm, or of two, that is rated.

    Attributes:
        rated: units with a rating, of each arm; every: units that there are.
        both: units with a rating in both arms; common: units that both arms have.
        alike: correlation of the two ratings of a unit, by those with both; 0 without any.
        shared: their covariance about the arms' means, over the arms' standard deviations.
        tails: how much less ratings tell their spread than those of a normal distribution would:
            half of their kurtosis less 1.
    """

    rated: tuple[float, ...]
    every: tuple[float, ...]
    both: float = 0.0
    common: float = 0.0
    alike: float = 0.0
    shared: float = 0.0
    tails: float = 1.0

    @property
    def paired(self) -> bool:
        """Whether both arms have the same units, of which both ratings are asked."""
        return len(self.every) > 1 and all(every == self.common for every in self.every)

    @property
    def units(self) -> float:
        """Units that have a rating."""
        return sum(self.rated) - self.both

    @property
    def done(self) -> float:
        """Units that need no rating any more."""
        return self.both if self.paired else sum(self.rated)

    @property
    def missing(self) -> float:
        """Units that need one, or two."""
        return (self.common if self.paired else sum(self.every)) - self.done

    def after(self, part: float) -> Progress:
        """The same once a part of what is missing is rated, at random."""
        pairs = zip(self.rated, self.every, strict=True)
        rated = tuple(rated + part * (every - rated) for rated, every in pairs)
        both = self.both + part * (self.common - self.both)
        return replace(self, rated=rated, both=both)


def progress_of(units: Sequence[IntArray], ratings: Sequence[FloatArray]) -> Progress:
    """The part that is rated.

    Args:
        units: [n] of each arm, what was drawn as a whole for each entry; the same numbers in all.
        ratings: [n] of each arm, the rating of each entry, NaN if it has none.
    """
    means = [_by_unit(*arm) for arm in zip(units, ratings, strict=True)]
    every = tuple(float(len(np.unique(arm))) for arm in units)
    rated = tuple(float(len(arm)) for arm in means)
    tails = _tails(means)
    if len(means) == 1:
        return Progress(rated=rated, every=every, tails=tails)
    both = sorted(means[0].keys() & means[1].keys())
    first = np.array([means[0][unit] for unit in both])
    second = np.array([means[1][unit] for unit in both])
    first_mean, first_spread = _moments(means[0])
    second_mean, second_spread = _moments(means[1])
    unit = first_spread * second_spread
    return Progress(
        rated=rated,
        every=every,
        both=float(len(both)),
        common=float(len(np.intersect1d(units[0], units[1]))),
        alike=_correlation(first, second),
        shared=_covariance(first - first_mean, second - second_mean, unit),
        tails=tails,
    )


def _moments(arm: dict[int, float]) -> tuple[float, float]:
    """Mean and standard deviation of an arm's ratings; 0 without any."""
    if not arm:
        return 0.0, 0.0
    ratings = np.array([*arm.values()])
    return float(ratings.mean()), float(ratings.std())


def _correlation(first: FloatArray, second: FloatArray) -> float:
    """The correlation of two columns; 0 if one of them does not vary, or is empty."""
    if not len(first):
        return 0.0
    first = first - first.mean()
    second = second - second.mean()
    squares = float(first @ first) * float(second @ second)
    return _covariance(first, second, math.sqrt(squares) / len(first))


def _covariance(first: FloatArray, second: FloatArray, unit: float) -> float:
    """The mean product of deviations, in such units, and never so much that nothing is left."""
    if not len(first) or not unit > 0:
        return 0.0
    product = float(first @ second) / len(first)
    return min(max(product / unit, -MOST_ALIKE), MOST_ALIKE)


def _by_unit(units: IntArray, ratings: FloatArray) -> dict[int, float]:
    """The mean rating of each unit that has one."""
    rows = np.flatnonzero(~np.isnan(ratings))
    names, place = np.unique(units[rows], return_inverse=True)
    means = np.bincount(place, ratings[rows]) / np.maximum(np.bincount(place), 1)
    return dict(zip(names.tolist(), means.tolist(), strict=True))


def _tails(means: Sequence[dict[int, float]]) -> float:
    """Half of the kurtosis of ratings about the mean of their arm, less 1; 1 if they are equal."""
    arms = [np.array([*arm.values()]) for arm in means if arm]
    off = np.concatenate([arm - arm.mean() for arm in arms]) if arms else np.zeros(0)
    square = float(np.square(off).mean()) if len(off) else 0.0
    if not square > 0:
        return 1.0
    kurtosis = float(np.mean(off**4)) / square**2
    return max((kurtosis - 1) / 2, LEAST_TAILS)


def drawn_alike(alike: float, both: float) -> tuple[float, float]:
    """A correlation by so many units with both ratings, drawn to what is usual; its standard error.

    Fisher's z is drawn by the positive-part rule of James and Stein: all the way if it lies near
    the usual in its standard errors, not much if it lies far off; further if few units tell it.
    """
    usual = math.atanh(USUAL_ALIKE)
    off = math.atanh(alike) - usual
    freedom = max(both - LOST, 0.0)
    steady = 1 + STEADY / max(both, 1.0)
    weight = max(1 - steady / (off**2 * freedom), 0.0) if off and freedom else 0.0
    correlation = math.tanh(usual + weight * off)
    variance = (1 - weight) * SPREAD_ALIKE**2 + (weight / freedom if weight else 0.0)
    return correlation, (1 - correlation**2) * math.sqrt(variance)


def variance_by(progress: Progress, residual: float, total: float) -> float:
    """The variance of the mean of one arm, or of the difference of two, by so much that is rated.

    That of the units that are not rated, and that all units are a sample themselves (Zrnic and
    Candes 2024, section 2); two arms share what the units with both ratings have in common.

    Args:
        progress: how much is rated.
        residual: variance of what estimates miss of a unit, or of its rating without estimates.
        total: variance of ratings over units, 0 if these units are all that is asked about.
    """
    parts = []
    for rated, every in zip(progress.rated, progress.every, strict=True):
        share = min(rated / every, 1.0)
        parts.append(math.sqrt(((1 - share) * residual + share * total) / rated))
    apart = math.fsum(part**2 for part in parts)
    if len(parts) == 1 or not progress.both:
        return apart
    first, second = progress.rated
    weight = progress.both / math.sqrt(first * second)
    common = 2 * progress.shared * weight * parts[0] * parts[1]
    return max(apart - common, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The interval to expect.

    Attributes:
        error: expected standard error; freedom: degrees of freedom behind it.
        doubt: standard deviation of the logarithm of the error that there will be.
        units: that are rated then.
    """

    error: float
    freedom: float
    doubt: float
    units: float

    @property
    def half_width(self) -> float:
        """Of the 95 % interval."""
        return student(self.freedom) * self.error

    @property
    def range(self) -> tuple[float, float]:
        """In which the half width will lie in nine of ten cases."""
        factor = math.exp(quantile(RANGE) * self.doubt)
        return self.half_width / factor, self.half_width * factor


@dataclass(frozen=True, slots=True, kw_only=True)
class Today:
    """A mean or a difference by what is rated today.

    Attributes:
        progress: how much that is.
        error: standard error; freedom: degrees of freedom behind it.
        residual: variance with estimates over that without, among units that nobody rated.
        these: whether the question is about these units, and not about others like them.
    """

    progress: Progress
    error: float
    freedom: float
    residual: float = 1.0
    these: bool = False

    @classmethod
    def of(
        cls,
        progress: Progress,
        *,
        alone: float,
        error: float,
        freedom: float,
        these: bool,
    ) -> Today:
        """The same from the standard errors by ratings alone, and with estimates."""
        ratio = (error / alone) ** 2
        share = min(sum(progress.rated) / sum(progress.every), 1.0)
        if these:
            residual = ratio
        elif share < 1:
            residual = max((ratio - share) / (1 - share), 0.0)
        else:
            residual = 1.0
        return cls(
            progress=progress,
            error=error,
            freedom=freedom,
            residual=residual,
            these=these,
        )

    @property
    def of_rating(self) -> float:
        """Variance of one rating."""
        total = 0.0 if self.these else 1.0
        now = variance_by(self.progress, self.residual, total)
        return self.error**2 / now if now > 0 else 0.0

    @property
    def of_unit(self) -> float:
        """Variance of one unit with a rating in each arm."""
        progress = self.progress
        if len(progress.rated) == 1:
            return self.of_rating
        alike = 0.0
        if progress.paired:
            alike, _ = drawn_alike(progress.alike, progress.both)
        return 2 * self.of_rating * (1 - alike)

    def after(self, part: float) -> Forecast:
        """Once a part of what is missing is rated, at random; 0 is today, 1 is all."""
        progress = self.progress
        later = progress.after(part)
        total = 0.0 if self.these else 1.0
        alike, unsure = drawn_alike(progress.alike, progress.both)
        new = later.both - progress.both
        if later.both:
            shared = (progress.both * progress.shared + new * alike) / later.both
            later = replace(later, shared=shared)
        arms = 1 if progress.paired else len(progress.every)
        last = progress.done + progress.missing - arms
        freedom = self.freedom + part * max(last - self.freedom, 0.0)
        variance = self.of_rating * variance_by(later, self.residual, total)
        doubt = 0.5 * progress.tails * max(1 / self.freedom - 1 / freedom, 0.0)
        if new and variance > 0:
            shared = later.shared - new / later.both  # alike less 1
            less_alike = replace(later, shared=shared)
            widest = self.of_rating * variance_by(less_alike, self.residual, total)
            steep = widest / variance - 1
            doubt += (steep / 2 * unsure) ** 2
        return Forecast(
            error=min(math.sqrt(variance), self.error),  # further ratings tell no less
            freedom=freedom,
            doubt=math.sqrt(doubt),
            units=later.units,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Prospect:
    """A mean, or a difference by items of both answers, before the first rating.

    Attributes:
        every: units that there are.
        residual: variance of what estimates miss of a unit; total: of ratings over units.
        freedom: degrees of freedom behind these.
        these: whether the question is about these units, and not about others like them.
    """

    every: float
    residual: float
    total: float
    freedom: float
    these: bool = False

    def after(self, rated: float) -> Forecast:
        """Once so many units are rated, two or more."""
        progress = Progress(rated=(rated,), every=(self.every,))
        total = 0.0 if self.these else self.total
        variance = variance_by(progress, self.residual, total)
        doubt = 0.5 * (1 / self.freedom + 1 / (rated - 1))
        return Forecast(
            error=math.sqrt(variance),
            freedom=rated - 1,
            doubt=math.sqrt(doubt),
            units=rated,
        )
