"""S+WMS, sentence and word mover's similarity (Clark et al. 2019), with a file of word vectors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import numpy as np
from bm25s.stopwords import STOPWORDS_EN_PLUS
from scipy.spatial.distance import cdist

from refless.registry.arrays import FloatArray
from refless.registry.signature import Signature
from refless.registry.version import __version__
from refless.text.embed import file_digest

SENTENCE = re.compile(r"(?<=[.!?])\s+")
WORD = re.compile(r"\w+", re.UNICODE)
STOP = frozenset(STOPWORDS_EN_PLUS)
# vectors [things, dimensions], weights [things] that sum to 1
Bag = tuple[FloatArray, FloatArray]


def missing() -> str:
    """What to install; "" where POT is there."""
    return "" if find_spec("ot") else "pip install POT"


def s_wms(
    texts: Sequence[str], references: Sequence[Sequence[str]], path: str
) -> FloatArray:
    """[n] exp(-cost) of moving a text's words and sentences, the highest over its references.

    The cost of a move is Euclidean; a sentence is the mean vector of its words, as heavy as they
    are. A text in which no word has a vector has no score (NaN).

    Args:
        texts: [n] outputs; references: [n] the references of each.
        path: word vectors in text form: a word and its numbers a line.
    """
    split = {
        text: words_of(text) for text in {*texts, *chain.from_iterable(references)}
    }
    wanted = {
        word for sentences in split.values() for word in chain.from_iterable(sentences)
    }
    vectors = vectors_of(path, wanted)
    bags = {text: bag(sentences, vectors) for text, sentences in split.items()}
    scores = [
        np.fmax.reduce(
            [np.exp(-distance(bags[text], bags[other])) for other in set(others)]
        )
        for text, others in zip(texts, references, strict=True)
    ]
    return np.array(scores, dtype=np.float64)


def signature(path: str) -> Signature:
    """What the scores depend on."""
    return Signature("movers").plus(
        variant="s+wms",
        split="naive",
        vectors=Path(path).name,
        sha=file_digest(path),
        stop="english",
        v=__version__,
    )


def words_of(text: str) -> list[list[str]]:
    """Words of letters of each sentence in lower case, without stop words."""
    sentences = (
        (word.lower() for word in WORD.findall(s)) for s in SENTENCE.split(text)
    )
    return [
        [word for word in s if word.isalpha() and word not in STOP] for s in sentences
    ]


def vectors_of(path: str, words: set[str]) -> dict[str, FloatArray]:
    """The vectors of these words; the first one of each counts."""
    vectors: dict[str, FloatArray] = {}
    with Path(path).open(encoding="utf-8") as lines:
        for line in lines:
            word, *numbers = line.split()
            if word in words and word not in vectors:
                vectors[word] = np.array(numbers, dtype=np.float32).astype(np.float64)
    return vectors


def bag(sentences: Sequence[Sequence[str]], vectors: dict[str, FloatArray]) -> Bag:
    """What is moved: the words and the sentences of a text."""
    things: list[FloatArray] = []
    weights: list[float] = []
    for sentence in sentences:
        known = [vectors[word] for word in sentence if word in vectors]
        if known:
            things += [*known, np.stack(known).mean(axis=0)]
            weights += [*[1.0] * len(known), float(len(known))]
    if not things:
        return np.zeros((0, 1)), np.zeros(0)
    return np.stack(things), np.array(weights) / sum(weights)


def distance(first: Bag, second: Bag) -> float:
    """The least Euclidean cost of moving one bag onto the other; NaN where one is empty."""
    from ot import emd2

    (x, a) = first
    (s, b) = second
    return float(emd2(a, b, cdist(x, s))) if len(a) and len(b) else float("nan")
