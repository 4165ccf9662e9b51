"""Files -> rows with their places: plain formats, and exports of tools told by their content."""

import csv
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import PurePath

from refless.data.tables.columns import Keep
from refless.data.tables.excel import excel
from refless.data.tables.exports import exported, exports
from refless.data.tables.exports.format import at, fields_of, items
from refless.data.tables.parquet import parquet
from refless.data.tables.reading import NumberedRows, Reading, Row, Source
from refless.data.tables.roles import ROLES, names_of
from refless.data.tables.spellings import folded
from refless.data.tables.streams import (
    ABOVE,
    ZIP,
    Place,
    beginning,
    check_encoding,
    check_names,
    head_of,
    raw_of,
    text_of,
)
from refless.files.untrusted import is_file, workbook_of
from refless.registry.arrays import Names, Strings
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError

Opener = Callable[[Place, Keep], AbstractContextManager[Source]]
ENDINGS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".txt": "text",
    ".xlsx": "excel",
    ".xlsm": "excel",
}
RECORDS = "records.json"  # in a folder that Argilla wrote
OLD_EXCEL = b"\xd0\xcf\x11\xe0"
DELIMITERS = (",", ";", "\t", "|")
# Excel's first line: what stands between cells
_SEP = re.compile(r'\s*"?sep=(.)"?[\r\n]+')
_QUOTED = re.compile(r'"[^"]*"')
_CELL_LIMIT = 2**31 - 1  # the largest that csv accepts on every platform
_cell_lock = threading.RLock()


def source_of(
    path: str, reading: Reading, keep: Keep
) -> AbstractContextManager[Source]:
    """The rows of a file, open while the context lasts; faults of its bytes are InputErrors.

    Raises:
        InputError: a file that is not there, is empty, or contains something else.
        UsageError: an unknown format or encoding.
    """
    names = (*FORMATS, *exports())
    if reading.format is not None and reading.format not in names:
        raise UsageError(f"no format '{reading.format}'; there are {', '.join(names)}")
    check_encoding(reading.encoding)
    path = f"{path}/{RECORDS}" if is_export(path) else path
    file, sheet = workbook_of(path)
    raw = raw_of(file, reading.max_bytes)
    place = Place(path=path, raw=raw, reading=reading, sheet=sheet)
    name = reading.format or format_of(place)
    return (
        _export(place, keep, name) if name in exports() else FORMATS[name](place, keep)
    )


def is_export(folder: str) -> bool:
    """Whether a tool wrote this folder as a whole."""
    return is_file(f"{folder}/{RECORDS}")


def format_of(place: Place) -> str:
    """The format by the name's ending, `.gz` aside, else by content; exports always by content."""
    ending = PurePath(workbook_of(place.path)[0].removesuffix(".gz")).suffix.lower()
    plain = ENDINGS.get(ending) or _plain(place, ending)
    if plain == "text":
        plain = _table_in(head_of(place).lstrip().partition("\n")[0])
    first = _first(place, plain, sniff=ending not in ENDINGS)
    return next(
        (name for name, export in exports().items() if export.looks_like(first)), plain
    )


def _plain(place: Place, ending: str = "") -> str:
    """The plain format of a file, by its first bytes, characters and line."""
    start = beginning(place, 4)
    if start == b"PAR1":
        return "parquet"
    if start in {OLD_EXCEL, ZIP}:
        return "excel"
    head = head_of(place).lstrip()
    if head.startswith("["):
        return "json"
    header = head.partition("\n")[0]
    if head.startswith("{"):
        # an object on one line may hold the rows
        alone = not head.partition("\n")[2].strip()
        return (
            "json"
            if ending == ".json" and (alone or not _object_in(header))
            else "jsonl"
        )
    if _SEP.match(head):
        return "csv"
    if "\t" in header:
        return "tsv"
    return "csv" if "," in header else "text"


def _table_in(line: str) -> str:
    """The format of a text: CSV if its first line has names of columns."""
    names = {*map(folded, re.split("[,;|\t]", line))}
    return "csv" if len(names & names_of(ROLES)) > 1 else "text"


def _object_in(line: str) -> Mapping[str, object]:
    """The object on a line of JSON; an empty one for anything else."""
    with suppress(ValueError, RecursionError):
        if isinstance(row := json.loads(line), dict):
            return row
    return {}


def _first(place: Place, plain: str, *, sniff: bool) -> Mapping[str, object]:
    """The first object of a file of JSON, else the names of its columns; nothing of plain text."""
    if plain == "excel":
        headers = (
            (export.header(place) for export in exports().values()) if sniff else ()
        )
        return next(filter(None, headers), {})
    if plain in {"csv", "parquet"}:
        with FORMATS[plain](place, lambda _: True) as source:
            return dict.fromkeys(source.columns)
    if plain not in {"json", "jsonl"}:
        return {}
    if plain == "jsonl":
        with text_of(place) as lines:
            line = next(filter(str.strip, lines), "").removeprefix("\ufeff")
        if row := _object_in(line):
            return row
    with suppress(InputError):
        return fields_of(place.values[0] if place.values else None)
    return {}


