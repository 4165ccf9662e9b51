"""Fixed predictions as replicates, for tests of measures."""

from __future__ import annotations

import numpy as np

from refless.evaluation.jackknife import Replicates, Split
from refless.registry.arrays import FloatArray, IntArray


def split_of(human: FloatArray, groups: IntArray | None = None, parts: int = 20) -> Split:
    """Five blocks and so many parts, of groups in the order of their numbers."""
    numbers = np.arange(len(human)) if groups is None else groups
    return Split(
        human=human, groups=numbers, blocks=numbers % 5, part=1 + numbers % parts, parts=parts
    )


def estimated(split: Split, values: FloatArray, *tuned: FloatArray) -> Replicates:
    """A method that learns nothing."""
    tunings = np.array([[column, column] for column in tuned]).reshape(-1, 2, len(values))
    return Replicates(split, np.array([[values, values]]), tunings)


def fixed(human: FloatArray, values: FloatArray, groups: IntArray | None = None) -> Replicates:
    """The same on that split."""
    return estimated(split_of(human, groups), values)
