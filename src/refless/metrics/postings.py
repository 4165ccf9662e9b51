"""A rated pool as postings: for each n-gram feature, the rated texts that hold it.

Rated texts are sorted by length and cut into blocks whose counters fit the first-level cache; a
posting is a 16-bit place within its block. The commonest features are no postings but bits of each
rated text, because a population count over many texts at a time is cheaper than a million
additions.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from refless.loops import Loops
from refless.registry.arrays import IntArray
from refless.text.ngrams import Features

loops = Loops("postings")

BLOCK = 8192  # rated texts a block: its counters fit the first-level cache
WORDS = 8  # 32-bit words of common features a text
BITS_FOR_ORDERS = 3  # the packed counters of matching.py count three orders

UintArray = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Postings:
    """A rated pool, ready to be matched.

    Attributes:
        orders: number of n-gram orders.
        low: the lowest order.
        order: [n] pool row of each rated text, sorted by length, ties by row.
        lengths: [n] tokens of each rated text, in that order.
        order_starts: [orders + 1] the features of order k are order_starts[k]..order_starts[k+1].
        block_starts: [blocks + 1] where each block's entries begin in `features`.
        features: [entries] the features that occur in the block, ascending.
        feature_starts: [entries + 1] where each one's postings begin.
        members: [postings] rated texts as places within the block.
        common: [features] place of a common feature among the bits, -1 for the others.
        bits: [words, n] the common features that each rated text holds.
        words: [orders + 1] the words of order k are words[k]..words[k+1].
    """

    orders: int
    low: int
    order: IntArray
    lengths: IntArray
    order_starts: IntArray
    block_starts: IntArray
    features: npt.NDArray[np.int32]
    feature_starts: IntArray
    members: npt.NDArray[np.uint16]
    common: npt.NDArray[np.int16]
    bits: UintArray
    words: IntArray

    def __len__(self) -> int:
        return len(self.lengths)


def postings_of(
    features: Features, order_starts: IntArray, low: int, *, clip: bool, words: int | None = None
) -> Postings:
    """The postings of rated texts that are given as features.

    Args:
        features: the texts.
        order_starts: [orders + 1] first feature of each order, and the end.
        low: the lowest order.
        clip: without clipping no feature is kept as a bit, nor are those that weigh more than 1.
        words: 32-bit words of common features; by default 8 for three orders, clipped.
    """
    orders = len(order_starts) - 1
    order = np.lexsort((np.arange(len(features.lengths)), features.lengths))
    if words is None:
        words = WORDS if clip and orders == BITS_FOR_ORDERS else 0
    common, word_starts = _common(features, order_starts, words)
    bits = loops.bits(features.ids, features.starts, order, common, int(word_starts[-1]))
    blocks = range(0, len(order), BLOCK)
    parts = [
        loops.block(features.ids, features.starts, order[b : b + BLOCK], common, order_starts[-1])
        for b in blocks
    ]
    counts = np.concatenate([np.zeros(0, dtype=np.int64), *(c for _, c, _ in parts)])
    return Postings(
        orders=orders,
        low=low,
        order=order,
        lengths=features.lengths[order],
        order_starts=order_starts,
        block_starts=np.cumsum([0, *(len(f) for f, _, _ in parts)]),
        features=np.concatenate([np.zeros(0, dtype=np.int32), *(f for f, _, _ in parts)]),
        feature_starts=np.concatenate([[0], np.cumsum(counts)]),
        members=np.concatenate([np.zeros(0, dtype=np.uint16), *(m for _, _, m in parts)]),
        common=common,
        bits=bits,
        words=word_starts,
    )


def _common(
    features: Features, order_starts: IntArray, words: int
) -> tuple[npt.NDArray[np.int16], IntArray]:
    """The features kept as bits: the commonest that weigh 1, in whole words of one order each."""
    counts = np.bincount(features.ids, minlength=int(order_starts[-1]))
    if len(features.weights):
        counts[features.ids[features.weights > 1]] = 0
    common = np.full(len(counts), -1, dtype=np.int16)
    ranked = np.lexsort((np.arange(len(counts)), -counts))[: 32 * words]
    of_order = np.searchsorted(order_starts, ranked, side="right") - 1
    wanted = np.bincount(of_order, minlength=len(order_starts) - 1) / 32
    share = np.rint(wanted).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(share)])
    for k, (begin, end) in enumerate(pairwise(order_starts)):
        best = begin + np.lexsort((np.arange(end - begin), -counts[begin:end]))[: 32 * share[k]]
        best = best[counts[best] > 0]
        common[best] = 32 * starts[k] + np.arange(len(best))
    return common, starts
