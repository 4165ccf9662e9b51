"""What to have rated, and what it should bring: the result of `refless next`."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from refless.data.records import Outputs
from refless.evaluation.active_learning import Choice, Goal, Step
from refless.registry.plural import counted
from refless.report.charts import Mark, Series, chart
from refless.report.document import Document, Figure, Key, Section, Table
from refless.report.export import Rows
from refless.report.plot import axis_over
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.tools.raters import argilla_records, label_studio_tasks
from refless.report.wording import (
    about,
    clipped,
    estimator_name,
    number,
    percent,
    sentence,
    with_interval,
)
from refless.stats.assurance import SURE
from refless.stats.intervals import Interval

SHOWN = 10  # outputs on a terminal
ROOM = 46, 200  # characters of a text there, and on a page
WIDTHS = {"id": 14, "system": 12, "text": 0}  # of columns; 0: all the room
MEASURES = {
    "learn": "error of other estimates",
    "mean": "half width of the 95 % interval",
    "compare": "half width of the 95 % interval",
}
BY = {"estimates": "By estimates alone", "ratings and estimates": "By ratings and estimates"}
ROLES = {"id": "ids", "item": "items", "system": "systems", "source": "sources", "text": "texts"}


@dataclass(frozen=True, kw_only=True)
class ToRate:
    """One output to have rated.

    Attributes:
        id, item, system, source: empty where there is no such column.
    """

    id: str
    item: str
    system: str
    source: str
    text: str


@dataclass(frozen=True, kw_only=True)
class NextRecord(Record):
    """What to have rated, and what it should bring; errors and widths in the raters' units.

    Attributes:
        way: telling (the estimator chose), or random.
        n: outputs (with goal compare items) that are chosen; units: that there are to choose from.
        n_outputs, n_rated: outputs without a rating, and rated texts.
        curve: what n ratings (items) should bring: with goal learn the standard deviation of a
            rating from its estimate, else half the width of a 95 % interval. Empty if unknown.
        within: the half width that settles it; null with goal learn.
        needed: ratings (items) that settle it; 0 where all there are do not, or it is unknown.
        difference, interval: second system less the first, as `compare` has it today; by: what it
            is made of; null and blank with other goals.
        shows: further items that should show a difference four times out of five; 0 as of `needed`.
        chance: that all items show one.
        these_items: whether widths are about these alone, and not about others like them.
        chosen: in the order for raters.
    """

    command: Literal["next"] = "next"
    signature: Signed
    goal: Goal
    way: Literal["telling", "random"]
    n: Count
    units: Count
    n_outputs: Count
    n_rated: Count
    curve: tuple[Step, ...]
    within: float
    needed: Count
    systems: tuple[str, ...]
    difference: float
    interval: Interval
    by: str
    shows: Count
    chance: float
    these_items: bool
    chosen: tuple[ToRate, ...]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class NextResult(Result):
    """What to have rated.

    Attributes:
        choice: what is chosen, and what it should bring, in the raters' units.
        outputs: those without a rating.
        n_rated: rated texts.
        then: the command line that reads the ratings.
        columns: names of the columns of the file for raters, by role.
        rating_columns: those to be filled in.
        these_items: whether the question is about these outputs or items alone.
    """

    record = NextRecord
    choice: Choice
    outputs: Outputs
    n_rated: int
    then: str
    columns: dict[str, str]
    rating_columns: tuple[str, ...]
    these_items: bool = False

    def _shown(self) -> Document:
        return self._document(SHOWN, ROOM[0])

    def _whole(self) -> Document:
        return self._document(self.choice.n, ROOM[1])

    def _json(self) -> Record:
        chosen = tuple(ToRate(**row) for row in self._chosen())
        n, these = len(self.outputs), self.these_items
        return self._record(self.choice, n_outputs=n, chosen=chosen, these_items=these)

    def _rows(self) -> Rows:
        """The file for raters: an output each, and no rating yet."""
        there, rating = self._there(), dict.fromkeys(self.rating_columns)
        return [
            {name: row[role] for role, name in there.items()} | rating for row in self._chosen()
        ]

    def exported(self, tool: str) -> Mapping[str, str]:
        """Tasks of Label Studio, or records of Argilla."""
        if tool == "label-studio":
            return {"": label_studio_tasks(self.rows(), self.signature)}
        return {"": argilla_records(self.rows(), self._there())}

    def _there(self) -> dict[str, str]:
        """Names of the columns that there is something in, by role."""
        return {role: name for role, name in self.columns.items() if self._column(role)}

    def _column(self, role: str) -> tuple[str, ...]:
        found: tuple[str, ...] = getattr(self.outputs, ROLES[role])
        return found

    def _chosen(self) -> list[dict[str, Any]]:
        """The chosen outputs by role, empty where there is no such column."""
        columns = {role: self._column(role) for role in ROLES}
        return [
            {role: column[i] if column else "" for role, column in columns.items()}
            for i in self.choice.rows.tolist()
        ]

    def _document(self, most: int, room: int) -> Document:
        found = self.choice
        return Document(
            title="What to have rated next",
            verdict=f"{self._what()} {self._brings()}",
            notes=(*self._settles(), *self._shows(), *self._about()),
            facts=(("To rate", f"{len(found.rows):,}", f"of {len(self.outputs):,} outputs"),),
            sections=(*self._curve(), *self._texts(most, room), self._next()),
        )

    @property
    def _unit(self) -> str:
        return {"learn": "different output", "mean": "output", "compare": "item"}[self.choice.goal]

    @property
    def _more(self) -> str:
        """What goes before numbers of ratings where there are some already."""
        return "more " if self.choice.already else ""

    def _ratings(self, n: int) -> str:
        """`80 ratings`, or `80 items (160 ratings)` of two answers each; `80 more ratings`."""
        if self.choice.goal != "compare":
            return counted(n, f"{self._more}rating")
        each = len(self.choice.rows) / self.choice.n
        return f"{counted(n, f'{self._more}item')} ({counted(round(n * each), 'rating')})"

    def _what(self) -> str:
        """What is chosen, and how."""
        found = self.choice
        both = " and ".join(f"'{clipped(name)}'" for name in found.systems)
        of = f"{found.n:,} of {counted(found.units, self._unit)}"
        of += f" that {both} answered" if both else ""
        if found.way == "telling":
            return f"{of}: those that should teach {estimator_name(self.signature)} most."
        return f"{of}, drawn at random."

    def _brings(self) -> str:
        """What that should bring."""
        found = self.choice
        step = {one.n: one for one in found.curve}.get(found.n)
        if step is None:
            return f"What they will bring cannot be told: {self._unknown()}."
        chosen, random = number(step.chosen), number(step.random)
        if found.goal == "learn":
            falls = f"from {number(found.curve[0].chosen)} to {chosen}"
            return (
                f"The typical error of other estimates should fall {falls} (at random: {random})."
            )
        aim = "the mean rating" if found.goal == "mean" else "the mean difference"
        more = ""
        if found.curve[0].n == 0:
            now = f"now ±{number(found.curve[0].chosen)}"
            beside = f", together with {counted(found.already, self._unit)} rated already ({now})"
            more = beside if found.already else f" ({now})"
        return f"With estimates they should tell {aim} to ±{chosen}{more}."

    def _unknown(self) -> str:
        """Why nothing can be foretold."""
        if not self.n_rated:
            return "nothing is rated yet"
        if self.choice.way == "telling":
            return (
                "held out, estimates are not surely nearer to the ratings than the mean rating is"
            )
        if self.choice.goal == "learn":
            return "this estimator does not know how its errors go together"
        return "of these rated texts the estimator has no errors to go by"

    def _settles(self) -> tuple[str, ...]:
        """How many ratings settle it."""
        found = self.choice
        if found.goal == "learn" or not found.curve:
            return ()
        within = f"±{number(found.within)}"
        if found.curve[0].n == 0 and found.curve[0].chosen <= found.within:
            return (f"It is told to {within} already.",)
        if found.needed:
            return (f"About {self._ratings(found.needed)} settle it to {within}.",)
        every = counted(found.units, self._unit)
        told = f"Ratings of all {every} would not settle it to {within}"
        return (f"{told}, as these are a sample themselves: that takes more {self._unit}s.",)

    def _shows(self) -> tuple[str, ...]:
        """How far the two systems differ by what is known today, and what would show that."""
        found = self.choice
        if math.isnan(found.difference):
            return ()
        first, second = (f"'{clipped(name)}'" for name in found.systems)
        low, high = (
            found.interval if found.difference > 0 else (-one for one in found.interval[::-1])
        )
        side = "above" if found.difference > 0 else "below"
        size = with_interval(abs(found.difference), (low, high))
        by = f"{BY.get(found.by, 'By ratings')} {second} is {size}"
        more = ""
        if found.shows:
            shown = f"{self._ratings(found.shows)} should show a difference four times out of five"
            more = f" About {shown}."
        elif found.chance < SURE:
            every = f"Ratings of all {counted(found.units, self._unit)}"
            more = f" {every} should show a difference with a chance of {percent(found.chance)}."
        return (f"{by} {side} {first}.{more}",)

    def _about(self) -> tuple[str, ...]:
        """Which question the width is of."""
        if self.choice.goal == "learn" or not self.choice.curve:
            return ()
        return (f"The width is about {about(self._unit, these=self.these_items)}.",)

    def _curve(self) -> tuple[Section, ...]:
        """What ratings should bring, from few to many."""
        found = self.choice
        if not found.curve:
            return ()
        what, unit = MEASURES[found.goal], "items" if found.goal == "compare" else "ratings"
        ways = {"chosen so": "c0", "at random": "c1"}
        steps = {"chosen so": [one.chosen for one in found.curve]}
        steps["at random"] = [one.random for one in found.curve]
        if found.way == "random":
            del ways["chosen so"], steps["chosen so"]
        sizes = [one.n for one in found.curve]
        table = Table(
            header=(unit, *ways),
            rows=tuple(
                (f"{n:,}", *map(number, row))
                for n, *row in zip(sizes, *steps.values(), strict=True)
            ),
            numeric=(True,) * (1 + len(ways)),
        )
        settled = not math.isnan(found.within)
        svg = chart(
            axis_over([0.0, *sizes], f"more {unit}"),
            axis_over([0.0, *chain(*steps.values())], sentence(what)),
            f"{sentence(what)} by number of {unit}",
            series=[
                Series(x=sizes, y=steps[way], style=style) for way, style in reversed(ways.items())
            ],
            levels=[Mark(value=found.within, style="c2")],
        )
        keys = [Key(name=way, style=f"line {style}") for way, style in ways.items()]
        keys += [Key(name="settles it", style="mark c2")] if settled else []
        caption = f"{sentence(what)}, in the raters' units."
        figure = Figure(svg=svg, caption=caption, keys=tuple(keys))
        lines = (f"Expected {what}, in the raters' units, after so many {self._more}{unit}:",)
        title = "What ratings should bring"
        return (Section(title=title, lines=lines, figures=(figure,), table=table),)

    def _texts(self, most: int, room: int) -> tuple[Section, ...]:
        """The first outputs to rate."""
        shown = self._chosen()[:most]
        there = {role: name for role, name in self._there().items() if role in WIDTHS}
        rows = tuple(
            tuple(
                clipped(row[role], width or room) for role, width in WIDTHS.items() if role in there
            )
            for row in shown
        )
        table = Table(header=tuple(role for role in WIDTHS if role in there), rows=rows)
        more = len(self.choice.rows) - len(shown)
        rest = (Section(lines=(f"{more} more: -o to-rate.csv writes all.",)),) if more > 0 else ()
        return (Section(title="To rate", table=table), *rest)

    def _next(self) -> Section:
        """What to do with them."""
        names = " and ".join(f"'{clipped(name)}'" for name in self.rating_columns)
        told = f"Write them with -o to-rate.csv, have the column {names} filled in, then:"
        return Section(title="Then", lines=(told, f"  {self.then}"))
