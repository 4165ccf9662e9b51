"""Texts as padded arrays of tokens, and the order in which batches of like length are visited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from refless.records import FloatArray, IntArray

TokenArray = npt.NDArray[np.int32]
GOLDEN = (5**0.5 - 1) / 2
MIXING = 2.0  # tokens by which lengths are blurred, so that batches differ from pass to pass


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Encoded:
    """Pairs of source and text as token ids, 0 after the end, and their ratings.

    Attributes:
        source: [n, longest source], text: [n, longest text].
        y: [n] ratings, standardised; 0 where unknown.
    """

    source: TokenArray
    text: TokenArray
    y: FloatArray

    def __len__(self) -> int:
        return len(self.y)

    @property
    def lengths(self) -> IntArray:
        """[n, 2] tokens of source and text."""
        return np.stack([(self.source > 0).sum(axis=1), (self.text > 0).sum(axis=1)], axis=1)

    @property
    def sources(self) -> IntArray:
        """[n] numbers of the distinct sources, from 0."""
        return np.unique(self.source, axis=0, return_inverse=True)[1].reshape(-1)


def padded(rows: Sequence[Sequence[int]]) -> TokenArray:
    """[n, longest] rows of ids, 0 after the end; at least one column."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    whole = np.zeros((len(rows), max(1, int(lengths.max(initial=0)))), dtype=np.int32)
    inside = np.arange(whole.shape[1]) < lengths[:, None]
    whole[inside] = np.fromiter(chain.from_iterable(rows), dtype=np.int32)
    return whole


def ordered_batches(
    text_lengths: IntArray,
    count: int,
    rng: np.random.Generator,
    sources: IntArray | None = None,
) -> IntArray:
    """[count, rows] one pass: batches of texts of about one length, in the order of visits.

    Short and long batches alternate evenly (steps of the golden ratio through the lengths), so
    that members trained side by side, each in its own order, read texts of like length at a time.
    Batches differ by at most one row; -1 fills up the smaller ones. With `sources` (numbers from
    0) texts of one source stay together, at their mean length.
    """
    keys = own = text_lengths + MIXING * rng.random(len(text_lengths))
    if sources is not None:
        means = np.bincount(sources, text_lengths) / np.maximum(np.bincount(sources), 1)
        keys = (means + MIXING * rng.random(len(means)))[sources]
    batches = np.array_split(np.lexsort((own, keys)), count)
    rows = np.full((count, len(batches[0])), -1, dtype=np.int64)
    place = np.argsort(np.argsort((np.arange(count) * GOLDEN) % 1.0))
    for visit, which in enumerate(place):
        rows[visit, : len(batches[which])] = batches[which]
    return rows
