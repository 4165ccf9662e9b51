"""Threads of the linear algebra: one, for how a product is summed depends on their number.

It is also the quickest up to some thousand rated texts, where threads mostly wait for each other.
"""

from contextlib import AbstractContextManager
from functools import cache
from threading import Lock
from typing import Any


@cache
def _libraries() -> Any:
    """The libraries of linear algebra that are loaded.

    They are looked for once, before there are threads: whoever looks holds the loader's lock and
    waits for Python's, while a thread that imports holds Python's and waits for the loader's.
    """
    import scipy.linalg  # noqa: F401 - only libraries that are loaded heed a limit
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class _Limit(AbstractContextManager[None]):
    """One thread a matrix, from the first thread that enters to the last that leaves."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._contexts = 0
        self._before: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._contexts == 0:
                self._before = _libraries().limit(limits=1, user_api="blas")
            self._contexts += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._contexts -= 1
            if self._contexts == 0:
                self._before.restore_original_limits()


_LIMIT = _Limit()


def single_threaded_blas() -> AbstractContextManager[None]:
    """A context in which one thread handles every matrix, so that threads change no digit."""
    return _LIMIT
