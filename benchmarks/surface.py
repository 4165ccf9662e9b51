"""How a text looks, as 26 numbers: lengths, repetition, marks, what it takes from its source."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

TOKEN = re.compile(r"\w+|[^\w\s]")
LAST = re.compile(r"\n|\|\|\|")  # what separates the turns of a source


def surface(text: str, source: str | None) -> list[float]:
    """17 numbers of how a text looks, and with a source 9 of what it takes from there."""
    tokens = TOKEN.findall(text.lower())
    words = [token for token in tokens if token[0].isalnum()]
    counts = Counter(words)
    n = len(words)
    size = len(text)
    own = [
        size,
        math.log1p(size),
        n,
        math.log1p(n),
        sum(map(len, words)) / max(1, n),
        len(counts) / max(1, n),
        _repeated(_grams(words, 2)),
        _repeated(_grams(words, 4)),
        (len(tokens) - n) / max(1, len(tokens)),
        sum(letter.isupper() for letter in text) / max(1, size),
        sum(letter.isdigit() for letter in text) / max(1, size),
        text[:1].isupper(),
        text.rstrip().endswith("."),
        text.count("?"),
        len(re.findall(r"[.!?]+", text)),
        max(counts.values(), default=0),
        text.count(","),
    ]
    return [*map(float, own), *([] if source is None else _beside(text, words, source))]


def _beside(text: str, words: list[str], source: str) -> list[float]:
    """How much of a text is in its source, how much of that it leaves out, and their lengths."""
    theirs = [token for token in TOKEN.findall(source.lower()) if token[0].isalnum()]
    turn = set(TOKEN.findall(LAST.split(source.strip())[-1].lower()))
    named = {word.lower() for word in re.findall(r"\b[A-Z]\w+", source)}
    numbers = set(re.findall(r"\d+", source))
    found = [
        _share(words, set(theirs)),
        _share(_grams(words, 2), set(_grams(theirs, 2))),
        _share(words, turn),
        *(_missing(some, set(words)) for some in (set(theirs), named, numbers)),
        math.log((1 + len(words)) / (1 + len(theirs))),
        math.log1p(len(source)),
        sum(number not in numbers for number in re.findall(r"\d+", text)),
    ]
    return [*map(float, found)]


def _grams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return list(zip(*(words[i:] for i in range(n)), strict=False))


def _repeated(grams: Sequence[object]) -> float:
    return 1.0 - len(set(grams)) / len(grams) if grams else 0.0


def _share(some: Sequence[object], known: set[Any]) -> float:
    return sum(one in known for one in some) / max(1, len(some))


def _missing(wanted: set[str], words: set[str]) -> float:
    return len(wanted - words) / max(1, len(wanted))
