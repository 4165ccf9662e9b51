"""Numbers of any kind on one footing: as the normal quantiles of their ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refless.records import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class NormalRanks:
    """A monotone map for each column, learned from some rows, under which their variance is 1.

    Attributes:
        knots: for each column its distinct values and what they become, both ascending; nothing
            for a column without two different values.
    """

    knots: tuple[tuple[FloatArray, FloatArray], ...]

    @classmethod
    def of(cls, values: FloatArray) -> NormalRanks:
        """Maps learned from [rows, columns]; NaN is nothing known."""
        return cls(tuple(_knots(column[~np.isnan(column)]) for column in values.T))

    def __len__(self) -> int:
        """Columns with two different values or more."""
        return sum(len(at) > 0 for at, _ in self.knots)

    def mapped(self, values: FloatArray) -> FloatArray:
        """[rows, columns] quantiles, between those of the known values beside; NaN becomes 0.

        So does a column without two different values; beyond the known values the nearest counts.
        """
        out = np.zeros(values.shape)
        for i, (at, become) in enumerate(self.knots):
            if len(at):
                out[:, i] = np.nan_to_num(np.interp(values[:, i], at, become))
        return out


def _knots(column: FloatArray) -> tuple[FloatArray, FloatArray]:
    from scipy.special import ndtri

    at, counts = np.unique(column, return_counts=True)
    if len(at) < 2:
        return np.zeros(0), np.zeros(0)
    become = ndtri((np.cumsum(counts) - counts / 2) / len(column))
    mean = float(counts @ become) / len(column)
    spread = np.sqrt(float(counts @ (become - mean) ** 2) / len(column))
    return at, (become - mean) / spread
