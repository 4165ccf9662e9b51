"""Parameters as their reader writes them: `--scale 1 5` for a shell, `scale=(1, 5)` in Python.

A message is made in its reader's dialect: `called("margin")` is `--margin` or `margin`. Docstrings
have both readers; there a parameter stands in backticks, as `margin` or `goal='mean'`.
"""

import ast
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_flags: ContextVar[Mapping[str, str] | None] = ContextVar("flags", default=None)

_files: ContextVar[tuple[str, ...]] = ContextVar("files", default=())


class Blank(str):
    """A word that stands for a value, such as MIN: it has no quotes, in Python either."""

    __slots__ = ()
    __repr__ = str.__str__


SCALE = (Blank("MIN"), Blank("MAX"))


@contextmanager
def command_line(
    flags: Mapping[str, str] | None, files: Sequence[str] = ()
) -> Iterator[None]:
    """Lets the messages that are made inside speak of flags.

    Args:
        flags: the flag of each parameter, by the parameter's name; None to speak Python.
        files: that the result is written to.
    """
    token = _flags.set(flags)
    written = _files.set(tuple(files))
    try:
        yield
    finally:
        _files.reset(written)
        _flags.reset(token)


def saving(file: str) -> str:
    """The words that write a result to a file, as its reader writes them."""
    return f".save({file!r})" if _flags.get() is None else f"-o {_word(file)}"


def saved(*endings: str) -> str:
    """The first file with one of these endings that the result is written to, or ""."""
    written = (file for file in _files.get() if file.endswith(endings))
    return _word(next(written, Blank()))


def flags_spoken() -> Mapping[str, str] | None:
    """The flags that messages speak of; None where they speak of parameters in Python."""
    return _flags.get()


def called(name: str, value: object = None) -> str:
    """A parameter as its reader writes it, alone or with a value.

    Args:
        name: of the parameter in Python.
        value: a text, a number, True for a switch; a list for a flag that is repeated, a tuple for
            one with several words, a mapping for one that takes NAME=VALUE. None: no value.
    """
    flags = _flags.get()
    if flags is None:
        return name if value is None else f"{name}={_plain(value)!r}"
    flag = flags.get(name, f"--{name.replace('_', '-')}")
    if value is None or value is True:
        return flag
    if isinstance(value, tuple):
        return " ".join([flag, *map(_word, value)])
    return " ".join(f"{flag} {_word(each)}" for each in _repeated(value))


def dialect(text: str) -> str:
    """A docstring as its reader writes parameters: those in backticks become flags."""
    flags = _flags.get()
    return text if flags is None else re.sub(r"`(\w+)(?:=([^`]+))?`", _in_flags, text)


def _in_flags(quoted: re.Match[str]) -> str:
    """A parameter in backticks as a flag; what is none stays as it is."""
    name, value = quoted.groups()
    if name not in (_flags.get() or ()):
        return quoted[0]
    return called(name, None if value is None else ast.literal_eval(value))


def _repeated(value: object) -> list[object]:
    """The values of a flag that may be repeated: NAME=VALUE of a mapping."""
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping):
        return [value]
    several = [(name, _repeated(values)) for name, values in value.items()]
    return [f"{name}={each}" for name, values in several for each in values]


def _word(value: object) -> str:
    """A value as a word of the command line, quoted where a shell needs that."""
    return value if isinstance(value, Blank) else shlex.quote(str(_plain(value)))


def _plain(value: object) -> object:
    """A value without the end that whole numbers have as floats: 5 for 5.0."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return int(value) if isinstance(value, float) and value.is_integer() else value
