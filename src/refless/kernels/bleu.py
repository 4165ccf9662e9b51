"""BLEU*, the non-unigram BLEU-4 of the BLEU Neighbors paper (definition 3.1, equation 2)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from refless import matching
from refless.errors import UsageError
from refless.kernels.dense import Dense, stretches
from refless.kernels.weighing import Weighing, check_weighing, prepare_weighted
from refless.matching import Held, Progress, Sums, WeightedSums
from refless.ngrams import Features, Shape, Vocabulary, learn, look_up
from refless.postings import Postings, postings_of
from refless.records import FloatArray, IntArray
from refless.tokenize import tokenizer


def bleu_star(output: str, rated: str, shape: Shape | None = None) -> float:
    """BLEU* of an output (hypothesis) against a rated text, in [0, 1]: the definition, spelled out.

    The brevity penalty times the geometric mean of the clipped n-gram precisions; 0 where an order
    has no match. The slow twin of the compiled loop.
    """
    shape = shape or Shape()
    split = tokenizer(shape.tokenize)
    x, s = split(output), split(rated)
    product, grams = 1, 1
    for n in range(shape.low, shape.high + 1):
        mine, theirs = _counts(x, n), _counts(s, n)
        limit = theirs if shape.clip else mine
        product *= sum(min(c, limit[g]) for g, c in mine.items() if g in theirs)
        grams *= max(0, len(x) - n + 1)
    if product == 0:
        return 0.0
    beta = math.exp(min(0.0, 1.0 - len(s) / len(x)))
    return float(beta * (product / grams) ** (1.0 / shape.orders))


def _counts(tokens: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


@dataclass(frozen=True, slots=True)
class BleuStar:
    """BLEU* with its tokens, orders and clipping.

    Attributes:
        shape: characters, orders 2 to 4, clipped by default, as published.
        weighing: stop words and rarity; by default all n-grams count alike, as published.
    """

    shape: Shape = field(default_factory=Shape)
    weighing: Weighing = field(default_factory=Weighing)

    def __post_init__(self) -> None:
        check_weighing(self.weighing, self.shape)

    @property
    def default_tau(self) -> float:
        """0.08 as published."""
        return 0.08

    def prepare(self, texts: Sequence[str]) -> PreparedBleu | Dense:
        """The postings of the rated texts; a slower way where n-grams do not count alike."""
        if self.weighing:
            return prepare_weighted(texts, self.shape, self.weighing)
        return PreparedBleu.build(texts, self.shape)

    def settings(self) -> dict[str, object]:
        """Tokens, orders and clipping, and how n-grams weigh where they do not count alike."""
        shape = self.shape
        counted = {"tok": shape.tokenize, "n": f"{shape.low}-{shape.high}", "clip": shape.clip}
        return {**counted, **self.weighing.settings()}


@dataclass(frozen=True, slots=True, eq=False)
class PreparedBleu:
    """BLEU* against a fixed list of rated texts, through postings."""

    vocabulary: Vocabulary
    postings: Postings

    @classmethod
    def build(cls, texts: Sequence[str], shape: Shape) -> PreparedBleu:
        """Postings of the texts; ties in length keep the order given."""
        vocabulary, features = learn(texts, shape)
        ends = [int(first[0]) for first in vocabulary.firsts] + [vocabulary.features]
        starts = np.array(ends, dtype=np.int64)
        return cls(vocabulary, postings_of(features, starts, shape.low, clip=shape.clip))

    def features(self, texts: Sequence[str]) -> Features:
        """The texts as features of the rated texts."""
        return look_up(texts, self.vocabulary)

    def lengths(self, texts: Sequence[str]) -> IntArray:
        """[texts] number of tokens."""
        name = self.vocabulary.shape.tokenize
        if name == "char":
            return np.array([len(text) for text in texts], dtype=np.int64)
        split = tokenizer(name)
        return np.array([len(split(text)) for text in texts], dtype=np.int64)

    def shortest(self) -> int:
        """As many tokens as the highest order."""
        return self.vocabulary.shape.high

    def neighbor_sums(
        self,
        texts: Sequence[str],
        values: IntArray,
        taus: FloatArray,
        *,
        held: Held | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Sums:
        """See `matching.neighbor_sums`; a text of too few tokens has no neighbours at any tau."""
        return matching.neighbor_sums(
            self.postings,
            self.features(texts),
            values,
            taus,
            held=held,
            threads=threads,
            progress=progress,
        )

    def weighted_sums(
        self,
        texts: Sequence[str],
        values: FloatArray,
        tau: float,
        power: float,
        *,
        held: Held | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> WeightedSums:
        """See `matching.weighted_sums`."""
        return matching.weighted_sums(
            self.postings,
            self.features(texts),
            values,
            tau,
            power,
            held=held,
            threads=threads,
            progress=progress,
        )

    def similarities(
        self,
        texts: Sequence[str],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> FloatArray:
        """[texts, rated texts] BLEU* of every pair."""
        features = self.features(texts)
        return matching.similarities(self.postings, features, threads=threads, progress=progress)

    def symmetric(
        self,
        texts: Sequence[str],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> FloatArray:
        """[texts, rated texts] mean of BLEU* both ways, (k(x, s) + k(s, x)) / 2, of every pair.

        Raises:
            UsageError: without clipping, where matches counted one way are not those of the other.
        """
        if not self.vocabulary.shape.clip:
            raise UsageError("BLEU* both ways needs clipping")
        return matching.similarities(
            self.postings,
            self.features(texts),
            symmetric=True,
            threads=threads,
            progress=progress,
        )

    def shared(self, text: str, rated: str) -> tuple[str, ...]:
        """Stretches of tokens of at least the lowest order that both hold, longest first."""
        shape = self.vocabulary.shape
        split, glue = tokenizer(shape.tokenize), "" if shape.tokenize == "char" else " "
        return stretches(split(text), split(rated), shape.low, glue)
