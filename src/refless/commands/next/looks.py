"""Planned looks in `refless next --plan`: when to look, and when a study should end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from refless.commands.compare.looks import Planned, items_at, looks_of
from refless.commands.populations import Looks
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.plural import counted
from refless.report.document import Section, Table
from refless.report.record import Count
from refless.report.wording import number, percent
from refless.stats.assurance import SURE
from refless.stats.group_sequential import LookPlan, Spending, ended_by, inflation
from refless.stats.intervals import LEVEL, quantile

SPENDING: Spending = "obrien-fleming"


@dataclass(frozen=True, slots=True, kw_only=True)
class LookStep:
    """One of the looks of a plan.

    Attributes:
        ratings: of both systems by then.
        spent: share of the error that may be spent by then.
        boundary: standard errors that a difference exceeds if it is shown at this look.
        ended: chance that the study has ended by then, if the difference is the planned one.
    """

    ratings: Count
    spent: float
    boundary: float
    ended: float


def number_of_looks(looks: Planned | None) -> int | None:
    """The number of looks of a plan or a race; UsageError for other kinds of looks."""
    numbers = [] if looks is None else items_at(looks)
    if len(numbers) > 1:
        raise UsageError(
            f"{called('looks')} must be a number here, got {looks}; items at each look go with "
            f"{called('goal', 'compare')}"
        )
    return numbers[0] if numbers else None


def planned_ahead(
    looks: Planned | None, *, these_items: bool
) -> tuple[Looks, LookPlan | None]:
    """The kind of looks at a comparison that is to come, and their plan if there is one."""
    if looks in (None, "any"):
        return looks_of(looks or "one", None, these_items=these_items)
    numbers = items_at(looks)
    if len(numbers) < 2:
        raise UsageError(
            f"{called('looks')} must be the items at each look with {called('goal', 'compare')}, "
            f"such as 20,40,60; got {looks}"
        )
    return looks_of(numbers, numbers[-1], these_items=these_items)


def check_looks(looks: int | None, n: int | None) -> None:
    """Raises UsageError for looks that a plan cannot have."""
    if looks is not None and looks < 2:
        raise UsageError(
            f"{called('looks')} must be 2 or more with {called('plan')}, got {looks}"
        )
    if looks is not None and n is not None:
        raise UsageError(
            f"{called('n')} says what so many ratings show at one look: leave out {called('looks')}"
        )


def look_steps(ratings: int, count: int) -> tuple[LookStep, ...]:
    """The looks of a plan that shows a difference as often as so many ratings at one look do.

    Args:
        ratings: of both systems for one look; count: looks that are planned.
    """
    if not ratings:
        return ()
    guess = LookPlan.equal(count, ratings // 2, SPENDING)
    factor = inflation(guess.looks(guess.planned), SURE)
    plan = LookPlan.equal(count, math.ceil(factor * ratings / 2), SPENDING)
    looks = plan.looks(plan.planned)
    fixed = quantile(LEVEL) + quantile(2 * SURE - 1)
    chances = ended_by(looks, fixed * math.sqrt(2 * plan.planned / ratings))
    steps = zip(plan.at, looks.spent, looks.boundaries, chances.tolist(), strict=True)
    return tuple(
        LookStep(
            ratings=2 * at, spent=spent / looks.alpha, boundary=boundary, ended=ended
        )
        for at, spent, boundary, ended in steps
    )


def expected_ratings(steps: Sequence[LookStep]) -> float:
    """Ratings that a study with these looks takes on average, if the difference is as planned."""
    ended = [0.0, *(step.ended for step in steps[:-1])]
    before = [0, *(step.ratings for step in steps[:-1])]
    return math.fsum(
        (step.ratings - earlier) * (1 - gone)
        for step, earlier, gone in zip(steps, before, ended, strict=True)
    )


def looks_section(steps: Sequence[LookStep]) -> Section:
    """The planned looks, and the probability of an end by each."""
    rows = tuple(
        (
            str(place),
            f"{step.ratings:,}",
            percent(step.spent),
            number(step.boundary),
            percent(step.ended),
        )
        for place, step in enumerate(steps, start=1)
    )
    last = steps[-1].ratings
    average = f"{expected_ratings(steps):,.0f} of {counted(last, 'rating')}"
    lines = (
        f"The study ends once the difference is shown: on average after {average}. At each look:",
        f"  refless compare FILE --looks {len(steps)} --of {last // 2}",
        f"{called('of')} counts outputs of each system. Both answers to the same items take fewer.",
    )
    header = ("look", "ratings", "error spent", "boundary", "ended by then")
    return Section(
        title="Planned looks", lines=lines, table=Table(header=header, rows=rows)
    )
