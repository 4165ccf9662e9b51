"""Kernel weights and nugget by restricted marginal likelihood (Patterson and Thompson 1971)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.estimators.gp.exact import inverse
from refless.registry.arrays import BoolArray, FloatArray

RATE = 5.0  # of the exponential prior on a weight: what the ratings do not ask for is 0
BELIEVED = 2.0, 1.0  # rate, and power, of the gamma prior on the weight of what others said
DOUBTED = 60  # ratings that outweigh the belief that texts add nothing to what others said
LEAST = 1e-6  # weight of a kernel that is believed
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
    def of(cls, believed: BoolArray) -> Prior:
        """What people believe before they rate: a judge is worth something, a feature of texts not.

        All that is believed is worth as much together as one judge is.
        """
        rate, power = BELIEVED
        count = max(1, int(believed.sum()))
        return cls(np.where(believed, rate, RATE), np.where(believed, power / count, 0.0))

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


def hedged_amplitudes(
    kernels: Sequence[FloatArray],
    y: FloatArray,
    noise: FloatArray,
    believed: BoolArray,
    said: BoolArray,
) -> Amplitudes:
    """The most probable amplitudes; where others said something, a mean of two answers.

    One answer hears texts and scores, the other the scores alone. Few ratings do not tell which of
    many kernels of texts is worth something, and what they seem to tell costs more than it brings.
    So the answer of n ratings to texts and scores has the share n / (n + `DOUBTED`).

    Args:
        kernels, y, noise, believed: as of `fitted_amplitudes`.
        said: [kernels] which compare scores of others, or else are not of the texts.
    """
    both = fitted_amplitudes(kernels, y, noise, believed)
    said = said & np.array([np.ptp(kernel) > 0 for kernel in kernels], dtype=np.bool_)
    if not said.any():
        return both
    heard = [kernel for kernel, one in zip(kernels, said, strict=True) if one]
    alone = fitted_amplitudes(heard, y, noise, believed[said])
    trust, weights = len(y) / (len(y) + DOUBTED), np.zeros(len(kernels))
    weights[said] = alone.weights
    return Amplitudes(
        trust * both.weights + (1.0 - trust) * weights,
        trust * both.nugget + (1.0 - trust) * alone.nugget,
    )


def fitted_amplitudes(
    kernels: Sequence[FloatArray], y: FloatArray, noise: FloatArray, believed: BoolArray
) -> Amplitudes:
    """The most probable weights and nugget, given ratings of variance about 1.

    A kernel that is one number throughout is a part of the unknown mean, and has the weight 0.

    Args:
        kernels: [texts, texts] each.
        y: [texts] ratings.
        noise: [texts] variance of each rating's own error.
        believed: [kernels] which are believed to be worth something; see `Prior`.
    """
    from scipy.optimize import minimize

    told = np.array([np.ptp(kernel) > 0 for kernel in kernels], dtype=np.bool_)
    some = [kernel for kernel, tells in zip(kernels, told, strict=True) if tells]
    size, prior = len(some) + 1, Prior.of(believed[told])
    start = np.full(size, 1.0 / size)
    bounds = [(LEAST if power else 0.0, MOST) for power in prior.powers] + [(LEAST_NUGGET, MOST)]
    found = minimize(
        _finite_loss,
        start,
        args=(some, y, noise, prior),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": STEPS, "ftol": ENOUGH},
    )
    weights = np.zeros(len(kernels))
    weights[told] = np.where(found.x[:-1] < 1e-4, 0.0, found.x[:-1])
    return Amplitudes(weights, float(found.x[-1]))


def _finite_loss(
    parameters: FloatArray,
    kernels: Sequence[FloatArray],
    y: FloatArray,
    noise: FloatArray,
    prior: Prior,
) -> tuple[float, FloatArray]:
    loss, gradient = _loss(parameters, kernels, y, noise, prior)
    return (loss, gradient) if np.isfinite(loss) else (1e10, np.zeros_like(parameters))


def _loss(
    parameters: FloatArray,
    kernels: Sequence[FloatArray],
    y: FloatArray,
    noise: FloatArray,
    prior: Prior,
) -> tuple[float, FloatArray]:
    """Minus the log posterior of the amplitudes, and its gradient; inf where undefined."""
    from scipy.linalg import LinAlgError, cho_factor

    weights = parameters[:-1]
    sigma = np.diag(noise + parameters[-1])
    for weight, kernel in zip(weights, kernels, strict=True):
        if weight > 0:
            sigma += weight * kernel
    try:
        factor = cho_factor(sigma, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return float("inf"), np.zeros_like(parameters)
    log_determinant = 2.0 * np.log(np.diag(factor[0])).sum()
    q = inverse(factor)
    ones = q.sum(axis=1)
    total = ones.sum()
    q -= np.outer(ones, ones / total)
    alpha = q @ y
    unlikely, rise = prior.loss(weights)
    loss = 0.5 * (log_determinant + np.log(total) + y @ alpha) + unlikely
    q -= np.outer(alpha, alpha)
    slopes = np.array([0.5 * np.vdot(q, kernel) for kernel in kernels]) + rise
    return float(loss), np.append(slopes, 0.5 * np.trace(q))
