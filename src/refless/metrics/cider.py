"""CIDEr and CIDEr-D (Vedantam et al. 2015): agreement in n-grams, telling ones weighing more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

import numpy as np

from refless.compiled import cider as loops
from refless.errors import UsageError
from refless.metrics.protocol import Scores, averaged, check_references
from refless.ngrams import Features, Shape, learn
from refless.records import FloatArray, IntArray, Outputs
from refless.signature import Signature
from refless.tokenize import tokenizer
from refless.version import __version__

FACTOR = 10.0  # of both, as in coco-caption and its like


@dataclass(frozen=True, slots=True, kw_only=True)
class CIDErD:
    """CIDEr-D in [0, 10], equal to coco-caption's; the corpus score is the mean.

    Document frequencies come from the references that are scored: numbers over different sets of
    references cannot be compared, and a single item has no score (NaN), for nothing in it is rarer
    than anything else.

    Attributes:
        order: highest n-gram order.
        sigma: width of the penalty on lengths that differ (counted in bigrams, as coco-caption).
        tokenize: a name of `refless.tokenize`.
        lowercase: whether case is ignored.
    """

    name: ClassVar[str] = "cider-d"
    needs: ClassVar[tuple[str, ...]] = ("references",)

    order: int = 4
    sigma: float = 6.0
    tokenize: str = "words"
    lowercase: bool = False

    def __post_init__(self) -> None:
        _check(self.order, self.tokenize)
        if not 0 < self.sigma < math.inf:
            raise UsageError(f"sigma must be above 0, got {self.sigma}")

    def score(self, outputs: Outputs) -> Scores:
        """Scores of the outputs.

        Raises:
            InputError: an output without references, or references in another shape.
        """
        texts = _read(outputs, self.order, self.tokenize, self.lowercase)
        lengths = np.maximum(texts.features.lengths - 1, 0)
        apart = np.repeat(lengths[texts.outputs], np.diff(texts.first)) - lengths[texts.of]
        return texts.scores(texts.cosines(clip=True) * np.exp(-(apart**2) / (2 * self.sigma**2)))

    def signature(self) -> Signature:
        """Everything that can change the scores."""
        return Signature(self.name).plus(
            order=self.order,
            sigma=self.sigma,
            tok=self.tokenize,
            lower=self.lowercase,
            df="references",
            v=__version__,
        )

    @classmethod
    def missing(cls) -> str:
        """Nothing."""
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CIDEr:
    """CIDEr in [0, 10]: CIDEr-D without clipping and without a penalty on length.

    Words are not stemmed, and the score is multiplied by 10 as CIDEr-D's is.

    Attributes:
        order, tokenize, lowercase: as of CIDEr-D.
    """

    name: ClassVar[str] = "cider"
    needs: ClassVar[tuple[str, ...]] = ("references",)

    order: int = 4
    tokenize: str = "words"
    lowercase: bool = False

    def __post_init__(self) -> None:
        _check(self.order, self.tokenize)

    def score(self, outputs: Outputs) -> Scores:
        """Scores of the outputs; raises as CIDEr-D does."""
        texts = _read(outputs, self.order, self.tokenize, self.lowercase)
        return texts.scores(texts.cosines(clip=False))

    def signature(self) -> Signature:
        """Everything that can change the scores."""
        return Signature(self.name).plus(
            order=self.order,
            tok=self.tokenize,
            lower=self.lowercase,
            df="references",
            v=__version__,
        )

    @classmethod
    def missing(cls) -> str:
        """Nothing."""
        return ""


def _check(order: int, tokenize: str) -> None:
    if order < 1:
        raise UsageError(f"order must be 1 or more, got {order}")
    tokenizer(tokenize)


@dataclass(frozen=True, slots=True, eq=False)
class _Texts:
    """Outputs and references as n-gram counts, each distinct text once.

    Attributes:
        features: the distinct texts; `size` is the number of features.
        outputs: [n] which text each output is.
        of: [references] which text each reference is; output i has `of[first[i]:first[i + 1]]`.
        documents: one output of each item: its references are what frequencies are counted in.
    """

    features: Features
    size: int
    outputs: IntArray
    of: IntArray
    first: IntArray
    documents: IntArray

    def cosines(self, *, clip: bool) -> FloatArray:
        """[references] mean over the orders of the cosine between output and reference."""
        found = np.zeros(len(self.of))
        features, each = self.features, np.repeat(self.outputs, np.diff(self.first))
        counts = np.diff(self.first)[self.documents]
        ends = np.concatenate([[0], np.cumsum(counts)])
        begins = self.first[self.documents]
        of = self.of[np.arange(ends[-1]) + np.repeat(begins - ends[:-1], counts)]
        for starts in features.starts:
            seen = loops.frequencies_loop(features.ids, starts, of, ends, self.size)
            idf = np.log(len(self.documents)) - np.log(np.maximum(seen, 1))
            counted = (features.ids, features.weights, starts, idf)
            norms = loops.norms_loop(*counted)
            dots = np.zeros(len(self.of))
            loops.dots_loop(*counted, self.outputs, self.of, self.first, clip, dots)
            both = norms[each] * norms[self.of]
            found += np.divide(dots, both, out=np.zeros_like(dots), where=both > 0)
        return found / len(features.starts)

    def scores(self, pairs: FloatArray) -> Scores:
        """Segment scores out of those of their references."""
        counts = np.diff(self.first)
        segments = FACTOR * np.add.reduceat(pairs, self.first[:-1]) / counts
        return averaged(segments if len(self.documents) > 1 else np.full(len(segments), np.nan))


def _read(outputs: Outputs, order: int, tokenize: str, lowercase: bool) -> _Texts:
    check_references(outputs)
    place: dict[str, int] = {}
    fold = str.lower if lowercase else str

    def places(texts: tuple[str, ...]) -> IntArray:
        return np.array([place.setdefault(fold(x), len(place)) for x in texts], dtype=np.int64)

    mine = places(outputs.texts)
    theirs = places(tuple(chain.from_iterable(outputs.references)))
    first = np.cumsum([0, *map(len, outputs.references)])
    shape = Shape(tokenize=tokenize, low=1, high=order, clip=False)
    vocabulary, features = learn(tuple(place), shape)
    documents = _documents(outputs)
    return _Texts(features, vocabulary.features, mine, theirs, first, documents)


def _documents(outputs: Outputs) -> IntArray:
    """The first output of each item: several systems' outputs are one document.

    Without items, outputs of several systems with the same references are one; else each is one.
    """
    keys: Sequence[object] = outputs.items or (outputs.references if outputs.systems else ())
    if not keys:
        return np.arange(len(outputs))
    first = {key: row for row, key in reversed(list(enumerate(keys)))}
    return np.array(sorted(first.values()), dtype=np.int64)
