"""Files -> rows with their places: plain formats, and exports of tools told by their content."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import PurePath

import msgspec

from refless.data.tables.columns import Keep
from refless.data.tables.delimited import comma_separated, tab_separated
from refless.data.tables.excel import excel
from refless.data.tables.exports import exported, exports
from refless.data.tables.exports.format import at, fields_of, items
from refless.data.tables.parquet import parquet
from refless.data.tables.reading import Reading
from refless.data.tables.source import Numbered, Source
from refless.data.tables.streams import (
    ZIP,
    Place,
    beginning,
    check_encoding,
    head_of,
    raw_of,
    text_of,
)
from refless.files.untrusted import is_file, workbook_of
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
_json_row = msgspec.json.Decoder().decode


def source_of(path: str, reading: Reading, keep: Keep) -> AbstractContextManager[Source]:
    """The rows of a file, open while the context lasts; faults of its bytes are InputErrors.

    Raises:
        InputError: a file that is not there, is empty, or contains something else.
        UsageError: an unknown format or encoding.
    """
    names = (*FORMATS, *exports())
    if reading.format is not None and reading.format not in names:
        raise UsageError(f"no format '{reading.format}'; there are {', '.join(names)}")
    check_encoding(reading.encoding)
    if (folder := _folder_of(path)) is not None:
        return _export(Place(path=path, raw=b"", reading=reading), keep, folder)
    place = place_of(f"{path}/{RECORDS}" if holds_rows(path) else path, reading)
    name = reading.format or format_of(place)
    return _export(place, keep, name) if name in exports() else FORMATS[name](place, keep)


def place_of(path: str, reading: Reading) -> Place:
    """A file, or a sheet of it, with how to read it; raises InputError if it cannot be read."""
    file, sheet = workbook_of(path)
    return Place(path=path, raw=raw_of(file, reading.max_bytes), reading=reading, sheet=sheet)


def holds_rows(path: str) -> bool:
    """Whether this is a folder that a tool wrote, in which there are rows."""
    return _folder_of(path) is not None or is_file(f"{path}/{RECORDS}")


def _folder_of(path: str) -> str | None:
    """The export that this folder is, or None."""
    return next((name for name, export in exports().items() if export.is_folder(path)), None)


def format_of(place: Place) -> str:
    """The format by the name's ending, `.gz` aside, else by content; exports always by content."""
    ending = PurePath(workbook_of(place.path)[0].removesuffix(".gz")).suffix.lower()
    plain = ENDINGS.get(ending) or _plain(place, ending)
    first = _first(place, plain, sniff=ending not in ENDINGS)
    return next((name for name, export in exports().items() if export.looks_like(first)), plain)


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
        return "json" if ending == ".json" and not _object_in(header) else "jsonl"
    if "\t" in header:
        return "tsv"
    return "csv" if "," in header else "text"


def _object_in(line: str) -> Mapping[str, object]:
    """The object on a line of JSON; an empty one for anything else."""
    with suppress(ValueError, RecursionError):
        if isinstance(row := json.loads(line), dict):
            return row
    return {}


def _first(place: Place, plain: str, *, sniff: bool) -> Mapping[str, object]:
    """The first object of a file of JSON, else the names of its columns; nothing of plain text.

    A zip archive of a tool, which only a name like a spreadsheet's rules out, has a header.
    """
    if plain == "excel":
        headers = (export.header(place) for export in exports().values()) if sniff else ()
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
    plain = _plain(place)
    inner = items(at(_first(place, plain, sniff=False), *export.within.split(".")))
    if export.within and plain in {"json", "jsonl"} and inner:
        yield exported(_objects(inner, place.path), export, place, keep)
        return
    with FORMATS[plain](place, lambda _: True) as source:
        yield exported(source, export, place, keep)


@contextmanager
def _json(place: Place, _: Keep) -> Iterator[Source]:
    yield _objects(place.values, place.path)


def _objects(values: Iterable[object], path: str) -> Source:
    """Objects counted from 1; any other value is a bad row."""
    remedy = 'write an array of objects: [{"text": ..., "rating": ...}, ...]'

    def rows() -> Iterator[Numbered]:
        for number, row in enumerate(values, 1):
            if isinstance(row, dict):
                yield number, row
            else:
                yield number, InputError(_no_object(row), path=path, row=number, remedy=remedy)

    return Source(rows=rows(), lines=False)


def _no_object(row: object) -> str:
    return f"a JSON {type(row).__name__} where an object is needed"


@contextmanager
def _jsonl(place: Place, _: Keep) -> Iterator[Source]:
    with text_of(place) as lines:
        yield Source(rows=_rows_on(lines, place.path))


def _rows_on(lines: Iterable[str], path: str) -> Iterator[Numbered]:
    for number, line in enumerate(lines, 1):
        line = line.removeprefix("\ufeff") if number == 1 else line
        try:
            row = _json_row(line)
        except (ValueError, RecursionError):
            if line.isspace() or not line:
                continue
            row = _slow_row(line, path, number)
        if isinstance(row, dict | InputError):
            yield number, row
        else:
            remedy = 'write one object a line: {"text": ..., "rating": ...}'
            yield number, InputError(_no_object(row), path=path, line=number, remedy=remedy)


def _slow_row(line: str, path: str, number: int) -> object:
    """What the fast reader refuses: NaN, huge numbers and lone surrogates get their own answer."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as fault:
        if "\0" in line:
            problem = f"a NUL character (position {line.index(chr(0)) + 1})"
        elif isinstance(fault, json.JSONDecodeError):
            problem = f"not JSON: {fault.msg} (position {fault.colno})"
        else:
            problem = f"not JSON that can be read: {fault}"
        return InputError(problem, path=path, line=number, remedy="write one JSON object a line")


@contextmanager
def _text(place: Place, _: Keep) -> Iterator[Source]:
    name = place.reading.columns.text or "text"
    with text_of(place) as lines:
        rows: Iterator[Numbered] = (
            (number, {name: line.rstrip("\n").removeprefix("\ufeff" if number == 1 else "")})
            for number, line in enumerate(lines, 1)
        )
        yield Source(columns=(name,), rows=rows)


FORMATS: dict[str, Opener] = {
    "jsonl": _jsonl,
    "json": _json,
    "csv": comma_separated,
    "tsv": tab_separated,
    "parquet": parquet,
    "excel": excel,
    "text": _text,
}
