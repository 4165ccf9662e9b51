"""Counted nouns, for every sentence that counts something."""

from collections.abc import Sequence


def counted(count: int, noun: str, several: str = "") -> str:
    """`1 metric`, `2 metrics`, `1,000 texts`; `several` is a plural that does not end in s."""
    return f"{count:,} {noun if count == 1 else several or f'{noun}s'}"


def first_of(names: Sequence[str], most: int) -> str:
    """`a, b, c and 4 more`: so many names at most, and the number of the others."""
    named = ", ".join(names[:most])
    unnamed = len(names) - most
    return f"{named} and {unnamed} more" if unnamed > 0 else named


def these(count: int, noun: str) -> str:
    """`this text`, `these 2 texts`."""
    return f"this {noun}" if count == 1 else f"these {counted(count, noun)}"
