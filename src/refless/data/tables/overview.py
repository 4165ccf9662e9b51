"""Rows before anything is asked of them: each column, the role it plays, and what it holds."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from refless.data.tables.cells import json_in_cell
from refless.data.tables.columns import says_score, unclear, with_nested
from refless.data.tables.memory import Rows
from refless.data.tables.proposed import proposed, ratings_among, written
from refless.data.tables.ratings import numbers_within, score_words, spelled
from refless.data.tables.reading import Reading
from refless.data.tables.roles import Cells
from refless.data.tables.spellings import at_any_place
from refless.data.tables.table import RowTable, read_table
from refless.data.tables.unread import hold_ratings
from refless.registry.arrays import FloatArray, Strings

LETTERS = 200  # of an example


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenColumn:
    """A column of rows from anywhere.

    Attributes:
        name: what the rows call it; role: that it plays, "" if nothing reads it.
        missing: share of the cells that are blank; of a column that nothing reads among the first
            10,000 rows.
        example: of what its cells hold, the first in the order of letters.
    """

    name: str
    role: str
    missing: float
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Rows before anything is asked of them.

    Attributes:
        n_rows: rows; columns: in the order of the files.
        scores: columns that hold a judge's scores, as far as their names and cells tell.
        proposed: by role, the column that may have it; see `proposed`.
        ratings: several columns of ratings, where none is known to be people's.
        beside: columns of texts, where none plays that role: of one version each, maybe.
    """

    n_rows: int
    columns: tuple[SeenColumn, ...]
    scores: Strings
    proposed: Mapping[str, str]
    ratings: Strings
    beside: Strings

    @property
    def roles(self) -> set[str]:
        """The roles that some column plays."""
        return {column.role for column in self.columns} - {""}


def overview(rows: Rows, reading: Reading) -> Overview:
    """Columns of rows from anywhere, with the role of each.

    Raises:
        InputError, UsageError, MissingExtraError: as `read_pool`.
    """
    table = read_table(rows, reading, "judged", ())
    role_of = _role_of(table)
    scores = table.roles.all("score") or _scores(table, role_of)
    role_of |= dict.fromkeys(scores, "score")
    header = table.rows.header
    columns = [_seen(table, name, role_of.get(name, "")) for name in header]
    unread = _opened(
        {name: table.rows.seen(name) for name in header if name not in role_of}
    )
    known = {*role_of.values()}
    ratings = [] if "rating" in known else ratings_among(unread)
    sources = {
        name: table.rows.seen(name) for name in header if role_of.get(name) == "source"
    }
    return Overview(
        n_rows=len(table),
        columns=tuple(columns),
        scores=tuple(scores),
        proposed=proposed(unread, sources, known),
        ratings=tuple(ratings) if len(ratings) > 1 else (),
        beside=() if "text" in known else tuple(written(unread)),
    )


def unread_scores(table: RowTable) -> dict[str, FloatArray]:
    """The columns that hold a judge's scores and that nothing reads, by name: [n] numbers.

    They are NaN where a cell holds none, and in the rows of which nothing unread is kept.
    """
    scores: dict[str, FloatArray] = {}
    for name, cells in _scores(table, _role_of(table)).items():
        words = [*map(spelled, cells)]
        meanings, _ = score_words({*words} - {None}, None)
        column = np.full(len(table), np.nan)
        for row, word in enumerate(words):
            number = meanings.get(word or "", word)
            if isinstance(number, float):
                column[row] = number
        scores[name] = np.where(np.isinf(column), np.nan, column)
    return scores


def _role_of(table: RowTable) -> dict[str, str]:
    """The role that each column plays, by its name."""
    role_of: dict[str, str] = {}
    for role, names in table.roles.columns.items():
        for name in names:
            role_of.setdefault(name, role)
    return role_of


def _opened(columns: Mapping[str, Cells]) -> dict[str, Cells]:
    """Columns with what their objects hold, by dotted name; of lists what may be ratings."""
    outer = [*columns]
    cells = zip(*columns.values(), strict=False)
    rows = [with_nested(dict(zip(outer, row, strict=True)), outer) for row in cells]
    opened: dict[str, Cells] = {}
    for place, cell in max(rows, key=len, default={}).items():
        name = at_any_place(place)
        inner = [row.get(place) for row in rows]
        is_plain = not isinstance(json_in_cell(cell), dict | list)
        if is_plain and ("*" not in name or hold_ratings(inner)):
            opened[name] = inner
    return opened


def _scores(table: RowTable, role_of: dict[str, str]) -> dict[str, Cells]:
    """The cells of columns called as scores are that hold numbers or verdicts, by name.

    A name that leaves open if people gave them is one of ratings if none is known and others are
    called as judges or metrics are.
    """
    free = [name for name in table.rows.header if name not in role_of]
    seen = _opened({name: table.rows.seen(name) for name in free})
    names = [name for name in seen if unclear([name, name.partition(".")[0]])]
    names = [name for name in names if _hold_scores(seen[name])]
    scores = [name for name in names if says_score(name.rpartition(".")[2])]
    people_known = "rating" in role_of.values()
    names = names if people_known or not scores else scores
    return {name: seen[name] for name in names}


def _hold_scores(cells: Cells) -> bool:
    """Whether cells are numbers or verdicts, or words such as 8/10."""
    words = {str(cell) for cell in cells} - {"", "None"}
    return hold_ratings(cells) or bool(numbers_within(words))


def _seen(table: RowTable, name: str, role: str) -> SeenColumn:
    cells = table.rows.all(name)
    filled = [str(cell) for cell in cells if cell not in (None, "")]
    return SeenColumn(
        name=name,
        role=role,
        missing=1 - len(filled) / max(len(cells), 1),
        example=min(filled, default="")[:LETTERS],
    )
