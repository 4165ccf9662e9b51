"""A race of systems: after each planned look whoever is shown to be worse than another is dropped.

The best system is compared with each of the others, so each pair may err by a share of the error
(Bonferroni): the best of all is among those left with a confidence of 95 % at all looks together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from refless.data.records import Residuals
from refless.evaluation.comparing import Comparison, Pair, compared
from refless.evaluation.entries import Field
from refless.evaluation.planned_look import HARDLY, at_planned_look
from refless.registry.plural import counted, first_of
from refless.report.wording import labels, percent
from refless.stats.group_sequential import LookPlan
from refless.stats.intervals import UNDEFINED, Interval

NAME = 24  # columns of a terminal
MOST_NAMED = 8  # systems that the first sentence names
ComparedBy = Callable[[Sequence[str], LookPlan], Comparison]


@dataclass(frozen=True, slots=True, kw_only=True)
class Racer:
    """One system in a race.

    Attributes:
        name: of the system; rated: its outputs with a rating.
        behind: the system than which it is most clearly shown to be worse; None if it is left.
        mean, interval: of its ratings, in the raters' units; NaN before the first.
    """

    name: str
    rated: int
    behind: str | None
    mean: float = math.nan
    interval: Interval = UNDEFINED


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """Systems in a race, by their means.

    Attributes:
        systems: the best first.
        items: with ratings, of the system that has most; planned: at the end of the race.
        number: of the look, from 1; count: of looks that are planned.
        chance: that ratings up to the end drop another system, by the pair that promises most; NaN
            if it is unknown, and of these items alone, which tell all in the end.
    """

    systems: tuple[Racer, ...]
    items: int
    planned: int
    number: int
    count: int
    chance: float = math.nan

    @property
    def left(self) -> tuple[str, ...]:
        """The systems among which the best one is."""
        return tuple(racer.name for racer in self.systems if racer.behind is None)


def race_plan(plan: LookPlan, systems: int) -> LookPlan:
    """The plan for each pair of so many systems, two or more; its error is that of both sides."""
    return replace(plan, spending="pocock", alpha=2 * plan.alpha / (systems - 1))


def raced(
    field: Field, errors: Residuals, systems: Sequence[str], plan: LookPlan
) -> Race:
    """The race by now: systems that are dropped, and those that are left.

    Args:
        field, errors, systems: as of `compared`; plan: of looks.
    """

    def compared_by(names: Sequence[str], own: LookPlan) -> Comparison:
        return compared(replace(field, plan=own), errors, names)

    return _raced(compared_by, systems, plan, these=field.these)


def raced_at(comparison: Comparison, plan: LookPlan) -> tuple[Race, LookPlan]:
    """The race by a comparison whose looks were planned for one question, and its own plan."""
    systems = [standing.name for standing in comparison.standings]

    def compared_by(names: Sequence[str], own: LookPlan) -> Comparison:
        return _looked_anew(comparison, names, own)

    race = _raced(compared_by, systems, plan, these=True)
    return race, race_plan(plan, len(systems))


def _raced(
    compared_by: ComparedBy, systems: Sequence[str], plan: LookPlan, *, these: bool
) -> Race:
    """The race by comparisons of those that are left: each is a race of so many.

    Args:
        compared_by: the function that compares some systems by a plan for each pair.
        these: whether no chance of the end is asked for.
    """
    every = compared_by(systems, race_plan(plan, len(systems)))
    comparison = every
    left = [*systems]
    behind: dict[str, str] = {}
    while dropped := _dropped(comparison, race_plan(plan, len(left)).alpha):
        behind |= dropped
        left = [name for name in left if name not in dropped]
        if len(left) < 2:
            break
        comparison = compared_by(left, race_plan(plan, len(left)))
    racers = tuple(
        Racer(
            name=standing.name,
            rated=standing.rated,
            behind=behind.get(standing.name),
            mean=standing.mean.value,
            interval=standing.mean.interval,
        )
        for standing in every.standings
    )
    items = max((pair.both_rated for pair in every.pairs), default=0)
    return Race(
        systems=racers,
        items=items,
        planned=plan.planned,
        number=plan.number(items) if items else 0,
        count=len(plan.at),
        chance=math.nan if these or len(left) < 2 else _chance(comparison.pairs),
    )


def _looked_anew(
    comparison: Comparison, names: Sequence[str], plan: LookPlan
) -> Comparison:
    """The pairs of some systems with the intervals and p-values of another plan."""
    pairs = []
    for pair in comparison.pairs:
        if pair.first in names and pair.second in names:
            items = pair.both_rated if pair.look is None else pair.look.items
            difference = at_planned_look(pair.difference, plan.looks(max(items, 1)))
            pairs.append(replace(pair, difference=difference))
    standings = [each for each in comparison.standings if each.name in names]
    return replace(comparison, standings=tuple(standings), pairs=tuple(pairs))


def _dropped(comparison: Comparison, alpha: float) -> dict[str, str]:
    """The systems that are shown to be worse than another, with that other."""
    rivals = {
        standing.name: _behind(standing.name, comparison.pairs, alpha)
        for standing in comparison.standings
    }
    return {name: rival for name, rival in rivals.items() if rival is not None}


def _chance(pairs: Sequence[Pair]) -> float:
    """The largest chance of a pair to show a difference by the end; NaN if any is unknown."""
    chances = [math.nan if pair.look is None else pair.look.chance for pair in pairs]
    return math.nan if any(map(math.isnan, chances)) else max(chances)


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


def standing_said(race: Race) -> str:
    """The sentence that says which systems are left."""
    names = labels([racer.name for racer in race.systems], NAME)
    systems = race.left
    every = len(race.systems)
    if len(systems) == 1:
        best = names[systems[0]]
        return (
            f"{best} is the best of {every} systems: the others are shown to be worse."
        )
    listed = first_of([names[name] for name in systems], MOST_NAMED)
    tied = race.items >= race.planned
    place = "are tied for first" if tied else "are left"
    return f"{len(systems)} of {every} systems {place}: {listed}."


def confidence_said(race: Race) -> str:
    """The number of this look, the confidence that the best is left, and whether to go on."""
    sure = (
        "The best of all is among those left with a confidence of 95 %, at all planned looks "
        "together: error is spent as by Pocock, and shared by the systems (Bonferroni)."
    )
    if not race.number:
        return f"No look was taken yet. {sure}"
    items = f"{race.items:,} of {counted(race.planned, 'item')}"
    sentence = f"This is look {race.number} of {race.count}, at {items}. {sure}"
    if race.items >= race.planned or not race.chance < HARDLY:
        return sentence
    chance = f"a chance of at most {percent(race.chance)} to be told apart by the end"
    return f"{sentence} Each pair of those left has {chance}: you may end here."
