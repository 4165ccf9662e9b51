"""Rows that tests read: changed, as data frames, and as files."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from command_line import headlines
from refless.data.tables import Columns, Reading

Row = Mapping[str, Any]
Rows = Sequence[Row]


def digits(words: str) -> list[tuple[int, ...]]:
    """The digits of each word: (1, 2) and (3, 4) of "12 34"."""
    return [tuple(map(int, word)) for word in words.split()]


def without(rows: Iterable[Row], *names: str) -> list[dict[str, Any]]:
    """Rows that lack these columns."""
    return [lacking(row, *names) for row in rows]


def lacking(row: Row, *names: str) -> dict[str, Any]:
    """A row that lacks these columns."""
    return {name: cell for name, cell in row.items() if name not in names}


def only(rows: Iterable[Row], *names: str) -> list[dict[str, Any]]:
    """Rows that have these columns alone, in this order."""
    return [having(row, *names) for row in rows]


def having(row: Row, *names: str) -> dict[str, Any]:
    """A row that has these columns alone, in this order."""
    return {name: row[name] for name in names}


def renamed(rows: Iterable[Row], **names: str) -> list[dict[str, Any]]:
    """Rows whose columns have new names; a column that is not named keeps its own."""
    return [_renamed(row, names) for row in rows]


def _renamed(row: Row, names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): cell for name, cell in row.items()}


def of_system(rows: Iterable[Row], system: str) -> list[dict[str, Any]]:
    """The rows of a system."""
    return [dict(row) for row in rows if row["system"] == system]


def columns_of(rows: Rows) -> dict[str, list[Any]]:
    """Rows as columns; a cell that a row lacks is None."""
    names: dict[str, None] = {}
    for row in rows:
        names |= dict.fromkeys(row)
    return {name: column(rows, name) for name in names}


def column(rows: Iterable[Row], name: str) -> list[Any]:
    """The cells of a column; a cell that a row lacks is None."""
    return [row.get(name) for row in rows]


def by_columns(**roles: Any) -> Reading:
    """A reading by which columns play these roles."""
    return Reading(columns=Columns(**roles))


class Frame:
    """Rows as data frames of any library hold them: columns by name, and no truth value."""

    def __init__(self, columns: Mapping[Any, Any]) -> None:
        self._columns = columns
        self.columns = list(columns)

    def __getitem__(self, name: Any) -> Any:
        return self._columns[name]

    def __bool__(self) -> bool:
        raise ValueError("the truth value of a data frame is ambiguous")

    __eq__ = None  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


def workbook(path: Path, **sheets: list[list[Any]]) -> Any:
    """A workbook at a path, which can be changed and saved again; skipped without openpyxl."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return book


def csv_of(rows: Rows, **settings: Any) -> str:
    """Rows as CSV, with the columns of the first one."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [*rows[0]], **settings)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def read_csv(text: str) -> list[dict[str, str]]:
    """The rows of CSV."""
    return [*csv.DictReader(io.StringIO(text, newline=""))]


def read_jsonl(text: str | bytes) -> list[Any]:
    """The rows of a file of JSON lines."""
    return [*map(json.loads, text.splitlines())]


def write(folder: Path, name: str, content: str | bytes) -> str:
    """The path of a file with this content."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def rated() -> Rows:
    """Texts by four systems, some of them equal, rated by two people, with a score each."""
    draw = random.Random(5)
    texts = headlines(40)
    rows = []
    for i in range(40):
        text = texts[i - 4] if i % 9 == 8 else texts[i]
        liked = i % 4 + draw.gauss(0, 1)
        row = {
            "id": f"t{i:03}",
            "item": f"i{i // 4}",
            "source": f"what of {i // 4}",
            "system": ("human", "m1", "m2", "m3")[i % 4],
            "text": text,
            "good": liked + draw.gauss(0, 0.5),
            "logprob": -5.0 - (i * 3) % 11 / 7,
            "references": [" ".join(draw.sample(text.split(), 3)), texts[(i * 7) % 40]],
        }
        for who in ("ann", "bob"):
            rating = round(min(5, max(1, 3 + liked / 2 + draw.gauss(0, 0.3))), 1)
            rows.append({**row, "annotator": who, "rating": rating})
    return rows
