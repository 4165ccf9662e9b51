"""Rows whose texts and names are checked, and what the records made of them share."""

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from refless.data.records import numbered, scored
from refless.data.tables.cells import counted, name_of_cell, source_of_cell, text_of_cell
from refless.data.tables.columns import NEEDED as NEEDED_COLUMNS
from refless.data.tables.columns import Roles, check_columns, listed, roles_here, roles_of, wanted
from refless.data.tables.dimensions import columns_for, with_dimension
from refless.data.tables.load_columns import Gathered, gather, gather_batches
from refless.data.tables.merging import Merged, check_agreement
from refless.data.tables.ratings import BLANKS, MOST_PLACES, places_of, spelled
from refless.data.tables.reading import Reading
from refless.registry.errors import InputError

KINDS_SHOWN = 3  # things found in bad rows that a note counts
NAME_ROLES = ("id", "item", "source", "system", "task", "annotator", "group", "label")
_MAIL = re.compile(r"\s*[^@\s]+@[^@\s]+\.[^@\s]+\s*")
NEEDED = ("id", "item")  # where there is such a column, every row must fill it


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Read:
    """What there is to say about how rows were read.

    Attributes:
        notes: sentences for standard error.
        skipped: what was wrong with the first bad rows.
        n_skipped: number of bad rows.
        group: [n] values of the group column, or empty.
        columns: role -> what the rows call its columns.
    """

    notes: tuple[str, ...] = ()
    skipped: tuple[InputError, ...] = ()
    n_skipped: int = 0
    group: tuple[str, ...] = ()
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Checked:
    """Columns of checked values by row; bad rows hold place holders.

    Attributes:
        table: the rows as they were gathered, with the bad ones among them.
        roles: which column plays which role.
        texts: [n of table] texts, "" where none are needed or there.
        names: role -> [n of table] ids, sources, systems, annotators ...
        scores: column -> [n of table] scores that somebody else gave, None where a cell is blank.
    """

    table: Gathered
    roles: Roles
    texts: list[str]
    names: dict[str, list[str]]
    scores: dict[str, list[float | None]]


def checked(
    rows: object,
    reading: Reading,
    roles: Sequence[str],
    needed: Sequence[str] = NEEDED_COLUMNS,
) -> Checked:
    """The rows of files or of memory with texts, names and scores checked."""
    check_columns(reading.columns, roles)
    more = columns_for(reading) if "rating" in roles else ()
    table = gather(rows, wanted(reading.columns, roles, more), reading, more)
    return checked_as(table, with_places(table, _roles(table, reading, roles, needed, more)))


def checked_batches(
    rows: object, reading: Reading, roles: Sequence[str], size: int
) -> Iterator[Checked]:
    """The same, at most so many rows at a time; earlier ones are forgotten.

    Which column is what is decided by the first batch, which has all notes.
    """
    check_columns(reading.columns, roles)
    more, done = columns_for(reading), 0
    first: Roles | None = None
    for table in gather_batches(rows, wanted(reading.columns, roles, more), reading, size, more):
        now = _roles(table, reading, roles, NEEDED_COLUMNS, more)
        taken = now if first is None else replace(first, notes=())
        first = first or now
        check_late(now, first, done, table.name)
        yield checked_as(table, with_places(table, taken))
        done += len(table)


def check_late(now: Roles, first: Roles, done: int, path: str) -> None:
    """Raises InputError for a column with a role that the first batch did not have."""
    for role in now.columns:
        for name in now.all(role):
            if name not in first.all(role):
                found = f"column '{name}' begins after {done:,} rows, which were read without it"
                remedy = "name it in the first row too, as null"
                raise InputError(found, path=path, remedy=remedy)


