"""The planned looks of a round: when one is due, what came of those taken, who is still asked."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from refless.commands.compare.certificate import TakenLook
from refless.stats.group_sequential import LookPlan

Row = Mapping[str, Any]
FEWEST = 2  # items at a look


class Round(msgspec.Struct, frozen=True):
    """The planned looks at one dimension that were taken.

    Attributes:
        looks: in order; systems: rows of the page's table at the last one; said: sentences on it.
        command: the command line that gives these numbers.
    """

    looks: tuple[TakenLook, ...] = ()
    systems: tuple[dict[str, Any], ...] = ()
    said: tuple[str, ...] = ()
    command: str = ""

    @property
    def items(self) -> int:
        """Rated items at the last look."""
        return self.looks[-1].items if self.looks else 0

    def dropped(self, kept: Collection[str]) -> dict[str, tuple[int, TakenLook]]:
        """The look, with its number, at which each system was dropped that nobody put back."""
        dropped = {}
        for number, look in enumerate(self.looks, start=1):
            for name in {*look.dropped} - {*kept}:
                dropped[name] = number, look
        return dropped


def items_answered(rows: Sequence[Row], systems: Collection[str]) -> int:
    """The number of items that all of these systems answered."""
    items: dict[str, set[str]] = {name: set() for name in systems}
    for row in rows:
        label = row.get("item") or row.get("source") or row["id"]
        items.setdefault(row.get("system", ""), set()).add(label)
    answered = [items[name] for name in systems]
    return len(set.intersection(*answered)) if answered else 0


def looks_due(rows: Sequence[Row], count: int) -> tuple[int, ...]:
    """The numbers of rated items at which so many looks are due; none without a plan."""
    systems = {row.get("system", "") for row in rows}
    items = items_answered(rows, systems) if count else 0
    return LookPlan.equal(count, items, "pocock").at if items else ()


def looks_from(taken: Round, rated: int, due: Sequence[int]) -> tuple[int, ...]:
    """The looks of a plan if one is taken after so many rated items: before it, it, and to come."""
    before = (look.items for look in taken.looks)
    return (*before, rated, *(at for at in due if at > rated))


def next_due(taken: Round, due: Sequence[int]) -> int | None:
    """The number of rated items at which the next look is due; None after the last."""
    return next((at for at in due if at > taken.items), None)


def is_due(taken: Round, rated: int, due: Sequence[int], *, exhausted: bool) -> bool:
    """True if the next look is to be taken: early if there is nothing left to rate."""
    ahead = next_due(taken, due)
    if ahead is None or rated < max(FEWEST, taken.items + 1):
        return False
    return rated >= ahead or exhausted
