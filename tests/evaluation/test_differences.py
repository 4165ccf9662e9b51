"""Two predictors on the same texts, drawn together."""

import math

import numpy as np
import pytest

from refless.evaluation.differences import difference
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.plural import counted
from refless.stats.correlation import spearman

RNG = np.random.default_rng(5)
HUMAN = RNG.normal(size=150)
CLOSE = HUMAN + RNG.normal(size=150)
TWIN = CLOSE + 0.05 * RNG.normal(size=150)
NOISE = RNG.normal(size=150)
GROUPS = np.arange(150) // 5


def test_slow_twin() -> None:
    """The same interval as from rows that are repeated as often as they were drawn."""
    order = np.lexsort((NOISE, CLOSE, HUMAN))
    human = HUMAN[order]
    first = CLOSE[order]
    second = NOISE[order]
    rng = np.random.default_rng(3)
    drawn = rng.integers(150, size=(200, 150))
    gaps = [spearman(human[i], first[i]) - spearman(human[i], second[i]) for i in drawn]
    found = difference("spearman", HUMAN, CLOSE, NOISE, seed=3, resamples=200)
    assert found.value == pytest.approx(spearman(HUMAN, CLOSE) - spearman(HUMAN, NOISE))
    assert found.interval == pytest.approx(tuple(np.quantile(gaps, [0.025, 0.975])))


def test_pairing_narrows_the_interval() -> None:
    """Of two nearly equal predictors far less is in doubt than of two unlike ones."""
    near, far = (
        difference("spearman", HUMAN, CLOSE, other).interval for other in (TWIN, NOISE)
    )
    assert near[1] - near[0] < 0.2 * (far[1] - far[0])
    assert far[0] > 0


@pytest.mark.parametrize("measure", ["spearman", "mse"])
@pytest.mark.parametrize("clusters", [None, GROUPS])
def test_antisymmetric_and_of_no_order(measure: str, clusters: IntArray | None) -> None:
    """Turned round it changes its sign; the order of rows changes nothing."""
    back = RNG.permutation(150)

    def ends(
        first: FloatArray, second: FloatArray, rows: IntArray
    ) -> tuple[float, float]:
        held = None if clusters is None else clusters[rows]
        return difference(
            measure, HUMAN[rows], first[rows], second[rows], clusters=held
        ).interval

    plain = ends(CLOSE, NOISE, np.arange(150))
    assert plain == ends(CLOSE, NOISE, back)
    low, high = ends(NOISE, CLOSE, back)
    assert (-high, -low) == pytest.approx(plain, abs=0.03)


def test_undefined() -> None:
    """Without texts, with one text, or where a measure is undefined: no number."""
    nothing = np.full(150, np.nan)
    assert math.isnan(difference("mse", HUMAN, CLOSE, nothing).value)
    assert math.isnan(difference("spearman", HUMAN, CLOSE, np.ones(150)).interval[0])
    assert math.isnan(difference("mse", HUMAN[:1], CLOSE[:1], NOISE[:1]).interval[1])


def test_counted() -> None:
    """One noun, several nouns, and a plural of its own."""
    assert [counted(n, "metric") for n in (0, 1, 2000)] == [
        "0 metrics",
        "1 metric",
        "2,000 metrics",
    ]
    assert counted(2, "person", "people") == "2 people"
