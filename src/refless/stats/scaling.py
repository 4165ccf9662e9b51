"""Numbers of any kind on one footing: as normal quantiles of their ranks, or standardised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refless.registry.arrays import FloatArray

FARTHEST = 4.0  # standard deviations from the mean


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
        """Maps learned from [rows, columns]; NaN is nothing finite."""
        return cls(tuple(_knots(column[~np.isnan(column)]) for column in values.T))

    def __len__(self) -> int:
        """Columns with two different values or more."""
        return sum(len(at) > 0 for at, _ in self.knots)

    def mapped(self, values: FloatArray) -> FloatArray:
        """[rows, columns] quantiles, between those of the finite values beside; NaN becomes 0.

        So does a column without two different values; beyond the finite values the nearest counts.
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


@dataclass(frozen=True, slots=True, eq=False)
class Standardized:
    """Columns less their means, in standard deviations, as some rows have them.

    Attributes:
        sizes: [columns] largest absolute values, which the others are shares of.
        means, spreads: [columns]; a column without two different values has the spread 0.
    """

    sizes: FloatArray
    means: FloatArray
    spreads: FloatArray

    @classmethod
    def of(cls, values: FloatArray) -> Standardized:
        """Learned from [rows, columns]; NaN is nothing finite."""
        sizes = np.max(np.abs(np.nan_to_num(values)), axis=0, initial=0.0)
        sizes = np.where(sizes > 0, sizes, 1.0)  # so that no sum is beyond all numbers
        finite = [np.sort(column[~np.isnan(column)]) for column in (values / sizes).T]
        means = [float(column.mean()) if len(column) else 0.0 for column in finite]
        spreads = [
            float(column.std()) if len({*column.tolist()}) > 1 else 0.0
            for column in finite
        ]
        return cls(sizes, np.array(means), np.array(spreads))

    def __len__(self) -> int:
        """Columns with two different values or more."""
        return int(np.count_nonzero(self.spreads))

    def mapped(self, values: FloatArray) -> FloatArray:
        """[rows, columns] standardised, at most 4 to either side; NaN becomes 0."""
        scale = np.where(self.spreads > 0, self.spreads, np.inf)
        with np.errstate(over="ignore"):  # what is beyond all numbers is far away
            scaled = (values / self.sizes - self.means) / scale
        scaled = np.clip(scaled, -FARTHEST, FARTHEST)
        return np.nan_to_num(scaled)


@dataclass(frozen=True, slots=True, eq=False)
class Composite:
    """Sum of standardised columns, each turned as their first principal component has it.

    Attributes:
        columns: how they are standardised; signs: [columns] 1 or -1.
        total: how the sum is standardised.
    """

    columns: Standardized
    signs: FloatArray
    total: Standardized

    @classmethod
    def of(cls, values: FloatArray) -> Composite:
        """Learned from [rows, columns]; NaN is nothing finite."""
        columns = Standardized.of(values)
        mapped = columns.mapped(values) if len(values) else values
        first = np.linalg.eigh(mapped.T @ mapped)[1][:, -1]
        signs = np.where(first * first.sum() < 0, -1.0, 1.0)
        return cls(columns, signs, Standardized.of(mapped @ signs[:, None]))

    def __len__(self) -> int:
        """1; 0 if no row differs from another."""
        return len(self.total)

    def mapped(self, values: FloatArray) -> FloatArray:
        """[rows, 1] standardised sum; a column that is missing counts as its mean."""
        return self.total.mapped(self.columns.mapped(values) @ self.signs[:, None])
