"""Documents as text for a terminal and as Markdown."""

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from refless.registry.sanitize import printable
from refless.report.document import Document, Section, Table, plain


def as_markdown(document: Document) -> str:
    """Sections with pipe tables."""
    parts = []
    for section in _printable(document):
        if section.title:
            parts.append(f"## {section.title}")
        quoted = "> " if section.warning else ""
        parts += [
            line if _copied(line) else f"{quoted}{line}" for line in section.lines
        ]
        if section.table is not None:
            parts.append(_pipes(section.table))
    return "\n\n".join(parts) + "\n"


def _printable(document: Document) -> Iterator[Section]:
    """The sections with nothing in them that could command a terminal."""
    for section in plain(document):
        table = section.table
        if table is not None:
            rows = tuple(map(_cells, table.rows))
            table = replace(table, header=_cells(table.header), rows=rows)
        title = printable(section.title, keep="\n")
        yield replace(section, title=title, lines=_cells(section.lines), table=table)


def _cells(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(printable(text, keep="\n") for text in texts)


def _pipes(table: Table) -> str:
    rule = ["---:" if numeric else "---" for numeric in table.flush_right]
    rows = [table.header, rule, *table.rows]
    return "\n".join("| " + " | ".join(map(_pipe_cell, row)) + " |" for row in rows)


def _pipe_cell(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", "<br>")


def as_text(document: Document, *, color: bool = False, width: int = 80) -> str:
    """Sections for a terminal of so many columns."""
    from rich.console import Console

    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=width,
        force_terminal=color,
        force_jupyter=False,  # in a notebook rich would show what it writes, and write nothing here
        no_color=not color,
        highlight=False,
        emoji=False,
        markup=False,
    )
    for section in _printable(document):
        _print(section, console)
    lines = (line.rstrip() for line in buffer.getvalue().splitlines())
    return "\n".join(lines).strip("\n") + "\n"


def _print(section: Section, console: Any) -> None:  # noqa: ANN401 - rich is imported lazily
    from rich import box
    from rich.table import Table as RichTable

    if section.title:
        console.print(section.title, style="bold")
    for line in section.lines:
        warned = section.warning and not _copied(line)
        console.print(line, style="yellow" if warned else None, soft_wrap=_copied(line))
    if section.table is not None:
        cells = section.table
        table = RichTable(
            box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0)
        )
        for name, numeric in zip(cells.header, cells.flush_right, strict=True):
            table.add_column(
                name, justify="right" if numeric else "left", no_wrap=numeric
            )
        for row in cells.rows:
            table.add_row(*row)
        console.print(table)
    console.print()


def _copied(line: str) -> bool:
    """Command lines and signatures stay whole, so that they can be copied."""
    return line.startswith(("  refless ", "signature: "))
