"""Texts as padded arrays of tokens, and the order in which batches of like length are visited."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from refless.registry.arrays import FloatArray, IntArray

TokenArray = npt.NDArray[np.int32]
MIXING = 2.0  # tokens by which lengths are blurred, so that batches differ from epoch to epoch


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


def epoch_batches(
    lengths: IntArray,
    size: int,
    rng: np.random.Generator,
    sources: IntArray | None = None,
) -> list[IntArray]:
    """The rows of each batch of one epoch, in the order of visits: texts of about one length.

    Args:
        lengths: [n] tokens of the texts.
        size: most rows of a batch; batches differ by at most one row.
        rng: draws the order of batches, and which texts of about one length are together.
        sources: [n] numbers from 0; with them texts of one source stay together, at their mean
            length.
    """
    keys = own = lengths + MIXING * rng.random(len(lengths))
    if sources is not None:
        means = np.bincount(sources, lengths) / np.maximum(np.bincount(sources), 1)
        keys = (means + MIXING * rng.random(len(means)))[sources]
    batches = np.array_split(np.lexsort((own, keys)), max(1, -(-len(lengths) // size)))
    return [batches[i] for i in rng.permutation(len(batches))]
