"""Lists that raters have filled in, in a file beside the outputs that they are of."""

from collections import Counter

from refless.data.tables.columns import Roles
from refless.data.tables.each_file import KEYS
from refless.data.tables.load_columns import Gathered
from refless.data.tables.ratings import BLANKS, spelled
from refless.data.tables.roles import Kind
from refless.registry.arrays import Names

Key = tuple[object, ...]
NONE = frozenset({None, *BLANKS})


def with_returned(rows: Gathered, roles: Roles, kind: Kind) -> list[str]:
    """Ratings of a later file in the rows of the outputs that they are of; sentences on that.

    A file is such a list if each of its rows is an output of the files before that nobody rated: of
    the same system, item, source and text, as far as all files tell them. What a list leaves
    blank may be rated in the next one.
    """
    names = _names(rows, roles, kind)
    ratings = roles.all("rating")
    if len(rows.parts) < 2 or not names or not ratings:
        return []
    keys = [*zip(*(map(str, rows.columns[name]) for name in names), strict=True)]
    lists: list[str] = []
    unrated: dict[Key, list[int]] = {}
    used: set[int] = set()
    ends = [*(part.first for part in rows.parts[1:]), len(rows)]
    for part, end in zip(rows.parts, ends, strict=True):
        listed = range(part.first, end)
        times = Counter(keys[row] for row in listed)
        if all(len(unrated.get(key, ())) >= n for key, n in times.items()):
            for row in listed:
                output, *others = unrated[keys[row]]
                _fill(rows, output, row)
                if not _is_blank(rows, ratings, row):
                    unrated[keys[row]] = others
            used.update(listed)
            lists.append(part.name)
            continue
        for row in listed:
            if _is_blank(rows, ratings, row):
                unrated.setdefault(keys[row], []).append(row)
    rows.without(used)
    rows.parts = [part for part in rows.parts if part.name not in lists]
    return [f"{name}: ratings of outputs in the files before" for name in lists]


def _names(rows: Gathered, roles: Roles, kind: Kind) -> list[str]:
    """The columns of all files that say which output a row is of; none if they do not tell it."""
    shared = set.intersection(*[part.columns for part in rows.parts])
    columns = {role: roles.column(role) for role in KEYS}
    told = {role: name for role, name in columns.items() if name in shared}
    has_systems = kind != "compared" or "id" in told or columns["system"] is not None
    is_told = "text" in told and not {"id", "item", "source"}.isdisjoint(told)
    return [*filter(None, told.values())] if has_systems and is_told else []


def _is_blank(rows: Gathered, ratings: Names, row: int) -> bool:
    """Whether a row has no rating."""
    return all(spelled(rows.columns[name][row]) in NONE for name in ratings)


def _fill(rows: Gathered, row: int, other: int) -> None:
    """Gives a row what it lacks and another one has."""
    for cells in rows.columns.values():
        if cells[row] in (None, ""):
            cells[row] = cells[other]
