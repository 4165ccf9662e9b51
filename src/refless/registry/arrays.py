"""Types of arrays, and labels as numbers."""

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


def numbered(labels: Sequence[Hashable], n: int) -> IntArray:
    """[n] labels as numbers in the order in which they occur first.

    Blank labels, and rows without labels, have a number each.
    """
    place: dict[Hashable, int] = {}
    names = [label or ("", row) for row, label in enumerate(labels)] if labels else range(n)
    return np.array([place.setdefault(name, len(place)) for name in names], dtype=np.int64)
