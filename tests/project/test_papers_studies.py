"""The studies behind BLEU Neighbors' figures: against plain held-out runs, scipy, and by hand."""

import math
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from benchmarks.simulate import simulate
from scipy import stats

from places import PAPERS
from published import huse_pool
from records import pool_from, shuffled
from refless.data.human import canonical_order, copies_of, pool_of
from refless.data.records import as_outputs
from refless.estimators.neighbors import BLEUNeighbors
from refless.evaluation.held_out import agreement

POOL = simulate(60, seed=4).pool


@pytest.fixture(scope="module")
def studies() -> Iterator[ModuleType]:
    """The studies, importable as when the script is started."""
    sys.path.insert(0, str(PAPERS))
    import bleu_neighbors_studies

    yield bleu_neighbors_studies
    sys.path.remove(str(PAPERS))


@pytest.fixture
def movers(studies) -> ModuleType:
    """S+WMS."""
    if find_spec("ot") is None:
        pytest.skip("POT is not installed")
    import bleu_neighbors_movers

    return bleu_neighbors_movers


def test_published_point_of_huse(studies) -> None:
    """FACTS: tau 0.08, a 5, b 0.66 give 0.316 at coverage 0.995; a 30 gives more."""
    pool = huse_pool()
    found, peak = (studies.point_at(pool, 0.08, a, 0.66) for a in (5, 30))
    assert found.spearman == pytest.approx(0.316, abs=0.0006)
    assert found.mse == pytest.approx(0.0214, abs=0.00006)
    assert found.coverage == 0.995
    assert peak.spearman > found.spearman  # "peaking at a = 30 or a = 35"
    assert peak.coverage < found.coverage


def test_whole_pool_is_a_held_out_run(studies) -> None:
    """The learning curve's last size; the others grow towards it; order changes nothing."""
    found, moved = (studies.learning_curve(pool) for pool in (POOL, shuffled(POOL)))
    assert found.sizes[-1] == 60
    assert found.mean["coverage"][-1] == BLEUNeighbors().held_out(POOL).coverage
    assert found.sd["spearman"][-1] == 0
    for name, values in found.mean.items():
        assert values == pytest.approx(moved.mean[name], nan_ok=True)
    assert str(found.signature) == str(moved.signature)


def test_copies_are_drawn_together(studies) -> None:
    """Two copies of each of 30 texts: whatever the subset, each text has its copy in it."""
    both = pool_of([*POOL.texts[:30], *POOL.texts[:30]], [i % 7 for i in range(60)])
    seen: list[np.ndarray] = []

    class Spy(BLEUNeighbors):
        def within(self, pool):
            inner = super().within(pool)
            return lambda rows: seen.append(rows) or inner(rows)

    studies.learning_curve(both, Spy())
    copies = copies_of(both.take(canonical_order(both)))
    assert len(seen) == 9 * studies.REPETITIONS + 1
    for rows in seen:
        assert set(np.bincount(copies[rows]).tolist()) <= {0, 2}


def test_transfer_is_fit_and_predict(studies) -> None:
    """From task to task the other pool is learned from; in one task texts are held out."""
    left = simulate(50, seed=1).pool
    right = simulate(40, seed=2).pool
    found = studies.transfer({"b": right, "a": left})
    assert [(cell["learned"], cell["judged"]) for cell in found] == [
        ("a", "a"),
        ("a", "b"),
        ("b", "a"),
        ("b", "b"),
    ]
    estimates = BLEUNeighbors().fit(left).estimate(as_outputs(right))
    expected = agreement(studies.predictions_of(right, estimates))
    assert found[1]["agreement"].spearman == expected.spearman
    assert found[1]["agreement"].coverage == estimates.coverage
    own = studies.predictions_of(left, BLEUNeighbors().held_out(left))
    assert found[0]["agreement"].spearman == agreement(own).spearman


def test_easy_texts_by_hand(studies) -> None:
    """Ratings 2, 4, 3; "a" errs by 1, 1, 0 and "b" too: MSE 2/3 on all, 1/2 on the last two."""
    ratings = {"x": (1, 3), "y": (5, 3), "z": (3, 3)}
    rows = []
    for text, (by_a, by_b) in ratings.items():
        rows += [(text, "a", by_a), (text, "b", by_b)]
    found = studies.easy_texts(pool_from(rows), np.array([False, True, True]))
    assert found.n_scored == 2
    assert found.all_texts == pytest.approx(2 / 3)
    assert found.estimated == pytest.approx(1 / 2)
    assert found.difference == pytest.approx(-1 / 6)


def test_easy_texts_are_found(studies) -> None:
    """If estimates exist only where annotators agree, the difference is clear; else not."""
    pool = simulate(200, seed=3, annotators=12, raters_per_text=6).pool
    off = np.square((pool.ratings.values - 1) / 4 - pool.human[pool.ratings.text])
    spread = np.bincount(pool.ratings.text, weights=off)
    easy = studies.easy_texts(pool, spread < np.median(spread))
    assert easy.interval[1] < 0
    assert easy.p < 0.01
    chance = studies.easy_texts(pool, np.random.default_rng(0).random(200) < 0.5)
    assert chance.p > 0.05
    assert chance.interval[0] < 0 < chance.interval[1]


@pytest.mark.parametrize("shape", ["normal", "skewed"])
def test_bca_against_scipy(studies, shape) -> None:
    """The same resamples give scipy's interval."""
    rng = np.random.default_rng(5)
    sample = rng.normal(size=25) if shape == "normal" else rng.exponential(size=25)
    found = stats.bootstrap(
        (sample,), np.mean, method="BCa", n_resamples=999, random_state=rng
    )
    left_out = (sample.sum() - sample) / 24
    ours = studies.bca_interval(
        found.bootstrap_distribution, float(sample.mean()), left_out
    )
    assert ours == pytest.approx(tuple(found.confidence_interval), rel=0.01)
    assert studies.bca_interval(np.ones(50), 1.0, np.ones(4)) == (1.0, 1.0)


def test_movers_by_hand(movers, tmp_path: Path) -> None:
    """Weights fox 1, dog 1, their mean 2, all of 4, onto fox and its sentence, both at (0, 0).

    (0 + 5 + 2 * 2.5) / 4 = 2.5. The best reference counts; without known words there is no score.
    """
    path = tmp_path / "plane.txt"
    path.write_text("fox 0 0\ndog 3 4\nthe 100 100\n", "utf-8")
    texts = ("The fox dog", "unknown")
    found = movers.s_wms(texts, (("fox", "unknown"), ("fox",)), str(path))
    assert found[0] == pytest.approx(math.exp(-2.5))
    assert np.isnan(found[1])
    assert "vectors:plane.txt|sha:" in str(movers.signature(str(path)))
