"""Which of many numbers that go together to observe, and what is left to know after it."""

from __future__ import annotations

import numpy as np

from refless.registry.arrays import FloatArray, IntArray


def most_telling(
    covariance: FloatArray, noise: float, n: int, counts: FloatArray | None = None
) -> IntArray:
    """[n] numbers to observe, each the one after which least variance is left in all the others.

    Observing i takes cov(i, j)² / (var_i + noise) off the variance of each other number j (Cohn et
    al. 1996; for Gaussian processes Seo et al. 2000), and all of its own, as it need not be
    estimated any more. Each is observed at most once; of equal ones the first is taken.

    Args:
        covariance: [m, m] of the numbers; noise: variance of an observation beyond that.
        n: numbers to observe, at most m.
        counts: [m] how often each is there; once without them.
    """
    remaining = covariance.copy()
    wanted = np.ones(len(remaining)) if counts is None else counts.astype(np.float64)
    chosen: list[int] = []
    for _ in range(n):
        variances = np.diag(remaining)
        total = variances + noise
        gains = (wanted @ np.square(remaining)) / total + wanted * variances * noise / total
        gains[chosen] = -np.inf
        best = int(np.argmax(gains))
        chosen.append(best)
        wanted[best] = 0.0
        column = remaining[:, best] / np.sqrt(total[best])
        remaining -= np.outer(column, column)
    return np.array(chosen, dtype=np.int64)


def left_after(
    covariance: FloatArray, noise: float, order: IntArray, counts: FloatArray
) -> FloatArray:
    """[k + 1] mean variance of the numbers not yet observed, before and after each of k of them.

    Args:
        covariance, noise, counts: as of `most_telling`.
        order: [k] which are observed, one after the other; the mean of none is NaN.
    """
    from scipy.linalg import cholesky, solve_triangular

    among = covariance[np.ix_(order, order)] + noise * np.eye(len(order))
    known = solve_triangular(cholesky(among, lower=True), covariance[order], lower=True)
    explained = np.vstack([np.zeros(len(covariance)), np.cumsum(np.square(known), axis=0)])
    wanted = np.tile(counts.astype(np.float64), (len(order) + 1, 1))
    for step, row in enumerate(order.tolist(), 1):
        wanted[step:, row] = 0.0
    with np.errstate(invalid="ignore"):
        return np.asarray(
            (wanted * (np.diag(covariance) - explained)).sum(axis=1) / wanted.sum(axis=1)
        )
