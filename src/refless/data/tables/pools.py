"""Rows -> rated pools."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np

from refless.data.human import check_scale, human_ratings
from refless.data.records import RatedPool, Ratings, Scale, Texts
from refless.data.tables.cells import counted, time_of_cell
from refless.data.tables.columns import POOL_ROLES, scores_among
from refless.data.tables.memory import Rows
from refless.data.tables.merging import Merged, merged
from refless.data.tables.ratings import (
    Words,
    comma_note,
    not_understood,
    rating_of,
    spelled,
    without_blanks,
    words_fault,
    words_of,
)
from refless.data.tables.reading import PLAIN, Reading
from refless.data.tables.validate_rows import (
    Checked,
    Read,
    about,
    agree,
    checked,
    checked_batches,
    merged_note,
    said,
)
from refless.registry.arrays import FloatArray
from refless.registry.errors import InputError, UsageError

Spelled = list[float | str | None]
Keys = Sequence[Hashable] | None
T = TypeVar("T", bound=Texts)
PAIR_SCALE = (0.0, 1.0)  # of words that speak for themselves, such as up and down


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PoolRead(Read):
    """A rated pool and what there is to say about how it was read."""

    pool: RatedPool


class Rated(NamedTuple):
    """Rated texts, which rows make which of them, and rows of texts that nobody rated."""

    read: PoolRead
    groups: Merged
    others: Sequence[int]


def read_pool(rows: Rows, reading: Reading = PLAIN) -> PoolRead:
    """The rated texts in rows from anywhere; a RatedPool passes through.

    Rows merge into one text on an id or, where an annotator column exists and no id, on task,
    system, source and text; otherwise one row is one text. Texts keep the order of the rows.
    Rows without a rating are left out, as long as any row has one.

    Args:
        rows: files (`-` is standard input), one after the other, a data frame, a mapping of
            columns or a list of dicts.
        reading: which column is what, the scale and how to read files.

    Raises:
        InputError: what docs/errors.md lists, with its place and column.
        UsageError: settings that cannot be honoured.
        MissingExtraError: Parquet without pyarrow.
    """
    if isinstance(rows, RatedPool):
        check_made_with(rows, reading)
        return PoolRead(pool=with_scores(rows, reading.columns.score, "rated texts"))
    return rated_of(checked(rows, reading, POOL_ROLES), reading).read


def read_pools(rows: Rows, reading: Reading, size: int) -> Iterator[PoolRead]:
    """The rated texts, at most so many rows at a time; nothing is kept from one to the next.

    Rows of one text may lie in several batches: `joining.joined` says what is one text.

    Raises:
        InputError, UsageError, MissingExtraError: as `read_pool`, when the batch is asked for; a
            column that begins after the first batch.
    """
    if isinstance(rows, RatedPool) or reading.dimension or reading.columns.dimension:
        yield read_pool(rows, reading)
        return
    unrated: InputError | None = None
    done, some = 0, False
    for table in checked_batches(rows, reading, POOL_ROLES, size):
        place = f"rows {done + 1:,} to {done + len(table.table):,}: " if done else ""
        done += len(table.table)
        try:
            found = rated_of(table, reading).read
        except InputError as fault:
            if _is_rated(table, reading):
                raise
            unrated = fault
            continue
        some = True
        yield replace(found, notes=tuple(place + line for line in found.notes))
    if unrated is not None and not some:
        raise unrated


def _is_rated(rows: Checked, reading: Reading) -> bool:
    """Whether any row has a rating."""
    cells = chain.from_iterable(_spellings(rows, reading)[0].values())
    return any(cell is not None for cell in cells)


def with_scores(texts: T, names: Sequence[str], what: str) -> T:
    """Texts with the scores that flags name, or with all that they have where none do.

    Args:
        texts: from memory or an index; names: of columns, or patterns.
        what: the texts are called.

    Raises:
        UsageError: texts without any scores.
        InputError: a name that is none of theirs.
    """
    if not names:
        return texts
    if not texts.score_names:
        given = " ".join(f"--score-column {name}" for name in names)
        raise UsageError(f"the {what} keep no scores; make them again with {given}")
    return texts.with_scores(scores_among(names, texts.score_names, f"the {what}"))


def check_made_with(pool: RatedPool, reading: Reading, what: str = "rated pool") -> None:
    """Raises UsageError where rated texts were made with other settings than are asked for."""
    if reading.scale is not None and reading.scale != pool.scale:
        scale = "no --scale" if pool.scale is None else "--scale {:g} {:g}".format(*pool.scale)
        raise UsageError(f"the {what} was made with {scale}; leave --scale out, or make another")
    if reading.aggregate not in {"mean", pool.aggregate}:
        raise UsageError(f"the {what} was made with --aggregate {pool.aggregate}; make another")
    if reading.columns.group is not None:
        raise UsageError(f"the {what} has no column '{reading.columns.group}' to group by")


def rated_of(
    rows: Checked,
    reading: Reading,
    more: Mapping[str, Sequence[object]] = MappingProxyType({}),
    *,
    both: bool = False,
) -> Rated:
    """The rated texts of checked rows; raises as `read_pool`.

    Args:
        more: further columns that rows of one text must agree on.
        both: whether rows without a rating are outputs, which answer for their own faults.
    """
    if reading.scale is None:
        reading = replace(reading, scale=rows.table.scale)
    check_scale(reading.scale)
    spellings, words, notes = _spellings(rows, reading)
    if reading.scale is None and reading.rating_map is None and words:
        reading = replace(reading, scale=PAIR_SCALE)
    rated = _rated(rows, spellings, both=both)
    times, untimed = _times(rows, named=reading.columns.time is not None)
    values = {
        name: _values(rows, name, column, words, reading.scale)
        for name, column in spellings.items()
    }
    bad = rows.table.bad
    good = [row for row in range(len(rated)) if row not in bad] if bad else range(len(rated))
    kept = good if all(rated) else [row for row in good if rated[row]]
    if not kept:
        first = next(iter(rows.table.errors.values()))
        raise InputError("no usable row is left", path=rows.table.name, remedy=str(first))
    keys = _pool_keys(rows)
    groups = merged(good, keys)
    agree(rows, groups, more)
    groups = groups if kept is good else merged(kept, keys)
    ratings, nameless = _ratings(rows, groups, values, times)
    unrated = len(good) - len(kept)
    left = (
        f"{unrated} of {counted(len(rated), 'row')} {'has' if unrated == 1 else 'have'} no rating"
    )
    left = f"{left}: {'their texts are to be estimated' if both else 'left out of the rated texts'}"
    notes = (*rows.roles.notes, *notes, *([left] if unrated else []))
    notes = (*notes, *untimed, *merged_note(rows, groups), *nameless)
    told = said(rows, groups, notes, [row for row in bad if rated[row] or not both], "skipped")
    pool = _pool(rows, groups, ratings, reading)
    read = PoolRead(pool=pool, columns=rows.roles.columns, **told)
    return Rated(read=read, groups=groups, others=_others(rated, groups, keys))


def _spellings(rows: Checked, reading: Reading) -> tuple[dict[str, Spelled], Words, Sequence[str]]:
    """Every rating cell as a number or a word, by column, what the words mean, and notes.

    Raises:
        InputError: words without a meaning; under `skip_bad` numbers beside them may do.
    """
    columns = {name: rows.table.columns[name] for name in rows.roles.all("rating")}
    blanks: Counter[str] = Counter()
    cells: dict[str, Spelled] = {}
    for name, column in columns.items():
        cells[name], met = without_blanks([*map(spelled, column)], column, reading.rating_map)
        blanks += met
    found = {*chain.from_iterable(cells.values())}
    words, notes = words_of(found, reading.rating_map)
    unknown = not_understood(
        sorted(value for value in found if isinstance(value, str) and value not in words),
        reading.rating_map,
    )
    rated = reading.rating_map is not None or any(isinstance(value, float) for value in found)
    if unknown and not (reading.skip_bad and rated):
        places = (
            (c.index(word), name) for name, c in cells.items() for word in unknown if word in c
        )
        row, column_name = min(places)
        raise rows.table.fault(row, *words_fault(unknown), column_name)
    told = [
        f"{counted(n, 'rating cell')} '{word}' {'is' if n == 1 else 'are'} read as blank"
        for word, n in blanks.items()
    ]
    return cells, words, (*notes, *comma_note(chain.from_iterable(columns.values())), *told)


def _rated(rows: Checked, cells: Mapping[str, Spelled], *, both: bool) -> list[bool]:
    """[n of table] whether a row has a rating; where none has, every row is bad."""
    rated = [False] * len(rows.table)
    for column in cells.values():
        rated = [known or cell is not None for known, cell in zip(rated, column, strict=True)]
    if both and not any(rated):
        remedy = "rate some of them, or give the rated texts with --rated"
        raise InputError("no text has a rating", path=rows.table.name, remedy=remedy)
    if not any(rated):
        only = next(iter(cells)) if len(cells) == 1 else None
        for row in range(len(rated)):
            rows.table.refuse(row, "no rating", "rate the text or drop the row", only)
    return rated


def _values(
    rows: Checked, name: str, column: Spelled, words: Words, scale: Scale | None
) -> list[float | None]:
    """A rating column as finite numbers on the scale, None where a cell is blank or bad."""
    numbers: dict[float | str | None, float | None] = {None: None}
    faults: dict[float | str | None, InputError] = {}
    for value in {value for value in column if value is not None}:
        try:
            numbers[value] = rating_of(value, words, scale)
        except InputError as fault:
            numbers[value], faults[value] = None, fault
    for row, cell in enumerate(column) if faults else ():
        if error := faults.get(cell):
            rows.table.refuse(row, error.found, error.remedy, name)
    return [numbers[cell] for cell in column]


def _pool_keys(rows: Checked) -> Keys:
    """What makes rows one text: the id, else with annotators task, system, source and text."""
    names = rows.names
    if "id" in names:
        return names["id"]
    if "annotator" not in names:
        return None
    source = names.get("source", names.get("item"))
    parts = [part for part in (names.get("task"), names.get("system"), source) if part is not None]
    return list(zip(*parts, rows.texts, strict=True))


def _others(rated: Sequence[bool], groups: Merged, keys: Keys) -> list[int]:
    """The rows without a rating, but for those of texts that another row rates."""
    alone = [row for row, known in enumerate(rated) if not known]
    if keys is None:
        return alone
    taken = {keys[row] for row in groups.first}
    return [row for row in alone if keys[row] not in taken]


def _ratings(
    rows: Checked,
    groups: Merged,
    values: Mapping[str, Sequence[float | None]],
    times: FloatArray,
) -> tuple[Ratings, tuple[str, ...]]:
    """The single ratings in the order of rows, and a note on annotators.

    Several columns are one annotator each, and a blank cell there is no rating. Places in lists
    are no annotators.
    """
    columns = tuple(sorted(values))
    owners = [rows.roles.owners.get(name, name) for name in columns]
    names = tuple(sorted({*owners}))
    owner = np.array([names.index(name) for name in owners], np.int64)
    grid = np.array([values[name] for name in columns], np.float64)[:, [*groups.rows]].T
    place, annotator = np.nonzero(~np.isnan(grid))
    ratings = Ratings(
        text=groups.text[place],
        annotator=owner[annotator],
        values=grid[place, annotator],
        annotators=names if len(names) > 1 else (),
        times=times[[*groups.rows]][place] if len(times) else times,
    )
    if len(names) > 1 or "annotator" not in rows.names:
        return ratings, ()
    who = [rows.names["annotator"][row] for row in groups.rows]
    names = tuple(sorted(set(who)))
    number = {name: i for i, name in enumerate(names)}
    annotator = np.fromiter((number[name] for name in who), np.int64, len(who))[place]
    ratings = replace(ratings, annotator=annotator, annotators=names)
    if nameless := who.count(""):
        told = f"{counted(nameless, 'rating')} without an annotator count as one annotator's"
        return ratings, (told,)
    again = len(who) - len({*zip(groups.text.tolist(), who, strict=True)})
    told = f"{counted(again, 'time')} an annotator rated the same text again; every rating counts"
    return ratings, (told,) if again else ()


def _times(rows: Checked, *, named: bool) -> tuple[FloatArray, tuple[str, ...]]:
    """[n of table] when each row was rated, or none; a note where a column was taken for times.

    A column that no flag names, and that holds something else, is left alone.
    """
    column = rows.roles.one("time")
    if column is None:
        return np.zeros(0), ()
    found = np.full(len(rows.table), np.nan)
    for row, cell in enumerate(rows.table.columns[column]):
        try:
            found[row] = time_of_cell(cell)
        except InputError as fault:
            if not named:
                return np.zeros(0), (f"column '{column}' holds no times: {fault.found}",)
            rows.table.refuse(row, fault.found, fault.remedy, column)
    return found, ()


def _pool(rows: Checked, groups: Merged, ratings: Ratings, reading: Reading) -> RatedPool:
    n = len(groups.first)
    return RatedPool(
        **about(rows, groups),
        human=human_ratings(ratings, n, scale=reading.scale, aggregate=reading.aggregate),
        ratings=ratings,
        scale=reading.scale,
        aggregate=reading.aggregate,
        named="id" in rows.names,
        merged="id" not in rows.names and "annotator" in rows.names,
    )
