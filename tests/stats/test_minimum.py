"""The search above bounds: scipy's L-BFGS-B, run to convergence."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from refless.registry.arrays import FloatArray
from refless.stats.minimum import Local, minimized


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
def test_as_low_as_scipy_in_few_evaluations(seed: int, size: int) -> None:
    """A convex function of badly scaled variables, some of them at their bounds.

    The curvature is up to four times too large or too small, a row or column at a time.
    """
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, size)) * 10.0 ** rng.uniform(-2, 0, size)
    pull = rng.normal(size=size)
    lower = rng.uniform(-1, 0, size)
    wrong = 2.0 ** rng.uniform(-1, 1, size)
    evaluated = []

    def local(point: FloatArray) -> Local:
        evaluated.append(point)
        bent = np.exp(rows @ point)
        value = float(bent.sum() - pull @ point)
        hessian = (rows * bent[:, None]).T @ rows
        gradient = bent @ rows - pull
        curvature = hessian * np.outer(wrong, wrong)
        return Local(value, gradient, curvature)

    found = minimized(local, np.ones(size), lower)
    value = local(found).value
    assert len(evaluated) <= 40
    assert (evaluated >= lower - 1e-12).all()
    least = minimize(
        lambda point: local(point)[:2],
        np.ones(size),
        jac=True,
        method="L-BFGS-B",
        bounds=[(bound, None) for bound in lower],
        options={
            "ftol": 1e-14,
            "gtol": 1e-10,
            "maxiter": 10_000,
        },
    ).fun
    assert value <= least + 2e-6 * max(1.0, abs(least))


def test_the_start_where_nothing_is_defined() -> None:
    """Nothing shows the way from there."""
    start = np.ones(2)
    undefined = Local(np.inf, np.zeros(2), np.eye(2))
    found = minimized(lambda _: undefined, start, 0 * start)
    np.testing.assert_array_equal(found, start)
