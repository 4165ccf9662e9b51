"""The outlook for a difference of two systems by ratings of more items."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from refless.stats.answers import Answer
from refless.stats.assurance import USUAL, fewest_shown
from refless.stats.forecast import Forecast, Prospect, Today


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The outlook for more ratings.

    Attributes:
        needed: units that are rated by then, both answers of paired ones; None if all of them
            would not do, or it is not known.
        chance: that ratings of all units show a difference; NaN if it is not known.
    """

    needed: float | None = None
    chance: float = math.nan


def outlook(
    value: float,
    today: Today,
    half_width: Callable[[Forecast], float],
    limit: float = math.inf,
    *,
    bar: float = 0.0,
) -> Outlook:
    """The outlook for more ratings, on top of those that there are.

    Args:
        value: the difference as it looks.
        today: how exactly it is told, and how much is rated.
        half_width: of an interval by its forecast.
        limit: units that are rated at most; bar: from which the difference is to differ.
    """
    progress = today.progress
    missing = math.ceil(min(progress.missing, limit))
    if not today.error > 0:
        return Outlook()  # all there is to ask is rated

    def after(units: int) -> Forecast:
        return today.after(min(units / progress.missing, 1.0) if missing else 0.0)

    needed, chance = fewest_shown(
        value,
        today.error,
        range(missing + 1),
        after,
        half_width,
        USUAL**2 * today.of_unit,
        bar=bar,
    )
    if needed is None:
        return Outlook(chance=chance)
    return Outlook(needed=progress.done + needed, chance=chance)


def outlook_of(answer: Answer, today: Today, bar: float = 0.0) -> Outlook:
    """The outlook for ratings of more units, to tell on which side of a bar the answer lies."""

    def half_width(forecast: Forecast) -> float:
        return answer.wide * forecast.half_width

    return outlook(answer.value, today, half_width, bar=bar)


def outlook_anew(
    value: float, error: float, of_unit: float, units: int, *, these: bool
) -> Outlook:
    """The outlook for ratings of items if estimates alone are behind the difference.

    Args:
        value: the difference; error: its standard error.
        of_unit: variance of an item's difference of ratings.
        units: items that there are.
        these: whether the question is about these items, and not about others like them.
    """
    if units < 2 or not of_unit > 0:
        return Outlook()
    prospect = Prospect(
        every=units, residual=of_unit, total=of_unit, freedom=units - 1, these=these
    )
    needed, chance = fewest_shown(
        value,
        error,
        range(2, units + 1),
        prospect.after,
        lambda forecast: forecast.half_width,
        USUAL**2 * of_unit,
        more=False,
    )
    return Outlook(needed=needed, chance=chance)
