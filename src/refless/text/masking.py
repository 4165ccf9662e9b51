"""Texts in which what comes from the source is masked: the manner of saying it is left."""

from functools import lru_cache

from refless.text.words import words

MASK = "@"
SHORTEST = (
    4  # shorter words are mostly function words and stay, unless they hold a digit
)
# values that say nothing of what they stand for
EXEMPT = frozenset({"none", "unknown"})


def masked(text: str, source: str) -> str:
    """The text with each longer word that its source holds replaced by `@` (delexicalised).

    What is left is how something is said, whatever it is said of.
    """
    held = _held(source)
    return " ".join(MASK if word in held else word for word in words(text))


@lru_cache(maxsize=1_000)
def _held(source: str) -> frozenset[str]:
    """The words of a source that are masked: read once for all of its texts."""
    return frozenset(filter(_stands_for_something, words(source)))


def _stands_for_something(word: str) -> bool:
    long = len(word) >= SHORTEST or any(letter.isdigit() for letter in word)
    return long and word not in EXEMPT
