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

import numpy as np
from scipy.linalg import LinAlgError, cho_factor

from refless.registry.arrays import BoolArray, FloatArray, IntArray, numbers_of
from refless.stats.minimum import Local, minimized
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


@dataclass(frozen=True, slots=True, eq=False)
class Amplitudes:
    """The share of the ratings' variance that each kernel explains."""

    weights: FloatArray  # [kernels] at least 0
    nugget: float  # what belongs to single texts, greater than 0

    @property
    def parameters(self) -> FloatArray:
        """[kernels + 1] weights and nugget."""
        return np.append(self.weights, self.nugget)

    def mixed(self, prior: Amplitudes, trust: float) -> Amplitudes:
        """These with the share `trust`, others with what remains of 1."""
        weights = trust * self.weights + (1.0 - trust) * prior.weights
        nugget = trust * self.nugget + (1.0 - trust) * prior.nugget
        return Amplitudes(weights, nugget)


def shrunk_amplitudes(
    kernels: FloatArray,
    y: FloatArray,
    noise: FloatArray,
    details: BoolArray,
    beliefs: Sequence[tuple[BoolArray, float]],
    blocks: Sequence[IntArray],
    likely: Amplitudes,
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
        likely: what the likelihood says; it knows of no blocks.
    """
    full = fitted_amplitudes(kernels, y, noise, blocks, likely)
    plain = fitted_amplitudes(kernels[~details], y, noise, blocks)
    weights = np.zeros(len(kernels))
    weights[~details] = plain.weights
    full = full.mixed(Amplitudes(weights, plain.nugget), 0.5)
    misfit = loss_of(likely.parameters, kernels, y, noise, blocks).value
    misfit -= RATE * float(likely.weights.sum())
    if misfit <= constant_misfit(y, noise, blocks):
        full = likely.mixed(full, 1 / 3)
    return full.mixed(believed(kernels, beliefs), len(y) / (len(y) + SHRINKAGE))


def believed(
    kernels: FloatArray, beliefs: Sequence[tuple[BoolArray, float]]
) -> Amplitudes:
    """The prior before any rating: kernels of a kind are worth the same.

    Args:
        kernels: [kernels, texts, texts]; one that is one number throughout is worth nothing.
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
    kernels: FloatArray,
    y: FloatArray,
    noise: FloatArray,
    blocks: Sequence[IntArray] = (),
    near: Amplitudes | None = None,
) -> Amplitudes:
    """The most probable weights and nugget, given ratings of variance about 1.

    A kernel that is one number throughout is a part of the unknown mean, and has the weight 0.

    Args:
        kernels: [kernels, texts, texts]; y: [texts] ratings; noise: [texts] variance of each one's
            own error; blocks: what is left out together, see `left_out`; () for the likelihood.
        near: another answer from these ratings; the search begins halfway to it.
    """
    varied = _varied(kernels)
    terms = kernels if varied.all() else kernels[varied]
    weights = np.full(len(terms), (1.0 - SINGLE) / max(1, len(terms)))
    start = Amplitudes(weights, SINGLE)
    if near is not None:
        start = Amplitudes(near.weights[varied], near.nugget).mixed(start, 0.5)
    optimum = minimized(
        lambda parameters: loss_of(parameters, terms, y, noise, blocks),
        start.parameters,
        np.append(np.zeros(len(terms)), LEAST_NUGGET),
    )
    weights = np.zeros(len(kernels))
    weights[varied] = np.where(optimum[:-1] < 1e-4, 0.0, optimum[:-1])
    return Amplitudes(weights, float(optimum[-1]))


def _varied(kernels: FloatArray) -> BoolArray:
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
    kernels: FloatArray,
    y: FloatArray,
    noise: FloatArray,
    blocks: Sequence[IntArray] = (),
) -> Local:
    """Minus the log score or likelihood and the log prior.

    Its curvature is twice the average information of the likelihood, y' Q K Q K Q y (Gilmour,
    Thompson and Cullis 1995, eq. 5): K Q y is a product with a vector.
    """
    weights = parameters[:-1]
    sigma = np.tensordot(weights, kernels, 1)
    sigma[np.diag_indices(len(y))] += noise + parameters[-1]
    try:
        # columns first, so that nothing is copied
        factor = cho_factor(sigma.T, lower=False, overwrite_a=True, check_finite=False)
        log_determinant = 2.0 * np.log(np.diag(factor[0])).sum()
        q = inverse(factor)
        row_sums = q.sum(axis=1)
        total = row_sums.sum()
        q -= np.outer(row_sums, row_sums / total)
        alpha = q @ y
        if blocks:
            misfit, slope = left_out_loss(q, y, blocks)
        else:
            misfit = float(0.5 * (log_determinant + np.log(total) + y @ alpha))
            slope = 0.5 * (q - np.outer(alpha, alpha))
    except LinAlgError:
        misfit = np.inf
    loss = misfit + RATE * float(weights.sum())
    if not np.isfinite(loss):
        size = len(parameters)
        return Local(np.inf, np.zeros(size), np.eye(size))
    slopes = np.tensordot(kernels, slope, 2) + RATE
    responses = np.vstack([kernels @ alpha, alpha])
    curvature = responses @ q @ responses.T
    return Local(loss, np.append(slopes, np.trace(slope)), curvature)


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
