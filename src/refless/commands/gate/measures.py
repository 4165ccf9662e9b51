"""The numbers that a gate asks, each with its bar, and how much more would decide."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from refless.commands.compare.document import why_not
from refless.commands.compare.result import CompareResult
from refless.commands.compare.scores import ScoresResult
from refless.commands.compare.wins import EVEN, Wins
from refless.commands.compare.wins_result import WinsResult
from refless.evaluation.comparing import Pair
from refless.evaluation.outlook import outlook
from refless.registry.plural import counted
from refless.report.wording import with_interval
from refless.stats.answers import Answer
from refless.stats.forecast import Forecast, Progress, Today

REACH = 20  # times the items that there are: more are out of reach
Kind = Literal["", "ratings", "items"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Further:
    """The data that would decide with a chance of four in five.

    Attributes:
        count: items to rate, of those that there are, or items beyond them; None if that is out
            of reach.
        of: which of these it is; "" if too little is known to tell.
    """

    count: int | None = None
    of: Kind = ""

    @property
    def advice(self) -> str:
        """The next step, which decides it."""
        if not self.of:
            return "rate more; too little is known to tell how much would decide it"
        if self.count is None and self.of == "ratings":
            return "let it stay undecided: ratings of all these items may not decide it"
        if self.count is None:
            return f"let it stay undecided: even {REACH} times as many items may not decide it"
        asked = f"rate {counted(self.count, 'more item')}"
        if self.of == "items":
            asked = f"rate both answers to {counted(self.count, 'new item')}"
        return f"{asked}: that would decide it with 4 of 5 chances"


NOTHING_MORE = Further(count=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateMeasure:
    """A difference of the new system from the old one, or its win rate.

    Attributes:
        name: of the numbers; bar: the least that passes.
        unit: of shares, which are said in percent; "" of other numbers.
        answer: the number with its interval.
        why: why there is no interval, if there is none.
        further: what would tell on which side of the bar it lies.
    """

    name: str
    bar: float
    unit: Literal["", "%", "points"] = ""
    answer: Answer
    why: str
    further: Further

    @property
    def is_told(self) -> bool:
        """Whether the interval lies on one side of the bar."""
        low, high = self.answer.interval
        return low >= self.bar or high < self.bar

    @property
    def said(self) -> str:
        """The number with its interval in its unit: `pass rate -20 [-36, -3] points`."""
        low, high = self.answer.interval
        if not self.unit:
            return f"{self.name} {with_interval(self.answer.value, (low, high))}"
        value = 100 * self.answer.value
        numbers = with_interval(value, (100 * low, 100 * high), digits=1)
        return f"{self.name} {numbers} {self.unit}"

    def allowed(self, margin: float) -> str:
        """The margin in the unit of the difference."""
        return f"{100 * margin:g} percentage points" if self.unit else f"{margin:g}"


def measures_of(
    compared: CompareResult | WinsResult | ScoresResult, margin: float
) -> tuple[GateMeasure, ...]:
    """The numbers of a comparison of two systems, of which the old one comes first."""
    if isinstance(compared, WinsResult):
        return (_of_wins(compared.wins[0], EVEN - margin),)
    if isinstance(compared, CompareResult):
        (pair,) = compared.comparison.pairs
        measure = _of_pair("rating", pair, -margin, these=compared.these_items)
        if compared.percent:
            measure = replace(measure, name="pass rate", unit="points")
        return (measure,)
    return tuple(
        _of_pair(name, comparison.pairs[0], -margin, these=compared.these_items)
        for name, comparison in compared.metrics.items()
    )


def _of_pair(name: str, pair: Pair, bar: float, *, these: bool) -> GateMeasure:
    answer = pair.difference
    why = why_not(pair) if math.isnan(answer.interval[0]) else ""
    measure = GateMeasure(
        name=name, bar=bar, answer=answer, why=why, further=NOTHING_MORE
    )
    if measure.is_told:
        return measure
    return replace(measure, further=_further(pair, bar, these=these))


def _further(pair: Pair, bar: float, *, these: bool) -> Further:
    """More ratings of the items that there are; if they would not do, more items."""
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


def _of_wins(wins: Wins, bar: float) -> GateMeasure:
    rate = wins.by_item
    answer = Answer(
        value=rate.rate,
        error=rate.error,
        freedom=rate.freedom,
        centre=rate.centre,
        bounds=(0.0, 1.0),
    )
    why = ""
    if math.isnan(answer.interval[0]):
        why = "the choices are of one source"
    measure = GateMeasure(
        name="win rate",
        bar=bar,
        unit="%",
        answer=answer,
        why=why,
        further=NOTHING_MORE,
    )
    if measure.is_told:
        return measure
    sources = float(rate.clusters)
    progress = Progress(rated=(sources,), every=(sources,))
    centred = answer.beyond(EVEN)
    if not answer.error > 0:
        return replace(measure, further=Further())
    needed = _needed(centred, _with_more_items(progress, answer), bar - EVEN)
    count = None if needed is None else max(math.ceil(needed - sources), 1)
    return replace(measure, further=Further(count=count, of="items"))


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
