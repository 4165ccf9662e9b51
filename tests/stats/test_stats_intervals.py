"""Intervals of correlations, of mean ratings and of single ratings."""

import math

import numpy as np
import pytest
import scipy.stats
from numpy.random import default_rng

from refless.stats import intervals
from refless.stats.intervals import (
    conformal_radius,
    fisher_interval,
    mean_interval,
    percentile_interval,
)


def test_percentiles_leave_undefined_resamples_out():
    """0..100 with a few NaN: 2.5 % and 97.5 % lie at 2.5 and 97.5."""
    values = np.concatenate([np.arange(101.0), np.full(50, np.nan)])
    assert percentile_interval(values) == pytest.approx((2.5, 97.5))


def test_percentiles_of_mostly_undefined_resamples_are_undefined():
    """More than half undefined, or nothing at all, is no interval."""
    assert math.isnan(percentile_interval(np.array([1.0, np.nan, np.nan]))[0])
    assert math.isnan(percentile_interval(np.zeros(0))[1])


@pytest.mark.parametrize(("r", "n"), [(0.3, 50), (-0.9, 10), (0.0, 4)])
def test_fisher_interval_equals_scipy(r, n):
    """Pearson's interval equals the one of scipy's result object."""
    x = default_rng(0).normal(size=(n, 2))
    x -= x.mean(axis=0)
    basis = np.linalg.qr(x)[0]  # orthogonal columns, mixed to give exactly r
    result = scipy.stats.pearsonr(
        basis[:, 0], r * basis[:, 0] + math.sqrt(1 - r * r) * basis[:, 1]
    )
    assert fisher_interval(r, n) == pytest.approx(
        tuple(result.confidence_interval()), abs=1e-9
    )


def test_fisher_interval_of_ranks_is_wider():
    """Bonett & Wright's factor at rho = 0.6: z +- 1.96 sqrt(1.18 / 97), by hand."""
    half = 1.959963985 * math.sqrt(1.18 / 97)
    expected = math.tanh(math.atanh(0.6) - half), math.tanh(math.atanh(0.6) + half)
    assert fisher_interval(0.6, 100, ranked=True) == pytest.approx(expected)


def test_fisher_interval_at_its_edges():
    """A perfect correlation stays alone; too few rows or an undefined one have no interval."""
    assert fisher_interval(1.0, 10) == (1.0, 1.0)
    assert math.isnan(fisher_interval(0.5, 3)[0])
    assert math.isnan(fisher_interval(float("nan"), 30)[0])


@pytest.mark.parametrize(
    ("m", "level", "place"),
    # ceil((m + 1) level), by hand: 20 * 0.95 = 19; 21 * 0.95 = 19.95; 100 * 0.95; 11 * 0.9 = 9.9
    [(19, 0.95, 19), (20, 0.95, 20), (99, 0.95, 95), (10, 0.9, 10)],
)
def test_conformal_radius_is_the_right_order_statistic(m, level, place):
    """Residuals 1..m with mixed signs: the radius is their rank."""
    residuals = np.arange(1.0, m + 1) * np.where(np.arange(m) % 2, 1, -1)
    assert conformal_radius(residuals[::-1], level) == place


@pytest.mark.parametrize("m", [0, 18])
def test_conformal_radius_needs_nineteen_residuals(m):
    """18 residuals cannot hold 95 %: the radius would be infinite."""
    assert math.isnan(conformal_radius(np.ones(m)))


def test_conformal_radius_covers():
    """A new residual lies within the radius in at least 95 % of 2,000 draws, less the noise."""
    rng = default_rng(0)
    draws = rng.standard_t(3, size=(2_000, 40))
    inside = [abs(row[-1]) <= conformal_radius(row[:-1]) for row in draws]
    assert np.mean(inside) > 0.935


def test_mean_interval_equals_its_normal_limit(monkeypatch):
    """Drawing and the normal approximation agree on some hundreds of rows."""
    rng = default_rng(2)
    estimates = rng.random(400)
    residuals = rng.normal(size=300) / 3 + 0.1
    drawn = mean_interval(estimates, residuals, default_rng(0), 4_000)
    monkeypatch.setattr(intervals, "DRAWN_ROWS", 10)
    normal = mean_interval(estimates, residuals, default_rng(0))
    assert drawn == pytest.approx(normal, abs=0.05 * (normal[1] - normal[0]))


def test_mean_interval_covers_what_raters_would_say():
    """Estimates that are off by residuals, biased or not: 95 % of hold the mean rating."""
    rng = default_rng(7)
    for spread in (0.0, 0.1, 0.2, 0.4, 2.0):
        held = 0
        for _ in range(300):
            bias = spread * rng.normal()
            estimates = np.zeros(200)
            low, high = mean_interval(estimates, bias + rng.normal(size=60), rng, 200)
            held += low <= bias + rng.normal(size=200).mean() <= high
        assert held / 300 >= 0.92, spread  # binomial: 0.95 less 2.4 standard errors


def test_mean_interval_holds_the_mean_and_what_a_bias_makes_of_it():
    """Held-out estimates that are 0.3 too high: from below 0.5 - 0.3 to above 0.5."""
    residuals = default_rng(1).normal(size=100) / 10
    residuals += -0.3 - residuals.mean()
    low, high = mean_interval(np.full(50, 0.5), residuals, default_rng(0))
    assert 0.15 < low < 0.2 < 0.5 < high < 0.55


@pytest.mark.parametrize(("n", "m"), [(0, 10), (10, 1), (10, 0)])
def test_mean_interval_needs_estimates_and_residuals(n, m):
    """Without outputs, or with nothing to know the errors from, there is no interval."""
    found = mean_interval(np.ones(n), np.ones(m), default_rng(0))
    assert all(math.isnan(end) for end in found)


def test_mean_interval_of_a_million_outputs():
    """A million outputs need no million-fold drawing; what is left is the residuals' error."""
    residuals = np.linspace(-1, 1, 200)
    low, high = mean_interval(np.full(10**6, 0.5), residuals, default_rng(0))
    half = 1.959963985 * residuals.std() * math.sqrt(1 / 200 + 1e-6)
    assert (low, high) == pytest.approx((0.5 - half, 0.5 + half))
