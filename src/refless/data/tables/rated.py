"""The rated texts of a table: its cells of ratings as numbers, each with its text and annotator."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from refless.data.choices import ITEM
from refless.data.human import (
    canonical_order,
    check_scale,
    human_ratings,
    with_sorted_ratings,
)
from refless.data.records import RatedPool, Ratings, Scale, picked
from refless.data.tables.cells import each_once, shown, time_of_cell
from refless.data.tables.columns import SUMMARIES
from refless.data.tables.ratings import (
    BLANKS,
    MOST_RATINGS,
    PAIRED,
    Spelled,
    Words,
    blanks_of,
    comma_note,
    direction_said,
    marks_fault,
    rating_of,
    scale_of_words,
    single_ratings,
    spelled,
    turned,
    words_fault,
    words_of,
)
from refless.data.tables.reading import Reading
from refless.data.tables.roles import are_texts, n_within
from refless.data.tables.spellings import folded
from refless.data.tables.table import Merged, Read, RowTable
from refless.registry.arrays import FloatArray, IntArray, Names, Strings, codes
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError
from refless.registry.plural import counted

FULL_ROWS = 5  # that tell a mean of columns
TOGETHER = ("task", "system", "source", "item")  # equal in rows of one text
ROUNDED = 0.051  # how far a mean that is written with one digit may be off
Keys = Sequence[Hashable] | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PoolRead(Read):
    """A rated pool and what there is to say about how it was read.

    Attributes:
        pool: the rated texts; n_unrated: rows beside them that nobody rated.
    """

    pool: RatedPool
    n_unrated: int = 0


class Rated(NamedTuple):
    """Rated texts, which rows make which of them, and rows of texts that nobody rated."""

    read: PoolRead
    groups: Merged
    unrated: Sequence[int]


class _Cells(NamedTuple):
    """All single ratings, and which rows have any, bad ones too.

    Of each rating its row, its column and the number, NaN for none; columns by place among names.
    """

    columns: Strings
    row: IntArray
    column: IntArray
    values: FloatArray
    rated: Sequence[bool]
    scale: Scale | None
    notes: Strings


def rated_of(table: RowTable, reading: Reading, *, both: bool = False) -> Rated:
    """The rated texts of a table; raises as `read_pool`.

    If `both`, rows without a rating are outputs, which answer for their own faults.
    """
    _refuse_summary(table)
    cells = _cells(table, reading, both=both)
    times, untimed = _times(table, named=reading.columns.time is not None)
    bad = table.rows.bad
    if bad:
        _refuse_half_choices(table)
    good = [row for row in range(len(table)) if row not in bad]
    rated = [row for row in good if cells.rated[row]]
    if not rated:
        raise table.unusable()
    keys = keys_of(table, several="annotator" in table.names)
    groups = table.merged(good, keys)
    groups = groups if len(rated) == len(good) else table.merged(rated, keys)
    ratings, nameless = _ratings(table, groups, cells, times)
    unrated = len(good) - len(rated)
    fate = "estimates may stand for them" if both else "left out of the rated texts"
    verb = "has" if unrated == 1 else "have"
    omitted = f"{unrated} of {counted(len(table), 'row')} {verb} no rating: {fate}"
    omissions = [omitted] if unrated else []
    notes = (*table.roles.notes, *cells.notes, *omissions, *untimed)
    notes = (*notes, *table.merged_note(groups), *nameless, *_file_each(table))
    n = len(groups.first)
    of_rated = [row for row in bad if cells.rated[row] or not both]
    pool = RatedPool(
        **table.about(groups),
        human=human_ratings(ratings, n, scale=cells.scale),
        ratings=ratings,
        scale=cells.scale,
        named="id" in table.names,
    )
    summary = table.summary(groups, notes, of_rated, "skipped")
    rated_keys = set() if keys is None else {keys[row] for row in groups.first}
    blank = [row for row, known in enumerate(cells.rated) if not known]
    outputs = [row for row in blank if keys is None or keys[row] not in rated_keys]
    read = PoolRead(
        pool=pool, columns=table.roles.columns, n_unrated=len(outputs), **summary
    )
    return Rated(read, groups, outputs)


def sorted_pool(table: RowTable, rated: Rated) -> Rated:
    """The same with the texts in canonical order: from here on no number depends on that of rows.

    Of texts that are alike in all that is known of a text, the other cells of their rows decide.
    """
    read = sorted_read(rated.read, _by_cells(table, rated.read.first))
    return Rated(read, replace(rated.groups, first=read.first), rated.unrated)


def sorted_read(read: PoolRead, before: IntArray) -> PoolRead:
    """The same with the texts in canonical order; those that are alike keep the order before."""
    order = before[canonical_order(read.pool.take(before))]
    pool = with_sorted_ratings(read.pool.take(order))
    return replace(read, pool=pool, **by_text(read, order))


def by_text(read: Read, order: IntArray) -> dict[str, Any]:
    """The columns of a `Read`, for the texts in another order."""
    rows = read.first_rows
    return {
        "group": picked(read.group, order),
        "files": picked(read.files, order),
        "first": picked(read.first, order),
        "first_rows": rows[order] if len(rows) else rows,
    }


def _by_cells(table: RowTable, rows: Sequence[int]) -> IntArray:
    """[n] places of these rows, sorted by all their cells."""
    cells = [*zip(*table.rows.columns.values(), strict=True)]
    keys = [repr(cells[row]) for row in rows]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _refuse_summary(table: RowTable) -> None:
    """Refuses the last row if its text is a word such as 'Mean', and those above are texts."""
    last = len(table) - 1
    if folded(table.texts[last].strip(": ")) in SUMMARIES and are_texts(
        table.texts[:last]
    ):
        problem = f"{shown(table.texts[last])} seems to sum up the rows above"
        table.rows.refuse(last, problem, "delete the row", table.roles.column("text"))


def _file_each(table: RowTable) -> Strings:
    """A note where nobody is named, and most texts are in several files."""
    if "annotator" in table.names or table.raters or len(table.rows.parts) < 2:
        return ()
    again = n_within(keys_of(table, several=True) or (), table.rows.files)
    note = "most texts are in several files: if each file is a person's ratings, give it a "
    note += "column 'annotator' with the name"
    return (note,) if 2 * sum(n > 1 for n in again) > len(again) else ()


def _refuse_half_choices(table: RowTable) -> None:
    """Refuses all rows of a choice between two texts of which one row is bad."""
    items = table.names.get("item", [])
    halved = {items[row] for row in table.rows.bad if items}
    for row, item in enumerate(items):
        if item in halved and item.startswith(ITEM):
            problem = "the other text of the choice is bad"
            table.rows.refuse(row, problem, "mend it, or drop the choice")


def has_ratings(table: RowTable) -> bool:
    """Whether any cell of the rating columns is filled."""
    values = each_once(spelled, _singles(table)[2])
    return not {None, *BLANKS}.issuperset(values)


def _cells(table: RowTable, reading: Reading, *, both: bool) -> _Cells:
    """Every rating as a finite number on the scale; InputError for words without a meaning."""
    scale = table.rows.scale if reading.scale is None else reading.scale
    check_scale(scale)
    rows, names, cells = _singles(table)
    if marks := marks_fault(cells, scale):
        place, problem, remedy = marks
        raise table.rows.fault(rows[place], problem, remedy, names[place])
    words, of_blanks = _without_blanks(cells, reading)
    different = {*words}
    meanings, notes = words_of(different, reading.rating_map)
    if scale is None and reading.rating_map is None:
        scale = scale_of_words(meanings)
    unknown = {word for word in different if word not in meanings}
    _check_words(table, reading, zip(rows, names, words, strict=True), unknown)
    rated = [False] * len(table)
    for row in compress(rows, (word is not None for word in words)):
        rated[row] = True
    _check_any(table, rated, both=both)
    values, faults = _numbers(words, meanings, scale)
    for row, name, word in zip(rows, names, words, strict=True) if faults else ():
        if fault := faults.get(word):
            table.rows.refuse(row, fault.found, fault.remedy, name)
    _check_means(table, rows, names, values)
    columns = {name: i for i, name in enumerate(sorted(table.roles.all("rating")))}
    column = np.array([columns[name] for name in names], dtype=np.int64)
    values, turns = _higher_is_better(table, reading, column, values, scale)
    return _Cells(
        columns=tuple(columns),
        row=np.array(rows, dtype=np.int64),
        column=column,
        values=values,
        rated=rated,
        scale=scale,
        notes=(*notes, *comma_note(cells), *of_blanks, *turns),
    )


def _without_blanks(
    cells: Sequence[object], reading: Reading
) -> tuple[list[Spelled], list[str]]:
    """Cells of ratings as numbers or words, None for a blank one, and notes on words for blanks."""
    words = each_once(spelled, cells)
    blank = blanks_of(reading.rating_map)
    if blank.isdisjoint(words):
        return words, []
    pairs = zip(cells, words, strict=True)
    counts = Counter(str(cell).strip() for cell, word in pairs if word in blank)
    notes = []
    for word, n in counts.items():
        verb = "is" if n == 1 else "are"
        notes.append(f"{counted(n, 'rating cell')} '{word}' {verb} read as blank")
    return [None if word in blank else word for word in words], notes


def _numbers(
    words: Sequence[Spelled], meanings: Words, scale: Scale | None
) -> tuple[FloatArray, dict[Spelled, InputError]]:
    """[k] spelled ratings as numbers, NaN if there is none, and what is wrong with some of them."""
    numbers: dict[Spelled, float] = {}
    faults: dict[Spelled, InputError] = {}
    for word in {*words}:
        if word is not None:
            try:
                numbers[word] = rating_of(word, meanings, scale)
            except InputError as fault:
                faults[word] = fault
    values = [numbers.get(word, np.nan) for word in words]
    return np.array(values, dtype=np.float64), faults


def _higher_is_better(
    table: RowTable,
    reading: Reading,
    column: IntArray,
    values: FloatArray,
    scale: Scale | None,
) -> tuple[FloatArray, Strings]:
    """The ratings, higher ones being better, with notes on columns that are turned or look odd.

    Args:
        table: all rows; reading: which columns are turned.
        column: [k] place of each rating's column among their sorted names; values: [k] ratings.
        scale: lowest and highest rating, if known.

    Raises:
        UsageError: a name that is no column of ratings or scores.
    """
    names = sorted(table.roles.all("rating"))
    for name in () if reading.beside_rated else reading.lower:
        if name not in names and name not in table.scores:
            turn = called("lower_is_better", name)
            raise UsageError(
                f"{turn}: it is no {called('score_column')} and no column of ratings"
            )
    values = values.copy()
    notes = list[str]()
    for place, name in enumerate(names):
        places = (column == place) & ~np.isnan(values)
        if name in reading.lower and places.any():
            highest = values[places].max()
            values[places] = turned(values[places], scale)
            notes.append(
                f"ratings '{name}': lower is better, so {highest:g} is {values[places].min():g}"
            )
            continue
        criterion = f"{name} {reading.dimension or ''}"
        said = direction_said(name, criterion, values[places], scale)
        notes += [f"ratings '{name}': {said}"] if said else []
    return values, tuple(notes)


def _singles(table: RowTable) -> tuple[list[int], list[str], list[object]]:
    """The row, the column and the cell of each rating; too long a list makes a bad row."""
    rows = list[int]()
    names = list[str]()
    cells = list[object]()
    for name in table.roles.all("rating"):
        own, singles = single_ratings(table.rows.columns[name])
        for row, n in Counter(own).items() if len(own) > len(table) else ():
            if n > MOST_RATINGS:
                problem = f"more than {MOST_RATINGS} ratings in one cell"
                table.rows.refuse(row, problem, "give the ratings a row each", name)
        rows += own
        names += [name] * len(own)
        cells += singles
    return rows, names, cells


def _check_means(
    table: RowTable, rows: Sequence[int], names: Names, values: FloatArray
) -> None:
    """Raises InputError for a column that is the mean of two or more others in every row."""
    columns = table.roles.all("rating")
    if len(columns) <= 2:
        return
    place = {name: i for i, name in enumerate(columns)}
    ratings = np.full((len(table), len(columns)), np.nan)
    ratings[rows, [place[name] for name in names]] = values
    means = [name for i, name in enumerate(columns) if _is_mean(ratings, i)]
    if len(means) == 1:  # of raters who always agree each is the mean of the others
        problem = f"'{means[0]}' is the mean of the other columns of ratings, and no annotator"
        annotators = [name for name in columns if name not in means]
        flags = called("columns", {"rating": annotators})
        raise InputError(
            problem, path=table.rows.name, remedy=f"name the others alone: {flags}"
        )


def _is_mean(ratings: FloatArray, column: int) -> bool:
    """Whether a column is the mean of the others, also where they differ, which some rows show."""
    annotators = np.delete(ratings, column, axis=1)
    rated = ~np.isnan(ratings[:, column])
    complete = rated & ~np.isnan(annotators).any(axis=1)
    differ = np.ptp(annotators[complete], axis=1) > 0
    if differ.sum() < FULL_ROWS or np.isnan(annotators[rated]).all(axis=1).any():
        return False
    off = ratings[complete, column] - annotators[complete].mean(axis=1)
    return bool(np.all(np.abs(off) <= ROUNDED))


def _check_words(
    table: RowTable,
    reading: Reading,
    places: Iterable[tuple[int, str, Spelled]],
    unknown: set[Spelled],
) -> None:
    """Raises InputError for words without a meaning; first for those that belong to no pair."""
    words = sorted(word for word in unknown if isinstance(word, str))
    rated = reading.rating_map is not None or any(
        isinstance(word, float) for word in unknown
    )
    if not words or (reading.skip_bad and rated):
        return
    every = words
    if reading.rating_map is None:
        words = [word for word in words if word not in PAIRED] or words
    row, name = min((row, name) for row, name, word in places if word in words)
    raise table.rows.fault(row, *words_fault(words, every), name)


def _check_any(table: RowTable, rated: Sequence[bool], *, both: bool) -> None:
    """Without any rating every row is bad, or nothing can be estimated."""
    if any(rated):
        return
    if both:
        remedy = f"rate some of them, or give the rated texts with {called('rated')}"
        raise InputError("no text has a rating", path=table.rows.name, remedy=remedy)
    columns = table.roles.all("rating")
    for row in range(len(table)):
        only = columns[0] if len(columns) == 1 else None
        table.rows.refuse(row, "no rating", "rate the text or drop the row", only)


def keys_of(table: RowTable, *, several: bool) -> Keys:
    """The keys of texts: the id, else with several raters task, system, source, item and text."""
    names = table.names
    if "id" in names:
        return names["id"]
    if not several:
        return None
    parts = [names[role] for role in TOGETHER if role in names]
    return list(zip(*parts, table.texts, strict=True))


def keys_of_unrated(table: RowTable) -> Keys:
    """The keys of outputs that nobody rated: the same, but each row without annotator is one."""
    keys = keys_of(table, several="annotator" in table.names)
    if keys is None or "id" in table.names:
        return keys
    pairs = zip(keys, table.names["annotator"], strict=True)
    return [key if name else row for row, (key, name) in enumerate(pairs)]


def _ratings(
    table: RowTable, groups: Merged, cells: _Cells, times: FloatArray
) -> tuple[Ratings, Strings]:
    """The single ratings in the order of rows, and a note on annotators.

    Several columns are one annotator each, unless each has annotators beside it; a blank cell there
    is no rating.
    """
    text = np.full(len(table), -1, dtype=np.int64)
    text[groups.rows] = groups.text
    usable = ~np.isnan(cells.values) & (text[cells.row] >= 0)
    order = np.lexsort((cells.column, cells.row))
    order = order[usable[order]]
    row = cells.row[order]
    names = cells.columns
    ratings = Ratings(
        text=text[row],
        annotator=cells.column[order],
        values=cells.values[order],
        annotators=names if len(names) > 1 else (),
        times=times[row] if len(times) else times,
    )
    if len(names) > 1 and not table.raters:
        return ratings, ()
    if not table.raters and "annotator" not in table.names:
        return ratings, ()
    by_column = [table.raters.get(name) or table.names["annotator"] for name in names]
    places = zip(cells.column[order].tolist(), row.tolist(), strict=True)
    return _by_people(ratings, [by_column[column][row] for column, row in places])


def _by_people(ratings: Ratings, who: Names) -> tuple[Ratings, Strings]:
    """The ratings with the person who gave each, and a note on nameless or repeated ones."""
    names = tuple(sorted({*who}))
    ratings = replace(ratings, annotator=codes(who), annotators=names)
    if nameless := who.count(""):
        note = f"{counted(nameless, 'rating')} without an annotator count as one annotator's"
        return ratings, (note,)
    again = len(who) - len({*zip(ratings.text.tolist(), who, strict=True)})
    note = f"{counted(again, 'time')} an annotator rated the same text again; every rating counts"
    return ratings, (note,) if again else ()


def _times(table: RowTable, *, named: bool) -> tuple[FloatArray, Strings]:
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
                return np.zeros(0), (
                    f"column '{column}' holds no times: {fault.found}",
                )
            table.rows.refuse(row, fault.found, fault.remedy, column)
    return times, ()
