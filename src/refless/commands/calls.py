"""A function as a command: its call, which can be said again as a command line."""

import difflib
import inspect
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import wraps
from os import PathLike, fspath
from typing import Any, ParamSpec, TypeVar, cast, get_type_hints

from refless.commands.declared import explained, parameters_of
from refless.commands.warnings import collecting
from refless.estimators import ESTIMATORS, estimator_of
from refless.registry.dialect import called, flags_spoken
from refless.registry.errors import UsageError
from refless.registry.spec import Parameter, spec_of
from refless.report.result import Result

FROM_ELSEWHERE = ["FILE"]  # the word for rows that are in no file
P = ParamSpec("P")
R = TypeVar("R", bound=Result)


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

    def said(self, **changes: Any) -> str:
        """The same as its reader writes it: a command line, or a line of Python."""
        if flags_spoken() is not None:
            return self.line(**changes)
        words = []
        values = {**self.values, **changes}
        for parameter in self.parameters:
            value = values.get(parameter.name, parameter.default)
            if value is None or is_default(parameter, value):
                continue
            if parameter.about.argument:
                words.append(_in_python(value))
            elif hasattr(value, "fit"):
                words.append(f"{parameter.name}={_constructed(value)}")
            elif parameter.kind == list[str]:
                words.append(f"{parameter.name}={_in_python(value)}")
            else:
                words.append(called(parameter.name, value))
        return f"refless.{self.name}({', '.join(words)})"


def is_default(parameter: Parameter, value: Any) -> bool:
    """Whether a parameter is left as it is."""
    default = parameter.default
    return type(value) is type(default) and bool(value == default)


def _words(parameter: Parameter, value: Any) -> list[str]:
    """The words that set a parameter to a value; none for its default."""
    name = parameter.longest
    if parameter.about.argument:
        return words_of(value)
    if value is None or is_default(parameter, value):
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
    return [*FROM_ELSEWHERE]


def _in_python(value: Any) -> str:
    """The same as Python has it: a list of several; `rows` for rows from elsewhere."""
    words = words_of(value)
    if words == FROM_ELSEWHERE:
        return "rows"
    return repr(words[0] if len(words) == 1 else words)


def _constructed(value: Any) -> str:
    """An object as it prints itself, or `Mine(k=10)` if that would be its address."""
    kind: Any = type(value)
    if kind.__repr__ is not object.__repr__:
        return repr(value)
    held = getattr(value, "__dict__", {})
    names = [name for name in inspect.signature(kind).parameters if name in held]
    given = ", ".join(f"{name}={held[name]!r}" for name in names)
    return f"{kind.__name__}({given})"


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
            finally:
                _call.reset(token)
        where = tuple(words_of(call.values.get("where")))
        if where:
            result = replace(result, signature=result.signature.plus(where=where))
        return replace(result, notes=tuple(notes), command=call.line())

    hints = get_type_hints(function)
    run.__doc__ = explained(function, hints["return"])
    run.__annotations__ = hints
    run.__signature__ = _plain(function)  # type: ignore[attr-defined]
    return run


Functions = Mapping[type[Result], str]  # by the class of their results
_asked: ContextVar[tuple[type[Result], Functions] | None] = ContextVar(
    "asked", default=None
)


def returning(
    kind: type[R], names: Functions
) -> Callable[[Callable[P, Result]], Callable[P, R]]:
    """Makes of a command that answers several kinds of rows the function for one kind.

    The command line takes any rows; in Python each function returns one class.

    Args:
        kind: the class of the results; names: of the function for each class.
    """

    def narrowed(function: Callable[P, Result]) -> Callable[P, R]:
        of_all = of_any_rows(function)

        @wraps(of_all)
        def run(*args: P.args, **values: P.kwargs) -> R:
            token = _asked.set((kind, names))
            try:
                return cast("R", of_all(*args, **values))
            finally:
                _asked.reset(token)

        signature = inspect.signature(of_all).replace(return_annotation=kind)
        run.__name__ = run.__qualname__ = names[kind]
        run.__doc__ = explained(inspect.unwrap(of_all), kind)
        run.__annotations__ = {**of_all.__annotations__, "return": kind}
        run.__signature__ = signature  # type: ignore[attr-defined]
        run.of_any_rows = of_all  # type: ignore[attr-defined]
        run.names = names  # type: ignore[attr-defined]
        return run

    return narrowed


def of_any_rows(function: Callable[P, Result]) -> Callable[P, Result]:
    """The command behind a function for one kind of rows; a command that has one kind itself."""
    of_all: Callable[P, Result] = getattr(function, "of_any_rows", function)
    return of_all


def check_asked(kind: type[Result], rows: str) -> None:
    """Raises UsageError in a function for other rows than these, and names the one for these.

    Args:
        kind: the class of their result; rows: what they are, such as choices between two texts.
    """
    asked = _asked.get()
    if asked is not None and asked[0] is not kind:
        own, names = asked
        raise UsageError(
            f"refless.{names[own]}() does not answer {rows}: call refless.{names[kind]}()"
        )


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
