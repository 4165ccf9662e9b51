"""The bootstrap and its limit: weights against repeated rows, influences against derivatives."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.random import default_rng

from refless.stats import correlation, influence
from refless.stats.measures import MEASURES, WEIGHTED
from refless.stats.resampling import bootstrap, influence_error, weights_of

PLAIN = {name: measure.value for name, measure in MEASURES.items()}
LEVELS = st.integers(0, 4).map(lambda level: level / 10)
COUNTS = st.integers(0, 3).map(float)


@st.composite
def weighted_columns(draw):
    """Human rating, prediction and three lines of weights that each keep a row."""
    n = draw(st.integers(1, 25))
    human, predicted = (draw(arrays(np.float64, n, elements=LEVELS)) for _ in range(2))
    if draw(st.booleans()):
        human = np.where(human > 0.2, 1.0, 0.0)
    weights = draw(arrays(np.float64, (3, n), elements=COUNTS))
    weights[:, 0] += weights.sum(axis=1) == 0
    return human, predicted, weights


def repeated(name, human, predicted, weights):
    """The slow twin: every row as often as it was drawn, then the plain measure."""
    rows = np.repeat(np.arange(len(human)), weights.astype(int))
    return PLAIN[name](human[rows], predicted[rows])


def sample(n: int, *, binary: bool = False, seed: int = 0):
    rng = default_rng(seed)
    human = np.round(rng.random(n), 1)
    predicted = np.round(human + rng.normal(size=n) / 2, 2)
    order = np.lexsort((predicted, human))
    return (human > 0.5).astype(float)[order] if binary else human[order], predicted[
        order
    ]


@given(case=weighted_columns())
def test_weights_equal_repeated_rows(case):
    """Each measure of weights equals the plain one on repeated rows, undefined ones included."""
    human, predicted, weights = case
    values = {
        name: prepare(human, predicted)(weights) for name, prepare in WEIGHTED.items()
    }
    for name, column in values.items():
        expected = [repeated(name, human, predicted, line) for line in weights]
        # An AUC is prepared on the whole human rating, which must have two values itself.
        if name == "auc" and len(np.unique(human)) != 2:
            expected = [float("nan")] * len(weights)
        assert column == pytest.approx(expected, abs=1e-12, nan_ok=True), name


def test_bootstrap_equals_a_loop_over_repeated_rows():
    """The intervals are the percentiles of the plain measures on the same draws."""
    human, predicted = sample(40)
    rng = default_rng(3)
    (weights,) = weights_of(40, resamples=200, rng=rng)
    found = bootstrap(WEIGHTED, human, predicted, resamples=200, rng=default_rng(3))
    for name in ("mse", "mae", "pearson", "spearman", "kendall"):
        values = [repeated(name, human, predicted, line) for line in weights]
        assert found[name] == pytest.approx(
            tuple(np.quantile(values, [0.025, 0.975]))
        ), name


def test_weights_draw_as_many_rows_as_there_are():
    """Every line of weights sums to n, in as many lines as asked for, over several blocks."""
    lines = np.concatenate(list(weights_of(7_000, resamples=300, rng=default_rng(0))))
    assert lines.shape == (300, 7_000)
    assert (lines.sum(axis=1) == 7_000).all()
    # The count of a row in one draw of n is nearly Poisson(1): variance 1 - 1/n.
    assert lines.var() == pytest.approx(1.0, abs=0.01)


def test_clusters_are_drawn_whole():
    """Rows of one cluster always have the same weight."""
    clusters = np.array([5, 9, 5, 2, 9, 5])
    (weights,) = weights_of(6, resamples=50, rng=default_rng(0), clusters=clusters)
    assert np.array_equal(weights[:, 0], weights[:, 2])
    assert np.array_equal(weights[:, 1], weights[:, 4])
    assert (weights[:, [0, 1, 3]].sum(axis=1) == 3).all()


def test_clusters_of_copies_widen_the_interval():
    """Four copies of each row hold no more than the rows themselves do."""
    human, predicted = sample(60)
    once = bootstrap(WEIGHTED, human, predicted, rng=default_rng(1))
    copies = np.repeat(human, 4), np.repeat(predicted, 4)
    of_four = np.repeat(np.arange(60), 4)
    again = bootstrap(WEIGHTED, *copies, rng=default_rng(1), clusters=of_four)
    for name in ("mse", "mae", "pearson", "spearman", "kendall"):
        assert again[name] == pytest.approx(once[name], abs=1e-9)


@pytest.mark.parametrize("n", [0, 1])
def test_one_row_has_no_interval(n):
    """Nothing can be resampled from fewer than two rows."""
    column = np.ones(n)
    found = intervals(column, column)
    assert np.isnan([*found.values()]).all()


def test_one_cluster_has_no_interval():
    """Nothing can be resampled from a single cluster either."""
    found = intervals(*sample(20), clusters=np.zeros(20, dtype=np.int64))
    assert np.isnan([*found.values()]).all()


def test_a_constant_column_has_errors_but_no_correlations():
    """Intervals of what is undefined are undefined; those of the errors stay."""
    human = np.full(30, 0.3)
    predicted = np.linspace(0, 1, 30)
    found = intervals(human, predicted)
    assert {name for name, (low, _) in found.items() if not math.isnan(low)} == {
        "mse",
        "mae",
    }


def test_mostly_undefined_resamples_have_no_interval():
    """One deviating row in each column: both are drawn in only (1 - 1/e)^2 = 40 % of resamples."""
    human = np.zeros(50)
    predicted = np.zeros(50)
    human[0] = 1.0
    predicted[1] = 1.0
    assert correlation.pearson(human, predicted) < 0
    low, high = intervals(human, predicted)["pearson"]
    assert math.isnan(low)
    assert math.isnan(high)


INFLUENCES = {"pearson": influence.pearson, "spearman": influence.spearman}


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("name", list(INFLUENCES))
def test_influences_are_derivatives_by_weight(name, binary):
    """Each row's influence equals the finite difference of the weighted measure."""
    human, predicted = sample(30, binary=binary)
    step = 1e-4
    up = np.ones((30, 30)) + step * np.eye(30)
    down = np.ones((30, 30)) - step * np.eye(30)
    of_weights = WEIGHTED[name](human, predicted)
    expected = (of_weights(up) - of_weights(down)) / (2 * step)
    assert INFLUENCES[name](human, predicted) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("name", list(INFLUENCES))
def test_influences_are_what_the_bootstrap_converges_to(name, clustered):
    """On 900 rows both give nearly the same width, also with clusters."""
    human, predicted = sample(900)
    clusters = default_rng(5).integers(0, 200, size=900) if clustered else None
    error = influence_error(INFLUENCES[name](human, predicted), clusters)
    low, high = intervals(human, predicted, clusters=clusters)[name]
    assert 2 * 1.96 * error == pytest.approx(high - low, rel=0.12)


def intervals(human, predicted, clusters=None):
    return bootstrap(WEIGHTED, human, predicted, rng=default_rng(0), clusters=clusters)
