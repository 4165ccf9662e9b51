"""Rows that speak of one text -> one text; what they disagree about is an error."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from refless.data.tables.load_columns import Gathered
from refless.registry.arrays import IntArray


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


def merged(rows: Sequence[int], keys: Sequence[Hashable] | None) -> Merged:
    """The rows with equal keys as one text; without keys every row is its own.

    Args:
        rows: [m] numbers of rows.
        keys: [n of table] what makes rows one text.
    """
    if keys is None:
        return Merged(rows=rows, text=np.arange(len(rows), dtype=np.int64), first=rows)
    index: dict[Hashable, int] = {}
    text = np.fromiter(
        (index.setdefault(keys[row], len(index)) for row in rows), np.int64, len(rows)
    )
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
        InputError: naming both rows.
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
                roles = role if role.endswith("s") else f"{role}s"
                found = f"{who} has two {roles}: here and on {table.place(first, beside=row)}"
                remedy = f"give each text its own id, or make the {roles} equal"
                raise table.fault(row, found, remedy)
