"""Correlations and errors against scipy, scikit-learn and hand calculations."""

import math

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from refless.stats import correlation
from refless.stats.correlation import auc, correlation_p, kendall, pearson, spearman

SCIPY = {
    pearson: scipy.stats.pearsonr,
    spearman: scipy.stats.spearmanr,
    kendall: scipy.stats.kendalltau,
}
LEVELS = st.integers(0, 6).map(float)
PAIRS = st.integers(3, 60).flatmap(
    lambda n: st.tuples(
        arrays(np.float64, n, elements=LEVELS), arrays(np.float64, n, elements=LEVELS)
    )
)


def pair(n: int, levels: int | None, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = x + rng.normal(size=n)
    return (x, y) if levels is None else (np.round(x * levels), np.round(y * levels))


def same(ours: float, theirs: float) -> bool:
    return ours == pytest.approx(theirs, rel=1e-10, abs=1e-12, nan_ok=True)


@given(PAIRS)
def test_correlations_and_p_values_equal_scipy_with_many_ties(columns):
    """Any short column of seven levels gives scipy's coefficient and p-value."""
    x, y = columns
    if correlation.is_constant(x) or correlation.is_constant(y):
        assert all(math.isnan(ours(x, y)) for ours in SCIPY)
        return
    for ours, theirs in SCIPY.items():
        value, p = theirs(x, y)
        assert ours(x, y) == pytest.approx(value, abs=1e-12)
        # A p-value of |r| = 1 hangs on the last bit of r.
        if abs(value) < 1 - 1e-9:
            assert ours is kendall or same(correlation_p(ours(x, y), len(x)), p)


@pytest.mark.parametrize("levels", [None, 1, 10])
@pytest.mark.parametrize("n", [5, 33, 34, 200, 1_500])
def test_correlations_equal_scipy_at_every_size(n, levels):
    """Few rows and many equal scipy."""
    x, y = pair(n, levels)
    for ours, theirs in SCIPY.items():
        value, p = theirs(x, y)
        assert ours(x, y) == pytest.approx(value, abs=1e-12)
        assert ours is kendall or same(correlation_p(value, n), p)


@settings(max_examples=40)
@given(PAIRS)
def test_the_compiled_balance_equals_the_dense_one(columns):
    """Fenwick tree and table of signs count the same pairs."""
    x, y = columns
    signs = np.sign(x[:, None] - x) * np.sign(y[:, None] - y)
    assert correlation.balance(x, y) == signs.sum()


@settings(max_examples=40)
@given(PAIRS)
def test_auc_equals_scikit_learn(columns):
    """The AUC of a binary human rating equals scikit-learn's, also with tied predictions."""
    human, predicted = columns
    binary = np.where(human > 3, 1.0, 0.25)
    if len(np.unique(binary)) < 2:
        assert math.isnan(auc(binary, predicted))
    else:
        expected = sklearn.metrics.roc_auc_score(binary == 1.0, predicted)
        assert auc(binary, predicted) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("x", [[], [1.0], [2.0, 2.0, 2.0], [0.1 + 0.2] * 7])
@pytest.mark.parametrize("measure", [pearson, spearman, kendall, auc])
def test_undefined_correlations_are_nan(measure, x):
    """Fewer than two rows or a constant column give NaN, never 0, on either side."""
    constant = np.array(x)
    other = np.arange(float(len(x)))
    assert math.isnan(measure(constant, other))
    if measure is not auc:
        assert math.isnan(measure(other, constant))


def test_undefined_p_values_are_nan():
    """Two rows leave no degree of freedom, and an undefined coefficient has no p-value."""
    assert math.isnan(correlation_p(1.0, 2))
    assert math.isnan(correlation_p(float("nan"), 10))
    assert correlation_p(1.0, 10) == 0.0


def test_huge_and_tiny_columns_do_not_overflow():
    """A correlation knows no unit, so neither 1e200 nor 1e-200 changes it."""
    x, y = pair(50, None)
    assert pearson(x * 1e200, y * 1e-200) == pytest.approx(pearson(x, y), abs=1e-12)
