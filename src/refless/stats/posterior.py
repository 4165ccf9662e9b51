"""Ordinary kriging: a Gaussian process with an unknown constant mean, and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.linalg.lapack import dpotri

from refless.registry.arrays import FloatArray, IntArray

Factor = tuple[Any, bool]
HeldOut = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """A Gaussian process with an unknown constant mean, given n ratings."""

    factor: Factor  # Cholesky factor of sigma, the covariance of the ratings
    y: FloatArray  # [n] ratings
    ones: FloatArray  # [n] sigma^-1 1
    mean: float  # the constant mean, by generalised least squares
    alpha: FloatArray  # [n] sigma^-1 (y - mean); any mean is `mean` + cross @ `alpha`

    def predict(
        self, cross: FloatArray, prior: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the process (without nugget and noise) at new texts.

        cross: [new, n] covariance with the rated texts; prior: [new] prior variance.
        """
        values = self.mean + cross @ self.alpha
        half, lack = self._explained(cross)
        explained = np.square(half).sum(axis=0)
        return values, prior - explained + lack**2 / self.ones.sum()

    def together(self, cross: FloatArray, prior: FloatArray) -> FloatArray:
        """[new, new] covariance of the process at new texts; prior: the same, overwritten."""
        half, lack = self._explained(cross)
        prior -= half.T @ half
        prior += np.outer(lack, lack / self.ones.sum())
        return prior

    def _explained(self, cross: FloatArray) -> tuple[FloatArray, FloatArray]:
        """[n, new] L^-1 k, and [new] what the mean's weights lack of 1."""
        half = solve_triangular(self.factor[0], cross.T, lower=True, check_finite=False)
        return half, 1.0 - cross @ self.ones

    def shares(self, cross: FloatArray) -> FloatArray:
        """[new, n] weight of each rating in each mean; every row sums to 1."""
        solved = cho_solve(self.factor, cross.T, check_finite=False).T
        lack = 1.0 - cross @ self.ones
        return np.asarray(solved + np.outer(lack / self.ones.sum(), self.ones))

    def precision(self) -> Precision:
        """The precision, which leaves ratings out in closed form."""
        q = inverse(self.factor)
        q -= np.outer(self.ones, self.ones / self.ones.sum())
        return Precision(self.y, q)


@dataclass(frozen=True, slots=True, eq=False)
class Precision:
    """[n] ratings and [n, n] Q = sigma^-1 - sigma^-1 1 1' sigma^-1 / (1' sigma^-1 1)."""

    y: FloatArray
    q: FloatArray

    def held_out(self, groups: IntArray, rows: IntArray | None = None) -> HeldOut:
        """Mean of each rating given those outside its group, and the variance of its error.

        The errors of a group g are Q_gg^-1 (Q y)_g and their covariance is Q_gg^-1 (Dubrule 1983).
        NaN where nothing is left. Only of some rows, if these are given.
        """
        means = np.full(len(self.y), np.nan)
        variances = np.full(len(self.y), np.nan)
        qy = self.q @ self.y
        for inside in _by_size(groups, rows):
            across = self.q[inside[:, :, None], inside[:, None, :]]
            covariances = np.linalg.inv(across)
            errors = covariances @ qy[inside][:, :, None]
            means[inside] = self.y[inside] - errors[:, :, 0]
            variances[inside] = np.diagonal(covariances, axis1=1, axis2=2)
        return (means, variances) if rows is None else (means[rows], variances[rows])

    def among(self, rows: IntArray) -> Precision:
        """The same of these ratings alone: Q_kk - Q_kd Q_dd^-1 Q_dk, d those that are dropped."""
        if len(rows) < 2:  # nothing remains to judge by
            return Precision(self.y[rows], np.full((len(rows), len(rows)), np.nan))
        dropped = np.setdiff1d(np.arange(len(self.y)), rows)
        across = self.q[np.ix_(rows, dropped)]
        inner = np.linalg.solve(self.q[np.ix_(dropped, dropped)], across.T)
        return Precision(self.y[rows], self.q[np.ix_(rows, rows)] - across @ inner)


def _by_size(groups: IntArray, rows: IntArray | None) -> Iterator[IntArray]:
    """[groups of one size, size] places in each group, size by size; only groups of these rows.

    Nothing if there is but one group.
    """
    _, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if len(sizes) < 2:
        return
    wanted = np.unique(codes if rows is None else codes[rows])
    places = np.argsort(codes, kind="stable")
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[wanted]):
        chosen = wanted[sizes[wanted] == size]
        yield places[starts[chosen][:, None] + np.arange(size)]


def inverse(factor: Factor) -> FloatArray:
    """Of the matrix that was factored: a third of the work of solving for each column."""
    half, is_lower = factor
    found = dpotri(half, lower=is_lower)[0]
    below = found if is_lower else found.T
    return np.asarray(np.where(np.tri(len(below), dtype=np.bool_), below, below.T))


def exact(kernel: FloatArray, noise: FloatArray, y: FloatArray) -> Exact:
    """Conditions the process on [n] ratings; the kernel matrix is overwritten.

    kernel: [n, n] covariance of the process; noise: [n] nugget and the ratings' own noise. Raises
    numpy.linalg.LinAlgError where they are not positive definite together.
    """
    kernel[np.diag_indices(len(y))] += noise
    factor = cho_factor(kernel, lower=True, overwrite_a=True, check_finite=False)
    ones = cho_solve(factor, np.ones(len(y)), check_finite=False)
    mean = float(ones @ y / ones.sum())
    alpha = cho_solve(factor, y - mean, check_finite=False)
    return Exact(factor, y, ones, mean, alpha)
