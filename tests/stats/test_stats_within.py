"""Correlations within blocks: slow twins, expectations without signal and with it."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

from refless.registry.arrays import FloatArray, IntArray
from refless.stats import correlation
from refless.stats import within_group as within
from refless.stats.within_group import WITHIN, positions

COLUMNS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)),
    min_size=1,
    max_size=14,
)
ROWS = np.arange(60)


def triples(x: FloatArray, y: FloatArray) -> float:
    """Mean of sign(x_i - x_j) sign(y_i - y_k) over three different rows, in loops."""
    found = [
        np.sign(x[i] - x[j]) * np.sign(y[i] - y[k])
        for i, j, k in permutations(range(len(x)), 3)
    ]
    return float(np.mean(found))


def slow_spearman(human: FloatArray, predicted: FloatArray, blocks: IntArray) -> float:
    each = []
    for label in np.unique(blocks):
        y = human[blocks == label]
        p = predicted[blocks == label]
        if len(y) >= 3 and len(set(y)) > 1:
            ranked = len(set(p)) > 1
            parts = (
                (triples(y, p), triples(y, y), triples(p, p)) if ranked else (0, 0, 0)
            )
            each.append((len(y) - 1, ranked, *parts))
    if not each or not any(one[1] for one in each):
        return math.nan
    weights, ranked, both, ours, theirs = np.array(each, dtype=float).T
    below = (weights @ ours) * (weights @ theirs)
    if not below > 1e-12:
        return math.nan
    found = weights @ both / math.sqrt(below) * (weights @ ranked) / weights.sum()
    return float(np.clip(found, -1, 1))


@given(COLUMNS)
def test_spearman_against_loops_over_triples(rows: list[tuple[int, int, int]]) -> None:
    human, predicted = (
        np.array(column, dtype=float) for column in [*zip(*rows, strict=True)][:2]
    )
    blocks = np.array([row[2] for row in rows])
    slow = slow_spearman(human, predicted, blocks)
    assert within.spearman(human, predicted, blocks) == pytest.approx(slow, nan_ok=True)


@pytest.mark.parametrize("name", ["spearman", "kendall"])
def test_large_blocks_are_sorted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond 300 rows ranks and counts of pairs give the same."""
    rng = default_rng(0)
    human = rng.integers(0, 5, 60).astype(float)
    predicted = rng.integers(0, 9, 60) / 7
    dense = WITHIN[name](human, predicted, ROWS % 4)
    monkeypatch.setattr(within, "DENSE", 2)
    assert WITHIN[name](human, predicted, ROWS % 4) == pytest.approx(dense, abs=1e-12)


@pytest.mark.parametrize("name", ["spearman", "kendall", "auc"])
def test_ratings_that_are_shuffled_in_a_block_average_to_zero(name: str) -> None:
    """Exactly, over all orders of the ratings, with ties, whatever the predictions: no mirror."""
    human = np.array([0.0, 0.0, 1.0, 1.0] if name == "auc" else [0.0, 0.0, 0.3, 1.0])
    predicted = np.array([0.1, 0.4, 0.2, 0.9])
    block = np.zeros(4, dtype=np.int64)
    found = [
        WITHIN[name](human[list(order)], predicted, block)
        for order in permutations(range(4))
    ]
    assert np.mean(found) == pytest.approx(0.5 if name == "auc" else 0.0, abs=1e-12)


@pytest.mark.parametrize("name", list(WITHIN))
def test_perfect_and_reversed(name: str) -> None:
    human = (ROWS % 2 if name == "auc" else ROWS).astype(float)
    ends = (
        WITHIN[name](human, 3 * human + 1, ROWS % 5),
        WITHIN[name](human, -human, ROWS % 5),
    )
    assert ends == pytest.approx((1.0, 0.0 if name == "auc" else -1.0))


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
def test_a_block_that_is_not_ranked_counts_as_zero(name: str) -> None:
    """Half the blocks perfect, half of one prediction: one half. All of one: undefined."""
    human = np.tile(np.arange(10.0), 6)
    blocks = ROWS // 10
    predicted = np.where(blocks % 2 == 0, human, 7.0)
    assert WITHIN[name](human, predicted, blocks) == pytest.approx(0.5)
    assert math.isnan(WITHIN[name](human, np.ones(60), blocks))
    assert math.isnan(WITHIN[name](np.ones(60), human, blocks))
    assert math.isnan(WITHIN[name](human[:1], human[:1], blocks[:1]))


@pytest.mark.parametrize(("name", "truth"), [("pearson", 0.6), ("spearman", 0.5819)])
def test_few_rows_a_block_cost_nothing_on_average(name: str, truth: float) -> None:
    """Normal columns with r = .6, whose rho is 6/pi arcsin(.3); blocks of 12, 600 samples."""
    rng = default_rng(1)
    found = []
    for _ in range(600):
        x, noise = rng.standard_normal((2, 60))
        found.append(WITHIN[name](x, 0.6 * x + 0.8 * noise, ROWS % 5))
    assert np.mean(found) == pytest.approx(
        truth, abs=4 * np.std(found) / math.sqrt(600)
    )


def test_the_mirror_of_the_constant_is_gone() -> None:
    """The mean of the other texts has -1 over all rows; the mean of other blocks ranks nothing."""
    human = default_rng(2).standard_normal(60)
    blocks = ROWS % 5
    assert correlation.spearman(human, (human.sum() - human) / 59) == pytest.approx(-1)
    outside = np.array([human[blocks != block].mean() for block in blocks])
    assert math.isnan(within.spearman(human, outside, blocks))


def test_positions_by_hand() -> None:
    """Places in a block of four and in one of one; ties share theirs."""
    found = positions(np.array([5.0, 1.0, 9.0, 1.0, 3.0]), np.array([0, 0, 0, 0, 1]))
    assert found.tolist() == [0.25, -0.5, 0.75, -0.5, 0.0]
