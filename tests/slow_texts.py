"""The slow twins of compiled loops over texts: terms and surface numbers, string by string."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from unicodedata import normalize

from refless.text.masking import masked
from refless.text.surface import READ
from refless.text.words import AS_ASCII, UNBROKEN, words


def word_strings(text: str) -> list[str]:
    """Words, and pairs of neighbouring words."""
    tokens = words(text)
    return [*tokens, *map(" ".join, pairwise(tokens))]


def letter_strings(text: str) -> list[str]:
    """Runs of three to five letters of each word, its ends marked by blanks."""
    runs: list[str] = []
    for word in words(text, whole=True):
        marked = f" {word} "
        for n in range(3, min(5, len(marked)) + 1):
            runs += [marked[i : i + n] for i in range(len(marked) - n + 1)]
    return runs


# the terms of a text and its source, by the kernel that counts them
STRINGS: dict[str, Callable[[str, str], list[str]]] = {
    "words": lambda text, _: word_strings(text),
    "letters": lambda text, _: letter_strings(text),
    "source": lambda _, source: word_strings(source),
    "masked": lambda text, source: word_strings(masked(text, source)),
}


def plain_words(text: str) -> list[str]:
    """Words without case and marks, of which the runs of copies are."""
    folded = text.lower() if text.isascii() else normalize("NFKC", text).casefold()
    return re.findall(rf"[{UNBROKEN}]|[^\W_{UNBROKEN}]+", folded)


def surface_numbers(text: str) -> tuple[float, ...]:
    """Those of SHAPE, LEXIS and MARKS of one text."""
    text = "".join(AS_ASCII.get(letter, letter) for letter in text)
    tokens = words(text)
    plain = [word for word in tokens if word[0].isalnum()]
    counts = Counter(plain)
    size = len(text)
    n = len(plain)
    sentences = re.findall(r"[.!?]+", text)
    letters = sum(map(len, plain))
    marks = len(tokens) - n
    return (
        size,
        n,
        share(letters, n),
        len(sentences),
        share(len(counts), n),
        repeated(plain[:READ], 2),
        repeated(plain[:READ], 4),
        max(counts.values(), default=0),
        share(marks, len(tokens)),
        share(sum(map(str.isupper, text)), size),
        share(sum(map(str.isdigit, text)), size),
        text[:1].isupper(),
        text.rstrip().endswith("."),
        text.count("?"),
        text.count(","),
    )


def repeated(tokens: list[str], n: int) -> float:
    """Share of the runs of n words that stood there before."""
    total = max(0, len(tokens) - n + 1)
    return share(total - len({*runs_of(tokens, n)}), total)


def runs_of(tokens: list[str], n: int) -> Iterator[tuple[str, ...]]:
    """Each run of n words."""
    return zip(*(tokens[i:] for i in range(n)), strict=False)


def share(part: float, total: float) -> float:
    """A part of the total; 0 of nothing."""
    return part / total if total > 0 else 0.0


def tally(strings: Iterable[str]) -> list[int]:
    """Counts of the different strings in order of appearance."""
    return [*Counter(strings).values()]
