"""Kernel weights and nugget, by what they say of sources that are left out, and by likelihood.

What texts of one source share is not known of a new source, but the likelihood pays kernels for it
(restricted marginal likelihood; Patterson and Thompson 1971). The log score on the texts of each
source given those of the others does not (Dubrule 1983; Sundararajan and Keerthi 2001 of single
texts), but with few sources it is noisier. So weights are a mean of both answers and a third.

Outputs on a source that is rated already are another question, to which single texts that are left
out are the answer: there the other texts of the source do tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from scipy.linalg import LinAlgError, cho_factor

from refless.registry.arrays import BoolArray, FloatArray, IntArray, numbers_of
from refless.stats.posterior import inverse

RATE = 5.0  # of the exponential prior on a weight: what the ratings do not ask for is 0
SHRINKAGE = 100  # ratings that outweigh what is believed before any
# shares that are believed: of the ratings' variance that belongs to single texts, and of
# what judges say, where there are some, in what remains
SINGLE = 1 / 3
TRUST = 1 / 3
LEAST_NUGGET = 1e-3
FEWEST_GROUPS = 3  # that tell how another group is rated
LARGEST_WEIGHT = 1e3
STEPS = 60  # of the search
ENOUGH = 1e-6  # relative gain that ends it


@dataclass(frozen=True, slots=True, eq=False)
class Amplitudes:
    """The share of the ratings' variance that each kernel explains."""

    weights: FloatArray  # [kernels] at least 0
    nugget: float  # what belongs to single texts, greater than 0

    def mixed(self, prior: Amplitudes, trust: float) -> Amplitudes:
        """These with the share `trust`, others with what remains of 1."""
        weights = trust * self.weights + (1.0 - trust) * prior.weights
        nugget = trust * self.nugget + (1.0 - trust) * prior.nugget
        return Amplitudes(weights, nugget)


def shrunk_amplitudes(
    kernels: Sequence[FloatArray],
    y: FloatArray,
    noise: FloatArray,
    details: BoolArray,
    beliefs: Sequence[tuple[BoolArray, float]],
    blocks: Sequence[IntArray],
    likely: Amplitudes | None = None,
) -> Amplitudes:
    """The mean of three answers, and what is believed before any rating.

    The three are that of the likelihood, that of what is left out, and the latter without
    `details`. Each alone is far behind on some kind of ratings; their mean leads on average. But
    what the likelihood says counts only if it tells more of what is left out than no text does.

    Few ratings do not tell which of many kernels is worth something, and what they seem to tell
    costs more than it brings. So of n ratings the three have the share n / (n + `SHRINKAGE`).

    Args:
        kernels, y, noise, blocks: as of `fitted_amplitudes`.
        details: [kernels] which see a single side of texts.
        beliefs: see `believed`.
        likely: what the likelihood says, if it is known already; it knows of no blocks.
    """

    def answer(columns: BoolArray, blocks: Sequence[IntArray]) -> Amplitudes:
        compared = [*compress(kernels, columns)]
        fitted = fitted_amplitudes(compared, y, noise, blocks)
        weights = np.zeros(len(kernels))
        weights[columns] = fitted.weights
        return Amplitudes(weights, fitted.nugget)

    every = np.ones(len(kernels), dtype=np.bool_)
    full = answer(every, blocks).mixed(answer(~details, blocks), 0.5)
    if likely is None:
        likely = answer(every, ())

    def misfit(fitted: Amplitudes) -> float:
        parameters = np.append(fitted.weights, fitted.nugget)
        loss, _ = loss_of(parameters, kernels, y, noise, blocks)
        return loss - RATE * float(fitted.weights.sum())

    if misfit(likely) <= constant_misfit(y, noise, blocks):
        full = likely.mixed(full, 1 / 3)
    return full.mixed(believed(kernels, beliefs), len(y) / (len(y) + SHRINKAGE))


def believed(
    kernels: Sequence[FloatArray], beliefs: Sequence[tuple[BoolArray, float]]
) -> Amplitudes:
    """The prior before any rating: kernels of a kind are worth the same.

    Args:
        kernels: [texts, texts] each; one that is one number throughout is worth nothing.
        beliefs: [kernels] which are of a kind, and the share of the kind.
    """
    varied = _varied(kernels)
    kinds = [(kind & varied, share) for kind, share in beliefs]
    kinds = [(kind, share) for kind, share in kinds if kind.any()]
    total = sum(share for _, share in kinds)
    weights = np.zeros(len(kernels))
    for kind, share in kinds:
        weights[kind] = (1.0 - SINGLE) * (share / total) / np.count_nonzero(kind)
    return Amplitudes(weights, SINGLE)


def fitted_amplitudes(
    kernels: Sequence[FloatArray],
    y: FloatArray,
    noise: FloatArray,
    blocks: Sequence[IntArray] = (),
) -> Amplitudes:
    """The most probable weights and nugget, given ratings of variance about 1.

    A kernel that is one number throughout is a part of the unknown mean, and has the weight 0.

    Args:
        kernels: [texts, texts] each; y: [texts] ratings; noise: [texts] variance of each one's own
            error; blocks: what is left out together, see `left_out`; () for the likelihood.
    """
    from scipy.optimize import minimize

    varied = _varied(kernels)
    terms = [kernel for kernel, varies in zip(kernels, varied, strict=True) if varies]
    size = len(terms) + 1
    bounds = [(0.0, LARGEST_WEIGHT)] * len(terms) + [(LEAST_NUGGET, LARGEST_WEIGHT)]
    optimum = minimize(
        loss_of,
        np.full(size, 1.0 / size),
        args=(terms, y, noise, blocks),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": STEPS, "ftol": ENOUGH},
    ).x
    weights = np.zeros(len(kernels))
    weights[varied] = np.where(optimum[:-1] < 1e-4, 0.0, optimum[:-1])
    return Amplitudes(weights, float(optimum[-1]))


