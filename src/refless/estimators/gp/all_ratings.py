"""The posterior mean given all ratings, where these are too many for a matrix to be inverted.

Kernels that are products of features multiply as sparse matrices. The others are one matrix of all
pairs in single precision, by which a mean is off by 1e-5 of the ratings' deviation at most. Of more
than 20,000 rated texts it is a matrix of all texts and those drawn as landmarks, which tell of the
others (Nystroem's approximation).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from refless.estimators.gp.kernels import (
    BLOCK,
    Covariance,
    LearnedKernel,
    LinearKernel,
    Points,
)
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.conjugate import JITTER, LowRank, conjugate_gradients
from refless.stats.posterior import Exact, Factor

MOST_COMPARED = 20_000  # rated texts of which all pairs are compared: 1.6 GB
PRECISION = np.float32  # of the matrix of pairs; estimates are right to 1e-5 by it
PIVOTS = 500  # rated texts whose covariances tell of the others


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorMean:
    """Weights of the rated texts in the posterior mean.

    Attributes:
        mean: the constant mean.
        alpha: [n] sigma^-1 (y - mean), for kernels that are products of features.
        landmarks: [m] rows of the rated texts that other kernels compare outputs with, ascending.
        beta: [m] weights of these.
        drawn: [d] rows that the variance comes from, all of them landmarks, ascending.
    """

    mean: float
    alpha: FloatArray
    landmarks: IntArray
    beta: FloatArray
    drawn: IntArray

    @classmethod
    def of(cls, posterior: Exact) -> PosteriorMean:
        """That of ratings that are few enough."""
        every = np.arange(len(posterior.y))
        return cls(posterior.mean, posterior.alpha, every, posterior.alpha, every)


@dataclass(frozen=True, slots=True, eq=False)
class AllRatings:
    """The covariance of all ratings, as products with it.

    Attributes:
        features: of the kernels that are products of them, with the kernels' weights.
        landmarks: [m] rows of rated texts, ascending.
        compared: [n, m] sum of the other kernels, in single precision.
        factor: Cholesky factor of its rows of landmarks; None if all texts are landmarks.
        noise: [n] nugget and the ratings' own noise.
        near: the covariance as few of its columns tell it.
        drawn: [d] rows that the variance comes from.
    """

    features: Sequence[tuple[float, Any]]
    landmarks: IntArray
    compared: FloatArray
    factor: Factor | None
    noise: FloatArray
    near: LowRank
    drawn: IntArray

    @classmethod
    def of(
        cls,
        kernels: Mapping[str, LearnedKernel],
        weights: FloatArray,
        points: Mapping[str, Points],
        noise: FloatArray,
        drawn: IntArray,
    ) -> AllRatings:
        """The covariance of the ratings of these [n] points, by kernels with these weights."""
        n = len(noise)
        landmarks = landmarks_of(n, drawn)
        linear = of_kind(kernels, weights, linear=True)
        features = [
            (weight, cast("LinearKernel", kernels[name]).features(points[name]))
            for name, weight in zip(kernels, linear.tolist(), strict=True)
            if weight > 0
        ]
        others = of_kind(kernels, weights, linear=False)
        compared: FloatArray = np.empty((n, len(landmarks)), PRECISION)
        _compare(kernels, others, points, landmarks, compared)
        factor = None
        if len(landmarks) < n:
            among = compared[landmarks].astype(np.float64)
            among[np.diag_indices(len(among))] += JITTER
            factor = cho_factor(among, lower=True, overwrite_a=True)
        pivots = np.random.default_rng(3).permutation(drawn)[:PIVOTS]
        columns = np.empty((n, len(pivots)))
        _compare(kernels, weights, points, pivots, columns)
        near = LowRank.of(columns, columns[pivots], noise)
        return cls(
            features=features,
            landmarks=landmarks,
            compared=compared,
            factor=factor,
            noise=noise,
            near=near,
            drawn=drawn,
        )

    def posterior_mean(self, y: FloatArray) -> PosteriorMean:
        """The posterior mean given all [n] ratings; see `conjugate_gradients`."""
        right = np.column_stack([np.ones(len(y)), y])
        ones, weighed = self.solved(right).T
        mean = float(ones @ y / ones.sum())
        alpha = weighed - mean * ones
        beta = self._of_landmarks(alpha)
        return PosteriorMean(mean, alpha, self.landmarks, beta, self.drawn)

    def shares(self, linear: FloatArray, others: FloatArray) -> FloatArray:
        """[n] weight of each rating in the mean of one output.

        Args:
            linear: [n] its covariances by kernels that are products of features.
            others: [m] its covariances with landmarks by the others.
        """
        if self.factor is not None:
            others = cho_solve(self.factor, others, check_finite=False)
            others = self.compared @ others
        cross = linear + others
        right = np.column_stack([np.ones(len(cross)), cross])
        ones, solved = self.solved(right).T
        return np.asarray(solved + (1.0 - cross @ ones) / ones.sum() * ones)

    def solved(self, right: FloatArray) -> FloatArray:
        """[n, k] the inverse of the covariance times columns."""
        return conjugate_gradients(self.times, self.near, right)

    def times(self, columns: FloatArray) -> FloatArray:
        """[n, k] the covariance times columns."""
        total = self.noise[:, None] * columns
        for weight, features in self.features:
            total += weight * (features @ (features.T @ columns))
        of_landmarks = self._of_landmarks(columns).astype(PRECISION)
        return np.asarray(total + self.compared @ of_landmarks)

    def _of_landmarks(self, columns: FloatArray) -> FloatArray:
        """[m, ...] what columns of all rated texts come to, as weights of landmarks."""
        if self.factor is None:
            return columns
        products = self.compared.T @ columns.astype(PRECISION)
        return np.asarray(cho_solve(self.factor, products, check_finite=False))


def landmarks_of(n: int, drawn: IntArray) -> IntArray:
    """[m] rows of n rated texts that kernels without features compare outputs with."""
    return np.arange(n) if n <= MOST_COMPARED else drawn


def of_kind(
    kernels: Mapping[str, LearnedKernel], weights: FloatArray, *, linear: bool
) -> FloatArray:
    """[kernels] the weights, 0 for kernels that are products of features, or for all others."""
    is_linear = np.array([hasattr(kernel, "features") for kernel in kernels.values()])
    return np.where(is_linear == linear, weights, 0.0)


def _compare(
    kernels: Mapping[str, LearnedKernel],
    weights: FloatArray,
    points: Mapping[str, Points],
    rows: IntArray,
    compared: FloatArray,
) -> None:
    """Fills [n, rows] with the weighted sum of kernels of all [n] points and some of them."""
    anchors = {name: lying[rows] for name, lying in points.items()}
    covariance = Covariance.of(kernels, weights, anchors, len(rows))
    n = len(compared)
    for begin in range(0, n, BLOCK):
        block = slice(begin, min(begin + BLOCK, n))
        part = {name: points[name][block] for name in covariance.kernels}
        compared[block] = covariance.between(part, block.stop - begin)
