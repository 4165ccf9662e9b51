"""Texts in some rows and their ratings in others -> rows that have both."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from refless.errors import InputError, UsageError
from refless.tables.cells import name_of_cell, shown
from refless.tables.columns import ALIASES, Columns, check_seen, listed
from refless.tables.gathering import Gathered, gather
from refless.tables.memory import Rows
from refless.tables.reading import Reading
from refless.tables.table import Row

KEYS_SHOWN = 3
OF_RATINGS = ("rating", "annotator", "dimension", "time")  # roles that the ratings' columns have


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Joined:
    """Rows with a text and a rating each, in the order of the texts; the rating may be missing.

    Attributes:
        rows: all with the same columns; `id` names the text.
        on: what was equal, such as `id=run_id`.
        n_texts, n_ratings: rows on each side.
        n_rated: texts that have a rating; n_matched: ratings that have a text.
        notes: sentences on how both were read.
    """

    rows: list[Row]
    on: str
    n_texts: int
    n_ratings: int
    n_rated: int
    n_matched: int
    notes: tuple[str, ...]


def joined(texts: Rows, ratings: Rows, on: str | None, reading: Reading) -> Joined:
    """The ratings with the texts that they are of; texts that nobody rated keep their row.

    Args:
        texts: rows from anywhere, one a text; ratings: rows from anywhere, one a rating.
        on: the column that names the text in both, or `LEFT=RIGHT`; without it the keys that
            exports of tools are known to have, else `id`.
        reading: how to read both, and the columns of the annotator and the dimension.

    Raises:
        InputError: no rating has a text, two texts have one key, a person rated a text twice in
            one dimension; what reading raises.
        UsageError: keys that are not said.
    """
    columns = reading.columns
    left, right = _sides(on)
    first = gather(texts, _all, replace(reading, columns=Columns(id=left), apart=True))
    more = Columns(id=right, annotator=columns.annotator, dimension=columns.dimension)
    second = gather(ratings, _all, replace(reading, columns=more, apart=True))
    if any(told.keys for _, told in first.told):
        remedy = "name the texts first: refless join TEXTS RATINGS"
        raise InputError("ratings where the texts are to be", path=first.name, remedy=remedy)
    left, keys = _keys(first, second, left, right)
    place = _places(first, left)
    cells = [_names(second, key) for key in keys]
    every = zip(*cells, strict=True)
    at = [next((place[name] for name in names if name in place), None) for names in every]
    if all(one is None for one in at):
        raise _no_match(first, second, left, keys, cells)
    _check_again(second, at, columns)
    lines = [line for path, told in (*first.told, *second.told) for line in told.lines(path)]
    return Joined(
        rows=_rows(first, second, at, left, keys),
        on=f"{left}={'|'.join(keys)}",
        n_texts=len(first),
        n_ratings=len(second),
        n_rated=len({*at} - {None}),
        n_matched=sum(one is not None for one in at),
        notes=tuple(lines),
    )


def _all(_name: str) -> bool:
    return True


def _sides(on: str | None) -> tuple[str | None, str | None]:
    left, equals, right = (on or "").partition("=")
    if equals and not (left and right):
        raise UsageError(f"--on needs a column, or LEFT=RIGHT; got '{on}'")
    return left or None, (right if equals else left) or None


def _keys(
    first: Gathered, second: Gathered, left: str | None, right: str | None
) -> tuple[str, Sequence[str]]:
    """The column of the texts' keys, and those of the ratings that are looked up there."""
    if left is not None and right is not None:
        for name, side in ((left, first), (right, second)):
            check_seen([name], "on", [*side.seen], side.name)
        return left, [right]
    known = {told.keys for _, told in second.told}
    keys = known.pop() if len(known) == 1 and len(second.told) == len(second.parts) else ()
    if "id" in first.seen and (keys or "id" in second.seen):
        return "id", keys or ("id",)
    both = [name for name in first.seen if name in second.seen]
    alike = f"; both have {listed(both)}" if both else ""
    raise UsageError(
        f"what do the ratings have in common with their texts? Say so with --on NAME, or --on "
        f"LEFT=RIGHT where the names differ{alike}"
    )


def _names(table: Gathered, column: str) -> list[str]:
    """[n] what the cells of a column name; "" where they name nothing."""
    return [name.strip() for name in table.checked(column, name_of_cell)]


