"""Lists that raters have filled in, in a file beside the outputs that they are of."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from refless.data.tables.columns import Roles
from refless.data.tables.each_file import KEYS
from refless.data.tables.load_columns import Gathered
from refless.data.tables.ratings import BLANKS, spelled
from refless.data.tables.roles import Kind
from refless.registry.arrays import Names
from refless.registry.plural import counted

Key = tuple[str, ...]
NONE = frozenset({None, *BLANKS})


def with_returned(rows: Gathered, roles: Roles, kind: Kind) -> list[str]:
    """Ratings of a later file in the rows of the outputs that they are of; sentences on that.

    A file is such a list if each of its rows is an output of the files before: of the same system,
    item, source and text, as far as it tells them. Ratings by more annotators are rows of their
    own, which take what they lack from the output's first row.
    """
    sentences: list[str] = []
    names = _names(roles, kind)
    starts = [part.first for part in rows.parts[1:]]
    if not names or "rating" not in roles.columns or not starts:
        return sentences
    used: set[int] = set()
    outputs: dict[Names, _Outputs] = {}
    for part, end in zip(rows.parts[1:], [*starts[1:], len(rows)], strict=True):
        own = tuple(name for name in names if name in part.columns)
        if not _tells(own, roles):
            continue
        known = outputs.setdefault(own, _Outputs(rows, roles.all("rating"), own))
        known.extend(part.first, used)
        has_raters = "annotator" in roles.columns
        places = known.places(range(part.first, end), several=has_raters)
        if places is None:
            continue
        used |= known.fill(places)
        part.columns.update(rows.parts[0].columns)
        n = counted(end - part.first, "row")
        sentences.append(
            f"{part.name}: {n} with ratings of outputs in the files before"
        )
    rows.without(used)
    return sentences


def _names(roles: Roles, kind: Kind) -> list[str]:
    """The columns that say which output a row is of; none where files stand for systems."""
    has_systems = kind != "compared" or {"id", "system"} & roles.columns.keys()
    names = [roles.column(role) for role in KEYS]
    return [name for name in names if name is not None] if has_systems else []


def _tells(names: Names, roles: Roles) -> bool:
    """Whether a list has texts, and what they answer."""
    about = {roles.column(role) for role in ("id", "item", "source")}
    return roles.column("text") in names and bool(about.intersection(names))


@dataclass(slots=True)
class _Outputs:
    """Outputs by what names them.

    Attributes:
        rows: of all files; ratings: columns of ratings; names: columns that name outputs.
        known: the rows of each output; end: of the rows that were looked at.
    """

    rows: Gathered
    ratings: Names
    names: Names
    known: dict[Key, list[int]] = field(default_factory=dict)
    end: int = 0

    def extend(self, end: int, used: set[int]) -> None:
        """Adds the rows up to here, but those that are used up."""
        for row in range(self.end, end):
            if row not in used:
                self.known.setdefault(self._key(row), []).append(row)
        self.end = end

    def places(self, listed: Sequence[int], *, several: bool) -> dict[int, int] | None:
        """The output of each row of a list; None if some row is of none that may be rated.

        `several` ratings by annotators may be of one output.
        """
        if any(self._key(row) not in self.known for row in listed):
            return None
        places: dict[int, int] = {}
        taken: set[int] = set()
        for row in listed:
            same = self.known[self._key(row)]
            unrated = [place for place in same if not self._is_rated(place)]
            free = [place for place in unrated if place not in taken]
            if self._is_rated(row) and not (free or several):
                return None
            places[row] = (free or same)[0]
            taken.add(places[row])
        return places

    def fill(self, places: dict[int, int]) -> set[int]:
        """Gives outputs their first rating; returns the rows of the list that are used up."""
        used: set[int] = set()
        for row, place in places.items():
            is_first = not self._is_rated(place)
            if is_first or not self._is_rated(row):
                used.add(row)
                self._complete(place, row)
            else:
                self._complete(row, place)
        return used

    def _complete(self, row: int, other: int) -> None:
        """Gives a row what it lacks and another one has."""
        for cells in (*self.rows.columns.values(), *self.rows.glimpse.values()):
            if max(row, other) < len(cells) and cells[row] in (None, ""):
                cells[row] = cells[other]

    def _key(self, row: int) -> Key:
        return tuple(str(self.rows.columns[name][row]).strip() for name in self.names)

    def _is_rated(self, row: int) -> bool:
        cells = [self.rows.columns[name][row] for name in self.ratings]
        return any(
            isinstance(cell, list) or spelled(cell) not in NONE for cell in cells
        )
