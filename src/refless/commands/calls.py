"""A function as a command: its call, which can be said again as a command line."""

import difflib
import inspect
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial, wraps
from os import PathLike, fspath
from typing import Any, ParamSpec, TypeVar, get_type_hints

from refless.commands.declared import explained, parameters_of
from refless.commands.warnings import collecting
from refless.estimators import ESTIMATORS, estimator_of
from refless.registry.dialect import called, on_command_line
from refless.registry.errors import InputError, UsageError
from refless.registry.spec import Parameter, spec_of
from refless.report.result import Result

P = ParamSpec("P")
R = TypeVar("R", bound=Result)
WORDS = {
    "group": ("source", "system", "item", "task"),
    "goal": ("learn", "mean", "compare"),
    "looks": ("one", "any"),
}


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function: what it was given, as a command line can say it again.

    Attributes:
        name: of the function; parameters: those it has; values: of these, by name.
    """

    name: str
    parameters: tuple[Parameter, ...]
    values: Mapping[str, Any]

    def line(self, **changes: Any) -> str:
        """The command line of this call, or of one with other values."""
        words: list[str] = []
        values = {**self.values, **changes}
        for parameter in self.parameters:
            words += _words(parameter, values.get(parameter.name, parameter.default))
        return shlex.join(["refless", self.name, *words])

    def worded(self, message: str) -> str:
        """A message as its reader calls parameters: `--score-column`, or `score_column=`."""
        if on_command_line():
            return message
        by_length = sorted(
            self.parameters, key=lambda parameter: -len(parameter.longest)
        )
        for parameter in by_length:
            flags = () if parameter.about.argument else parameter.flags
            for flag in flags:
                if flag in message:
                    message = _in_python(parameter, flag, message)
        return re.sub(r" \(in Python Columns\([^)]*\)\)", "", message)


def _in_python(parameter: Parameter, flag: str, message: str) -> str:
    """The message with the parameter in place of its flag."""
    name = parameter.name
    pattern = rf"(?<![\w-]){flag}(?![\w-])"
    if parameter.kind == dict[str, Any]:
        pair = rf"{flag} (?:'[\w-]+=[^']*'|[\w-]+=[^\s;)']*[^\s;,.)'])"
        pairs = rf"(?<![\w-]){pair}(?: {pair})*"
        message = re.sub(pairs, partial(_as_dict, name), message)
        message = re.sub(pattern, name, message)
    two_numbers = rf"{pattern} (-?[\d.]+) (-?[\d.]+)"
    message = re.sub(two_numbers, rf"{name}=(\1, \2)", message)
    for choice in parameter.about.choices or WORDS.get(name, ()):
        message = message.replace(f"{flag} {choice}", f"{name}='{choice}'")
    message = re.sub(rf"{pattern}(?=:| must| goes)", name, message)
    return re.sub(rf"{pattern}( (?=[A-Z0-9']))?", f"{name}=", message)


def _as_dict(name: str, flags: re.Match[str]) -> str:
    """Flags of pairs, `--column role=NAME`, as the dict that Python takes."""
    values: dict[str, list[str]] = {}
    for word in shlex.split(flags[0])[1::2]:
        role, _, value = word.partition("=")
        values.setdefault(role, []).append(value)
    pairs = {
        role: names if len(names) > 1 else names[0] for role, names in values.items()
    }
    return f"{name}={pairs}"


def _words(parameter: Parameter, value: Any) -> list[str]:
    """The words that set a parameter to a value; none for its default."""
    default = parameter.default
    name = parameter.longest
    if parameter.about.argument:
        return words_of(value)
    if value is None or (type(value) is type(default) and value == default):
        return []
    if isinstance(value, bool):
        return [name if value else f"--no-{name.removeprefix('--')}"]
    if parameter.kind == list[str]:
        return _repeated(name, words_of(value))
    if isinstance(value, list | tuple) and parameter.kind is not str:
        return [name, *map(_text, value)]
    if isinstance(value, Mapping):
        words: list[str] = []
        for key, texts in value.items():
            words += _repeated(name, [f"{key}={text}" for text in _texts(texts)])
        return words
    return [name, _text(value)]


def _repeated(name: str, values: Sequence[str]) -> list[str]:
    """The flag before each of its values."""
    words: list[str] = []
    for value in values:
        words += [name, value]
    return words


def _texts(value: Any) -> list[str]:
    """The text behind NAME= for each of one or several values, or for a mapping."""
    if isinstance(value, Mapping):
        return [",".join(f"{word}={_text(number)}" for word, number in value.items())]
    values = value if isinstance(value, list | tuple) else [value]
    return [_text(word) for word in values]


def words_of(value: Any) -> list[str]:
    """One or several paths, names or specifications as words; FILE for rows from elsewhere."""
    if value is None:
        return []
    values = list(value) if isinstance(value, list | tuple) else [value]
    if all(isinstance(word, str | PathLike) or hasattr(word, "fit") for word in values):
        return [_text(word) for word in values]
    return ["FILE"]


def _text(value: Any) -> str:
    """One value as a word of a specification or of the command line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if hasattr(value, "fit"):
        return spec_of(estimator_of(value), ESTIMATORS)
    if isinstance(value, float):
        return repr(float(value)).removesuffix(".0")
    if isinstance(value, list | tuple):
        return "+".join(map(str, value)) or "none"
    return fspath(value) if isinstance(value, PathLike) else str(value)


