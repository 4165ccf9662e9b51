"""The result of `refless next`: outputs to have rated, and what their ratings should bring."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from refless.commands.compare.document import of_pair
from refless.commands.next.active_learning import Choice, Goal, Step
from refless.commands.next.best import race_section
from refless.commands.next.raters_file import argilla_records, label_studio_tasks
from refless.data.records import Outputs, picked
from refless.evaluation.comparing import Pair
from refless.evaluation.racing import Race, confidence_said, standing_said
from refless.registry.plural import counted
from refless.report.document import Document, Section, Table
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.wording import (
    about,
    clipped,
    estimator_name,
    number,
    percent,
)
from refless.stats.assurance import SURE

SHOWN = 10  # outputs on a terminal
ROOM = 46, 200  # characters of a text there, and on a page
WIDTHS = {"id": 14, "system": 12, "text": 0}  # of columns; 0: all the room
ROLES = {
    "id": "ids",
    "item": "items",
    "system": "systems",
    "source": "sources",
    "text": "texts",
}


@dataclass(frozen=True, kw_only=True)
class ToRate:
    """One output to have rated.

    Attributes:
        id, system, source: empty where there is no such column; item: also where the source is all
            that names it.
    """

    id: str
    item: str
    system: str
    source: str
    text: str


@dataclass(frozen=True, kw_only=True)
class NextRecord(Record):
    """Outputs to have rated, and what it should bring; widths in the raters' units.

    Attributes:
        way: telling (the estimator chose), or random.
        n: outputs (with goal compare items) that are chosen; units: that there are to choose from.
        n_outputs, n_rated: outputs without a rating, and rated texts.
        design: what belongs together among all outputs, rated or not.
        curve: half the width of a 95 % interval after n ratings (items), with the range in which it
            will lie in nine of ten cases; empty with goal learn, and if it is unknown.
        within: the half width that settles it; null with goal learn.
        needed: ratings (items) that settle it; null where all there are do not, or it is unknown.
        pair: the two systems as `compare` has them today; null with other goals.
        race: which systems are left with goal best; null with other goals.
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
    design: str
    curve: tuple[Step, ...]
    within: float
    needed: Count | None
    systems: tuple[str, ...]
    pair: Pair | None
    race: Race | None
    these_items: bool
    chosen: tuple[ToRate, ...]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class NextResult(Result):
    """Outputs to have rated.

    Attributes:
        choice: what is chosen, and what it should bring, in the raters' units.
        outputs: those without a rating.
        n_rated: rated texts.
        design: what belongs together among all outputs, in a sentence.
        then: the command line that reads the ratings.
        columns: names of the columns of the file for raters, by role.
        rating_columns: those to be filled in.
        these_items: whether the question is about these outputs or items alone.
    """

    record = NextRecord
    choice: Choice
    outputs: Outputs
    n_rated: int
    design: str
    then: str
    columns: dict[str, str]
    rating_columns: tuple[str, ...]
    these_items: bool = False

    def _shown(self) -> Document:
        return self._document(SHOWN, ROOM[0])

    def _whole(self) -> Document:
        return self._document(self.choice.n, ROOM[1])

    def _json(self) -> Record:
        chosen = []
        for row in self._chosen():
            named = {**row, "item": "" if row["item"] == row["source"] else row["item"]}
            chosen.append(ToRate(**named))
        n = len(self.outputs)
        these = self.these_items
        return self._record(
            self.choice, n_outputs=n, chosen=tuple(chosen), these_items=these
        )

    def _rows(self) -> Rows:
        """The file for raters: an output each, and no rating yet."""
        names = self._names()
        rating = dict.fromkeys(self.rating_columns)
        rows = []
        for output in self._chosen():
            row = {name: output[role] for role, name in names.items()}
            rows.append(row | rating)
        return rows

    def exported(self, tool: str) -> str:
        """Tasks of Label Studio, or records of Argilla."""
        if tool == "label-studio":
            return label_studio_tasks(self.rows(), self.signature)
        return argilla_records(self.rows(), self._names())

    def _names(self) -> dict[str, str]:
        """Names of the columns that are not empty, by role."""
        return {
            role: name
            for role, name in self.columns.items()
            if getattr(self.outputs, ROLES[role])
        }

    def _chosen(self) -> list[dict[str, Any]]:
        """The chosen outputs by role, empty if there is no such column."""
        rows = self.choice.rows
        empty = ("",) * len(rows)
        columns = [
            picked(getattr(self.outputs, name), rows) or empty
            for name in ROLES.values()
        ]
        return [
            dict(zip(ROLES, cells, strict=True)) for cells in zip(*columns, strict=True)
        ]

    def _document(self, most: int, room: int) -> Document:
        race = self.choice.race
        verdict = f"{self._selection()} {self._brings()}"
        notes = [] if race is None else [confidence_said(race)]
        notes += [*self._settles(), *self._shows(), *self._about(), self.design]
        sections = [] if race is None else [race_section(race)]
        sections += [*self._curve(), *self._to_rate(most, room)]
        count = f"{len(self.choice.rows):,}"
        every = f"of {len(self.outputs):,} outputs"
        return Document(
            title="What to have rated next",
            verdict=verdict.strip(),
            notes=tuple(notes),
            facts=(("To rate", count, every),),
            sections=tuple(sections),
        )

    @property
    def _unit(self) -> str:
        units = {
            "learn": "different output",
            "mean": "output",
            "compare": "item",
            "best": "item",
        }
        return units[self.choice.goal]

    @property
    def _more(self) -> str:
        """The word "more" before numbers of ratings, if there are some already."""
        return "more " if self.choice.already else ""

    def _ratings(self, n: int) -> str:
        """`80 ratings`, or `80 items (160 ratings)` of two answers each; `80 more ratings`."""
        if self.choice.goal != "compare":
            return counted(n, f"{self._more}rating")
        size = len(self.choice.rows) / self.choice.n
        items = counted(n, f"{self._more}item")
        return f"{items} ({counted(round(n * size), 'rating')})"

    def _selection(self) -> str:
        """The choice and its method, in words."""
        choice = self.choice
        if choice.race is not None:
            return self._standing(choice.race)
        both = " and ".join(f"'{clipped(name)}'" for name in choice.systems)
        units = f"{choice.n:,} of {counted(choice.units, self._unit)}"
        units += f" that {both} answered" if both else ""
        if choice.way == "telling":
            return f"{units}: those that should teach {estimator_name(self.signature)} most."
        return f"{units}, drawn at random."

    def _standing(self, race: Race) -> str:
        """The systems that are left in the race, and the ratings that are asked of each."""
        if not len(self.choice.rows):
            return standing_said(race)
        ratings = counted(len(self.choice.rows), "rating")
        items = counted(self.choice.n, f"{self._more}item")
        return (
            f"{standing_said(race)} Rate {items} of each ({ratings}), drawn at random."
        )

    def _brings(self) -> str:
        """The interval that the ratings should bring, in words."""
        choice = self.choice
        learns = choice.goal == "learn" and choice.way == "telling"
        if choice.race is not None or learns:
            return ""
        step = {step.n: step for step in choice.curve}.get(choice.n)
        if step is None:
            return f"What they will bring cannot be told: {self._unknown()}."
        first = choice.curve[0]
        aim = "the mean rating" if choice.goal == "mean" else "the mean difference"
        now = ""
        if first.n == 0:
            now = f" (now ±{number(first.width)})"
            if choice.already:
                rated = counted(choice.already, self._unit)
                now = f", together with {rated} rated already{now}"
        width = f"±{number(step.width)}"
        if step.n and number(step.low) != number(step.high):
            width += f" ({number(step.low)} to {number(step.high)})"
        return f"With estimates they should tell {aim} to {width}{now}."

    def _unknown(self) -> str:
        """The reason why nothing can be foretold."""
        if not self.n_rated:
            return "nothing is rated yet"
        if self.choice.goal == "learn":
            return "this estimator does not know how its errors go together"
        return "the estimator has no held-out errors of these rated texts"

    def _settles(self) -> tuple[str, ...]:
        """The number of ratings that settle it, in words."""
        choice = self.choice
        if not choice.curve:
            return ()
        within = f"±{number(choice.within)}"
        first = choice.curve[0]
        if first.n == 0 and first.width <= choice.within:
            return (f"It is known to {within} already.",)
        if choice.needed:
            return (f"About {self._ratings(choice.needed)} settle it to {within}.",)
        units = counted(choice.units, self._unit)
        every = f"Ratings of all {units} would not settle it to {within}"
        return (
            f"{every}, as these are a sample themselves: that takes more {self._unit}s.",
        )

    def _shows(self) -> tuple[str, ...]:
        """The difference of the two systems by today's ratings, and how many would show it."""
        pair = self.choice.pair
        if pair is None or math.isnan(pair.difference.value):
            return ()
        by = of_pair(pair)
        if pair.further:
            ratings = self._ratings(pair.further)
            by += f" About {ratings} should show a difference four times out of five."
        elif pair.chance < SURE:
            every = f"Ratings of all {counted(self.choice.units, self._unit)}"
            by += f" {every} should show a difference with a chance of {percent(pair.chance)}."
        return (by,)

    def _about(self) -> tuple[str, ...]:
        """The question that the width answers, in words."""
        if not self.choice.curve:
            return ()
        return (f"The width is about {about(self._unit, these=self.these_items)}.",)

    def _curve(self) -> tuple[Section, ...]:
        """A table of expected widths, from few ratings to many."""
        choice = self.choice
        if not choice.curve:
            return ()
        unit = "items" if choice.goal == "compare" else "ratings"
        rows = tuple(
            (f"{step.n:,}", *map(number, (step.width, step.low, step.high)))
            for step in choice.curve
        )
        header = (unit, "at random", "from", "to")
        table = Table(header=header, rows=rows, numeric=(True,) * 4)
        after = f"in the raters' units, after so many {self._more}{unit}:"
        lines = (
            f"Expected half width of the 95 % interval, {after}",
            "Nine of ten will lie between the last two columns.",
        )
        title = "What ratings should bring"
        return (Section(title=title, lines=lines, table=table),)

    def _to_rate(self, most: int, room: int) -> tuple[Section, ...]:
        """The outputs to rate and what to do with them; nothing if none is asked for."""
        if not len(self.choice.rows):
            return ()
        return (*self._texts(most, room), self._next())

    def _texts(self, most: int, room: int) -> tuple[Section, ...]:
        """The first outputs to rate."""
        roles = tuple(role for role in WIDTHS if role in self._names())
        rows = []
        for output in self._chosen()[:most]:
            cells = [clipped(output[role], WIDTHS[role] or room) for role in roles]
            rows.append(tuple(cells))
        numeric = (False,) * len(roles)
        table = Table(header=roles, rows=tuple(rows), numeric=numeric)
        section = Section(title="To rate", table=table)
        more = len(self.choice.rows) - len(rows)
        if more <= 0:
            return (section,)
        return (section, Section(lines=(f"{more} more: -o to-rate.csv writes all.",)))

    def _next(self) -> Section:
        """The next steps with the outputs to rate."""
        names = " and ".join(f"'{clipped(name)}'" for name in self.rating_columns)
        step = (
            f"Write them with -o to-rate.csv, have the column {names} filled in, then:"
        )
        return Section(title="Then", lines=(step, f"  {self.then}"))
