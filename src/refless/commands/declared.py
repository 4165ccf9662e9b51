"""The parameters of a command, as the signature and the docstring of its function have them."""

import inspect
import re
from collections.abc import Callable
from dataclasses import MISSING
from functools import lru_cache
from textwrap import fill
from typing import Any, get_args, get_type_hints

from refless.registry.spec import Parameter, declared

COLUMNS = "Columns"
READING = "Reading"
RESULT = "Result"
ByName = dict[str, Any] | None  # a repeatable NAME=VALUE, a mapping in Python
Many = list[str] | None  # what the command line takes for rows and for several names


@lru_cache
def parameters_of(function: Callable[..., object]) -> tuple[Parameter, ...]:
    """The parameters of a function in their order."""
    bare = inspect.unwrap(function)
    if bare is not function:  # a command shows plain types
        return parameters_of(bare)
    hints = get_type_hints(function, include_extras=True)
    lines = documented(function.__doc__)
    parameters: list[Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        default = MISSING if parameter.default is parameter.empty else parameter.default
        parameters.append(declared(name, hints[name], default, lines.get(name, "")))
    return tuple(parameters)


def explained(function: Callable[..., object], kind: object) -> str:
    """Its docstring, with every parameter that several functions share, and what it returns."""
    doc = inspect.cleandoc(function.__doc__ or "")
    names_in_doc = documented(function.__doc__)
    indent = " " * 4
    lines = [
        fill(
            f"{parameter.name}: {parameter.about.help}",
            96,
            initial_indent=indent,
            subsequent_indent=2 * indent,
        )
        for parameter in parameters_of(function)
        if parameter.name not in names_in_doc and parameter.about.help
    ]
    head, _, tail = doc.partition("\nArgs:\n")
    listed, blank, after = tail.partition("\n\n")
    names = " or ".join(result.__name__ for result in get_args(kind) or (kind,))
    result = f"\n\nReturns:\n    {names}, whose help() lists what it holds."
    args = "\n".join(filter(None, [listed, *lines]))
    return f"{head.rstrip()}\n\nArgs:\n{args}{result}{blank}{after}"


def documented(doc: str | None) -> dict[str, str]:
    """The line of each name under `Args` or `Attributes` of a docstring."""
    parts = re.split("\n(?:Args|Attributes):\n", inspect.cleandoc(doc or ""))
    pattern = r"^ {4}(\w+): (.+(?:\n {8}.+)*)"
    entries = re.findall(pattern, "".join(parts[1:]), re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}