_call: ContextVar[Call] = ContextVar("call")


def this_call() -> Call:
    """The call that is running."""
    return _call.get()


def command(function: Callable[P, R]) -> Callable[P, R]:
    """The function as a command, with the same parameters.

    Its result knows what was noticed on the way, and the command line that does the same.
    """

    @wraps(function)
    def run(*args: P.args, **values: P.kwargs) -> R:
        call = _called(function, args, values)
        with collecting() as notes:
            token = _call.set(call)
            try:
                for parameter in call.parameters:
                    parameter.check(call.values[parameter.name], called(parameter.name))
                result = function(*args, **values)
            except (UsageError, InputError) as fault:
                fault.args = (call.worded(str(fault)),)
                raise
            finally:
                _call.reset(token)
        where = tuple(words_of(call.values.get("where")))
        if where:
            result = replace(result, signature=result.signature.plus(where=where))
        sentences = tuple(map(call.worded, notes))
        return replace(result, notes=sentences, command=call.line())

    run.__doc__ = explained(function)
    run.__annotations__ = get_type_hints(function)
    run.__signature__ = _plain(function)  # type: ignore[attr-defined]
    return run


def _called(
    function: Callable[..., object], args: Sequence[Any], values: Mapping[str, Any]
) -> Call:
    """The call, with the defaults of what is not given; TypeError where Python raises it."""
    name = function.__name__
    parameters = parameters_of(function)
    _check_names(name, [*values], [parameter.name for parameter in parameters])
    bound = inspect.signature(function).bind(*args, **values)
    bound.apply_defaults()
    return Call(name, parameters, dict(bound.arguments))


def _check_names(
    function: str, keywords: Sequence[str], parameters: Sequence[str]
) -> None:
    """Raises TypeError, as Python does, for a keyword that is none of the function's."""
    for name in keywords:
        if name not in parameters:
            near = difflib.get_close_matches(name, parameters, n=1)
            remedy = f"help(refless.{function}) lists all"
            if near:
                remedy = f"did you mean '{near[0]}'?"
            raise TypeError(f"refless.{function}() has no parameter '{name}'; {remedy}")


def _plain(function: Callable[..., object]) -> inspect.Signature:
    """The signature with plain types, as people read them: without what commands declare."""
    hints = get_type_hints(function)
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=hints[name])
        for name, parameter in signature.parameters.items()
    ]
    return signature.replace(parameters=parameters, return_annotation=hints["return"])
