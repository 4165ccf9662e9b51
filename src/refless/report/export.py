"""Results as other programs read them: JSON of a mapping, JSONL and CSV of rows."""

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import msgspec

from refless.registry.errors import MissingExtraError, UsageError

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
Cell = Any  # text, a number, None; of joined files whatever JSON can hold
Rows = Sequence[Mapping[str, Cell]]  # all with the same keys


def as_json(result: object) -> str:
    """One indented object; NaN is null."""
    return msgspec.json.format(_encoded(result), indent=2).decode() + "\n"


def as_jsonl(rows: Rows) -> str:
    """One object a text."""
    return "".join(_encoded(row).decode() + "\n" for row in rows)


def _encoded(value: object) -> bytes:
    """JSON in which a lone surrogate, which UTF-8 cannot hold, is a replacement character."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_encodable(msgspec.to_builtins(value)))


def _encodable(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_encodable(key): _encodable(entry) for key, entry in value.items()}
    return [*map(_encodable, value)] if isinstance(value, list | tuple) else value


def as_csv(rows: Rows, *, safe: bool = False) -> str:
    """One row a text; an undefined number is an empty cell.

    Args:
        rows: the rows.
        safe: whether a text that a spreadsheet would take for a formula begins with `'`; one more
            where it begins so already, so that one less gives the text back.
    """
    lines: list[str] = []
    # what is quoted hangs on how lines end, and a text may hold a carriage return
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\r\n")
    table = [[*rows[0]], *(row.values() for row in rows)] if rows else [[]]
    for row in table:
        writer.writerow([_cell(value, safe=safe) for value in row])
    return "".join(line.removesuffix("\r\n") + "\n" for line in lines)


def _cell(value: Cell, *, safe: bool) -> Cell:
    if safe and isinstance(value, str) and _FORMULA.match(value):
        return f"'{value}"
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return "" if value is None or value != value else value


def as_parquet(rows: Rows) -> bytes:
    """One row a text, in columns.

    Raises:
        MissingExtraError: without pyarrow.
        UsageError: a column that holds several kinds of things.
    """
    try:
        from pyarrow import ArrowException, Table
        from pyarrow.parquet import write_table
    except ImportError as fault:
        raise MissingExtraError("Parquet", "parquet") from fault
    stream = io.BytesIO()
    try:
        write_table(Table.from_pylist([*rows]), stream)
    except (ArrowException, OverflowError, UnicodeEncodeError) as fault:
        why = f"these rows do not fit into Parquet ({fault}); write .jsonl"
        raise UsageError(why) from fault
    return stream.getvalue()
