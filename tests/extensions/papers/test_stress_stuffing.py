"""The attack on estimators: a stuffed output, and sub-samples."""

import numpy as np
import pytest
from benchmarks.simulate import simulate

from refless.data.human import pool_of
from refless.data.records import Outputs, RatedPool, outputs_of
from refless.estimators.gp import GaussianProcess
from refless.estimators.neighbors import BLEUNeighbors
from refless.extensions.papers.stress import stuffing
from refless.extensions.papers.stress.judging import Estimated
from refless.extensions.papers.stress.plan import StressPlan
from refless.extensions.papers.stress.stuffing import (
    fragments_of,
    stuffed,
    stuffing_probe,
)
from refusals import bad_usage

PLAN = StressPlan(resamples=50)
JUDGE = Estimated(estimator=BLEUNeighbors())


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short attack."""
    for name, value in {"FRAGMENTS": 25, "STEPS": 3, "DRAWS": 3}.items():
        monkeypatch.setattr(stuffing, name, value)


@pytest.fixture(scope="module")
def pool() -> RatedPool:
    return simulate(90, seed=1).pool


@pytest.fixture(scope="module")
def honest(pool: RatedPool) -> Outputs:
    return outputs_of(pool.texts[:20])


def test_fragments_are_of_the_highest_rated() -> None:
    """Two to five words of the best tenth; by hand for one text of three words."""
    texts = ["good food here", *(f"bad thing {i}" for i in range(9))]
    found = fragments_of(pool_of(texts, [5.0, *[1.0] * 9]), 0)
    assert found == ["food here", "good food", "good food here"]


def test_the_attacker_climbs(pool: RatedPool) -> None:
    """Each step's choice is the best of its tries: never below the best single piece."""
    estimator = BLEUNeighbors(min_neighbors=1).fit(pool)
    pieces = fragments_of(pool, 0)
    text = stuffed(estimator, pool, 0)
    best = np.nanmax(estimator.estimate(pieces).values)
    assert estimator.estimate([text]).values[0] >= best
    assert stuffed(estimator, pool, 0) == text
    assert any(piece in text for piece in pieces)


@pytest.mark.parametrize("estimator", [BLEUNeighbors(), GaussianProcess()])
def test_probe_holds_all_attackers(
    estimator: BLEUNeighbors | GaussianProcess, pool: RatedPool, honest: Outputs
) -> None:
    """Honest outputs, a copy, a stuffed text, sub-samples; sources are left unread."""
    probe = stuffing_probe(Estimated(estimator=estimator), pool, honest, PLAN)
    rows = {row.label: row for row in probe.rows}
    assert list(rows) == [
        "honest outputs",
        "best rated text, copied",
        "stuffed, all ratings known",
        "- judged by 50 % of the ratings",
    ]
    attacked = rows["stuffed, all ratings known"]
    assert attacked.score > rows["honest outputs"].score
    assert attacked.change == pytest.approx(
        attacked.score - rows["honest outputs"].score
    )
    assert attacked.text
    assert probe.verdict.startswith("A stuffed output gets")


def test_ungameable_is_told() -> None:
    """An estimator for which all texts are the same is not fooled."""
    texts = [f"word{i} and more of it" for i in range(30)]
    flat = pool_of(texts, [3.0] * 30)
    judge = Estimated(estimator=BLEUNeighbors(max_fraction=1.0))
    probe = stuffing_probe(judge, flat, outputs_of(texts[:5]), PLAN)
    assert probe.fooled is False


def test_too_few_ratings(honest: Outputs) -> None:
    """Wrong usage, which becomes a reason why the probe was not run."""
    few = pool_of(["a b c d e"] * 5, [1.0] * 5)
    with bad_usage("needs 20 rated texts"):
        stuffing_probe(JUDGE, few, honest, PLAN)
