"""Fixed predictions as replicates, for tests of measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from refless.data.records import Estimates, Predictions, numbered
from refless.evaluation.jackknife import Replicates, Split
from refless.registry.arrays import FloatArray, IntArray


def split_of(
    human: FloatArray, groups: IntArray | None = None, parts: int = 20
) -> Split:
    """Five blocks and so many parts, of groups in the order of their numbers."""
    numbers = np.arange(len(human)) if groups is None else groups
    return Split(
        human=human,
        groups=numbers,
        blocks=numbers % 5,
        part=1 + numbers % parts,
        parts=parts,
    )


def estimated(split: Split, values: FloatArray, *tuned: FloatArray) -> Replicates:
    """A method that learns nothing."""
    tunings = np.array([[column, column] for column in tuned]).reshape(
        -1, 2, len(values)
    )
    return Replicates(split, np.array([[values, values]]), tunings)


def fixed(
    human: FloatArray, values: FloatArray, groups: IntArray | None = None
) -> Replicates:
    """The same on that split."""
    return estimated(split_of(human, groups), values)


def estimates_of(
    values: Sequence[float] | FloatArray, ids: Sequence[str] = ()
) -> Estimates:
    """Estimates of no width; NaN for what has too few neighbours."""
    array = np.array(values, dtype=np.float64)
    return Estimates(
        ids=tuple(ids) or numbered(len(array)),
        values=array,
        reasons=tuple("too-few" if np.isnan(value) else "" for value in array),
        support=np.zeros(len(array), dtype=np.int64),
        low=array,
        high=array,
    )


def predictions(
    human: FloatArray, predicted: FloatArray | None = None, **columns: Any
) -> Predictions:
    """Ratings beside predictions, of which there are none unless they are given."""
    values = np.full(len(human), np.nan) if predicted is None else predicted
    names = columns.pop("id", tuple(map(str, range(len(human)))))
    reasons = columns.pop("reason", ("",) * len(human))
    return Predictions(
        id=names, human=human, predicted=values, reason=reasons, **columns
    )
