"""Thresholds and learning curves: the fast paths against plain held-out runs."""

import os
from pathlib import Path

import numpy as np
import pytest

from refless.data.human import canonical_order, copies_of, pool_of
from refless.data.simulate import simulate
from refless.data.tables import Reading, read_pool
from refless.estimators.gp import GaussianProcess
from refless.estimators.neighbors import BLEUNeighbors
from refless.evaluation.annotators import annotators
from refless.evaluation.validation import codes
from refless.extensions.papers.learning_curve import learning_curve
from refless.extensions.papers.thresholds import thresholds
from refless.registry.errors import UsageError
from refless.stats.correlation import spearman
from test_studies_people import shuffled

DATA = Path(os.environ.get("REFLESS_DATA", Path(__file__).parents[2] / "shared" / "data"))
POOL = simulate(60, seed=4).pool
GRID = {"taus": (0.05, 0.08, 0.2), "min_neighbors": (1, 5), "max_fractions": (0.3, 1.0)}


@pytest.mark.parametrize("settings", [{}, {"kernel": "rouge-l"}, {"subsample": 0.7}])
@pytest.mark.parametrize("labels", [(), POOL.systems])
def test_thresholds_are_held_out_runs(settings, labels) -> None:
    """Every point of the grid is what the estimator says with these parameters."""
    found = thresholds(BLEUNeighbors(**settings), POOL, labels, **GRID)
    held = codes(labels or POOL.ids)
    for i, j, k in np.ndindex(found.spearman.shape):
        estimator = BLEUNeighbors(
            tau=GRID["taus"][i],
            min_neighbors=GRID["min_neighbors"][j],
            max_fraction=GRID["max_fractions"][k],
            **settings,
        )
        slow = estimator.held_out(POOL, held)
        assert found.coverage[i, j, k] == slow.coverage
        known = slow.defined
        expected = spearman(POOL.human[known], slow.values[known])
        assert found.spearman[i, j, k] == pytest.approx(expected, nan_ok=True)


def test_front_by_definition() -> None:
    """A point is on the front unless another has as much of both and more of one."""
    found = thresholds(BLEUNeighbors(), POOL)
    rho, share = found.spearman.ravel(), found.coverage.ravel()
    solid = ~np.isnan(rho) & (found.n_scored.ravel() >= 10)
    for i in range(len(rho)):
        better = (
            solid & (rho >= rho[i]) & (share >= share[i]) & ((rho > rho[i]) | (share > share[i]))
        )
        assert found.pareto.ravel()[i] == bool(solid[i] and not better.any())
    above = solid & (rho > annotators(POOL).average["spearman"])
    assert (found.above_human.ravel() == above).all()


def test_thresholds_of_gp() -> None:
    """The largest standard deviation admitted, in steps of coverage; the last admits all."""
    found = thresholds(GaussianProcess(), POOL)
    assert found.axes[0] == "max_sd"
    assert (np.diff(found.coverage[:, 0, 0]) > 0).all()
    estimates = GaussianProcess(max_sd=float(found.taus[2])).held_out(POOL)
    assert found.coverage[2, 0, 0] == pytest.approx(estimates.coverage)
    assert found.coverage[-1, 0, 0] == 1


def test_published_point_of_huse() -> None:
    """FACTS: tau 0.08, a 5, b 0.66 give 0.316 at coverage 0.995; a 30 gives more."""
    path = DATA / "huse-summarization" / "judgements.tsv"
    if not path.exists():
        pytest.skip(f"no real data at {path}")
    pool = read_pool([str(path)], Reading(scale=(1, 6))).pool
    grid = {"taus": (0.08,), "min_neighbors": (5, 30), "max_fractions": (0.66,)}
    found = thresholds(BLEUNeighbors(), pool, **grid)
    assert found.spearman[0, 0, 0] == pytest.approx(0.316, abs=0.0006)
    assert found.mse[0, 0, 0] == pytest.approx(0.0214, abs=0.00006)
    assert found.coverage[0, 0, 0] == 0.995
    assert found.spearman[0, 1, 0] > found.spearman[0, 0, 0]  # "peaking at a = 30 or a = 35"
    assert found.coverage[0, 1, 0] < found.coverage[0, 0, 0]


