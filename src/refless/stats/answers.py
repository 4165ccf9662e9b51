"""Answers: a mean, or a difference of two means, with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from refless.stats.confidence_sequence import always_interval
from refless.stats.intervals import UNDEFINED, Interval, student

Untold = Literal[
    "", "nothing is rated", "one unit is rated", "all are equal", "raters are apart"
]
ANYWHERE: Interval = (-math.inf, math.inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A mean or a difference.

    Attributes:
        value: in the units of the ratings; NaN if an arm has no rating.
        error: standard error; 0 if all that is asked about is rated, NaN if it cannot be told.
        freedom: degrees of freedom of Student's t behind interval and p.
        centre: the middle of the interval, which few verdicts draw towards one half.
        bounds: the lowest and the highest number that there can be.
        wide: by what the interval is wider than that of one look.
        untold: why there is no interval, or "".
        repeated_p: p-value that holds at all planned looks together; NaN without a plan.
        interval: 95 %, by Student's t around the centre.
        above: probability that the true value lies above 0, if nothing was known of it before.
        p: two-sided p-value of no difference.
    """

    value: float
    error: float = math.nan
    freedom: float = math.nan
    centre: float = math.nan
    bounds: Interval = ANYWHERE
    wide: float = 1.0
    untold: Untold = ""
    repeated_p: float = math.nan
    interval: Interval = field(init=False)
    above: float = field(init=False)
    p: float = field(init=False)

    def __post_init__(self) -> None:
        if math.isnan(self.centre):
            object.__setattr__(self, "centre", self.value)
        above = self._above()
        object.__setattr__(self, "interval", self._interval())
        object.__setattr__(self, "above", above)
        object.__setattr__(self, "p", 2 * min(above, 1 - above))

    def _interval(self) -> Interval:
        error = self.error * self.wide
        if not error >= 0:
            return UNDEFINED
        half = student(self.freedom) * error
        low = max(self.centre - half, self.bounds[0])
        high = min(self.centre + half, self.bounds[1])
        return min(low, self.value), max(high, self.value)

    def _above(self) -> float:
        error = self.error * self.wide
        if not error >= 0:
            return math.nan
        if error == 0:
            return 0.5 + 0.5 * float(np.sign(self.value))
        if not math.isnan(self.repeated_p):
            return 0.5 + math.copysign(0.5 - self.repeated_p / 2, self.centre)
        from scipy.special import stdtr

        return float(stdtr(self.freedom, self.centre / error))

    def turned(self) -> Answer:
        """The answer to the question the other way round."""
        low, high = self.bounds
        return replace(
            self, value=-self.value, centre=-self.centre, bounds=(-high, -low)
        )

    def beyond(self, least: float) -> Answer:
        """By how much the number exceeds another one, which is known."""
        low, high = self.bounds
        return replace(
            self,
            value=self.value - least,
            centre=self.centre - least,
            bounds=(low - least, high - least),
            repeated_p=math.nan,
        )

    def with_extra(self, extra: Extra) -> Answer:
        """The same with a variance that comes on top."""
        if not self.error > 0:
            return self
        variance, freedom = extra.joined(self.error**2, self.freedom)
        return replace(self, error=math.sqrt(variance), freedom=freedom)

    def at_any_look(self, n: int, reach: float, questions: int = 1) -> Answer:
        """The same with an interval that holds however often one looks: see `always_interval`."""
        if not self.error > 0:
            return self
        low, high = always_interval(0.0, self.error, n, self.freedom, questions, reach)
        half = student(self.freedom) * self.error
        return replace(self, wide=(high - low) / 2 / half)


UNKNOWN = Answer(value=math.nan, untold="nothing is rated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Powered:
    """The answers by ratings alone, and by ratings with estimates.

    Attributes:
        alone: by ratings only; both: with estimates, the same if these are not used.
        share: of the estimates that is used, 0 for none (lambda).
        correlation: of ratings and estimates over units, of differences if there are two arms; NaN
            if undefined.
        rated: units with a rating; worth: how many would be as exact without estimates, NaN if
            undefined.
        fewest: units with a rating in the arm that has the fewest.
        asked: units that are asked about, if these are the question; 0 if others like them are.
        strange: what raters' severity adds to the variance, in units of its own variance.
        raters: how many there are, if they are too few to stand for others and yet matter; else 0.
        apart: whether nobody rated in both arms.
    """

    alone: Answer
    both: Answer
    share: float = 0.0
    correlation: float = math.nan
    rated: int = 0
    fewest: int = 0
    asked: int = 0
    strange: float = 0.0
    raters: int = 0
    apart: bool = False
    worth: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "worth", self._worth())

    def by_the_more_exact(self) -> Powered:
        """The same by ratings alone if estimates do not make the answer more exact."""
        if self.both.error >= self.alone.error:
            return replace(self, both=self.alone, share=0.0)
        return self

    def _worth(self) -> float:
        """Units that tell as much without estimates; never more than are asked about."""
        if not self.both.error > 0:
            return math.nan
        share = (self.both.error / self.alone.error) ** 2
        floor = 1 / self.asked if self.asked else 0.0
        return 1 / (share * (1 / self.rated - floor) + floor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """The variance that raters add, beyond what units know; nothing by default.

    Attributes:
        variance: that is added; freedom: degrees of freedom by which it is known.
    """

    variance: float = 0.0
    freedom: float = math.inf

    def times(self, factor: float) -> Extra:
        """The same in other units, of which one of these is so many."""
        return replace(self, variance=self.variance * factor**2)

    def joined(self, variance: float, freedom: float) -> tuple[float, float]:
        """The sum of a variance and this one, and its degrees of freedom after Satterthwaite."""
        total = variance + self.variance
        below = variance**2 / freedom + self.variance**2 / self.freedom
        return total, total**2 / below if below > 0 else freedom


NOTHING_MORE = Extra()

SAID: dict[Untold, str] = {
    "": "",
    "nothing is rated": "there is no such row",
    "one unit is rated": "there is one independent row",
    "all are equal": "all values are equal, and no scale is known",
    "raters are apart": "nothing tells how strict the raters are",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with its 95 % interval.

    Attributes:
        value: NaN if undefined, and then `undefined` says why.
        interval: (low, high), NaN if there is none.
        n: rows that it rests on.
        undefined: why there is no number, or no interval; "" if there are both.
    """

    value: float = math.nan
    interval: Interval = UNDEFINED
    n: int = 0
    undefined: str = ""

    def turned(self) -> Estimate:
        """The number with the opposite sign."""
        low, high = self.interval
        return replace(self, value=-self.value, interval=(-high, -low))

    @classmethod
    def of(cls, answer: Answer, n: int) -> Estimate:
        """The answer from n rows."""
        return cls(
            value=answer.value,
            interval=answer.interval,
            n=n,
            undefined=SAID[answer.untold],
        )
