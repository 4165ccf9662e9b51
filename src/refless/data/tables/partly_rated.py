"""Rows of systems that are to be compared, rated in part or not at all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import PurePath
from typing import Any, TypeVar

import numpy as np

from refless.data.human import (
    canonical_order,
    human_ratings,
    order_of_outputs,
    with_sorted_ratings,
)
from refless.data.records import (
    COLUMNS,
    Outputs,
    RatedPool,
    Ratings,
    Texts,
    as_outputs,
    columns_of,
)
from refless.data.tables.columns import listed, missing, naming
from refless.data.tables.exports.preferences import TITLE as PAIRS
from refless.data.tables.memory import Rows
from refless.data.tables.overview import unread_scores
from refless.data.tables.rated import (
    has_ratings,
    keys_of_unrated,
    rated_of,
    sorted_pool,
)
from refless.data.tables.reading import PLAIN, Reading
from refless.data.tables.roles import Columns, Kind
from refless.data.tables.shared_ids import items_of_ids
from refless.data.tables.table import Read, RowTable, numbers_of, read_table
from refless.data.tables.views import (
    check_told_apart,
    outputs_of_rows,
    runs_apart,
    sorted_outputs,
)
from refless.registry.arrays import FloatArray, IntArray, Names
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError

MORE = ", or give one file for each system"
T = TypeVar("T", bound=Texts)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PartlyRated(Read):
    """Outputs, and the ratings that some of them have.

    Attributes:
        texts: all outputs.
        pool: the rated ones; None if nothing is rated.
        place: [m] which of the outputs each of these is.
        probability: [n] chance with which each was drawn to be rated, NaN if it is not given.
        named: whether the ids came from the user.
        unread: by column, [n] scores that nothing reads, as `unread_scores` has them.
    """

    texts: Outputs
    pool: RatedPool | None
    place: IntArray
    probability: FloatArray
    named: bool = True
    unread: Mapping[str, FloatArray] = field(default_factory=dict)

    @property
    def human(self) -> FloatArray:
        """[n] human rating, NaN if there is none."""
        human = np.full(len(self.texts), np.nan)
        if self.pool is not None:
            human[self.place] = self.pool.human
        return human


def read_partly(
    rows: Rows,
    reading: Reading = PLAIN,
    system: str | None = "",
    needed: Names = ("text",),
    kind: Kind = "compared",
) -> PartlyRated:
    """The outputs in rows from anywhere, with their ratings if they have any; sorted by content.

    Without a column of systems each file is one system, called after it. An id that several
    systems share names what they answered, not a text.

    Args:
        rows: as for `read_pool`.
        reading: as for `read_pool`.
        system: what the system is called if neither a column nor files say it; None if it need
            not be known.
        needed: roles that must have a column; kind: of the files.

    Raises:
        InputError: as `read_pool` and `read_outputs`; no system, a probability outside (0, 1].
        UsageError, MissingExtraError: as `read_pool`.
    """
    if isinstance(rows, Texts):
        return _of_texts(rows, system)
    table = runs_apart(read_table(rows, reading, kind, needed))
    return partly_rated(table, reading, system)


def partly_rated(
    table: RowTable, reading: Reading, system: str | None = ""
) -> PartlyRated:
    """The outputs of a table, with their ratings if they have any; raises as `read_partly`."""
    check_told_apart(table)
    table = table if system is None else with_systems(table, system, reading.columns)
    chances = _probabilities(table)
    named = "id" in table.names
    rated = None
    if has_ratings(table):
        rated = sorted_pool(table, rated_of(table, reading, both=True))
    unrated = range(len(table)) if rated is None else rated.unrated
    unrated = [row for row in unrated if row not in table.rows.bad]
    notes = table.roles.notes if rated is None else ()
    read = sorted_outputs(
        outputs_of_rows(table, unrated, notes, keys_of_unrated(table))
    )
    reads: list[Read] = [read] if rated is None else [rated.read, read]
    texts = read.outputs
    pool = None
    n = 0
    if rated is not None:
        texts = _after(as_outputs(rated.read.pool), texts, named=named)
        n = len(rated.read.pool)
        pool = replace(rated.read.pool, ids=texts.ids[:n], named=True)
    probability = np.full(len(texts), np.nan)
    if rated is not None:
        probability[:n] = [chances[row] for row in rated.groups.first]
    first = [*chain.from_iterable(part.first for part in reads)]
    return PartlyRated(
        texts=texts,
        pool=pool,
        place=np.arange(n),
        probability=probability,
        named=named,
        unread={name: all_[first] for name, all_ in unread_scores(table).items()},
        columns=table.roles.columns,
        notes=tuple(chain.from_iterable(part.notes for part in reads)),
        skipped=tuple(chain.from_iterable(part.skipped for part in reads)),
        n_skipped=sum(part.n_skipped for part in reads),
        group=tuple(chain.from_iterable(part.group for part in reads)),
        first_rows=np.concatenate([part.first_rows for part in reads]),
        first=tuple(first),
    )


def _of_texts(texts: Texts, system: str | None) -> PartlyRated:
    if not texts.systems and system is not None:
        raise UsageError("which system wrote which output? These have no systems")
    pool = None
    if isinstance(texts, RatedPool):
        rated = with_sorted_ratings(texts.take(canonical_order(texts)))
        pool = replace(rated, named=True)
        outputs = as_outputs(rated)
    else:
        outputs = texts if isinstance(texts, Outputs) else as_outputs(texts)
        outputs = outputs.take(order_of_outputs(outputs))
    return PartlyRated(
        texts=outputs,
        pool=pool,
        place=np.arange(len(texts) if pool is not None else 0),
        probability=np.full(len(texts), np.nan),
        first=tuple(range(len(texts))),
    )


def _after(first: Outputs, second: Outputs, *, named: bool = True) -> Outputs:
    """Both as one; without ids of their own they are counted."""
    columns = {
        name: column + getattr(second, name)
        for name, column in columns_of(first).items()
    }
    if not named:
        columns["ids"] = tuple(map(str, range(1, len(first) + len(second) + 1)))
    scores = (
        np.concatenate([first.scores, second.scores])
        if first.score_names
        else first.scores
    )
    return Outputs(**columns, score_names=first.score_names, scores=scores)


def with_ratings(
    outputs: PartlyRated, more: PartlyRated
) -> tuple[PartlyRated, RatedPool, int]:
    """The outputs with ratings that other rows have of them, all rated texts, and how many.

    A rated text is an output if both have its id and text, or system, item (or source) and text.
    Where only the other rows say with which chance it was drawn, only their ratings of it count.

    Raises:
        InputError: none of the other rows is rated.
    """
    if more.pool is None:
        remedy = f"give rated texts with {called('rated')}"
        raise InputError("no text has a rating", remedy=remedy)
    at = _places(outputs, more)
    indices = np.flatnonzero(at >= 0)
    ids = np.array([f"rated {name}" for name in more.pool.ids], dtype=object)
    ids[indices] = [outputs.texts.ids[i] for i in at[indices]]
    pool = replace(more.pool, ids=tuple(ids), named=True)
    chances = more.probability[more.place][indices]
    probability = outputs.probability.copy()
    probability[at[indices]] = np.where(
        np.isnan(chances), probability[at[indices]], chances
    )
    same = outputs.texts.take(at[indices])  # as the outputs say it of themselves
    mine = replace(
        pool.take(indices),
        **columns_of(same),
        score_names=same.score_names,
        scores=same.scores,
    )
    drawn = at[indices][~np.isnan(chances) & np.isnan(outputs.probability[at[indices]])]
    own = mine
    if outputs.pool is not None:
        before = outputs.pool.take(np.flatnonzero(~np.isin(outputs.place, drawn)))
        own = _one_pool(before, mine)
    place = {name: i for i, name in enumerate(outputs.texts.ids)}
    rated = replace(
        outputs,
        pool=own if len(own) else None,
        place=np.array([place[name] for name in own.ids], dtype=np.int64),
        probability=probability,
        first_rows=np.zeros(0, dtype=np.int64),  # in a file that holds no ratings
    )
    return rated, _one_pool(own, pool.take(np.flatnonzero(at < 0))), len(indices)


def _one_pool(first: RatedPool, second: RatedPool) -> RatedPool:
    """Rated texts of both, with the columns that both have; texts with one id are one text."""
    if not len(first) or not len(second):
        return first if len(first) else second
    first, second = _alike(first, second)
    if first.scale != second.scale:
        scales = f"{first.scale} and {second.scale}"
        raise UsageError(f"ratings on two scales cannot be joined ({scales})")
    rows = {name: row for row, name in enumerate(first.ids)}
    fresh = [row for row, name in enumerate(second.ids) if name not in rows]
    place = np.array([rows.get(name, -1) for name in second.ids], dtype=np.int64)
    place[fresh] = np.arange(len(first), len(first) + len(fresh))
    texts = _after(as_outputs(first), as_outputs(second.take(fresh)))
    ratings = _joined(first.ratings, second.ratings, place)
    human = human_ratings(ratings, len(texts), scale=first.scale)
    return replace(
        first, **columns_of(texts), scores=texts.scores, human=human, ratings=ratings
    )


def _joined(first: Ratings, second: Ratings, place: IntArray) -> Ratings:
    """Ratings of both, raters named if both sides do; `place` is of the second one's texts."""
    are_named = bool(first.annotators and second.annotators)
    names = tuple(sorted({*first.annotators, *second.annotators})) if are_named else ()

    def renumbered(ratings: Ratings) -> IntArray:
        if not are_named:
            return np.zeros_like(ratings.annotator)
        return np.array([*map(names.index, ratings.annotators)], np.int64)[
            ratings.annotator
        ]

    return Ratings(
        text=np.concatenate([first.text, place[second.text]]),
        annotator=np.concatenate([renumbered(first), renumbered(second)]),
        values=np.concatenate([first.values, second.values]),
        annotators=names,
    )


