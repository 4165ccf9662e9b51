"""A view to standard output and to files."""

from __future__ import annotations

import sys
from pathlib import Path

from refless.cli.console import colored, say, width
from refless.cli.options import Format, ResultOptions
from refless.errors import UsageError
from refless.report.render import FORMATS, as_text
from refless.report.view import View


def check_files(options: ResultOptions) -> None:
    """Raises UsageError for a file whose ending names no format, before any work is done."""
    for name in options.out or []:
        _format_of(name)


def emit(view: View, options: ResultOptions) -> None:
    """Writes the files of -o, each whole or not at all, then standard output."""
    from refless.tables import write_atomic

    for name in options.out or []:
        write_atomic(name, FORMATS[_format_of(name)](view))
        say(f"wrote {name}")
    if options.format is Format.TEXT:
        sys.stdout.write(as_text(view, color=colored(), width=width()))
    else:
        sys.stdout.write(FORMATS[options.format](view))
    sys.stdout.flush()


def _format_of(name: str) -> str:
    ending = Path(name).suffix.removeprefix(".")
    if ending not in FORMATS or ending == "text":
        raise UsageError(f"-o {name}: the ending must be .json, .jsonl, .csv or .md")
    return ending
