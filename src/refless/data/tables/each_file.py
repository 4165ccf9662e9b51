"""Files that call the same column by different usual names, as version and system."""

from collections.abc import Collection

from refless.data.tables.load_columns import Gathered
from refless.data.tables.reading import GLIMPSE
from refless.data.tables.roles import ROLES
from refless.data.tables.spellings import folded

KEYS = ("id", "item", "system", "source", "text")


def in_one_column(rows: Gathered, named: Collection[str]) -> list[str]:
    """Puts what each file has under its own usual name of a role into one column, and says so.

    Args:
        rows: of the files; named: columns that the user names, which stay as they are.
    """
    sentences = []
    for role in KEYS if len(rows.parts) > 1 else ():
        names = [name for name in rows.header if _means(role, name)]
        of_files = [
            [name for name in names if name in part.columns] for part in rows.parts
        ]
        used = [*dict.fromkeys(name for found in of_files for name in found)]
        if len(used) < 2 or not {*used}.isdisjoint(named):
            continue
        if any(len(found) > 1 for found in of_files):
            continue
        usual = [name for name in used if folded(name) not in ROLES[role].weak]
        column = (usual or used)[0]
        for number, found in enumerate(of_files):
            if found and found[0] != column:
                _move(rows, number, found[0], column)
                part = rows.parts[number]
                sentences.append(f"{part.name}: '{found[0]}' is read as '{column}'")
    return sentences


def _means(role: str, name: str) -> bool:
    """Whether a column's name is usual for this role, and for no other."""
    roles = [other for other, record in ROLES.items() if folded(name) in record.names]
    return roles == [role]


def _move(rows: Gathered, number: int, name: str, column: str) -> None:
    """The cells of a file's column become those of another one."""
    parts = rows.parts
    first = parts[number].first
    end = parts[number + 1].first if number + 1 < len(parts) else len(rows)
    for cells in (rows.columns, rows.glimpse):
        if name in cells and column in cells:
            last = end if cells is rows.columns else min(end, GLIMPSE)
            cells[column][first:last] = cells[name][first:last]
            cells[name][first:last] = [None] * len(cells[name][first:last])
    parts[number].columns.remove(name)
    parts[number].columns.add(column)
    if not any(name in part.columns for part in parts):
        rows.header.pop(name, None)
