"""How far long work has come."""

from collections.abc import Callable

Progress = Callable[[float], None]