def _places(outputs: PartlyRated, more: PartlyRated) -> IntArray:
    """[m] which output each rated text is, -1 for none; the last of the ways that tells counts."""
    texts = outputs.texts
    rated = more.texts.take(more.place)
    places = np.full(len(rated), -1, dtype=np.int64)
    ways = [("systems", "sources", "texts"), ("systems", "items", "texts")]
    for names in [("ids", "texts"), *ways] if outputs.named and more.named else ways:
        # a column that is not there is empty, and so are the rows
        rows = zip(*(getattr(texts, name) for name in names), strict=False)
        place = {row: i for i, row in enumerate(rows)}
        keys = zip(*(getattr(rated, name) for name in names), strict=False)
        for i, key in enumerate(keys):
            places[i] = place.get(key, places[i])
    return places


def _alike(first: T, second: T) -> tuple[T, T]:
    """Both with the columns that both have; raises UsageError for other columns of scores."""
    if first.score_names != second.score_names:
        raise UsageError(
            f"the rated texts and the outputs must have the same {called('score_column')}"
        )
    shared = [
        name for name in COLUMNS if getattr(first, name) and getattr(second, name)
    ]
    lacking: dict[str, Any] = {name: () for name in COLUMNS if name not in shared}
    return replace(first, **lacking), replace(second, **lacking)


