"""Files that call the same column by different usual names, as version and system."""

from collections.abc import Collection, Sequence

from refless.data.tables.load_columns import Gathered
from refless.data.tables.roles import ROLES
from refless.data.tables.spellings import folded

KEYS = ("id", "item", "system", "source", "text")


def in_one_column(rows: Gathered, named: Collection[str]) -> list[str]:
    """Puts what each file has under its own usual name of a role into one column, and says so.

    Args:
        rows: of the files; named: columns that the user names, which stay as they are.
    """
    sentences: list[str] = []
    if len(rows.parts) < 2:
        return sentences
    for role in KEYS:
        names = {name for name in rows.header if _means(role, name)}.difference(named)
        most = max(len(names & part.columns) for part in rows.parts)
        if len(names) < 2 or most > 1:
            continue
        weak = {name for name in names if folded(name) in ROLES[role].weak}
        column = min(names - weak or names)
        cells = [*map(_first, zip(*map(rows.all, names), strict=True))]
        for columns in (rows.columns, rows.glimpse):
            if column in columns:
                columns[column] = cells
        for part in rows.parts:
            if part.columns & names:
                part.columns.add(column)
        for name in sorted(names - {column}):
            del rows.header[name]
            sentences.append(f"{rows.name}: '{name}' is read as '{column}'")
    return sentences


def _means(role: str, name: str) -> bool:
    """Whether a column's name is usual for this role, and for no other."""
    usual = folded(name)
    roles = [other for other, record in ROLES.items() if usual in record.names]
    return roles == [role]


def _first(cells: Sequence[object]) -> object:
    """The first cell that holds anything."""
    return next((cell for cell in cells if cell is not None), None)
