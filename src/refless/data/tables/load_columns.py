"""Rows of files or of memory -> columns of values, each row with its place."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from typing import NamedTuple

from refless.data.records import Scale
from refless.data.tables.cells import each_once
from refless.data.tables.columns import Keep, outer, with_nested
from refless.data.tables.excel import sheets_of
from refless.data.tables.exports.format import exported, items, text_in, unpacked
from refless.data.tables.exports.preferences import NAME, PAIRS, is_pairs
from refless.data.tables.formats import long_cells, source_of
from refless.data.tables.memory import first_row, paths_of, source_in_memory
from refless.data.tables.reading import (
    GLIMPSE,
    ImportNotes,
    Numbered,
    NumberedRows,
    Reading,
    Row,
    Source,
)
from refless.data.tables.roles import ROLES, Columns
from refless.data.tables.sides import lengthened, with_sides
from refless.data.tables.spellings import folded
from refless.data.tables.streams import Place
from refless.registry.arrays import Names
from refless.registry.errors import InputError

_CHUNK = 8192
MODELS = {"assistant", "gpt", "model", "bot", "ai", "agent", "chatbot"}  # in chats


class FilePart(NamedTuple):
    """A file: its first row, its name, whether it has lines, and the names of its columns."""

    first: int
    name: str
    lines: bool
    columns: set[str]


@dataclass(slots=True, eq=False, kw_only=True)
class Gathered:
    """The wanted columns of all files, or of what lies in memory.

    Attributes:
        skip_bad: whether bad rows are remembered; else the first is raised.
        bad: what is wrong with each bad row.
        columns: name -> [n] values as the format gives them; None if a row has none.
        glimpse: the same of the first `GLIMPSE` rows, of columns that are not wanted.
        lines: [n] line on which the row starts, or its number, counted from 1 in its own file.
        parts: the files.
        header: names of all columns, in file order, wanted or not.
        known: roles whose columns the formats of all files know.
        notes: what exports of tools say, and the file of each.
        sentences: on how files were read, and the file of each.
        conditional: columns by which rows were left out.
        dimensions: what was rated, by name, and the number of ratings.
    """

    skip_bad: bool
    bad: dict[int, InputError] = field(default_factory=dict)
    columns: dict[str, list[object]] = field(default_factory=dict)
    glimpse: dict[str, list[object]] = field(default_factory=dict)
    lines: array[int] = field(default_factory=lambda: array("q"))
    parts: list[FilePart] = field(default_factory=list)
    header: dict[str, None] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    notes: list[tuple[str, ImportNotes]] = field(default_factory=list)
    sentences: list[tuple[str, str]] = field(default_factory=list)
    conditional: set[str] = field(default_factory=set)
    dimensions: Counter[str] = field(default_factory=Counter)

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def name(self) -> str:
        """The names of the files, for messages."""
        return ", ".join(part.name for part in self.parts)

    @property
    def as_versions(self) -> str:
        """The remedy for several files that are of one version each; "" for one file."""
        line = f"; of one version each file: refless compare {self.name.replace(', ', ' ')}"
        return line if len(self.parts) > 1 else ""

    @property
    def scale(self) -> Scale | None:
        """Lowest and highest rating, if all files say the same."""
        scales = {notes.scale for _, notes in self.notes}
        return (
            scales.pop()
            if len(scales) == 1 and len(self.notes) == len(self.parts)
            else None
        )

    def seen(self, name: str) -> Sequence[object]:
        """The cells of a column in the first rows, wanted or not."""
        return self.all(name)[:GLIMPSE]

    def all(self, name: str) -> Sequence[object]:
        """The cells of a wanted column, or of another one those of the first rows."""
        return self.columns.get(name, self.glimpse.get(name, []))

    def fits(self, role: str, name: str, chosen: Mapping[str, Names]) -> bool:
        """Whether a column with a usual name of a role may be it, beside roles chosen before."""
        if folded(name) not in ROLES[role].names:
            return True
        about = [chosen.get(place, ()) for place in ("system", "item", "source")]
        groups = [*map(self.seen, chain(*about))]
        return ROLES[role].suits(folded(name), self.seen(name), groups)

    def part(self, row: int) -> FilePart:
        """The file of a row."""
        return self.parts[
            bisect_right(self.parts, row, key=lambda part: part.first) - 1
        ]

    def names_of(self, rows: Iterable[int]) -> tuple[str, ...]:
        """The file of each of some rows; empty of one file."""
        one_file = len(self.parts) < 2
        return () if one_file else tuple(self.part(row).name for row in rows)

    @property
    def files(self) -> list[int]:
        """[n] the place of each row's file among the files."""
        begins = [part.first for part in self.parts]
        places: list[int] = []
        for place, (begin, end) in enumerate(pairwise([*begins, len(self)])):
            places += [place] * (end - begin)
        return places

    def place(self, row: int, beside: int) -> str:
        """`line 3` or `row 3`, with the file if another row is not in it."""
        part = self.part(row)
        place = f"{'line' if part.lines else 'row'} {self.lines[row]}"
        return place if part is self.part(beside) else f"{part.name}, {place}"

    def fault(
        self, row: int, problem: str, remedy: str, column: str | None = None
    ) -> InputError:
        """An error with the row's own place."""
        part = self.part(row)
        place = {"line" if part.lines else "row": self.lines[row]}
        return InputError(
            problem, remedy=remedy, path=part.name, column=column, **place
        )

    def refuse(
        self, row: int, problem: str, remedy: str, column: str | None = None
    ) -> None:
        """Raises for a bad row, or remembers it; the first fault of a row counts."""
        if row in self.bad:
            return
        fault = self.fault(row, problem, remedy, column)
        if not self.skip_bad:
            raise fault
        self.bad[row] = fault

    def checked(self, column: str, check: Callable[[object], str]) -> list[str]:
        """[n] the cells of a column as strings; "" if the check refuses one: its row is bad."""
        cells = self.columns.get(column, [None] * len(self))
        with suppress(InputError):
            return each_once(check, cells)
        values: list[str] = []
        for row, cell in enumerate(cells):
            try:
                values.append(check(cell))
            except InputError as fault:
                values.append("")
                remedy = fault.remedy.replace("COLUMN.", f"{column}.")
                self.refuse(row, fault.found, remedy, column)
        return values

    def without(self, rows: Collection[int]) -> None:
        """Leaves rows out, as if their files had not had them."""
        remaining = [row for row in range(len(self)) if row not in rows]
        place = dict(zip(remaining, range(len(remaining)), strict=True))
        starts = [bisect_left(remaining, part.first) for part in self.parts]
        self.parts = [
            p._replace(first=n) for p, n in zip(self.parts, starts, strict=True)
        ]
        self.bad = {
            place[row]: fault for row, fault in self.bad.items() if row in place
        }
        self.lines = array("q", [self.lines[row] for row in remaining])
        for cells in (*self.columns.values(), *self.glimpse.values()):
            cells[:] = [cell for row, cell in enumerate(cells) if row in place]

    def begin(self, name: str, source: Source, keep: Keep) -> None:
        """Makes room for the rows of one more file."""
        self.known = (self.known if self.parts else {*source.roles}) & {*source.roles}
        self.parts.append(FilePart(len(self), name, source.lines, {*source.columns}))
        if source.notes is not None:
            self.notes.append((name, source.notes))
        self._see(source.columns, keep)

    def _see(self, names: Iterable[str], keep: Keep) -> None:
        for name in names:
            self.header.setdefault(name)
            if keep(name):
                self.columns.setdefault(name, [None] * len(self))
            elif len(self) < GLIMPSE:
                self.glimpse.setdefault(name, [None] * len(self))

    def extend(self, rows: Iterable[Numbered], keep: Keep) -> None:
        """Adds rows of the file that was begun last, some thousand at a time."""
        rows = iter(rows)
        while chunk := list(islice(rows, _CHUNK)):
            contents: list[Row] = [
                {} if isinstance(row, InputError) else row for _, row in chunk
            ]
            names = dict.fromkeys(chain.from_iterable(contents))
            self._see(names, keep)
            self.parts[-1].columns.update(names)
            first = len(self)
            self.lines.extend(line for line, _ in chunk)
            for row, (_, content) in enumerate(chunk, first):
                if isinstance(content, InputError):
                    self.refuse(row, content.found, content.remedy, content.column)
            for name, column in self.columns.items():
                column.extend([row.get(name) for row in contents])
            for name, column in self.glimpse.items():
                column.extend(
                    [row.get(name) for row in contents[: max(0, GLIMPSE - first)]]
                )


