"""Counted nouns, for every sentence that counts something."""


def counted(count: int, noun: str, several: str = "") -> str:
    """`1 metric`, `2 metrics`, `1,000 texts`; `several` is a plural that does not end in s."""
    return f"{count:,} {noun if count == 1 else several or f'{noun}s'}"


def these(count: int, noun: str) -> str:
    """`this text`, `these 2 texts`."""
    return f"this {noun}" if count == 1 else f"these {counted(count, noun)}"
