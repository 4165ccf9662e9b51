"""One of the planned looks at a difference: what it has spent, and what ending there would cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from refless.stats.answers import Answer, Estimate
from refless.stats.group_sequential import (
    LookPlan,
    Looks,
    after_stopping,
    critical_value,
    normal_value,
)
from refless.stats.intervals import LEVEL, quantile, student

HARDLY = 0.1  # a chance below this is said to be small


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedLook:
    """One of the planned looks at a difference.

    Attributes:
        number: of the look, from 1; count: how many are planned.
        items: with ratings, of the system with fewer; planned: at the end of the plan.
        upcoming: items at the next look; None after the last.
        spent: share of all error that may have been spent by now.
        chance: that ratings up to the end of the plan show a difference; NaN if it is unknown.
        unbiased: the difference if the study ends here: above the truth as often as below it; None
            while the study goes on.
    """

    number: int
    count: int
    items: int
    planned: int
    upcoming: int | None
    spent: float
    chance: float
    unbiased: Estimate | None

    def turned(self) -> PlannedLook:
        """The look at the difference with the opposite sign."""
        return replace(self, unbiased=self.unbiased and self.unbiased.turned())


def at_planned_look(answer: Answer, looks: Looks) -> Answer:
    """The answer with the repeated interval and p-value of the last of some planned looks."""
    if not answer.error > 0:
        return answer
    wide = critical_value(looks.last, answer.freedom) / student(answer.freedom)
    z = normal_value(answer.centre / answer.error, answer.freedom)
    return replace(answer, wide=wide, repeated_p=looks.repeated_p(z))


def chance_by_end(answer: Answer, looks: Looks, to_end: Looks) -> float:
    """The chance that ratings up to the end of the plan show a difference.

    The predictive power of Spiegelhalter, Freedman & Blackburn (1986) at the last look: the
    difference lies around today's with the variance that is still to come. Ends before it are
    not counted.

    Args:
        answer: the difference today; looks: those by now; to_end: these and those to come.

    Returns:
        A share in [0, 1]; NaN without a standard error, and if the end has no look, as all items
        that the question is about are rated then.
    """
    from scipy.special import ndtr

    if not answer.error > 0 or to_end.shares[-1] < 1:
        return math.nan
    share = looks.information[-1] / to_end.information[-1]
    if share >= 1:
        return math.nan
    boundary = to_end.last * math.sqrt(share)
    size = abs(answer.centre / answer.error)
    spread = math.sqrt(1 - share)
    above = ndtr((size - boundary) / spread)
    below = ndtr((-size - boundary) / spread)
    return float(above + below)


def planned_look(
    answer: Answer, plan: LookPlan, looks: Looks, items: int, chance: float
) -> PlannedLook:
    """The look that comes after so many rated items.

    Args:
        answer: the difference, for the last of these looks.
        plan: of looks; looks: the planned looks by now.
        items: with ratings; chance: that ratings up to the end of the plan show a difference.
    """
    number = plan.number(items)
    ahead = plan.at[number:]
    ended = answer.p < looks.alpha or not ahead
    return PlannedLook(
        number=number,
        count=len(plan.at),
        items=items,
        planned=plan.planned,
        upcoming=ahead[0] if ahead else None,
        spent=looks.spent[-1] / looks.alpha,
        chance=chance,
        unbiased=_unbiased(answer, looks, items) if ended else None,
    )


def _unbiased(answer: Answer, looks: Looks, items: int) -> Estimate | None:
    """The median-unbiased difference, as wide as Student's t; None without a standard error."""
    if not answer.error > 0:
        return None
    z = normal_value(answer.centre / answer.error, answer.freedom)
    stopped = after_stopping(looks, z)
    error = answer.error * student(answer.freedom) / quantile(LEVEL)
    errors = np.array([stopped.median, *stopped.interval])
    values = answer.centre + (errors - z) * error
    median, low, high = np.clip(values, *answer.bounds).tolist()
    return Estimate(value=median, interval=(low, high), n=items)


def ends_within(answer: Answer, margin: float) -> bool:
    """True if the interval of a difference lies within the margin on either side of 0."""
    low, high = answer.interval
    return not math.isnan(low) and -margin < low and high < margin
