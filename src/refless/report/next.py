"""What to have rated, and what it should bring: the result of `refless next`."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from refless.nouns import counted
from refless.records import Outputs
from refless.report.charts import Series, curves
from refless.report.document import Document, Figure, Key, Section, Table
from refless.report.export import Rows
from refless.report.plot import axis_over
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.wording import clipped, estimator_name, number, sentence
from refless.studies.choosing import Choice, Goal, Step

SHOWN = 10  # outputs on a terminal
ROOM = 46, 200  # characters of a text there, and on a page
ROLES = {"id": "ids", "item": "items", "system": "systems", "source": "sources", "text": "texts"}
WHERE_LESS = "higher where estimates are less sure"


@dataclass(frozen=True, kw_only=True)
class ToRate:
    """One output to have rated.

    Attributes:
        id, item, system, source: empty where there is no such column.
        probability: its chance to be drawn; null where it was chosen and not drawn.
    """

    id: str
    item: str
    system: str
    source: str
    text: str
    probability: float


@dataclass(frozen=True, kw_only=True)
class NextRecord(Record):
    """What to have rated, and what it should bring; errors and widths in the raters' units.

    Attributes:
        way: telling (the estimator chose), unequal chances, or random.
        n: outputs (with goal compare items) that are chosen; units: that there are to choose from.
        n_outputs, n_rated: outputs without a rating, and rated texts.
        curve: what n ratings (items) should bring: with goal learn the standard deviation of a
            rating from its estimate, else half the width of a 95 % interval. Empty if unknown.
        within: the half width that settles it; null with goal learn.
        needed: ratings (items) that settle it; 0 where all there are do not, or it is unknown.
        difference: second system less the first, by estimates alone; null with other goals.
        shows: items that show it 4 times in 5, if it is right; 0 as of `needed`.
        chosen: in the order for raters.
    """

    command: Literal["next"] = "next"
    signature: Signed
    goal: Goal
    way: Literal["telling", "unequal", "random"]
    n: Count
    units: Count
    n_outputs: Count
    n_rated: Count
    curve: tuple[Step, ...]
    within: float
    needed: Count
    systems: tuple[str, ...]
    difference: float
    shows: Count
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
    """

    record = NextRecord
    choice: Choice
    outputs: Outputs
    n_rated: int
    then: str
    columns: dict[str, str]

    def document(self) -> Document:
        """What the terminal shows."""
        return self._document(SHOWN, ROOM[0])

    def report(self) -> Document:
        """The HTML report, with all that is chosen."""
        return self._document(self.choice.n, ROOM[1])

    def json(self) -> Record:
        """What `--format json` prints."""
        chosen = tuple(ToRate(**row) for row in self._chosen())
        return self._record(self.choice, n_outputs=len(self.outputs), chosen=chosen)

    def rows(self) -> Rows:
        """The file for raters: an output each, its chance if that is known, and no rating yet."""
        there = {role: name for role, name in self.columns.items() if self._column(role)}
        if not np.isnan(self.choice.probability).all():
            there["probability"] = "probability"
        rating = {self.columns["rating"]: None}
        return [
            {name: row[role] for role, name in there.items()} | rating for row in self._chosen()
        ]

    def _column(self, role: str) -> tuple[str, ...]:
        found: tuple[str, ...] = getattr(self.outputs, ROLES[role]) if role in ROLES else ()
        return found

    def _chosen(self) -> list[dict[str, Any]]:
        """The chosen outputs by role, empty where there is no such column."""
        columns = {role: self._column(role) for role in ROLES}
        chances = self.choice.probability.tolist()
        return [
            {
                **{role: column[i] if column else "" for role, column in columns.items()},
                "probability": chance,
            }
            for i, chance in zip(self.choice.rows.tolist(), chances, strict=True)
        ]

    def _document(self, most: int, room: int) -> Document:
        found = self.choice
        return Document(
            title="What to have rated next",
            verdict=" ".join([self._what(), *self._brings()]),
            sections=(*self._curve(), *self._texts(most, room), self._next()),
            signatures=(str(self.signature),),
            command=self.command,
            facts=(("To rate", f"{len(found.rows):,}", f"of {len(self.outputs):,} outputs"),),
        )

    def _unit(self, n: int) -> str:
        """`80 ratings`, or `80 items (160 ratings)` of two answers each."""
        if self.choice.goal != "compare":
            return counted(n, "rating")
        return f"{counted(n, 'item')} ({counted(2 * n, 'rating')})"

    def _what(self) -> str:
        """What is chosen, and how."""
        found = self.choice
        what = f"{found.n:,} of {counted(found.units, 'different output')}"
        if found.goal == "mean":
            what = f"{found.n:,} of {counted(found.units, 'output')}"
        if found.goal == "compare":
            first, second = (f"'{clipped(name)}'" for name in found.systems)
            what = (
                f"{found.n:,} of {counted(found.units, 'item')} that {first} and {second} answered"
            )
        if found.way == "telling":
            return f"{what}: those whose ratings should teach {self._estimator()} most."
        if found.way == "random":
            return f"{what}, drawn at random."
        low, high = found.probability.min(), found.probability.max()
        chances = f"with chances from {number(low)} to {number(high)}, {WHERE_LESS}"
        return f"{what}, drawn {chances}."

    def _estimator(self) -> str:
        return estimator_name(self.signature)

    def _brings(self) -> tuple[str, ...]:
        """What that should bring."""
        found = self.choice
        step = {one.n: one for one in found.curve}.get(found.n)
        if step is None:
            return (self._unknown(),)
        chosen, random = number(step.chosen), number(step.random)
        if found.goal == "learn":
            now = number(found.curve[0].chosen)
            falls = f"from {now} to {chosen} (as many at random: to {random})"
            return (f"They should lower the typical error of the other estimates {falls}.",)
        aim = "the mean rating" if found.goal == "mean" else "the mean difference"
        beside = f" (as many at random: {random})" if found.way == "unequal" else ""
        return (f"With estimates they should tell {aim} to ±{chosen}{beside}.", *self._settles())

    def _unknown(self) -> str:
        if not self.n_rated:
            return "Nothing is rated yet, so what they will bring cannot be told."
        if self.choice.goal == "learn" and self.choice.way == "telling":
            return (
                "What they will bring cannot be told yet: held out, estimates are not surely "
                "nearer to the ratings than the mean rating is."
            )
        return "What they will bring cannot be told."

    def _settles(self) -> tuple[str, ...]:
        """How many ratings settle it; what the estimates say of the difference."""
        found = self.choice
        within = f"±{number(found.within)}"
        if found.needed:
            told = f"About {self._unit(found.needed)} settle it to {within}."
        else:
            every = "items" if found.goal == "compare" else "outputs"
            told = (
                f"Ratings of all {found.units:,} {every} would not settle it to {within}: they are "
                f"a sample themselves, and that takes more {every}."
            )
        if found.goal == "mean":
            return (told,)
        first, second = (f"'{clipped(name)}'" for name in found.systems)
        gap = number(abs(found.difference))
        side = "above" if found.difference > 0 else "below"
        shows = (
            f"about {self._unit(found.shows)} show it 4 times in 5"
            if found.shows
            else f"all {found.units:,} items are too few to show it 4 times in 5"
        )
        return (
            told,
            f"By estimates alone {second} is {gap} {side} {first}; if that is right, {shows}.",
        )

    def _curve(self) -> tuple[Section, ...]:
        """What ratings should bring, from few to many."""
        found = self.choice
        if not found.curve:
            return ()
        learning = found.goal == "learn"
        what = "error of other estimates" if learning else "half width of the 95 % interval"
        unit = "items" if found.goal == "compare" else "ratings"
        ways = {"at random": ("random", "c1")}
        if found.way != "random":
            ways = {"chosen so": ("chosen", "c0"), **ways}
        sizes = [one.n for one in found.curve]
        columns = {
            way: [getattr(one, name) for one in found.curve] for way, (name, _) in ways.items()
        }
        table = Table(
            header=(unit, *ways),
            rows=tuple(
                (f"{n:,}", *map(number, row))
                for n, *row in zip(sizes, *columns.values(), strict=True)
            ),
            numeric=(True,) * (1 + len(ways)),
        )
        series = [Series(x=sizes, y=columns[way], style=style) for way, (_, style) in ways.items()]
        values = [value for one in series for value in one.y]
        svg = curves(
            series,
            axis_over([0.0, *sizes], f"more {unit}"),
            axis_over(values if learning else [0.0, *values], sentence(what)),
            f"{sentence(what)} by number of {unit}",
        )
        keys = tuple(Key(name=way, style=style) for way, (_, style) in ways.items())
        figure = Figure(svg=svg, caption=f"{sentence(what)}, in the raters' units.", keys=keys)
        lines = (f"Expected {what}, in the raters' units, after so many {unit}:",)
        return (
            Section(title="What ratings should bring", lines=lines, figures=(figure,), table=table),
        )

    def _texts(self, most: int, room: int) -> tuple[Section, ...]:
        """The first outputs to rate."""
        shown = self._chosen()[:most]
        with_system = bool(self.outputs.systems) and "system" in self.columns
        drawn = not np.isnan(self.choice.probability).all()
        header = (
            "id",
            *(["system"] if with_system else []),
            *(["chance"] if drawn else []),
            "text",
        )
        rows = tuple(
            (
                clipped(row["id"], 14),
                *([clipped(row["system"], 12)] if with_system else []),
                *([number(row["probability"])] if drawn else []),
                clipped(row["text"], room),
            )
            for row in shown
        )
        numeric = tuple(name == "chance" for name in header)
        more = len(self.choice.rows) - len(shown)
        rest = (Section(lines=(f"{more} more: -o to-rate.csv writes all.",)),) if more > 0 else ()
        table = Table(header=header, rows=rows, numeric=numeric)
        return (Section(title="To rate", table=table), *rest)

    def _next(self) -> Section:
        """What to do with them."""
        told = "Write them with -o to-rate.csv, have the column rating filled in, then:"
        return Section(title="Then", lines=(told, f"  {self.then}"))
