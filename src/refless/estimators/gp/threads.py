"""Threads of the linear algebra: waiting for each other costs more than small matrices do."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

SMALL = 2_000  # rated texts up to which one thread is the quickest, above all on a busy machine


def calm(n: int) -> AbstractContextManager[object]:
    """A context in which matrices of n rated texts are handled by a sensible number of threads."""
    if n > SMALL:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1, "blas")
    return limits
