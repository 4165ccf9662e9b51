"""Types of arrays and columns, and labels as numbers."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Strings = tuple[str, ...]  # a column of texts or names
Names = Sequence[str]


def numbered(labels: Sequence[Hashable], n: int) -> IntArray:
    """[n] labels as numbers in the order in which they occur first.

    Blank labels, and rows without labels, have a number each.
    """
    place: dict[Hashable, int] = {}
    names: Iterable[Hashable] = range(n)
    if labels:
        names = [
            ("", row) if label == "" else label for row, label in enumerate(labels)
        ]
    return np.array(
        [place.setdefault(name, len(place)) for name in names], dtype=np.int64
    )


def codes_of(column: npt.NDArray[Any] | Sequence[str]) -> IntArray:
    """[n] the place of each value among the different ones, sorted, from 0.

    Texts are never an array of NumPy's, in which each takes the room of the longest.
    """
    if isinstance(column, np.ndarray):
        return np.unique(column, return_inverse=True)[1]
    places = {value: place for place, value in enumerate(sorted({*column}))}
    return np.array([places[value] for value in column], dtype=np.int64)
