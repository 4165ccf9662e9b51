"""What CIDEr-D says of outputs that are the same for every item, from corpus statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
from scipy.sparse import csr_array, diags_array

from refless.extensions.metrics.cider import FACTOR, CIDErD
from refless.extensions.papers.stress.constant import Matrix, References, by_order
from refless.registry.arrays import FloatArray, IntArray
from refless.text.ngrams import Features, Shape, learn
from refless.text.tokenize import distinct

BLOCK = 50_000  # candidates at a time: memory does not grow with their number


def occurrences(counted: Features, n_grams: int) -> tuple[Features, IntArray]:
    """Counted n-grams as features that a text has or lacks, and the first one of each n-gram.

    The k-th feature of an n-gram says that a text has it k times or more: what two texts have in
    common of these is the clipped count.
    """
    most = np.zeros(n_grams, dtype=np.int64)
    np.maximum.at(most, counted.ids, counted.weights)
    first = np.cumsum([0, *most])
    ends = np.cumsum([0, *counted.weights])
    k = np.arange(ends[-1]) - np.repeat(ends[:-1], counted.weights)
    ids = np.repeat(first[counted.ids], counted.weights) + k
    features = replace(
        counted,
        starts=ends[counted.starts],
        ids=ids.astype(np.int32),
        weights=counted.weights[:0],
    )
    return features, np.repeat(first[:-1], most)


class ConstantCIDErD:
    """CIDEr-D of sentences each of which stands as the output for every item.

    The score of an item is the mean over its references of a sum of cosines. For candidates of one
    length the references' sides of all cosines add up to one matrix, items by features.

    Args:
        metric: with its settings; texts are split at blanks.
        references: [items] the references of each item, at least two items.
    """

    def __init__(self, metric: CIDErD, references: References) -> None:
        self.metric = metric
        self.n = len(references)
        self.texts, self.of = distinct(list(chain.from_iterable(references)))
        counts = np.array([*map(len, references)])
        self.first = np.cumsum([0, *counts])
        self.share = FACTOR / metric.order / np.repeat(counts, counts)

    def scores(self, texts: Sequence[str]) -> FloatArray:
        """[texts] corpus score of each as the output for every item."""
        blocks = [texts[begin : begin + BLOCK] for begin in range(0, len(texts), BLOCK)]
        return np.concatenate([self._scores(block) for block in blocks])

    def _scores(self, texts: Sequence[str]) -> FloatArray:
        sides, worth, lengths = self._sides(texts)
        known = lengths[: len(self.texts)]
        own = lengths[len(self.texts) :]
        scores = np.zeros(len(texts))
        for length in np.unique(own):
            rows = np.flatnonzero(own == length)
            off = known[self.of] - length
            penalties = np.exp(-(off**2) / (2 * self.metric.sigma**2))
            items = self._by_item(self.share * penalties)
            scores[rows] = sides[rows] @ (items.sum(axis=0) @ worth)
        return scores / self.n

    def _by_item(self, weights: FloatArray) -> Matrix:
        """[items, distinct references] a weight for each reference, summed for equal ones."""
        return csr_array((weights, self.of, self.first), (self.n, len(self.texts)))

    def _sides(self, texts: Sequence[str]) -> tuple[Matrix, Matrix, IntArray]:
        """[texts, features] of candidates, [references, features], and all lengths in bigrams.

        Their product is the sum over orders of the cosines, before the length penalty.
        """
        n_known = len(self.texts)
        shape = Shape(tokenize="words", low=1, high=self.metric.order, clip=False)
        vocabulary, counted = learn((*self.texts, *texts), shape)
        features, base = occurrences(counted, vocabulary.features)
        size = len(base)
        orders = by_order(features, size)
        present: Matrix = sum(orders)
        items = self._by_item(self.share) @ present[:n_known]
        frequencies = np.diff(items.tocsc().indptr)[base]
        idf = np.log(self.n) - np.log(np.maximum(frequencies, 1))
        # (1 + ... + 1)^2 = 1 + 3 + 5 + ...: the k-th occurrence adds 2 k - 1 to a square
        squares = (2 * (np.arange(size) - base) + 1) * idf**2
        norms = [np.sqrt(known @ squares) for known in orders]
        inverse = [
            np.divide(1, norm, out=np.zeros_like(norm), where=norm > 0)
            for norm in norms
        ]
        every: Matrix = sum(
            diags_array(scale) @ known
            for scale, known in zip(inverse, orders, strict=True)
        )
        to_base = csr_array((np.ones(size), base, np.arange(size + 1)), (size, size))
        counts = (every @ to_base).tocsr()  # of each n-gram, over the norm
        worth = counts[:n_known] @ diags_array(idf**2)
        clipped = present[:n_known].multiply(worth @ to_base.T)
        return every.tocsr()[n_known:], clipped, np.maximum(features.lengths - 1, 0)
