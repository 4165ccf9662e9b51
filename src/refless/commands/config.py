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
from functools import lru_cache
from typing import Any

import msgspec

from refless.commands import COMMANDS, function_of
from refless.commands.declared import CONFIG, parameters_of
from refless.files.untrusted import is_file, reading
from refless.registry.errors import InputError
from refless.registry.spec import Parameter, nearest

MOST_BYTES = 1 << 20
UNSAFE = {  # flags that start a program, listen, fetch or write: anybody may have written the file
    *("scorer", "host", "port", "trust_proxy", "mirror", "get"),
    *("out_dir", "to", "database", "backup", "restore"),
}
PAIR = tuple[float, float]
TABLE = dict[str, Any]
TAKES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text in quotes",
    PAIR: "two numbers in brackets",
    list[str]: "text in quotes, or several in brackets",
    TABLE: "a table, such as { text = 'reply' }",
}
Flags = Mapping[str, Parameter]


def config_of(path: str, command: str, parameters: Sequence[Parameter]) -> dict[str, Any]:
    """What a file sets for a command, by parameter; its own table before what is common.

    Raises:
        InputError: no such file, none that is TOML, an unknown name or a value of another type.
    """
    text = _text(path)
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise InputError(f"this is not TOML: {fault}", path=path) from None
    flags = _flags(parameters)
    sections = {k: v for k, v in tables.items() if k in COMMANDS and isinstance(v, dict)}
    common = {k: v for k, v in tables.items() if k not in sections}
    settings: dict[str, Any] = {}
    for table, values in {"": common, **sections}.items():
        place = _Place(path, text, table)
        for name, value in values.items():
            if _plain(name) in UNSAFE:
                found = f"'{name}' is not read from a file of settings"
                remedy = f"give --{name.replace('_', '-')} on the command line"
                raise place.fault(name, found, remedy)
            if table not in ("", command):
                continue  # which is checked when that command runs
            if _plain(name) in flags:
                parameter = flags[_plain(name)]
                setting = _value(name, value, parameter, place)
                if isinstance(setting, dict):
                    setting = {**settings.get(parameter.name, {}), **setting}
                settings[parameter.name] = setting
            elif table or _plain(name) not in _every_flag():
                raise _unknown(name, flags, place)
    return settings


@dataclass(frozen=True, slots=True)
class _Place:
    """A file, its text, and one of its tables; "" is above all of them."""

    path: str
    text: str
    table: str

    def fault(self, name: str, found: str, remedy: str = "") -> InputError:
        """The error about a name, with the line that sets it or begins its table."""
        here, line, start = "", None, rf"\s*[\"']?{re.escape(name)}[\"']?\s*[=.]"
        for number, row in enumerate(self.text.splitlines(), 1):
            if header := re.match(r"\s*\[+\s*[\"']?([^\"'\]]+?)[\"']?\s*\]", row):
                here = header[1]
            is_set = here == self.table and re.match(start, row)
            if is_set or (header and not self.table and here == name):
                line = number
                break
        return InputError(found, path=self.path, line=line, remedy=remedy)


def _unknown(name: str, flags: Flags, place: _Place) -> InputError:
    """The error for a name that is no flag, with those that there are."""
    names = [parameter.key for parameter in flags.values()]
    near = nearest(name, [*names, *_every_flag()] if not place.table else names)
    here = f" of {place.table}" if place.table else ""
    settable = sorted(key for key in names if _plain(key) not in UNSAFE)
    return place.fault(name, f"'{name}' is no flag{here}{near}", f"there are {', '.join(settable)}")


@lru_cache
def _every_flag() -> frozenset[str]:
    """The flags of all commands; their modules are loaded."""
    functions = map(function_of, COMMANDS)
    return frozenset(name for each in functions for name in _flags(parameters_of(each)))


def _text(path: str) -> str:
    if not is_file(path):
        raise InputError("no such file", path=path, remedy="name a file that is there")
    with reading(path), open(path, "rb") as file:  # noqa: PTH123 - also names that are no paths
        content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise InputError(f"a file of settings holds {MOST_BYTES:,} bytes at most", path=path)
        return content.decode("utf-8")


def _plain(name: str) -> str:
    return name.replace("-", "_")


def _flags(parameters: Sequence[Parameter]) -> dict[str, Parameter]:
    """Those that are flags, by the names that a file has for them."""
    flags = (each for each in parameters if not each.about.argument and each is not CONFIG)
    return {_plain(each.key): each for each in flags}


def _value(name: str, value: Any, parameter: Parameter, place: _Place) -> Any:
    """A value as a function takes it; raises InputError for one of another type."""
    kind = parameter.kind if parameter.kind in TAKES else str
    if kind == list[str] and isinstance(value, str):
        value = [value]
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        plain = isinstance(value, bool | str | list)
        written = json.dumps(value, ensure_ascii=False, default=str) if plain else value
        raise place.fault(name, f"{name} must be {TAKES[kind]}, got {written}") from None
