"""Outputs and references as n-gram counts, and what BLEU and its kin are made of.

All weights 1 is BLEU, so that BLEU and delta-BLEU share every step.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

import numpy as np

from refless.data.records import Outputs
from refless.registry.arrays import FloatArray, IntArray
from refless.text.ngrams import Features, Shape, learn
from refless.text.tokenize import SACREBLEU, distinct


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Counted:
    """Outputs and references as n-gram counts, each distinct text once.

    Attributes:
        features: the distinct texts; size: number of features.
        outputs: [n] which text each output is.
        references: [all references] which text each reference is; those of output i are
            `references[begins[i]:begins[i + 1]]`.
    """

    features: Features
    size: int
    outputs: IntArray
    references: IntArray
    begins: IntArray

    def repeated(self, values: IntArray) -> IntArray:
        """[all references] what the output of each reference has of [n] values."""
        return np.repeat(values, np.diff(self.begins))


def counted(
    outputs: Outputs, order: int, tokenize: str, fold: Callable[[str], str] = str
) -> Counted:
    """N-grams of orders 1 to `order`, of texts that are folded first."""
    texts, rows = distinct(map(fold, chain(outputs.texts, *outputs.references)))
    shape = Shape(tokenize=tokenize, low=1, high=order, clip=False)
    vocabulary, features = learn(texts, shape)
    return Counted(
        features=features,
        size=vocabulary.features,
        outputs=rows[: len(outputs)],
        references=rows[len(outputs) :],
        begins=np.cumsum([0, *map(len, outputs.references)], dtype=np.int64),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """The n-grams that are counted: orders 1 to `order` of the tokens.

    Attributes:
        by_code: how an n-gram that repeats is weighed (see `refless.extensions.metrics.delta`).
    """

    order: int = 4
    tokenize: str = "13a"
    lowercase: bool = False
    by_code: bool = False

    def fold(self, text: str) -> str:
        """The text as sacrebleu tokenizes it: lower case if asked for, no space at the end.

        Of characters no white space is left at all, as sacrebleu counts none; `BLEU*` does.
        """
        folded = text.lower() if self.lowercase else text
        if self.tokenize == "char":
            return "".join(folded.split())
        return folded.rstrip() if self.tokenize in SACREBLEU else folded


def statistics(outputs: Outputs, counting: Counting) -> FloatArray:
    """[n, 2 + 2 * order] length, closest reference length, matches and totals by order.

    With the outputs' weights a match is worth its weight, and a total is the number of n-grams
    times the output's highest weight; without weights both are plain counts.
    """
    texts = counted(outputs, counting.order, counting.tokenize, counting.fold)
    features = texts.features
    begins = texts.begins
    rows = chain.from_iterable(outputs.weights)
    weights = (
        np.fromiter(rows, dtype=np.float64) if outputs.weights else np.ones(begins[-1])
    )
    highest = np.maximum.reduceat(weights, begins[:-1])
    lengths = features.lengths[texts.outputs]
    pairs = (
        texts.outputs,
        texts.references,
        begins,
        weights,
        texts.size,
        counting.by_code,
    )
    from refless.extensions.metrics.loops import matches  # which loads numba

    matched = [
        matches(features.ids, features.weights, starts, *pairs)
        for starts in features.starts
    ]
    totals = [highest * np.maximum(lengths - k, 0) for k in range(counting.order)]
    closest = _closest(
        texts.repeated(lengths), features.lengths[texts.references], begins
    )
    return np.stack([lengths.astype(np.float64), closest, *matched, *totals], axis=1)


def _closest(mine: IntArray, lengths: IntArray, begins: IntArray) -> FloatArray:
    """The reference length closest to each output's, the shorter one of two equally close."""
    far = int(max(mine.max(), lengths.max())) + 1
    nearest = np.minimum.reduceat(np.abs(lengths - mine) * far + lengths, begins[:-1])
    return np.asarray(nearest % far, dtype=np.float64)
