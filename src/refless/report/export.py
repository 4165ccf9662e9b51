"""Results as other programs read them: JSON of a mapping, JSONL and CSV of rows."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

Cell = str | float | int | None
Rows = Sequence[Mapping[str, Cell]]  # all with the same keys


def as_json(result: object) -> str:
    """One indented object; NaN is null."""
    import msgspec

    return msgspec.json.format(_encoded(result), indent=2).decode() + "\n"


def as_jsonl(rows: Rows) -> str:
    """One object a text."""
    return "".join(_encoded(row).decode() + "\n" for row in rows)


def _encoded(value: object) -> bytes:
    """JSON in which a lone surrogate, which UTF-8 cannot hold, is a replacement character."""
    import msgspec

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


def as_csv(rows: Rows) -> str:
    """One row a text; an undefined number is an empty cell."""
    buffer = io.StringIO()
    names = list(rows[0]) if rows else []
    writer = csv.DictWriter(buffer, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    return buffer.getvalue()


def _cell(value: Cell) -> Cell:
    return "" if value is None or value != value else value
