"""Sources of rows: files, and what lies in memory already."""

from collections.abc import Mapping, Sequence
from itertools import chain, repeat, zip_longest
from os import PathLike, fspath
from typing import Any, Protocol, TypeAlias, cast

from refless.data.records import Outputs, RatedPool
from refless.data.tables.cells import cell_of, cells_of
from refless.data.tables.columns import Keep
from refless.data.tables.reading import GLIMPSE, NumberedRows, Source
from refless.data.tables.streams import TEXTS_ALONE, check_names
from refless.files.untrusted import matching
from refless.registry.errors import InputError, UsageError

FRAME = "the data frame"
COLUMNS = "the columns"
ROWS = "the rows"


class Frame(Protocol):
    """A data frame (pandas, polars, Arrow): columns by their names, listed in an attribute."""

    def __getitem__(self, name: Any, /) -> Any:  # noqa: ANN401
        """The column of a name."""
        ...


Rows: TypeAlias = (
    str
    | PathLike[str]
    | Sequence[str | PathLike[str]]
    | Frame
    | Mapping[str, Sequence[object]]
    | Sequence[Mapping[str, object]]
    | RatedPool
    | Outputs
)


def paths_of(rows: object) -> list[str] | None:
    """The files' names, those of patterns too; None for rows in memory. `-` is standard input."""
    files = [rows] if isinstance(rows, str | PathLike) else rows
    if not isinstance(files, list | tuple):
        return None
    if not files:
        raise UsageError("there is nothing to read: the list of files or rows is empty")
    if not all(isinstance(path, str | PathLike) for path in files):
        return None
    paths = [*chain.from_iterable(matching(fspath(path)) for path in files)]
    if paths.count("-") > 1:
        raise UsageError("standard input can be read only once")
    return paths


def source_in_memory(rows: object, keep: Keep) -> tuple[str, Source]:
    """The name of rows in memory for messages, and the rows, which are not changed.

    Raises:
        InputError: columns of different lengths, two columns of one name.
        UsageError: neither a data frame, nor a mapping of columns, nor a list of mappings.
    """
    if type(rows).__name__ == "LazyFrame":
        raise UsageError("a LazyFrame has no rows yet; give what its collect() returns")
    names = getattr(rows, "column_names", getattr(rows, "columns", None))
    if isinstance(rows, Mapping):
        return COLUMNS, _source_of_columns(rows, list(rows), keep, COLUMNS)
    if names is not None and not callable(names):
        return FRAME, _source_of_columns(cast("Frame", rows), list(names), keep, FRAME)
    if isinstance(rows, list | tuple):
        return ROWS, Source(rows=_objects(rows), lines=False)
    raise UsageError(
        "rows are files, a data frame, a mapping of columns or a list of dicts, "
        f"not {type(rows).__name__}; {TEXTS_ALONE}"
    )


def first_row(rows: object) -> Mapping[str, object]:
    """The first row of what lies in memory, or its columns."""
    _, source = source_in_memory(rows, lambda _: False)
    if source.columns:
        return dict.fromkeys(source.columns)
    _, row = next(source.rows, (0, {}))
    return row if isinstance(row, Mapping) else {}


def _source_of_columns(
    rows: Frame, names: list[object], keep: Keep, path: str
) -> Source:
    texts = [str(name) for name in names]
    check_names(texts, path)
    index = _index_of(rows, texts)
    texts += index
    # without any, rows could not be counted
    needed = {*filter(keep, texts)} or {*texts[:1]}
    every = {t: rows[name] for t, name in zip(texts, names, strict=False)} | index
    columns = {name: every[name] for name in every if name in needed}
    glimpses = {name: _first_cells(every[name]) for name in every if name not in needed}
    indexes = {}
    if path != FRAME:
        indexes = {
            name: getattr(column, "index", None) for name, column in columns.items()
        }
    for name, column in columns.items():
        if isinstance(column, str) or not hasattr(column, "__iter__"):
            problem = f"{type(column).__name__} where a column is needed"
            raise InputError(
                problem, path=path, column=name, remedy="give a list of values"
            )
        columns[name] = cells_of(column)
    _check_indexes(indexes)
    lengths = {len(column): name for name, column in columns.items()}
    if len(lengths) > 1:
        listed = ", ".join(f"'{name}' has {n}" for n, name in sorted(lengths.items()))
        raise InputError(f"columns of different lengths: {listed}", path=path)
    cells = enumerate(zip(*columns.values(), strict=True), 1)
    numbered = ((n, dict(zip(columns, row, strict=True))) for n, row in cells)
    padded = chain(zip_longest(*glimpses.values()), repeat(()))
    glimpsed = (
        (n, row | dict(zip(glimpses, cells, strict=False)))
        for (n, row), cells in zip(numbered, padded, strict=False)
    )
    return Source(columns=tuple(texts), rows=glimpsed, lines=False)


def _index_of(rows: Frame, columns: Sequence[str]) -> dict[str, Any]:
    """The index of a data frame of pandas, by those of its names that are new."""
    index: Any = getattr(rows, "index", None)
    if not hasattr(index, "get_level_values"):
        return {}
    names = [
        name for name in index.names if name is not None and str(name) not in columns
    ]
    return {str(name): index.get_level_values(name) for name in names}


def _first_cells(column: Any) -> list[object]:  # noqa: ANN401 - a column of any library
    """The first cells of a column that is not wanted; none if they cannot be had."""
    try:
        return cells_of(getattr(column, "iloc", column)[:GLIMPSE])
    except Exception:  # noqa: BLE001 - whatever its class raises
        return []


def _check_indexes(indexes: Mapping[str, Any]) -> None:
    """Refuses Series with the same labels in another order: their cells would pair by place."""
    labels = {
        name: [*index] for name, index in indexes.items() if hasattr(index, "equals")
    }
    first = next(iter(labels), "")
    for name, own in labels.items():
        if own != labels[first] and {*own} & {*labels[first]}:
            problem = f"the indexes of '{first}' and '{name}' differ"
            remedy = (
                "join the Series by their labels (pandas.DataFrame({...}).dropna()), "
            )
            remedy += "or pair them by place with .reset_index(drop=True)"
            raise InputError(problem, path=COLUMNS, remedy=remedy)


def _objects(rows: Sequence[object]) -> NumberedRows:
    for number, row in enumerate(rows, 1):
        if isinstance(row, Mapping):
            yield number, {str(name): cell_of(value) for name, value in row.items()}
        else:
            problem = f"a {type(row).__name__} where a dict is needed"
            remedy = 'give one dict a row: {"text": ..., "rating": ...}'
            yield number, InputError(problem, remedy=remedy)
