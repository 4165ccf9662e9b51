"""JSONL, CSV, TSV, Parquet and plain text -> rows with line numbers; FORMATS is the list."""

from __future__ import annotations

import csv
import io
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import msgspec

from refless.errors import InputError, MissingExtraError, UsageError
from refless.outside import too_large
from refless.tables.columns import Keep
from refless.tables.foreign import cells_of
from refless.tables.reading import Reading
from refless.tables.streams import (
    Place,
    check_encoding,
    head_of,
    opened,
    raw_of,
    starts_with,
    text_of,
)

Row = dict[str, object]
Numbered = tuple[int, Row | InputError]
ENDINGS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".txt": "text",
}
DELIMITERS = (",", ";", "\t")
_SEPARATOR = re.compile(r"sep=([,;\t])\r?$", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')
_CELL_LIMIT = 2**31 - 1  # the largest that csv accepts on every platform
_cell_lock = threading.RLock()
_json_row = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The rows of a file, read as they are asked for.

    Attributes:
        columns: names in the header, empty for JSONL, whose rows name their own.
        rows: line (counted from 1, where the row starts) and row, or what is wrong with it.
        lines: whether rows stand on lines; else they are counted.
    """

    columns: tuple[str, ...]
    rows: Iterator[Numbered]
    lines: bool = True


def table_of(path: str, reading: Reading, keep: Keep) -> AbstractContextManager[Table]:
    """The table of a file, open while the context lasts; faults of its bytes are InputErrors.

    Raises:
        InputError: a file that is not there, is empty, or holds something else.
        UsageError: an unknown format or encoding.
    """
    if reading.format is not None and reading.format not in FORMATS:
        raise UsageError(f"no format '{reading.format}'; there are {', '.join(FORMATS)}")
    check_encoding(reading.encoding)
    place = Place(path=path, raw=raw_of(path, reading.max_bytes), reading=reading, keep=keep)
    return FORMATS[reading.format or format_of(place)](place)


def format_of(place: Place) -> str:
    """The format by the name's ending, `.gz` aside, else by the first character and line."""
    ending = PurePath(place.path.removesuffix(".gz")).suffix.lower()
    if ending in ENDINGS:
        return ENDINGS[ending]
    if starts_with(place, b"PAR1"):
        return "parquet"
    head = head_of(place).lstrip()
    if head.startswith("{"):
        return "jsonl"
    if head.startswith("["):
        remedy = "write one object a line (JSONL): jq -c '.[]' FILE"
        raise InputError("this is a JSON array", path=place.path, line=1, remedy=remedy)
    header = head.partition("\n")[0]
    if "\t" in header:
        return "tsv"
    return "csv" if "," in header else "text"


@contextmanager
def long_cells() -> Iterator[None]:
    """Lets csv read cells of any length; its process-wide limit comes back afterwards."""
    with _cell_lock:
        before = csv.field_size_limit(_CELL_LIMIT)
        try:
            yield
        finally:
            csv.field_size_limit(before)


@contextmanager
def _jsonl(place: Place) -> Iterator[Table]:
    with text_of(place) as lines:
        yield Table(columns=(), rows=_objects(lines, place.path))


def _objects(lines: Iterable[str], path: str) -> Iterator[Numbered]:
    for number, line in enumerate(lines, 1):
        if number == 1:
            line = line.removeprefix("\ufeff")
        try:
            row = _json_row(line)
        except (ValueError, RecursionError):
            if line.isspace() or not line:
                continue
            row = _slow_object(line, path, number)
        if isinstance(row, dict | InputError):
            yield number, row
        else:
            found = f"a JSON {type(row).__name__} where an object is needed"
            remedy = 'write one object a line: {"text": ..., "rating": ...}'
            yield number, InputError(found, path=path, line=number, remedy=remedy)


def _slow_object(line: str, path: str, number: int) -> object:
    """What the fast reader refuses: NaN, huge numbers and lone surrogates get their own answer."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as fault:
        if "\0" in line:
            found = f"a NUL character (position {line.index(chr(0)) + 1})"
        elif isinstance(fault, json.JSONDecodeError):
            found = f"not JSON: {fault.msg} (position {fault.colno})"
        else:
            found = f"not JSON that can be read: {fault}"
        return InputError(found, path=path, line=number, remedy="write one JSON object a line")


def _csv(place: Place) -> AbstractContextManager[Table]:
    return _cells(place, delimiter_of(head_of(place)), quoted=place.reading.quoting is not False)


def _tsv(place: Place) -> AbstractContextManager[Table]:
    return _cells(place, "\t", quoted=bool(place.reading.quoting))


def delimiter_of(head: str) -> str:
    """What stands between the cells of a CSV file: a comma, a semicolon or a tab.

    Excel writes semicolons where decimals have commas, and may say so in a first line `sep=;`. The
    one that the header has most of counts, first of those that the next line has as often; a comma
    where none is there.
    """
    header, _, rows = head.lstrip("\r\n").partition("\n")
    if said := _SEPARATOR.match(header):
        return said[1]
    bare, row = (_QUOTED.sub("", line) for line in (header, rows.partition("\n")[0]))
    alike = [one for one in DELIMITERS if bare.count(one) == row.count(one) > 0]
    return max(alike or DELIMITERS, key=bare.count)


@contextmanager
def _cells(place: Place, delimiter: str, *, quoted: bool) -> Iterator[Table]:
    """Cells as in RFC 4180, or without quotes cut at every delimiter."""
    with text_of(place, newline="" if quoted else None) as lines:
        if quoted:
            rows = _csv_rows(lines, delimiter, place.path)
        else:
            rows = ((n, line.rstrip("\n").split(delimiter)) for n, line in enumerate(lines, 1))
        yield _headed(rows, place.path)


def _csv_rows(
    lines: Iterable[str], delimiter: str, path: str
) -> Iterator[tuple[int, list[str] | InputError]]:
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        start = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as fault:
            if "unexpected end" in str(fault):
                found, remedy = "a quote opened in this row never closes", "close or double it"
                raise InputError(found, path=path, line=start, remedy=remedy) from fault
            remedy = "double the quotes inside quoted cells, or pass --no-quoting"
            yield start, InputError(f"not CSV: {fault}", path=path, line=start, remedy=remedy)
        else:
            if cells:
                yield start, cells


def _headed(rows: Iterator[tuple[int, list[str] | InputError]], path: str) -> Table:
    """A table from rows of cells whose first holds the names."""
    for line, cells in rows:
        if isinstance(cells, InputError):
            raise cells
        if any(cells) and not _says_separator(cells):
            names = _names(cells, path, line)
            return Table(columns=names, rows=_named_cells(rows, names, path))
    raise InputError("there is no header", path=path, remedy="give a first line of column names")


def _says_separator(cells: Sequence[str]) -> bool:
    """Whether this is Excel's `sep=;`, which its own delimiter cuts in two."""
    return len(cells) == 2 and cells[0].removeprefix("\ufeff").lower() == "sep=" and not cells[1]


def _names(cells: Sequence[str], path: str, line: int) -> tuple[str, ...]:
    names = tuple(cell.removeprefix("\ufeff").strip() for cell in cells)
    check_names(names, path, line)
    return names


def check_names(names: Sequence[str], path: str, line: int | None = None) -> None:
    """Raises InputError for two columns of one name; columns without a name are left alone."""
    named = [name for name in names if name or line is None]
    if len({*named}) < len(named):
        name = next(name for name in named if named.count(name) > 1)
        found = f"there are two columns '{name}'"
        raise InputError(found, path=path, line=line, remedy="rename one of them")


def _named_cells(
    rows: Iterator[tuple[int, list[str] | InputError]], names: tuple[str, ...], path: str
) -> Iterator[Numbered]:
    width = len(names)
    for line, cells in rows:
        if isinstance(cells, InputError):
            yield line, cells
        elif width > 1 and not any(map(str.strip, cells)):
            continue  # a blank line, or Excel's row of empty cells
        elif len(cells) == width:
            yield line, dict(zip(names, cells, strict=True))
        elif cells != [""]:  # a blank line is a row only where an empty cell makes a whole one
            count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
            found = f"{count} where the header has {width}"
            remedy = "check delimiters, quotes and line ends inside cells"
            yield line, InputError(found, path=path, line=line, remedy=remedy)


@contextmanager
def _text(place: Place) -> Iterator[Table]:
    name = place.reading.columns.text or "text"
    with text_of(place) as lines:
        rows: Iterator[Numbered] = (
            (number, {name: line.rstrip("\n").removeprefix("\ufeff" if number == 1 else "")})
            for number, line in enumerate(lines, 1)
        )
        yield Table(columns=(name,), rows=rows)


@contextmanager
def _parquet(place: Place) -> Iterator[Table]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as fault:
        raise MissingExtraError("Parquet", "parquet") from fault
    try:
        with opened(place) as stream:
            # what is packed cannot be read from its end
            raw = stream if stream.seekable() else io.BytesIO(stream.read())
            file = parquet.ParquetFile(raw)
            names = tuple(map(str, file.schema_arrow.names))
            check_names(names, place.path)
            _check_size(file, place)
            rows = _parquet_rows(file, [*filter(place.keep, names)], place)
            yield Table(columns=names, rows=rows, lines=False)
    except (ArrowException, OverflowError, TypeError, UnicodeDecodeError) as fault:
        raise _no_parquet(fault, place.path) from fault


def _no_parquet(fault: Exception, path: str) -> InputError:
    reason = re.sub(r"\s+", " ", str(fault))
    return InputError(f"not Parquet: {reason}", path=path)


def _check_size(file: Any, place: Place) -> None:  # noqa: ANN401 - pyarrow has no types
    """Raises InputError where the file says that it unpacks to more bytes than are read."""
    groups = range(file.metadata.num_row_groups)  # the sizes of columns crash on damaged files
    if sum(file.metadata.row_group(i).total_byte_size for i in groups) > place.reading.max_bytes:
        raise too_large(place.path, place.reading.max_bytes)


def _parquet_rows(file: Any, columns: list[str], place: Place) -> Iterator[Numbered]:  # noqa: ANN401
    number = size = 0
    for batch in file.iter_batches(batch_size=8192, columns=columns):
        size += max(batch.nbytes, batch.num_rows)  # equal values may take no room in the file
        if size > place.reading.max_bytes:
            raise too_large(place.path, place.reading.max_bytes)
        cells = [cells_of(column) for column in batch.columns]
        for row in zip(*cells, strict=True) if cells else [()] * batch.num_rows:
            number += 1
            yield number, dict(zip(batch.schema.names, row, strict=True))


FORMATS: dict[str, Callable[[Place], AbstractContextManager[Table]]] = {
    "jsonl": _jsonl,
    "csv": _csv,
    "tsv": _tsv,
    "parquet": _parquet,
    "text": _text,
}
