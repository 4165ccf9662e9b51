"""Transfer between tasks, and low-hanging fruit."""

from dataclasses import replace

import numpy as np
import pytest

from refless.data.records import as_outputs
from refless.data.simulate import simulate
from refless.estimators.gp import GaussianProcess
from refless.estimators.neighbors import BLEUNeighbors
from refless.evaluation.held_out import agreement
from refless.extensions.papers.easy_texts import easy_texts
from refless.extensions.papers.judging import across, beside
from refless.extensions.papers.transfer import by_task, transfer
from refless.registry.errors import UsageError
from refless.registry.signature import Signature
from test_studies_annotators import pool_from
from test_studies_people import shuffled

LEFT, RIGHT = simulate(50, seed=1).pool, simulate(40, seed=2).pool
QUICK = {"resamples": 50}


def test_transfer_is_fit_and_predict() -> None:
    """Off the diagonal the other pool is learned from; on it texts are held out."""
    found = transfer(BLEUNeighbors(), {"b": RIGHT, "a": LEFT}, **QUICK)
    assert (found.tasks, found.n) == (("a", "b"), (50, 40))
    estimates = BLEUNeighbors().fit(LEFT).estimate(as_outputs(RIGHT))
    expected = agreement(beside(RIGHT, estimates), resamples=50)
    assert found.agreements[0][1].spearman == expected.spearman
    assert found.agreements[0][1].coverage == estimates.coverage
    own = beside(LEFT, BLEUNeighbors().held_out(LEFT))
    assert found.agreements[0][0].spearman == agreement(own, resamples=50).spearman


def test_shared_groups_are_held_out() -> None:
    """A system that stands in both tasks is judged by the other systems' texts only."""
    estimates = across(GaussianProcess(), LEFT, RIGHT, LEFT.systems, RIGHT.systems)
    systems = np.array(RIGHT.systems)
    for name in sorted(set(RIGHT.systems)):
        rows = np.flatnonzero(systems == name)
        others = LEFT.take(np.flatnonzero(np.array(LEFT.systems) != name))
        alone = GaussianProcess().fit(others).estimate(as_outputs(RIGHT.take(rows)))
        assert estimates.values[rows] == pytest.approx(alone.values)


def test_tasks_of_one_pool() -> None:
    """The task column parts a pool; without one, or with one task, it is an error."""
    pool = replace(LEFT, tasks=tuple("xy"[i % 2] for i in range(50)))
    assert {name: len(part) for name, part in by_task(pool).items()} == {"x": 25, "y": 25}
    with pytest.raises(UsageError, match="no task column"):
        by_task(LEFT)
    with pytest.raises(UsageError, match="two tasks or more"):
        transfer(BLEUNeighbors(), {"a": LEFT})


def test_fruit_by_hand() -> None:
    """Ratings 2, 4, 3; "a" errs by 1, 1, 0 and "b" too: MSE 2/3 on all, 1/2 on the last two."""
    rows = [
        ("x", "a", 1),
        ("x", "b", 3),
        ("y", "a", 5),
        ("y", "b", 3),
        ("z", "a", 3),
        ("z", "b", 3),
    ]
    found = easy_texts(pool_from(rows), np.array([False, True, True]), Signature("test"))
    assert (found.n_annotators, found.n, found.n_scored) == (2, 3, 2)
    assert found.all_texts == pytest.approx(2 / 3)
    assert found.estimated == pytest.approx(1 / 2)
    assert found.difference == pytest.approx(-1 / 6)
    assert found.undefined == ""


def test_fruit_finds_easy_questions() -> None:
    """Where estimates exist only where annotators agree, the difference is clear; else not."""
    pool = simulate(200, seed=3, annotators=12, raters_per_text=6).pool
    off = np.square((pool.ratings.values - 1) / 4 - pool.human[pool.ratings.text])
    spread = np.bincount(pool.ratings.text, weights=off)
    easy = easy_texts(pool, spread < np.median(spread), Signature("test"))
    assert easy.difference_interval[1] < 0
    assert easy.difference_p < 0.01
    chance = easy_texts(pool, np.random.default_rng(0).random(200) < 0.5, Signature("test"))
    assert chance.difference_p > 0.05
    assert chance.difference_interval[0] < 0 < chance.difference_interval[1]


def test_fruit_does_not_depend_on_order() -> None:
    """Texts and ratings in another order give the same."""
    one = easy_texts(LEFT, BLEUNeighbors().held_out(LEFT).defined, Signature("test"))
    moved = shuffled(LEFT)
    assert one == easy_texts(moved, BLEUNeighbors().held_out(moved).defined, Signature("test"))


def test_fruit_undefined() -> None:
    """Nobody estimated, or nobody named."""
    found = easy_texts(LEFT, np.zeros(50, dtype=bool), Signature("test"))
    assert "fewer than two annotators" in found.undefined
    assert np.isnan(found.difference)
    unnamed = replace(LEFT, ratings=replace(LEFT.ratings, annotators=()))
    assert (
        "do not name" in easy_texts(unnamed, np.ones(50, dtype=bool), Signature("test")).undefined
    )
