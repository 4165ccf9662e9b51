"""Ordinary kriging, a Gaussian process with an unknown constant mean, with every rated text.

Means, variances, shares, and exact leave-group-out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from refless.registry.arrays import FloatArray, IntArray

Factor = tuple[Any, bool]
HeldOut = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """A Gaussian process with an unknown constant mean, given n ratings.

    Attributes:
        factor: Cholesky factor of sigma, the covariance of the ratings.
        y: [n] ratings.
        ones: [n] sigma^-1 1.
        mean: the constant mean, by generalised least squares.
        alpha: [n] sigma^-1 (y - mean).
    """

    factor: Factor
    y: FloatArray
    ones: FloatArray
    mean: float
    alpha: FloatArray

    @property
    def weights(self) -> FloatArray:
        """[n] of the rated texts in any mean: it is `mean` + cross @ `weights`."""
        return self.alpha

    def predict(self, cross: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the process (without nugget and noise) at new texts.

        Args:
            cross: [new, n] covariance with the rated texts.
            prior: [new] prior variance.
        """
        from scipy.linalg import solve_triangular

        values = self.mean + cross @ self.alpha
        half = solve_triangular(self.factor[0], cross.T, lower=True, check_finite=False)
        lack = 1.0 - cross @ self.ones
        explained = np.square(half).sum(axis=0)
        return values, prior - explained + lack**2 / self.ones.sum()

    def together(self, cross: FloatArray, prior: FloatArray) -> FloatArray:
        """[new, new] covariance of the process at new texts, whose variances `predict` gives.

        Args:
            cross: as of `predict`; prior: [new, new] prior covariance, overwritten.
        """
        from scipy.linalg import solve_triangular

        half = solve_triangular(self.factor[0], cross.T, lower=True, check_finite=False)
        lack = 1.0 - cross @ self.ones
        prior -= half.T @ half
        prior += np.outer(lack, lack / self.ones.sum())
        return prior

    def shares(self, cross: FloatArray) -> FloatArray:
        """[new, n] weight of each rating in each mean; every row sums to 1."""
        from scipy.linalg import cho_solve

        solved = cho_solve(self.factor, cross.T, check_finite=False).T
        lack = 1.0 - cross @ self.ones
        return np.asarray(solved + np.outer(lack / self.ones.sum(), self.ones))

    def held_out(self, groups: IntArray) -> HeldOut:
        """Mean of each rating given those outside its group, and the variance of its error."""
        return self.precision().held_out(groups)

    def precision(self) -> Precision:
        """What leaves ratings out in closed form."""
        q = inverse(self.factor)
        q -= np.outer(self.ones, self.ones / self.ones.sum())
        return Precision(self.y, q)


@dataclass(frozen=True, slots=True, eq=False)
class Precision:
    """Ratings and Q = sigma^-1 - sigma^-1 1 1' sigma^-1 / (1' sigma^-1 1).

    Attributes:
        y: [n] ratings; q: [n, n].
    """

    y: FloatArray
    q: FloatArray

    def held_out(self, groups: IntArray, rows: IntArray | None = None) -> HeldOut:
        """Mean of each rating given those outside its group, and the variance of its error.

        The errors of a group g are Q_gg^-1 (Q y)_g and their covariance is Q_gg^-1 (Dubrule 1983).
        NaN where nothing is left.

        Args:
            groups: [n] labels; rows: those that are asked for, all by default.
        """
        rows = np.arange(len(groups)) if rows is None else rows
        if len(np.unique(groups)) < 2:
            return np.full(len(rows), np.nan), np.full(len(rows), np.nan)
        q = self.q
        means, variances = leave_out(
            self.y, q @ self.y, lambda inside: q[np.ix_(inside, inside)], groups, np.diag(q)
        )
        return means[rows], variances[rows]

    def among(self, rows: IntArray) -> Precision:
        """The same of these ratings alone: Q_kk - Q_kd Q_dd^-1 Q_dk, d those that are dropped."""
        if len(rows) < 2:  # nothing remains to judge by
            return Precision(self.y[rows], np.full((len(rows), len(rows)), np.nan))
        dropped = np.setdiff1d(np.arange(len(self.y)), rows)
        across = self.q[np.ix_(rows, dropped)]
        inner = np.linalg.solve(self.q[np.ix_(dropped, dropped)], across.T)
        return Precision(self.y[rows], self.q[np.ix_(rows, rows)] - across @ inner)


def inverse(factor: Factor) -> FloatArray:
    """Of the matrix that was factored: a third of the work of solving for each column."""
    from scipy.linalg.lapack import dpotri

    below = np.tril(dpotri(factor[0], lower=1)[0])
    return np.asarray(below + np.tril(below, -1).T)


def leave_out(
    y: FloatArray,
    qy: FloatArray,
    block: Callable[[IntArray], FloatArray],
    groups: IntArray,
    diagonal: FloatArray,
) -> HeldOut:
    """Held-out means and error variances from Q y and the diagonal blocks of Q.

    Args:
        y: [n] ratings; qy: [n] Q y.
        block: function from the rows of a group to its block of Q.
        groups: [n] labels, two or more; diagonal: [n] of Q, enough for groups of one.
    """
    means, variances = np.full(len(y), np.nan), np.full(len(y), np.nan)
    _, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    alone = sizes[codes] == 1
    means[alone] = y[alone] - qy[alone] / diagonal[alone]
    variances[alone] = 1.0 / diagonal[alone]
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    for group in np.flatnonzero(sizes > 1):
        rows = order[starts[group] : starts[group + 1]]
        inverse = np.linalg.inv(block(rows))
        means[rows] = y[rows] - inverse @ qy[rows]
        variances[rows] = np.diag(inverse)
    return means, variances


def exact(kernel: FloatArray, noise: FloatArray, y: FloatArray) -> Exact:
    """Conditions the process on ratings; the kernel matrix is overwritten.

    Args:
        kernel: [n, n] covariance of the process.
        noise: [n] nugget and the ratings' own noise.
        y: [n] ratings.

    Raises:
        numpy.linalg.LinAlgError: kernel and noise are not positive definite together.
    """
    from scipy.linalg import cho_factor, cho_solve

    kernel[np.diag_indices(len(y))] += noise
    factor = cho_factor(kernel, lower=True, overwrite_a=True, check_finite=False)
    ones = cho_solve(factor, np.ones(len(y)), check_finite=False)
    mean = float(ones @ y / ones.sum())
    alpha = cho_solve(factor, y - mean, check_finite=False)
    return Exact(factor, y, ones, mean, alpha)
