"""Ratings that are too many to be inverted: the slow twin is the process given all of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from benchmarks.simulate import simulate
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal

from refless.data.records import as_outputs
from refless.estimators import folds
from refless.estimators.gp import GaussianProcess, all_ratings, data
from refless.estimators.gp.all_ratings import PosteriorMean
from refless.estimators.gp.data import Data, Parameters, read
from refless.estimators.gp.kernels import Covariance
from refless.estimators.gp.likelihood import Amplitudes
from refless.estimators.gp.model import Posterior
from refless.registry.arrays import FloatArray
from refless.stats import conjugate
from refless.stats.posterior import exact
from refusals import bad_usage

SIMULATED = simulate(260, seed=3).pool
RATED = SIMULATED.take(np.arange(200))
FRESH = as_outputs(SIMULATED.take(np.arange(200, 260)))
DRAWN = 70


@cache
def small() -> Data:
    """Sixty rated texts with sources and vectors."""
    return read(RATED.take(np.arange(60)), Parameters(threads=1))


def weights_of(seed: int) -> FloatArray:
    """Weights of the kernels, some of them 0."""
    rng = default_rng(seed)
    size = len(small().kernels)
    return rng.exponential(0.2, size) * rng.integers(0, 2, size)


def posterior_of(known: Data, weights: FloatArray, nugget: float) -> Posterior:
    """A third of the texts are drawn; variances are not asked for."""
    drawn = np.arange(0, len(known.y), 3)
    return Posterior(Amplitudes(weights, nugget), known, drawn, drawn)


@pytest.mark.parametrize(
    ("precision", "enough"), [(np.float64, 1e-6), (np.float32, 1e-5)]
)
@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), nugget=st.floats(0.1, 1.0))
def test_conjugate_gradients_find_what_is_solved_exactly(
    precision: type, enough: float, seed: int, nugget: float
) -> None:
    """Means of all texts, and the shares of one, whatever the kernels are worth.

    The matrix of pairs is in single precision; in double precision the twins are nearer still.
    """
    n = len(small().y)
    y = default_rng(seed).normal(size=n)
    known = replace(small(), y=y)
    weights = weights_of(seed)
    covariance = Covariance.of(known.kernels, weights, known.points, n)
    kernel = covariance.between(known.points, n)
    wanted = exact(kernel.copy(), known.noise + nugget, y)
    posterior = posterior_of(known, weights, nugget)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(all_ratings, "PRECISION", precision)
        found = posterior.average
        shares = posterior.shares(known.at(np.array([7])))
    means = found.mean + kernel @ found.alpha
    wanted_means = wanted.mean + kernel @ wanted.alpha
    assert_allclose(means, wanted_means, rtol=0, atol=enough)
    assert_allclose(shares, wanted.shares(kernel[[7]])[0], atol=enough)


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000))
def test_landmarks_are_a_process_of_their_own(seed: int) -> None:
    """The other kernels are those of Nystroem's approximation, the slow twin's as well."""
    known = small()
    n = len(known.y)
    posterior = posterior_of(known, weights_of(seed), 0.3)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(all_ratings, "MOST_COMPARED", n - 1)
        found = posterior.average
        shares = posterior.shares(known.at(np.array([7])))
    linear, others = posterior.kinds
    beside = others.between(known.points, n)
    among = beside[found.landmarks] + conjugate.JITTER * np.eye(len(found.landmarks))
    kernel = linear.between(known.points, n)
    kernel += beside @ np.linalg.solve(among, beside.T)
    wanted = exact(kernel.copy(), known.noise + 0.3, known.y)
    values = linear.between(known.points, n) @ found.alpha + beside @ found.beta
    wanted_means = wanted.mean + kernel @ wanted.alpha
    assert_allclose(found.mean + values, wanted_means, atol=1e-4)
    assert_allclose(shares, wanted.shares(kernel[[7]])[0], atol=1e-4)


def test_kernels_of_terms_are_products_of_features() -> None:
    """And lines; all others are compared with landmarks."""
    known = small()
    linear, others = posterior_of(known, np.ones(len(known.kernels)), 0.3).kinds
    wanted = {"grams", "words", "letters", "source", "masked", "trend"}
    assert {*linear.kernels} == wanted
    assert {*others.kernels} == {*known.kernels} - wanted


@pytest.mark.parametrize("use_source", [True, False])
def test_all_ratings_count(use_source: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimates are those of all; deviations those of the ones drawn; no order of rows counts."""
    gp = GaussianProcess(use_source=use_source)
    wanted = gp.clone().fit(RATED).estimate(FRESH)
    monkeypatch.setattr(data, "MOST_INVERTED", DRAWN)
    order = default_rng(1).permutation(len(RATED))
    fitted = gp.clone().fit(RATED)
    found = fitted.estimate(FRESH)
    assert_allclose(found.values, wanted.values, atol=1e-6)
    again = gp.clone().fit(RATED.take(order)).estimate(FRESH)
    assert_array_equal(found.values, again.values)
    assert_array_equal(found.sd, again.sd)
    assert found.support.tolist() == [200] * 60
    drawn = fitted._state().model.drawn
    assert len(drawn) == len(fitted.residuals()) == DRAWN
    assert np.median(found.sd / wanted.sd) > 1.0


def test_folds_judge_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each text has the mean that the texts of the other folds give it, given all of these."""
    groups = np.arange(200) // 4
    monkeypatch.setattr(data, "MOST_INVERTED", DRAWN)
    found = GaussianProcess().held_out(RATED, groups)
    assert found.coverage == 1.0
    fold = folds.folds_in(RATED, groups, 5)
    outside = RATED.take(np.flatnonzero(fold > 0))
    inside = np.flatnonzero(fold == 0)
    # fitted to the others alone, features are learned from these alone
    apart = GaussianProcess().fit(outside).predict(as_outputs(RATED.take(inside)))
    assert np.corrcoef(found.values[inside], apart)[0, 1] > 0.95
    within = (found.low <= RATED.human) & (RATED.human <= found.high)
    assert within.mean() >= 0.93


def test_too_many_steps_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what to do."""
    monkeypatch.setattr(data, "MOST_INVERTED", DRAWN)
    monkeypatch.setattr(conjugate, "STEPS", 1)
    gp = GaussianProcess().fit(RATED)
    with bad_usage("200 ratings do not settle in 1 steps: give"):
        gp.estimate(FRESH)


def test_few_ratings_are_weighed_as_they_were() -> None:
    """All are drawn, and all are landmarks."""
    model = GaussianProcess().fit(RATED)._state().model
    assert isinstance(model.average, PosteriorMean)
    assert_array_equal(model.average.alpha, model.posterior.alpha)
    assert_array_equal(model.average.beta, model.posterior.alpha)
