"""Held out means held out: a text's own rating, whatever it is, does not touch its estimate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from itertools import chain, product
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from refless.commands.validate.versus_judges import judges
from refless.data.design import group_names
from refless.data.human import copies_of, pool_of
from refless.data.records import RatedPool, scored
from refless.estimators import Estimator, estimator_of
from refless.estimators.folds import folds_in, folds_of, whole
from refless.estimators.gp import data
from refless.evaluation import baselines
from refless.registry.arrays import FloatArray, IntArray, codes

LEAST = 1e-12  # of the scale, which is 1 wide: what rounding may do
SCALE = (1.0, 5.0)
WORDS = ("the ferry", "a choir", "opens", "sings", "at noon", "by the river", "again")
SMALL = (
    "embedding=4,hidden=4,batch_size=8,epochs=2,synthetic_epochs=1,learning_rate=0.01"
)
ESTIMATORS = (
    "gp",
    "gp:tune_on=10",
    "gp:use_source=no,folds=2",
    "gp:use_system=yes",
    "bleu-neighbors:tau=0.02,min_neighbors=1,max_fraction=1",
    "bleu-neighbors:kernel=rouge-l,tau=0.1,min_neighbors=1",
)
Held = Callable[[RatedPool, IntArray], FloatArray]

POOLS = st.fixed_dictionaries(
    {
        "rows": st.lists(
            st.tuples(
                st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
                st.integers(0, 4),  # of which source
                st.lists(
                    st.sampled_from([1.0, 2.0, 2.5, 4.0, 5.0]), min_size=1, max_size=3
                ),
            ),
            min_size=14,
            max_size=28,
        ),
        "copied": st.integers(0, 6),  # rows that stand there again, rated otherwise
        "named": st.booleans(),
        "sources": st.booleans(),
        "scores": st.booleans(),
        "group": st.sampled_from(["id", "text", "source", "wave"]),
    }
)
MOVED = st.tuples(st.integers(0, 13), st.floats(*SCALE))


def built(drawn: dict[str, Any]) -> tuple[RatedPool, IntArray]:
    """The pool, and what is held out together."""
    rows = [*drawn["rows"]]
    for text, source, ratings in drawn["rows"][: drawn["copied"]]:
        rows.append((text, source, [6.0 - rating for rating in ratings]))
    pool = pool_of(
        [text for text, _, _ in rows],
        [ratings for _, _, ratings in rows],
        ids=[f"t{i}" for i in range(len(rows))] if drawn["named"] else None,
        sources=[f"what does number {source} do" for _, source, _ in rows]
        if drawn["sources"]
        else (),
        scores={"judge": [None if i % 4 == 3 else i * i % 7 for i in range(len(rows))]}
        if drawn["scores"]
        else {},
        systems=[f"s{i * i % 3}" for i in range(len(rows))],
        scale=SCALE,
    )
    group = drawn["group"]
    if (
        group == "id"
        or (group == "source" and not drawn["sources"])
        or len(set(pool.texts)) < 2
    ):
        return pool, np.arange(len(pool))
    waves = [f"w{i % 4}" for i in range(len(pool))]
    labels = waves if group == "wave" else group_names(pool, "text")
    if group == "source":
        labels = pool.sources
    return pool, codes(labels)


def moved_to(pool: RatedPool, row: int, value: float) -> RatedPool:
    """The pool with another rating for one text."""
    ratings = pool.ratings
    values = np.where(ratings.text == row, value, ratings.values)
    human = pool.human.copy()
    human[row] = (value - SCALE[0]) / (SCALE[1] - SCALE[0])
    return replace(pool, human=human, ratings=replace(ratings, values=values))


def check(held: Held, drawn: dict[str, Any], moved: tuple[int, float]) -> None:
    """The text's own estimate stays where it is."""
    pool, groups = built(drawn)
    row, value = moved
    before = held(pool, groups)[row]
    after = held(moved_to(pool, row, value), groups)[row]
    np.testing.assert_allclose(after, before, rtol=0, atol=LEAST)


def by(spec: str) -> Held:
    """Held-out estimates of an estimator, and those without blocks of groups."""
    model: Estimator = estimator_of(spec)

    def held(pool: RatedPool, groups: IntArray) -> FloatArray:
        tried = model.cross_validated(pool, groups, folds_in(pool, groups, 10))[
            1
        ].estimates
        return np.stack([model.held_out(pool, groups).values, *tried], axis=1)

    return held


