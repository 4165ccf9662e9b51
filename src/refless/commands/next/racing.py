"""A race of systems: after each planned look whoever is shown to be worse than another is dropped.

The best system is compared with each of the others, so each pair may err by a share of the error
(Bonferroni): the best of all is among those left with a confidence of 97.5 % at all looks together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from refless.evaluation.comparing import Comparison, Pair
from refless.evaluation.planned_look import at_planned_look
from refless.stats.group_sequential import LookPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Racer:
    """One system in a race.

    Attributes:
        name: of the system; rated: its outputs with a rating.
        behind: the system than which it is most clearly shown to be worse; None if it is left.
    """

    name: str
    rated: int
    behind: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """Systems in a race, by their means.

    Attributes:
        systems: the best first.
        items: with ratings, of the system that has most; planned: at the end of the race.
        number: of the look, from 1; count: of looks that are planned.
    """

    systems: tuple[Racer, ...]
    items: int
    planned: int
    number: int
    count: int

    @property
    def left(self) -> tuple[str, ...]:
        """The systems among which the best one is."""
        return tuple(racer.name for racer in self.systems if racer.behind is None)


def race_plan(plan: LookPlan, systems: int) -> LookPlan:
    """The plan for each pair of so many systems, two or more: as by Pocock, and by Bonferroni."""
    return replace(plan, spending="pocock", alpha=plan.alpha / (systems - 1))


def raced(comparison: Comparison, plan: LookPlan) -> Race:
    """The race by now: systems that are dropped, and those that are left.

    Args:
        comparison: of all systems, by the same plan; plan: of each pair, see `race_plan`.
    """
    items = max((pair.both_rated for pair in comparison.pairs), default=0)
    racers = tuple(
        Racer(
            name=standing.name,
            rated=standing.rated,
            behind=_behind(standing.name, comparison.pairs, plan.alpha),
        )
        for standing in comparison.standings
    )
    number = plan.number(items) if items else 0
    return Race(
        systems=racers,
        items=items,
        planned=plan.planned,
        number=number,
        count=len(plan.at),
    )


def raced_at(comparison: Comparison, plan: LookPlan) -> tuple[Race, LookPlan]:
    """The race by a comparison whose looks were planned for one question, and its own plan."""
    own = race_plan(plan, len(comparison.standings))
    pairs = []
    for pair in comparison.pairs:
        items = pair.both_rated if pair.look is None else pair.look.items
        difference = at_planned_look(pair.difference, own.looks(max(items, 1)))
        pairs.append(replace(pair, difference=difference))
    return raced(replace(comparison, pairs=tuple(pairs)), own), own


def _behind(name: str, pairs: Sequence[Pair], alpha: float) -> str | None:
    """The system than which this one is most clearly shown to be worse, or None."""
    better = []
    for pair in pairs:
        difference = pair.difference
        if not difference.p < alpha:
            continue
        if pair.first == name and difference.value > 0:
            better.append((difference.p, pair.second))
        elif pair.second == name and difference.value < 0:
            better.append((difference.p, pair.first))
    return min(better)[1] if better else None
