"""Kernel weights and nugget by restricted marginal likelihood (Patterson and Thompson 1971)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.estimators.gp.posterior import inverse
from refless.registry.arrays import BoolArray, FloatArray

RATE = 5.0  # of the exponential prior on a weight: what the ratings do not ask for is 0
JUDGE_PRIOR = 2.0, 1.0  # rate, and power, of the gamma prior on the weight of a judge's scores
SHRINKAGE = 60  # ratings that outweigh the belief that texts add nothing to judges' scores
LEAST = 1e-6  # weight of a judge's kernel
LEAST_NUGGET = 1e-3
MOST = 1e3
STEPS, ENOUGH = 60, 1e-6  # of the search, and the relative gain that ends it


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """Density of each weight, w ** power * exp(-rate * w).

    Attributes:
        rates, powers: [kernels].
    """

    rates: FloatArray
    powers: FloatArray

    @classmethod
    def of(cls, judges: BoolArray) -> Prior:
        """What people believe before they rate: a judge is worth something, a feature of texts not.

        All judges together are worth as much as one judge alone is.
        """
        rate, power = JUDGE_PRIOR
        count = max(1, int(judges.sum()))
        return cls(np.where(judges, rate, RATE), np.where(judges, power / count, 0.0))

    def loss(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """Minus the logarithm, and its gradient."""
        powers, likely = self.powers, np.maximum(weights, LEAST)
        loss = float(self.rates @ weights - powers @ np.log(likely))
        return loss, self.rates - powers / likely


@dataclass(frozen=True, slots=True, eq=False)
class Amplitudes:
    """How much of the ratings' variance each kernel explains, in units of that variance.

    Attributes:
        weights: [kernels] at least 0.
        nugget: what belongs to single texts, greater than 0.
    """

    weights: FloatArray
    nugget: float

    def mixed(self, prior: Amplitudes, trust: float) -> Amplitudes:
        """These with the share `trust`, others with what remains of 1."""
        return Amplitudes(
            trust * self.weights + (1.0 - trust) * prior.weights,
            trust * self.nugget + (1.0 - trust) * prior.nugget,
        )


def shrunk_amplitudes(
    kernels: Sequence[FloatArray],
    y: FloatArray,
    noise: FloatArray,
    judges: BoolArray,
    scores: BoolArray,
) -> Amplitudes:
    """The most probable amplitudes; with judges, a mean of two answers.

    One answer reads texts and scores, the other the scores alone. Few ratings do not tell which of
    many kernels of texts is worth something, and what they seem to tell costs more than it brings.
    So the answer of n ratings to texts and scores has the share n / (n + `SHRINKAGE`).

    Args:
        kernels, y, noise, judges: as of `fitted_amplitudes`.
        scores: [kernels] which compare scores of judges, or else are not of the texts.
    """
    full = fitted_amplitudes(kernels, y, noise, judges)
    scores = scores & np.array([np.ptp(kernel) > 0 for kernel in kernels], dtype=np.bool_)
    if not scores.any():
        return full
    compared = [kernel for kernel, is_score in zip(kernels, scores, strict=True) if is_score]
    alone, weights = fitted_amplitudes(compared, y, noise, judges[scores]), np.zeros(len(kernels))
    weights[scores] = alone.weights
    return full.mixed(Amplitudes(weights, alone.nugget), len(y) / (len(y) + SHRINKAGE))


def fitted_amplitudes(
    kernels: Sequence[FloatArray], y: FloatArray, noise: FloatArray, judges: BoolArray
) -> Amplitudes:
    """The most probable weights and nugget, given ratings of variance about 1.

    A kernel that is one number throughout is a part of the unknown mean, and has the weight 0.

    Args:
        kernels: [texts, texts] each.
        y: [texts] ratings.
        noise: [texts] variance of each rating's own error.
        judges: [kernels] which are lines of a judge's scores; see `Prior`.
    """
    from scipy.optimize import minimize

    varied = np.array([np.ptp(kernel) > 0 for kernel in kernels], dtype=np.bool_)
    terms = [kernel for kernel, varies in zip(kernels, varied, strict=True) if varies]
    size, prior = len(terms) + 1, Prior.of(judges[varied])
    bounds = [(LEAST if power else 0.0, MOST) for power in prior.powers] + [(LEAST_NUGGET, MOST)]
    optimum = minimize(
        restricted_loss,
        np.full(size, 1.0 / size),
        args=(terms, y, noise, prior),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": STEPS, "ftol": ENOUGH},
    ).x
    weights = np.zeros(len(kernels))
    weights[varied] = np.where(optimum[:-1] < 1e-4, 0.0, optimum[:-1])
    return Amplitudes(weights, float(optimum[-1]))


def restricted_loss(
    parameters: FloatArray,
    kernels: Sequence[FloatArray],
    y: FloatArray,
    noise: FloatArray,
    prior: Prior,
) -> tuple[float, FloatArray]:
    """Minus the log posterior of weights and nugget, and its gradient; huge if undefined."""
    from scipy.linalg import LinAlgError, cho_factor

    weights = parameters[:-1]
    sigma = np.diag(noise + parameters[-1])
    for weight, kernel in zip(weights, kernels, strict=True):
        if weight > 0:
            sigma += weight * kernel
    try:
        factor = cho_factor(sigma, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return 1e10, np.zeros_like(parameters)
    log_determinant = 2.0 * np.log(np.diag(factor[0])).sum()
    q = inverse(factor)
    row_sums = q.sum(axis=1)
    total = row_sums.sum()
    q -= np.outer(row_sums, row_sums / total)
    alpha = q @ y
    unlikely, rise = prior.loss(weights)
    loss = float(0.5 * (log_determinant + np.log(total) + y @ alpha) + unlikely)
    q -= np.outer(alpha, alpha)
    slopes = np.array([0.5 * np.vdot(q, kernel) for kernel in kernels]) + rise
    gradient = np.append(slopes, 0.5 * np.trace(q))
    return (loss, gradient) if np.isfinite(loss) else (1e10, np.zeros_like(parameters))