def _roles(
    table: Gathered,
    reading: Reading,
    roles: Sequence[str],
    needed: Sequence[str],
    more: Sequence[str],
) -> Roles:
    """Which column is what; raises InputError where one that is needed is not there."""
    columns = reading.columns
    if more:
        told, seen = bool(table.told), tuple(table.seen)
        columns = with_dimension(reading, table.dimensions, seen, table.name, told=told)
        check_columns(columns, roles)
    roles = roles_here(columns, roles, tuple(table.seen)) if reading.elsewhere else roles
    try:
        taken = roles_of(columns, roles, tuple(table.seen), table.name, needed, table.known)
    except InputError as fault:
        left = [line for _, told in table.told for line in told.left()]
        remedy = "; ".join([fault.remedy, *left])
        raise InputError(fault.found, path=fault.path, remedy=remedy) from fault
    said = [line for path, told in table.told for line in told.lines(path)]
    return replace(taken, notes=(*said, *taken.notes))


def checked_as(table: Gathered, taken: Roles) -> Checked:
    """What was gathered, checked by the roles of its columns."""
    names = {
        role: _cells(table, column, source_of_cell if role == "source" else name_of_cell)
        for role in NAME_ROLES
        if (column := taken.one(role)) is not None
    }
    if "annotator" in names:
        names["annotator"], more = pseudonyms(names["annotator"])
        taken = replace(taken, notes=(*taken.notes, *more))
    for role in ("system", "annotator"):
        taken = replace(taken, notes=(*taken.notes, *_spelled_alike(names.get(role, ()), role)))
    for role in NEEDED:
        _check_filled(table, names.get(role, ()), role, taken.one(role))
    text = taken.one("text")
    texts = [""] * len(table) if text is None else _cells(table, text, text_of_cell)
    scores = {column: numbers_of(table, column) for column in taken.all("score")}
    return Checked(table=table, roles=taken, texts=texts, names=names, scores=scores)


def with_places(table: Gathered, roles: Roles) -> Roles:
    """The roles with a rating column for each place of those whose cells are lists of ratings."""
    owners: dict[str, str] = {}
    for name in roles.all("rating"):
        places, long = places_of(table.columns[name])
        for row in long:
            remedy = "give the ratings a row each"
            table.refuse(row, f"more than {MOST_PLACES} ratings in one cell", remedy, name)
        for place, column in enumerate(places, 1):
            own = name if place == 1 else f"{name}[{place}]"
            if place > 1 and own in table.columns:
                raise InputError(f"column '{own}' is also a place in lists", path=table.name)
            table.columns[own], owners[own] = [*column], name
    if len(owners) == len(roles.all("rating")):
        return roles
    return replace(roles, columns={**roles.columns, "rating": tuple(owners)}, owners=owners)


