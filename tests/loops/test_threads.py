"""The linear algebra has one thread as long as anybody needs it to."""

import pytest
from threadpoolctl import ThreadpoolController

from refless.loops.threads import single_threaded_blas


class Libraries:
    """Says what a limit did to it."""

    def __init__(self) -> None:
        self.acts: list[str] = []

    def limit(self, **_: object) -> "Libraries":
        self.acts.append("one thread")
        return self

    def restore_original_limits(self) -> None:
        self.acts.append("as before")


def test_the_last_context_that_closes_takes_the_limit_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of two threads the one that opened first may close first."""
    libraries = Libraries()
    monkeypatch.setattr("refless.loops.threads._libraries", lambda: libraries)
    first = single_threaded_blas()
    second = single_threaded_blas()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert libraries.acts == ["one thread"]
    second.__exit__(None, None, None)
    assert libraries.acts == ["one thread", "as before"]


def test_libraries_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking for them beside a thread that imports a module can wait for ever.

    `dl_iterate_phdr` calls Python under the lock that `dlopen` waits for with Python's own.
    """
    with single_threaded_blas():
        pass
    looked: list[object] = []
    monkeypatch.setattr(ThreadpoolController, "_load_libraries", looked.append)
    with single_threaded_blas():
        pass
    assert not looked
