"""The linear algebra of the GP: scikit-learn's numbers and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, minimize
from scipy.stats import multivariate_normal, zscore

from refless.estimators.gp.likelihood import (
    LEAST_NUGGET,
    RATE,
    SINGLE,
    blocks_of,
    constant_misfit,
    fitted_amplitudes,
    left_out,
    loss_of,
)
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.minimum import Local
from refless.stats.posterior import exact

SEEDS = st.integers(0, 2**32 - 1)


def problem(seed: int, n: int = 30) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A kernel over n + 5 points, noise and ratings of the first n."""
    rng = default_rng(seed)
    points = rng.normal(size=(n + 5, 2))
    gaps = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    return np.exp(-gaps), rng.uniform(0.1, 0.5, n), rng.normal(size=n)


def brute(
    kernel: FloatArray, noise: FloatArray, y: FloatArray, at: FloatArray
) -> FloatArray:
    """Ordinary the GP by its textbook system [[sigma, 1], [1', 0]] (Cressie 1993, 3.2)."""
    n = len(y)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = kernel + np.diag(noise)
    system[n, n] = 0.0
    right = np.vstack([at.T, np.ones(len(at))])
    return np.linalg.solve(system, right)[:n].T


@settings(max_examples=20)
@given(SEEDS)
def test_means_variances_and_shares_are_the_textbook_ones(seed: int) -> None:
    """Prediction solves the ordinary the GP system; shares sum to 1 and give the mean."""
    kernel, noise, y = problem(seed)
    n = len(y)
    cross = kernel[n:, :n]
    prior = np.diag(kernel)[n:]
    shares = brute(kernel[:n, :n], noise, y, cross)
    found = exact(kernel[:n, :n].copy(), noise, y)
    values, variances = found.predict(cross, prior)
    sigma = kernel[:n, :n] + np.diag(noise)
    errors = (
        prior
        - 2 * (shares * cross).sum(1)
        + np.einsum("ij,jk,ik->i", shares, sigma, shares)
    )
    assert_allclose(found.shares(cross), shares, atol=1e-9)
    assert_allclose(shares.sum(axis=1), 1.0, atol=1e-9)
    assert_allclose(values, shares @ y, atol=1e-9)
    assert_allclose(variances, errors, atol=1e-9)


@settings(max_examples=20)
@given(SEEDS, st.integers(1, 8))
def test_held_out_equals_brute_force(seed: int, groups: int) -> None:
    """Leaving a group out in closed form is the same as conditioning on the others."""
    kernel, noise, y = problem(seed)
    n = len(y)
    sigma = kernel[:n, :n]
    labels = default_rng(seed).integers(0, groups, n)
    precision = exact(sigma.copy(), noise, y).precision()
    means, variances = precision.held_out(labels)
    some = default_rng(seed).choice(n, 3)
    alone = precision.held_out(labels, some)
    np.testing.assert_array_equal(alone, (means[some], variances[some]))
    for group in set(labels.tolist()):
        inside = labels == group
        outside = labels != group
        if not outside.any():
            assert np.isnan(means[inside]).all()
            continue
        left = exact(sigma[np.ix_(outside, outside)].copy(), noise[outside], y[outside])
        values, spread = left.predict(
            sigma[np.ix_(inside, outside)], np.diag(sigma)[inside]
        )
        assert_allclose(means[inside], values, atol=1e-8)
        assert_allclose(variances[inside], spread + noise[inside], atol=1e-8)


@settings(max_examples=10)
@given(SEEDS, st.booleans())
def test_gradient_of_the_loss(seed: int, apart: bool) -> None:
    """Analytic and by finite differences: of the likelihood, and of what is left out."""
    kernel, noise, y = problem(seed)
    n = len(y)
    groups = np.append(default_rng(seed).integers(0, 9, n - 2), [9, 10])
    blocks = blocks_of(groups) if apart else []
    kernels = np.stack([kernel[:n, :n], np.outer(y, y) * 0.1 + np.eye(n)])
    at = np.array([0.5, 0.3, 0.2])
    numeric = approx_fprime(
        at, lambda p: loss_of(p, kernels, y, noise, blocks).value, 1e-6
    )
    assert_allclose(
        loss_of(at, kernels, y, noise, blocks).gradient, numeric, rtol=1e-3, atol=1e-3
    )