def twice_judged(pool: RatedPool) -> RatedPool:
    """With another score, so that there is something to put together; none where there is none."""
    if not pool.score_names:
        return pool
    return replace(
        pool, **scored({"judge": pool.scores[:, 0], "other": -np.arange(len(pool))})
    )


def by_baselines(pool: RatedPool, groups: IntArray) -> FloatArray:
    """[n, 2 baselines] each without its group, and without its block."""
    blocks = folds_in(pool, groups, 5)
    found = baselines.baselines(pool, groups, blocks) | judges(
        twice_judged(pool), blocks
    )
    return np.stack(
        [*chain.from_iterable(one.estimates for one in found.values())], axis=1
    )


# As it was found: copies sorted by rating, so that a copy's fold depended on its own rating.
COPIES = {
    "rows": [
        (f"{w} {v}", i % 5, [1.0 + (3 * i + j) % 5])
        for (i, w), (j, v) in product(enumerate(WORDS[:4]), enumerate(WORDS[3:]))
    ],
    "copied": 6,
    "named": False,
    "sources": True,
    "scores": True,
    "group": "id",
}


@pytest.mark.parametrize("most", [10, 5_000])
@pytest.mark.parametrize("spec", ESTIMATORS)
@settings(max_examples=4, suppress_health_check=[HealthCheck.too_slow])
@example(drawn=COPIES, moved=(0, 5.0))
@given(drawn=POOLS, moved=MOVED)
def test_of_estimators(
    spec: str, most: int, drawn: dict[str, Any], moved: tuple[int, float]
) -> None:
    """Every estimator, grouping, few and many texts, copies with and without ids."""
    with patch.object(data, "MOST_INVERTED", most):
        check(by(spec), drawn, moved)


@pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed")
@settings(max_examples=2, suppress_health_check=[HealthCheck.too_slow])
@example(drawn=COPIES, moved=(0, 5.0))
@given(drawn=POOLS, moved=MOVED)
def test_of_networks(drawn: dict[str, Any], moved: tuple[int, float]) -> None:
    """RatPred, of the smallest size, fitted anew for two folds."""
    check(by(f"ratpred:{SMALL},folds=2"), drawn, moved)


@settings(max_examples=12)
@example(drawn=COPIES, moved=(0, 5.0))
@given(drawn=POOLS, moved=MOVED)
def test_of_baselines(drawn: dict[str, Any], moved: tuple[int, float]) -> None:
    """In closed form."""
    check(by_baselines, drawn, moved)


@settings(max_examples=50)
@given(drawn=POOLS, moved=MOVED, seed=st.integers(0, 3))
def test_no_choice_sees_a_rating(
    drawn: dict[str, Any], moved: tuple[int, float], seed: int
) -> None:
    """Folds are whole groups and whole copies; no rating and no order of rows deals them out."""
    pool, groups = built(drawn)
    fold = folds_in(pool, groups, 5)
    other = moved_to(pool, *moved)
    assert fold.tolist() == folds_in(other, groups, 5).tolist()
    order = np.random.default_rng(seed).permutation(len(pool))
    mixed = pool.take(order)
    assert fold[order].tolist() == folds_in(mixed, groups[order], 5).tolist()
    for label in np.unique(groups):
        assert len(set(fold[groups == label].tolist())) == 1
    if drawn["group"] != "wave":
        assert all(
            len(set(fold[copies_of(pool) == one].tolist())) == 1
            for one in copies_of(pool)
        )


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=30),
    st.integers(1, 20),
    st.integers(0, 2),
)
def test_copies_are_drawn_whole(copies: list[int], most: int, seed: int) -> None:
    """All copies of a text or none, and none is left out that fits; but of one with too many."""
    rows = whole(np.array(copies), most, np.random.default_rng(seed))
    assert len(rows) <= most
    assert sorted(set(rows.tolist())) == rows.tolist()
    kept = [copies[row] for row in rows]
    if min(map(copies.count, copies)) <= most:
        assert all(kept.count(one) == copies.count(one) for one in kept)
        missing = [copies.count(one) for one in copies if one not in kept]
        assert not missing or min(missing) > most - len(
            rows
        )  # no more would have fitted


@given(st.integers(1, 40), st.integers(2, 7))
def test_without_copies_folds_are_as_groups_are_dealt(n: int, folds: int) -> None:
    """The twin that knows of rows in canonical order and their groups alone."""
    groups = np.arange(n) // 2
    pool = pool_of([f"text {i:03}" for i in range(n)], [1.0] * n)
    assert folds_in(pool, groups, folds).tolist() == folds_of(groups, folds).tolist()
