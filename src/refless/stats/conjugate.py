"""Conjugate gradients: large symmetric systems, solved by products with their matrix alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from refless.registry.arrays import FloatArray
from refless.registry.errors import UsageError

TOLERANCE = 1e-7  # length of what is left of a right-hand side, as a share of it
STEPS = 1_000
JITTER = 1e-6  # added to the diagonal of a covariance that is factored without noise


@dataclass(frozen=True, slots=True, eq=False)
class LowRank:
    """A matrix near a covariance: a diagonal, and what few of its columns tell of the others.

    Solved with it, conjugate gradients take few steps; it does not change what they find.
    """

    noise: FloatArray  # [n, 1] diagonal
    scaled: FloatArray  # [n, k] factors, divided by the diagonal
    inner: Any  # Cholesky factor of 1 + factors' noise^-1 factors

    @classmethod
    def of(cls, columns: FloatArray, among: FloatArray, noise: FloatArray) -> LowRank:
        """By Nystroem's approximation.

        Args:
            columns: [n, k] of a covariance; among: [k, k] their rows of the same texts.
            noise: [n] what is added to the diagonal.
        """
        lower = np.linalg.cholesky(among + JITTER * np.eye(len(among)))
        factors = solve_triangular(lower, columns.T, lower=True, check_finite=False).T
        scaled = factors / noise[:, None]
        inner = cho_factor(np.eye(len(among)) + factors.T @ scaled, lower=True)
        return cls(noise[:, None], scaled, inner)

    def solved(self, right: FloatArray) -> FloatArray:
        """[n, j] its inverse times columns, by Woodbury's identity."""
        inner = cho_solve(self.inner, self.scaled.T @ right, check_finite=False)
        return np.asarray(right / self.noise - self.scaled @ inner)


def conjugate_gradients(
    times: Callable[[FloatArray], FloatArray],
    near: LowRank,
    right: FloatArray,
) -> FloatArray:
    """[n, k] solutions of a positive definite system, for each column on the right.

    What is left of a column is at most 1e-7 of its length in the end. (Hestenes and Stiefel 1952;
    Golub and Van Loan, Matrix Computations, algorithm 11.5.1.)

    Args:
        times: [n, k] columns -> the matrix times these; near: a matrix near it.
        right: [n, k] columns.

    Raises:
        UsageError: more is left after 1,000 steps.
    """
    solution = np.zeros_like(right)
    left = right.copy()
    guess = near.solved(left)
    direction = guess
    size = (left * guess).sum(axis=0)
    enough = TOLERANCE * np.linalg.norm(right, axis=0)
    for _ in range(STEPS):
        if (np.linalg.norm(left, axis=0) <= enough).all():
            return solution
        product = times(direction)
        step = _ratio(size, (direction * product).sum(axis=0))
        solution += step * direction
        left -= step * product
        guess = near.solved(left)
        before = size
        size = (left * guess).sum(axis=0)
        direction = guess + _ratio(size, before) * direction
    raise UsageError(
        f"the weights of {len(right):,} ratings do not settle in {STEPS:,} steps: "
        "give fewer rated texts"
    )


def _ratio(over: FloatArray, under: FloatArray) -> FloatArray:
    """Their quotient, 0 for a column that is solved to the last digit."""
    return np.divide(over, under, out=np.zeros_like(over), where=under > 0)
