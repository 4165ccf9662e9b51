"""A rated pool as postings: for each n-gram feature, the rated texts that hold it.

Rated texts are sorted by length and cut into blocks whose counters fit the first-level cache; a
posting is a 16-bit place within its block. For one output and one block the compiled loop counts
the matches of every order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refless.loops import Loops
from refless.registry.arrays import FloatArray, IntArray
from refless.text.ngrams import Features

loops, matching = Loops("postings"), Loops("matching")

BLOCK = 8192  # rated texts a block: its counters fit the first-level cache


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Rated texts of about one length.

    Attributes:
        rows: [block] pool row of each, sorted by length, ties by row.
        lengths: [block] tokens of each.
        slots: [features] a feature's place among those that occur in the block, -1 for the others.
        starts: [occurring features + 1] where each one's postings begin.
        members: [postings] rated texts as places within the block.
    """

    rows: IntArray
    lengths: IntArray
    slots: npt.NDArray[np.int32]
    starts: IntArray
    members: npt.NDArray[np.uint16]


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """A rated pool, ready to be matched: its size, the lowest order of its n-grams, its blocks."""

    size: int
    low: int
    blocks: tuple[Block, ...]

    def similarities(
        self, outputs: Features, begin: int, end: int, *, cosine: bool = False
    ) -> FloatArray:
        """[end - begin, rated texts] BLEU* of some outputs, 0 for those that are too short.

        Args:
            outputs: texts as features of the pool's vocabulary; begin, end: which of them.
            cosine: instead, the mean over orders of the cosine of clipped n-gram counts.
        """
        out = np.zeros((end - begin, self.size))
        columns = outputs.ids, outputs.weights, outputs.starts, outputs.lengths
        for block in self.blocks:
            arrays = self.low, block.lengths, block.slots, block.starts, block.members
            matching.similarities_loop(columns, arrays, begin, end, cosine, block.rows, out)
        return out


def postings_of(features: Features, n_features: int, low: int) -> Postings:
    """The postings of rated texts that are given as features; low: the lowest order."""
    blocks = tuple(_blocks(features, n_features))
    return Postings(len(features.lengths), low, blocks)


def _blocks(features: Features, n_features: int) -> Iterator[Block]:
    order = np.lexsort((np.arange(len(features.lengths)), features.lengths))
    for begin in range(0, len(order), BLOCK):
        rows = order[begin : begin + BLOCK]
        present, counts, members = loops.block(features.ids, features.starts, rows, n_features)
        slots = np.full(n_features, -1, dtype=np.int32)
        slots[present] = np.arange(len(present))
        starts = np.concatenate([[0], np.cumsum(counts)])
        yield Block(rows, features.lengths[rows], slots, starts, members)
