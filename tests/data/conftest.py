"""Messages about files, as a command line writes them."""

from collections.abc import Iterator

import pytest

from refless.registry.dialect import command_line


@pytest.fixture(autouse=True)
def flags() -> Iterator[None]:
    """Readers speak of flags; tests/commands/test_dialect.py has both dialects."""
    with command_line({"columns": "--column", "reading": "--read"}):
        yield
