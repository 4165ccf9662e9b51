"""Ordinary kriging, a Gaussian process with an unknown constant mean, through inducing points.

As FITC (Snelson and Ghahramani 2006) has it, the covariance of n ratings is taken as phi phi' +
diag(d): phi = K_nm L^-T with L L' = K_mm, and d what the m inducing points do not explain of each
text's variance, with nugget and noise. All that is needed of ratings is a sum over texts, of which
a block is in memory at a time: memory m**2, not n m. Ratings are left out by subtracting from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from refless.estimators.gp.posterior import Factor, HeldOut, leave_out
from refless.registry.arrays import FloatArray, IntArray

ROWS = 2_048  # rated texts at a time
NUMBERS = 50_000_000  # of features that are kept, 0.4 GB; those of more texts are computed anew
LARGE = 2_000  # rows of a group beyond which its block of all pairs is not formed


class Projected(NamedTuple):
    """Rated texts in terms of the inducing points.

    Attributes:
        phi: [k, m] features; d: [k] variance that these do not explain; y: [k] ratings.
    """

    phi: FloatArray
    d: FloatArray
    y: FloatArray

    def take(self, rows: IntArray) -> Projected:
        """These rows."""
        return Projected(self.phi[rows], self.d[rows], self.y[rows])

    def sufficient_statistics(self) -> FloatArray:
        """[m + 2, m + 2] Z' d^-1 Z, Z the columns phi, 1 and y: all that is needed of ratings."""
        columns = np.column_stack([self.phi, np.ones(len(self.y)), self.y])
        columns /= np.sqrt(self.d)[:, None]
        return np.asarray(columns.T @ columns)


Project = Callable[[IntArray], Projected]  # of rows


@dataclass(frozen=True, eq=False)
class Inducing:
    """A Gaussian process with an unknown constant mean, given n ratings, through m points.

    Attributes:
        root: [m, m] lower Cholesky factor of the inducing points' covariance.
        statistics: [m + 2, m + 2] sum over the rated texts.
        size: n; project: the rated texts by row.
    """

    root: FloatArray
    statistics: FloatArray
    size: int
    project: Project

    @classmethod
    def of(cls, root: FloatArray, project: Project, size: int) -> Inducing:
        """Given the ratings of so many texts, whose features are computed once if memory allows."""
        if size * len(root) <= NUMBERS:
            parts = [project(rows) for rows in blocks(np.arange(size))]
            every = Projected(*map(np.concatenate, zip(*parts, strict=True)))
            project = every.take
        return cls(root, summed(project, np.arange(size), len(root)), size, project)

    @cached_property
    def _inner(self) -> Factor:
        """Factor of I + phi' d^-1 phi."""
        from scipy.linalg import cho_factor

        m = len(self.root)
        return cho_factor(self.statistics[:m, :m] + np.eye(m), lower=True, check_finite=False)  # type: ignore[no-any-return]

    @cached_property
    def _solved(self) -> FloatArray:
        """[m, 2] phi' sigma^-1 of 1 and of y."""
        from scipy.linalg import cho_solve

        m = len(self.root)
        return np.asarray(cho_solve(self._inner, self.statistics[:m, m:], check_finite=False))

    @cached_property
    def _sums(self) -> FloatArray:
        """[2] 1' sigma^-1 of 1 and of y."""
        m = len(self.root)
        return np.asarray(self.statistics[m, m:] - self.statistics[m, :m] @ self._solved)

    @property
    def mean(self) -> float:
        """The constant mean, by generalised least squares."""
        return float(self._sums[1] / self._sums[0])

    @cached_property
    def _answers(self) -> FloatArray:
        """[m] of each feature in any mean."""
        return self._solved[:, 1] - self.mean * self._solved[:, 0]

    @property
    def weights(self) -> FloatArray:
        """[m] of the inducing points in any mean: it is `mean` + cross @ `weights`."""
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(self.root, self._answers, lower=True, trans="T"))

    def precision(self) -> Inducing:
        """What leaves ratings out in closed form: this itself."""
        return self

    def predict(self, cross: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the process at new texts; `cross` is [new, m]."""
        phi = projected(self.root, cross)
        values, spread = self._at(phi)
        return values, prior - np.square(phi).sum(axis=1) + spread

    def _at(self, phi: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Means, and variances of what the inducing points explain."""
        from scipy.linalg import cho_solve

        lack = self._lack(phi)
        inner = cho_solve(self._inner, phi.T, check_finite=False).T
        spread = (phi * inner).sum(axis=1) + lack**2 / self._sums[0]
        return self.mean + phi @ self._answers, spread

    def _lack(self, phi: FloatArray) -> FloatArray:
        """What the features do not explain of the constant."""
        return np.asarray(1.0 - phi @ self._solved[:, 0])

    def together(self, cross: FloatArray, prior: FloatArray) -> FloatArray:
        """As `Exact.together`; `cross` is [new, m]."""
        from scipy.linalg import cho_solve

        phi = projected(self.root, cross)
        lack = self._lack(phi)
        prior -= phi @ (phi - cho_solve(self._inner, phi.T).T).T
        prior += np.outer(lack, lack / self._sums[0])
        return prior

    def shares(self, cross: FloatArray) -> FloatArray:
        """[new, n] weight of each rating in each mean; every row sums to 1."""
        from scipy.linalg import cho_solve

        phi, shares = projected(self.root, cross), np.empty((len(cross), self.size))
        inner, lack = cho_solve(self._inner, phi.T), self._lack(phi) / self._sums[0]
        for rows in blocks(np.arange(self.size)):
            rated = self.project(rows)
            explained = rated.phi @ inner + np.outer(self._lack(rated.phi), lack)
            shares[:, rows] = explained.T / rated.d
        return shares

    def held_out(self, groups: IntArray, rows: IntArray | None = None) -> HeldOut:
        """As `Precision.held_out`, for the covariance of this class."""
        rows = np.arange(len(groups)) if rows is None else rows
        means, variances = np.full(len(groups), np.nan), np.full(len(groups), np.nan)
        _, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        if len(sizes) < 2:
            return means[rows], variances[rows]
        chosen = np.isin(np.arange(len(sizes)), codes[rows])
        for group in np.flatnonzero(chosen & (sizes > LARGE)):
            inside = np.flatnonzero(codes == group)
            statistics = self.statistics - summed(self.project, inside, len(self.root))
            without = replace(self, statistics=statistics)
            for block in blocks(np.intersect1d(inside, rows)):
                rated = self.project(block)
                means[block], spread = without._at(rated.phi)  # noqa: SLF001 - of its own class
                variances[block] = spread + rated.d
        small = np.flatnonzero((chosen & (sizes <= LARGE))[codes])
        for block in _whole_groups(small, codes):
            means[block], variances[block] = self._left_out(self.project(block), codes[block])
        return means[rows], variances[rows]

    def _left_out(self, rated: Projected, groups: IntArray) -> HeldOut:
        """The same of whole groups, from the diagonal blocks of Q: see `leave_out`."""
        from scipy.linalg import cho_solve

        phi, d, y = rated
        constant, scaled = self._lack(phi) / d, phi / d[:, None]
        inner = cho_solve(self._inner, scaled.T, check_finite=False).T
        qy = (y - self.mean - phi @ self._answers) / d
        diagonal = 1.0 / d - (scaled * inner).sum(axis=1) - constant**2 / self._sums[0]

        def block(rows: IntArray) -> FloatArray:
            part = np.diag(1.0 / d[rows]) - scaled[rows] @ inner[rows].T
            return np.asarray(part - np.outer(constant[rows], constant[rows]) / self._sums[0])

        return leave_out(y, qy, block, groups, diagonal)


def projected(root: FloatArray, cross: FloatArray) -> FloatArray:
    """[k, m] phi of texts, from their covariance with the inducing points."""
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(root, cross.T, lower=True, check_finite=False).T)


