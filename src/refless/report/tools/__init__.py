"""Files that other tools read."""

import re
from os import PathLike, fspath
from pathlib import Path

from refless.files.untrusted import is_folder
from refless.registry.errors import UsageError

_PREFIX = re.compile(r"([a-z][a-z-]+):(.*)", flags=re.DOTALL)
TOOLS = {  # the ending of the file that a tool reads, and the commands that write it
    "inspect": (".jsonl", ("score",)),
    "junit": (".xml", ("score", "gate", "judge")),
    "label-studio": (".json", ("next",)),
    "argilla": (".json", ("next",)),
}


def tool_in(path: str | PathLike[str]) -> tuple[str | None, str]:
    """The tool that `inspect:scores.jsonl` names, or None, and the file.

    Raises:
        UsageError: a tool that is none, or another ending than it reads; no such folder.
    """
    named = _PREFIX.fullmatch(fspath(path))
    if named is None:
        return None, fspath(path)
    name, file = named.groups()
    if name not in TOOLS:
        raise UsageError(
            f"{fspath(path)}: no tool '{name}'; there are {', '.join(TOOLS)}"
        )
    ending, _ = TOOLS[name]
    if Path(file).suffix != ending:
        raise UsageError(f"{fspath(path)}: the ending must be {ending}")
    if not is_folder(Path(file).parent):
        raise UsageError(f"{fspath(path)}: there is no such folder")
    return name, file


def check_tool(tool: str, command: str) -> None:
    """Raises UsageError where a command has nothing for a tool."""
    _, commands = TOOLS[tool]
    if command not in commands:
        raise UsageError(
            f"{tool}: is for what {' and '.join(commands)} find, not {command}"
        )
