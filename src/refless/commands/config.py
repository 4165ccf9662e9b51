"""Files of settings: values of flags in TOML, for every command.

Names of flags stand at the top for all commands that have them, or below `[score]` for one. What
the command line gives wins, and what starts a program, listens, fetches or writes is taken from
there alone.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, get_args

from refless.commands import COMMANDS, function_of
from refless.commands.declared import CONFIG, Many, Parameter, parameters_of
from refless.files.untrusted import is_file, reading
from refless.registry.errors import InputError
from refless.registry.spec import nearest

MOST_BYTES = 1 << 20
UNSAFE = {  # flags that start a program, listen, fetch or write: anybody may have written the file
    *("scorer", "host", "port", "mirror"),
    *("out_dir", "to", "database", "backup"),
}
PAIR = tuple[float, float]
TAKES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text in quotes",
    PAIR: "two numbers in brackets",
    list[str]: "text in quotes, or several in brackets",
}
Table = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What a file sets for one command.

    Attributes:
        path: the file; values: by parameter.
    """

    path: str
    values: Table


def config_of(path: str, command: str, parameters: Sequence[Parameter]) -> Config:
    """What a file sets for a command, its own table before what is common.

    Raises:
        InputError: no such file, none that is TOML, an unknown name or a value of another type.
    """
    text = _text(path)
    try:
        said = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise InputError(f"this is not TOML: {fault}", path=path) from None
    common: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for name, value in said.items():
        if name in COMMANDS and isinstance(value, dict):
            keys = _keys(_parameters(name))
            _check(value, keys, keys, _Place(path, text, name))
            own |= value if name == command else {}
        else:
            common[name] = value
    known = {key: one for name in COMMANDS for key, one in _keys(_parameters(name)).items()}
    mine = _keys(parameters)
    _check(common, known | mine, mine, _Place(path, text))
    values = {
        mine[_plain(name)].name: _taken(value, mine[_plain(name)])
        for name, value in {**common, **own}.items()
        if _plain(name) in mine
    }
    return Config(path=path, values=values)


@dataclass(frozen=True, slots=True)
class _Place:
    """A file, its text, and one of its tables; "" is above all of them."""

    path: str
    text: str
    table: str = ""

    def fault(self, name: str, found: str, remedy: str = "") -> InputError:
        """The error about a name, with the line that sets it or begins its table."""
        here, line, start = "", None, rf"\s*[\"']?{re.escape(name)}[\"']?\s*[=.]"
        for number, row in enumerate(self.text.splitlines(), 1):
            if header := re.match(r"\s*\[+\s*[\"']?([^\"'\]]+?)[\"']?\s*\]", row):
                here = header[1]
            set_here = here == self.table and re.match(start, row)
            if set_here or (header and not self.table and here == name):
                line = number
                break
        return InputError(found, path=self.path, line=line, remedy=remedy)


def _text(path: str) -> str:
    if not is_file(path):
        raise InputError("no such file", path=path, remedy="name a file that is there")
    with reading(path), open(path, "rb") as file:  # noqa: PTH123 - also names that are no paths
        content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise InputError(f"a file of settings holds {MOST_BYTES:,} bytes at most", path=path)
        return content.decode("utf-8")


def _parameters(command: str) -> tuple[Parameter, ...]:
    return parameters_of(function_of(command))


def _plain(name: str) -> str:
    return name.replace("-", "_")


def _keys(parameters: Sequence[Parameter]) -> dict[str, Parameter]:
    """Those that are flags, by the names that a file has for them."""
    return {
        _plain(one.key): one for one in parameters if not one.flag.argument and one is not CONFIG
    }


def _check(
    given: Table, known: Mapping[str, Parameter], told: Mapping[str, Parameter], place: _Place
) -> None:
    """Raises InputError for a name that is none of these, or a value of another type."""
    for name, value in given.items():
        if (one := known.get(_plain(name))) is None:
            near = nearest(name, [flag.key for flag in known.values()])
            here = f" of {place.table}" if place.table else ""
            settable = {flag.key for flag in told.values() if _plain(flag.key) not in UNSAFE}
            remedy = f"there are {', '.join(sorted(settable))}"
            raise place.fault(name, f"'{name}' is no flag{here}{near}", remedy)
        if _plain(name) in UNSAFE:
            found = f"'{name}' is not read from a file of settings"
            raise place.fault(name, found, f"give {one.longest} on the command line")
        if _taken(value, one) is None:
            wanted = f"{name} must be {TAKES[_kind(one)]}, got {_written(value)}"
            raise place.fault(name, wanted)


def _kind(one: Parameter) -> Any:
    """What its values are, as a key of TAKES; what TOML has no type for is text."""
    kinds = [kind for kind in get_args(one.kind) or (one.kind,) if kind is not NoneType]
    if one.kind in (PAIR, PAIR | None):
        return PAIR
    kind = list[str] if one.kind in (Many, list[str]) else kinds[0]
    return kind if kind in TAKES else str


def _taken(value: Any, one: Parameter) -> Any:
    """A value as a function takes it; None for one of another type."""
    kind = _kind(one)
    if kind is PAIR:
        numbers = isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))
        return tuple(map(float, value)) if numbers else None
    if kind == list[str]:
        several = [value] if isinstance(value, str) else value
        texts = isinstance(several, list) and all(isinstance(text, str) for text in several)
        return several if texts else None
    if kind is float:
        return float(value) if _is_number(value) else None
    return value if type(value) is kind else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    return str(value)
