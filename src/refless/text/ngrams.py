"""Texts to n-gram occurrences.

The k-th occurrence of an n-gram in a text is a feature of its own. Two texts then share
min(count, count') features of an n-gram: BLEU's clipped count is plain counting. Without clipping
(equation 1 of the BLEU Neighbors paper to the letter) the features are the distinct n-grams, and an
output's feature weighs as often as it occurs there.

A feature's id is the rank of its key among those of its order in the pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from refless.loops import Loops
from refless.registry.arrays import IntArray
from refless.registry.errors import UsageError
from refless.text.terms import KnownTerms, Tokens, tokens_of
from refless.text.tokenize import IdArray

loops = Loops("terms")
lookups = Loops("lookups")

BLOCK = 8_192  # texts whose n-grams are keyed at a time

_Grams = tuple[npt.NDArray[Any], ...]  # of n-grams, and where texts begin
HIGHEST_ORDER = 100  # every order takes room for every text


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The n-grams that are counted: of the tokens, orders from `low` to `high`, clipped or not."""

    tokenize: str = "char"
    low: int = 2
    high: int = 4
    clip: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.low <= self.high:
            raise UsageError(
                f"n-gram orders must rise from 1, got {self.low} to {self.high}"
            )
        if self.high > HIGHEST_ORDER:
            message = f"at most {HIGHEST_ORDER}, got {self.high}"
            raise UsageError(f"the highest n-gram order must be {message}")

    @property
    def orders(self) -> int:
        """The number of orders."""
        return self.high - self.low + 1


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The pool's n-grams; everything in sorted order, so the order of texts leaves no trace."""

    shape: Shape
    # for each order low..high; features are numbered through all orders
    known: tuple[KnownTerms, ...]

    @property
    def firsts(self) -> IntArray:
        """[orders + 1] the first feature of each order, and the number of all."""
        return np.cumsum([0, *(len(known.keys) for known in self.known)])

    @property
    def features(self) -> int:
        """Number of features over all orders."""
        return int(self.firsts[-1])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Features:
    """Texts as features, order by order.

    Attributes:
        lengths: [texts] number of tokens.
        starts: [orders, texts + 1]; text i has at order k the features
            `ids[starts[k, i]:starts[k, i + 1]]`.
        ids: features that the vocabulary has.
        weights: without clipping, how often the text has the n-gram; else empty, as all weigh 1.
    """

    lengths: IntArray
    starts: npt.NDArray[np.int64]
    ids: IdArray
    weights: npt.NDArray[np.int32]


def learn(texts: Sequence[str], shape: Shape) -> tuple[Vocabulary, Features]:
    """The vocabulary of a pool's texts, and the texts as its features."""
    filling = _Filling.of(texts, shape)
    for order in range(shape.low, shape.high + 1):
        numbered = []
        different = [np.zeros(0, dtype=np.int64)]
        for keys, *where in filling.grams(order):
            own, numbers = lookups.numbers_loop(keys)
            different.append(own)
            numbered.append((own, numbers, where))
        known = KnownTerms(np.unique(np.concatenate(different)))
        places = ((known.places(own)[numbers], *w) for own, numbers, w in numbered)
        filling.add(known, places)
    return Vocabulary(shape, tuple(filling.known)), filling.features()


def look_up(texts: Sequence[str], vocabulary: Vocabulary) -> Features:
    """Texts as features of a known vocabulary; n-grams that it lacks are dropped."""
    filling = _Filling.of(texts, vocabulary.shape)
    for order, known in enumerate(vocabulary.known, vocabulary.shape.low):
        grams = filling.grams(order)
        filling.add(known, ((known.places(keys), *where) for keys, *where in grams))
    return filling.features()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Filling:
    """Features as they are found, order by order, in arrays that are long enough for all.

    Attributes:
        tokens: of the texts; clip: whether n-grams are clipped.
        ids, weights: as of `Features`, with room behind.
        starts, known: of each order so far.
    """

    tokens: Tokens
    clip: bool
    ids: IdArray
    weights: IdArray
    starts: list[IntArray]
    known: list[KnownTerms]

    @classmethod
    def of(cls, texts: Sequence[str], shape: Shape) -> _Filling:
        """Room for the n-grams of these texts."""
        tokens = tokens_of(texts, shape.tokenize)
        orders = range(shape.low, shape.high + 1)
        most = sum(int(np.maximum(tokens.lengths - n + 1, 0).sum()) for n in orders)
        return cls(
            tokens=tokens,
            clip=shape.clip,
            ids=np.empty(most, dtype=np.int32),
            weights=np.empty(0 if shape.clip else most, dtype=np.int32),
            starts=[],
            known=[],
        )

    def grams(self, order: int) -> Iterator[_Grams]:
        """Keys of the n-grams of one order, some texts at a time, counts, and where texts begin."""
        tokens = self.tokens
        for begin in range(0, len(tokens.lengths), BLOCK):
            bounds = tokens.starts[begin : begin + BLOCK + 1]
            part = tokens.keys[bounds[0] : bounds[-1]]
            keys, starts = loops.runs_loop(part, bounds - bounds[0], order, len(part))
            if self.clip:
                lookups.occurrences_loop(keys, starts)
                yield keys, self.weights, starts
            else:
                yield lookups.counts_loop(keys, starts)

    def add(self, known: KnownTerms, blocks: Iterable[_Grams]) -> None:
        """The features of the next order, given the places of n-grams instead of their keys."""
        first = sum(len(terms.keys) for terms in self.known)
        starts = np.zeros(len(self.tokens.starts), dtype=np.int64)
        starts[0] = self.starts[-1][-1] if self.starts else 0
        filled = (self.ids, self.weights)
        begin = 0
        for block in blocks:
            ends = starts[begin : begin + BLOCK + 1]
            lookups.features_loop(*block, first, len(known.keys), *filled, ends)
            begin += BLOCK
        self.starts.append(starts)
        self.known.append(known)

    def features(self) -> Features:
        """All of them, without the room that is left."""
        n = self.starts[-1][-1]
        return Features(
            lengths=self.tokens.lengths,
            starts=np.stack(self.starts),
            ids=self.ids[:n],
            weights=self.weights[:n],
        )
