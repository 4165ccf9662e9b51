"""Rows of systems that are to be compared, rated in part or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import PurePath
from typing import Any, TypeVar

import numpy as np

from refless.data.joining import joined
from refless.data.records import COLUMNS, Outputs, RatedPool, Texts, as_outputs, columns_of
from refless.data.tables.columns import COMPARED_ROLES, missing
from refless.data.tables.memory import Rows
from refless.data.tables.outputs import outputs_of_rows
from refless.data.tables.pools import rated_of
from refless.data.tables.ratings import BLANKS, spelled
from refless.data.tables.reading import PLAIN, Reading
from refless.data.tables.validate_rows import Checked, Read, checked, numbers_of
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import InputError, UsageError

T = TypeVar("T", bound=Texts)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PartlyRated(Read):
    """Outputs, and the ratings that some of them have.

    Attributes:
        texts: all outputs.
        pool: the rated ones; None where nothing is rated.
        place: [m] which of the outputs each of these is.
        probability: [n] chance with which each was drawn to be rated, NaN where it is not given.
        named: whether the ids came from the user.
    """

    texts: Outputs
    pool: RatedPool | None
    place: IntArray
    probability: FloatArray
    named: bool = True

    @property
    def human(self) -> FloatArray:
        """[n] human rating, NaN where there is none."""
        found = np.full(len(self.texts), np.nan)
        if self.pool is not None:
            found[self.place] = self.pool.human
        return found


def read_partly(
    rows: Rows,
    reading: Reading = PLAIN,
    system: str | None = "",
    needed: Sequence[str] = ("text",),
) -> PartlyRated:
    """The outputs in rows from anywhere, with their ratings where they have any.

    Without a column of systems each file is one system, called after it. An id that several
    systems share names what they answered, not a text.

    Args:
        rows: as for `read_pool`.
        reading: as for `read_pool`.
        system: what the system is called where neither a column nor files say it; None where it
            need not be known.
        needed: roles that must have a column.

    Raises:
        InputError: as `read_pool` and `read_outputs`; no system, a probability outside (0, 1].
        UsageError, MissingExtraError: as `read_pool`.
    """
    if isinstance(rows, Texts):
        return _of_texts(rows, system)
    table = checked(rows, reading, COMPARED_ROLES, needed)
    table = table if system is None else _named(table, system)
    chances, every = _probabilities(table), range(len(table.table))
    rated = rated_of(table, reading, both=True) if _has_rating(table) else None
    others = [
        row for row in (every if rated is None else rated.others) if row not in table.table.bad
    ]
    read = outputs_of_rows(table, others, table.roles.notes if rated is None else ())
    reads = [read] if rated is None else [rated.read, read]
    said: dict[str, Any] = {
        "columns": table.roles.columns,
        "named": "id" in table.names,
        "notes": tuple(line for one in reads for line in one.notes),
        "skipped": tuple(fault for one in reads for fault in one.skipped),
        "n_skipped": sum(one.n_skipped for one in reads),
        "group": tuple(label for one in reads for label in one.group),
    }
    plain = replace(read.outputs, references=(), weights=())
    if rated is None:
        nothing = np.zeros(0, dtype=np.int64)
        return PartlyRated(texts=plain, pool=None, place=nothing, probability=_none(plain), **said)
    texts = _after(as_outputs(rated.read.pool), plain, named="id" in table.names)
    n = len(rated.read.pool)
    chance = [chances[row] for row in rated.groups.first]
    return PartlyRated(
        texts=texts,
        pool=replace(rated.read.pool, ids=texts.ids[:n], named=True),
        place=np.arange(n),
        probability=np.concatenate([np.array(chance, dtype=np.float64), _none(plain)]),
        **said,
    )


def _of_texts(given: Texts, system: str | None) -> PartlyRated:
    """The same of records."""
    if not given.systems and system is not None:
        raise UsageError("which system wrote which output? These have no systems")
    pool = replace(given, named=True) if isinstance(given, RatedPool) else None
    texts = given if isinstance(given, Outputs) else as_outputs(given)
    place = np.arange(len(given) if pool is not None else 0)
    return PartlyRated(texts=texts, pool=pool, place=place, probability=_none(texts))


def _none(texts: Texts) -> FloatArray:
    return np.full(len(texts), np.nan)


def _after(first: Outputs, second: Outputs, *, named: bool) -> Outputs:
    """Both as one; without ids of their own they are counted."""
    columns = {name: one + getattr(second, name) for name, one in columns_of(first).items()}
    if not named:
        columns["ids"] = tuple(map(str, range(1, len(first) + len(second) + 1)))
    scores = np.concatenate([first.scores, second.scores]) if first.score_names else first.scores
    return Outputs(**columns, score_names=first.score_names, scores=scores)


def both_systems(new: PartlyRated, baseline: PartlyRated) -> PartlyRated:
    """Two readings as one; without items on both sides, ids of the user's in common are items."""
    named = new.named and baseline.named
    if {*new.texts.ids} & {*baseline.texts.ids}:
        by_id = named and not (new.texts.items and baseline.texts.items)
        new, baseline = _by_system(new, by_id=by_id), _by_system(baseline, by_id=by_id)
    first, second = _alike(new.texts, baseline.texts)
    pools = [one.pool for one in (new, baseline) if one.pool is not None]
    pool = _one_pool(*pools) if len(pools) == 2 else next(iter(pools), None)
    return PartlyRated(
        texts=_after(first, second, named=True),
        pool=pool,
        place=np.concatenate([new.place, len(first) + baseline.place]),
        probability=np.concatenate([new.probability, baseline.probability]),
        group=new.group + baseline.group if new.group and baseline.group else (),
        named=named,
    )


