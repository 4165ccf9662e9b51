"""A metric and its parameters as one word: `bleu:order=2,smooth=exp`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from types import NoneType
from typing import Any, get_args, get_type_hints

from refless.errors import UsageError
from refless.metrics import METRICS, Metric
from refless.signature import setting

YES, NO = {"yes", "true", "1"}, {"no", "false", "0"}


def metric_of(spec: str) -> Metric:
    """The metric that a specification names, with its parameters.

    Raises:
        UsageError: an unknown metric or parameter, or a value that cannot be honoured.
    """
    name, colon, rest = spec.partition(":")
    if name not in METRICS:
        raise UsageError(f"no metric '{name}'; there are {', '.join(METRICS)}")
    kind = METRICS[name]
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for part in rest.split(",") if colon else ():
        key, equals, text = (piece.strip() for piece in part.partition("="))
        if key not in {field.name for field in parameters(kind)} or not equals:
            raise UsageError(f"'{part}' in -m {spec} is not understood; {described(kind)}")
        if key in values:
            raise UsageError(f"-m {spec} gives {key} twice")
        values[key] = _value(text, hints[key], f"-m {spec}: {key}")
    return kind(**values)


def parameters(kind: type[Metric]) -> tuple[Field[Any], ...]:
    """A metric's parameters: the fields of its constructor."""
    return tuple(field for field in fields(kind) if field.init)  # type: ignore[arg-type]


def described(kind: type[Metric]) -> str:
    """`bleu takes order=4, tokenize=13a, ...`, with the defaults."""
    pairs = [field.name + _default(field) for field in parameters(kind)]
    return f"{kind.name} takes {', '.join(pairs) if pairs else 'no parameters'}"


def _default(field: Field[Any]) -> str:
    return "=" if field.default is MISSING else f"={setting(field.default)}"


def _value(text: str, hint: Any, place: str) -> Any:  # noqa: ANN401 - any parameter's type
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not NoneType]
    if text == "none" and NoneType in get_args(hint):
        return None
    if kinds == [bool]:
        if text.lower() not in YES | NO:
            raise UsageError(f"{place} must be yes or no, got '{text}'")
        return text.lower() in YES
    number: Callable[[str], Any] | None = {int: int, float: float}.get(kinds[0])
    if number is None:
        return text
    try:
        return number(text)
    except ValueError:
        what = "a whole number" if number is int else "a number"
        raise UsageError(f"{place} must be {what}, got '{text}'") from None
