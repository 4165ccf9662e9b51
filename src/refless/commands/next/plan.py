"""The number of ratings a study needs, or what so many show: `refless next --plan`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal, NoReturn

from refless.commands.calls import Call, is_default
from refless.commands.next.looks import (
    LookStep,
    check_looks,
    expected_ratings,
    look_steps,
    looks_section,
)
from refless.commands.next.planning import (
    FEWEST,
    MOST,
    STUDIES,
    USUAL_SPREAD,
    WIDEST,
    Aim,
    Goal,
    Pilot,
    ratings_for,
    reach_of,
)
from refless.data.human import check_scale
from refless.data.records import Scale
from refless.evaluation.uses import AGREES
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.plural import counted
from refless.registry.signature import Signature
from refless.registry.version import __version__
from refless.report.charts import Line, row_chart
from refless.report.document import Card, Document, Figure, Section, Table, folded
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.wording import number, percent
from refless.stats.intervals import UNDEFINED

SMALLER = "ask for less: a wider interval, or a larger difference."
NEAR = 0.1  # half width of kappa, TPR and TNR
# and of nothing else
OF_PLANS = (
    "difference",
    "base_rate",
    "minutes_per_rating",
    "sd",
)
WITHOUT_FILE = (*OF_PLANS, "looks", "plan", "n", "within", "scale", "seed")
NOT_OF_PLANS = (
    "rated",
    "goal",
    "system",
    "these_items",
    "blind",
    "estimator",
    "threads",
)
NOTES = (
    "The difference is unpaired: half of the ratings for each of two systems. It takes fewer if "
    "both answer the same items and their ratings go together. All take more if outputs share "
    f"sources. 'By simulation': the share of {STUDIES} simulated studies that reach the goal."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The ratings that one goal takes.

    Attributes:
        aim: the number; within: half the width of its 95 % interval, or the difference to show, in
            the raters' units; null if so many ratings tell none.
        ratings: of both systems for a difference; 0 if more than are tried.
        failures: how many of them are expected to fail; null on a scale.
        reached: share of simulated studies with so many ratings that reach the goal.
        minutes: for all these ratings.
    """

    aim: Aim
    within: float
    ratings: Count
    failures: Count | None
    reached: float
    minutes: float

    @property
    def size(self) -> str:
        """`±0.2`, or `of 0.4` for a difference."""
        return f"{'of ' if self.aim == 'difference' else '±'}{number(self.within)}"

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        goal = self.aim if math.isnan(self.within) else f"{self.aim} {self.size}"
        if not self.ratings:
            return goal, f">{MOST:,}", "-", "-", "-"
        failures = "-" if self.failures is None else f"{self.failures:,}"
        minutes = f"{math.ceil(self.minutes):,}"
        return goal, f"{self.ratings:,}", failures, percent(self.reached), minutes


