"""What a text takes from its source: shared words, and the text with them masked."""

from __future__ import annotations

import re

MASK = "@"
SHORTEST = 4  # shorter words are mostly function words and stay, unless they hold a digit
EXEMPT = frozenset({"none", "unknown"})  # values that say nothing of what they stand for
_WORD = re.compile(r"\w+|[^\w\s]")


def words(text: str) -> list[str]:
    """Words and punctuation marks, in lower case."""
    return _WORD.findall(text.lower())


def masked(text: str, source: str) -> str:
    """The text with each longer word that its source holds replaced by `@` (delexicalised).

    What is left is how something is said, whatever it is said of.
    """
    held = {word for word in words(source) if _stands_for_something(word)}
    return " ".join(MASK if word in held else word for word in words(text))


def overlap(text: str, source: str) -> float:
    """Share of a text's words that occur in its source, in [0, 1]; 0 for a text without words."""
    mine = [word for word in words(text) if word[0].isalnum()]
    held = set(words(source))
    return sum(word in held for word in mine) / len(mine) if mine else 0.0


def _stands_for_something(word: str) -> bool:
    long = len(word) >= SHORTEST or any(letter.isdigit() for letter in word)
    return long and word not in EXEMPT
