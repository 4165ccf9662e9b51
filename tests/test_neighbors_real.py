"""BLEU Neighbors on the pool of the paper."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refless.data.records import RatedPool
from refless.data.tables import Reading, read_pool
from refless.estimators.neighbors import BLEUNeighbors

DATA = Path(os.environ.get("REFLESS_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))
HUSE = DATA / "huse-summarization" / "judgements.tsv"


def huse() -> RatedPool:
    """The paper's summarization pool; human rating on [0, 1]."""
    if not HUSE.exists():
        pytest.skip(f"no real data at {HUSE}")
    return read_pool([str(HUSE)], Reading(scale=(1, 6))).pool


@pytest.mark.parametrize(
    ("settings", "error", "spearman", "coverage"),
    [
        ({}, 0.0214, 0.316, 0.995),
        ({"kernel": "bleu*:clip=no"}, 0.0214, 0.320, 0.995),
        ({"kernel": "bleu*:orders=1-4"}, 0.0216, 0.298, 0.99),
    ],
)  # FACTS, BLEU Neighbors 1
def test_the_published_experiment(
    settings: dict[str, Any], error: float, spearman: float, coverage: float
) -> None:
    """HUSE summarization, leave-one-out: mean squared error, Spearman, coverage."""
    check_experiment(huse(), BLEUNeighbors(**settings), error, spearman, 0.004)
    assert BLEUNeighbors(**settings).held_out(huse()).coverage == coverage


def test_the_published_experiment_without_repeated_texts() -> None:
    """FACTS: 0.0214 and 0.322 when the two repeated texts are dropped."""
    pool = huse()
    first = np.array(
        sorted({text: row for row, text in reversed([*enumerate(pool.texts)])}.values())
    )
    assert len(first) == 198
    check_experiment(pool.take(first), BLEUNeighbors(), 0.0214, 0.322, 0.005)


def check_experiment(
    pool: RatedPool, model: BLEUNeighbors, error: float, spearman: float, tolerance: float
) -> None:
    """Errors and ranks of held-out estimates."""
    from scipy.stats import spearmanr

    found = model.held_out(pool)
    human, predicted = pool.human[found.defined], found.values[found.defined]
    assert np.mean((human - predicted) ** 2) == pytest.approx(error, abs=2e-4)
    assert spearmanr(human, predicted).statistic == pytest.approx(spearman, abs=tolerance)


def test_words_cover_little_of_the_published_pool() -> None:
    """FACTS: on words coverage is 0.00 to 0.23, so the paper's 0.99 needs characters."""
    pool = huse()
    assert 0.0 <= BLEUNeighbors(kernel="bleu*:tokenize=words").held_out(pool).coverage <= 0.23


def test_the_order_of_the_file_changes_nothing() -> None:
    """Estimates, intervals and signature are those of the file upside down."""
    pool = huse()
    turned = pool.take(np.arange(len(pool))[::-1])
    one, other = BLEUNeighbors(), BLEUNeighbors()
    found, again = one.held_out(pool), other.held_out(turned)
    for name in ("values", "support", "low", "high"):
        left, right = getattr(found, name)[::-1], getattr(again, name)
        assert np.array_equal(left, right, equal_nan=True)
    assert one.signature(pool) == other.signature(turned)
