"""The result of `refless next`: outputs to have rated, and what their ratings should bring."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from refless.commands.calls import TO_RATE
from refless.commands.compare.document import of_pair
from refless.commands.next.active_learning import Choice, Goal, Step
from refless.commands.next.best import race_section
from refless.commands.next.card import UNITS, card_of
from refless.commands.next.raters_file import argilla_records, label_studio_tasks
from refless.commands.populations import about
from refless.commands.side_by_side import side_by_side
from refless.data.records import Outputs, picked
from refless.evaluation.comparing import Pair
from refless.evaluation.further_items import further_of
from refless.evaluation.racing import Race, confidence_said
from refless.registry.dialect import called, saved, saving
from refless.registry.signature import digest_of
from refless.report.document import Card, Document, Section, Table, folded
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.wording import clipped, number

WIDER = "then the interval is wider than foretold, which is for one look"
SHOWN = 10  # outputs on a terminal
ROOM = 46  # characters of a text there
BRIEF = 80  # characters of a source in JSON
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
        id, system: empty where there is no such column.
        item: its name; a digest where its source is all that names it.
        source: the first 80 characters; the rows have it whole.
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
        writes: the command line that writes the file for raters; then: the one that reads the
            ratings.
        columns: names of the columns of the file for raters, by role.
        rating_columns: those to be filled in.
        these_items: whether the question is about these outputs or items alone.
        chance: of each chosen item to be drawn, for the file for raters; None if all ratings count.
    """

    record = NextRecord
    choice: Choice
    outputs: Outputs
    n_rated: int
    design: str
    writes: str
    then: str
    columns: dict[str, str]
    rating_columns: tuple[str, ...]
    these_items: bool = False
    chance: float | None = None

    def _json(self) -> Record:
        chosen = [ToRate(**row | _brief(row)) for row in self._chosen()]
        n = len(self.outputs)
        these = self.these_items
        return self._record(
            self.choice, n_outputs=n, chosen=tuple(chosen), these_items=these
        )

    def _rows(self) -> Rows:
        """The file for raters: an output each, and no rating yet."""
        names = self._names()
        rating: dict[str, Any] = dict.fromkeys(self.rating_columns)
        if self.chance is not None:
            rating["probability"] = self.chance
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

    def card(self) -> Card:
        """The answer with its picture."""
        advice = command = ""
        is_mean = self.choice.goal == "mean"
        systems = sorted({*self.outputs.systems}) if is_mean else []
        if len(self.choice.rows):
            names = " and ".join(f"'{clipped(name)}'" for name in self.rating_columns)
            file = saved(".csv", ".jsonl")
            each = " (for the mean of each)" if len(systems) > 1 else ""
            if (looked := called("looks", "any")) in self.then:
                each = f" ({looked}: today's ratings may have been looked at, {WIDER})"
            command = self.then.replace(TO_RATE, file or TO_RATE)
            advice = f"have {names} in {file} filled in, then{each}:"
            judged = ", and the last for the judge" if "\n" in self.then else ""
            if not file:
                command = f"{self.writes}\n{command}"
                advice = (
                    f"write {TO_RATE} with the first line, have {names} filled in, then use the "
                    f"second{each}{judged}:"
                )
        rated = bool(self.n_rated)
        return card_of(self.choice, advice, command, systems, rated=rated)

    def _shown(self) -> Document:
        race = self.choice.race
        notes = [] if race is None else [confidence_said(race)]
        notes += [*self._shows(), *self._about(), self.design]
        sections = [] if race is None else [race_section(race)]
        sections += self._curve()
        return Document(
            title="What to have rated next",
            cards=(self.card(),),
            notes=tuple(notes),
            sections=(*self._texts(), *folded(sections)),
        )

    def _whole(self) -> Document:
        """The same with the chosen outputs whole, an item a row."""
        brief = self._shown()
        chosen = self.outputs.take(self.choice.rows)
        unknown = np.full(len(chosen), math.nan)
        order = np.arange(len(chosen))
        shown = side_by_side(
            chosen, unknown, unknown, order, percent=False, doubt=False
        )
        sections = tuple(section for section in brief.sections if section.folded)
        return replace(brief, outputs=shown, sections=sections)

    @property
    def _unit(self) -> str:
        return UNITS[self.choice.goal]

    @property
    def _more(self) -> str:
        """The word "more" before numbers of ratings, if there are some already."""
        return "more " if self.choice.already else ""

    def _shows(self) -> tuple[str, ...]:
        """The difference of the two systems by today's ratings, and how many more would show it."""
        pair = self.choice.pair
        if pair is None or math.isnan(pair.difference.value):
            return ()
        further = further_of(pair, these=self.these_items).said
        return (of_pair(pair), f"To show the difference: {further}")

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

    def _texts(self) -> tuple[Section, ...]:
        """The first outputs to rate; nothing if none is asked for."""
        if not len(self.choice.rows):
            return ()
        roles = tuple(role for role in WIDTHS if role in self._names())
        rows = []
        for output in self._chosen()[:SHOWN]:
            cells = [clipped(output[role], WIDTHS[role] or ROOM) for role in roles]
            rows.append(tuple(cells))
        numeric = (False,) * len(roles)
        table = Table(header=roles, rows=tuple(rows), numeric=numeric)
        section = Section(title="To rate", table=table)
        more = len(self.choice.rows) - len(rows)
        if more <= 0:
            return (section,)
        file = saved(".csv", ".jsonl")
        where = f"{file} has all" if file else f"{saving(TO_RATE)} writes all"
        return (section, Section(lines=(f"{more} more: {where}.",)))


def _brief(row: dict[str, Any]) -> dict[str, str]:
    """An item and its source in few characters, however long the source is."""
    item = row["item"]
    source = row["source"]
    if item and item == source:
        item = digest_of([[source]])
    return {"item": item, "source": clipped(source, BRIEF)}
