"""The linear algebra has one thread as long as anybody needs it to."""

from unittest.mock import Mock

import pytest
from threadpoolctl import ThreadpoolController

from refless.loops.threads import single_threaded_blas


def test_the_last_thread_that_leaves_takes_the_limit_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of two threads the one that entered first may leave first."""
    libraries = Mock()
    monkeypatch.setattr("refless.loops.threads._libraries", lambda: libraries)
    restored = libraries.limit.return_value.restore_original_limits
    first = single_threaded_blas()
    second = single_threaded_blas()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    libraries.limit.assert_called_once_with(limits=1, user_api="blas")
    restored.assert_not_called()
    second.__exit__(None, None, None)
    restored.assert_called_once_with()


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
