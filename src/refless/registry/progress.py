"""The progress of long work."""

from collections.abc import Callable

Progress = Callable[[float], None]
