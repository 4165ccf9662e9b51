"""Outputs to have rated so that the best of several systems is known: a race."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from refless.commands.compare.field import errors_of, field_of
from refless.commands.compare.inputs import Inputs
from refless.commands.next.active_learning import Choice
from refless.commands.next.sampling_design import Units, draw
from refless.commands.warnings import silenced
from refless.data.records import Outputs
from refless.estimators import Estimator
from refless.evaluation.racing import NAME, Race, Racer, raced
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.plural import counted
from refless.report.document import Section, Table
from refless.report.wording import clipped
from refless.stats.group_sequential import LookPlan

USUAL = 10  # looks of a race
FEWEST = 2  # systems, and items at the first look

Answers = dict[str, dict[str, list[int]]]  # rows of outputs, by item and system


def check_race(goal: str | None, looks: int | None) -> None:
    """Raises UsageError for looks without a race, or a race without looks."""
    if looks is not None and goal != "best":
        raise UsageError(
            f"{called('looks')} goes with {called('plan')}, or with {called('goal', 'best')} or "
            "compare"
        )
    if looks is not None and looks < 1:
        raise UsageError(f"{called('looks')} must be 1 or more, got {looks}")


def answers_by_item(outputs: Outputs) -> Answers:
    """Rows of the answers to each item, by system."""
    labels_of = outputs.items or outputs.sources or outputs.ids
    answers: Answers = defaultdict(lambda: defaultdict(list))
    for row in range(len(outputs)):
        if outputs.systems[row]:
            answers[labels_of[row]][outputs.systems[row]].append(row)
    return answers


def plan_of_race(
    new: Answers, done: Answers, looks: int
) -> tuple[tuple[str, ...], LookPlan]:
    """The systems in a race, and when it looks at their ratings: up to all items of all systems.

    Raises:
        UsageError: fewer than two systems, or too few items that all of them answered.
    """
    by_item: dict[str, set[str]] = {}
    for item in {*new, *done}:
        by_item[item] = {*new.get(item, {}), *done.get(item, {})}
    systems = tuple(sorted(set().union(*by_item.values())))
    if len(systems) < FEWEST:
        raise UsageError(
            f"{called('goal', 'best')} is about two systems or more: a column system names them"
        )
    items = sum(len(names) == len(systems) for names in by_item.values())
    if items < FEWEST * looks:
        fewer = called("looks", max(items // FEWEST, 1))
        raise UsageError(
            f"{called('goal', 'best')}: {counted(items, 'item')} that all {len(systems)} systems "
            f"answered are too few for {looks} looks; give {fewer} or fewer"
        )
    return systems, LookPlan.equal(looks, items, "pocock")


def race_of(
    inputs: Inputs | None,
    estimator: Estimator,
    systems: Sequence[str],
    plan: LookPlan,
    seed: int,
    *,
    these: bool,
) -> Race:
    """The race by the ratings that there are; all systems are left before the first."""
    if inputs is None:
        racers = tuple(Racer(name=name, rated=0, behind=None) for name in systems)
        return Race(
            systems=racers, items=0, planned=plan.planned, number=0, count=len(plan.at)
        )
    errors = errors_of(inputs, estimator, drawn=True)
    field = field_of(inputs, estimator, seed, "random")
    return raced(replace(field, these=these), errors, systems, plan)


def to_rate(
    race: Race, plan: LookPlan, new: Answers, done: Answers, n: int | None, seed: int
) -> Choice:
    """Answers of the systems that are left to some items, drawn at random, up to the next look.

    Args:
        race: by now; plan: of its looks.
        new, done: answers without and with a rating.
        n: items; None for as many as the next look is away.
    """
    systems = race.left if len(race.left) > 1 else ()
    members = []
    for item in sorted(new):
        rows = _unrated(systems, new[item], done.get(item, {}))
        answered = {*new[item], *done.get(item, {})}
        if rows and answered >= {*systems}:
            members.append(rows)
    ahead = [at for at in plan.at if at > race.items]
    further = ahead[0] - race.items if ahead and systems else 0
    units = Units(goal="best", members=tuple(members), spread=np.nan, systems=race.left)
    choice = draw(units, further if n is None else n, seed, np.nan)
    return replace(choice, already=race.items, race=race)


def _unrated(
    systems: Sequence[str],
    new: Mapping[str, list[int]],
    done: Mapping[str, list[int]],
) -> tuple[int, ...]:
    """Rows of the systems' answers to an item, but for systems with a rated answer to it."""
    rows: list[int] = []
    for name in systems:
        if name not in done:
            rows += new.get(name, [])
    return tuple(rows)


def chosen_in_race(
    answers: tuple[Outputs, Outputs],
    inputs: Inputs | None,
    estimator: Estimator,
    looks: int | None,
    n: int | None,
    seed: int,
    *,
    these: bool,
) -> tuple[Choice, LookPlan]:
    """Answers of the systems that are left in the race, and the race's looks.

    Args:
        answers: without and with a rating; all else as of `race_of` and `to_rate`.
    """
    new, done = map(answers_by_item, answers)
    names, plan = plan_of_race(new, done, looks or USUAL)
    with silenced():  # what it says of the rows was said
        race = race_of(inputs, estimator.clone(), names, plan, seed, these=these)
    return to_rate(race, plan, new, done, n, seed), plan


def race_section(race: Race) -> Section:
    """Each system: left, or behind which other."""
    rows = []
    for racer in race.systems:
        standing = "left"
        if racer.behind is not None:
            standing = f"dropped: worse than {clipped(racer.behind, NAME)}"
        rows.append((clipped(racer.name, NAME), f"{racer.rated:,}", standing))
    table = Table(header=("system", "rated", ""), rows=tuple(rows))
    return Section(title="The race", table=table)
