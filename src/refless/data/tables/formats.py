"""Files -> rows with their places: plain formats, and exports of tools told by their content."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import PurePath

import msgspec

from refless.data.tables.columns import Keep
from refless.data.tables.delimited import comma_separated, tab_separated
from refless.data.tables.excel import excel
from refless.data.tables.exports import exported, exports
from refless.data.tables.json_values import first_object, items_within, values_in
from refless.data.tables.parquet import parquet
from refless.data.tables.reading import Reading
from refless.data.tables.streams import (
    ZIP,
    Place,
    check_encoding,
    head_of,
    raw_of,
    starts_with,
    text_of,
)
from refless.data.tables.table import Numbered, Table
from refless.files.untrusted import is_file, workbook_of
from refless.registry.errors import InputError, UsageError

Opener = Callable[[Place], AbstractContextManager[Table]]
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
_JSON_HEAD = 1 << 20  # characters in which the first object shows what it is
_json_row = msgspec.json.Decoder().decode


def table_of(path: str, reading: Reading, keep: Keep) -> AbstractContextManager[Table]:
    """The table of a file, open while the context lasts; faults of its bytes are InputErrors.

    Raises:
        InputError: a file that is not there, is empty, or holds something else.
        UsageError: an unknown format or encoding.
    """
    known = (*FORMATS, *exports())
    if reading.format is not None and reading.format not in known:
        raise UsageError(f"no format '{reading.format}'; there are {', '.join(known)}")
    check_encoding(reading.encoding)
    if (folder := _folder_of(path)) is not None:
        return _export(Place(path=path, raw=b"", reading=reading, keep=keep), folder)
    path = f"{path}/{RECORDS}" if holds_rows(path) else path
    file, sheet = workbook_of(path)
    raw = raw_of(file, reading.max_bytes)
    place = Place(path=path, raw=raw, reading=reading, keep=keep, sheet=sheet)
    name = reading.format or format_of(place)
    return _export(place, name) if name in exports() else FORMATS[name](place)


def holds_rows(path: str) -> bool:
    """Whether this is a folder that a tool wrote, in which there are rows."""
    return _folder_of(path) is not None or is_file(f"{path}/{RECORDS}")


def _folder_of(path: str) -> str | None:
    """The export that this folder is, or None."""
    return next((name for name, one in exports().items() if one.is_folder(path)), None)


def format_of(place: Place) -> str:
    """The format by the name's ending, `.gz` aside, else by content; exports always by content."""
    ending = PurePath(workbook_of(place.path)[0].removesuffix(".gz")).suffix.lower()
    plain = ENDINGS.get(ending) or _plain(place, ending)
    if plain in {"json", "jsonl"}:
        first = _first(place)
    elif plain == "excel" and ending not in ENDINGS:
        first = next(filter(None, (one.header(place) for one in exports().values())), {})
    elif plain in {"csv", "parquet"}:
        with FORMATS[plain](place) as table:
            first = dict.fromkeys(table.columns)
    else:
        return plain
    return next((name for name, one in exports().items() if one.looks_like(first)), plain)


def _plain(place: Place, ending: str = "") -> str:
    """The plain format of a file, by its first bytes, characters and line."""
    if starts_with(place, b"PAR1"):
        return "parquet"
    if starts_with(place, OLD_EXCEL) or starts_with(place, ZIP):
        return "excel"
    head = head_of(place).lstrip()
    if head.startswith("["):
        return "json"
    header = head.partition("\n")[0]
    if head.startswith("{"):
        return "json" if ending == ".json" and not _is_object(header) else "jsonl"
    if "\t" in header:
        return "tsv"
    return "csv" if "," in header else "text"


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


@contextmanager
def _export(place: Place, name: str) -> Iterator[Table]:
    """The export of a tool: its plain rows, of which all columns are read, made rows as ours."""
    export, whole = exports()[name], replace(place, keep=lambda _: True)
    plain = "" if export.rows else _plain(place)
    opener = export.rows or FORMATS[plain]
    if export.within and plain in {"json", "jsonl"} and export.within in _first(place):
        opener = partial(_within, name=export.within)
    with opener(whole) as table:
        yield exported(table, export, place)


def _first(place: Place) -> Mapping[str, object]:
    """The first object of a file of JSON, as far as it was read."""
    return first_object(head_of(place, _JSON_HEAD))


@contextmanager
def _within(place: Place, name: str) -> Iterator[Table]:
    """The rows of a list in the one object of a JSON file."""
    with text_of(place) as text:
        found = _counted(items_within(text, place.path, name), place.path)
        yield Table(columns=(), rows=found, lines=False)


@contextmanager
def _json(place: Place) -> Iterator[Table]:
    with text_of(place) as text:
        yield Table(columns=(), rows=_counted(values_in(text, place.path), place.path), lines=False)


def _counted(values: Iterable[tuple[int, object]], path: str) -> Iterator[Numbered]:
    for number, row in values:
        if isinstance(row, dict):
            yield number, row
        else:
            found = f"a JSON {type(row).__name__} where an object is needed"
            remedy = 'write an array of objects: [{"text": ..., "rating": ...}, ...]'
            yield number, InputError(found, path=path, row=number, remedy=remedy)


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


@contextmanager
def _text(place: Place) -> Iterator[Table]:
    name = place.reading.columns.text or "text"
    with text_of(place) as lines:
        rows: Iterator[Numbered] = (
            (number, {name: line.rstrip("\n").removeprefix("\ufeff" if number == 1 else "")})
            for number, line in enumerate(lines, 1)
        )
        yield Table(columns=(name,), rows=rows)


FORMATS: dict[str, Opener] = {
    "jsonl": _jsonl,
    "json": _json,
    "csv": comma_separated,
    "tsv": tab_separated,
    "parquet": parquet,
    "excel": excel,
    "text": _text,
}
