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
from refless.files.untrusted import is_folder, matching, workbook_of
from refless.files.writing import check_writable
from refless.registry.errors import UsageError
from refless.report.result import Result, ending_of
from refless.report.tools import check_tool, tool_in

OF_ROWS = (".jsonl", ".csv", ".parquet")


class Format(StrEnum):
    """Formats of standard output; brief: the answer, one table and what to do now."""

    BRIEF = "brief"
    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    MD = "md"


def show(
    command: str,
    make: Callable[[], Result],
    output: Format,
    files: Sequence[str],
    csv_safe: bool,
) -> None:
    """Makes a result, writes its files, each whole or not at all, then standard output.

    Raises:
        UsageError: before any work is done, a file that cannot be written after it.
        typer.Exit: with the result's exit status, where that is not 0.
    """
    check(files, command)
    with watched(say, progress):
        result = make()
        for name in files:
            result.save(name, csv_safe=csv_safe)
            say(f"wrote {name}")
    if output in {Format.BRIEF, Format.TEXT}:
        brief = output is Format.BRIEF
        put(result.as_text(color=colored(), width=width(), brief=brief))
    else:
        put(result.content(output, csv_safe=csv_safe), encoding="utf-8")
    result.serve()
    if result.exit_status:
        raise typer.Exit(result.exit_status)


def check(files: Sequence[str], command: str) -> None:
    """Raises UsageError for a file that the command reads, InputError for one it cannot write."""
    inputs = _inputs()
    for name in files:
        try:
            tool, path = tool_in(name)
            if tool is None:
                ending_of(path)
            else:
                check_tool(tool, command)
        except UsageError as fault:
            raise UsageError(f"-o {fault}") from None
        if any(_among(inputs, status) for status in _status(Path(path))):
            raise UsageError(
                f"-o {path} would overwrite a file that is read; name another"
            )
        check_writable(path)


def is_folder_name(name: str) -> bool:
    """Whether -o names a folder: one that is there, or a name that ends as folders' do."""
    return name.endswith(("/", os.sep)) or is_folder(name)


def check_beside(
    folders: Sequence[str], files: Sequence[str], output: Format, csv_safe: bool
) -> list[str]:
    """The files that are written beside a folder.

    Raises:
        UsageError: several folders, or what takes the rows that are in the folder.
    """
    if len(folders) > 1:
        raise UsageError(
            f"-o names two folders, {folders[0]} and {folders[1]}; name one"
        )
    remaining = [name for name in files if name not in folders]
    asked = [f"-o {name}" for name in remaining if name.endswith(OF_ROWS)]
    asked += [f"--format {output}"] if f".{output}" in OF_ROWS else []
    asked += ["--csv-safe"] if csv_safe else []
    if asked:
        raise UsageError(
            f"{asked[0]} takes all rows in memory, and -o {folders[0]} is for more than that; "
            "leave one of them out"
        )
    return remaining


def _inputs() -> list[os.stat_result]:
    """Files and folders that the command line names, but for those of -o; `-` is what is piped."""
    statuses = []
    previous = ""
    for word in sys.argv[1:]:
        flag = ""
        value = word
        if word.startswith("--"):
            flag, _, value = word.partition("=")
        if "--out" not in {flag, previous} and previous != "-o" and value:
            statuses += _statuses(value)
        previous = word
    return statuses


def _statuses(value: str) -> list[os.stat_result]:
    """Files and folders that a value names, those in specifications too."""
    statuses = []
    for path in matching(workbook_of(value)[0]):
        statuses += _status(sys.stdin.fileno if value == "-" else Path(path))
    for part in filter(None, re.split(r"[=,:()]", value)[1:]):
        statuses += _status(Path(part))
    return statuses


def _status(of: Path | Callable[[], int]) -> list[os.stat_result]:
    """Of a file, a folder or what a number stands for; nothing where there is none."""
    try:
        return [of.stat() if isinstance(of, Path) else os.fstat(of())]
    except (OSError, ValueError):
        return []  # a text too long for a name, a closed or made-up input


def _among(inputs: list[os.stat_result], output: os.stat_result) -> bool:
    return any(os.path.samestat(output, status) for status in inputs)


def put(text: str, *, encoding: str | None = None) -> None:
    """Writes to standard output.

    Without an encoding it is the terminal's, and what that cannot show becomes a question mark.
    """
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding=encoding, errors="replace")
    write_output(text)