def _by_system(read: PartlyRated, *, by_id: bool) -> PartlyRated:
    """The same with the system before each id, and the ids as items if these are asked for."""
    texts = read.texts
    ids = tuple(f"{one} {name}" for one, name in zip(texts.systems, texts.ids, strict=True))
    texts = replace(texts, ids=ids, items=texts.ids if by_id else texts.items)
    pool = read.pool and replace(
        read.pool,
        ids=tuple(texts.ids[i] for i in read.place),
        items=tuple(texts.items[i] for i in read.place) if texts.items else (),
    )
    return replace(read, texts=texts, pool=pool)


def with_ratings(found: PartlyRated, more: PartlyRated) -> tuple[PartlyRated, RatedPool, int]:
    """The outputs with ratings that other rows have of them, all rated texts, and how many.

    A rated text is an output where both have its id and text, or system, item (or source) and text.

    Raises:
        InputError: none of the other rows is rated.
    """
    pool = more.pool
    if pool is None:
        raise InputError("no text has a rating", remedy="give rated texts with --rated")
    at = _places(found, more)
    known = np.flatnonzero(at >= 0)
    ids = np.array([f"rated {name}" for name in pool.ids], dtype=object)
    ids[known] = [found.texts.ids[i] for i in at[known]]
    named = replace(pool, ids=tuple(ids), named=True)
    others = named.take(np.flatnonzero(at < 0))
    probability = found.probability.copy()
    given = more.probability[more.place][known]
    probability[at[known]] = np.where(np.isnan(given), probability[at[known]], given)
    mine = _as_of(named.take(known), found.texts, at[known])
    own = mine if found.pool is None else _one_pool(found.pool, mine)
    place = {name: i for i, name in enumerate(found.texts.ids)}
    rated = replace(
        found,
        pool=own if len(own) else None,
        place=np.array([place[name] for name in own.ids], dtype=np.int64),
        probability=probability,
    )
    return rated, _one_pool(own, others), len(known)


def _one_pool(first: RatedPool, second: RatedPool) -> RatedPool:
    """Rated texts of both, with the columns that both have."""
    if not len(first) or not len(second):
        return first if len(first) else second
    return joined(*_alike(first, second))