@dataclass(frozen=True, kw_only=True)
class PlanRecord(Record):
    """The number of ratings a study needs, or what so many show, and what that rests on.

    Attributes:
        of_ratings: whether the number of ratings was given, and not the goals.
        looks: at the difference as ratings arrive; empty if none are planned.
    """

    command: Literal["next"] = "next"
    of: Literal["plan"] = "plan"
    signature: Signed
    goals: tuple[Planned, ...]
    of_ratings: bool
    looks: tuple[LookStep, ...]
    assumed: str


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PlanResult(Result):
    """The number of ratings a study needs, or what so many show, and what that rests on.

    Attributes:
        of_ratings: whether the number of ratings was given, and not the goals.
        of_mean, of_difference: whether these are the goals that were asked about.
        looks: at the difference as ratings arrive; draws: the line that draws outputs.
    """

    record = PlanRecord
    goals: tuple[Planned, ...]
    of_ratings: bool
    assumed: str
    of_mean: bool = False
    of_difference: bool = True
    looks: tuple[LookStep, ...] = ()
    draws: str = ""

    @property
    def _asked(self) -> tuple[Planned, ...]:
        """The goals that were asked about."""
        goals = self.goals[:1] if self.of_mean else ()
        return (*goals, *self.goals[-1:]) if self.of_difference else goals

    @property
    def headline(self) -> Planned:
        """The goal that takes most of those that were asked about."""
        return _largest(self._asked)

    def card(self) -> Card:
        """The answer with its picture."""
        beyond = not self.headline.ratings
        return Card(
            topic="a plan",
            question="Is it known what the study takes?",
            state="open" if beyond else "yes",
            label="Not within reach" if beyond else "Yes",
            answer=self._verdict(self.headline, beyond=beyond),
            unfit="a claim about your systems: it forecasts, from what is assumed below.",
            advice=SMALLER if beyond else "draw outputs to rate at random:",
            command="" if beyond else self.draws,
            figures=(self._picture(),),
        )

    def _picture(self) -> Figure:
        """The ratings that each goal takes, or how exact each becomes with as many as are given."""
        lines = []
        for goal in self.goals:
            value = goal.within if self.of_ratings else float(goal.ratings)
            lines.append(Line(name=goal.cells[0], value=value, interval=UNDEFINED))
        axis = "ratings"
        caption = "Ratings that each goal takes, in 4 of 5 studies."
        if self.of_ratings:
            axis = "half the width, or the difference"
            caption = "How exact each number becomes, in 4 of 5 studies."
        return row_chart(lines, axis, caption.rstrip("."), caption, zero=True)

    def _shown(self) -> Document:
        header = ("goal", "ratings", "failures", "by simulation", "minutes")
        table = Table(header=header, rows=tuple(goal.cells for goal in self.goals))
        title = "How many ratings"
        heading = "What each goal takes"
        if self.of_ratings:
            title = f"What {self.goals[0].ratings:,} ratings show"
            heading = "What they show"
        goals = Section(title=heading, table=table)
        looks = [looks_section(self.looks)] if self.looks else []
        return Document(
            title=title,
            cards=(self.card(),),
            notes=(self.assumed, NOTES),
            sections=folded((goals, *looks)),
        )

    def _verdict(self, largest: Planned, *, beyond: bool) -> str:
        """The number of ratings that reach the goals, or what so many show."""
        _, ratings, _, _, minutes = largest.cells
        if self.of_ratings:
            size = f"{largest.ratings:,} ratings ({minutes} minutes)"
            return f"{size} {self._answers()}, in 4 of 5 studies."
        if beyond:
            names = [goal.cells[0] for goal in self._asked if not goal.ratings]
            return f"More than {MOST:,} ratings are needed for: {', '.join(names)}."
        goal = " and ".join(f"a {goal.cells[0]}" for goal in self._asked)
        size = f"{ratings} ratings ({minutes} minutes)"
        if self.looks:
            size = f"{expected_ratings(self.looks):,.0f} ratings on average"
        return f"{size} reach {goal} in 4 of 5 studies{self._audit(largest)}."

    def _audit(self, largest: Planned) -> str:
        """The ratings that a judge's numbers take, if these are more; else ""."""
        judge = _largest(self.goals[1:-1])
        if self.looks or 0 < judge.ratings <= largest.ratings:
            return ""
        return f"; to audit a judge takes {judge.cells[1]}"

    def _answers(self) -> str:
        """The width and the difference that so many ratings show."""
        first = self.goals[0]
        last = self.goals[-1]
        parts = []
        if not math.isnan(first.within):
            parts.append(f"tell the {first.aim} to {first.size}")
        if not math.isnan(last.within):
            parts.append(f"show a difference {last.size}")
        return " and ".join(parts) or "show nothing"

    def _rows(self) -> Rows:
        """One mapping a goal."""
        return [asdict(goal) for goal in self.goals]

    def exported(self, tool: str) -> NoReturn:
        """Raises UsageError: a plan has no outputs."""
        raise UsageError(
            f"{tool}: a plan names no outputs to rate; leave out {called('plan')}, name a file"
        )


def _largest(goals: Sequence[Planned]) -> Planned:
    """The goal that takes most ratings, or that no number reaches."""
    return max(goals, key=lambda goal: goal.ratings or math.inf)


