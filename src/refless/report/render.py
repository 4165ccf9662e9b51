"""Views as text, Markdown, CSV, JSON and JSONL."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from typing import Any

from refless.report.view import Cell, Section, Table, View

WIDTH = 80


def as_json(view: View) -> str:
    """One indented object; NaN is null."""
    import msgspec

    return msgspec.json.format(_encoded(view.json), indent=2).decode() + "\n"


def as_jsonl(view: View) -> str:
    """One object a text."""
    return "".join(_encoded(row).decode() + "\n" for row in view.rows)


def _encoded(value: object) -> bytes:
    """JSON in which a lone surrogate, which UTF-8 cannot hold, is a replacement character."""
    import msgspec

    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_encodable(value))


def _encodable(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_encodable(key): _encodable(entry) for key, entry in value.items()}
    return [*map(_encodable, value)] if isinstance(value, list | tuple) else value


def as_csv(view: View) -> str:
    """One row a text; an undefined number is an empty cell."""
    buffer = io.StringIO()
    names = list(view.rows[0]) if view.rows else []
    writer = csv.DictWriter(buffer, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in row.items()} for row in view.rows)
    return buffer.getvalue()


def _cell(value: Cell) -> Cell:
    return "" if value is None or value != value else value


def as_markdown(view: View) -> str:
    """Sections with pipe tables."""
    parts = []
    for section in view.sections:
        if section.title:
            parts.append(f"## {section.title}")
        parts += [f"> {line}" if section.warning else line for line in section.lines]
        if section.table is not None:
            parts.append(_pipes(section.table))
    return "\n\n".join(parts) + "\n"


def _pipes(table: Table) -> str:
    rule = ["---:" if numeric else "---" for numeric in table.numeric]
    rows = [table.header, rule, *table.rows]
    return "\n".join("| " + " | ".join(map(_pipe_cell, row)) + " |" for row in rows)


def _pipe_cell(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", "<br>")


def as_text(view: View, *, color: bool = False, width: int = WIDTH) -> str:
    """Sections for a terminal of so many columns."""
    from rich.console import Console

    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=width,
        force_terminal=color,
        no_color=not color,
        highlight=False,
        emoji=False,
        markup=False,
    )
    for section in view.sections:
        _print(section, console)
    lines = (line.rstrip() for line in buffer.getvalue().splitlines())
    return "\n".join(lines).strip("\n") + "\n"


def _print(section: Section, console: Any) -> None:  # noqa: ANN401 - rich is imported lazily
    from rich import box
    from rich.table import Table as RichTable

    if section.title:
        console.print(section.title, style="bold")
    for line in section.lines:
        console.print(line, style="yellow" if section.warning else None, soft_wrap=_whole(line))
    if section.table is not None:
        table = RichTable(
            box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0)
        )
        for name, numeric in zip(section.table.header, section.table.numeric, strict=True):
            table.add_column(name, justify="right" if numeric else "left", no_wrap=numeric)
        for row in section.table.rows:
            table.add_row(*row)
        console.print(table)
    console.print()


def _whole(line: str) -> bool:
    """Command lines and signatures stay whole, so that they can be copied."""
    return line.startswith(("  refless ", "signature: "))


FORMATS: dict[str, Callable[[View], str]] = {
    "text": as_text,
    "json": as_json,
    "jsonl": as_jsonl,
    "csv": as_csv,
    "md": as_markdown,
}
