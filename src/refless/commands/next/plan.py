"""How many ratings a study needs, before the first one: `refless next --plan`."""

import math
from dataclasses import asdict, dataclass
from typing import Literal, NoReturn

from refless.commands.calls import Call
from refless.data.human import check_scale
from refless.data.records import Scale
from refless.evaluation.uses import AGREES
from refless.registry.errors import UsageError
from refless.registry.signature import Signature
from refless.registry.version import __version__
from refless.report.document import Document, Section, Table
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.wording import number, percent
from refless.stats.planning import MOST, STUDIES, Aim, Goal, ratings_for

NEAR = 0.1  # half width of kappa, TPR and TNR
PARAMETERS = (  # of a plan, the first three of nothing else
    "difference", "base_rate", "minutes_per_rating", "plan", "within", "scale", "seed",
)  # fmt: skip
NOTES = (
    "The difference is unpaired: half of the ratings for each of two systems. It takes fewer if "
    "both answer the same items and their ratings go together. All take more if outputs share "
    f"sources. 'By simulation': the share of {STUDIES} simulated studies that reach the goal."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What one goal takes.

    Attributes:
        aim: the number; within: half the width of its 95 % interval, or the difference to show, in
            the raters' units.
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
    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        goal = f"{self.aim} {'of ' if self.aim == 'difference' else '±'}{number(self.within)}"
        if not self.ratings:
            return goal, f">{MOST:,}", "-", "-", "-"
        failures = "-" if self.failures is None else f"{self.failures:,}"
        minutes = f"{math.ceil(self.minutes):,}"
        return goal, f"{self.ratings:,}", failures, percent(self.reached), minutes


@dataclass(frozen=True, kw_only=True)
class PlanRecord(Record):
    """How many ratings a study needs: what each goal takes, and what that rests on."""

    command: Literal["next"] = "next"
    of: Literal["plan"] = "plan"
    signature: Signed
    goals: tuple[Planned, ...]
    assumed: str


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PlanResult(Result):
    """How many ratings a study needs: what each goal takes, and what that rests on."""

    record = PlanRecord
    goals: tuple[Planned, ...]
    assumed: str

    def _shown(self) -> Document:
        most = max(self.goals, key=lambda goal: goal.ratings)
        _, ratings, _, _, minutes = most.cells
        verdict = f"{ratings} ratings ({minutes} minutes) reach each goal in 4 of 5 studies."
        if beyond := [goal.cells[0] for goal in self.goals if not goal.ratings]:
            verdict = f"More than {MOST:,} ratings are needed for: {', '.join(beyond)}."
        header = ("goal", "ratings", "failures", "by simulation", "minutes")
        table = Table(header=header, rows=tuple(goal.cells for goal in self.goals))
        draw = f"  refless next outputs.jsonl --goal mean -n {most.ratings} -o to-rate.csv"
        goals = Section(title="What each goal takes", table=table)
        then = Section(title="Then", lines=("Draw outputs to rate at random:", draw))
        notes, title = (self.assumed, NOTES), "How many ratings"
        return Document(title=title, verdict=verdict, notes=notes, sections=(goals, then))

    def _rows(self) -> Rows:
        """One mapping a goal."""
        return [asdict(goal) for goal in self.goals]

    def exported(self, tool: str) -> NoReturn:
        """Raises UsageError: a plan has no outputs."""
        raise UsageError(f"{tool}: a plan names no outputs to rate; leave out --plan, name a file")


def check_plan(call: Call, *, plan: bool) -> None:
    """Raises UsageError for parameters that do not go together, or if there is nothing to read."""
    flags = {
        each.name: "FILE" if each.about.argument else each.longest
        for each in call.parameters
        if call.values.get(each.name) is not each.default
    }
    if plan and (surplus := [flag for name, flag in flags.items() if name not in PARAMETERS]):
        raise UsageError(f"--plan reads no file and rates nothing: leave out {', '.join(surplus)}")
    if not plan and (alone := [flags[name] for name in PARAMETERS[:3] if name in flags]):
        raise UsageError(f"{', '.join(alone)}: for --plan alone, which is not there")
    if not plan and "outputs" not in flags:
        raise UsageError("no outputs: name a FILE, or - for standard input; without any: --plan")


def planned(
    within: float | None,
    difference: float | None,
    passing: float,
    minutes: float,
    scale: Scale | None,
    seed: int,
) -> PlanResult:
    """The plan; `within` and the difference are in the raters' units."""
    check_scale(scale)
    span = 1.0 if scale is None else scale[1] - scale[0]
    room = 1.0 if scale else round(2 * min(passing, 1 - passing), 12)
    within = 0.05 if within is None else within / span
    difference = min(0.1, room / 2) if difference is None else difference / span
    if not 0 < within < 0.5:
        what = f"{within * span:g}; half the scale is {span / 2:g}"
        raise UsageError(f"--within must be above 0 and below half the scale, got {what}")
    if not difference < room:
        where = "on the scale" if scale else f"around --base-rate {passing:g}"
        what = f"{difference * span:g}; give less than {room * span:g}"
        raise UsageError(f"--difference has no room {where}: got {what}")
    first: Aim = "mean rating" if scale else "pass rate"
    widths: dict[Aim, float] = {first: within, "kappa": NEAR, "TPR": NEAR, "TNR": NEAR}
    goals = [
        Goal(aim=aim, within=width, passing=passing, agreement=AGREES, scale=on_scale)
        for aim, width in {**widths, "difference": difference}.items()
        for on_scale in [scale is not None and aim in (first, "difference")]
    ]
    signature = Signature("plan").plus(v=__version__, within=within, difference=difference)
    return PlanResult(
        goals=tuple(_planned(goal, span if goal.scale else 1.0, minutes, seed) for goal in goals),
        assumed=_assumed(goals[0]),
        signature=signature.plus(base=passing, scale=scale, seed=seed),
    )


def _planned(goal: Goal, span: float, minutes: float, seed: int) -> Planned:
    """What a goal takes, in the raters' units."""
    n, reached = ratings_for(goal, seed)
    return Planned(
        aim=goal.aim,
        within=goal.within * span,
        ratings=n,
        failures=None if goal.scale else round(n * (1 - goal.passing)),
        reached=reached,
        minutes=n * minutes if n else math.nan,
    )


def _assumed(goal: Goal) -> str:
    """What the numbers rest on."""
    tp, fp, fn, tn = goal.shares.tolist()
    rates = f"(TPR {number(tp / (tp + fn))}, TNR {number(tn / (tn + fp))})"
    judge = f"the judge passes as many, with kappa {goal.agreement:g} {rates}."
    scale = " Ratings have a standard deviation of a quarter of the scale." if goal.scale else ""
    return f"Assumed: {percent(goal.passing)} of outputs pass (--base-rate); {judge}{scale}"
