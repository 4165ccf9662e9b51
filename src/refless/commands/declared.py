"""What functions declare of their parameters, and how they appear on the command line."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from numbers import Real
from typing import Annotated, Any, Literal, cast, get_args, get_origin, get_type_hints

from refless.registry.errors import UsageError
from refless.registry.spec import About, check_range, written

COLUMNS, READING, RESULT = "Columns", "Reading", "Result"
ANY = About("")
Many = list[str] | None  # what the command line takes for rows and for several names


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """How a parameter appears on the command line.

    Attributes:
        help: one sentence; without it, what the docstring says of the parameter.
        names: its flags; without any, the parameter's name with dashes.
        metavar: what stands for its value.
        panel: the heading under which help lists it.
        hidden: works, but help does not list it.
        argument: has no flag: it is a word of the command line.
        kind: what the command line takes, where functions take more; the parameter's own type.
    """

    help: str = ""
    names: tuple[str, ...] = ()
    metavar: str = ""
    panel: str = ""
    hidden: bool = False
    argument: bool = False
    kind: Any = None


@dataclass(frozen=True, slots=True)
class Declared:
    """Parameters that another class declares, taken by keyword.

    Attributes:
        kind: the class.
        without: parameters that are not taken.
        hidden: parameters that work, but that help does not list.
    """

    kind: type[Any]
    without: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()

    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters, each with the help that its class gives it."""
        hints = get_type_hints(self.kind, include_extras=True)
        found = []
        for field in fields(self.kind):
            about = next((a for a in get_args(hints[field.name]) if isinstance(a, About)), None)
            if about is None or field.name in self.without:
                continue
            flag = Flag(help=about.help, panel="Network", hidden=field.name in self.hidden)
            plain, default = get_args(hints[field.name])[0], field.default
            if isinstance(default, tuple):
                plain, default = str, written(default)
            found.append(Parameter(name=field.name, flag=flag, kind=plain, default=default))
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of a function: its name, flag, type, default, and the values that it takes."""

    name: str
    flag: Flag
    kind: Any
    default: Any
    about: About = ANY

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags that set it."""
        return self.flag.names or (f"--{self.name.strip('_').replace('_', '-')}",)

    @property
    def key(self) -> str:
        """What a file of settings calls it: the flag without dashes in front."""
        return self.longest.lstrip("-")

    @property
    def longest(self) -> str:
        """Its flag, spelled out."""
        return max(self.flags, key=len)

    def check(self, value: Any) -> None:
        """Raises UsageError for a word that is no choice, or a number outside the range."""
        choices = self.about.choices
        if choices and value is not None and value not in choices:
            must = f"{', '.join(choices[:-1])} or {choices[-1]}"
            raise UsageError(f"{self.longest} must be {must}, got '{value}'")
        if isinstance(value, Real) and value is not True and value is not False:
            check_range(self.longest, cast("float", value), self.about)


CONFIG = Parameter(
    name="config",
    flag=Flag(
        help="TOML file with values of flags; the command line wins.",
        metavar="FILE",
        panel=RESULT,
    ),
    kind=str | None,
    default=None,
)


def parameters_of(function: Callable[..., object]) -> tuple[Parameter, ...]:
    """The parameters of a function, those of its groups one by one, and `config`."""
    found: list[Parameter] = []
    own, hints = told_of(function.__doc__), get_type_hints(function, include_extras=True)
    for name, one in inspect.signature(inspect.unwrap(function)).parameters.items():
        if is_open(one):
            found += get_args(hints[name])[1].parameters()
        elif is_dataclass(hints[name]):
            group: Any = hints[name]
            inner = get_type_hints(group, include_extras=True)
            told = told_of(*(kind.__doc__ for kind in group.__mro__))
            found += [
                _parameter(field.name, inner[field.name], field.default, told)
                for field in fields(group)
            ]
        else:
            default = MISSING if one.default is inspect.Parameter.empty else one.default
            found.append(_parameter(name, hints[name], default, own))
    return (*found, CONFIG) if found else ()


def _parameter(name: str, hint: Any, default: Any, told: Mapping[str, str]) -> Parameter:
    kind, *declared = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    about = next((one for one in declared if isinstance(one, About)), ANY)
    for one in (kind, *get_args(kind)):
        about = replace(about, choices=get_args(one)) if get_origin(one) is Literal else about
    given: dict[str, Any] = {"help": about.help or told.get(name, "")}
    given["metavar"] = "|".join(about.choices)
    for flag in (one for one in declared if isinstance(one, Flag)):
        said = {field.name: getattr(flag, field.name) for field in fields(Flag)}
        given |= {name: value for name, value in said.items() if value}
    flag = Flag(**given)
    return Parameter(name=name, flag=flag, kind=flag.kind or kind, default=default, about=about)


def told_of(*docs: str | None) -> dict[str, str]:
    """What docstrings say of each name under `Args` or `Attributes`."""
    found: dict[str, str] = {}
    for doc in docs:
        parts = re.split("\n(?:Args|Attributes):\n", inspect.cleandoc(doc or ""))
        entries = re.findall(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", "".join(parts[1:]), re.MULTILINE)
        found |= {name: " ".join(text.split()) for name, text in entries}
    return found


def is_open(one: inspect.Parameter) -> bool:
    """Whether a parameter takes any others by keyword."""
    return one.kind is inspect.Parameter.VAR_KEYWORD
