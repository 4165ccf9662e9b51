"""BLEU*, the non-unigram BLEU-4 of the BLEU Neighbors paper (definition 3.1, equation 2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from refless.metrics import matching
from refless.metrics.bleu import gram_counts
from refless.metrics.kernels.dense import Dense, stretches
from refless.metrics.kernels.weighing import prepare_weighted
from refless.metrics.matching import PLAIN, Sums, WeightedSums, Work
from refless.metrics.postings import Postings, postings_of
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import UsageError
from refless.registry.spec import About, check
from refless.text.ngrams import Features, Shape, Vocabulary, learn, look_up
from refless.text.tokenize import TOKENS, token_counts, tokenizer


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
        mine, theirs = gram_counts(x, n), gram_counts(s, n)
        limit = theirs if shape.clip else mine
        product *= sum(min(c, limit[g]) for g, c in mine.items() if g in theirs)
        grams *= max(0, len(x) - n + 1)
    if product == 0:
        return 0.0
    beta = math.exp(min(0.0, 1.0 - len(s) / len(x)))
    return float(beta * (product / grams) ** (1.0 / shape.orders))


def gram_cosine(output: str, rated: str, shape: Shape | None = None) -> float:
    """BLEU*'s matches as a kernel that is positive semi-definite, in [0, 1], 1 of equal texts.

    The mean over orders of the clipped matches over the root of both texts' numbers of n-grams: a
    cosine, as each occurrence counts as a feature of its own. 0 where a text is shorter than the
    highest order. The slow twin of the compiled loop.
    """
    shape = shape or Shape()
    split = tokenizer(shape.tokenize)
    x, s = split(output), split(rated)
    if min(len(x), len(s)) < shape.high:
        return 0.0
    total = 0.0
    for n in range(shape.low, shape.high + 1):
        mine, theirs = gram_counts(x, n), gram_counts(s, n)
        matches = sum(min(c, theirs[g]) for g, c in mine.items() if g in theirs)
        total += matches / math.sqrt((len(x) - n + 1) * (len(s) - n + 1))
    return total / shape.orders


@dataclass(frozen=True, slots=True, kw_only=True)
class BleuStar:
    """BLEU*; by default, as published, of characters, and all n-grams count alike.

    Attributes:
        tokenize: `char`, `words`, `13a`, `intl`, `zh`, `ja-mecab`, `ko-mecab`.
        orders: lowest and highest n-gram order.
        clip: whether each n-gram of the output is matched at most once, as in BLEU.
        rarity: whether rarer n-grams weigh more.
    """

    name: ClassVar[str] = "bleu*"
    default_tau: ClassVar[float] = 0.08

    tokenize: Annotated[str, TOKENS] = "char"
    orders: Annotated[tuple[int, int], About("lowest and highest n-gram order")] = (2, 4)
    clip: Annotated[bool, About("match each n-gram at most once, as in BLEU")] = True
    rarity: Annotated[bool, About("rarer n-grams weigh more")] = False

    def __post_init__(self) -> None:
        check(self)
        Shape(tokenize=self.tokenize, low=self.orders[0], high=self.orders[1])  # checks the orders

    @property
    def shape(self) -> Shape:
        """What is counted."""
        low, high = self.orders
        return Shape(tokenize=self.tokenize, low=low, high=high, clip=self.clip)

    def prepare(self, texts: Sequence[str]) -> PreparedBleu | Dense:
        """The postings of the rated texts; a slower way where n-grams do not count alike."""
        if self.rarity:
            return prepare_weighted(texts, self.shape)
        return PreparedBleu.build(texts, self.shape)

    def settings(self) -> dict[str, object]:
        """Tokens, orders and clipping, and how n-grams weigh where they do not count alike."""
        shape = self.shape
        counted = {"tok": shape.tokenize, "n": f"{shape.low}-{shape.high}", "clip": shape.clip}
        return {**counted, **({"rarity": "log"} if self.rarity else {})}


@dataclass(frozen=True, slots=True, eq=False)
class PreparedBleu:
    """BLEU* against a fixed list of rated texts, through postings of their n-grams."""

    shape: Shape
    vocabulary: Vocabulary
    postings: Postings

    @classmethod
    def build(cls, texts: Sequence[str], shape: Shape) -> PreparedBleu:
        """Postings of the texts."""
        vocabulary, features = learn(texts, shape, runs=True)
        ends = [int(first[0]) for first in vocabulary.firsts] + [vocabulary.features]
        starts = np.array(ends, dtype=np.int64)
        postings = postings_of(features, starts, shape.low, clip=shape.clip)
        return cls(shape, vocabulary, postings)

    def __len__(self) -> int:
        return len(self.postings)

    def lengths(self, texts: Sequence[str]) -> IntArray:
        """[texts] number of tokens."""
        return token_counts(texts, self.shape.tokenize)

    def shortest(self) -> int:
        """As many tokens as the highest order."""
        return self.shape.high

    def neighbor_sums(
        self, texts: Sequence[str], values: IntArray, taus: FloatArray, work: Work = PLAIN
    ) -> Sums:
        """See `matching.neighbor_sums`; a text of too few tokens has no neighbours at any tau."""
        return matching.neighbor_sums(self.postings, self._features(texts), values, taus, work)

    def weighted_sums(
        self, texts: Sequence[str], values: FloatArray, tau: float, power: float, work: Work = PLAIN
    ) -> WeightedSums:
        """See `matching.weighted_sums`."""
        features = self._features(texts)
        return matching.weighted_sums(self.postings, features, values, tau, power, work)

    def similarities(self, texts: Sequence[str], work: Work = PLAIN) -> FloatArray:
        """[texts, rated texts] BLEU* of every pair."""
        return matching.similarities(self.postings, self._features(texts), work)

    def cosine(self, texts: Sequence[str], work: Work = PLAIN) -> FloatArray:
        """[texts, rated texts] `gram_cosine` of every pair.

        Raises:
            UsageError: without clipping, where matches counted one way are not those of the other.
        """
        if not self.shape.clip:
            raise UsageError("the cosine of n-gram counts needs clipping")
        return matching.similarities(self.postings, self._features(texts), work, cosine=True)

    def shared(self, text: str, rated: str) -> tuple[str, ...]:
        """Stretches of tokens of at least the lowest order that both hold, longest first."""
        return stretches(text, rated, self.shape.tokenize, self.shape.low)

    def _features(self, texts: Sequence[str]) -> Features:
        """The texts as features of these rated texts."""
        return look_up(texts, self.vocabulary)
