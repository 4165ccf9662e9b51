"""Exports of tools: a test that recognises one, and a function from its rows to ours."""

import ast
import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple

from refless.data.tables.columns import Keep, is_dimension
from refless.data.tables.reading import ImportNotes, NumberedRows, Reading, Row, Source
from refless.data.tables.streams import Place
from refless.registry.arrays import Strings
from refless.registry.dialect import dialect
from refless.registry.errors import InputError

_MOST = 1 << 16  # characters of a value that is read as Python writes it


class Entry(NamedTuple):
    """One text: what is known about it, and its ratings.

    A rating is a row of `rating`, and where they are known `annotator`, `dimension`, `timestamp`.
    """

    record: Row
    ratings: list[Row]


class ReaderRequest(NamedTuple):
    """Inputs of a reader: the file, the settings, its notes, whether ratings are wanted."""

    path: str
    reading: Reading
    notes: ImportNotes
    rated: bool = True

    def dimension(self, known: Collection[str]) -> str | None:
        """The one to be read: the user's, or the only one that is known."""
        if self.reading.dimension is None and len(known) == 1:
            return next(iter(known))
        return self.reading.dimension


Reader = Callable[[Row], Entry | InputError | None]


def each(
    read: Callable[[Row, Counter[str]], Entry | InputError | None],
) -> Callable[[ReaderRequest], Reader]:
    """A start of readers that need the row alone, and count the rows that they leave out."""
    return lambda about: lambda row: read(row, about.notes.left_out)


def refusing(problem: str, remedy: str) -> Callable[[ReaderRequest], Reader]:
    """Refuses the format with this message, which has parameters in backticks."""

    def start(about: ReaderRequest) -> Reader:
        raise InputError(problem, path=about.path, remedy=dialect(remedy))

    return start


def apart(
    title: str, texts: str, key: str, people: str
) -> Callable[[ReaderRequest], Reader]:
    """Refuses ratings that are apart from their texts, and says how to join them in pandas."""
    return refusing(
        f"{title} without their texts",
        f"join them in pandas first, those by people alone ({people}): {texts}.merge(ratings, "
        f"left_on='id', right_on='{key}'); docs/formats.md has the lines",
    )


def has(*names: str) -> Callable[[Mapping[str, object]], bool]:
    """Tells a file by names that are all there."""
    return lambda first: all(name in first for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A format of a tool.

    Attributes:
        title: what the file is, for messages.
        looks_like: whether these are the names (and values, as far as they were read) of its first
            object or of its columns.
        start: makes the function that reads a row, None for one that is no text, and an error
            without a place for a bad one.
        roles: roles whose columns it knows.
        rows: opens its rows, if they are no plain JSON, JSONL, CSV or Parquet.
        within: the dotted name of the list that contains the rows, if one object is around them.
        header: what stands for the first object in a file that is a zip archive; nothing if it is
            no such file.
        gathered: makes one row of all that are about one text.
    """

    title: str
    looks_like: Callable[[Mapping[str, object]], bool]
    start: Callable[[ReaderRequest], Reader]
    roles: Strings = ()
    rows: Callable[[Place], AbstractContextManager[Source]] | None = None
    within: str = ""
    header: Callable[[Place], Mapping[str, object]] = lambda _: {}
    gathered: Callable[[NumberedRows], NumberedRows] = lambda rows: rows


def exported(source: Source, export: Export, place: Place, keep: Keep) -> Source:
    """The rows of an export as rows of ours: one a rating, or one a text that has none."""
    notes = ImportNotes(tool=export.title)
    rated = keep("rating")
    read = export.start(ReaderRequest(place.path, place.reading, notes, rated))
    gathered = export.gathered(source.rows)
    rows = _rows(gathered, read, notes, place.reading.dimension, rated=rated)
    sentences = source.sentences
    return Source(
        rows=rows,
        lines=source.lines,
        roles=export.roles,
        notes=notes,
        sentences=sentences,
    )


def _rows(
    rows: NumberedRows,
    read: Reader,
    notes: ImportNotes,
    dimension: str | None,
    *,
    rated: bool,
) -> NumberedRows:
    """The rows, each rating of the dimension that is read with what is known about its text."""
    for number, row in rows:
        entry = row if isinstance(row, InputError) else read(row)
        if isinstance(entry, InputError):
            yield number, entry
        elif entry is not None:
            ratings = []
            for rating in entry.ratings:
                name = str(rating.get("dimension", dimension))
                if "dimension" in rating:
                    notes.dimensions[name] += 1
                if is_dimension(name, dimension):
                    ratings.append(rating)
            for rating in (ratings if rated else []) or [{}]:
                yield number, entry.record | rating


def at(value: object, *path: str | int) -> object:
    """The value at a path of names and places; None if there is none."""
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif (
            isinstance(step, int)
            and isinstance(value, list)
            and -len(value) <= step < len(value)
        ):
            value = value[step]
        else:
            return None
    return value


def items(value: object) -> list[object]:
    """The items of a list; none of anything else."""
    return value if isinstance(value, list) else []


def fields_of(value: object) -> Row:
    """The fields of an object; none of anything else."""
    return value if isinstance(value, dict) else {}


def python_in(value: object) -> object:
    """The value of a string as Python writes it (`['a', 'b']`); else the string."""
    if not (isinstance(value, str) and value[:1] in {"[", "{"} and len(value) < _MOST):
        return value
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return value


def text_in(value: object) -> str | None:
    """A text, the turns of a chat as text, or anything else as its JSON; None for None."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(map(_is_turn, value)):
        turns = [(at(entry, "role"), text_in(_content(entry)) or "") for entry in value]
        alone = len(turns) == 1
        return "\n".join(
            t if alone or role is None else f"{role}: {t}" for role, t in turns
        )
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    except (RecursionError, ValueError):  # a number of thousands of digits
        return None


def _is_turn(value: object) -> bool:
    return isinstance(value, str) or isinstance(_content(value), str | list)


def _content(value: object) -> object:
    if isinstance(value, str):
        return value
    return at(value, "content") if at(value, "text") is None else at(value, "text")


def unpacked(cell: object) -> object:
    """The value of a text as JSON, or in CSV as Python writes it; any other cell as it is."""
    if isinstance(cell, str) and cell[:1] in {"[", "{", '"'}:
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            return python_in(cell)
    return cell


def said_in(value: object) -> str | None:
    """Text like that of `text_in`, also of an object with one entry: `{"answer": "yes"}`."""
    (only,) = (
        value.values() if isinstance(value, dict) and len(value) == 1 else (value,)
    )
    return text_in(only)


def name_in(value: object) -> str | None:
    """A name or a number as text; None for anything else."""
    named = isinstance(value, str | int | float) and not isinstance(value, bool)
    try:
        return str(value) if named else None
    except ValueError:  # a number of thousands of digits
        return None


def number_in(value: object) -> int | float | None:
    """A number that is one; None for anything else, NaN among it."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    return value


def texts_in(value: object) -> list[str]:
    """The texts in a list, or the one text; blank ones are none."""
    result = value if isinstance(value, list) else [value]
    return [entry for entry in result if isinstance(entry, str) and entry]
