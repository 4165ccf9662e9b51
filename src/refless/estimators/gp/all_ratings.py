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
        linear: kernels that are products of features, beside all texts; others: beside landmarks.
        features: of the linear kernels, with their weights.
        landmarks: [m] rows of rated texts, ascending.
        compared: [n, m] sum of the other kernels, in single precision.
        factor: Cholesky factor of its rows of landmarks; None if all texts are landmarks.
        noise: [n] nugget and the ratings' own noise.
        near: the covariance as few of its columns tell it.
        drawn: [d] rows that the variance comes from.
    """

    linear: Covariance
    others: Covariance
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
        landmarks = np.arange(n) if n <= MOST_COMPARED else drawn
        linear, others = parted(kernels, weights, points, landmarks)
        features = []
        for name, weight in linear.weights.items():
            kernel = cast("LinearKernel", kernels[name])
            features.append((weight, kernel.features(points[name])))
        compared = _beside_all(others, points, n, PRECISION)
        factor = None
        if len(landmarks) < n:
            among = compared[landmarks].astype(np.float64)
            among[np.diag_indices(len(among))] += JITTER
            factor = cho_factor(among, lower=True, overwrite_a=True)
        pivots = np.random.default_rng(3).permutation(drawn)[:PIVOTS]
        anchors = {name: lying[pivots] for name, lying in points.items()}
        few = Covariance.of(kernels, weights, anchors, len(pivots))
        columns = _beside_all(few, points, n, np.float64)
        near = LowRank.of(columns, columns[pivots], noise)
        return cls(
            linear=linear,
            others=others,
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

    def shares(self, points: Mapping[str, Points]) -> FloatArray:
        """[n] weight of each rating in the mean of one output."""
        cross = self.linear.between(points, 1)[0]
        of_landmarks = self.others.between(points, 1)[0]
        if self.factor is not None:
            of_landmarks = cho_solve(self.factor, of_landmarks, check_finite=False)
            of_landmarks = self.compared @ of_landmarks
        cross += of_landmarks
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


def parted(
    kernels: Mapping[str, LearnedKernel],
    weights: FloatArray,
    points: Mapping[str, Points],
    landmarks: IntArray,
) -> tuple[Covariance, Covariance]:
    """The kernels that are products of features beside all points, the others beside landmarks."""
    is_linear = np.array([hasattr(kernel, "table") for kernel in kernels.values()])
    n = next(iter(points.values())).shape[0]
    anchors = {name: lying[landmarks] for name, lying in points.items()}
    return (
        Covariance.of(kernels, np.where(is_linear, weights, 0.0), points, n),
        Covariance.of(
            kernels, np.where(is_linear, 0.0, weights), anchors, len(landmarks)
        ),
    )


def _beside_all(
    covariance: Covariance, points: Mapping[str, Points], n: int, precision: type
) -> FloatArray:
    """[n, anchors] covariance of all points with the anchors, in a precision."""
    total: FloatArray = np.empty((n, covariance.size), precision)
    for begin in range(0, n, BLOCK):
        rows = slice(begin, min(begin + BLOCK, n))
        part = {name: points[name][rows] for name in covariance.kernels}
        total[rows] = covariance.between(part, rows.stop - begin)
    return total
