"""A rated pool as postings: for each n-gram feature, the rated texts that hold it.

Rated texts are sorted by length and cut into blocks whose counters fit the first-level cache; a
posting is a 16-bit place within its block. The commonest features are no postings but bits of each
rated text, because a population count over many texts at a time is cheaper than a million
additions. For one output and one block the compiled loop counts the matches of every order.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from refless.loops import Loops
from refless.metrics.matching import Exclusions
from refless.registry.arrays import FloatArray, IntArray
from refless.text.ngrams import Features, Vocabulary

loops = Loops("postings")
matching = Loops("matching")

BLOCK = 8192  # rated texts a block: its counters fit the first-level cache
WORDS = 8  # 32-bit words of common features a text
BITS_FOR_ORDERS = 3  # the packed counters count three orders
Columns = tuple[npt.NDArray[np.integer], ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Postings:
    """A rated pool, ready to be matched.

    Attributes:
        block: rated texts a block; low: the lowest order of n-grams.
        rows: [n] pool row of each rated text, sorted by length, ties by row.
        lengths: [n] tokens of each, in that order.
        entry_starts: [features + 1] where the entries of a feature begin: its blocks, ascending.
        entry_blocks: [entries] the block of each.
        member_starts: [entries + 1] where the members of each begin.
        members: [postings] rated texts as places within the block.
        common: [features] place of a common feature among the bits, -1 for the others.
        bits: [blocks, words, texts of a block] the common features that each rated text holds.
        words: [orders + 1] the words of order k are words[k]..words[k + 1].
    """

    block: int
    low: int
    rows: IntArray
    lengths: IntArray
    entry_starts: IntArray
    entry_blocks: npt.NDArray[np.int32]
    member_starts: IntArray
    members: npt.NDArray[np.uint16]
    common: npt.NDArray[np.int16]
    bits: npt.NDArray[np.uint32]
    words: IntArray

    def similarities(self, outputs: Features, begin: int, end: int) -> FloatArray:
        """[end - begin, rated texts] BLEU* of some outputs, 0 for those that are too short.

        Args:
            outputs: texts as features of the pool's vocabulary; begin, end: which of them.
        """
        out = np.zeros((end - begin, len(self.rows)))
        matching.similarities_loop(
            _columns(outputs),
            self._arrays(),
            self.block,
            begin,
            end,
            self.rows,
            out,
        )
        return out

    def add_sums(
        self,
        outputs: Features,
        span: tuple[int, int],
        exclusions: Exclusions,
        tau: float,
        values: IntArray,
        sums: tuple[IntArray, IntArray],
    ) -> None:
        """Adds to `sums` how many rated texts have a BLEU* >= tau, and the sum of their values.

        Args:
            outputs: texts as features of the pool's vocabulary; span: first and last of them.
            exclusions: what each output must not see, by places among `rows`; tau: from 0 to 1.
            values: [rated texts] whole numbers in the order of `rows`.
            sums: [outputs] counts, and sums of values.
        """
        hidden = exclusions.group, exclusions.starts, exclusions.places
        matching.sums_loop(
            _columns(outputs),
            self._arrays(),
            self.block,
            *span,
            hidden,
            tau,
            values,
            *sums,
        )

    def placed(self, held: Exclusions | None, outputs: int) -> Exclusions:
        """The exclusions of so many outputs, by places among `rows`; None excludes nothing."""
        if held is None:
            none = np.zeros(0, dtype=np.int64)
            return Exclusions(np.full(outputs, -1), np.zeros(1, dtype=np.int64), none)
        place = np.empty(len(self.rows), dtype=np.int64)
        place[self.rows] = np.arange(len(self.rows))
        return Exclusions(held.group, held.starts, place[held.places])

    def _arrays(self) -> tuple[object, ...]:
        """The arrays for the loops, in their order."""
        entries = self.entry_starts, self.entry_blocks, self.member_starts, self.members
        return (self.low, self.lengths, *entries, self.common, self.bits, self.words)


def postings_of(features: Features, vocabulary: Vocabulary) -> Postings:
    """The postings of rated texts that are given as features of their vocabulary.

    Without clipping, or with other than three orders, no feature is kept as a bit.
    """
    shape = vocabulary.shape
    n_features = vocabulary.features
    rows = by_length(features.lengths)
    order_starts = vocabulary.firsts
    n_words = WORDS if shape.clip and shape.orders == BITS_FOR_ORDERS else 0
    common, words = _common(features, order_starts, n_words)
    occurrences = features.ids, features.starts, rows, common
    n_members, n_entries = loops.count_loop(*occurrences, n_features, BLOCK)
    entry_starts = np.concatenate([[0], np.cumsum(n_entries)])
    member_starts = np.concatenate([[0], np.cumsum(n_members)])
    entry_blocks, starts, members = loops.fill_loop(
        *occurrences, entry_starts, member_starts, BLOCK
    )
    return Postings(
        block=BLOCK,
        low=shape.low,
        rows=rows,
        lengths=features.lengths[rows],
        entry_starts=entry_starts,
        entry_blocks=entry_blocks,
        member_starts=starts,
        members=members,
        common=common,
        bits=loops.bits_loop(*occurrences, int(words[-1]), BLOCK),
        words=words,
    )


def by_length(lengths: IntArray) -> IntArray:
    """[n] the order of rated texts in postings: sorted by length, ties by row."""
    return np.lexsort((np.arange(len(lengths)), lengths))


def _common(
    features: Features, order_starts: IntArray, n_words: int
) -> tuple[npt.NDArray[np.int16], IntArray]:
    """Places of the features kept as bits, and where the words of each order begin.

    Each order has whole words, as many as it has features among the commonest of all.
    """
    counts = loops.occurrences_loop(features.ids, int(order_starts[-1]))
    common = np.full(len(counts), -1, dtype=np.int16)
    commonest = np.lexsort((np.arange(len(counts)), -counts))[: 32 * n_words]
    order = np.searchsorted(order_starts, commonest, side="right") - 1
    n_of_order = np.bincount(order, minlength=len(order_starts) - 1)
    n_words_of_order = np.rint(n_of_order / 32).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(n_words_of_order)])
    for k, (begin, end) in enumerate(pairwise(order_starts)):
        ranked = begin + np.lexsort((np.arange(end - begin), -counts[begin:end]))
        best = ranked[: 32 * n_words_of_order[k]]
        best = best[counts[best] > 0]
        common[best] = 32 * starts[k] + np.arange(len(best))
    return common, starts


def _columns(outputs: Features) -> Columns:
    """The arrays of outputs for the loops, in their order."""
    return outputs.ids, outputs.weights, outputs.starts, outputs.lengths