def _as_of(pool: RatedPool, texts: Outputs, at: IntArray) -> RatedPool:
    """Rated texts with what the outputs that they are say of themselves."""
    columns = columns_of(texts.take(at))
    return replace(pool, **columns, score_names=texts.score_names, scores=texts.take(at).scores)


def _places(found: PartlyRated, more: PartlyRated) -> IntArray:
    """[m] which output each rated text is, -1 for none."""
    texts, rated = found.texts, more.texts.take(more.place)
    place: dict[object, int] = {}
    keys: list[tuple[object, ...]] = [()] * len(rated)
    for names in (*(("systems", one, "texts") for one in ("items", "sources")), ("ids", "texts")):
        if not all(getattr(texts, one) and getattr(rated, one) for one in names):
            continue
        if names[0] == "ids" and not (found.named and more.named):
            continue
        rows = zip(*(getattr(texts, one) for one in names), strict=True)
        place |= {row: i for i, row in enumerate(rows)}
        mine = zip(*(getattr(rated, one) for one in names), strict=True)
        keys = [old if old in place else new for old, new in zip(keys, mine, strict=True)]
    return np.array([place.get(key, -1) for key in keys], dtype=np.int64)


def _alike(first: T, second: T) -> tuple[T, T]:
    """Both with the columns that both have.

    Raises:
        UsageError: other columns of scores.
    """
    if first.score_names != second.score_names:
        raise UsageError("the rated texts and the outputs must have the same --score-column")
    kept = [name for name in COLUMNS if getattr(first, name) and getattr(second, name)]
    lacking: dict[str, Any] = {name: () for name in COLUMNS if name not in kept}
    first, second = replace(first, **lacking), replace(second, **lacking)
    if isinstance(first, RatedPool) and isinstance(second, RatedPool):
        named = bool(first.ratings.annotators) == bool(second.ratings.annotators)
        return (
            replace(first, merged=False, ratings=first.ratings if named else _nameless(first)),
            replace(second, merged=False, ratings=second.ratings if named else _nameless(second)),
        )
    return first, second


def _nameless(pool: RatedPool) -> Any:  # noqa: ANN401 - Ratings
    ratings = pool.ratings
    return replace(ratings, annotator=np.zeros_like(ratings.annotator), annotators=())


def _has_rating(table: Checked) -> bool:
    """Whether any cell of the rating columns is filled."""
    cells = (cell for name in table.roles.all("rating") for cell in table.table.columns[name])
    return any(value is not None and value not in BLANKS for value in map(spelled, cells))


def _probabilities(table: Checked) -> Sequence[float | None]:
    """[n of table] the chances, None where a cell is blank or there is no such column."""
    name = table.roles.one("probability")
    if name is None:
        return [None] * len(table.table)
    found = numbers_of(table.table, name, everywhere=False)
    for row, chance in enumerate(found):
        if chance is not None and not 0 < chance <= 1:
            remedy = "give the chance with which it was drawn to be rated, above 0 and at most 1"
            raise table.table.fault(row, f"{chance:g} is no probability", remedy, name)
    return found


def _named(table: Checked, system: str) -> Checked:
    """The rows with the system of each; ids that systems share become items."""
    names, parts = dict(table.names), table.table.parts
    if "system" not in names:
        files = [PurePath(part.name).stem for part in parts]
        called = files if len({*files}) == len(files) else [part.name for part in parts]
        if len(parts) == 1 and not system:
            more = ", or give one file for each system"
            raise missing("system", [*table.table.seen], table.table.name, more)
        starts = [*(part.first for part in parts), len(table.table)]
        lengths = [after - before for before, after in pairwise(starts)]
        called = [system] if len(parts) == 1 else called
        names["system"] = [name for name, k in zip(called, lengths, strict=True) for _ in range(k)]
    ids, systems = names.get("id"), names["system"]
    if ids is not None and len({*zip(ids, systems, strict=True)}) > len({*ids}):
        names.setdefault("item", ids)
        names["id"] = [f"{one} {name}" for one, name in zip(systems, ids, strict=True)]
    return replace(table, names=names)