@contextmanager
def _export(place: Place, keep: Keep, name: str) -> Iterator[Source]:
    """The export of a tool: its plain rows, of which all columns are read, made rows as ours."""
    export = exports()[name]
    if export.rows is not None:
        with export.rows(place) as source:
            yield exported(source, export, place, keep)
        return
    # a table without a comma in its header looks like a text
    plain = _plain(place).replace("text", "csv")
    inner = items(at(_first(place, plain, sniff=False), *export.within.split(".")))
    if export.within and plain in {"json", "jsonl"} and inner:
        yield exported(_objects(inner), export, place, keep)
        return
    with FORMATS[plain](place, lambda _: True) as source:
        yield exported(source, export, place, keep)


@contextmanager
def _json(place: Place, keep: Keep) -> Iterator[Source]:
    values = place.values
    if len(values) > 1 or not isinstance(only := next(iter(values), None), dict):
        yield _objects(values)
    else:
        rows, sentence = _rows_within(
            only, place.path, lambda n: keep(n) and not _is_vague(n)
        )
        yield replace(_objects(rows), sentences=[sentence] if sentence else [])


def _is_vague(name: str) -> bool:
    """Whether a column tells what was rated at most: objects around rows have a `name`, too."""
    return folded(name) in {*ROLES["dimension"].weak}.difference(ROLES["source"].words)


def _rows_within(row: Row, path: str, keep: Keep) -> tuple[list[object], str]:
    """The rows in an object that is none itself, and where they are; else the object alone.

    Lists of objects are looked for three levels deep; pandas also writes rows as lists
    (orient='split') or objects (orient='index', orient='columns').

    Raises:
        InputError: several lists have columns that can be read.
    """
    cells = [*row.values()]
    inner = set().union(*map(fields_of, cells))
    are_objects = all(map(fields_of, cells))
    if any(map(keep, row)) and not {"columns", "data"} <= {*row}:
        if are_objects and all(map(str.isdecimal, inner)):
            numbers = sorted(inner, key=Decimal)  # of any length, which int is not
            return [_nth_row(row, number) for number in numbers], "rows by columns"
        return [row], ""
    if are_objects and any(map(keep, inner)):
        return cells, "rows by their index"
    if lines := _lines_of_data(row):
        return lines, "rows of 'data'"
    lists = _widest_lists(row, keep)
    if len(lists) > 1:
        remedy = "save the one that is to be read as a file of its own"
        problem = f"lists of rows inside an object: {', '.join(map(repr, lists))}"
        raise InputError(problem, path=path, remedy=remedy)
    for where, rows in lists.items():
        return rows, f"rows from '{where}', a list inside the object"
    return [row], ""


def _nth_row(columns: Row, number: str) -> Row:
    """The row of this number among columns that are objects by number (orient='columns')."""
    return {name: at(columns, name, number) for name in columns}


def _lines_of_data(row: Row) -> list[object]:
    """The rows in lists of `data` below names in `columns` (orient='split'); none of others."""
    names = [str(name) for name in items(row.get("columns"))]
    lines = items(row.get("data"))
    if not names or not all(isinstance(line, list) for line in lines):
        return []
    return [dict(zip(names, items(line), strict=False)) for line in lines]


def _widest_lists(row: Row, keep: Keep) -> dict[str, list[object]]:
    """By dotted name, the lists of objects of which most columns can be read, if any can."""
    lists = dict(_lists_in(row, 3))
    widths = {}
    for where, rows in lists.items():
        widths[where] = sum(map(keep, fields_of(rows[0])))
    widest = max(widths.values(), default=0)
    return {where: lists[where] for where in lists if widths[where] == widest > 0}


def _lists_in(row: Row, depth: int) -> Iterator[tuple[str, list[object]]]:
    """The lists of objects in an object, or objects of objects, by dotted name."""
    for name, value in row.items():
        if (
            isinstance(value, list)
            and value
            and all(isinstance(line, dict) for line in value)
        ):
            yield name, value
        elif isinstance(value, dict) and depth > 1:
            yield from (
                (f"{name}.{inner}", rows) for inner, rows in _lists_in(value, depth - 1)
            )


def _objects(values: Iterable[object]) -> Source:
    """Objects counted from 1; any other value is a bad row."""
    remedy = 'write an array of objects: [{"text": ..., "rating": ...}, ...]'

    def rows() -> NumberedRows:
        for number, row in enumerate(values, 1):
            if isinstance(row, dict):
                yield number, row
            else:
                yield number, InputError(_no_object(row), remedy=remedy)

    return Source(rows=rows(), lines=False)


def _no_object(row: object) -> str:
    return f"a JSON {type(row).__name__} where an object is needed"


