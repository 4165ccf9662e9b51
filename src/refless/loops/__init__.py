"""Loops that numba compiles: plain arrays in, plain arrays out.

Loading numba takes half a second, so a module of loops is loaded by the first call to one of them.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

compiling: list[Callable[[], None]] = []  # called once, when a loop is not yet compiled


class Loops:
    """The loops of one module of this package, which is loaded when one is asked for."""

    def __init__(self, name: str) -> None:
        self._name = f"{__name__}.{name}"

    def __getattr__(self, loop: str) -> Any:
        if loop.startswith("_"):  # somebody looks at what this is
            raise AttributeError(loop)
        return getattr(import_module(self._name), loop)
