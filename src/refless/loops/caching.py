"""Compilation of loops by numba: cached on disk if that is possible, decided once.

Without a folder that can be written (beside the package, in the user's cache or `NUMBA_CACHE_DIR`),
as in a container that is read-only, nothing is kept: each process compiles anew what it uses.
"""

import warnings
from functools import partial

import numba
from numba.core import event

from refless.loops import compiling
from refless.registry.errors import RefLessWarning


def _probe():
    """Stands for any loop: numba looks for a folder when it sees one."""


try:
    numba.njit(cache=True)(_probe)
    CACHED = True
except RuntimeError:  # no locator available for file ...
    CACHED = False
    warnings.warn(
        "nothing can be written beside the package or in the user's cache, so each run compiles "
        "its loops anew, which takes some seconds; NUMBA_CACHE_DIR names a folder that keeps them",
        RefLessWarning,
        stacklevel=2,
    )


class _Compiling(event.Listener):
    """Tells those who want to know that a loop is compiled, not read from the disk."""

    def on_start(self, event):  # noqa: ARG002 - numba's own
        while compiling:
            compiling.pop()()

    def on_end(self, event):
        pass


event.register("numba:compile", _Compiling())
loop = partial(numba.njit, cache=CACHED)
