"""Scores of others as predictions: fits, folds, what texts add to them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from records import fixed
from refless.commands.validate.leaderboard import against
from refless.commands.validate.versus_judges import (
    ALL_SCORES,
    MEAN,
    RIDGE,
    judges,
    line,
    linear,
    versus_judges,
)
from refless.data.human import pool_of
from refless.stats.scaling import FARTHEST, NormalRanks

NAN = float("nan")
RNG = np.random.default_rng(7)
HUMAN = np.round(RNG.normal(size=60), 1)
ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 8)), min_size=3, max_size=25
).filter(lambda rows: len({x for x, _ in rows}) > 1 and len({y for _, y in rows}) > 1)


def column(*values: float) -> np.ndarray:
    """One column of scores."""
    return np.array(values, dtype=np.float64)[:, None]


def test_line_by_hand() -> None:
    """Scores 1, 2, 3 and ratings 1, 4, 2.5, 9: slope .75 through (2, 4.125); no score is a 2."""
    scores = column(1, 2, 3, NAN)
    human = np.array([1.0, 4.0, 2.5, 9.0])
    found = line(scores, human, column(0, 1, 2.5, 3, NAN))
    assert_allclose(found, [2.625, 3.375, 4.5, 4.875, 4.125])
    assert_allclose(line(-scores, human, -column(0, 1)), found[:2])


def test_line_on_the_mean_of_judges_by_hand() -> None:
    """Scores of -1 or 1 in two units, the second with a minus: their means are -1, 0, 0, 1."""
    scores = np.array(
        [[2.0, 90.0], [2.0, 10.0], [4.0, 90.0], [4.0, 10.0], [2.0, 90.0], [4.0, 10.0]]
    )
    human = np.array([1.0, 2.0, 2.0, 3.0, 1.0, 3.0])
    found = line(
        scores, human, np.array([[4.0, 10.0], [4.0, 90.0], [NAN, 10.0], [NAN, NAN]])
    )
    assert_allclose(found, [3, 2, 2.5, 2])


def test_without_a_known_score_it_is_the_mean() -> None:
    for nothing in (column(NAN, NAN), column(3, 3)):
        assert line(nothing, np.array([1.0, 2.0]), column(3, NAN)).tolist() == [
            1.5,
            1.5,
        ]


@given(ROWS)
def test_line_is_least_squares_of_numpy(rows: list[tuple[int, int]]) -> None:
    x, y = (np.array(part, dtype=np.float64) for part in zip(*rows, strict=True))
    inside = np.abs(x - x.mean()) <= FARTHEST * x.std()
    x = x[inside]
    y = y[inside]
    assume(len({*x}) > 1)
    found = line(x[:, None], y, x[:, None])
    assert_allclose(found, np.polyval(np.polyfit(x, y, 1), x), atol=1e-9)


def test_linear_is_the_ridge_of_scikit_learn() -> None:
    """On mapped scores and which are there; two columns alike are no trouble."""
    linear_model = pytest.importorskip("sklearn.linear_model", reason="no scikit-learn")
    scores = RNG.normal(size=(50, 2))
    scores[:9, 0] = NAN
    scores = np.hstack([scores, scores[:, :1]])
    human = np.nan_to_num(scores[:, 0]) + RNG.normal(size=50)
    rows = np.hstack([NormalRanks.of(scores[:40]).mapped(scores), ~np.isnan(scores)])
    ridge = linear_model.Ridge(alpha=RIDGE).fit(rows[:40], human[:40])
    found = linear(scores[:40], human[:40], scores[40:])
    assert_allclose(found, ridge.predict(rows[40:]), atol=1e-10)


def test_fitted_in_the_other_blocks() -> None:
    """By each score and by both; own ratings and the order of rows change nothing."""
    scores = {"a": HUMAN + RNG.normal(size=60), "b": [None, *range(59)]}
    pool = pool_of([f"text {i}" for i in range(60)], HUMAN, scores=scores)
    blocks = np.arange(60) % 5
    found = judges(pool, blocks)
    assert list(found) == ["a line on a", "a line on b", MEAN, ALL_SCORES]
    for block in range(5):
        known = blocks != block
        asked = blocks == block
        for name, columns in (("a line on a", [0]), (MEAN, [0, 1])):
            one = line(
                pool.scores[known][:, columns],
                HUMAN[known],
                pool.scores[asked][:, columns],
            )
            assert_allclose(found[name].estimates[1, asked], one)
    order = RNG.permutation(60)
    moved = replace(pool, human=np.where(blocks == 2, -HUMAN, HUMAN))
    for name, one in found.items():
        mixed = judges(pool.take(order), blocks[order])[name].estimates[0]
        assert_allclose(mixed, one.estimates[0, order], atol=1e-12)
        after = judges(moved, blocks)[name].estimates[0]
        assert_array_equal(after[blocks == 2], one.estimates[0, blocks == 2])
    assert list(judges(pool.with_scores(["a"]), blocks)) == ["a line on a"]


def test_without_some_rows() -> None:
    """Learned anew from the others, as if they had never been there."""
    pool = pool_of([f"text {i}" for i in range(60)], HUMAN, scores={"a": HUMAN**3})
    blocks = np.arange(60) % 5
    kept = np.arange(0, 60, 3)
    without = judges(pool, blocks)["a line on a"].without
    assert without is not None
    values = without(kept)[0]
    wanted = judges(pool.take(kept), blocks[kept])["a line on a"].estimates[0]
    assert_array_equal(values[kept], wanted)
    assert np.isnan(np.delete(values, kept)).all()


def test_the_strongest_of_the_scores_is_the_one_to_beat() -> None:
    """For the pair that holds the reference; None where no estimator reads scores."""
    noise = RNG.normal(size=(4, 60))
    predicted = {
        "gp + scores": HUMAN + 0.5 * noise[0],
        "gp": HUMAN + 2 * noise[1],
        "other": HUMAN + 3 * noise[2],
        "weak alone": HUMAN + 9 * noise[3],
        "strong alone": HUMAN + noise[3],
    }
    trials = {name: fixed(HUMAN, values) for name, values in predicted.items()}
    names = tuple(predicted)[3:]
    scores = {name: trials[name] for name in names}
    table = against(
        {name: trials[name] for name in [*trials][:3]}, scores, {}, "gp + scores"
    )
    found = versus_judges(table, trials, {"gp + scores": "gp"}, ("strong", "weak"))
    assert found is not None
    assert (found.both, found.texts, found.scores) == (
        "gp + scores",
        "gp",
        "strong alone",
    )
    rho = {line.name: line.spearman for line in table.methods}
    assert found.texts_add.value == pytest.approx(
        rho["gp + scores"] - rho["strong alone"]
    )
    assert found.scores_add.value == pytest.approx(rho["gp + scores"] - rho["gp"])
    low, high = found.scores_add.interval
    assert 0 < low < found.scores_add.value < high
    assert versus_judges(table, trials, {}, ("strong", "weak")) is None