def gather(rows: object, keep: Keep, reading: Reading, names: Names = ()) -> Gathered:
    """The wanted columns of the rows, files one after the other.

    Rows that cannot be parsed keep a place without values and are bad. `names` may be dotted, as
    those of flags.

    Raises:
        InputError: a file that cannot be read or has no rows; a bad row unless they are skipped.
        UsageError: no files, something that holds no rows, an unknown format or encoding.
    """
    table = Gathered(skip_bad=reading.skip_bad)
    with long_cells():
        for name, opened in _sources(rows, keep, reading):
            first = len(table)
            with opened as file:
                source = lengthened(
                    answered(file, reading.columns), reading.columns, name
                )
                table.begin(name, source, keep)
                content = _nested(source, outer(reading.columns, names))
                table.extend(content, keep)
            table.sentences += [(name, sentence) for sentence in source.sentences]
            if source.notes is not None and keep("rating"):
                table.dimensions.update(source.notes.dimensions)
            if len(table) == first and not table.dimensions:
                raise _no_rows(name, source)
    return table


def _no_rows(name: str, source: Source) -> InputError:
    omissions = [] if source.notes is None else source.notes.omissions()
    remedy = "; ".join(["at least one is needed", *omissions])
    return InputError("there are no rows", path=name, remedy=remedy)


