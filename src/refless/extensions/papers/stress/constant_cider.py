"""What an output that is the same for every item scores by CIDEr and CIDEr-D.

The score is the mean over references of a sum of cosines. For candidates of one length the
references' sides of all cosines add up, feature by feature, to one table; a candidate's score is
the sum over its features, divided by its own norm.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.extensions.papers.stress.constant import (
    References,
    first_of,
    frequencies_of,
    in_parts,
    known_of,
    read,
    shape_of,
)
from refless.loops import Loops
from refless.metrics.references.cider import FACTOR, CIDEr, CIDErD
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import UsageError
from refless.text.ngrams import learn

loops = Loops("refless.extensions.papers.stress.loops")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Side:
    """References and candidates as features, and the references' side of the cosines.

    Attributes:
        ids, starts: features of the references, then of the candidates; without clipping each
            occurrence of an n-gram is its first one here.
        size: number of features.
        lengths: of the texts, in bigrams.
        norms: [orders, texts] Euclidean norms of tf-idf.
        shares: for each order [feature occurrences] what a reference's feature adds.
    """

    ids: IntArray
    starts: IntArray
    size: int
    lengths: IntArray
    norms: FloatArray
    shares: list[FloatArray]


class ConstantCIDEr:
    """CIDEr-D or CIDEr of constant outputs.

    Args:
        metric: with its settings.
        references: [items] the references of each item, at least two items.

    Raises:
        UsageError: one item only, where nothing is rarer than anything else.
    """

    def __init__(self, metric: CIDEr, references: References) -> None:
        if len(references) < 2:
            raise UsageError("CIDEr is undefined for a single item")
        self.metric, self.known = metric, known_of(metric, references)
        counts = np.diff(self.known.first)
        self.n = len(counts)
        self.item = np.repeat(np.arange(self.n), counts)
        self.share = FACTOR / metric.order / np.repeat(counts, counts)

    def read(self, texts: Sequence[str]) -> list[str]:
        """The texts, split into tokens."""
        return read(self.metric, texts)

    def scores(self, texts: Sequence[str]) -> FloatArray:
        """[texts] corpus score of each as the output for every item."""
        side = self._side(texts)
        rest = len(self.known.texts)
        found = np.zeros(len(texts))
        lengths, starts = side.lengths[rest:], side.starts[:, rest:]
        for length in np.unique(lengths):
            rows = np.flatnonzero(lengths == length)
            values = self._values(side, int(length))
            for k in range(self.metric.order):
                begins, ends = starts[k, rows], starts[k, rows + 1]
                sums = loops.spans_loop(side.ids, begins, ends, values)
                norms = side.norms[k, rest + rows]
                found[rows] += np.divide(sums, norms, out=np.zeros(len(rows)), where=norms > 0)
        return found / self.n

    def joined(self, texts: Sequence[str], chosen: Sequence[str]) -> FloatArray:
        """[texts] corpus score if each joins the chosen; every item has its best sentence."""
        side = self._side([*chosen, *texts])
        postings = self._sorted(side)
        rest, extra = len(self.known.texts), len(chosen)
        distinct, row = np.unique(side.lengths, return_inverse=True)
        penalties = np.stack([self._penalty(side, int(length)) for length in distinct])
        features = (side.ids, side.starts)
        best, one = np.zeros(self.n), np.zeros(self.n)
        for c in range(rest, rest + extra):
            args = (*features, c, side.norms, *postings, penalties[row[c]], one)
            loops.cider_items_loop(*args)
            best = np.maximum(best, one)
        found = np.zeros(len(texts))
        offset = rest + extra

        def part(begin: int, end: int) -> None:
            args = (*features, offset + begin, offset + end, side.norms, *postings)
            loops.cider_sets_loop(*args, penalties, row, best, found[begin:end])

        in_parts(part, len(texts))
        return found / self.n

    def _side(self, texts: Sequence[str]) -> _Side:
        """Everything that the candidates of one block need."""
        metric = self.metric
        vocabulary, features = learn((*self.known.texts, *texts), shape_of(metric))
        size, base = vocabulary.features, first_of(vocabulary)
        items = frequencies_of(features, self.known, size)[base]
        idf = np.log(self.n) - np.log(np.maximum(items, 1))
        # (1 + ... + 1)^2 = 1 + 3 + 5 + ...: the k-th occurrence adds 2 k - 1 to a square
        squares = (2 * (np.arange(size) - base) + 1) * idf**2
        norms = np.stack(
            [
                np.sqrt(loops.spans_loop(features.ids, starts[:-1], starts[1:], squares))
                for starts in features.starts
            ]
        )
        clip = isinstance(metric, CIDErD)
        shares = []
        for starts, norm in zip(features.starts, norms, strict=True):
            total = int(np.diff(starts)[self.known.of].sum())
            share = np.zeros(total)
            args = (features.ids, starts, self.known.of, self.share, base, idf, norm, clip)
            loops.shares_loop(*args, share)
            shares.append(share)
        return _Side(
            ids=(features.ids if clip else base[features.ids]).astype(np.int64),
            starts=features.starts,
            size=size,
            lengths=np.maximum(features.lengths - 1, 0),
            norms=norms,
            shares=shares,
        )

    def _penalty(self, side: _Side, length: int) -> FloatArray:
        """[longest + 1] what a reference of each length counts beside a candidate of `length`."""
        others = np.arange(int(side.lengths[: len(self.known.texts)].max(initial=0)) + 1)
        if not isinstance(self.metric, CIDErD):
            return np.ones(len(others))
        return np.asarray(np.exp(-((others - length) ** 2) / (2 * self.metric.sigma**2)))

    def _values(self, side: _Side, length: int) -> FloatArray:
        """[features] the references' side of all cosines, for candidates of one length."""
        values = np.zeros(side.size)
        penalties = self._penalty(side, length)[side.lengths[self.known.of]]
        for starts, shares in zip(side.starts, side.shares, strict=True):
            args = (side.ids, starts, self.known.of, shares, penalties)
            loops.tallies_loop(*args, values)
        return values

    def _sorted(self, side: _Side) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
        """The shares by feature: begins, items, values and the references' lengths."""
        counts = np.zeros(side.size, dtype=np.int64)
        for starts in side.starts:
            loops.counts_loop(side.ids, starts, self.known.of, counts)
        begins = np.concatenate([[0], np.cumsum(counts)])
        place = begins[:-1].copy()
        items = np.empty(begins[-1], dtype=np.int64)
        values, texts = np.empty(begins[-1]), np.empty(begins[-1], dtype=np.int64)
        for starts, shares in zip(side.starts, side.shares, strict=True):
            args = (side.ids, starts, self.known.of, self.item, shares)
            loops.sorted_loop(*args, place, items, values, texts)
        return begins, items, values, side.lengths[texts]
