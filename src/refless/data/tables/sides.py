"""Rows with the texts of several systems side by side, in columns that are named after these."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from refless.data.tables.columns import Keep, matches, unclear
from refless.data.tables.reading import Row, Source
from refless.data.tables.roles import ROLES, Columns, are_texts, names_of
from refless.data.tables.spellings import folded
from refless.registry.arrays import Names

_IN_BRACKETS = re.compile(r"(.+?)[_ -]*[(\[](.+)[)\]]")
_GAP = re.compile("[_ -]+")
_USUAL = re.compile(r"[a-z]|v?\d+|old|new", re.IGNORECASE)

Place = tuple[str, str]  # a column's name without its system, and the system


class Side(NamedTuple):
    """A column of texts of one system."""

    column: str
    stem: str  # its name without the system
    system: str

    @property
    def is_first(self) -> bool:
        """Whether the stem stands before the system."""
        return self.column.startswith(self.stem)


def places(name: str) -> Iterator[Place]:
    """The places that a name may stand for: of `answer (v1)`, `answer_v1` and `v1 answer`."""
    if bracketed := _IN_BRACKETS.fullmatch(name):
        yield bracketed[1], bracketed[2]
        return
    gaps = [*_GAP.finditer(name, 1, len(name) - 1)]
    parts = [(name[: gap.start()], name[gap.end() :]) for gap in reversed(gaps)]
    yield from parts
    yield from [(after, before) for before, after in reversed(parts)]


def with_sides(keep: Keep) -> Keep:
    """The same, of names of either side too: of `output_v1` if `output` is kept."""
    return lambda name: (
        keep(name)
        or any(keep(stem) and _USUAL.fullmatch(end) for stem, end in places(name))
    )


def lengthened(table: Source, columns: Columns, path: str) -> Source:
    """The rows of a table, or a row for each text if a row holds those of several systems."""
    row, table = table.peeked()
    names = table.columns or tuple(row)
    # of the row, and so of no one text
    shared = {*columns.rating, *columns.score} & {*names}
    ends = {} if table.notes is not None or shared else _ends(names, row, columns)
    if len(ends) < 2:
        return table
    keyed = {folded(name) for name in names}
    item = "id" if "id" in names or keyed.isdisjoint(ROLES["source"].words) else None
    if (
        not keyed.isdisjoint(ROLES["item"].names)
        or columns.item
        or columns.id
        or columns.source
    ):
        item = None
    place_of = _placing(ends)
    placed = [*filter(None, map(place_of, names))]
    if len({*placed}) < len(placed):  # two columns would be one
        return table
    listed = ", ".join(side.system for side in ends.values())
    sentence = f"a row holds texts of {listed}: each is read as a row"
    return table.reshaped(_splitting(ends, place_of, item, path), sentence)


def patterns_of(texts: Names, header: Names) -> dict[str, str]:
    """By role, patterns of columns of texts and ratings that are named after the same systems."""
    ends: dict[str, set[str]] = {}
    for name in header:
        for stem, end in places(name):
            pattern = f"{stem}*" if name.startswith(stem) else f"*{stem}"
            ends.setdefault(pattern, set()).add(end)
    for pattern, own in ends.items():
        if len(own) > 1 < sum(matches(name, pattern) for name in texts):
            alike = [other for other in ends if other != pattern and ends[other] >= own]
            ratings = {"rating": alike[0]} if len(alike) == 1 else {}
            return {"text": pattern, **ratings}
    return {}


def _ends(names: Names, row: Row, columns: Columns) -> dict[str, Side]:
    """The systems by which columns of texts are told apart; none if a column is about a text.

    Names of systems other than v1, a or old count if a flag names the texts (`Antwort*`), or if
    columns of ratings or scores have them too.
    """
    given = columns.text
    known = {*map(folded, names)}
    stems = names_of(["text"])
    if given is not None:
        stems = {folded(given.strip("* _-") or given)}
    of_one_text = {*names_of(["text", "system", "rating"]), *stems}
    if given in names or not of_one_text.isdisjoint(known):
        return {}
    texts = _by_end(names, lambda stem: folded(stem) in stems)
    usual = [end for end in texts if _USUAL.fullmatch(end)]
    if len(usual) > 1:
        texts = {end: texts[end] for end in usual}
    elif given is not None:
        texts = {
            end: side
            for end, side in texts.items()
            if not _is_number(row.get(side.column))
        }
    else:
        rated = _by_end(names, lambda stem: _is_rating(stem, columns))
        texts = {end: texts[end] for end in rated if end in texts}
        cells = [row.get(side.column) for side in texts.values()]
        if not all(cell in (None, "") or are_texts([cell]) for cell in cells):
            return {}
    alike = {(folded(side.stem), side.is_first) for side in texts.values()}
    return texts if len(alike) == 1 else {}


def _is_number(cell: object) -> bool:
    """Whether a cell is a number, maybe as a string."""
    return bool(re.fullmatch(r"\s*-?\d+([.,]\d+)?\s*", str(cell)))


def _by_end(names: Names, is_meant: Callable[[str], bool]) -> dict[str, Side]:
    """By system, in small letters, the column of a stem that is meant."""
    ends: dict[str, Side] = {}
    for name in names:
        for stem, end in places(name):
            if is_meant(stem):
                ends.setdefault(end.casefold(), Side(name, stem, end))
                break
    return ends


def _is_rating(stem: str, columns: Columns) -> bool:
    """Whether columns of this name hold ratings or scores."""
    flags = (*columns.rating, *columns.score)
    named = any(matches(stem, flag) for flag in flags)
    return named or folded(stem) in ROLES["rating"].names or bool(unclear([stem]))


def _placing(ends: Mapping[str, Side]) -> Callable[[str], Place | None]:
    """Finds the stem and the system of a column whose name is made as those of the texts are."""
    is_first = all(side.is_first for side in ends.values())

    @cache
    def place_of(name: str) -> Place | None:
        for stem, end in places(name):
            if end.casefold() in ends and name.startswith(stem) == is_first:
                return stem, end.casefold()
        return None

    return place_of


def _splitting(
    ends: Mapping[str, Side],
    place_of: Callable[[str], Place | None],
    item: str | None,
    path: str,
) -> Callable[[Row, int], list[Row]]:
    """Makes a row for each end; the id of the row, or its place, becomes the item."""

    def split(row: Row, line: int) -> list[Row]:
        of_row = {} if item is None else {"item": row.get(item, f"{path}:{line}")}
        by_side: dict[str, Row] = {end: {} for end in ends}
        for name, value in row.items():
            if place := place_of(name):
                stem, end = place
                by_side[end][stem] = value
            elif name != item:
                of_row[name] = value
        for end, side in by_side.items():
            if {*map(folded, side)}.isdisjoint(ROLES["system"].names):
                side["system"] = ends[end].system
        return [of_row | side for side in by_side.values()]

    return split
