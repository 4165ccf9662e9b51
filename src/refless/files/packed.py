"""Columns of strings that stay bytes until they are read."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
PIECE = 1 << 16  # strings that are read at once


class Packed(Sequence[str]):
    """Strings as UTF-8 bytes, in memory or mapped from a file; elsewhere it stands for a tuple.

    One string is decoded when it is asked for; all are decoded, and kept, when they are iterated.

    Attributes:
        raw: the bytes of all strings, one after the other.
        starts: [n + 1] where each begins.
    """

    def __init__(self, raw: Array, starts: Array) -> None:
        self.raw, self.starts = raw, starts
        self._all: tuple[str, ...] | None = None

    @classmethod
    def of(cls, column: Sequence[str]) -> Packed:
        """The same strings, packed; what is packed already passes through."""
        if isinstance(column, Packed):
            return column
        rows = [entry.encode("utf-8", "surrogatepass") for entry in column]
        starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return cls(np.frombuffer(bytearray().join(rows), np.uint8), starts)

    def framed(self) -> Iterator[bytes]:
        """Each string as UTF-8 after its length and a colon, many at a time."""
        for begin in range(0, len(self), PIECE):
            starts = self.starts[begin : begin + PIECE + 1].tolist()
            raw = self.raw[starts[0] : starts[-1]].tobytes()
            ends = [end - starts[0] for end in starts]
            yield b"".join([b"%d:%b" % (b - a, raw[a:b]) for a, b in pairwise(ends)])

    def whole(self) -> tuple[str, ...]:
        """All strings; raises ValueError for bytes that are no UTF-8."""
        if self._all is None:
            raw, starts = self.raw.tobytes(), self.starts.tolist()
            rows = (raw[a:b] for a, b in pairwise(starts))
            self._all = tuple(row.decode("utf-8", "surrogatepass") for row in rows)
        return self._all

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[str]:
        return iter(self.whole())

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...
    def __getitem__(self, at: int | slice) -> str | tuple[str, ...]:
        if isinstance(at, slice) or self._all is not None:
            return self.whole()[at]
        row = range(len(self))[operator.index(at)]
        entry = self.raw[self.starts[row] : self.starts[row + 1]].tobytes()
        return entry.decode("utf-8", "surrogatepass")

    def __eq__(self, other: object) -> bool:
        return self.whole() == (other.whole() if isinstance(other, Packed) else other)

    def __hash__(self) -> int:
        return hash(self.whole())

    def __add__(self, other: Sequence[str]) -> tuple[str, ...]:
        return self.whole() + tuple(other)

    def __radd__(self, other: Sequence[str]) -> tuple[str, ...]:
        return tuple(other) + self.whole()

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self.whole(),)