def check_plan(call: Call, *, plan: bool) -> None:
    """Raises UsageError for parameters that do not go together, or if there is nothing to read."""
    flags = {
        parameter.name: called(parameter.name)
        for parameter in call.parameters
        if not is_default(parameter, call.values.get(parameter.name))
    }
    if plan:
        _check_planned(flags)
        return
    of_plans = [flags[name] for name in OF_PLANS if name in flags]
    if of_plans:
        raise UsageError(
            f"{', '.join(of_plans)}: for {called('plan')} alone, which is not there"
        )
    if "outputs" not in flags:
        raise UsageError(
            f"no outputs: name a FILE, or - for standard input; without any: {called('plan')}"
        )


def _check_planned(flags: Mapping[str, str]) -> None:
    """Raises UsageError for parameters that a plan does not take, or not together."""
    surplus = [flag for name, flag in flags.items() if name in NOT_OF_PLANS]
    if "outputs" not in flags:
        surplus = [flag for name, flag in flags.items() if name not in WITHOUT_FILE]
    if surplus:
        raise UsageError(
            f"{called('plan')} rates nothing: leave out {', '.join(surplus)}"
        )
    check_together(
        flags, "n", ("within", "difference"), "says what so many ratings show"
    )
    check_together(
        flags, "outputs", ("sd", "base_rate"), "tells how far ratings differ"
    )


