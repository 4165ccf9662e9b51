"""Rows of files or of memory -> columns of values, each row with its place."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import NamedTuple

from refless.data.records import Scale
from refless.data.tables.columns import Keep, outer, with_nested
from refless.data.tables.delimited import long_cells
from refless.data.tables.dimensions import of_dimension
from refless.data.tables.exports.format import exported
from refless.data.tables.exports.preferences import NAME, PAIRS, is_pairs
from refless.data.tables.formats import table_of
from refless.data.tables.memory import paths_of, table_in_memory
from refless.data.tables.reading import Reading
from refless.data.tables.streams import Place
from refless.data.tables.table import Numbered, Row, Table, Told
from refless.data.tables.wide import lengthened, with_sides
from refless.registry.errors import InputError

_CHUNK = 8192
_MEMO = 1 << 15
ERRORS_KEPT = 20


class Part(NamedTuple):
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
        bad: what was found in each bad row.
        errors: the errors of the first of them.
        columns: name -> [n] values as the format gives them; None where a row has none.
        lines: [n] line on which the row starts, or its number, counted from 1 in its own file.
        parts: the files.
        seen: names of all columns, in file order, wanted or not.
        known: roles whose columns the formats of all files know.
        told: what exports of tools say, and the file of each.
        dimensions: what was rated, by name, and the number of ratings.
    """

    skip_bad: bool
    bad: dict[int, str] = field(default_factory=dict)
    errors: dict[int, InputError] = field(default_factory=dict)
    columns: dict[str, list[object]] = field(default_factory=dict)
    lines: array[int] = field(default_factory=lambda: array("q"))
    parts: list[Part] = field(default_factory=list)
    seen: dict[str, None] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    told: list[tuple[str, Told]] = field(default_factory=list)
    dimensions: Counter[str] = field(default_factory=Counter)

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def name(self) -> str:
        """What was read, for messages."""
        return ", ".join(part.name for part in self.parts)

    @property
    def scale(self) -> Scale | None:
        """Lowest and highest rating, where all files say the same."""
        scales = {told.scale for _, told in self.told}
        return scales.pop() if len(scales) == 1 and len(self.told) == len(self.parts) else None

    def part(self, row: int) -> Part:
        """The file of a row."""
        return self.parts[bisect_right(self.parts, row, key=lambda part: part.first) - 1]

    def place(self, row: int, beside: int) -> str:
        """`line 3` or `row 3`, with the file where another row is not in it."""
        part = self.part(row)
        place = f"{'line' if part.lines else 'row'} {self.lines[row]}"
        return place if part is self.part(beside) else f"{part.name}, {place}"

    def fault(self, row: int, found: str, remedy: str, column: str | None = None) -> InputError:
        """An error with the row's own place."""
        part = self.part(row)
        place = {"line" if part.lines else "row": self.lines[row]}
        return InputError(found, remedy=remedy, path=part.name, column=column, **place)

    def refuse(self, row: int, found: str, remedy: str, column: str | None = None) -> None:
        """Raises for a bad row, or remembers it; the first fault of a row counts."""
        if row not in self.bad:
            self.add(row, self.fault(row, found, remedy, column))

    def checked(self, column: str, check: Callable[[object], str]) -> list[str]:
        """[n] the cells of a column as strings; "" where the check refuses one: its row is bad."""
        found: list[str] = []
        for row, cell in enumerate(self.columns.get(column, [None] * len(self))):
            try:
                found.append(check(cell))
            except InputError as fault:
                found.append("")
                self.refuse(row, fault.found, fault.remedy, column)
        return found

    def add(self, row: int, error: InputError) -> None:
        """The same with an error that has its place."""
        if not self.skip_bad:
            raise error
        self.bad[row] = error.found
        if len(self.errors) < ERRORS_KEPT:
            self.errors[row] = error


def gather(rows: object, keep: Keep, reading: Reading, dimensions: Sequence[str] = ()) -> Gathered:
    """The wanted columns of the rows, files one after the other.

    Rows that cannot be parsed keep a place without values and are bad.

    Args:
        rows: files, or what lies in memory.
        keep: tells the wanted columns.
        reading: the settings.
        dimensions: columns that tell or are dimensions, where ratings are read.

    Raises:
        InputError: a file that cannot be read or has no rows; a bad row unless they are skipped.
        UsageError: no files, something that holds no rows, an unknown format or encoding.
    """
    table = Gathered(skip_bad=reading.skip_bad)
    memos: dict[str, dict[object, object] | None] = {}
    with long_cells():
        for name, opened in _tables(rows, keep, reading):
            first = len(table)
            with opened as whole:
                source = lengthened(whole, reading.columns, name)
                table.parts.append(Part(first, name, source.lines, {*source.columns}))
                table.seen.update(dict.fromkeys(source.columns))
                for column in filter(keep, source.columns):
                    table.columns.setdefault(column, [None] * first)
                found = _wanted(source, reading, dimensions, table.dimensions, name)
                _extend(table, found, keep, memos)
            if len(table) == first and not table.dimensions:
                more = [] if source.told is None else source.told.left()
                remedy = "; ".join(["at least one is needed", *more])
                raise InputError("there are no rows", path=name, remedy=remedy)
            _hear(table, source, name)
            if source.told is not None and keep("rating"):
                table.dimensions.update(source.told.dimensions)
    return table


