"""What packages offer by entry points: our own extensions, and those of strangers.

The groups are `refless.estimators`, `refless.metrics`, `refless.formats`, `refless.lists` and
`refless.commands`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any, TypeVar, cast

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Command:
    """A command: the sentence that help says of it, the module of its function, its group."""

    sentence: str
    module: str
    group: str = "Others"

    def function(self, name: str) -> Callable[..., Any]:
        """The function of this name; its module is loaded."""
        entries: Callable[..., Any] = getattr(import_module(self.module), name)
        return entries


class Registry(Mapping[str, T]):
    """Things by name: those of the core, then those that packages offer, loaded when asked for."""

    def __init__(self, kind: str, core: Mapping[str, T | str]) -> None:
        """Begins with the core's own, each by itself or as `module:name`, as entry points are.

        `kind` ends the name of the entry points' group.
        """
        self._kind, self._core = kind, dict(core)

    def __getitem__(self, name: str) -> T:
        """The thing of this name; a KeyError if nobody offers it."""
        if name not in self._core:
            self._core[name] = offered(self._kind)[name].load()
        entry = self._core[name]
        if isinstance(entry, str):
            module, _, attribute = entry.partition(":")
            entry = self._core[name] = cast("T", getattr(import_module(module), attribute))
        return entry

    def __iter__(self) -> Iterator[str]:
        """Names, the core's first."""
        core = [*self._core]
        return iter([*core, *(name for name in offered(self._kind) if name not in core)])

    def __len__(self) -> int:
        """How many names there are."""
        return sum(1 for _ in self)  # a list would ask for this length


@lru_cache
def offered(kind: str) -> dict[str, EntryPoint]:
    """The entry points of `refless.KIND` by name, in the order of their names; none is loaded.

    One whose module is not there, as that of an extension that was removed, is left out.
    """
    entries: Any = entry_points(group=f"refless.{kind}")
    return {
        entry_point.name: entry_point
        for entry_point in sorted(entries, key=lambda entry_point: entry_point.name)
        if _is_there(entry_point)
    }


def _is_there(entry: EntryPoint) -> bool:
    try:
        return find_spec(entry.module) is not None
    except ModuleNotFoundError:
        return False
