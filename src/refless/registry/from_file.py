"""A class or a function of a user's own file, as `mine.py:Class` names it."""

import hashlib
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from refless.registry.errors import UsageError
from refless.registry.spec import nearest

Named = (  # one thing or several, by specifications or themselves
    str | Callable[..., float] | Sequence[str | Callable[..., float]] | None
)
OWN = re.compile(r"(.+\.py):(\w+)(:.*)?")


@dataclass(frozen=True, slots=True)
class OwnThing:
    """A class or a function of a file.

    Attributes:
        thing: itself; name: its own; path: of its file.
        parameters: the rest of the specification, `:alpha=1`, or "".
        digest: twelve hexadecimal digits of the file.
    """

    thing: Any
    name: str
    path: str
    parameters: str
    digest: str


def own_thing(spec: object) -> OwnThing | None:
    """The thing of a file that a specification names; None for any other.

    The file is run, so a specification has to come from whoever calls, and not from a file.

    Raises:
        UsageError: no name; no such file, one that cannot be run, or without such a name.
    """
    if not isinstance(spec, str):
        return None
    if spec.endswith(".py"):
        raise UsageError(f"{spec}: name what is in it, {spec}:NAME")
    found = OWN.fullmatch(spec)
    if found is None:
        return None
    path, name, parameters = found.groups()
    try:
        content = Path(path).read_bytes()
    except OSError as fault:
        why = fault.strerror or fault
        raise UsageError(f"{path}: it cannot be read ({why}); name a file") from fault
    digest = hashlib.sha256(content).hexdigest()[:12]
    module = _module(path, digest)
    if not hasattr(module, name):
        names = [key for key in vars(module) if not key.startswith("_")]
        near = nearest(name, names)
        raise UsageError(f"{path} has no '{name}'{near}; there are {', '.join(names)}")
    return OwnThing(getattr(module, name), name, path, parameters or "", digest)


def _module(path: str, digest: str) -> ModuleType:
    """The file as a module, which is run once."""
    file = str(Path(path).resolve())
    place = hashlib.sha256(os.fsencode(file)).hexdigest()[:12]
    name = f"refless_own_{place}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is no Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except BaseException as fault:
        del sys.modules[name]
        if not isinstance(fault, Exception | SystemExit):
            raise
        why = f"{type(fault).__name__}: {fault}; mend the file"
        raise UsageError(f"{path}{line_in(path, fault)}: {why}") from fault
    return module


def line_in(path: str, fault: BaseException) -> str:
    """`, line 7`, where an exception left a file; "" if it was not there."""
    file = str(Path(path).resolve())
    if isinstance(fault, SyntaxError) and fault.filename == file:
        return f", line {fault.lineno}"
    frames = traceback.extract_tb(fault.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file]
    return f", line {lines[-1]}" if lines else ""