def check_together(
    flags: Mapping[str, str], name: str, others: Sequence[str], answer: str
) -> None:
    """Raises UsageError if a parameter is there together with others that answer the same.

    Args:
        flags: of the parameters that are there, by name.
        name: of the parameter; others: that it leaves no room for.
        answer: a verb and its object, of the parameter.
    """
    surplus = [flags[other] for other in others if other in flags]
    if name in flags and surplus:
        raise UsageError(f"{flags[name]} {answer}: leave out {', '.join(surplus)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """The aims of a planned study, in the raters' units.

    Attributes:
        n: ratings that there will be; None if goals are given.
        within, difference: half a width and a difference, None for the usual ones.
        passing: expected share of passes; minutes: for a rating.
        spread: standard deviation of ratings; None if it is not known.
        scale: of the ratings; None for passes and failures.
        looks: at the difference that are planned; None for one at the end.
    """

    n: int | None
    within: float | None
    difference: float | None
    passing: float
    minutes: float
    spread: float | None
    scale: Scale | None
    looks: int | None = None

    @property
    def span(self) -> float:
        """The largest distance of two ratings."""
        return 1.0 if self.scale is None else self.scale[1] - self.scale[0]


def planned(study: Study, pilot: Pilot | None, seed: int) -> PlanResult:
    """The plan, from ratings that there are already if there are any."""
    check_scale(study.scale)
    _check_numbers(study)
    check_looks(study.looks, study.n)
    goals = _goals(study, pilot)
    signed = Signature("plan").plus(v=__version__)
    if study.n is None:
        signed = signed.plus(within=goals[0].within, difference=goals[-1].within)
    else:
        signed = signed.plus(n=study.n)
    signed = signed.plus(base=float(f"{goals[0].passing:.12g}"), scale=study.scale)
    if study.scale is not None:
        signed = signed.plus(sd=float(f"{goals[0].spread:.12g}"))
    if pilot is not None:
        signed = signed.plus(pilot=pilot.texts)
    plans = tuple(_planned(goal, study, seed) for goal in goals)
    of_mean = study.n is not None or (study.within is not None and not study.looks)
    looks: tuple[LookStep, ...] = ()
    if study.looks is not None:
        looks = look_steps(plans[-1].ratings, study.looks)
        signed = signed.plus(looks=study.looks)
    return PlanResult(
        goals=plans,
        of_mean=of_mean,
        of_difference=not of_mean or study.difference is not None,
        looks=looks,
        of_ratings=study.n is not None,
        assumed=_assumed(goals[0], study.span),
        signature=signed.plus(seed=seed),
    )


def _check_numbers(study: Study) -> None:
    """Raises UsageError for a width, a spread or a number of ratings that cannot be."""
    span = study.span
    within = 0.05 * span if study.within is None else study.within
    if not 0 < within < span / 2:
        value = f"{within:g}; half the scale is {span / 2:g}"
        raise UsageError(
            f"{called('within')} must be above 0 and below half the scale, got {value}"
        )
    if study.spread is not None and study.scale is None:
        raise UsageError(
            f"{called('sd')} goes with {called('scale')}: passes and failures have "
            f"{called('base_rate')}"
        )
    if study.spread is not None and not 0 < study.spread <= WIDEST * span:
        value = f"{study.spread:g}; half the scale is {span / 2:g}"
        raise UsageError(
            f"{called('sd')} must be above 0 and below half the scale, got {value}"
        )
    if study.n is not None and not FEWEST <= study.n <= MOST:
        raise UsageError(
            f"{called('n')} must lie between {FEWEST} and {MOST:,} with {called('plan')}, "
            f"got {study.n}"
        )


def _goals(study: Study, pilot: Pilot | None) -> list[Goal]:
    """The goals of a study, as shares: the mean or the pass rate, a judge, and a difference."""
    span = study.span
    on_scale = study.scale is not None
    passing = study.passing
    spread = USUAL_SPREAD if study.spread is None else study.spread / span
    if pilot is not None and on_scale:
        spread = pilot.spread
    elif pilot is not None:
        passing = (pilot.mean * pilot.texts + 1) / (pilot.texts + 2)  # Laplace
    aim: Aim = "mean rating" if on_scale else "pass rate"
    width = 0.05 if study.within is None else study.within / span
    first_goal = Goal(
        aim=aim,
        within=width,
        passing=passing,
        agreement=AGREES,
        scale=on_scale,
        spread=spread,
        pilot=pilot,
    )
    difference = min(0.1, first_goal.room / 2)
    if study.difference is not None:
        difference = study.difference / span
    if not difference < first_goal.room:
        where = "on the scale" if on_scale else f"around {called('base_rate', passing)}"
        value = f"{difference * span:g}; give less than {first_goal.room * span:g}"
        raise UsageError(f"{called('difference')} has no room {where}: got {value}")
    of_judges = replace(first_goal, within=NEAR, scale=False, pilot=None)
    return [
        first_goal,
        replace(of_judges, aim="kappa"),
        replace(of_judges, aim="TPR"),
        replace(of_judges, aim="TNR"),
        replace(first_goal, aim="difference", within=difference),
    ]


def _planned(goal: Goal, study: Study, seed: int) -> Planned:
    """The ratings a goal takes, or what so many show of it, in the raters' units."""
    if study.n is None:
        within = goal.within
        ratings, reached = ratings_for(goal, seed)
    else:
        ratings = study.n
        within, reached = reach_of(goal, study.n, seed)
    failures = None if goal.scale else round(ratings * (1 - goal.passing))
    return Planned(
        aim=goal.aim,
        within=within * study.span if goal.scale else within,
        ratings=ratings,
        failures=failures,
        reached=reached,
        minutes=ratings * study.minutes if ratings else math.nan,
    )


def _assumed(goal: Goal, span: float) -> str:
    """The assumptions of the numbers, in words."""
    tp, fp, fn, tn = goal.shares.tolist()
    rates = f"(TPR {number(tp / (tp + fn))}, TNR {number(tn / (tn + fp))})"
    judge = f"the judge passes as many, with kappa {goal.agreement:g} {rates}."
    source = called("base_rate")
    if goal.pilot is not None and not goal.scale:
        source = f"by {counted(goal.pilot.texts, 'rated text')}"
    passes = f"Assumed: {percent(goal.passing)} of outputs pass ({source}); {judge}"
    return f"{passes} {_spread(goal, span)}" if goal.scale else passes


def _spread(goal: Goal, span: float) -> str:
    """The spread of ratings, and its origin, in words."""
    spread = f"Ratings have a standard deviation of {number(goal.spread * span)}"
    if goal.pilot is not None:
        texts = counted(goal.pilot.texts, "rated text")
        return f"{spread}, by {texts}: so few tell it only roughly, and the plan allows for that."
    if goal.spread == USUAL_SPREAD:
        return (
            f"{spread}, {percent(USUAL_SPREAD)} of the scale: give a better value with "
            f"{called('sd')}, or rated rows."
        )
    return f"{spread} ({called('sd')})."
