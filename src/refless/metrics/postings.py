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
# a feature that a larger share of texts hold is common: as a bit it takes no more memory
SHARE = 1 / 16
MOST_WORDS = 340  # 32-bit words of common features a text, of each order
BITS_FOR_ORDERS = 3  # the packed counters count three orders
Columns = tuple[npt.NDArray[np.integer], ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Postings:
    """A rated pool, ready to be matched.

    Attributes:
        low: the lowest order of n-grams.
        rows: [n] pool row of each rated text, sorted by length, ties by row.
        lengths: [n] tokens of each, in that order.
        entries: [features + entries] the first entry of each feature, then of each entry the next
            one of its feature, in a later block; if there is none, the number of entries. An entry
            is a feature in a block.
        block_starts: [blocks + 1] where the entries of each block begin.
        member_starts: [entries + 1] where the members of each begin.
        members: [postings] rated texts as places within the block.
        common: [features] place of a common feature among the bits, -1 for the others.
        bits: [blocks, words, texts of a block] the common features that each rated text holds.
        words: [orders + 1] the words of order k are words[k]..words[k + 1].
    """

    low: int
    rows: IntArray
    lengths: IntArray
    entries: npt.NDArray[np.int32]
    block_starts: IntArray
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
        columns = _columns(outputs, begin, end)
        matching.similarities_loop(columns, self._arrays(), self.rows, out)
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
        own = slice(*span)
        columns = _columns(outputs, *span)
        hidden = exclusions.group[own], exclusions.starts, exclusions.places
        own_sums = sums[0][own], sums[1][own]
        matching.sums_loop(columns, self._arrays(), hidden, tau, values, *own_sums)

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
        members = self.block_starts, self.member_starts, self.members
        bits = self.common, self.bits, self.words
        return (self.low, self.lengths, self.entries, *members, *bits)


def postings_of(features: Features, vocabulary: Vocabulary) -> Postings:
    """The postings of rated texts that are given as features of their vocabulary.

    Without clipping, or with other than three orders, no feature is kept as a bit.
    """
    shape = vocabulary.shape
    rows = by_length(features.lengths)
    order_starts = vocabulary.firsts
    has_bits = shape.clip and shape.orders == BITS_FOR_ORDERS
    most_words = MOST_WORDS if has_bits else 0
    occurrences = features.ids, features.starts, rows
    n_members, n_entries = loops.occurrences_loop(
        *occurrences, vocabulary.features, BLOCK
    )
    least = SHARE * len(rows)
    common, words = _common(n_members, order_starts, least, most_words)
    rare = common < 0
    sizes = n_members[rare].sum(), n_entries[rare].sum(), words[-1]
    filled = loops.fill_loop(*occurrences, common, *sizes, BLOCK)
    entries, block_starts, member_starts, members, bits = filled
    return Postings(
        low=shape.low,
        rows=rows,
        lengths=features.lengths[rows],
        entries=entries,
        block_starts=block_starts,
        member_starts=member_starts,
        members=members,
        common=common,
        bits=bits,
        words=words,
    )


def by_length(lengths: IntArray) -> IntArray:
    """[n] the order of rated texts in postings: sorted by length, ties by row."""
    return np.lexsort((np.arange(len(lengths)), lengths))


def _common(
    counts: IntArray, order_starts: IntArray, least: float, most_words: int
) -> tuple[npt.NDArray[np.int16], IntArray]:
    """Places of the features kept as bits, and where the words of each order begin.

    Each order has whole words, about as many as it has features that over `least` texts hold.
    """
    common = np.full(len(counts), -1, dtype=np.int16)
    starts = [0]
    for begin, end in pairwise(order_starts):
        own = counts[begin:end]
        n_words = min(round(np.count_nonzero(own > least) / 32), most_words)
        best = np.argsort(-own, kind="stable")[: 32 * n_words]
        common[begin + best] = 32 * starts[-1] + np.arange(len(best))
        starts.append(starts[-1] + n_words)
    return common, np.array(starts)


def _columns(outputs: Features, begin: int, end: int) -> Columns:
    """The arrays of some outputs for the loops, in their order."""
    starts = np.ascontiguousarray(outputs.starts[:, begin : end + 1])
    return outputs.ids, outputs.weights, starts, outputs.lengths[begin:end]
