"""Refusals that tests expect, with the words that say why."""

from __future__ import annotations

from contextlib import AbstractContextManager
from re import Pattern

import pytest

from refless.registry.errors import InputError, UsageError


def bad_input(
    said: str | Pattern[str],
) -> AbstractContextManager[pytest.ExceptionInfo[InputError]]:
    """Expects an InputError that says so; a pattern."""
    return pytest.raises(InputError, match=said)


def bad_usage(
    said: str | Pattern[str],
) -> AbstractContextManager[pytest.ExceptionInfo[UsageError]]:
    """Expects a UsageError that says so; a pattern."""
    return pytest.raises(UsageError, match=said)
