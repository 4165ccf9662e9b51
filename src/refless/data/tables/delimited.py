"""CSV, TSV and what Excel writes as CSV -> rows with line numbers."""

import csv
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from refless.data.tables.columns import Keep
from refless.data.tables.source import Numbered, Source
from refless.data.tables.streams import Place, check_names, head_of, text_of
from refless.registry.errors import InputError

DELIMITERS = (",", ";", "\t")
_SEPARATOR = re.compile(r"sep=([,;\t])\r?$", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')
_CELL_LIMIT = 2**31 - 1  # the largest that csv accepts on every platform
_cell_lock = threading.RLock()


@contextmanager
def long_cells() -> Iterator[None]:
    """Lets csv read cells of any length; its process-wide limit comes back afterwards."""
    with _cell_lock:
        before = csv.field_size_limit(_CELL_LIMIT)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def comma_separated(place: Place, _: Keep) -> AbstractContextManager[Source]:
    return _cells(place, delimiter_of(head_of(place)), quoted=place.reading.quoting is not False)


def tab_separated(place: Place, _: Keep) -> AbstractContextManager[Source]:
    return _cells(place, "\t", quoted=bool(place.reading.quoting))


def delimiter_of(head: str) -> str:
    """What stands between the cells of a CSV file: a comma, a semicolon or a tab.

    Excel writes semicolons where decimals have commas, and may say so in a first line `sep=;`. The
    one that the header has most of counts, first of those that the next line has as often; a comma
    where none is there.
    """
    header, _, rows = head.lstrip("\r\n").partition("\n")
    if match := _SEPARATOR.match(header):
        return match[1]
    bare, row = (_QUOTED.sub("", line) for line in (header, rows.partition("\n")[0]))
    alike = [mark for mark in DELIMITERS if bare.count(mark) == row.count(mark) > 0]
    return max(alike or DELIMITERS, key=bare.count)


@contextmanager
def _cells(place: Place, delimiter: str, *, quoted: bool) -> Iterator[Source]:
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
                problem, remedy = "a quote opened in this row never closes", "close or double it"
                raise InputError(problem, path=path, line=start, remedy=remedy) from fault
            remedy = "double the quotes inside quoted cells, or pass --no-quoting"
            yield start, InputError(f"not CSV: {fault}", path=path, line=start, remedy=remedy)
        else:
            if cells:
                yield start, cells


def _headed(rows: Iterator[tuple[int, list[str] | InputError]], path: str) -> Source:
    """A table from rows of cells whose first holds the names."""
    for line, cells in rows:
        if isinstance(cells, InputError):
            raise cells
        if any(cells) and not _says_separator(cells):
            names = tuple(cell.removeprefix("\ufeff").strip() for cell in cells)
            check_names(names, path, line)
            return Source(columns=names, rows=_named_cells(rows, names, path))
    raise InputError("there is no header", path=path, remedy="give a first line of column names")


def _says_separator(cells: Sequence[str]) -> bool:
    """Whether this is Excel's `sep=;`, which its own delimiter cuts in two."""
    return len(cells) == 2 and cells[0].removeprefix("\ufeff").lower() == "sep=" and not cells[1]


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
            problem = f"{count} where the header has {width}"
            remedy = "check delimiters, quotes and line ends inside cells"
            yield line, InputError(problem, path=path, line=line, remedy=remedy)