@settings(max_examples=10)
@given(SEEDS)
def test_what_is_left_out_is_judged_by_the_other_sources(seed: int) -> None:
    """The log score in closed form is that of conditioning on the other groups, group by group."""
    kernel, noise, y = problem(seed)
    n = len(y)
    groups = np.arange(n) % 7
    loss = 0.0
    for group in range(7):
        others = np.flatnonzero(groups != group)
        left = np.flatnonzero(groups == group)
        given_others = exact(
            0.5 * kernel[np.ix_(others, others)], noise[others] + 0.2, y[others]
        )
        prior = 0.5 * np.diag(kernel)[left]
        means, spread = given_others.predict(0.5 * kernel[np.ix_(left, others)], prior)
        variances = spread + noise[left] + 0.2
        loss += 0.5 * float(
            (np.log(variances) + (y[left] - means) ** 2 / variances).sum()
        )
    at = np.array([0.5, 0.2])
    kernels = kernel[None, :n, :n]
    found = loss_of(at, kernels, y, noise, blocks_of(groups)).value
    assert found - RATE * at[0] == pytest.approx(loss)


@settings(max_examples=20)
@given(SEEDS, st.integers(3, 30))
def test_the_least_misfit_without_kernels(seed: int, groups: int) -> None:
    """In closed form as by the search over the nugget of a process that has no kernel."""
    _, noise, y = problem(seed)
    labels = default_rng(seed).permutation(len(y)) % groups
    blocks = blocks_of(labels)
    none = np.zeros((0, len(y), len(y)))
    nugget = fitted_amplitudes(none, y, noise, blocks).nugget
    searched = loss_of(np.array([nugget]), none, y, noise, blocks).value
    assert constant_misfit(y, noise, blocks) == pytest.approx(searched, rel=1e-5)


def test_groups_are_left_out_where_they_tell_enough() -> None:
    """Five of them; else single texts."""
    blocks = [rows.tolist() for rows in blocks_of(np.array([4, 1, 2, 1, 3, 0]))]
    assert blocks == [[[5], [2], [4], [0]], [[1, 3]]]
    assert [rows.shape for rows in left_out(np.repeat(np.arange(3), 5))] == [(3, 5)]
    assert [rows.shape for rows in left_out(np.repeat(np.arange(2), 9))] == [(18, 1)]


@settings(max_examples=10)
@given(SEEDS)
def test_the_likelihood_is_that_of_contrasts(seed: int) -> None:
    """Restricted: the normal density of n - 1 orthonormal contrasts, whatever the mean is."""
    kernel, noise, y = problem(seed)
    n = len(y)
    kernels = np.stack([kernel[:n, :n], np.outer(y, y) * 0.1 + np.eye(n)])
    at = np.array([0.5, 0.3, 0.2])
    contrasts = np.linalg.svd(np.ones((1, n)))[2][1:]
    sigma = 0.5 * kernels[0] + 0.3 * kernels[1] + np.diag(noise + 0.2)
    density = multivariate_normal(cov=contrasts @ sigma @ contrasts.T).logpdf(
        contrasts @ (y + 9)
    )
    constants = 0.5 * (np.log(n) - (n - 1) * np.log(2 * np.pi))
    found = loss_of(at, kernels, y, noise).value - RATE * at[:-1].sum()
    assert found == pytest.approx(constants - density)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("blocks", [[], blocks_of(np.arange(40) % 9)])
def test_the_search_ends_as_low_as_scipy(seed: int, blocks: list[IntArray]) -> None:
    """L-BFGS-B, run to convergence from the same start: likelihood and what is left out."""
    kernel, noise, y = problem(seed, 40)
    near = kernel[:40, :40]
    kernels = np.stack([near, near**4, near**0.2])
    y = zscore(near @ y)

    def loss(at: FloatArray) -> Local:
        return loss_of(at, kernels, y, noise, blocks)

    scipy = minimize(
        lambda at: loss(at)[:2],
        np.append(np.full(3, 2 / 9), SINGLE),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * 3 + [(LEAST_NUGGET, None)],
        options={
            "ftol": 1e-13,
            "gtol": 1e-9,
            "maxiter": 10_000,
        },
    )
    found = fitted_amplitudes(kernels, y, noise, blocks)
    least = scipy.fun
    reached = loss(found.parameters).value
    assert reached <= least + 2e-6 * abs(least)
