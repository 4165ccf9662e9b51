"""Entry points of packages: our own extensions, and those of strangers.

The groups are `refless.estimators`, `refless.metrics`, `refless.formats`, `refless.lists` and
`refless.commands`.
"""

import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any, TypeVar, cast

from refless.registry.errors import RefLessWarning, UsageError
from refless.registry.spec import parameters_in

OWN = "refless"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Command:
    """A command: the sentence that help says of it, the module of its function, its group."""

    sentence: str
    module: str
    group: str = "Others"

    def function(self, name: str) -> Callable[..., Any]:
        """The function of this name; its module is loaded.

        Raises:
            UsageError: a module of another package that cannot be loaded, or without the function.
        """
        try:
            function: Callable[..., Any] = getattr(import_module(self.module), name)
        except (Exception, SystemExit) as fault:
            if _package(self.module) == OWN:
                raise
            place = f"the command '{name}' cannot be loaded from {self.module}"
            raise UsageError(
                f"{place} ({_reason(fault)}); mend or uninstall its package"
            ) from fault
        return function


def check_class(
    thing: Any,  # noqa: ANN401 - any offer
    kind: type = object,
    attributes: Sequence[str] = (),
) -> None:
    """Checks that an offer is a class that can be made, of a kind or with some attributes.

    Raises:
        TypeError: it is not.
    """
    if not (isinstance(thing, type) and kind in thing.__mro__):
        raise TypeError(f"{thing!r} is no subclass of {kind.__name__}")
    lacking = {name for name in attributes if not hasattr(thing, name)}
    lacking |= getattr(thing, "__abstractmethods__", frozenset())
    if lacking:
        raise TypeError(f"{thing.__name__} lacks {', '.join(sorted(lacking))}")
    parameters_in(thing)


def check_instance(thing: object, kind: Any) -> None:  # noqa: ANN401 - a class, or a union
    """Raises TypeError for an offer of another kind."""
    if not isinstance(thing, kind):
        raise TypeError(f"{thing!r} is no {getattr(kind, '__name__', kind)}")


class Registry(Mapping[str, T]):
    """Things by name: those of the core, then those that packages offer, loaded when asked for.

    An offer that cannot be used is left out with a note, so that it does not stop all else; who
    asks for it by name gets the reason as an error.
    """

    def __init__(
        self,
        kind: str,
        core: Mapping[str, T | str],
        check: Callable[[Any], object] = check_class,
    ) -> None:
        """Begins with the core's own.

        Args:
            kind: ends the name of the entry points' group.
            core: each thing by itself or as `module:name`, as entry points are.
            check: raises TypeError for an offer of another kind.
        """
        self._kind = kind
        self._core = dict(core)
        self._check = check
        self._offers: dict[str, T] = {}  # that were asked for
        self._faults: dict[str, str] = {}

    def __getitem__(self, name: str) -> T:
        """The thing of this name; a KeyError if nobody offers it.

        Raises:
            UsageError: an offer that cannot be loaded, or is of another kind.
        """
        if name not in self._core:
            if name not in self._offers:
                self._offers[name] = self._loaded(offered(self._kind)[name])
            return self._offers[name]
        entry = self._core[name]
        if isinstance(entry, str):
            module, _, attribute = entry.partition(":")
            entry = self._core[name] = cast(
                "T", getattr(import_module(module), attribute)
            )
        return entry

    def __iter__(self) -> Iterator[str]:
        """Names, the core's first; those of offers that cannot be used are left out."""
        core = [*self._core]
        offers = [name for name in offered(self._kind) if name not in core]
        return iter(core + [name for name in offers if self._is_usable(name)])

    def __len__(self) -> int:
        """The number of names."""
        return sum(1 for _ in self)  # a list would ask for this length

    def _loaded(self, entry: EntryPoint) -> T:
        """The thing that is offered, checked."""
        if entry.name not in self._faults:
            try:
                thing: T = entry.load()
                self._check(thing)
            except (Exception, SystemExit) as fault:  # noqa: BLE001 - a stranger's code runs
                self._faults[entry.name] = (
                    f"{_offer(entry)} cannot be used ({_reason(fault)})"
                )
            else:
                return thing
        raise UsageError(f"{self._faults[entry.name]}; mend or uninstall that package")

    def _is_usable(self, name: str) -> bool:
        """Whether an offer can be loaded; the first time that it cannot, a note says why."""
        is_noted = name in self._faults
        try:
            self[name]
        except UsageError as fault:
            if not is_noted:
                warnings.warn(f"left out: {fault}", RefLessWarning, stacklevel=2)
            return False
        return True


@lru_cache
def offered(kind: str) -> dict[str, EntryPoint]:
    """The entry points of `refless.KIND` by name, in the order of their names; none is loaded.

    An extension of our own that was removed is left out.
    """
    entries: Any = entry_points(group=f"refless.{kind}")
    return {
        entry_point.name: entry_point
        for entry_point in sorted(entries, key=lambda entry_point: entry_point.name)
        if _is_there(entry_point)
    }


def blamed(fault: BaseException) -> str:
    """The package that offers something to refless and in whose code an exception came up.

    Returns:
        The name of its top module; "" if no frame of the traceback is in such a package.
    """
    kinds = ("commands", "estimators", "formats", "lists", "metrics")
    entries = [entry for kind in kinds for entry in offered(kind).values()]
    packages = {_package(entry.value) for entry in entries} - {OWN}
    frames = traceback.walk_tb(fault.__traceback__)
    inside = [_package(frame.f_globals.get("__name__", "")) for frame, _ in frames]
    return next((package for package in reversed(inside) if package in packages), "")


def _is_there(entry: EntryPoint) -> bool:
    """Whether it is no extension of our own that was removed."""
    if _package(entry.value) != OWN:
        return True
    try:
        return find_spec(entry.module) is not None
    except ModuleNotFoundError:
        return False


def _offer(entry: EntryPoint) -> str:
    """`'x' in refless.metrics, which the package broken 1.0 offers`."""
    owner = (
        f"{entry.dist.name} {entry.dist.version}"
        if entry.dist
        else _package(entry.value)
    )
    return f"'{entry.name}' in {entry.group}, which the package {owner} offers,"


def _package(module: str) -> str:
    return module.partition(":")[0].partition(".")[0].strip()


def _reason(fault: BaseException) -> str:
    """`ImportError: no module named x`, on one line."""
    return f"{type(fault).__name__}: {' '.join(str(fault).split())[:300]}"