def rated_features(
    root: FloatArray, cross: FloatArray, prior: FloatArray, noise: FloatArray, y: FloatArray
) -> Projected:
    """Rated texts in terms of the inducing points.

    Args:
        root: as of `Inducing`; cross: [k, m] covariance with the inducing points.
        prior: [k] prior variance; noise: [k] nugget and the ratings' own; y: [k] ratings.
    """
    phi = projected(root, cross)
    return Projected(phi, np.maximum(prior - np.square(phi).sum(axis=1), 0.0) + noise, y)


def summed(project: Project, rows: IntArray, m: int) -> FloatArray:
    """[m + 2, m + 2] sufficient statistics of these rows."""
    total = np.zeros((m + 2, m + 2))
    for block in blocks(rows):
        total += project(block).sufficient_statistics()
    return total


def blocks(rows: IntArray) -> Iterator[IntArray]:
    """The rows, so many at a time."""
    return (rows[begin : begin + ROWS] for begin in range(0, len(rows), ROWS))


def _whole_groups(rows: IntArray, codes: IntArray) -> Iterator[IntArray]:
    """The rows by groups, which stay whole, about so many at a time."""
    rows = rows[np.argsort(codes[rows], kind="stable")]
    ends = np.append(np.flatnonzero(np.diff(codes[rows])) + 1, len(rows))
    begin = 0
    while begin < len(rows):
        end = int(ends[np.searchsorted(ends, min(begin + ROWS, len(rows)))])
        yield rows[begin:end]
        begin = end


def positive_root(matrix: FloatArray) -> FloatArray:
    """Lower Cholesky factor of a symmetric matrix, its diagonal shifted as far as it needs."""
    from scipy.linalg import LinAlgError, cholesky, eigvalsh

    shift = max(1e-8 * float(np.trace(matrix)) / len(matrix), 1e-12)
    identity = np.eye(len(matrix))
    try:
        return np.asarray(cholesky(matrix + shift * identity, lower=True))
    except LinAlgError:
        shift -= float(eigvalsh(matrix, subset_by_index=[0, 0])[0])
        return np.asarray(cholesky(matrix + shift * identity, lower=True))
