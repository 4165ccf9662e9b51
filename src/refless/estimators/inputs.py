"""Inputs of estimators: pools, outputs, texts, or anything with a column `text`."""

from collections.abc import Mapping, Sequence
from typing import Any

from refless.data.human import pool_of
from refless.data.records import Outputs, RatedPool, as_outputs, numbered
from refless.registry.arrays import FloatArray
from refless.registry.errors import UsageError

Given = Any  # texts as a list or an array, or what has columns (pandas, polars, pyarrow, a dict)


def rated_given(
    rows: RatedPool | Given,
    ratings: Sequence[float] | Sequence[Sequence[float]] | FloatArray | None,
    sources: Sequence[str],
) -> RatedPool:
    """The rated texts to learn from.

    Raises:
        UsageError: ratings missing or given twice, or lengths that differ.
    """
    if isinstance(rows, RatedPool):
        return pool_of(rows, ratings)
    texts, column, systems = columns_in(rows)
    if len(column) and len(sources):
        raise UsageError(
            "there is a column 'source' already; do not pass sources beside it"
        )
    return pool_of(texts, ratings, sources=tuple(sources) or column, systems=systems)


def outputs_in(rows: Outputs | RatedPool | Given) -> Outputs:
    """The texts to be scored; raises as `columns_in` does."""
    if isinstance(rows, Outputs):
        return rows
    if isinstance(rows, RatedPool):
        return as_outputs(rows)
    texts, sources, systems = columns_in(rows)
    return Outputs(
        ids=numbered(len(texts)), texts=texts, sources=sources, systems=systems
    )


def columns_in(rows: Given) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Texts, sources and systems, () for none, of a list or array of texts, or of columns.

    Raises:
        UsageError: columns, and none of them is called `text`; or a bare string, which would be
            read letter by letter.
    """
    names = rows.keys() if isinstance(rows, Mapping) else getattr(rows, "columns", None)
    names = getattr(rows, "column_names", names)
    if isinstance(rows, str):
        raise UsageError("a list of texts is needed, got one string; wrap it in a list")
    if names is None:
        return _strings(rows, "text"), (), ()
    if "text" not in names:
        raise UsageError(
            f"a column 'text' is needed; there are {', '.join(map(str, names))}"
        )
    sources, systems = (
        _strings(rows[name] if name in names else (), name, missing="")
        for name in ("source", "system")
    )
    return _strings(rows["text"], "text"), sources, systems


def _strings(column: Any, role: str, missing: str | None = None) -> tuple[str, ...]:  # noqa: ANN401 - of any library
    entries = tuple(column.to_pylist() if hasattr(column, "to_pylist") else column)
    if missing is not None:
        entries = tuple(
            missing if entry is None or entry != entry else entry for entry in entries
        )
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, str):
            raise UsageError(f"{role} {number} is not a string: {entry!r}")
    return entries
