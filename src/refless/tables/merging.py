"""Rows that speak of one text -> one text; what they disagree about is an error."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from refless.errors import InputError
from refless.records import IntArray
from refless.tables.gathering import Gathered


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Merged:
    """Which rows make which text.

    Attributes:
        rows: [m] numbers of the usable rows, in file order.
        text: [m] the text each belongs to, counted in order of first appearance.
        first: [n] each text's first row.
    """

    rows: Sequence[int]
    text: IntArray
    first: Sequence[int]


def merged(rows: Sequence[int], keys: Iterable[Hashable] | None) -> Merged:
    """Rows with equal keys as one text; without keys every row is its own."""
    if keys is None:
        return Merged(rows=rows, text=np.arange(len(rows), dtype=np.int64), first=rows)
    index: dict[Hashable, int] = {}
    text = np.fromiter((index.setdefault(key, len(index)) for key in keys), np.int64, len(rows))
    _, places = np.unique(text, return_index=True)
    return Merged(rows=rows, text=text, first=[rows[i] for i in places])


def check_agreement(
    table: Gathered,
    groups: Merged,
    values: Mapping[str, Sequence[object]],
    ids: Sequence[str] | None,
) -> None:
    """Rows of one text must agree in every column about the text.

    Args:
        values: role -> [n of table] values by row.
        ids: [n of table] id of each row, where ids made the rows one text.

    Raises:
        InputError: naming both lines.
    """
    if len(groups.first) == len(groups.rows):
        return
    firsts = [groups.first[text] for text in groups.text.tolist()]
    for role, column in values.items():
        if [column[row] for row in groups.rows] == [column[row] for row in firsts]:
            continue
        for row, first in zip(groups.rows, firsts, strict=True):
            if column[row] != column[first]:
                who = "one text" if ids is None else f"id '{ids[row]}'"
                raise _disagreement(table, first, row, who, role)


def _disagreement(table: Gathered, first: int, row: int, who: str, role: str) -> InputError:
    path, line = table.place(row)
    other_path, other_line = table.place(first)
    where = f"line {other_line}" if path == other_path else f"{other_path}, line {other_line}"
    found = f"{who} has two {plural(role)}: here and on {where}"
    remedy = f"give each text its own id, or make the {plural(role)} equal"
    return InputError(found, path=path, line=line, remedy=remedy)


def plural(role: str) -> str:
    """A role's name for more than one."""
    return role if role.endswith("s") else f"{role}s"
