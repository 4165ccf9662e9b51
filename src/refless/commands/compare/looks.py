"""Looks at ratings that arrive: their plan, and sentences on each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from refless.commands.compare.document import turned, value_of
from refless.commands.populations import Looks
from refless.evaluation.comparing import Pair
from refless.evaluation.planned_look import HARDLY, PlannedLook, ends_within
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.plural import counted
from refless.report.wording import percent
from refless.stats.group_sequential import LookPlan, Spending

Planned = Literal["one", "any"] | int | Sequence[int]
UNPLANNED: dict[str, Looks] = {"one": "one", "any": "any"}
MEANT = (
    "must be one, any, a number of looks (5), or the items rated at each look (20,45)"
)


def looks_of(
    looks: Planned, of: int | None, *, these_items: bool
) -> tuple[Looks, LookPlan | None]:
    """The kind of looks, and the plan if there is one.

    Error is spent as by O'Brien & Fleming, which shows as much as one look at the end does; of
    these items alone as by Pocock, which ends earlier, since at the end all is known anyway.

    Raises:
        UsageError: no such looks, or a plan without its end, or an end without a plan.
    """
    unplanned = UNPLANNED.get(looks) if isinstance(looks, str) else None
    if unplanned is not None:
        if of is not None:
            raise UsageError(
                f"{called('of')} goes with planned looks: give their number with "
                f"{called('looks', 5)}"
            )
        return unplanned, None
    numbers = items_at(looks)
    if of is None:
        raise UsageError(
            f"{called('of')} must be given with planned looks: the items rated at the last one, "
            "which may be this"
        )
    return "planned", _plan(numbers, of, "pocock" if these_items else "obrien-fleming")


def _plan(numbers: Sequence[int], of: int, spending: Spending) -> LookPlan:
    """So many equal looks if there is one number, else looks after so many items each."""
    if len(numbers) == 1:
        (count,) = numbers
        if not 2 <= count <= of:
            raise UsageError(
                f"{called('looks')} must lie between 2 and {called('of', of)}, got {count}"
            )
        return LookPlan.equal(count, of, spending)
    ascending = [*numbers] == sorted({*numbers})
    if not ascending or numbers[0] < 2 or numbers[-1] > of:
        looks = ",".join(map(str, numbers))
        raise UsageError(
            f"{called('looks', looks)}: items at each look must ascend from 2 to at most "
            f"{called('of', of)}"
        )
    return LookPlan(at=tuple(sorted({*numbers, of})), planned=of, spending=spending)


def items_at(looks: Planned) -> list[int]:
    """The whole numbers that stand for planned looks; raises UsageError for anything else."""
    parts = looks.split(",") if isinstance(looks, str) else looks
    parts = [parts] if isinstance(parts, int) else [*parts]
    decimal = [str(part).strip().isdecimal() for part in parts]
    if not parts or not all(decimal):
        raise UsageError(f"{called('looks')} {MEANT}; got {looks}")
    return [int(part) for part in parts]


def look_lines(pairs: Sequence[Pair], margin: float) -> tuple[str, ...]:
    """Sentences that say which planned look this is, and whether the study can end here."""
    first = pairs[0].look
    if first is None:
        return ()
    if len(pairs) > 1:
        return (_which_look(first), *_ended_pairs(pairs, margin))
    pair = turned(pairs[0])
    return (_which_look(first), _whether_to_end(pair, pair.look or first, margin))


def _which_look(look: PlannedLook) -> str:
    """The number of the look among those planned, and what share of the error is spent by it."""
    items = f"{look.items:,} of {counted(look.planned, 'planned item')}"
    lead = f"This is look {look.number} of {look.count}, at {items}"
    return f"{lead}: {percent(look.spent)} of the error that is allowed in all may be spent by now."


def _whether_to_end(pair: Pair, look: PlannedLook, margin: float) -> str:
    """The cost of ending the study at this look, or the reason why it has ended."""
    unrated = max(look.planned - look.items, 0)
    saving = f": {counted(unrated, 'item')} need no rating" if unrated else ""
    if pair.shown:
        return f"The difference is shown, so the study can end here{saving}.{_unbiased(look)}"
    if margin and ends_within(pair.difference, margin):
        small = (
            f"The difference is known to lie within ±{margin:g}, so it is small enough"
        )
        return f"{small} and the study can end here{saving}."
    if look.upcoming is None:
        return "This was the last look: no difference is shown."
    ahead = f"The next look is at {look.upcoming:,} items."
    if math.isnan(look.chance):
        return ahead
    chance = f"a chance of {percent(look.chance)} to show a difference by {look.planned:,} items"
    if look.chance < HARDLY:
        return f"Going on has only {chance}: you may end here, or go on. {ahead}"
    return f"Going on has {chance}, which ending here would give up. {ahead}"


def _unbiased(look: PlannedLook) -> str:
    """The median-unbiased estimate after an early end, if there were looks before it."""
    if look.unbiased is None or look.upcoming is None or look.number == 1:
        return ""
    value = value_of(look.unbiased)
    return (
        f" An early end makes a difference look large; without that bias it is {value}."
    )


def _ended_pairs(pairs: Sequence[Pair], margin: float) -> tuple[str, ...]:
    """The number of pairs that need no further ratings, if there are any."""
    ended = [
        pair
        for pair in pairs
        if pair.shown or (margin and ends_within(pair.difference, margin))
    ]
    if not ended:
        return ()
    return (
        f"{counted(len(ended), 'pair')} out of {len(pairs)} need no further ratings.",
    )