def pseudonyms(names: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """Annotators with a digest in place of each e-mail address, and a note that says so."""
    known = {name: _pseudonym(name) for name in {*names} if _MAIL.fullmatch(name)}
    if not known:
        return names, ()
    note = f"{counted(len(known), 'annotator')} named by an e-mail address: pseudonyms are used"
    return [known.get(name, name) for name in names], (note,)


def _spelled_alike(names: Sequence[str], role: str) -> Iterator[str]:
    """Notes on names that differ in nothing but capitals, blanks and the like."""
    alike: dict[str, list[str]] = {}
    for name in sorted({*names}):
        folded = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
        alike.setdefault(folded, []).append(name)
    for found in alike.values():
        if len(found) > 1:
            told = f"differ in capitals or blanks alone and count as {len(found)}"
            yield f"{role}s {listed(found)} {told}; if they are one, spell them alike"


def _pseudonym(mail: str) -> str:
    return f"rater-{hashlib.sha256(mail.strip().casefold().encode()).hexdigest()[:8]}"


def numbers_of(table: Gathered, column: str, *, everywhere: bool = True) -> list[float | None]:
    """A column of finite numbers, None where a cell is blank; other cells make bad rows.

    Raises:
        InputError: a file without that column, where it has to be everywhere.
    """
    for part in table.parts:
        if everywhere and column not in part.columns:
            remedy = "add it to every file; blank cells are scores that are missing"
            raise InputError(f"there is no column '{column}'", path=part.name, remedy=remedy)
    numbers: list[float | None] = []
    for row, cell in enumerate(table.columns[column]):
        value = spelled(cell)
        number = value if isinstance(value, float) and math.isfinite(value) else None
        if number is None and value is not None and value not in BLANKS:
            remedy = "scores are finite numbers; leave the cell blank where there is none"
            table.refuse(row, f"score {cell!r} is not a number", remedy, column)
        numbers.append(number)
    return numbers


def _cells(table: Gathered, column: str, check: Callable[[object], str]) -> list[str]:
    """The values of a column as strings; rows that fail the check are bad."""
    cells = table.columns[column]
    if {*map(type, cells)} == {str} and _pass({*cells}, check):
        return cast("list[str]", cells)
    return table.checked(column, check)


def _pass(strings: Iterable[object], check: Callable[[object], str]) -> bool:
    """Whether all strings pass a check (which leaves a good string as it is)."""
    try:
        for string in strings:
            check(string)
    except InputError:
        return False
    return True


def _check_filled(table: Gathered, values: Sequence[str], role: str, column: str | None) -> None:
    for row, value in enumerate(values) if "" in values else ():
        if not value:
            remedy = f"give every row its {role}, or drop the column"
            table.refuse(row, f"no {role}", remedy, column)


def agree(rows: Checked, groups: Merged, more: Mapping[str, Sequence[object]]) -> None:
    """Raises InputError for rows of one text that differ in what is about the text."""
    of_text = ("source", "system", "item", "task", "group", "label")
    names = {role: rows.names[role] for role in of_text if role in rows.names}
    scores = {f"{name} scores": column for name, column in rows.scores.items()}
    columns: dict[str, Sequence[object]] = {"text": rows.texts, **names, **scores, **more}
    check_agreement(rows.table, groups, columns, rows.names.get("id"))


def about(rows: Checked, groups: Merged) -> dict[str, Any]:
    """The columns that rated pools and outputs share; texts without ids are counted.

    Where there are no items the sources stand in for them.
    """
    sources = picked(rows, "source", groups)
    return {
        "ids": picked(rows, "id", groups) or numbered(len(groups.first)),
        "texts": tuple(rows.texts[row] for row in groups.first),
        "sources": sources,
        "systems": picked(rows, "system", groups),
        "items": picked(rows, "item", groups) or sources,
        "tasks": picked(rows, "task", groups),
        **scored({name: [one[row] for row in groups.first] for name, one in rows.scores.items()}),
    }


def picked(rows: Checked, role: str, groups: Merged) -> tuple[str, ...]:
    """[n] a role's value for each text, or empty where there is no such column."""
    column = rows.names.get(role)
    return () if column is None else tuple(column[row] for row in groups.first)


def merged_note(rows: Checked, groups: Merged) -> tuple[str, ...]:
    """How many rows are how many texts, where some were merged."""
    n, m = len(groups.first), len(groups.rows)
    on = "id" if "id" in rows.names else "task, system, source and text"
    return (f"{m} rows merged into {counted(n, 'text')} on {on}",) if n < m else ()


def said(
    rows: Checked, groups: Merged, notes: Sequence[str], bad: Sequence[int], what: str
) -> dict[str, Any]:
    """What a `Read` has to say: the notes and what became of the bad rows."""
    kinds = Counter(rows.table.bad[row] for row in bad).most_common()
    told = [f"{n} {found}" for found, n in kinds[:KINDS_SHOWN]]
    told += ["..."] if len(kinds) > KINDS_SHOWN else []
    of_bad = (f"{counted(len(bad), 'bad row')} {what}: {', '.join(told)}",) if bad else ()
    return {
        "notes": (*notes, *of_bad),
        "skipped": tuple(rows.table.errors[row] for row in bad if row in rows.table.errors),
        "n_skipped": len(bad),
        "group": picked(rows, "group", groups),
    }