def _probabilities(table: RowTable) -> Sequence[float | None]:
    """[n] the chances, None if a cell is blank or there is no such column."""
    name = table.roles.column("probability")
    if name is None:
        return [None] * len(table)
    chances = numbers_of(table.rows, name, everywhere=False)
    for row, chance in enumerate(chances):
        if chance is not None and not 0 < chance <= 1:
            remedy = "give the chance with which it was drawn to be rated, above 0 and at most 1"
            raise table.rows.fault(row, f"{chance:g} is no probability", remedy, name)
    return chances


def with_systems(table: RowTable, system: str, columns: Columns) -> RowTable:
    """The rows with the system of each; ids that systems share become items."""
    names = dict(table.names)
    notes = table.roles.notes
    if "system" not in names:
        names["system"] = _files_as_systems(table, system)
    elif columns.system is None and _answer_again(table):
        shared = listed(sorted({*names["system"]}), 3)
        column = naming("system", str(table.roles.column("system")))
        note = f"the files are compared: each has answers of {shared} to the same items"
        notes = (*notes, f"{note}; {column} compares these instead")
        names["system"] = _files_as_systems(table, system)
    ids = names.get("id")
    if ids is not None and len({*zip(ids, names["system"], strict=True)}) > len({*ids}):
        items_of_ids(names)
    return replace(table, names=names, roles=replace(table.roles, notes=notes))


def _files_as_systems(table: RowTable, system: str) -> list[str]:
    """[n] the file of each row, or what its one system is called."""
    parts = table.rows.parts
    if len(parts) == 1 and not system:
        name = table.rows.name
        if any(notes.tool == PAIRS for _, notes in table.rows.notes):
            problem = "nothing says which system wrote which text of a pair"
            remedy = (
                "name both, in columns model_a and model_b; if one system wrote all first texts, "
                "each has one name in all rows"
            )
            raise InputError(problem, path=name, remedy=remedy)
        raise missing("system", [*table.rows.header], name, MORE)
    stems = [PurePath(part.name).stem for part in parts]
    files = stems if len({*stems}) == len(stems) else [part.name for part in parts]
    systems = [system] if len(parts) == 1 else files
    return [systems[file] for file in table.rows.files]


def _answer_again(table: RowTable) -> bool:
    """Whether every file has other texts of the same systems for mostly the same items."""
    names = table.names
    items = names.get("item") or names.get("source") or names.get("id")
    if len(table.rows.parts) == 1 or items is None:
        return False
    files: list[dict[tuple[str, str], str]] = [{} for _ in table.rows.parts]
    keys = zip(items, names["system"], strict=True)
    for place, key, text in zip(table.rows.files, keys, table.texts, strict=True):
        files[place][key] = text
    first, *later = files
    systems = {system for _, system in first}
    for file in later:
        again = file.keys() & first.keys()
        n_different = sum(file[key] != first[key] for key in again)
        if {system for _, system in file} != systems or 2 * len(again) < len(file):
            return False
        if 2 * n_different <= len(again):
            return False
    return True
