"""Single values: those of foreign types (Arrow, numpy, pandas, polars) as JSON has them; checks.

The errors raised here name no place; whoever knows the row adds it.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from types import NoneType
from typing import Any, TypeVar

import numpy as np

from refless.files.untrusted import check_foreign
from refless.registry.arrays import Strings
from refless.registry.dialect import called
from refless.registry.errors import InputError
from refless.registry.plural import counted

_FORMULA_ERROR = re.compile(
    r"#(N/A|NAME\?|(REF|VALUE|DIV/0|NUM|NULL|SPILL|CALC|FIELD|ERROR)!)"
)
_PLAIN = {str, int, bool, type(None)}
_ABSENT = ("NAType", "NaTType")  # pandas.NA and pandas.NaT
# as numpy, pandas, polars, Arrow say
_SHORT_FLOATS = {
    "float16",
    "float32",
    "halffloat",
    "float",
}
_READ = ("to_pylist", "tolist", "to_list")  # Arrow, numpy and pandas, polars
_DEEPEST = 100
_OF_FORMS = re.compile(r"(.+ [AP]M) GMT([+-])(\d{1,2})(?::(\d\d))?")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands for a cell that its own library cannot give to Python; whoever needs it refuses it."""

    why: str

    def __repr__(self) -> str:
        return self.why


def each_once(function: Callable[[object], T], cells: Sequence[object]) -> list[T]:
    """[n] what a function returns of each cell; it is called once for equal texts or integers."""
    kinds = {*map(type, cells)} - {NoneType}
    if kinds not in ({str}, {int}):  # 1, 1.0 and True are equal, but not alike
        return [*map(function, cells)]
    results = {cell: function(cell) for cell in dict.fromkeys(cells)}
    return [*map(results.__getitem__, cells)]


def cells_of(column: Iterable[object]) -> list[object]:
    """The values of a column as JSON would have them; a missing one, NaN, NaT and NA are None.

    Dates and times stay what they are, or are text if Python's own types cannot hold them.
    Bytes are text in UTF-8. What cannot be had at all is `Unreadable`.
    """
    kind = str(getattr(column, "dtype", getattr(column, "type", "")))
    values = _values(column)
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
    if isinstance(value, Decimal):  # a signaling NaN cannot even be compared
        return None if value.is_nan() else value
    if isinstance(value, list | tuple | Mapping):
        return (
            Unreadable("nested too deep")
            if depth > _DEEPEST
            else _nested(value, depth + 1)
        )
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


def _values(column: Any) -> list[Any]:  # noqa: ANN401 - a column of any library
    """The values as the column's own library gives them, all at once or one by one."""
    read = next((name for name in _READ if hasattr(column, name)), None)
    try:
        return list(column) if read is None else list(getattr(column, read)())
    except BaseException as fault:  # noqa: BLE001 - polars panics with no Exception
        check_foreign(fault)
    return [_value(column, row) for row in range(len(column))]


def _value(column: Any, row: int) -> object:  # noqa: ANN401 - a column of any library
    try:
        value = column.iloc[row] if hasattr(column, "iloc") else column[row]
        return value.as_py() if hasattr(value, "as_py") else value
    except BaseException as fault:  # noqa: BLE001 - polars panics with no Exception
        return _unreadable(fault)


def _unreadable(fault: BaseException) -> Unreadable:
    """The stand-in for a value that its library cannot give."""
    check_foreign(fault)
    if isinstance(fault, UnicodeError):
        return Unreadable("bytes that are not UTF-8")
    return Unreadable(
        f"a value that cannot be read ({' '.join(str(fault).split())[:80]})"
    )


def opening(role: str, name: str = "NAME") -> str:
    """The remedy for a column of a role whose cells hold objects, with a name in them."""
    return f"{called('columns', {role: f'COLUMN.{name}'})} reads what is inside"


def text_of_cell(value: object) -> str:
    """A text as it stands, "" too; raises InputError for None and for what is no text."""
    if value is None:
        raise InputError("no text", remedy='give the row a text; an empty one is ""')
    if not isinstance(value, str):
        remedy = "texts must be strings"
        if isinstance(value, dict):
            remedy += f"; {opening('text', next(iter(value), 'NAME'))}"
        raise InputError(f"{shown(value)} is not a string", remedy=remedy)
    if value[:1] == "#" and _FORMULA_ERROR.fullmatch(value):
        problem = f"{shown(value)} is an error of a spreadsheet's formula"
        raise InputError(problem, remedy="mend the formula, or drop the row")
    if "\0" in value:
        raise InputError(
            f"a NUL character (position {value.index(chr(0)) + 1})", remedy="remove it"
        )
    try:
        value.encode()
    except UnicodeEncodeError as fault:
        problem = (
            f"a lone surrogate \\u{ord(value[fault.start]):04x}: half of a character"
        )
        raise InputError(
            problem, remedy="write the character whole or remove it"
        ) from fault
    return value


