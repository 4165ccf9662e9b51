"""What an output that is the same for every item scores, from corpus statistics: BLEU and CIDEr.

The k-th occurrence of an n-gram is a feature of its own, so clipped matches are products of sparse
matrices: which texts have which features, times what a feature is worth to each item. These are
made once, whatever the number of candidates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array, diags_array

from refless.data.records import Outputs
from refless.metrics.references.bleu import BLEU
from refless.metrics.references.cider import FACTOR, CIDErD
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import UsageError
from refless.text.ngrams import Features, Shape, Vocabulary, learn, look_up
from refless.text.tokenize import SACREBLEU, distinct, tokenizer

CELLS = 2_000_000  # scores of candidates for items that are in memory at a time
Matrix = Any  # scipy's sparse arrays have no types

References = Sequence[Sequence[str]]


class Constant(Protocol):
    """Scores of sentences each of which stands as the output for every item."""

    def read(self, texts: Sequence[str]) -> list[str]:
        """The texts as `scores` and `joined` take them: split into tokens, once."""
        ...

    def scores(self, texts: Sequence[str]) -> FloatArray:
        """[texts] corpus score of each."""
        ...

    def joined(self, texts: Sequence[str], chosen: Sequence[str]) -> FloatArray:
        """[texts] corpus score if each joins a set, of which every item has its best sentence."""
        ...


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Known:
    """The references, each distinct text once.

    Attributes:
        texts: the distinct references, as the metric reads them.
        of: [references] which of them each is; item i has `of[first[i]:first[i + 1]]`.
    """

    texts: tuple[str, ...]
    of: IntArray
    first: IntArray

    def by_item(self, weights: FloatArray | IntArray) -> Matrix:
        """[items, distinct texts] a weight for each reference, summed for equal ones."""
        return csr_array((weights, self.of, self.first), (len(self.first) - 1, len(self.texts)))


def read(metric: BLEU | CIDErD, texts: Sequence[str]) -> list[str]:
    """Texts as the metric sees them, with a space between tokens (unless they are characters)."""
    if metric.lowercase:
        texts = [text.lower() for text in texts]
    if metric.tokenize not in SACREBLEU:
        return list(texts)
    if isinstance(metric, BLEU):  # sacrebleu cuts the end's space first
        texts = [text.rstrip() for text in texts]
    split = tokenizer(metric.tokenize)
    return [" ".join(split(text)) for text in texts]


def shape_of(metric: BLEU | CIDErD) -> Shape:
    """What is counted in texts that were read."""
    tokens = "char" if metric.tokenize == "char" else "words"
    return Shape(tokenize=tokens, low=1, high=metric.order, clip=True)


def known_of(metric: BLEU | CIDErD, references: References) -> Known:
    """The references of all items."""
    texts, of = distinct(read(metric, list(chain.from_iterable(references))))
    return Known(texts=tuple(texts), of=of, first=np.cumsum([0, *map(len, references)]))


def every_order(features: Features, size: int) -> Matrix:
    """[texts, features] 1 where the text has the feature."""
    total: Matrix = sum(by_order(features, size))
    return total


def by_order(features: Features, size: int) -> list[Matrix]:
    """For each order [texts, features] 1 where the text has the feature."""
    matrices = []
    for starts in features.starts:
        ids = features.ids[starts[0] : starts[-1]]
        ones = np.ones(len(ids), dtype=np.int64)
        matrices.append(csr_array((ones, ids, starts - starts[0]), (len(starts) - 1, size)))
    return matrices


class ConstantBLEU:
    """BLEU of constant outputs.

    Args:
        metric: BLEU with its settings.
        references: [items] the references of each item.
    """

    def __init__(self, metric: BLEU, references: References) -> None:
        self.metric, self.known = metric, known_of(metric, references)
        self.vocabulary, features = learn(self.known.texts, shape_of(metric))
        of_texts = every_order(features, self.vocabulary.features)
        ones = np.ones(len(self.known.of), dtype=np.int64)
        self.items = (self.known.by_item(ones) @ of_texts).sign().T.tocsr()  # [features, items]
        self.lengths = features.lengths[self.known.of]
        self.combine = metric.score(Outputs(ids=("1",), texts=("a",), references=(("a",),))).combine

    def read(self, texts: Sequence[str]) -> list[str]:
        """The texts, split into tokens."""
        return read(self.metric, texts)

    def scores(self, texts: Sequence[str]) -> FloatArray:
        """[texts] corpus BLEU of each as the output for every item."""
        features = look_up(texts, self.vocabulary)
        frequencies = self.items.sum(axis=1)
        matches = [known @ frequencies for known in by_order(features, len(frequencies))]
        lengths, n = features.lengths, self.items.shape[1]
        closest, row = self._closest(lengths)
        sums = [n * lengths, closest.sum(axis=1)[row], *matches, *(n * self._totals(lengths))]
        return self._combined(np.stack(sums, axis=1))

    def joined(self, texts: Sequence[str], chosen: Sequence[str]) -> FloatArray:
        """[texts] corpus BLEU if each joins the chosen sentences.

        Every item has the sentence of the set with the highest BLEU+1 there (its first if equal).
        """
        best = np.full(self.items.shape[1], -1.0)
        state = np.zeros((2 + 2 * self.metric.order, len(best)))
        for text in chosen:
            scores, statistics = self._by_item([text])
            better = scores[0] > best + 1e-9
            best[better] = scores[0, better]
            for row, values in zip(state, statistics, strict=True):
                row[better] = np.broadcast_to(values[0], better.shape)[better]
        sums, step = [], max(1, CELLS // len(best))
        for begin in range(0, len(texts), step):
            scores, statistics = self._by_item(texts[begin : begin + step])
            better = scores > best + 1e-9
            mine = np.stack([(values * better).sum(axis=1) for values in statistics], axis=1)
            sums.append(mine + ~better @ state.T)
        return self._combined(np.concatenate(sums))

    def _by_item(self, texts: Sequence[str]) -> tuple[FloatArray, list[IntArray]]:
        """[texts, items] BLEU+1, 0 to 1, and what BLEU sums up: each [texts, items or 1]."""
        features = look_up(texts, self.vocabulary)
        orders = by_order(features, self.items.shape[0])
        matches = [(known @ self.items).toarray() for known in orders]
        totals = list(self._totals(features.lengths)[:, :, None])
        lengths = features.lengths[:, None]
        closest, row = self._closest(features.lengths)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(np.arange(int(lengths.max(initial=0)) + 2))
            scores = np.minimum(0.0, 1 - closest[row] / lengths)
            for k, (shared, total) in enumerate(zip(matches, totals, strict=True)):
                plus = k > 0  # one is added above order 1
                scores += (logs[shared + plus] - logs[total + plus]) / len(matches)
        scores = np.asarray(np.where(matches[0] == 0, 0.0, np.exp(scores)))
        return scores, [lengths, closest[row], *matches, *totals]

    def _totals(self, lengths: IntArray) -> IntArray:
        """[orders, texts] the n-grams of each text."""
        return np.asarray(np.maximum(lengths - np.arange(self.metric.order)[:, None], 0))

    def _combined(self, sums: FloatArray | IntArray) -> FloatArray:
        if self.combine is None:
            return np.full(len(sums), np.nan)
        return self.combine(sums.astype(np.float64))

    def _closest(self, lengths: IntArray) -> tuple[IntArray, IntArray]:
        """[distinct lengths, items] the closest reference length, and the row of each length."""
        levels, row = np.unique(lengths, return_inverse=True)
        far = int(max(levels.max(initial=0), self.lengths.max(initial=0))) + 1
        keys = np.abs(self.lengths - levels[:, None]) * far + self.lengths
        return np.minimum.reduceat(keys, self.known.first[:-1], axis=1) % far, row


class ConstantCIDEr:
    """CIDEr-D of constant outputs.

    The score of an item is the mean over its references of a sum of cosines. For candidates of one
    length the references' sides of all cosines add up to one matrix, items by features.

    Args:
        metric: with its settings.
        references: [items] the references of each item, at least two items.

    Raises:
        UsageError: one item only, where nothing is rarer than anything else.
    """

    def __init__(self, metric: CIDErD, references: References) -> None:
        if len(references) < 2:
            raise UsageError("CIDEr is undefined for a single item")
        self.metric, self.known, self.n = metric, known_of(metric, references), len(references)
        counts = np.diff(self.known.first)
        self.share = FACTOR / metric.order / np.repeat(counts, counts)

    def read(self, texts: Sequence[str]) -> list[str]:
        """The texts, split into tokens."""
        return read(self.metric, texts)

    def scores(self, texts: Sequence[str]) -> FloatArray:
        """[texts] corpus score of each as the output for every item."""
        sides, worth, lengths = self._sides(texts)
        scores = np.zeros(len(texts))
        for length in np.unique(lengths[len(self.known.texts) :]):
            rows = np.flatnonzero(lengths[len(self.known.texts) :] == length)
            scores[rows] = sides[rows] @ (self._weights(lengths, length).sum(axis=0) @ worth)
        return scores / self.n

    def joined(self, texts: Sequence[str], chosen: Sequence[str]) -> FloatArray:
        """[texts] corpus score if each joins the chosen; every item has its best sentence."""
        sides, worth, lengths = self._sides([*chosen, *texts])
        own = lengths[len(self.known.texts) :]
        best = np.zeros(self.n)
        scores = np.zeros(len(own))
        for among in (np.arange(len(own)) < len(chosen), np.arange(len(own)) >= len(chosen)):
            for length in np.unique(own[among]):
                rows = np.flatnonzero((own == length) & among)
                items = (self._weights(lengths, length) @ worth).T.tocsr()
                step = max(1, CELLS // self.n)
                for begin in range(0, len(rows), step):
                    some = rows[begin : begin + step]
                    by_item = (sides[some] @ items).toarray()
                    if among[0]:
                        best = np.maximum(best, by_item.max(axis=0))
                    else:
                        scores[some] = np.maximum(best, by_item).sum(axis=1)
        return scores[len(chosen) :] / self.n

    def _sides(self, texts: Sequence[str]) -> tuple[Matrix, Matrix, IntArray]:
        """[texts, features] of candidates, [references, features], and all lengths in bigrams.

        Their product is the sum over orders of the cosines, before the length penalty.
        """
        n_known = len(self.known.texts)
        vocabulary, features = learn((*self.known.texts, *texts), shape_of(self.metric))
        size, base = vocabulary.features, first_of(vocabulary)
        orders, present = by_order(features, size), every_order(features, size)
        items = self.known.by_item(self.share) @ present[:n_known]
        frequencies = np.diff(items.tocsc().indptr)[base]
        idf = np.log(self.n) - np.log(np.maximum(frequencies, 1))
        # (1 + ... + 1)^2 = 1 + 3 + 5 + ...: the k-th occurrence adds 2 k - 1 to a square
        squares = (2 * (np.arange(size) - base) + 1) * idf**2
        norms = [np.sqrt(known @ squares) for known in orders]
        inverse = [np.divide(1, norm, out=np.zeros_like(norm), where=norm > 0) for norm in norms]
        every: Matrix = sum(
            diags_array(scale) @ known for scale, known in zip(inverse, orders, strict=True)
        )
        to_base = csr_array((np.ones(size), base, np.arange(size + 1)), (size, size))
        counts = (every @ to_base).tocsr()  # of each n-gram, over the norm
        worth = counts[:n_known] @ diags_array(idf**2)
        clipped = present[:n_known].multiply(worth @ to_base.T)
        return every.tocsr()[n_known:], clipped, np.maximum(features.lengths - 1, 0)

    def _weights(self, lengths: IntArray, length: int) -> Matrix:
        """[items, references] what each reference counts beside a candidate of a length."""
        off = lengths[self.known.of] - length
        penalties = np.exp(-(off**2) / (2 * self.metric.sigma**2))
        return self.known.by_item(self.share * penalties)


def first_of(vocabulary: Vocabulary) -> IntArray:
    """[features] the first occurrence's feature of each feature's n-gram."""
    rows = [np.repeat(first[:-1], np.diff(first)) for first in vocabulary.firsts]
    return np.concatenate(rows)