def _nested(source: Source, within: Names) -> NumberedRows:
    if not within:
        return source.rows
    rows = source.rows
    return (
        (n, with_nested(row, within) if isinstance(row, dict) else row)
        for n, row in rows
    )


def _sources(
    rows: object, keep: Keep, reading: Reading
) -> Iterator[tuple[str, AbstractContextManager[Source]]]:
    """The name of each file, or of what lies in memory, and its rows."""
    paths = paths_of(rows)
    if paths is None:
        pairs = is_pairs(first_row(rows)) and reading.format in {None, NAME}
        name, source = source_in_memory(
            rows, (lambda _: True) if pairs else with_sides(keep)
        )
        if pairs:
            source = exported(
                source, PAIRS, Place(path=name, raw=b"", reading=reading), keep
            )
        yield name, nullcontext(source)
    keep = with_sides(keep)
    for path in chain.from_iterable(
        sheets_of(path, reading, keep) for path in paths or ()
    ):
        yield path, source_of(path, reading, keep)


def answered(table: Source, columns: Columns) -> Source:
    """The rows of chats as texts: the last turn of the model, and as the source what is before.

    Rows are chats where no column holds texts, and one is a list of turns by roles.
    """
    row, table = table.peeked()
    chats = [
        name
        for name, cell in row.items()
        if folded(name) in ROLES["text"].hints and _turns(cell)
    ]
    keyed = {*map(folded, row)}
    is_plain = table.notes is None and columns.text is None
    if not is_plain or len(chats) != 1 or not keyed.isdisjoint(ROLES["text"].names):
        return table
    sourced = columns.source is not None or not keyed.isdisjoint(ROLES["source"].words)
    sentence = f"the text is the last turn of the model in '{chats[0]}'"
    sentence += "" if sourced else ", the source what is before"
    return table.reshaped(
        lambda row, _: [_answer(row, chats[0], sourced=sourced)], sentence
    )


def _turns(cell: object) -> list[Row]:
    """The turns of a chat, with their roles; none of anything else."""
    turns = [turn for turn in items(unpacked(cell)) if isinstance(turn, dict)]
    return (
        turns if turns and all({"role", "from"} & turn.keys() for turn in turns) else []
    )


def _answer(row: Row, name: str, *, sourced: bool) -> Row:
    """A row with a text for its chat."""
    turns = _turns(row.get(name))
    by_model = [i for i, turn in enumerate(turns) if _speaker(turn) in MODELS]
    end = by_model[-1] if by_model else 0
    text = text_in([_as_role(turns[end])]) if by_model else None
    source = text_in([*map(_as_role, turns[:end])]) if end else ""
    answer = {"text": text} if sourced else {"text": text, "source": source}
    return {column: cell for column, cell in row.items() if column != name} | answer


def _speaker(turn: Row) -> str:
    return str(turn.get("role", turn.get("from"))).casefold()


def _as_role(turn: Row) -> Row:
    """A turn as `role` and `content`, which others call `from` and `value`."""
    content = turn.get("content", turn.get("text", turn.get("value")))
    return {"role": _speaker(turn), "content": content}
