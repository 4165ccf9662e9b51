"""Rows with the texts of several systems side by side -> a row for each text."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice

from refless.data.tables.columns import ALIASES, Columns, Keep, folded
from refless.data.tables.source import ImportNotes, Row, Source
from refless.registry.errors import InputError

_SIDE = re.compile(r"(.+)[_ -]([a-z]|v?\d+|old|new)", re.IGNORECASE)  # output_a, output_v1


def with_sides(keep: Keep) -> Keep:
    """The same, of names of either side too."""
    return lambda name: keep(name) or keep(_stem(name))


def _stem(name: str) -> str:
    """`output` of `output_v1`; a name without such an end as it is."""
    side = _SIDE.fullmatch(name)
    return side[1] if side else name


def lengthened(table: Source, columns: Columns, path: str) -> Source:
    """The rows of a table, or a row for each text if a row holds those of several systems."""
    first = [*islice(table.rows, 1)]
    row = first[0][1] if first else {}
    names = table.columns or (() if isinstance(row, InputError) else tuple(row))
    table, ends = replace(table, rows=chain(first, table.rows)), _ends(names)
    shared = {*columns.rating, *columns.score} & {*names}  # of the row, and so of no one text
    if table.notes is not None or columns.text is not None or shared or len(ends) < 2:
        return table
    keyed = {folded(name) for name in names}
    item = "id" if "id" in names or keyed.isdisjoint(ALIASES["source"]) else None
    if not keyed.isdisjoint(ALIASES["item"]) or columns.item or columns.id or columns.source:
        item = None
    sides = partial(_split, ends=ends, item=item)
    header = sides(dict.fromkeys(names), path)[0] if table.columns else {}
    sentence = f"a row holds texts of {', '.join(ends)}: each is read as a row"
    rows = (
        (number, part)
        for number, row in table.rows
        for part in ([row] if isinstance(row, InputError) else sides(row, f"{path}:{number}"))
    )
    notes = ImportNotes(tool="", sentences=[sentence])
    return replace(table, columns=tuple(header), rows=rows, notes=notes)


def _ends(names: Sequence[str]) -> list[str]:
    """The systems by which columns of texts are told apart; none if a column is about a text."""
    sides = [(folded(side[1]), side[2]) for side in map(_SIDE.fullmatch, names) if side]
    texts = [(stem, end) for stem, end in sides if stem in ALIASES["text"]]
    plain = {*ALIASES["text"], *ALIASES["system"], *ALIASES["rating"]} & {*map(folded, names)}
    return [end for _, end in texts] if not plain and len({stem for stem, _ in texts}) == 1 else []


def _split(row: Row, place: str, ends: Sequence[str], item: str | None) -> list[Row]:
    """A row for each end; the id of the row, or its place, becomes the item."""
    of_row = {} if item is None else {"item": row.get(item, place)}
    by_side: dict[str, Row] = {end.casefold(): {"system": end} for end in ends}
    for name, value in row.items():
        match = _SIDE.fullmatch(name)
        if match and match[2].casefold() in by_side:
            by_side[match[2].casefold()][match[1]] = value
        elif name != item:
            of_row[name] = value
    return [of_row | side for side in by_side.values()]
