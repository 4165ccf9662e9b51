"""The process as tables: a row of weights for each term, and few directions of what it knows.

A mean is a product of kernel values with fixed numbers, one for each rated text; a linear kernel
times these is a weight for each of its features. The part of the prior variance that the ratings
explain is a sum of squares of such products, too: as many as rated texts if these are few, else of
the directions that explain most, with the usual share of what remains.

Kernel values are in single precision: means are right to 1e-5 of the ratings' deviation, variances
to 1e-6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from refless.estimators.folds import whole
from refless.estimators.gp.all_ratings import PosteriorMean
from refless.estimators.gp.features import FeatureTable
from refless.estimators.gp.kernels import (
    BellKernel,
    Covariance,
    LearnedKernel,
    LinearKernel,
    Points,
)
from refless.loops import Loops
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.posterior import Exact

loops = Loops("bells")

# outputs that one product compares with all rated texts: as many as every processor's loop takes
# at once, so that each place is summed alike
ROWS = 16
TILES = 4  # of so many outputs, at a time
# that stand for the explained variance of more than twice as many texts
DIRECTIONS = 94
COMPACT = 500  # rated texts that stand for all others, if a process is compact
PRECISION: type = np.float32
SAMPLE = 500  # rated texts that directions come from, and the mean of what remains
RIDGE = 1e-3  # keeps weights of texts that stand for others small


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """The numbers that tables take from a posterior: what is slow to find, and saved.

    Attributes:
        average: given all ratings.
        firsts: by the names of linear kernels, [features] what they add to the mean.
        ones: [drawn] sigma^-1 1, of the rated texts that the variance comes from.
        directions: [drawn, k] see `_directions`; rest: explained variance outside of them, as a
            share of that along them.
        compact: [m, 2 + k] weights of the rated texts that stand for all, in the mean, in
            sigma^-1 1 and in the directions; None where all landmarks are compared.
    """

    average: PosteriorMean
    firsts: Mapping[str, FloatArray]
    ones: FloatArray
    directions: FloatArray
    rest: float
    compact: FloatArray | None = None

    @property
    def beside(self) -> IntArray:
        """Rows of the rated texts that kernels without features compare outputs with."""
        landmarks = self.average.landmarks
        return landmarks if self.compact is None else standing(landmarks)

    @property
    def columns(self) -> FloatArray:
        """[beside, 2 + k] their weights in the mean, in sigma^-1 1 and in the directions."""
        if self.compact is not None:
            return self.compact
        average = self.average
        places = np.searchsorted(average.landmarks, average.drawn)
        columns = np.zeros((len(average.landmarks), 2 + self.directions.shape[1]))
        columns[places] = self.of_drawn
        columns[:, 0] = average.beta
        return columns

    @property
    def of_drawn(self) -> FloatArray:
        """[drawn, 2 + k] 0 where the mean comes, sigma^-1 1, and the directions."""
        nothing = np.zeros(len(self.ones))
        return np.column_stack([nothing, self.ones, self.directions])

    def compacted(self, others: Covariance, landmarks: Mapping[str, Points]) -> Solved:
        """The same with few texts that stand for all, whose sums come nearest on all landmarks.

        It is the same where there are no more texts than that.

        Args:
            others: the kernels without features; landmarks: points of all of them.
        """
        every = self.average.landmarks
        if len(every) <= COMPACT:
            return self
        few = np.searchsorted(every, standing(every))
        compared = others.between(landmarks, len(every))
        beside = compared[:, few]
        squares = beside.T @ beside + RIDGE * (beside[few] + np.eye(len(few)))
        target = beside.T @ (compared @ self.columns)
        weights = cho_solve(cho_factor(squares), target)
        return replace(self, compact=np.ascontiguousarray(weights))

    @classmethod
    def of(
        cls,
        covariance: Covariance,
        rated: Mapping[str, Points],
        posterior: Exact,
        groups: IntArray,
        average: PosteriorMean,
    ) -> Solved:
        """From the posterior.

        Args:
            covariance: of its kernels; rated: [n] points of all rated texts.
            posterior: given the ratings that the variance comes from.
            groups: of these, what belongs together, and has nothing in common with new texts.
            average: given all ratings.
        """
        firsts = {}
        for name, kernel in covariance.kernels.items():
            if hasattr(kernel, "features"):
                column = covariance.weights[name] * average.alpha[:, None]
                firsts[name] = (kernel.features(rated[name]).T @ column)[:, 0]
        directions, rest = _directions(posterior, groups)
        # laid out as in a file: how a product is summed depends on it
        directions = np.ascontiguousarray(directions)
        return cls(average, firsts, posterior.ones, directions, rest)


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """The posterior of a Gaussian process, for many texts.

    Attributes:
        kernels: the kernels; weights: of each.
        tables: by the names of linear kernels, for all columns.
        sides: by the names of the others, those of the landmarks.
        alpha: [landmarks] sigma^-1 (y - mean).
        columns: [landmarks, k] sigma^-1 1, and the directions.
        mean: the constant mean; ones: sum of sigma^-1 1.
        rest: explained variance outside the directions, as a share of that along them.
    """

    kernels: Mapping[str, LearnedKernel]
    weights: Mapping[str, float]
    tables: Mapping[str, FeatureTable]
    sides: Mapping[str, Any]
    alpha: FloatArray
    columns: FloatArray
    mean: float
    ones: float
    rest: float

    @classmethod
    def of(
        cls,
        covariance: Covariance,
        solved: Solved,
        landmarks: Mapping[str, Points],
        drawn: Mapping[str, Points],
    ) -> Compiled:
        """The tables of a posterior.

        Args:
            covariance: of its kernels; solved: its numbers.
            landmarks: points of `Solved.beside`; drawn: of `PosteriorMean.drawn`.
        """
        average = solved.average
        of_drawn = solved.of_drawn
        columns = solved.columns
        # landmarks that stand for others have large weights of both signs
        is_exact = len(average.landmarks) == len(average.alpha)
        is_narrow = is_exact or solved.compact is not None
        precision = PRECISION if is_narrow else np.float64
        tables: dict[str, FeatureTable] = {}
        sides: dict[str, Any] = {}
        for name, kernel in covariance.kernels.items():
            weight = covariance.weights[name]
            if isinstance(kernel, BellKernel):
                side = kernel.right(landmarks[name])
                side[-1] += np.log(weight)
                sides[name] = np.ascontiguousarray(side.T, dtype=precision)
            elif hasattr(kernel, "features"):
                features = kernel.features(drawn[name])
                first = solved.firsts[name]
                tables[name] = FeatureTable(
                    features, weight * of_drawn, first, precision
                )
            else:
                sides[name] = kernel.anchors(landmarks[name])
        return cls(
            kernels=covariance.kernels,
            weights=covariance.weights,
            tables=tables,
            sides=sides,
            # in memory one after the other: how a product is summed depends on it
            alpha=np.ascontiguousarray(columns[:, 0]),
            columns=columns[:, 1:].astype(precision),
            mean=average.mean,
            ones=float(solved.ones.sum()),
            rest=solved.rest,
        )

    def predict(
        self, points: Mapping[str, Points], prior: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the process at [n] new texts, as `Exact.predict`.

        A text's numbers do not depend on the others.
        """
        products = self.products(points, len(prior))
        explained = np.square(products[:, 2:]).sum(axis=1) * (1.0 + self.rest)
        lack = 1.0 - products[:, 1]
        variances = np.maximum(prior - explained, 0.0) + lack**2 / self.ones
        return self.mean + products[:, 0], variances

    def products(self, points: Mapping[str, Points], n: int) -> FloatArray:
        """[n, k] covariance of n texts with the rated ones, times the columns."""
        total = np.zeros((n, 1 + self.columns.shape[1]))
        for name, table in self.tables.items():
            kernel = cast("LinearKernel", self.kernels[name])
            total += table.times(kernel.features(points[name]))
        n_tiles = -(-n // ROWS)
        # the last tile is filled up by copies
        rows = np.minimum(np.arange(n_tiles * ROWS), n - 1)
        lefts = {name: self._left(name, points[name][rows]) for name in self.sides}
        shape = (2, min(TILES, n_tiles), len(self.columns), ROWS)
        room = np.empty(shape, self.columns.dtype)
        for tile in range(0, n_tiles, TILES):
            part = {name: left[tile : tile + TILES] for name, left in lefts.items()}
            covariance = self._compared(part, room[:, : n_tiles - tile])
            begin = tile * ROWS
            end = min(begin + covariance.shape[0] * ROWS, n)
            # weights of both signs nearly cancel
            means = self.alpha @ covariance.astype(np.float64)
            others = (self.columns.T @ covariance).transpose(0, 2, 1)
            total[begin:end, 0] += means.ravel()[: end - begin]
            total[begin:end, 1:] += np.vstack([*others])[: end - begin]
        return total

    def _left(self, name: str, points: Points) -> Points:
        """[tiles, ...] the side of points of a kernel that is compared with every rated text."""
        kernel = self.kernels[name]
        if isinstance(kernel, BellKernel):
            return _by_tile(kernel.left(points).astype(self.columns.dtype))
        return points.reshape(-1, ROWS)

    def _compared(self, lefts: Mapping[str, Points], room: FloatArray) -> FloatArray:
        """[tiles, rated, ROWS] the sum of these kernels' values, times their weights.

        It is in the first half of the room, [2, tiles, rated, ROWS].
        """
        total: FloatArray = room[0]
        values = room[1]
        total[:] = 0.0
        for name, left in lefts.items():
            kernel = self.kernels[name]
            if isinstance(kernel, BellKernel):
                np.matmul(self.sides[name], left, out=values)
                add_bells(values, np.log(self.weights[name]), total)
            else:
                compared = kernel.between(left.ravel(), self.sides[name])
                total += self.weights[name] * _by_tile(compared)
        return np.asarray(total)


def add_bells(exponents: FloatArray, highest: float, total: FloatArray) -> None:
    """Adds exp(exponent), at most exp(highest), to the total; it may overwrite the exponents."""
    if total.dtype == np.float32:
        loops.bells_loop(exponents, np.float32(highest), total)
        return
    np.minimum(exponents, highest, out=exponents)
    total += np.exp(exponents, out=exponents)


def _by_tile(rows: FloatArray) -> FloatArray:
    """[tiles, k, ROWS] of [tiles * ROWS, k]."""
    tiles = rows.reshape(-1, ROWS, rows.shape[1])
    return np.ascontiguousarray(tiles.transpose(0, 2, 1))


def standing(rows: IntArray) -> IntArray:
    """[m] at most 500 of the rows, ascending, whatever their texts are."""
    drawn = np.random.default_rng(7).permutation(len(rows))[:COMPACT]
    return rows[np.sort(drawn)]


def _directions(posterior: Exact, groups: IntArray) -> tuple[FloatArray, float]:
    """[n, k] columns whose products with a covariance have the explained variance as squares.

    Few rated texts have as many directions as texts, and nothing remains. Of more, directions are
    those that explain most of a sample of rated texts, each left out with its group; and what
    remains is the share of it in another sample.
    """
    n = len(posterior.y)
    factor = np.tril(posterior.factor[0])
    if n <= 2 * DIRECTIONS:
        return _solved(factor, np.eye(n)), 0.0
    sample, others = _samples(groups)
    left_out = _left_out(factor, sample, groups)
    sizes, weights = np.linalg.eigh(left_out.T @ left_out)
    basis = left_out @ (weights / np.sqrt(np.maximum(sizes, 1e-12)))[:, -DIRECTIONS:]
    left_out = _left_out(factor, others, groups)
    explained = np.square(basis.T @ left_out).sum()
    return _solved(factor, basis), float(np.square(left_out).sum() / explained) - 1.0


def _samples(groups: IntArray) -> tuple[IntArray, IntArray]:
    """Rows of two samples of rated texts, of whole groups if there are two."""
    rng = np.random.default_rng(6)
    drawn = whole(groups, 2 * SAMPLE, rng)
    names, numbers = np.unique(groups[drawn], return_inverse=True)
    if len(names) < 2:
        numbers = np.arange(len(drawn))
    is_first = (rng.permutation(numbers.max() + 1) % 2 == 0)[numbers]
    return drawn[is_first], drawn[~is_first]


def _left_out(factor: FloatArray, rows: IntArray, groups: IntArray) -> FloatArray:
    """[n, rows] factor^-1 c, c the covariance of a text with all if its group was not rated.

    The group's entries are what the others predict, so c' sigma^-1 c is what the others explain.
    """
    units = np.zeros((len(factor), len(rows)))
    units[rows, np.arange(len(rows))] = 1.0
    solved = solve_triangular(factor, units, lower=True, check_finite=False)
    together = groups[rows][:, None] == groups[rows]
    inner = np.linalg.inv(np.where(together, solved.T @ solved, 0.0))
    return np.asarray(factor[rows].T - solved @ inner)


def _solved(factor: FloatArray, columns: FloatArray) -> FloatArray:
    """factor'^-1 times these columns."""
    return np.asarray(
        solve_triangular(factor, columns, lower=True, trans=1, check_finite=False)
    )
