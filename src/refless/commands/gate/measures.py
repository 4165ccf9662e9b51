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
from refless.evaluation.further import NOTHING_MORE, Further
from refless.evaluation.further_items import further_choices, further_of
from refless.report.wording import with_interval
from refless.stats.answers import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class GateMeasure:
    """A difference of the new system from the old one, or its win rate.

    Attributes:
        name: of the numbers; bar: the least that passes.
        unit: of the numbers; shares are said in percent; "" if it is not known.
        answer: the number with its interval.
        why: why there is no interval, if there is none.
        further: what would tell on which side of the bar it lies.
    """

    name: str
    bar: float
    unit: Literal["", "%", "percentage points", "points"] = ""
    answer: Answer
    why: str
    further: Further = NOTHING_MORE

    @property
    def is_told(self) -> bool:
        """Whether the interval lies on one side of the bar."""
        low, high = self.answer.interval
        return low >= self.bar or high < self.bar

    @property
    def is_of_ratings(self) -> bool:
        """Whether it is a difference of people's mean ratings, or of their pass rates."""
        return self.unit in {"points", "percentage points"}

    @property
    def is_share(self) -> bool:
        """Whether it is said in percent."""
        return self.unit in {"%", "percentage points"}

    @property
    def said(self) -> str:
        """The number with its interval in its unit: `rating 0.2 [-0.18, 0.623] points`."""
        low, high = self.answer.interval
        numbers = with_interval(self.answer.value, (low, high))
        if self.is_share:
            value = 100 * self.answer.value
            numbers = with_interval(value, (100 * low, 100 * high), digits=1)
        return f"{self.name} {numbers} {self.unit}".rstrip()

    def allowed(self, margin: float) -> str:
        """The margin in the unit of the difference."""
        if self.is_share:
            return f"{100 * margin:g} percentage points"
        return f"{margin:g} {self.unit}".rstrip()


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
            return (replace(measure, name="pass rate", unit="percentage points"),)
        return (replace(measure, unit="points"),)
    return tuple(
        _of_pair(name, comparison.pairs[0], -margin, these=compared.these_items)
        for name, comparison in compared.metrics.items()
    )


def _of_pair(name: str, pair: Pair, bar: float, *, these: bool) -> GateMeasure:
    answer = pair.difference
    why = why_not(pair) if math.isnan(answer.interval[0]) else ""
    measure = GateMeasure(name=name, bar=bar, answer=answer, why=why)
    if measure.is_told:
        return measure
    return replace(measure, further=further_of(pair, bar, these=these))


def _of_wins(wins: Wins, bar: float) -> GateMeasure:
    rate = wins.by_item
    answer = rate.answer
    why = ""
    if math.isnan(answer.interval[0]):
        why = "the choices are of one source"
    measure = GateMeasure(
        name="win rate",
        bar=bar,
        unit="%",
        answer=answer,
        why=why,
    )
    if measure.is_told:
        return measure
    further = further_choices(answer, rate.clusters, EVEN, bar)
    return replace(measure, further=further)
