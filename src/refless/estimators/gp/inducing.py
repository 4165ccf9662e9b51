"""Ordinary the Gaussian process through inducing points (FITC, Snelson and Ghahramani 2006).

The covariance of n ratings is taken as phi phi' + diag(d): phi = K_nm L^-T with L L' = K_mm, and d
what the m inducing points leave of each text's variance, with nugget and noise. Memory n m.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from refless.estimators.gp.exact import Factor, Left, leave_out
from refless.records import FloatArray, IntArray

ROWS = 4_096  # rated texts at a time, where products would take as much memory as all of them


@dataclass(frozen=True, eq=False)
class Inducing:
    """A Gaussian process with an unknown constant mean, given n ratings, through m points.

    Attributes:
        root: [m, m] lower Cholesky factor of the inducing points' covariance.
        phi: [n, m] features; d: [n] variance that they do not explain.
        inner: factor of I + phi' d^-1 phi.
        y: [n] ratings; ones: [n] sigma^-1 1; mean: the constant mean.
    """

    root: FloatArray
    phi: FloatArray
    d: FloatArray
    inner: Factor
    y: FloatArray
    ones: FloatArray
    mean: float

    @cached_property
    def _answers(self) -> FloatArray:
        """[m] phi' sigma^-1 (y - mean): of each feature in any mean."""
        return np.asarray(self.phi.T @ self._solve(self.y - self.mean))

    @cached_property
    def _known(self) -> FloatArray:
        """[m] phi' sigma^-1 1: how much of the constant each feature tells."""
        return np.asarray(self.phi.T @ self.ones)

    def _solve(self, columns: FloatArray) -> FloatArray:
        """sigma^-1 times columns."""
        return _woodbury(self.phi, self.d, self.inner, columns)

    def _features(self, cross: FloatArray) -> FloatArray:
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(self.root, cross.T, lower=True).T)

    @property
    def weights(self) -> FloatArray:
        """[m] of the inducing points in any mean: it is `mean` + cross @ `weights`."""
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(self.root, self._answers, lower=True, trans="T"))

    def predict(self, cross: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the process at new texts; `cross` is [new, m]."""
        features = self._features(cross)
        values, spread = self._at(features)
        return values, prior - (features**2).sum(axis=1) + spread

    def _at(self, features: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Means, and variances of what the inducing points explain."""
        from scipy.linalg import cho_solve

        values = self.mean + features @ self._answers
        lack = 1.0 - features @ self._known
        inner = cho_solve(self.inner, features.T).T
        return values, (features * inner).sum(axis=1) + lack**2 / self.ones.sum()

    def together(self, cross: FloatArray, prior: FloatArray) -> FloatArray:
        """As `Exact.together`; `cross` is [new, m]."""
        from scipy.linalg import cho_solve

        features = self._features(cross)
        lack = 1.0 - features @ self._known
        prior -= features @ (features - cho_solve(self.inner, features.T).T).T
        prior += np.outer(lack, lack / self.ones.sum())
        return prior

    def shares(self, cross: FloatArray) -> FloatArray:
        """[new, n] weight of each rating in each mean; every row sums to 1."""
        features = self._features(cross)
        solved = self._solve(self.phi @ features.T).T
        lack = 1.0 - features @ self._known
        return np.asarray(solved + np.outer(lack / self.ones.sum(), self.ones))

    def held_out(self, groups: IntArray) -> Left:
        """As `Exact.held_out`, for the covariance of this class."""
        return self.leaving()(groups)

    def leaving(self) -> Callable[[IntArray], Left]:
        """As `Exact.leaving`."""
        from scipy.linalg import cho_solve

        total = self.ones.sum()
        inner, explained = np.empty_like(self.phi), np.empty(len(self.d))
        for begin in range(0, len(self.d), ROWS):
            some = slice(begin, begin + ROWS)
            scaled = _over(self.phi[some], self.d[some])
            inner[some] = cho_solve(self.inner, scaled.T, check_finite=False).T
            explained[some] = (scaled * inner[some]).sum(axis=1)
        diagonal = 1.0 / self.d - explained - self.ones**2 / total
        qy = self._solve(self.y) - self.ones * (self.ones @ self.y) / total

        def block(rows: IntArray) -> FloatArray:
            scaled = _over(self.phi[rows], self.d[rows])
            part = np.diag(1.0 / self.d[rows]) - scaled @ inner[rows].T
            return np.asarray(part - np.outer(self.ones[rows], self.ones[rows]) / total)

        return partial(leave_out, self.y, qy, block, diagonal=diagonal, without=self._without)

    def _without(self, rows: IntArray) -> Left:
        """The same for one group, by conditioning on all the others: for large groups."""
        others = np.delete(np.arange(len(self.y)), rows)
        lower, phi = np.tril(self.inner[0]), self.phi[rows]
        inner = lower @ lower.T - phi.T @ _over(phi, self.d[rows])
        left = _conditioned(self.root, self.phi[others], self.d[others], self.y[others], inner)
        values, spread = left._at(self.phi[rows])  # noqa: SLF001 - of its own class
        return values, spread + self.d[rows]


def _woodbury(phi: FloatArray, d: FloatArray, inner: Factor, columns: FloatArray) -> FloatArray:
    from scipy.linalg import cho_solve

    scaled = _over(columns, d)
    return scaled - _over(phi @ cho_solve(inner, phi.T @ scaled), d)


def _over(columns: FloatArray, d: FloatArray) -> FloatArray:
    """Rows divided by d."""
    return np.asarray((columns.T / d).T)


def inducing(
    among: FloatArray, cross: FloatArray, prior: FloatArray, noise: FloatArray, y: FloatArray
) -> Inducing:
    """Conditions the process on ratings.

    Args:
        among: [m, m] covariance of the inducing points.
        cross: [n, m] covariance of the rated texts with them, overwritten.
        prior: [n] prior variance of the rated texts.
        noise: [n] nugget and the ratings' own noise.
        y: [n] ratings.
    """
    from scipy.linalg import solve_triangular

    root = np.asfortranarray(positive_root(among))  # as a saved one is read again
    solved = solve_triangular(root, cross.T, lower=True, check_finite=False, overwrite_b=True)
    phi = np.ascontiguousarray(solved.T)
    d = np.maximum(prior - (phi**2).sum(axis=1), 0.0) + noise
    return _conditioned(root, phi, d, y)


def _conditioned(
    root: FloatArray,
    phi: FloatArray,
    d: FloatArray,
    y: FloatArray,
    within: FloatArray | None = None,
) -> Inducing:
    from scipy.linalg import cho_factor

    within = np.eye(len(root)) + phi.T @ _over(phi, d) if within is None else within
    inner = cho_factor(within, lower=True)
    ones = _woodbury(phi, d, inner, np.ones(len(y)))
    return Inducing(root, phi, d, inner, y, ones, float(ones @ y / ones.sum()))


def positive_root(matrix: FloatArray) -> FloatArray:
    """Lower Cholesky factor of a symmetric matrix, its diagonal shifted as far as it needs."""
    from scipy.linalg import LinAlgError, cholesky, eigvalsh

    shift = max(1e-8 * float(np.trace(matrix)) / len(matrix), 1e-12)
    for extra in (0.0, None):
        if extra is None:
            extra = -float(eigvalsh(matrix, subset_by_index=[0, 0])[0]) + shift
        try:
            shifted = matrix + (shift + extra) * np.eye(len(matrix))
            return np.asarray(cholesky(shifted, lower=True))
        except LinAlgError:
            continue
    raise LinAlgError("the covariance of the inducing points is not finite")