def _places(table: Gathered, column: str) -> dict[str, int]:
    """The row of each text by its key; raises InputError for a key that two texts have."""
    place: dict[str, int] = {}
    for row, name in enumerate(_names(table, column)):
        if name and name in place:
            found = f"key {shown(name)} is that of two texts: here and on "
            remedy = "keep one of them, or join on a column that names one text"
            raise table.fault(row, found + table.place(place[name], beside=row), remedy, column)
        if name:
            place[name] = row
    return place


def _no_match(
    first: Gathered, second: Gathered, left: str, keys: Sequence[str], cells: list[list[str]]
) -> InputError:
    texts = listed([*dict.fromkeys(_names(first, left))][:KEYS_SHOWN])
    names = dict.fromkeys(name for column in cells for name in column if name)
    ratings = listed([*names][:KEYS_SHOWN])
    return InputError(
        f"no rating has a text: '{left}' is {texts} there, and {' or '.join(keys)} is {ratings} "
        f"in {second.name}",
        path=first.name,
        remedy="name the columns that are equal with --on LEFT=RIGHT",
    )


def _column(table: Gathered, columns: Columns, role: str) -> str | None:
    """The column of a role, by the flag or by name."""
    named = getattr(columns, role)
    if named is not None:
        check_seen([named], role, [*table.seen], table.name)
        return str(named)
    return next((name for name in ALIASES[role] if name in table.seen), None)


def _check_again(table: Gathered, at: Sequence[int | None], columns: Columns) -> None:
    """Raises InputError where a person rated a text twice in one dimension."""
    annotator, dimension = (_column(table, columns, role) for role in ("annotator", "dimension"))
    if annotator is None:
        return
    who = _names(table, annotator)
    what = _names(table, dimension) if dimension is not None else [""] * len(who)
    seen: dict[tuple[int | None, str, str], int] = {}
    for row, key in enumerate(zip(at, who, what, strict=True)):
        if key[0] is None or not key[1]:
            continue
        if key in seen:
            of = f" in dimension {shown(key[2])}" if key[2] else ""
            where = table.place(seen[key], beside=row)
            found = f"{shown(key[1])} rated a text twice{of}: here and on {where}"
            remedy = "keep one of the two, or give them different annotators"
            raise table.fault(row, found, remedy, annotator)
        seen[key] = row


def _rows(
    first: Gathered, second: Gathered, at: Sequence[int | None], left: str, keys: Sequence[str]
) -> list[Row]:
    """A row for each rating that has a text, and one for each text that has none."""
    ratings_of: dict[int, list[int | None]] = {}
    for row, text in enumerate(at):
        if text is not None:
            ratings_of.setdefault(text, []).append(row)
    of_text, of_rating = _called(first, second, at, left, keys)
    rows: list[Row] = []
    for text, key in enumerate(_names(first, left)):
        about = {new: first.columns[name][text] for name, new in of_text.items()}
        for one in ratings_of.get(text, [None]):
            rated = {
                new: None if one is None else second.columns[name][one]
                for name, new in of_rating.items()
            }
            rows.append({"id": key or None, **about, **rated})
    return rows


def _called(
    first: Gathered, second: Gathered, at: Sequence[int | None], left: str, keys: Sequence[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """What the columns of texts and those of ratings are called where both are together.

    `id` is the key. Where both have a column, what is about a rating is the rating's, anything else
    the text's; the other one is called `texts.NAME` or `ratings.NAME`, and left out where equal.
    """
    about_ratings = {"id"} | {name for role in OF_RATINGS for name in ALIASES[role]}
    of_text = {name: name for name in _whole(first) if name != left}
    of_rating = {name: name for name in _whole(second) if name not in keys}
    for name in [*of_rating]:
        if name not in of_text and name != "id":
            continue
        pairs = (
            (second.columns[name][row], text) for row, text in enumerate(at) if text is not None
        )
        if name in about_ratings - {"id"}:
            of_text[name] = f"texts.{name}"
        elif name in of_text and all(first.columns[name][text] == cell for cell, text in pairs):
            del of_rating[name]
        else:
            of_rating[name] = f"ratings.{name}"
    if "id" in of_text:
        of_text["id"] = "texts.id"
    return of_text, of_rating


def _whole(table: Gathered) -> list[str]:
    """The columns as they were, without those that dotted names have opened."""
    names = {*table.columns}
    outer = {name: [name[:i] for i, mark in enumerate(name) if mark == "."] for name in names}
    return [name for name in table.columns if names.isdisjoint(outer[name])]
