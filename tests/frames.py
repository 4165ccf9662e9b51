"""Rows as data frames of any library hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class Frame:
    """What data frames have in common: columns by name, and no truth value."""

    def __init__(self, columns: Mapping[Any, Any]) -> None:
        self._columns = columns
        self.columns = list(columns)

    def __getitem__(self, name: Any) -> Any:
        return self._columns[name]

    def __bool__(self) -> bool:
        raise ValueError("the truth value of a data frame is ambiguous")

    __eq__ = None  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns; what a row lacks is None."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}
