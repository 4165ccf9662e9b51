"""Parameters, declared once: of estimators, kernels, metrics and commands.

A parameter is a field of a dataclass, or a parameter of a function, whose annotation has a range
and a line of help:

    tau: Annotated[float | None, About("least similarity", at_least=0, at_most=1)] = None

Parsing, checks, flags, lists for people and specifications are made from that. A specification,
`bleu-neighbors:kernel=rouge-l,tau=0.1`, is a name and, after a colon, parameters with commas
between them. A value that holds commas, or parameters of its own, stands in parentheses:
`kernel=(bleu*:orders=1-4,clip=no)`.
"""

import difflib
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, MISSING, dataclass, fields, replace
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from refless.registry.errors import UsageError
from refless.registry.signature import setting

YES = ("yes", "true", "1")
NO = ("no", "false", "0")
NUMBERS = {  # type -> what its values are called, how one is read, and how recognised
    int: ("a whole number", int, Integral),
    float: ("a number", float, Real),
}
LARGEST = sys.float_info.max
ORDERS = tuple[int, int]
WORDS = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class About:
    """The purpose of a parameter, the values that it takes, and its flag on the command line.

    Attributes:
        help: one line for people; of a command without it, what the docstring says.
        at_least, above, at_most, below: the range of a number; numbers are finite in any case.
        choices: the words that can be given.
        registry: of a parameter with parameters of its own (a kernel): what there is, by name.
        names: its flags; without any, the parameter's name with dashes.
        metavar: what stands for its value; panel: the heading under which help lists it.
        argument: has no flag: it is a word of the command line.
        kind: what the command line takes, if functions take more; the parameter's own type.
    """

    help: str = ""
    _: KW_ONLY
    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None
    choices: tuple[str, ...] = ()
    registry: Mapping[str, Any] | None = None
    names: tuple[str, ...] = ()
    metavar: str = ""
    panel: str = ""
    argument: bool = False
    kind: Any = None

    def holds(self, value: float) -> bool:
        """Whether a number lies in the range."""
        if self.at_least is not None and not value >= self.at_least:
            return False
        if self.above is not None and not value > self.above:
            return False
        if self.at_most is not None and not value <= self.at_most:
            return False
        if self.below is not None and not value < self.below:
            return False
        return -LARGEST <= value <= LARGEST  # whole numbers may be larger than floats

    @property
    def range(self) -> str:
        """`from 0 to 1`, `above 0 and at most 1`, `1 or more`; "" without one."""
        if self.at_least is not None and self.at_most is not None:
            return f"from {self.at_least:g} to {self.at_most:g}"
        ends = []
        if self.at_least is not None:
            ends.append(f"{self.at_least:g} or more")
        if self.above is not None:
            ends.append(f"above {self.above:g}")
        if self.at_most is not None:
            ends.append(f"at most {self.at_most:g}")
        if self.below is not None:
            ends.append(f"below {self.below:g}")
        return " and ".join(ends)

    def with_more(self, about: "About") -> "About":
        """This, with whatever another declaration of the same parameter sets."""
        values = {field.name: getattr(about, field.name) for field in fields(About)}
        unset = {field.name: field.default for field in fields(About)}
        return replace(self, **{k: v for k, v in values.items() if v != unset[k]})


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A declared parameter; `kind` is the type of its values, which may be None if `optional`."""

    name: str
    kind: Any
    optional: bool
    default: Any
    about: About

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags that set it."""
        return self.about.names or (f"--{self.name.strip('_').replace('_', '-')}",)

    @property
    def longest(self) -> str:
        """Its flag, spelled out."""
        return max(self.flags, key=len)

    def check(self, value: Any, name: str) -> None:  # noqa: ANN401 - any value
        """Raises UsageError for a value of another type or outside the range."""
        if value is None and self.optional:
            return
        if self.kind in NUMBERS:
            words, _, number = NUMBERS[self.kind]
            if isinstance(value, bool) or not isinstance(value, number):
                raise UsageError(f"{name} must be {words}, got {value!r}")
            check_range(name, cast("float", value), self.about)
        if self.about.choices and value not in self.about.choices:
            raise UsageError(
                f"{name} must be one of {', '.join(self.about.choices)}; got {value!r}"
            )


