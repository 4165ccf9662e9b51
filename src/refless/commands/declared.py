"""The parameters of a command: those of its function, and of groups, a dataclass each."""

import inspect
import re
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from textwrap import fill
from typing import Annotated, Any, get_args, get_type_hints

from refless.data.tables.roles import flags_of
from refless.registry.spec import About, Parameter, declared

COLUMNS, READING, RESULT = "Columns", "Reading", "Result"
ByName = dict[str, Any] | None  # a repeatable NAME=VALUE, a mapping in Python
Many = list[str] | None  # what the command line takes for rows and for several names
CONFIG = declared(
    "config",
    Annotated[str | None, About(metavar="FILE", panel=RESULT)],
    None,
    "TOML file with values of flags; the command line wins.",
)


@lru_cache
def parameters_of(function: Callable[..., object]) -> tuple[Parameter, ...]:
    """The parameters of a function, those of its groups one by one, and `config`."""
    if (bare := inspect.unwrap(function)) is not function:  # a command shows plain types
        return parameters_of(bare)
    found: list[Parameter] = []
    hints, docs = get_type_hints(function, include_extras=True), documented(function.__doc__)
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints[name]
        if is_dataclass(hint):
            inner = get_type_hints(hint, include_extras=True)
            lines = documented(*(kind.__doc__ for kind in reversed(hint.__mro__)))  # type: ignore[union-attr]
            roles = flags_of(*getattr(hint, "roles", ()))
            found += [
                declared(
                    field.name,
                    inner[field.name],
                    field.default,
                    lines.get(field.name, "").replace("{roles}", roles),
                )
                for field in fields(hint)
            ]
        else:
            default = MISSING if parameter.default is parameter.empty else parameter.default
            found.append(declared(name, hint, default, docs.get(name, "")))
    return (*found, CONFIG) if found else ()


def explained(function: Callable[..., object]) -> str:
    """Its docstring, with every parameter of its groups under `Args`, and what it returns."""
    doc, own = inspect.cleandoc(function.__doc__ or ""), documented(function.__doc__)
    lines = [
        fill(
            f"{each.name}: {each.about.help}", 96, initial_indent="    ", subsequent_indent=" " * 8
        )
        for each in parameters_of(function)
        if each.name not in own and each.about.help
    ]
    head, _, rest = doc.partition("\nArgs:\n")
    listed, blank, after = rest.partition("\n\n")
    kind = get_type_hints(function)["return"]
    names = " or ".join(each.__name__ for each in get_args(kind) or (kind,))
    result = f"\n\nReturns:\n    {names}, whose help() lists what it holds."
    args = "\n".join(filter(None, [listed, *lines]))
    return f"{head.rstrip()}\n\nArgs:\n{args}{result}{blank}{after}"


def documented(*docs: str | None) -> dict[str, str]:
    """What docstrings say of each name under `Args` or `Attributes`."""
    found: dict[str, str] = {}
    for doc in docs:
        parts = re.split("\n(?:Args|Attributes):\n", inspect.cleandoc(doc or ""))
        entries = re.findall(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", "".join(parts[1:]), re.MULTILINE)
        found |= {name: " ".join(text.split()) for name, text in entries}
    return found
