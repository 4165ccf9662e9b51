"""Laplace's approximation of a Gaussian process that is known by who won (Bradley and Terry 1952).

A text wins against another with chance sigmoid(f - f'), f a Gaussian process of quality (Chu and
Ghahramani 2005). What the choices see are differences of f, whose covariance is B K B', so this is
classification by Gaussian processes (Rasmussen and Williams 2006, chapter 3). Ties are half a win
and half a loss.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from refless.data.preferences import Votes
from refless.estimators.gp.inducing import positive_root
from refless.estimators.gp.likelihood import LEAST, MOST, STEPS, Amplitudes, Prior
from refless.registry.arrays import BoolArray, FloatArray

NEWTON, SMALL = 100, 1e-13  # steps, and the rise of the log posterior that ends them
ENOUGH = 1e-5  # relative gain that ends the search for amplitudes
UNIT = 16.0  # variance of quality for which the prior is what it is for ratings of variance 1


def softplus(x: FloatArray) -> FloatArray:
    """log(1 + exp(x))."""
    return np.logaddexp(0.0, x)


def sigmoid(x: FloatArray) -> FloatArray:
    """1 / (1 + exp(-x))."""
    return np.exp(-softplus(-x))


def chance(mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Mean of sigmoid(d) for normal d (MacKay 1992, equation 24)."""
    return sigmoid(mean * damping(variance))


def damping(variance: FloatArray) -> FloatArray:
    """By what a mean is multiplied there."""
    return np.asarray(1.0 / np.sqrt(1.0 + np.pi / 8.0 * variance))


def differences(matrix: FloatArray, votes: Votes) -> FloatArray:
    """[..., pairs] a column of texts less another."""
    return np.asarray(matrix[..., votes.first] - matrix[..., votes.second])


def among(matrix: FloatArray, votes: Votes) -> FloatArray:
    """[pairs, pairs] covariance of differences, from that of the texts."""
    return differences(differences(matrix, votes).T, votes)


class Point(NamedTuple):
    """Where the search for the mode is.

    Attributes:
        fit: log posterior; d: [k] differences of quality.
        gradient, bend: [k] of the log likelihood, and its negative second derivative.
    """

    fit: float
    d: FloatArray
    gradient: FloatArray
    bend: FloatArray


def at(d: FloatArray, norm: float, votes: Votes) -> Point:
    """A point of these differences, whose prior density is exp(-norm / 2)."""
    won, lost = votes.wins, votes.counts - votes.wins
    value = float(-(won @ softplus(-d)) - lost @ softplus(d))
    p = sigmoid(d)
    return Point(value - 0.5 * norm, d, won - votes.counts * p, votes.counts * p * (1.0 - p))


def climbed(
    x: FloatArray,
    there: Callable[[FloatArray], Point],
    goal: Callable[[FloatArray, Point], FloatArray],
) -> tuple[FloatArray, Point]:
    """Newton's method on a concave function; a step that would go down is halved.

    Args:
        x: where to begin; there: the point at any x; goal: where a whole step from x leads.
    """
    here = there(x)
    for _ in range(NEWTON):
        step, move, small = 1.0, goal(x, here) - x, SMALL * (1.0 + abs(here.fit))
        tried = there(x + move)
        while tried.fit < here.fit - small and step > SMALL:
            step /= 2.0
            tried = there(x + step * move)
        rise, x, here = tried.fit - here.fit, x + step * move, tried
        if rise < small:
            break
    return x, here


@dataclass(frozen=True, slots=True, eq=False)
class Mode:
    """Where the posterior of the differences is highest.

    Attributes:
        point: it; weights: [k] K^-1 d.
        factor: lower Cholesky factor of I + W^1/2 K W^1/2, W the bend.
    """

    point: Point
    weights: FloatArray
    factor: FloatArray


def mode(kernel: FloatArray, votes: Votes, start: FloatArray | None = None) -> Mode:
    """By Newton's method (algorithm 3.1).

    Args:
        kernel: [k, k] covariance of the differences; start: [k] weights to begin with.
    """
    from scipy.linalg import cho_solve

    def there(a: FloatArray) -> Point:
        d = kernel @ a
        return at(d, float(a @ d), votes)

    def goal(_: FloatArray, here: Point) -> FloatArray:
        half, b = np.sqrt(here.bend), here.bend * here.d + here.gradient
        factor = _factor(kernel, here.bend), True
        return np.asarray(b - half * cho_solve(factor, half * (kernel @ b), check_finite=False))

    weights, point = climbed(np.zeros(len(kernel)) if start is None else start, there, goal)
    return Mode(point, weights, _factor(kernel, point.bend))


def _factor(kernel: FloatArray, bend: FloatArray) -> FloatArray:
    from scipy.linalg import cholesky

    half = np.sqrt(bend)
    inner = half[:, None] * kernel * half
    inner[np.diag_indices(len(inner))] += 1.0
    return np.asarray(cholesky(inner, lower=True, overwrite_a=True, check_finite=False))


