"""The rated texts of a table: its cells of ratings as numbers, each with its text and annotator."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from refless.data.human import check_scale, human_ratings
from refless.data.records import RatedPool, Ratings, Scale
from refless.data.tables.cells import time_of_cell
from refless.data.tables.ratings import (
    BLANKS,
    PAIRS,
    comma_note,
    rating_of,
    spelled,
    words_fault,
    words_of,
)
from refless.data.tables.reading import Reading
from refless.data.tables.table import Merged, Read, Table
from refless.registry.arrays import FloatArray
from refless.registry.errors import InputError
from refless.registry.plural import counted

PAIR_SCALE = (0.0, 1.0)  # of words that speak for themselves, such as up and down
Keys = Sequence[Hashable] | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PoolRead(Read):
    """A rated pool and what there is to say about how it was read."""

    pool: RatedPool


class Rated(NamedTuple):
    """Rated texts, which rows make which of them, and rows of texts that nobody rated."""

    read: PoolRead
    groups: Merged
    unrated: Sequence[int]


class _Cells(NamedTuple):
    """Ratings by row and sorted column, NaN for none; which rows have any, bad ones too."""

    columns: tuple[str, ...]
    values: FloatArray
    rated: list[bool]
    scale: Scale | None
    notes: tuple[str, ...]


def rated_of(table: Table, reading: Reading, *, both: bool = False) -> Rated:
    """The rated texts of a table; raises as `read_pool`.

    If `both`, rows without a rating are outputs, which answer for their own faults.
    """
    cells = _cells(table, reading, both=both)
    times, untimed = _times(table, named=reading.columns.time is not None)
    bad = table.rows.bad
    good = [row for row in range(len(table)) if row not in bad]
    rated = [row for row in good if cells.rated[row]]
    if not rated:
        first = next(iter(table.rows.bad.values()))
        raise InputError("no usable row is left", path=table.rows.name, remedy=str(first))
    keys = _keys(table)
    groups = table.merged(good, keys)
    groups = groups if len(rated) == len(good) else table.merged(rated, keys)
    ratings, nameless = _ratings(table, groups, cells, times)
    unrated = len(good) - len(rated)
    fate = "their texts are to be estimated" if both else "left out of the rated texts"
    verb = "has" if unrated == 1 else "have"
    omitted = f"{unrated} of {counted(len(table), 'row')} {verb} no rating: {fate}"
    notes = (*table.roles.notes, *cells.notes, *([omitted] if unrated else []))
    notes = (*notes, *untimed, *table.merged_note(groups), *nameless)
    n, of_rated = len(groups.first), [row for row in bad if cells.rated[row] or not both]
    pool = RatedPool(
        **table.about(groups),
        human=human_ratings(ratings, n, scale=cells.scale, aggregate=reading.aggregate),
        ratings=ratings,
        scale=cells.scale,
        aggregate=reading.aggregate,
        named="id" in table.names,
    )
    summary = table.summary(groups, notes, of_rated, "skipped")
    read = PoolRead(pool=pool, columns=table.roles.columns, **summary)
    taken = set() if keys is None else {keys[row] for row in groups.first}
    outputs = [row for row, known in enumerate(cells.rated) if not known]
    return Rated(read, groups, [row for row in outputs if keys is None or keys[row] not in taken])


def has_ratings(table: Table) -> bool:
    """Whether any cell of the rating columns is filled."""
    values = map(spelled, chain.from_iterable(table.cells("rating")))
    return any(value is not None and value not in BLANKS for value in values)


def _cells(table: Table, reading: Reading, *, both: bool) -> _Cells:
    """Every rating cell as a finite number on the scale; InputError for words without a meaning."""
    scale = table.rows.scale if reading.scale is None else reading.scale
    check_scale(scale)
    columns = tuple(sorted(table.roles.all("rating")))
    blank = BLANKS.difference(map(spelled, reading.rating_map or ()))
    spellings: dict[str, list[float | str | None]] = {}
    blanks: Counter[str] = Counter()
    for name in table.roles.all("rating"):
        cells = table.rows.columns[name]
        words = [*map(spelled, cells)]
        if not blank.isdisjoint(words):
            pairs = zip(cells, words, strict=True)
            blanks.update(str(cell).strip() for cell, word in pairs if word in blank)
            words = [None if word in blank else word for word in words]
        spellings[name] = words
    different = {*chain.from_iterable(spellings.values())}
    meanings, notes = words_of(different, reading.rating_map)
    if scale is None and reading.rating_map is None and meanings:
        scale = PAIR_SCALE
    _check_words(table, reading, spellings, {w for w in different if w not in meanings})
    rated = [any(word is not None for word in row) for row in zip(*spellings.values(), strict=True)]
    _check_any(table, rated, both=both)
    numbers, faults = dict[object, float](), dict[object, InputError]()
    for word in different - {None}:
        try:
            numbers[word] = rating_of(word, meanings, scale)  # type: ignore[arg-type]
        except InputError as fault:
            faults[word] = fault
    for name, words in spellings.items():
        for row, word in enumerate(words) if faults else ():
            if error := faults.get(word):
                table.rows.refuse(row, error.found, error.remedy, name)
    values = [[numbers.get(word, np.nan) for word in spellings[name]] for name in columns]
    notes = (*notes, *comma_note(chain.from_iterable(table.cells("rating"))))
    notes += tuple(
        f"{counted(n, 'rating cell')} '{word}' {'is' if n == 1 else 'are'} read as blank"
        for word, n in blanks.items()
    )
    return _Cells(columns, np.array(values, dtype=np.float64).T, rated, scale, notes)


def _check_words(
    table: Table,
    reading: Reading,
    spellings: Mapping[str, Sequence[float | str | None]],
    unknown: set[float | str | None],
) -> None:
    """Raises InputError for words without a meaning; first for those that belong to no pair."""
    words = sorted(word for word in unknown if isinstance(word, str))
    rated = reading.rating_map is not None or any(isinstance(word, float) for word in unknown)
    if not words or (reading.skip_bad and rated):
        return
    if reading.rating_map is None:
        words = [word for word in words if not any(word in pair for pair in PAIRS)] or words
    places = (
        (column.index(word), name)
        for name, column in spellings.items()
        for word in words
        if word in column
    )
    row, name = min(places)
    raise table.rows.fault(row, *words_fault(words), name)


def _check_any(table: Table, rated: Sequence[bool], *, both: bool) -> None:
    """Without any rating every row is bad, or nothing can be estimated."""
    if any(rated):
        return
    if both:
        remedy = "rate some of them, or give the rated texts with --rated"
        raise InputError("no text has a rating", path=table.rows.name, remedy=remedy)
    columns = table.roles.all("rating")
    for row in range(len(table)):
        only = columns[0] if len(columns) == 1 else None
        table.rows.refuse(row, "no rating", "rate the text or drop the row", only)


def _keys(table: Table) -> Keys:
    """What makes rows one text: the id, else with annotators task, system, source and text."""
    names = table.names
    if "id" in names:
        return names["id"]
    if "annotator" not in names:
        return None
    parts = (names.get("task"), names.get("system"), names.get("source", names.get("item")))
    return list(zip(*(part for part in parts if part is not None), table.texts, strict=True))


def _ratings(
    table: Table, groups: Merged, cells: _Cells, times: FloatArray
) -> tuple[Ratings, tuple[str, ...]]:
    """The single ratings in the order of rows, and a note on annotators.

    Several columns are one annotator each, and a blank cell there is no rating. Places in lists
    are no annotators.
    """
    rows = [*groups.rows]
    owners = [table.roles.owners.get(name, name) for name in cells.columns]
    names = tuple(sorted({*owners}))
    place, column = np.nonzero(~np.isnan(cells.values[rows]))
    ratings = Ratings(
        text=groups.text[place],
        annotator=np.array([names.index(name) for name in owners], np.int64)[column],
        values=cells.values[rows][place, column],
        annotators=names if len(names) > 1 else (),
        times=times[rows][place] if len(times) else times,
    )
    if len(names) > 1 or "annotator" not in table.names:
        return ratings, ()
    who = [table.names["annotator"][row] for row in rows]
    names = tuple(sorted({*who}))
    number = {name: i for i, name in enumerate(names)}
    annotator = np.array([number[name] for name in who], np.int64)[place]
    ratings = replace(ratings, annotator=annotator, annotators=names)
    if nameless := who.count(""):
        note = f"{counted(nameless, 'rating')} without an annotator count as one annotator's"
        return ratings, (note,)
    again = len(who) - len({*zip(groups.text.tolist(), who, strict=True)})
    note = f"{counted(again, 'time')} an annotator rated the same text again; every rating counts"
    return ratings, (note,) if again else ()


def _times(table: Table, *, named: bool) -> tuple[FloatArray, tuple[str, ...]]:
    """[n] when each row was rated, or none; a note if a column was taken for times.

    A column that no flag names, and that contains something else, is left alone.
    """
    column = table.roles.column("time")
    if column is None:
        return np.zeros(0), ()
    times = np.full(len(table), np.nan)
    for row, cell in enumerate(table.rows.columns[column]):
        try:
            times[row] = time_of_cell(cell)
        except InputError as fault:
            if not named:
                return np.zeros(0), (f"column '{column}' holds no times: {fault.found}",)
            table.rows.refuse(row, fault.found, fault.remedy, column)
    return times, ()