def gather_batches(
    rows: object, keep: Keep, reading: Reading, size: int, dimensions: Sequence[str] = ()
) -> Iterator[Gathered]:
    """The same, at most so many rows at a time, each batch of one file; earlier ones are forgotten.

    A batch has every column, and counts every dimension, that was seen before it. What exports say
    is with each batch of theirs.

    Raises:
        InputError, UsageError: as of `gather`, when the batch is asked for.
    """
    columns: dict[str, None] = {}
    met: Counter[str] = Counter()
    with long_cells():
        for name, opened in _tables(rows, keep, reading):
            with opened as whole:
                source = lengthened(whole, reading.columns, name)
                part = Part(0, name, source.lines, {*source.columns})
                columns.update(dict.fromkeys(source.columns))
                found, first = _wanted(source, reading, dimensions, met, name), True
                while chunk := list(islice(found, size)):
                    first, table = False, Gathered(skip_bad=reading.skip_bad, dimensions=met)
                    table.parts.append(part)
                    table.seen.update(columns)
                    table.columns.update({column: [] for column in filter(keep, columns)})
                    _extend(table, iter(chunk), keep, {})
                    _hear(table, source, name)
                    columns.update(table.seen)
                    yield table
            if first:
                raise InputError("there are no rows", path=name, remedy="at least one is needed")


def _wanted(
    source: Table, reading: Reading, dimensions: Sequence[str], met: Counter[str], name: str
) -> Iterator[Numbered]:
    """A file's rows with the dotted names that are needed, of the dimension that is read.

    Dimensions are counted as they are met.
    """
    found = _nested(source, outer(reading.columns, dimensions))
    if dimensions and source.told is None:
        return of_dimension(found, reading, met, name, lines=source.lines)
    return found


def _nested(source: Table, within: Sequence[str]) -> Iterator[Numbered]:
    """The rows with the dotted names that flags need."""
    if not within:
        return source.rows
    rows = source.rows
    return ((n, with_nested(row, within) if isinstance(row, dict) else row) for n, row in rows)


def _hear(table: Gathered, source: Table, name: str) -> None:
    """Keeps what a file says beside its rows."""
    first = len(table.parts) == 1
    table.known = {*source.known} if first else table.known & {*source.known}
    if source.told is not None:
        table.told.append((name, source.told))


def strings_in(rows: object, reading: Reading) -> Iterator[str]:
    """Every string in every row, however deep, row by row: nothing is kept.

    Raises:
        InputError: a file that cannot be read; a bad row unless they are skipped.
        UsageError: as of `gather`.
    """
    with long_cells():
        for _, opened in _tables(rows, lambda _: True, reading):
            with opened as source:
                for _, row in source.rows:
                    if isinstance(row, InputError) and not reading.skip_bad:
                        raise row
                    yield from _strings({} if isinstance(row, InputError) else row)


def _strings(value: object) -> Iterator[str]:
    """The strings in a value as JSON has it."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            left.extend(one.values())
        elif isinstance(one, list | tuple):
            left.extend(one)


def _tables(
    rows: object, keep: Keep, reading: Reading
) -> Iterator[tuple[str, AbstractContextManager[Table]]]:
    """The name of each file, or of what lies in memory, and its rows."""
    paths = paths_of(rows)
    if paths is None:
        pairs = is_pairs(_first_row(rows)) and reading.format in {None, NAME}
        name, table = table_in_memory(rows, (lambda _: True) if pairs else with_sides(keep))
        if pairs:
            table = exported(table, PAIRS, Place(path=name, raw=b"", reading=reading, keep=keep))
        yield name, nullcontext(table)
    for path in paths or ():
        yield path, table_of(path, reading, with_sides(keep))


def _first_row(rows: object) -> Mapping[str, object]:
    """The first row of what lies in memory, or its columns."""
    _, table = table_in_memory(rows, lambda _: False)
    first = dict.fromkeys(table.columns) if table.columns else next(table.rows, (0, {}))[1]
    return first if isinstance(first, Mapping) else {}


def _extend(
    table: Gathered,
    rows: Iterator[Numbered],
    keep: Keep,
    memos: dict[str, dict[object, object] | None],
) -> None:
    """Turns rows into columns, some thousand rows at a time."""
    while chunk := list(islice(rows, _CHUNK)):
        first = len(table)
        good: list[Row] = []
        for row, (line, content) in enumerate(chunk, first):
            table.lines.append(line)
            if isinstance(content, InputError):
                error = content
                if error.path is None:
                    error = table.fault(row, error.found, error.remedy, error.column)
                table.add(row, error)
                content = {}
            good.append(content)
        for name in dict.fromkeys(chain.from_iterable(good)):
            table.seen.setdefault(name)
            table.parts[-1].columns.add(name)
            if keep(name):
                table.columns.setdefault(name, [None] * first)
        for name, column in table.columns.items():
            values = [row.get(name) for row in good]
            column.extend(_interned(name, values, memos))


def _interned(
    name: str, values: list[object], memos: dict[str, dict[object, object] | None]
) -> list[object]:
    """The values with equal strings shared, as long as a column repeats itself enough."""
    memo = memos.setdefault(name, {})
    if memo is None:
        return values
    before = len(memo)
    shared = [memo.setdefault(v, v) if type(v) is str else v for v in values]
    if len(memo) > _MEMO and len(memo) - before > len(values) // 2:
        memos[name] = None
    return shared
