"""The greedy choice of numbers to observe, against explicit inverses."""

import numpy as np
import pytest
from benchmarks.simulate import simulate
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from refless.commands.next.d_optimal import most_telling
from refless.data.records import as_outputs
from refless.estimators.gp import GaussianProcess, data
from refless.estimators.gp.model import doubted
from refless.stats.posterior import exact


def covariance_of(m: int, seed: int) -> np.ndarray:
    """A covariance of m numbers that go together."""
    x = default_rng(seed).standard_normal((m, 3))
    return x @ x.T + 0.1 * np.eye(m)


def left_in(covariance, noise: float, seen: list[int]) -> np.ndarray:
    """Slow twin: the variances after these are observed, by an explicit inverse."""
    if not seen:
        return np.diag(covariance)
    inner = np.linalg.inv(covariance[np.ix_(seen, seen)] + noise * np.eye(len(seen)))
    across = covariance[:, seen]
    return np.diag(covariance - across @ inner @ across.T)


@settings(max_examples=40)
@given(st.integers(3, 9), st.integers(0, 10**6), st.floats(0.05, 3.0))
def test_greedy_is_best_of_all_next_ones(m: int, seed: int, noise: float) -> None:
    """Each choice leaves the least variance in those not observed, of all that could be made."""
    covariance = covariance_of(m, seed)
    counts = default_rng(seed + 1).integers(1, 4, m).astype(float)
    chosen = most_telling(covariance, noise, m - 1, counts).tolist()
    assert len(set(chosen)) == m - 1
    for k in range(m - 1):
        seen = chosen[:k]
        total = {}
        for one in set(range(m)) - set(seen):
            kept = np.ones(m, bool)
            kept[[*seen, one]] = False
            total[one] = float(
                (counts * left_in(covariance, noise, [*seen, one]))[kept].sum()
            )
        assert total[chosen[k]] <= min(total.values()) + 1e-9 * sum(counts)


def test_one_of_two_clusters_first_from_the_larger() -> None:
    """Three that go together tell more than two; then the other two, and none twice."""
    covariance = np.zeros((5, 5))
    covariance[:3, :3] = covariance[3:, 3:] = 0.9
    covariance += 0.1 * np.eye(5)
    chosen = most_telling(covariance, 0.5, 2).tolist()
    assert chosen[0] in (0, 1, 2)
    assert chosen[1] in (3, 4)


def test_posterior_covariance_is_what_refitting_gives() -> None:
    """Variances after an observation are those of a process fitted with that text too."""
    rng = default_rng(5)
    x = rng.standard_normal((14, 4))
    kernel = x @ x.T + 0.3 * np.eye(14)
    noise = 0.4
    y = rng.standard_normal(14)
    known = np.arange(9)
    new = np.arange(9, 14)
    fitted = exact(kernel[np.ix_(known, known)].copy(), np.full(9, noise), y[known])
    cross = kernel[np.ix_(new, known)]
    together = fitted.together(cross, kernel[np.ix_(new, new)].copy())
    _, variances = fitted.predict(cross, np.diag(kernel)[new])
    assert np.diag(together) == pytest.approx(variances)
    more = np.arange(10)  # the first of the new ones is rated as well
    refitted = exact(kernel[np.ix_(more, more)].copy(), np.full(10, noise), y[more])
    _, after = refitted.predict(kernel[np.ix_(new, more)], np.diag(kernel)[new])
    assert left_in(together, noise, [0]) == pytest.approx(after)


@pytest.mark.parametrize("most", [5_000, 20])
def test_estimates_have_these_variances(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part that outputs share and one of each rating make up the variance of an estimate.

    But for words that no rated text has, of which each text has its own.
    """
    monkeypatch.setattr(data, "MOST_INVERTED", most)
    pool = simulate(70, seed=8).pool
    fitted = GaussianProcess(threads=1).fit(pool.take(np.arange(50)))
    outputs = as_outputs(pool.take(np.arange(50, 70)))
    found = fitted.together(outputs)
    assert found is not None
    ratio = (np.diag(found.covariance) + found.noise) / np.square(
        fitted.estimate(outputs).sd
    )
    assert 0.75 < ratio.min() <= ratio.max() < 1.0 + 1e-6
    assert np.linalg.eigvalsh(found.covariance).min() > -1e-8


def test_doubt_without_end_weighs_all_kernels_alike() -> None:
    """And the nugget: one of kernels + 1 parts of a variance of 1, beside the ratings' noise."""
    pool = simulate(40, seed=9).pool
    fitted = GaussianProcess(threads=1).fit(pool)
    data = fitted._state().data
    model = fitted._state().model
    doubtful = doubted(data, model, 10**12)
    parts = len(data.kernels) + 1
    assert [*doubtful.covariance.weights.values()] == pytest.approx(
        [1 / parts] * (parts - 1)
    )
    assert doubtful.amplitudes.nugget == pytest.approx(1 / parts)
