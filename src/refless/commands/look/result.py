"""Columns and answers of a file: the result of `refless FILE`."""

from dataclasses import dataclass, fields
from typing import Any, Literal

from refless.data.records import Scale
from refless.data.tables.overview import Overview, SeenColumn
from refless.registry.dialect import called
from refless.registry.plural import counted
from refless.report.document import Card, Document, Section, SideBySide, State, Table
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import Result
from refless.report.wording import clipped, percent

EXAMPLE = 28  # columns of a terminal
ROLE_NAMES = {
    "text": "output",
    "source": "input",
    "system": "version",
    "rating": "people's rating",
    "annotator": "rater",
    "score": "judge's score",
    "": "not read",
}


@dataclass(frozen=True, kw_only=True)
class AnswerRecord:
    """One question: its answer and state, and the command that goes deeper."""

    topic: str
    question: str
    state: State
    answer: str
    rests: str
    advice: str
    command: str


@dataclass(frozen=True, kw_only=True)
class LookRecord(Record):
    """Columns and answers of a file.

    Attributes:
        n_rows: rows; columns: each with the role it plays, "" if nothing reads it.
        scale: of the ratings; guessed: whether the ratings alone tell it.
        answers: a question each.
    """

    command: Literal["look"] = "look"
    signature: Signed
    n_rows: Count
    columns: tuple[SeenColumn, ...]
    scale: Scale | None
    guessed: bool
    answers: tuple[AnswerRecord, ...]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LookResult(Result):
    """Columns and answers of a file.

    Attributes:
        seen: its columns; scale, guessed: as in `LookRecord`.
        cards: a question each, with its answer.
        outputs: the texts side by side, or None.
        file: the file as people call it.
    """

    record = LookRecord
    signs = False
    seen: Overview
    scale: Scale | None
    guessed: bool
    cards: tuple[Card, ...]
    outputs: SideBySide | None
    file: str

    def _shown(self) -> Document:
        return Document(
            title=self.file,
            sections=(self._read(),),
            cards=self.cards,
            outputs=self.outputs,
        )

    def _read(self) -> Section:
        """The table of what was read."""
        rows = tuple(
            (
                ROLE_NAMES.get(column.role, column.role),
                column.name or "of both texts",
                percent(column.missing) if column.missing else "none",
                clipped(column.example, EXAMPLE),
            )
            for column in self.seen.columns
        )
        title = f"What was read: {counted(self.seen.n_rows, 'row')}"
        named = "column" if self.seen.columns[0].name else ""
        if named:
            title += f", {counted(len(self.seen.columns), 'column')}"
        header = ("role", named, "missing", "example")
        table = Table(header=header, rows=rows, numeric=(False, False, True, False))
        return Section(title=title, lines=self._scale(), table=table)

    def _scale(self) -> tuple[str, ...]:
        if self.scale is None:
            return ()
        low, high = self.scale
        taken = f", taken from the ratings; {called('scale')} changes it"
        return (f"Scale: {low:g} to {high:g}{taken if self.guessed else ''}.",)

    def _json(self) -> Record:
        answers = [AnswerRecord(**row) for row in self._rows()]
        return self._record(self.seen, answers=answers)

    def _rows(self) -> Rows:
        """One mapping a question."""
        return [_row(card) for card in self.cards]


def _row(card: Card) -> dict[str, Any]:
    names = [one.name for one in fields(AnswerRecord)]
    return {name: getattr(card, name) for name in names}
