"""Loops are compiled once, and people are told who wait for it."""

import numba
import pytest

from refless.loops import caching


def test_the_first_compilation_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is compiled after the first loop is silent."""
    told: list[str] = []
    monkeypatch.setattr(caching, "compiling", waiting := [lambda: told.append("yes")])
    for number in (1, 1.0):
        assert numba.njit(lambda x: x + 1)(number) == number + 1
    assert (told, waiting) == (["yes"], [])