def evidence(
    weights: FloatArray, kernels: Sequence[FloatArray], votes: Votes, start: FloatArray | None
) -> tuple[float, FloatArray, FloatArray]:
    """Log marginal likelihood by Laplace, its gradient, and K^-1 d to start from (algorithm 5.1).

    Args:
        weights: [kernels] at least 0; kernels: [k, k] covariances of the differences.
        votes: the choices; start: as of `mode`.
    """
    from refless.estimators.gp.exact import inverse

    kernel = np.zeros_like(kernels[0])
    for weight, one in zip(weights, kernels, strict=True):
        if weight > 0:
            kernel += weight * one
    found = mode(kernel, votes, start)
    here, half = found.point, np.sqrt(found.point.bend)
    value = here.fit - float(np.log(np.diag(found.factor)).sum())
    root = half[:, None] * inverse((found.factor, True)) * half
    spread = np.diag(kernel) - np.einsum("ij,ji->i", kernel @ root, kernel)
    skew = -0.5 * spread * here.bend * (1.0 - 2.0 * sigmoid(here.d))
    bent = skew - root @ (kernel @ skew)
    outer = np.outer(found.weights, 0.5 * found.weights) + np.outer(here.gradient, bent)
    outer -= 0.5 * root
    return value, np.array([np.vdot(outer, one) for one in kernels]), found.weights


def fitted_amplitudes(
    kernels: Sequence[FloatArray], votes: Votes, believed: BoolArray
) -> Amplitudes:
    """The most probable weights and nugget; a kernel that sees no difference has the weight 0.

    Args:
        kernels: [k, k] covariances of differences of each kernel; the last is the nugget's.
        votes: the choices; believed: [kernels but the last] see `Prior`.
    """
    from scipy.optimize import minimize

    told = np.array([float(np.abs(np.diag(one)).max()) > 1e-9 for one in kernels])
    some = [one for one, tells in zip(kernels, told, strict=True) if tells]
    prior = Prior.of(np.append(believed, False)[told])
    last: list[FloatArray | None] = [None]

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        value, slopes, last[0] = evidence(parameters, some, votes, last[0])
        unlikely, rise = prior.loss(parameters / UNIT)
        return unlikely - value, rise / UNIT - slopes

    found: Any = minimize(
        loss,
        np.full(len(some), UNIT / len(some)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(LEAST if power else 0.0, UNIT * MOST) for power in prior.powers],
        options={"maxiter": STEPS, "ftol": ENOUGH},
    )
    weights = np.zeros(len(kernels))
    weights[told] = np.where(found.x < 1e-4, 0.0, found.x)
    return Amplitudes(weights[:-1], float(weights[-1]))


class Posterior(Protocol):
    """What is known of differences of quality."""

    def predict(self, cross: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Means and variances of differences between new texts.

        Args:
            cross: [new, anchors] their covariance with the anchors; prior: [new] prior variance.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """Out of all pairs; the anchors are all texts.

    Attributes:
        votes: the choices; mode: of their differences.
    """

    votes: Votes
    mode: Mode

    def predict(self, cross: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As of `Posterior` (algorithm 3.2)."""
        from scipy.linalg import solve_triangular

        seen = differences(cross, self.votes)
        half = (seen * np.sqrt(self.mode.point.bend)).T
        half = solve_triangular(self.mode.factor, half, lower=True, check_finite=False)
        return seen @ self.mode.weights, prior - np.square(half).sum(axis=0)


@dataclass(frozen=True, slots=True, eq=False)
class Inducing:
    """Through inducing points: quality is phi w, and what they miss belongs to single texts.

    Attributes:
        root: [r, r] lower factor of their covariance.
        w: [r] mode of the weights; inner: lower factor of their precision there.
    """

    root: FloatArray
    w: FloatArray
    inner: FloatArray

    def predict(self, cross: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As of `Posterior`."""
        from scipy.linalg import solve_triangular

        phi = solve_triangular(self.root, cross.T, lower=True, check_finite=False)
        known = solve_triangular(self.inner, phi, lower=True, check_finite=False)
        left = prior - np.square(phi).sum(axis=0)
        return phi.T @ self.w, left + np.square(known).sum(axis=0)


def exact(kernel: FloatArray, nugget: float, votes: Votes) -> Exact:
    """Given all choices; the kernel, [n, n] of the texts, is overwritten."""
    kernel[np.diag_indices(len(kernel))] += nugget
    return Exact(votes, mode(among(kernel, votes), votes))


def inducing(
    inner: FloatArray, cross: FloatArray, prior: FloatArray, nugget: float, votes: Votes
) -> Inducing:
    """Given all choices, through r inducing points: time k r^2, memory k r.

    What they do not explain of a text, and the nugget, count as noise of each pair, by which its
    difference is damped.

    Args:
        inner: [r, r] covariance of the inducing points; cross: [n, r] of all texts with them.
        prior: [n] prior variance; nugget: of single texts; votes: the choices.
    """
    from scipy.linalg import solve_triangular

    root = positive_root(inner)
    phi = solve_triangular(root, cross.T, lower=True, check_finite=False)
    noise = np.maximum(prior - np.square(phi).sum(axis=0), 0.0) + nugget
    damped = damping(noise[votes.first] + noise[votes.second])
    return Inducing(root, *logistic((differences(phi, votes) * damped).T, votes))


def logistic(seen: FloatArray, votes: Votes) -> tuple[FloatArray, FloatArray]:
    """Mode of Bayesian logistic regression on [k, r] features, and the factor of its precision.

    The weights have variance 1 a priori; there is no intercept, as pairs have no order.
    """
    from scipy.linalg import cho_solve, cholesky

    def precision(here: Point) -> FloatArray:
        found = (seen.T * here.bend) @ seen
        found[np.diag_indices(len(found))] += 1.0
        return np.asarray(cholesky(found, lower=True, overwrite_a=True, check_finite=False))

    w, point = climbed(
        np.zeros(seen.shape[1]),
        lambda w: at(seen @ w, float(w @ w), votes),
        lambda w, here: w + cho_solve((precision(here), True), seen.T @ here.gradient - w),
    )
    return w, precision(point)
