"""The number of ratings that would decide, in words."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from refless.registry.plural import counted
from refless.report.wording import percent
from refless.stats.intervals import Interval

FEWEST = 10  # independent ratings on either side: of fewer no forecast is made
FEWEST_SOUGHT = 20  # of fewer it is not said that there may be nothing to find
MOST = 100  # times what there is; beyond this no number is told
REACH = 20  # times the items that there are: more are out of reach
LEAST_CHANCE = 1 / 3  # with less, ratings are not worth their while
DECIDED = "not needed for this answer."
UNKNOWN = "too little is known to tell how many would decide it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Further:
    """The data that would decide with a chance of 4 in 5.

    Attributes:
        count: items to rate, of those that there are, or items beyond them; 0 if it is decided;
            None if that is out of reach. Of a plan, items at its end; None after its last look.
        of: which of these it is; "" if too little is known to tell.
        left: items that are not rated yet; chance: that ratings of all of them, or those up to the
            end of the plan, decide it; NaN if it is not known.
    """

    count: int | None = None
    of: Literal["", "ratings", "items", "plan"] = ""
    left: int = 0
    chance: float = math.nan

    @property
    def takes_new(self) -> bool:
        """Whether ratings of the items that are left would hardly decide it."""
        return self.of == "items" and self.chance < LEAST_CHANCE

    @property
    def new(self) -> str:
        """The new items that it takes, in words."""
        return (
            "many new items"
            if self.count is None
            else f"about {counted(self.count, 'new item')}"
        )

    @property
    def said(self) -> str:
        """The number, or why there is none, in a sentence."""
        if self.count == 0:
            return DECIDED
        if not self.of:
            return UNKNOWN
        if self.of == "plan":
            return self._planned
        if self.count is None and self.of == "ratings":
            return "not within reach: ratings of all these items may not decide it."
        if self.of == "ratings":
            asked = f"about {counted(self.count or 0, 'more item')}"
            return f"{asked} would decide it with a chance of 4 in 5."
        here = ""
        if self.left and not math.isnan(self.chance):
            items = f"all {self.left:,} items left"
            chance = f"a chance of {percent(self.chance)}"
            here = f"ratings of {items} decide it with {chance}; "
        if self.count is None:
            return (
                f"{here}not within reach: {REACH} times as many items may not decide it, as there "
                "may be nothing to find."
            )
        beyond = " beyond these" if here else ""
        return (
            f"{here}{self.new}{beyond}, rated as these are, would decide it with a "
            "chance of 4 in 5."
        )

    @property
    def _planned(self) -> str:
        """The plan of looks from here on, in a sentence."""
        if self.count is None:
            return "none are planned: this was the last look."
        if math.isnan(self.chance):
            return f"as planned, up to {counted(self.count, 'item')}."
        chance = f"a chance of {percent(self.chance)} to show a difference"
        return f"{chance} by {counted(self.count, 'item')}, as planned."


NOTHING_MORE = Further(count=0)


def told_by(n: int, further: Further) -> Further:
    """A forecast from n independent ratings on the side with fewer, if these are enough."""
    fewest = FEWEST_SOUGHT if further.count is None else FEWEST
    return further if n >= fewest else Further()


def most_of(wanted: Iterable[Further]) -> Further:
    """The one that takes most; one of an unknown number if there is any."""
    return max(wanted, key=lambda one: math.inf if one.count is None else one.count)


def if_steady(
    value: float, interval: Interval, bar: float, n: int, noun: str, left: int = 0
) -> str:
    """The data that would put the interval of a number on one side of a bar, in a sentence.

    Args:
        value, interval: the number, by n of a noun; bar: that it is held against.
        left: as in `if_steady_said`.
    """
    low, high = interval
    if low >= bar or high < bar:
        return DECIDED
    half = value - low if value > bar else high - value
    needed = needed_if_steady(n, half, abs(value - bar))
    return if_steady_said(needed, n, noun, left)


def first_open(
    numbers: Iterable[tuple[float, Interval, float]], n: int, noun: str, left: int = 0
) -> str:
    """The same of the first number of several, each with its bar, that is not decided."""
    said = (if_steady(*number, n, noun, left) for number in numbers)
    return next((line for line in said if line != DECIDED), UNKNOWN)


def if_steady_said(needed: int | None, n: int, noun: str, left: int = 0) -> str:
    """The same, of a number that is known: how many in all, beside the n that there are.

    Args:
        needed, n, noun: as said; left: how many more can be rated, 0 if it does not matter.
    """
    if needed is None:
        return UNKNOWN
    count = max(needed - n, 1)
    more = counted(count, f"more {noun}")
    if 0 < left < count:
        more = f"{more}, more than the {left:,} left,"
    return f"about {more} would decide it, if the numbers stay as they are."


def needed_if_steady(n: int, half: float, distance: float) -> int | None:
    """Units with which half an interval is no wider than a distance: it falls with their root.

    Args:
        n: units behind it today; half: half its width today.
        distance: of the number from what it is held against.

    Returns:
        More than n; None of many times n, of fewer than `FEWEST`, or if the interval or the
        distance is undefined or 0.
    """
    if n < FEWEST or not half > 0 or not distance > 0:
        return None
    needed = max(math.ceil(n * (half / distance) ** 2), n + 1)
    return needed if needed <= MOST * n else None
