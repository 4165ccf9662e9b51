"""Texts as padded arrays of tokens, and the order in which batches of like length are visited."""

from collections.abc import Mapping, Sequence
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
        return np.stack(
            [(self.source > 0).sum(axis=1), (self.text > 0).sum(axis=1)], axis=1
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrainingData:
    """The training data of one network.

    Attributes:
        seed: of what is drawn.
        rated: rated texts; validation: those that choose the epoch to keep.
        synthetic: all data of the first epochs, the rated included; None without synthetic errors.
        sizes: entries in the dictionary of each side.
    """

    seed: int
    rated: Encoded
    validation: Encoded
    synthetic: Encoded | None
    sizes: Mapping[str, int]


def padded(rows: Sequence[Sequence[int]]) -> TokenArray:
    """[n, longest] rows of ids, 0 after the end; at least one column."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    whole = np.zeros((len(rows), max(1, int(lengths.max(initial=0)))), dtype=np.int32)
    inside = np.arange(whole.shape[1]) < lengths[:, None]
    whole[inside] = np.fromiter(chain.from_iterable(rows), dtype=np.int32)
    return whole


def epoch_batches(
    lengths: IntArray, size: int, rng: np.random.Generator
) -> list[IntArray]:
    """The rows of each batch of one epoch, in the order of visits: texts of about one length.

    Args:
        lengths: [n] tokens of the texts.
        size: most rows of a batch; batches differ by at most one row.
        rng: draws the order of batches, and which texts of about one length are together.
    """
    blurred = lengths + MIXING * rng.random(len(lengths))
    order = np.argsort(blurred, kind="stable")
    batches = np.array_split(order, max(1, -(-len(lengths) // size)))
    return [batches[i] for i in rng.permutation(len(batches))]