@pytest.mark.parametrize("settings", [{}, {"min_neighbors": 2, "tau": 0.1}])
def test_masks_are_refits(settings, monkeypatch) -> None:
    """The learning curve out of one table of similarities equals refits on the same subsets."""
    labels = POOL.items
    estimator = BLEUNeighbors(**settings)
    fast = learning_curve(estimator, POOL, labels, sizes=(20, 40), repetitions=3)
    monkeypatch.setattr("refless.estimators.neighbors.DENSE_TEXTS", 0)
    slow = learning_curve(estimator, POOL, labels, sizes=(20, 40), repetitions=3)
    for name, values in fast.values.items():
        assert values == pytest.approx(slow.values[name], nan_ok=True)
    whole = estimator.held_out(POOL, codes(labels))
    assert fast.mean["coverage"][-1] == whole.coverage
    assert fast.sd["spearman"][-1] == 0


def test_order_of_rows_does_not_matter() -> None:
    """Subsets are drawn in canonical order."""
    one = learning_curve(BLEUNeighbors(), POOL, repetitions=3)
    other = learning_curve(BLEUNeighbors(), shuffled(POOL), repetitions=3)
    for name, values in one.values.items():
        assert values == pytest.approx(other.values[name], nan_ok=True)
    assert str(one.signature) == str(other.signature)


def test_copies_are_drawn_together() -> None:
    """Two copies of each of 30 texts: whatever the subset, each text has its copy in it."""
    both = pool_of([*POOL.texts[:30], *POOL.texts[:30]], [i % 7 for i in range(60)])
    seen: list[np.ndarray] = []

    class Spy(BLEUNeighbors):
        def within(self, pool):
            inner = super().within(pool)
            return lambda rows: seen.append(rows) or inner(rows)

    learning_curve(Spy(), both, repetitions=3)
    copies = copies_of(both.take(canonical_order(both)))
    assert len(seen) == 9 * 3 + 1
    for rows in seen:
        assert set(np.bincount(copies[rows]).tolist()) <= {0, 2}


def test_forecast_by_hand() -> None:
    """A curve that lies on 2 - 3 / sqrt(n) is prolonged along it, clipped to what can be."""
    from refless.extensions.papers.learning_curve import _forecast

    sizes = np.array([100, 200, 300, 400])
    curve = (0.9 - 3 / np.sqrt(sizes))[:, None] * np.ones((1, 5))
    found = _forecast("spearman", sizes, curve, 225, 0)
    assert found.size == 625
    assert found.value == pytest.approx(0.9 - 3 / 25)
    assert found.gain == pytest.approx(3 / 20 - 3 / 25)
    assert found.gain_interval == pytest.approx((0.03, 0.03))
    assert _forecast("coverage", sizes, curve + 0.5, 225, 0).value == 1
    assert np.isnan(_forecast("spearman", sizes[:2], curve[:2], 225, 0).value)


def test_bad_sizes() -> None:
    """Sizes that the pool does not have."""
    for wrong in ({"sizes": (61,)}, {"sizes": (1,)}, {"repetitions": 1}):
        with pytest.raises(UsageError, match="learning curve"):
            learning_curve(BLEUNeighbors(), POOL, **wrong)


def test_curve_of_few_texts() -> None:
    """Twelve texts: a curve, but no forecast out of thin air."""
    found = learning_curve(BLEUNeighbors(), POOL.take(np.arange(12)), repetitions=2)
    assert found.sizes[-1] == 12
    assert np.isnan(found.forecast["spearman"].value)
