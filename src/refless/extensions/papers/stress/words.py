"""Words of texts, counted and replaced in place; everything around them stays as it was."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from refless.extensions.papers.bm25 import bm25s

WORD = re.compile(r"[^\s.,;:!?\"()\[\]{}«»“”…]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """Texts with some words replaced.

    Attributes:
        share: of all words that were replaced; NaN without words.
    """

    texts: tuple[str, ...]
    share: float


def words_of(text: str) -> list[str]:
    """The text's words in lower case: runs without white space and without most punctuation."""
    return [match.group().lower() for match in WORD.finditer(text)]


def counted(texts: Sequence[str]) -> Counter[str]:
    """The number of times each word occurs."""
    return Counter(chain.from_iterable(map(words_of, texts)))


def stop_words() -> frozenset[str]:
    """English words that are no content words.

    Raises:
        MissingExtraError: no bm25s, which has the list.
    """
    return frozenset(bm25s("The probe 'frequent'").stopwords.STOPWORDS_EN_PLUS)


def most_frequent(counts: Mapping[str, int], k: int) -> tuple[str, ...]:
    """The k most frequent words, of equally frequent ones the first in the alphabet."""
    return tuple(sorted(counts, key=lambda word: (-counts[word], word))[:k])


def replaced(texts: Sequence[str], table: Mapping[str, str]) -> Changed:
    """Each word of the table by what the table says; case is ignored."""
    return _changed(texts, lambda _, word: table.get(word))


def control(
    texts: Sequence[str], share: float, unknown: str, stop: frozenset[str], seed: int
) -> Changed:
    """Content words, drawn at random, by the unknown token, until `share` of all words is reached.

    Args:
        stop: words that are no content words.
        seed: of the draw; which words are drawn depends on the order of the texts.
    """
    words = [*chain.from_iterable(map(words_of, texts))]
    content = np.flatnonzero(np.array([word not in stop for word in words], dtype=bool))
    size = min(round(share * len(words)), len(content))
    drawn = np.random.default_rng(seed).permutation(content)[:size]
    chosen = set(drawn.tolist())
    return _changed(texts, lambda place, _: unknown if place in chosen else None)


def _changed(texts: Sequence[str], new: Callable[[int, str], str | None]) -> Changed:
    """Texts in which `new(place among all words, word)` stands for each word it is not None for."""
    place = -1
    changes = 0

    def put(found: re.Match[str]) -> str:
        nonlocal place, changes
        place += 1
        instead = new(place, found.group().lower())
        changes += instead is not None
        return found.group() if instead is None else instead

    changed = tuple(WORD.sub(put, text) for text in texts)
    return Changed(
        texts=changed, share=changes / (place + 1) if place >= 0 else float("nan")
    )
