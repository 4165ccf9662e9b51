"""A result to standard output and to files."""

import os
import re
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path

import typer

from refless.cli.console import colored, progress, say, width, write_output
from refless.commands.warnings import watched
from refless.files.untrusted import matching, workbook_of
from refless.files.writing import check_writable
from refless.registry.errors import UsageError
from refless.report.result import Result, ending_of
from refless.report.tools import check_tool, tool_in


class Format(StrEnum):
    """Formats of standard output."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    MD = "md"


def show(
    command: str,
    make: Callable[[], Result],
    shown: Format,
    saved: Sequence[str],
    csv_safe: bool,
) -> None:
    """Makes a result, writes its files, each whole or not at all, then standard output.

    Raises:
        UsageError: before any work is done, a file that cannot be written after it.
        typer.Exit: with the result's exit status, where that is not 0.
    """
    check(saved, command)
    with watched(say, progress):
        result = make()
        for name in saved:
            result.save(name, csv_safe=csv_safe)
            say(f"wrote {name}")
    if shown is Format.TEXT:
        put(result.as_text(color=colored(), width=width()))
    else:
        put(result.content(shown, csv_safe=csv_safe), encoding="utf-8")
    result.serve()
    if result.exit_status:
        raise typer.Exit(result.exit_status)


def check(saved: Sequence[str], command: str) -> None:
    """Raises UsageError for a file that the command reads, InputError for one it cannot write."""
    named = _named()
    for name in saved:
        try:
            tool, path = tool_in(name)
            if tool is None:
                ending_of(path)
            else:
                check_tool(tool, command)
        except UsageError as fault:
            raise UsageError(f"-o {fault}") from None
        if _among(named, Path(path)):
            raise UsageError(
                f"-o {path} would overwrite a file that is read; name another"
            )
        check_writable(path)


def _named() -> list[os.stat_result]:
    """Files and folders that the command line names, but for those of -o; `-` is what is piped."""
    statuses = []
    previous = ""
    for word in sys.argv[1:]:
        flag, _, value = (
            word.partition("=") if word.startswith("--") else ("", "", word)
        )
        if "--out" not in {flag, previous} and previous != "-o" and value:
            for path in matching(workbook_of(value)[0]):
                statuses += _status(sys.stdin.fileno if value == "-" else Path(path))
            for part in re.split(r"[=,:()]", value)[
                1:
            ]:  # folders and files in specifications
                statuses += _status(Path(part)) if part else []
        previous = word
    return statuses


def _status(of: Path | Callable[[], int]) -> list[os.stat_result]:
    """Of a file, a folder or what a number stands for; nothing where there is none."""
    try:
        return [of.stat() if isinstance(of, Path) else os.fstat(of())]
    except (
        OSError,
        ValueError,
    ):  # a text too long for a name, a closed or made-up input
        return []


def _among(named: list[os.stat_result], path: Path) -> bool:
    return any(
        os.path.samestat(status, other) for status in _status(path) for other in named
    )


def put(text: str, *, encoding: str | None = None) -> None:
    """Writes to standard output.

    Without an encoding it is the terminal's, and what that cannot show becomes a question mark.
    """
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding=encoding, errors="replace")
    write_output(text)
