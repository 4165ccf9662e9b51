"""Values of foreign types (Arrow, numpy, pandas, polars) -> values as JSON has them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from refless.files.untrusted import check_foreign

_PLAIN = {str, int, bool, type(None)}
_ABSENT = ("NAType", "NaTType")  # pandas.NA and pandas.NaT
_SHORT_FLOATS = {"float16", "float32", "halffloat", "float"}  # as numpy, pandas, polars, Arrow say
_READ = ("to_pylist", "tolist", "to_list")  # Arrow, numpy and pandas, polars
_NANOSECONDS = re.compile(r"time64\[ns\]|Time|Datetime\(time_unit='ns'.*")  # Arrow, polars
_ZEROS = re.compile(r"(\.\d{6})000$|\.0+$")
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands for a cell that its own library cannot give to Python; whoever needs it refuses it."""

    why: str

    def __repr__(self) -> str:
        return self.why


def cells_of(column: Iterable[object]) -> list[object]:
    """The values of a column as JSON would have them; a missing one, NaN, NaT and NA are None.

    Dates and times stay what they are, or are text if Python's own types cannot hold them.
    Bytes are text in UTF-8. What cannot be had at all is `Unreadable`.
    """
    kind = str(getattr(column, "dtype", getattr(column, "type", "")))
    values = _values(column, kind)
    if kind.lower() in _SHORT_FLOATS:  # 4.8 in 32 bits is 4.800000190734863 in 64
        values = [np.float32(v) if isinstance(v, float) else v for v in values]
    return values if {*map(type, values)} <= _PLAIN else [*map(cell_of, values)]


def cell_of(value: object, depth: int = 0) -> object:
    """One cell as JSON would have it."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, np.float16 | np.float32):
        value = float(str(value))
    elif isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        return None if value != value else value
    if isinstance(value, list | tuple | Mapping):
        return Unreadable("nested too deep") if depth > _DEEPEST else _nested(value, depth + 1)
    if type(value).__name__ in _ABSENT:
        return None
    try:
        if isinstance(value, bytes | bytearray | memoryview):
            return bytes(value).decode()
        _ = str(value), repr(value)  # pandas has dates that cannot be written
    except Exception as fault:  # noqa: BLE001 - whatever its class raises
        return _unreadable(fault)
    return value


def _nested(value: Any, depth: int) -> object:  # noqa: ANN401 - a list or a mapping
    if isinstance(value, Mapping):
        return {str(name): cell_of(inner, depth) for name, inner in value.items()}
    return [cell_of(inner, depth) for inner in value]


def _values(column: Any, kind: str) -> list[Any]:  # noqa: ANN401 - a column of any library
    """The values as the column's own library gives them."""
    read = next((name for name in _READ if hasattr(column, name)), None)
    try:
        if _NANOSECONDS.fullmatch(kind):  # Python's own types would cut them, and make two one
            return [*map(_trimmed, getattr(_as_text(column, kind), read or "to_list")())]
        return list(column) if read is None else list(getattr(column, read)())
    except BaseException as fault:  # noqa: BLE001 - polars panics with no Exception
        check_foreign(fault)
    return [_value(column, row) for row in range(len(column))]


def _as_text(column: Any, kind: str) -> Any:  # noqa: ANN401 - a column of Arrow or polars
    """The column as text, with nanoseconds; polars writes a time's only if it is told to."""
    if kind == "time64[ns]":
        return column.cast("string")
    return column.dt.to_string("%H:%M:%S%.9f") if kind == "Time" else column.cast(str)


def _value(column: Any, row: int) -> object:  # noqa: ANN401 - a column of any library
    """One value of a column that does not come as a whole; dates as Arrow writes them."""
    value: Any = None
    try:
        value = column.iloc[row] if hasattr(column, "iloc") else column[row]
        return value.as_py() if hasattr(value, "as_py") else value
    except BaseException as fault:  # noqa: BLE001 - polars panics with no Exception
        unreadable = _unreadable(fault)
    try:
        text = str(value.cast("string")) if "time" in str(value.type) else ""
    except Exception as fault:  # noqa: BLE001 - whatever Arrow says of it
        check_foreign(fault)
        return unreadable
    return unreadable if "out of range" in text else _trimmed(text) or unreadable


def _unreadable(fault: BaseException) -> Unreadable:
    """What stands for a value that its library cannot give."""
    check_foreign(fault)
    if isinstance(fault, UnicodeError):
        return Unreadable("bytes that are not UTF-8")
    return Unreadable(f"a value that cannot be read ({' '.join(str(fault).split())[:80]})")


def _trimmed(text: str | None) -> str | None:
    """Without the nanoseconds, or the fraction, if they are 0: as Python writes a time."""
    return None if text is None else _ZEROS.sub(r"\1", text)