@contextmanager
def _jsonl(place: Place, _: Keep) -> Iterator[Source]:
    with text_of(place) as lines:
        yield Source(rows=_rows_on(lines))


def _rows_on(lines: Iterable[str]) -> NumberedRows:
    for number, line in enumerate(lines, 1):
        line = line.removeprefix("\ufeff") if number == 1 else line
        if line.isspace() or not line:
            continue
        row = _row_on(line)
        if isinstance(row, dict | InputError):
            yield number, row
        else:
            remedy = 'write one object a line: {"text": ..., "rating": ...}'
            yield number, InputError(_no_object(row), remedy=remedy)


def _row_on(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as fault:
        if "\0" in line:
            problem = f"a NUL character (position {line.index(chr(0)) + 1})"
        elif isinstance(fault, json.JSONDecodeError):
            problem = f"not JSON: {fault.msg} (position {fault.colno})"
        else:
            problem = f"not JSON that can be read: {fault}"
        return InputError(problem, remedy="write one JSON object a line")


@contextmanager
def _text(place: Place, _: Keep) -> Iterator[Source]:
    name = place.reading.columns.text or "text"
    with text_of(place) as lines:
        rows: NumberedRows = (
            (
                number,
                {name: line.rstrip("\n").removeprefix("\ufeff" if number == 1 else "")},
            )
            for number, line in enumerate(lines, 1)
        )
        yield Source(columns=(name,), rows=rows)


@contextmanager
def long_cells() -> Iterator[None]:
    """Lets csv read cells of any length; its process-wide limit comes back afterwards."""
    with _cell_lock:
        before = csv.field_size_limit(_CELL_LIMIT)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def delimiter_of(head: str) -> str:
    """The separator of cells in a CSV file: a comma, a semicolon, a tab or a bar.

    Excel writes semicolons where decimals have commas. The one that the header has most of counts,
    first of those that the next line has as often; a comma where none is there. A first line
    `sep=;` says so itself.
    """
    if separator := _SEP.match(head):
        return separator[1]
    header, _, rows = head.lstrip("\r\n").partition("\n")
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
            rows = (
                (n, line.rstrip("\n").split(delimiter))
                for n, line in enumerate(lines, 1)
            )
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
                problem = "a quote opened in this row never closes"
                remedy = "close or double it"
                raise InputError(
                    problem, path=path, line=start, remedy=remedy
                ) from fault
            unquoted = called("reading", {"quoting": "no"})
            remedy = f"double the quotes inside quoted cells, or pass {unquoted}"
            yield start, InputError(f"not CSV: {fault}", remedy=remedy)
        else:
            if cells:
                yield start, cells


def _headed(rows: Iterator[tuple[int, list[str] | InputError]], path: str) -> Source:
    """A table from rows of cells whose first holds the names."""
    for line, cells in rows:
        if isinstance(cells, InputError):
            raise InputError(cells.found, path=path, line=line, remedy=cells.remedy)
        if any(cells) and not _is_sep(cells):
            names = tuple(cell.removeprefix("\ufeff").strip() for cell in cells)
            check_names(names, path, line)
            return Source(columns=names, rows=_named_cells(rows, names))
    raise InputError(
        "there is no header", path=path, remedy="give a first line of column names"
    )


def _is_sep(cells: Names) -> bool:
    """Whether this is Excel's line that names the delimiter, cut at it or whole."""
    first = cells[0].removeprefix("\ufeff").strip('"')
    return (
        first.startswith("sep=") and len(first) <= len("sep=;") and not any(cells[1:])
    )


def _named_cells(
    rows: Iterator[tuple[int, list[str] | InputError]], names: Strings
) -> NumberedRows:
    header = [*names]
    width = len(names)
    for line, cells in rows:
        if isinstance(cells, InputError):
            yield line, cells
        elif width > 1 and not (cells[0].strip() or any(map(str.strip, cells))):
            continue  # a blank line, or Excel's row of empty cells
        elif cells == header and width > 1:
            yield line, InputError("the header again", remedy="delete this line")
        elif len(cells) == width:
            yield line, dict(zip(names, cells, strict=True))
        elif cells != [
            ""
        ]:  # a blank line is a row only where an empty cell makes a whole one
            count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
            problem = f"{count} where the header has {width}"
            remedy = "check delimiters, quotes and line ends inside cells"
            remedy += f"; {ABOVE}" if len(cells) > width else ""
            yield line, InputError(problem, remedy=remedy)


FORMATS: dict[str, Opener] = {
    "jsonl": _jsonl,
    "json": _json,
    "csv": lambda place, _: _cells(
        place, delimiter_of(head_of(place)), quoted=place.reading.quoting is not False
    ),
    "tsv": lambda place, _: _cells(place, "\t", quoted=bool(place.reading.quoting)),
    "parquet": parquet,
    "excel": excel,
    "text": _text,
}
