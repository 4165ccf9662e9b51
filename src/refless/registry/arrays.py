"""Types of arrays and columns, and labels as numbers."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
StringArray = npt.NDArray[np.str_]
Strings = tuple[str, ...]  # a column of texts or names
Names = Sequence[str]

LINE = 64  # bytes that a processor reads at once


def numbered(labels: Sequence[Hashable], n: int) -> IntArray:
    """[n] labels as numbers in the order in which they occur first.

    Blank labels, and rows without labels, have a number each.
    """
    if not labels:
        return np.arange(n)
    names = labels
    if "" in labels:
        names = [
            ("", row) if label == "" else label for row, label in enumerate(labels)
        ]
    place = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([*map(place.__getitem__, names)], dtype=np.int64)


def aligned(shape: tuple[int, int], dtype: type) -> npt.NDArray[Any]:
    """An array without values yet, which begins where a line of the processor's cache does.

    Its rows are read at once, then, if each takes up whole lines.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.empty(size + LINE, np.uint8)
    begin = -room.ctypes.data % LINE
    return room[begin : begin + size].view(dtype).reshape(shape)


def count_different(numbers: IntArray) -> int:
    """The number of different ones of these numbers from 0, which are not sorted for it."""
    return int(np.count_nonzero(np.bincount(numbers)))


def codes_of(column: npt.NDArray[Any]) -> IntArray:
    """[n] the place of each value among the different ones, sorted, from 0."""
    return np.unique(column, return_inverse=True)[1]


def codes(labels: Iterable[Any]) -> IntArray:
    """[n] labels as numbers from 0, in the order of the sorted labels.

    Texts are never an array of NumPy's, in which each takes the room of the longest.
    """
    names = [*labels]
    different = sorted(dict.fromkeys(names))  # what is sorted already is so at once
    number = {name: i for i, name in enumerate(different)}
    return np.array([number[name] for name in names], dtype=np.int64)


def rows_by_name(names: Iterable[str]) -> dict[str, IntArray]:
    """The rows of each name, sorted by name; blank names have none."""
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        if name:
            rows.setdefault(name, []).append(row)
    return {name: np.array(rows[name]) for name in sorted(rows)}


def numbers_of(labels: IntArray) -> IntArray:
    """[n] labels as numbers from 0, in the order in which they occur first."""
    _, first, number = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number]


def places_of(rows: IntArray, n: int) -> IntArray:
    """[n] the place of each row among some, -1 for one that is not among them."""
    place = np.full(n, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    return place
