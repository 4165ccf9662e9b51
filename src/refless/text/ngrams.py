"""Token ids to n-gram occurrences.

The k-th occurrence of an n-gram in a text is a feature of its own. Two texts then share
min(count, count') features of an n-gram: BLEU's clipped count is plain counting. Without clipping
(equation 1 of the BLEU Neighbors paper to the letter) the features are the distinct n-grams, and an
output's feature weighs as often as it occurs there.

An n-gram's id is its rank among the pool's n-grams of that order, found level by level: an n-gram
is its first n-1 tokens (an id one level down) and one more token.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refless.loops import Loops
from refless.registry.arrays import IntArray
from refless.registry.errors import UsageError
from refless.text.tokenize import IdArray, TokenIds, encode, learn_tokens

loops = Loops("ngrams")

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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Vocabulary:
    """The pool's n-grams; everything in sorted order, so the order of texts leaves no trace.

    Attributes:
        shape: what is counted.
        tokens: the distinct tokens, sorted.
        keys: for each order 2..high the sorted keys (id one level down) * len(tokens) + token.
        firsts: for each order low..high [n-grams + 1] the feature of an n-gram's first occurrence;
            features are numbered through all orders.
    """

    shape: Shape
    tokens: tuple[str, ...]
    keys: tuple[IntArray, ...]
    firsts: tuple[IntArray, ...]

    @property
    def features(self) -> int:
        """Number of features over all orders."""
        return int(self.firsts[-1][-1])


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
    tokens, encoded = learn_tokens(texts, shape.tokenize)
    keys: list[IntArray] = []
    firsts: list[IntArray] = []
    filling = _Filling.of(encoded, shape)
    level = encoded.ids.copy()
    feature = 0
    for order in range(1, shape.high + 1):
        if order > 1:
            longer = (level, encoded.ids, encoded.starts, order, len(tokens))
            keys.append(np.sort(loops.distinct_loop(*longer)))
            loops.look_up_loop(*longer, keys[-1])
        if order >= shape.low:
            size = len(keys[-1]) if order > 1 else len(tokens)
            firsts.append(feature + _features(level, encoded, size, clip=shape.clip))
            feature = int(firsts[-1][-1])
            filling.add(level, firsts[-1])
    vocabulary = Vocabulary(
        shape=shape, tokens=tokens, keys=tuple(keys), firsts=tuple(firsts)
    )
    return vocabulary, filling.features()


def look_up(texts: Sequence[str], vocabulary: Vocabulary) -> Features:
    """Texts as features of a known vocabulary; n-grams that it lacks are dropped."""
    encoded = encode(texts, vocabulary.shape.tokenize, vocabulary.tokens)
    return look_up_tokens(encoded, vocabulary)


def look_up_tokens(encoded: TokenIds, vocabulary: Vocabulary) -> Features:
    """The same of texts as tokens."""
    shape = vocabulary.shape
    filling = _Filling.of(encoded, shape)
    level = encoded.ids.copy()
    n_tokens = len(vocabulary.tokens)
    for order in range(1, shape.high + 1):
        if order > 1:
            keys = vocabulary.keys[order - 2]
            loops.look_up_loop(
                level, encoded.ids, encoded.starts, order, n_tokens, keys
            )
        if order >= shape.low:
            filling.add(level, vocabulary.firsts[order - shape.low])
    return filling.features()


@dataclass(slots=True, kw_only=True)
class _Filling:
    """Features as they are found, order by order, in arrays that are long enough for all.

    Attributes:
        encoded: the texts as tokens.
        clip: whether n-grams are clipped.
        ids, weights: as of `Features`, with room behind.
        starts: for each order so far [texts + 1] where each text's features begin.
    """

    encoded: TokenIds
    clip: bool
    ids: IdArray
    weights: npt.NDArray[np.int32]
    starts: list[IntArray]

    @classmethod
    def of(cls, encoded: TokenIds, shape: Shape) -> "_Filling":
        """Room for the n-grams of these texts."""
        orders = range(shape.low, shape.high + 1)
        most = sum(
            int(np.maximum(encoded.lengths - order + 1, 0).sum()) for order in orders
        )
        return cls(
            encoded=encoded,
            clip=shape.clip,
            ids=np.empty(most, dtype=np.int32),
            weights=np.empty(0 if shape.clip else most, dtype=np.int32),
            starts=[],
        )

    def add(self, level: IdArray, first: IntArray) -> None:
        """The features of the next order, given its n-grams by token and the features of each."""
        n = self.starts[-1][-1] if self.starts else 0
        filled = (n, self.ids, self.weights)
        self.starts.append(
            loops.part_loop(level, self.encoded.starts, first, self.clip, *filled)
        )

    def features(self) -> Features:
        """All of them, without the room that is left."""
        n = self.starts[-1][-1]
        return Features(
            lengths=self.encoded.lengths,
            starts=np.stack(self.starts),
            ids=self.ids[:n],
            weights=self.weights[:n],
        )


def _features(level: IdArray, encoded: TokenIds, size: int, *, clip: bool) -> IntArray:
    """[n-grams + 1] the first feature of each: as many as it occurs most often, or one."""
    if not clip:
        return np.arange(size + 1)
    most = np.zeros(size, dtype=np.int32)
    loops.most_loop(level, encoded.starts, most)
    return np.concatenate([[0], np.cumsum(most, dtype=np.int64)])
