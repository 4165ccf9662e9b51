"""Threads of the linear algebra: one, for how a product is summed depends on their number.

It is also the quickest up to some thousand rated texts, where threads mostly wait for each other.
"""

from contextlib import AbstractContextManager


def single_threaded_blas() -> AbstractContextManager[object]:
    """A context in which one thread handles every matrix, so that threads change no digit."""
    import scipy.linalg  # noqa: F401 - only libraries that are loaded heed a limit
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1, "blas")
    return limits
