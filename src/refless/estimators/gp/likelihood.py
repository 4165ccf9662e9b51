"""Kernel weights and nugget by restricted marginal likelihood (Patterson and Thompson 1971)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.estimators.gp.exact import inverse
from refless.records import FloatArray

PRIOR = 2.0  # rate of the exponential prior on each weight: what the data do not ask for is 0
LEAST_NUGGET = 1e-3
MOST = 1e3
STEPS, ENOUGH = 60, 1e-6  # of the search, and the relative gain that ends it


@dataclass(frozen=True, slots=True, eq=False)
class Amplitudes:
    """How much of the ratings' variance each kernel explains, in units of that variance.

    Attributes:
        weights: [kernels] at least 0.
        nugget: what belongs to single texts, greater than 0.
    """

    weights: FloatArray
    nugget: float


def fitted_amplitudes(
    kernels: Sequence[FloatArray], y: FloatArray, noise: FloatArray
) -> Amplitudes:
    """The most probable weights and nugget, given ratings of variance about 1.

    Args:
        kernels: [texts, texts] each.
        y: [texts] ratings.
        noise: [texts] variance of each rating's own error.
    """
    from scipy.optimize import minimize

    size = len(kernels) + 1
    start = np.full(size, 1.0 / size)
    bounds = [(0.0, MOST)] * (size - 1) + [(LEAST_NUGGET, MOST)]
    found = minimize(
        _finite_loss,
        start,
        args=(kernels, y, noise),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": STEPS, "ftol": ENOUGH},
    )
    return Amplitudes(np.where(found.x[:-1] < 1e-4, 0.0, found.x[:-1]), float(found.x[-1]))


def _finite_loss(
    parameters: FloatArray, kernels: Sequence[FloatArray], y: FloatArray, noise: FloatArray
) -> tuple[float, FloatArray]:
    loss, gradient = _loss(parameters, kernels, y, noise)
    return (loss, gradient) if np.isfinite(loss) else (1e10, np.zeros_like(parameters))


def _loss(
    parameters: FloatArray, kernels: Sequence[FloatArray], y: FloatArray, noise: FloatArray
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
    loss = 0.5 * (log_determinant + np.log(total) + y @ alpha) + PRIOR * weights.sum()
    q -= np.outer(alpha, alpha)
    slopes = [0.5 * np.vdot(q, kernel) + PRIOR for kernel in kernels]
    slopes.append(0.5 * np.trace(q))
    return float(loss), np.array(slopes)