def name_of_cell(value: object) -> str:
    """A name: strings as they stand, numbers as written, None as ""; else raises InputError."""
    if type(value) is str:
        return text_of_cell(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict | tuple | Unreadable):
        raise InputError(
            f"{shown(value)} is not a name", remedy="names must be strings or numbers"
        )
    try:
        return text_of_cell(str(value))
    except ValueError as fault:  # a number of thousands of digits
        raise InputError(
            f"{shown(value)} is not a name", remedy="shorten it"
        ) from fault


def source_of_cell(value: object) -> str:
    """A source: a name, or a list or object (turns of a dialogue) as its JSON."""
    if isinstance(value, list | dict):
        try:
            text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
        except (RecursionError, ValueError) as fault:
            problem = f"{shown(value)} cannot be written as JSON"
            raise InputError(problem, remedy="give the source as text") from fault
        return text_of_cell(text)
    return name_of_cell(value)


def references_of_cells(values: list[object]) -> Strings:
    """The references in a row's cells, strings and lists of strings; else raises InputError.

    A blank cell is no reference; a blank string in a list is one.
    """
    result: list[str] = []
    for value in values:
        if isinstance(value, list):
            result += map(text_of_cell, value)
        elif value is not None and value != "":
            result.append(text_of_cell(value))
    return tuple(result)


def weights_of_cell(value: object, n_references: int) -> tuple[float, ...]:
    """The references' weights in [-1, 1]: numbers, or a cell such as `1 0.5 -1`."""
    if isinstance(value, str):
        value = [
            part for part in re.split(r"[\s,;]+", value.strip().strip("[]")) if part
        ]
    if value is None:
        value = []
    values: list[Any] = value if isinstance(value, list) else [value]
    try:
        weights = tuple(float(number) for number in values)
    except (TypeError, ValueError, OverflowError) as fault:
        raise InputError(
            f"{shown(value)} is not a list of weights", remedy="weights are numbers"
        ) from fault
    if len(weights) != n_references:
        problem = f"{counted(len(weights), 'weight')} for {counted(n_references, 'reference')}"
        raise InputError(problem, remedy="give each reference one weight")
    for weight in weights:
        if not (math.isfinite(weight) and -1 <= weight <= 1):
            remedy = "weights go from -1 to 1: (r - 3) / 2 for ratings r of 1 to 5"
            raise InputError(f"weight {weight} is outside -1 to 1", remedy=remedy)
    return weights


def time_of_cell(value: object) -> float:
    """A date or time as seconds, of UTC without a zone, a number as it stands, NaN for a blank."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return math.nan
    try:
        if isinstance(value, int | float):
            number = float(value)
        elif isinstance(value, date) and not isinstance(value, datetime):
            number = datetime(
                value.year, value.month, value.day, tzinfo=UTC
            ).timestamp()
        else:
            number = _seconds(value)
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        remedy = "write times as 2026-03-31T14:05, or as numbers that rise"
        raise InputError(f"{shown(value)} is no time", remedy=remedy)
    return number


def _of_form(when: str, sign: str, hours: str, minutes: str) -> datetime:
    """A time as Google's forms write it, in a zone so far from Greenwich."""
    zone = f"{sign}{hours:>02}{minutes:>02}"
    return datetime.strptime(f"{when} {zone}", "%Y/%m/%d %I:%M:%S %p %z")


def _seconds(value: object) -> float:
    text = str(value).strip()
    try:
        return float(text)
    except ValueError:
        zoned = _OF_FORMS.fullmatch(text)
        when = _of_form(*zoned.groups("0")) if zoned else datetime.fromisoformat(text)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def json_in_cell(value: object) -> object:
    """The object or list that a text holds as JSON; any other cell as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def shown(value: object, limit: int = 40) -> str:
    """A value for a message: short and printable."""
    try:
        text = repr(value)
    except (
        RecursionError,
        ValueError,
    ):  # nested too deep, a number of thousands of digits
        text = f"a very long {type(value).__name__}"
    return text if len(text) <= limit else f"{text[:limit]}..."
