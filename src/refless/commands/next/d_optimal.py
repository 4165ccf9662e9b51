"""Choice of correlated numbers to observe, so that least variance is left in the others."""

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
    weights = np.ones(len(remaining)) if counts is None else counts.astype(np.float64)
    chosen: list[int] = []
    for _ in range(n):
        variances = np.diag(remaining)
        total = variances + noise
        others = weights @ np.square(remaining)
        gains = others / total + weights * variances * noise / total
        gains[chosen] = -np.inf
        best = int(np.argmax(gains))
        chosen.append(best)
        weights[best] = 0.0
        column = remaining[:, best] / np.sqrt(total[best])
        remaining -= np.outer(column, column)
    return np.array(chosen, dtype=np.int64)
