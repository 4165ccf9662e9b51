"""A server of the Model Context Protocol: five questions as tools of an assistant.

`python -m refless.extensions.connect.mcp` speaks on standard input and output.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from refless.commands import function_of
from refless.commands.next.study import plan
from refless.registry.errors import RefLessError
from refless.report.result import Result

QUESTIONS = ("judge", "compare", "validate", "next")
LIMITS = (
    "Give the reader the first sentence as it is, with its interval, and its limits."
)


def server() -> MCPServer:
    """The server with a tool for each question."""
    result = MCPServer("refless", instructions=LIMITS)
    functions = {name: function_of(name) for name in QUESTIONS} | {"plan": plan}
    for name, function in functions.items():
        result.add_tool(_tool(function), name, description=function.__doc__)
    return result


def _tool(function: Callable[..., Result]) -> Callable[..., str]:
    """The tool that calls a function: files, and the function's parameters by name."""

    def ask(files: list[str], options: dict[str, Any] | None = None) -> str:
        try:
            return function(files or None, **(options or {})).content("md")
        except (RefLessError, TypeError) as fault:
            raise ToolError(str(fault)) from fault

    return ask


if __name__ == "__main__":
    server().run()