def _varied(kernels: Sequence[FloatArray]) -> BoolArray:
    """[kernels] which are not one number throughout."""
    return np.array([np.ptp(kernel) > 0 for kernel in kernels], dtype=np.bool_)


def constant_misfit(
    y: FloatArray, noise: FloatArray, blocks: Sequence[IntArray]
) -> float:
    """The least `left_out_loss` without kernels, where the mean of the others is the estimate."""
    from scipy.optimize import minimize_scalar

    group = np.empty(len(y), dtype=np.int64)
    groups = 0
    for rows in blocks:
        group[rows] = np.arange(groups, groups + len(rows))[:, None]
        groups += len(rows)

    def loss(log_nugget: float) -> float:
        variances = noise + np.exp(log_nugget)
        inside = np.bincount(group, 1.0 / variances)
        others = inside.sum() - inside
        sums = np.bincount(group, y / variances)
        means = (sums.sum() - sums) / others
        spread = variances + 1.0 / others[group]
        errors = y - means[group]
        return 0.5 * float((np.log(spread) + errors**2 / spread).sum())

    bounds = np.log([LEAST_NUGGET, LARGEST_WEIGHT])
    return float(minimize_scalar(loss, bounds=bounds, method="bounded").fun)


def left_out(groups: IntArray) -> list[IntArray]:
    """The blocks of these groups, or single rows if there are fewer than three groups.

    Groups are in the order of rows, whatever their numbers.
    """
    number = numbers_of(groups)
    if number.max(initial=-1) + 1 < FEWEST_GROUPS:
        return blocks_of(np.arange(len(groups)))
    return blocks_of(number)


def blocks_of(groups: IntArray) -> list[IntArray]:
    """Rows of each group, [groups, size] for each size."""
    _, codes, counts = np.unique(groups, return_inverse=True, return_counts=True)
    order = np.argsort(codes, kind="stable")
    sizes = counts[codes[order]]
    return [order[sizes == size].reshape(-1, size) for size in np.unique(counts)]


def loss_of(
    parameters: FloatArray,
    kernels: Sequence[FloatArray],
    y: FloatArray,
    noise: FloatArray,
    blocks: Sequence[IntArray] = (),
) -> tuple[float, FloatArray]:
    """Minus the log score or likelihood and the log prior, and the gradient; huge if undefined."""
    weights = parameters[:-1]
    sigma = np.diag(noise + parameters[-1])
    for weight, kernel in zip(weights, kernels, strict=True):
        if weight > 0:
            sigma += weight * kernel
    try:
        # columns first, so that nothing is copied
        factor = cho_factor(sigma.T, lower=False, overwrite_a=True, check_finite=False)
        log_determinant = 2.0 * np.log(np.diag(factor[0])).sum()
        q = inverse(factor)
        row_sums = q.sum(axis=1)
        total = row_sums.sum()
        q -= np.outer(row_sums, row_sums / total)
        if blocks:
            misfit, slope = left_out_loss(q, y, blocks)
        else:
            alpha = q @ y
            misfit = float(0.5 * (log_determinant + np.log(total) + y @ alpha))
            slope = 0.5 * (q - np.outer(alpha, alpha))
    except LinAlgError:
        return 1e10, np.zeros_like(parameters)
    slopes = np.array([np.vdot(slope, kernel) for kernel in kernels]) + RATE
    gradient = np.append(slopes, np.trace(slope))
    loss = misfit + float(np.full(len(weights), RATE) @ weights)
    return (loss, gradient) if np.isfinite(loss) else (1e10, np.zeros_like(parameters))


def left_out_loss(
    q: FloatArray, y: FloatArray, blocks: Sequence[IntArray]
) -> tuple[float, FloatArray]:
    """Minus the log score of each rating given those outside its block, and its slope by sigma.

    The errors of a block g are Q_gg^-1 (Q y)_g and their covariance is Q_gg^-1. The slope is
    Q M Q, M of blocks, and an outer product; it is made of squares, by their signs, which take half
    the work of a product.
    """
    alpha = q @ y
    loss = 0.0
    pulls = np.empty_like(y)
    sizes = np.empty_like(y)
    roots = np.empty_like(q)
    for rows in blocks:
        inner = np.linalg.inv(q[rows[:, :, None], rows[:, None, :]])
        variances = np.diagonal(inner, axis1=1, axis2=2)
        errors = np.einsum("gij,gj->gi", inner, alpha[rows])
        scaled = errors / variances
        with np.errstate(invalid="ignore"):
            loss += 0.5 * float((np.log(variances) + errors * scaled).sum())
        pull = np.einsum("gij,gj->gi", inner, scaled)
        factors = 0.5 * (1.0 - errors * scaled) / variances
        middle = (inner * factors[:, None, :]) @ inner
        crossed = errors[:, :, None] * pull[:, None, :]
        middle += 0.5 * (crossed + crossed.transpose(0, 2, 1))
        pulls[rows] = pull
        sizes[rows], vectors = np.linalg.eigh(middle)
        vectors *= np.sqrt(np.abs(sizes[rows]))[:, None, :]
        roots[rows] = vectors.transpose(0, 2, 1) @ q[rows]
    pulled = q @ pulls
    plus = np.vstack([roots[sizes > 0], 0.5 * (pulled - alpha)])
    minus = np.vstack([roots[sizes <= 0], 0.5 * (pulled + alpha)])
    return loss, plus.T @ plus - minus.T @ minus