def declared(name: str, hint: Any, default: Any, help_: str = "") -> Parameter:  # noqa: ANN401
    """The parameter that an annotation declares, `Annotated` or not.

    Several `About` add up, later ones win. `help_` is the line of help if none of them has one.
    """
    kind, *metadata = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    about = About(help_)
    for more in metadata:
        about = about.with_more(more) if isinstance(more, About) else about
    kind = about.kind or kind
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    plain = next(entry for entry in kinds if entry is not NoneType)
    if get_origin(plain) is Literal:
        about = replace(about, choices=get_args(plain))
        plain = str
    optional = NoneType in kinds
    return Parameter(
        name=name, kind=plain, optional=optional, default=default, about=about
    )


_KNOWN: dict[type[Any], dict[str, Parameter]] = {}  # annotations are read once


def parameters_in(kind: type[Any]) -> dict[str, Parameter]:
    """The declared parameters of a dataclass by name; fields without `About` are none."""
    if kind not in _KNOWN:
        hints = get_type_hints(kind, include_extras=True)
        declarations = {}
        for field in fields(kind):
            name = field.name
            _, *metadata = get_args(hints[name]) or (None,)
            if any(isinstance(part, About) for part in metadata):
                declarations[name] = declared(name, hints[name], field.default)
        _KNOWN[kind] = declarations
    return _KNOWN[kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A parameter for people: its name, what it takes, default, purpose and range, in words."""

    name: str
    takes: str
    default: str
    range: str
    help: str


def parse(text: str, registry: Mapping[str, type[Any]], what: str) -> Any:  # noqa: ANN401 - what the registry makes
    """The thing that a specification names; `what` is what messages call it: "metric".

    Raises:
        UsageError: an unknown name or parameter, or a value that cannot be honoured.
    """
    name, colon, remainder = (part.strip() for part in text.partition(":"))
    if name not in registry:
        near = nearest(name, registry)
        raise UsageError(
            f"no {what} '{name}'{near}; there are {', '.join(registry) or 'none'}"
        )
    parameters_by_name = parameters_in(registry[name])
    values: dict[str, Any] = {}
    for part in _parts(remainder, text) if colon else ():
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise UsageError(
                f"'{part}' in {text} is not name=value; {listed(name, registry)}"
            )
        if key not in parameters_by_name:
            near = nearest(key, parameters_by_name)
            raise UsageError(
                f"{name} has no parameter '{key}'{near}; {listed(name, registry)}"
            )
        if key in values:
            raise UsageError(f"{text} gives {key} twice")
        values[key] = value_of(parameters_by_name[key], value, f"{name}: {key}")
    return registry[name](**values)


def nearest(name: str, names: Iterable[str]) -> str:
    """` (did you mean 'gp'?)`, of the known name most like another; "" where none is like it."""
    folded = {
        entry.casefold().replace("_", "").replace("-", ""): entry for entry in names
    }
    key = name.casefold().replace("_", "").replace("-", "")
    near = difflib.get_close_matches(key, folded, n=1)
    return f" (did you mean '{folded[near[0]]}'?)" if near else ""


def made(given: Any, registry: Mapping[str, type[Any]], what: str) -> Any:  # noqa: ANN401
    """The thing that a specification names; a thing passes through."""
    return parse(given, registry, what) if isinstance(given, str) else given


def nested(kind: type) -> dict[str, Mapping[str, type[Any]]]:
    """The parameters that have parameters of their own, each with what it can be."""
    results = {
        entry.name: entry.about.registry for entry in parameters_in(kind).values()
    }
    return {
        name: registry for name, registry in results.items() if registry is not None
    }


def listed(name: str, registry: Mapping[str, type[Any]]) -> str:
    """`bleu takes order=4, tokenize=13a`: its parameters with their defaults."""
    pairs = [
        f"{parameter.name}={parameter.default}"
        for parameter in parameters(registry[name])
    ]
    return f"{name} takes {', '.join(pairs) if pairs else 'no parameters'}"


def _parts(remainder: str, text: str) -> list[str]:
    """Split at the commas outside parentheses."""
    parts = [""]
    depth = 0
    for letter in remainder:
        if letter == "(":
            depth += 1
        if letter == ")":
            depth -= 1
        if depth < 0:
            break
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    if depth:
        raise UsageError(f"the parentheses in {text} do not match")
    return parts


def value_of(parameter: Parameter, text: str, place: str) -> Any:  # noqa: ANN401 - any parameter's type
    """The value of a parameter, as a specification writes it; messages begin with the place."""
    if text == "none" and parameter.optional:
        return None
    inside = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    kind = parameter.kind
    if kind is bool:
        if text.lower() not in YES + NO:
            raise UsageError(f"{place} must be yes or no, got '{text}'")
        return text.lower() in YES
    if kind == ORDERS:
        low, dash, high = text.partition("-")
        ends = (low, high if dash else low)
        if not all(end.isdecimal() and len(end) < 10 for end in ends):
            raise UsageError(f"{place} must look like 2-4, got '{text}'")
        return int(ends[0]), int(ends[1])
    if kind == WORDS:
        return () if text == "none" else tuple(filter(None, inside.split("+")))
    return _number(text, kind, place) if kind in NUMBERS else inside


def _number(text: str, kind: type[float], place: str) -> Any:  # noqa: ANN401 - a number of that kind
    name, read, _ = NUMBERS[kind]
    try:
        return cast("Callable[[str], Any]", read)(text)
    except ValueError:
        raise UsageError(f"{place} must be {name}, got '{text}'") from None


def check(thing: Any) -> None:  # noqa: ANN401 - any dataclass with declared parameters
    """For constructors: raises UsageError for a parameter of another type or out of its range."""
    for name, parameter in parameters_in(type(thing)).items():
        parameter.check(getattr(thing, name), name)


def check_range(name: str, value: float, about: About) -> None:
    """Raises UsageError for a number that is not finite or lies outside the range."""
    if not about.holds(value):
        finite = "" if -LARGEST <= value <= LARGEST else "finite"
        must = " and ".join(filter(None, (finite, about.range)))
        raise UsageError(f"{name} must be {must}, got {_short(value)}")


def _short(value: Any) -> str:  # noqa: ANN401 - any number
    """A number for a message; whole ones may be larger than any float."""
    try:
        return f"{value:g}"
    except OverflowError:
        return "a number of too many digits"


def spec_of(thing: Any, registry: Mapping[str, type[Any]]) -> str:  # noqa: ANN401 - any dataclass of the registry
    """The specification of a thing: its name and what differs from the defaults.

    It parses back, unless the thing is of a class that the registry does not hold: that has the
    name of its class.
    """
    names = {kind: name for name, kind in registry.items()}
    pairs = []
    for name, parameter in parameters_in(type(thing)).items():
        inner = parameter.about.registry
        value = getattr(thing, name)
        default = parameter.default
        if inner is not None:
            value, default = (
                spec_of(made(part, inner, name), inner) for part in (value, default)
            )
        if value != default:
            pairs.append(f"{name}={written(value)}")
    name = names.get(type(thing), type(thing).__name__)
    return ":".join(filter(None, (name, ",".join(pairs))))


def written(value: object) -> str:
    """A value as `parse` reads it."""
    if isinstance(value, tuple):
        numbers = all(isinstance(entry, int) for entry in value)
        return ("-" if numbers else "+").join(map(str, value)) or "none"
    text = setting(value)
    marks = set(text) & set(",:()")
    ambiguous = bool(marks) or text in ("none", "")
    return f"({text})" if isinstance(value, str) and ambiguous else text


def parameters(kind: type) -> tuple[Described, ...]:
    """The parameters of an estimator, a kernel or a metric, for people, as they are declared."""
    return tuple(map(_described, parameters_in(kind).values()))


def _described(parameter: Parameter) -> Described:
    default = "" if parameter.default is MISSING else written(parameter.default)
    return Described(
        name=parameter.name,
        takes=_type(parameter),
        default=default,
        help=parameter.about.help,
        range=parameter.about.range,
    )


def _type(parameter: Parameter) -> str:
    kind = parameter.kind
    about = parameter.about
    words = {bool: "yes or no", ORDERS: "two numbers, as 2-4", WORDS: "words, as a+b"}
    if about.registry is not None:
        result = f"one of {', '.join(about.registry)}, with its parameters"
    elif about.choices:
        result = f"one of {', '.join(about.choices)}"
    else:
        result = NUMBERS[kind][0] if kind in NUMBERS else words.get(kind, "text")
    return f"{result}, or none" if parameter.optional else result
