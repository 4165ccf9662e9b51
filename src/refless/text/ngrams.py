"""Token ids to n-gram occurrences.

The k-th occurrence of an n-gram in a text is a feature of its own. Two texts then share
min(count, count') features of an n-gram: BLEU's clipped count is plain counting. Without clipping
(equation 1 of the BLEU Neighbors paper to the letter) the features are the distinct n-grams, and an
output's feature weighs as often as it occurs there.

A text of a million n-grams has a million such features, most of which it alone has. As `runs`,
occurrences that the same texts of the pool have are one feature, whose weight in a text is how many
of them it has: if the pool's texts have an n-gram 1, 2 and 900 times, the third to the 900th are
one. What two texts share is the same number. An order where that does not halve the features keeps
an occurrence a feature.

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
UNCLIPPED = 2**31 - 1  # occurrences: more than any text has


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What is counted: the tokens, the orders from `low` to `high`, clipped or not."""

    tokenize: str = "char"
    low: int = 2
    high: int = 4
    clip: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.low <= self.high:
            raise UsageError(f"n-gram orders must rise from 1, got {self.low} to {self.high}")
        if self.high > HIGHEST_ORDER:
            message = f"at most {HIGHEST_ORDER}, got {self.high}"
            raise UsageError(f"the highest n-gram order must be {message}")

    def __str__(self) -> str:
        clipped = "clipped" if self.clip else "not clipped"
        return f"{self.tokenize} n-grams of orders {self.low} to {self.high}, {clipped}"

    @property
    def orders(self) -> int:
        """How many orders there are."""
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
        upto: for each of these [features] the last occurrence that a feature stands for.
    """

    shape: Shape
    tokens: tuple[str, ...]
    keys: tuple[IntArray, ...]
    firsts: tuple[IntArray, ...]
    upto: tuple[IdArray, ...]

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
        weights: how many of the occurrences that it stands for the text has; empty where all
            weigh 1.
    """

    lengths: IntArray
    starts: npt.NDArray[np.int64]
    ids: IdArray
    weights: npt.NDArray[np.int32]


def learn(texts: Sequence[str], shape: Shape, *, runs: bool = False) -> tuple[Vocabulary, Features]:
    """The vocabulary of a pool's texts, and the texts as its features; see above for `runs`."""
    tokens, encoded = learn_tokens(texts, shape.tokenize)
    keys: list[IntArray] = []
    firsts: list[IntArray] = []
    upto: list[IdArray] = []
    parts: list[_Part] = []
    level, feature = encoded.ids.copy(), 0
    for order in range(1, shape.high + 1):
        if order > 1:
            longer = (level, encoded.ids, encoded.starts, order, len(tokens))
            keys.append(np.sort(loops.distinct_loop(*longer)))
            loops.look_up_loop(*longer, keys[-1])
        if order >= shape.low:
            size = len(keys[-1]) if order > 1 else len(tokens)
            first, ends = _features(level, encoded, size, clip=shape.clip, runs=runs)
            firsts.append(feature + first)
            upto.append(ends)
            feature = int(firsts[-1][-1])
            parts.append(_part(level, encoded, firsts[-1], ends))
    vocabulary = Vocabulary(
        shape=shape, tokens=tokens, keys=tuple(keys), firsts=tuple(firsts), upto=tuple(upto)
    )
    return vocabulary, _assembled(encoded, parts)


def look_up(texts: Sequence[str], vocabulary: Vocabulary) -> Features:
    """Texts as features of a known vocabulary; n-grams that it lacks are dropped."""
    shape = vocabulary.shape
    encoded = encode(texts, shape.tokenize, vocabulary.tokens)
    parts: list[_Part] = []
    level, tokens = encoded.ids.copy(), len(vocabulary.tokens)
    for order in range(1, shape.high + 1):
        if order > 1:
            keys = vocabulary.keys[order - 2]
            loops.look_up_loop(level, encoded.ids, encoded.starts, order, tokens, keys)
        if order >= shape.low:
            k = order - shape.low
            parts.append(_part(level, encoded, vocabulary.firsts[k], vocabulary.upto[k]))
    return _assembled(encoded, parts)


_Part = tuple[IdArray, npt.NDArray[np.int32], IntArray]  # ids, weights, starts


def _features(
    level: IdArray, encoded: TokenIds, size: int, *, clip: bool, runs: bool
) -> tuple[IntArray, IdArray]:
    """[n-grams + 1] the first feature of each, [features] the last occurrence each stands for."""
    if not clip:
        return np.arange(size + 1), np.full(size, UNCLIPPED, dtype=np.int32)
    most = np.zeros(size, dtype=np.int32)
    loops.most_loop(level, encoded.starts, most)
    first = np.concatenate([[0], np.cumsum(most, dtype=np.int64)])
    mask = np.zeros(first[-1], dtype=np.bool_)
    if runs:
        loops.ends_loop(level, encoded.starts, first, mask)
    if not 0 < 2 * int(mask.sum()) <= len(mask):  # runs have weights, and would hardly be fewer
        mask[:] = True
    places = np.flatnonzero(mask)
    starts = np.searchsorted(places, first)
    ends = places - np.repeat(first[:-1], np.diff(starts)) + 1
    return starts, ends.astype(np.int32)


def _part(level: IdArray, encoded: TokenIds, first: IntArray, upto: IdArray) -> _Part:
    """One order's features."""
    most = upto[first[1:] - 1 - first[0]]
    single = int(most.sum(dtype=np.int64)) == len(upto)  # each feature is one occurrence
    part: _Part = loops.part(level, encoded.starts, first, upto, not single)
    return part


def _assembled(encoded: TokenIds, parts: list[_Part]) -> Features:
    base = np.cumsum([0, *(len(ids) for ids, _, _ in parts[:-1])])
    weights = [weights if len(weights) else np.ones_like(ids) for ids, weights, _ in parts]
    plain = not any(len(weights) for _, weights, _ in parts)
    return Features(
        lengths=encoded.lengths,
        starts=np.stack([starts + b for (_, _, starts), b in zip(parts, base, strict=True)]),
        ids=np.concatenate([ids for ids, _, _ in parts]),
        weights=np.zeros(0, dtype=np.int32) if plain else np.concatenate(weights),
    )
