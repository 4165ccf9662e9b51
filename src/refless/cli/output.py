"""A view to standard output and to files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from refless.cli.console import colored, say, width
from refless.cli.options import Format, ResultOptions
from refless.errors import UsageError
from refless.report.render import FORMATS, as_text
from refless.report.view import View

if TYPE_CHECKING:
    from refless.report.page import Page

REPORT = "html"
SAVED = ("index.json", "model.json")  # in the folders of 'refless index' and 'refless train'


def check(options: ResultOptions, *, report: bool = False) -> None:
    """Refuses, before any work is done, what could not be honoured after it.

    Args:
        options: where the result goes.
        report: whether the command has an HTML report.

    Raises:
        UsageError: a file whose ending names no format, whose folder is missing or which is read
            as well, a negative seed.
    """
    named = _named()
    for name in options.out or []:
        if _format_of(name) == REPORT and not report:
            raise UsageError(
                f"-o {name}: this command has no HTML report; validate, score, meta and train have"
            )
        if not Path(name).parent.is_dir():
            raise UsageError(f"-o {name}: there is no folder '{Path(name).parent}'")
        if _among(named, Path(name)):
            raise UsageError(f"-o {name} would overwrite a file that is read; name another")
        if Path(name).name in SAVED and _among(named, Path(name).parent):
            raise UsageError(f"-o {name} is a part of what that folder holds; name another")
    if options.seed < 0:
        raise UsageError(f"--seed must be 0 or more, got {options.seed}")


def _named() -> list[os.stat_result]:
    """Files and folders that the command line names, but for those of -o; `-` is what is piped."""
    found, previous = [], ""
    for word in sys.argv[1:]:
        flag, _, value = word.partition("=") if word.startswith("--") else ("", "", word)
        if "--out" not in {flag, previous} and previous != "-o" and value:
            found += _status(sys.stdin.fileno if value == "-" else Path(value))
        previous = word
    return found


def _status(of: Path | Callable[[], int]) -> list[os.stat_result]:
    """Of a file, a folder or what a number stands for; nothing where there is none."""
    try:
        return [of.stat() if isinstance(of, Path) else os.fstat(of())]
    except (OSError, ValueError):  # a text too long for a name, a closed or made-up input
        return []


def _among(named: list[os.stat_result], path: Path) -> bool:
    return any(os.path.samestat(one, other) for one in _status(path) for other in named)


def wants_report(options: ResultOptions) -> bool:
    """Whether a file of -o is the HTML report."""
    return any(_format_of(name) == REPORT for name in options.out or [])


def emit(view: View, options: ResultOptions, report: Callable[[], Page] | None = None) -> None:
    """Writes the files of -o, each whole or not at all, then standard output.

    Args:
        view: the result.
        options: where it goes.
        report: makes the HTML report; called only where a file of -o is one.
    """
    from refless.tables import write_atomic

    for name in options.out or []:
        write_atomic(name, _content(_format_of(name), view, report))
        say(f"wrote {name}")
    if options.format is Format.TEXT:
        put(as_text(view, color=colored(), width=width()))
    else:
        put(FORMATS[options.format](view), encoding="utf-8")


def _content(kind: str, view: View, report: Callable[[], Page] | None) -> str:
    if kind != REPORT:
        return FORMATS[kind](view)
    from refless.report.html import as_html

    if report is None:
        raise UsageError("this command has no HTML report")
    return as_html(report())


def put(text: str, *, encoding: str | None = None) -> None:
    """Writes to standard output; a reader who has gone, as `head` does, is no error.

    Without an encoding it is the terminal's, and what that cannot show becomes a question mark.
    """
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding=encoding, errors="replace")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # nothing more can be written there, also not when Python flushes at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _format_of(name: str) -> str:
    ending = Path(name).suffix.removeprefix(".")
    if ending not in {*FORMATS, REPORT} - {"text"}:
        raise UsageError(f"-o {name}: the ending must be .json, .jsonl, .csv, .md or .html")
    return ending
