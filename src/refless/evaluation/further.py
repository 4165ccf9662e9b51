"""How many more ratings would decide: of a difference, of choices, or of a number and its bar."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from refless.evaluation.comparing import Pair
from refless.evaluation.outlook import outlook
from refless.registry.plural import counted
from refless.stats.answers import Answer
from refless.stats.forecast import Forecast, Progress, Today, needed_if_steady
from refless.stats.intervals import Interval

REACH = 20  # times the items that there are: more are out of reach
DECIDED = "not needed for this answer."
UNKNOWN = "too little is known to tell how many would decide it."
Kind = Literal["", "ratings", "items"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Further:
    """The data that would decide with a chance of four in five.

    Attributes:
        count: items to rate, of those that there are, or items beyond them; 0 if it is decided;
            None if that is out of reach.
        of: which of these it is; "" if too little is known to tell.
    """

    count: int | None = None
    of: Kind = ""

    @property
    def said(self) -> str:
        """The number, or why there is none, in a sentence."""
        if self.count == 0:
            return DECIDED
        if not self.of:
            return UNKNOWN
        if self.count is None and self.of == "ratings":
            return "not within reach: ratings of all these items may not decide it."
        if self.count is None:
            return (
                f"not within reach: even {REACH} times as many items may not decide it."
            )
        asked = f"about {counted(self.count, 'more item')}"
        if self.of == "items":
            asked = f"about {counted(self.count, 'new item')}, all of them rated,"
        return f"{asked} would decide it with 4 of 5 chances."


NOTHING_MORE = Further(count=0)


def most_of(wanted: Iterable[Further]) -> Further:
    """The one that takes most; one of an unknown number if there is any."""
    return max(wanted, key=lambda one: math.inf if one.count is None else one.count)


def further_of(pair: Pair, bar: float = 0.0, *, these: bool) -> Further:
    """More ratings of the items that there are; if they would not do, more items.

    Args:
        pair: the difference; bar: on one side of which it is to lie.
        these: whether the question is about these items alone.
    """
    if not bar and pair.further:
        return Further(count=pair.further, of="ratings")
    today = pair.today(these=these)
    if today is None:
        return Further()
    progress = pair.progress
    units = progress.common if progress.paired else sum(progress.every)
    items_in_unit = pair.items / units
    needed = _needed(pair.difference, today, bar)
    if needed is not None:
        rated = pair.both_rated if pair.paired else pair.rated
        more = max(math.ceil(needed * items_in_unit) - rated, 1)
        return Further(count=more, of="ratings")
    if these:
        return Further(of="ratings")
    alone = pair.powered.alone
    needed = _needed(pair.difference, _with_more_items(progress, alone), bar)
    if needed is None:
        return Further(of="items")
    more = max(math.ceil(needed * items_in_unit) - pair.items, 1)
    return Further(count=more, of="items")


def further_choices(rate: Answer, sources: int, even: float, bar: float) -> Further:
    """More sources with choices, for a win rate to lie on one side of a bar.

    Args:
        rate: the win rate; sources: behind it; even: the rate of no preference.
        bar: on one side of which it is to lie.
    """
    if not rate.error > 0:
        return Further()
    progress = Progress(rated=(float(sources),), every=(float(sources),))
    centred = rate.beyond(even)
    needed = _needed(centred, _with_more_items(progress, rate), bar - even)
    count = None if needed is None else max(math.ceil(needed - sources), 1)
    return Further(count=count, of="items")


def _with_more_items(progress: Progress, alone: Answer) -> Today:
    """The ratings of today as a part of many times the items; estimates are not counted on."""
    every = tuple(REACH * units for units in progress.every)
    larger = replace(progress, every=every, common=REACH * progress.common)
    return Today(progress=larger, error=alone.error, freedom=alone.freedom)


def _needed(answer: Answer, today: Today, bar: float) -> float | None:
    """Units with all their ratings that should tell on which side of a bar the answer lies."""

    def half_width(forecast: Forecast) -> float:
        return answer.wide * forecast.half_width

    return outlook(answer.value, today, half_width, bar=bar).needed


def if_steady(value: float, interval: Interval, bar: float, n: int, noun: str) -> str:
    """The data that would put the interval of a number on one side of a bar, in a sentence.

    Args:
        value, interval: the number, by n of a noun; bar: that it is held against.
    """
    low, high = interval
    if low >= bar or high < bar:
        return DECIDED
    half = value - low if value > bar else high - value
    return if_steady_said(needed_if_steady(n, half, abs(value - bar)), n, noun)


def first_open(
    numbers: Iterable[tuple[float, Interval, float]], n: int, noun: str
) -> str:
    """The same of the first number of several, each with its bar, that is not decided."""
    said = (if_steady(*number, n, noun) for number in numbers)
    return next((line for line in said if line != DECIDED), UNKNOWN)


def if_steady_said(needed: int | None, n: int, noun: str) -> str:
    """The same, of a number that is known: how many in all, beside the n that there are."""
    if needed is None:
        return UNKNOWN
    more = counted(needed - n, f"more {noun}")
    return f"about {more} would decide it, if the numbers stay as they are."
