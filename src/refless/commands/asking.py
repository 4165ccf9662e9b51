"""The line that asks another command about the same rows."""

from typing import Any

from refless.commands import function_of
from refless.commands.calls import Call, this_call
from refless.commands.declared import parameters_of


def asking(name: str, **changes: Any) -> str:
    """The line of a command with what the running one was given, as far as it takes that."""
    values = {**this_call().values, **changes}
    return Call(name, parameters_of(function_of(name)), values).said()
