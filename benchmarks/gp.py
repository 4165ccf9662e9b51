"""The GP's linear algebra against scikit-learn's on the same precomputed kernel, in one run.

    python benchmarks/gp.py [--texts 3000] [--quick]

Both condition on the same ratings with the same kernel matrix and noise and predict mean and
standard deviation of 1,000 texts. Ours also estimates the constant mean; scikit-learn is given it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from simulate import simulate

from refless.data.records import as_outputs
from refless.estimators.gp import GaussianProcess
from refless.registry.arrays import FloatArray
from refless.stats.posterior import exact
from refless.text.terms import KnownGrams, products_of

NEW = 1_000
NOISE = 8.0  # enough to make BLEU* positive definite on many near-equal texts


def precomputed(matrix: FloatArray) -> object:
    """A scikit-learn kernel that reads a matrix; inputs are row numbers."""
    from sklearn.gaussian_process.kernels import Kernel

    class Precomputed(Kernel):  # type: ignore[misc]
        def __init__(self, source: FloatArray) -> None:
            self.source = source

        def __call__(self, x: FloatArray, y: FloatArray | None = None) -> Any:
            rows = x[:, 0].astype(int)
            return self.source[np.ix_(rows, rows if y is None else y[:, 0].astype(int))]

        def diag(self, x: FloatArray) -> Any:
            return np.diag(self.source)[x[:, 0].astype(int)]

        def is_stationary(self) -> bool:
            return False

    return Precomputed(matrix)


def ours(matrix: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Means and variances of the process at the new texts, less what the unknown mean adds."""
    n = len(y)
    model = exact(matrix[:n, :n].copy(), np.full(n, NOISE), y)
    cross = matrix[n:, :n]
    values, variances = model.predict(cross, np.diag(matrix)[n:])
    return (
        values,
        variances - (1.0 - cross @ model.ones) ** 2 / model.ones.sum(),
        model.mean,
    )


def theirs(
    matrix: FloatArray, y: FloatArray, mean: float
) -> tuple[FloatArray, FloatArray]:
    """The same from scikit-learn, around the given mean."""
    from sklearn.gaussian_process import GaussianProcessRegressor

    rows = np.arange(len(matrix), dtype=float)[:, None]
    peer = GaussianProcessRegressor(precomputed(matrix), alpha=NOISE, optimizer=None)
    peer.fit(rows[: len(y)], y - mean)
    values, deviations = peer.predict(rows[len(y) :], return_std=True)
    return values + mean, deviations**2


def best_of(runs: int, job: object) -> float:
    """Fewest seconds."""
    seconds = []
    for _ in range(runs):
        begin = time.perf_counter()
        job()  # type: ignore[operator]
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def compared(texts: Sequence[str]) -> FloatArray:
    """[texts, texts] values of the kernel of n-grams."""
    vectors = KnownGrams.of(texts).vectors(texts)
    return products_of(vectors, vectors.T.tocsr())


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints ours beside scikit-learn's, and the parts of a whole fit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=3_000)
    parser.add_argument("--quick", action="store_true", help="200 texts, for tests")
    options = parser.parse_args(arguments)
    n, new = (200, 50) if options.quick else (options.texts, NEW)
    pool = simulate(n + new, seed=1).pool
    matrix = compared(pool.texts)
    y = pool.human[:n]
    values, variances, mean = ours(matrix, y)
    other_values, other_variances = theirs(matrix, y, mean)
    gap = float(
        max(
            np.abs(values - other_values).max(),
            np.abs(variances - other_variances).max(),
        )
    )
    mine = best_of(3, lambda: ours(matrix, y))
    other = best_of(3, lambda: theirs(matrix, y, mean))
    print(f"{n} rated texts, {new} new ones; largest difference {gap:.1e}")
    print(f"refless       {mine:8.2f} s")
    print(f"scikit-learn  {other:8.2f} s   {other / mine:.1f} times ours")
    rated = pool.take(np.arange(n))
    fresh = pool.take(np.arange(n, n + new))
    gp = GaussianProcess()
    fit = best_of(1, lambda: gp.fit(rated))
    predict = best_of(1, lambda: gp.estimate(as_outputs(fresh)))
    kernel = best_of(1, lambda: compared(rated.texts))
    print(
        f"whole fit {fit:.1f} s, {new} predictions {predict:.1f} s, n-gram kernel {kernel:.1f} s"
    )
    return 0 if gap < 1e-6 else 1


if __name__ == "__main__":
    sys.exit(main())
