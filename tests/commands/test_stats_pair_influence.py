"""Influences on the share of pairs in people's order, and how often its interval holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.commands.judge.metrics_compared import _pairs_right
from refless.commands.judge.pair_influence import accuracy_influence
from refless.commands.judge.pairs import pairwise_accuracy

ROWS = st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=2, max_size=14)


def weighted_accuracy(human, predicted, groups, weights) -> float:
    """The slow twin: every pair in turn, with the product of its rows' weights."""
    shares = []
    sizes = []
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        right = total = 0.0
        for a in rows:
            for b in rows[rows > a]:
                alike = np.sign(human[a] - human[b]) == np.sign(
                    predicted[a] - predicted[b]
                )
                right += weights[a] * weights[b] * alike
                total += weights[a] * weights[b]
        if total:
            shares.append(right / total)
            sizes.append(weights[rows].mean())
    return float(np.average(shares, weights=sizes))


@given(rows=ROWS)
def test_influences_are_derivatives(rows) -> None:
    """By the weight of each row, a group weighing as its rows do on average."""
    human, predicted, groups = (
        np.array(column, dtype=float) for column in zip(*rows, strict=True)
    )
    groups = groups.astype(np.int64)
    if np.bincount(groups).max() < 2:
        return
    ours = accuracy_influence(human, predicted, groups=groups)
    step = 1e-6
    for row in range(len(rows)):
        ends = []
        for sign in (1, -1):
            weights = np.ones(len(rows))
            weights[row] += sign * step
            ends.append(weighted_accuracy(human, predicted, groups, weights))
        assert ours[row] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-8)
    assert ours.sum() == pytest.approx(0, abs=1e-12)
    value = weighted_accuracy(human, predicted, groups, np.ones(len(rows)))
    assert value == pytest.approx(pairwise_accuracy(human, predicted, groups=groups))


def test_all_pairs_right_has_no_interval() -> None:
    """Five rows in order are no proof that all rows are."""
    column = np.arange(5.0)
    estimate = _pairs_right(column, column, None, None)
    assert estimate.value == 1
    assert np.isnan(estimate.interval[0])


def test_the_interval_holds() -> None:
    """Scores with noise beside ratings of 1 to 5: 500 draws of 40 rows, the truth from 4,000."""

    def draw(rng, n):
        quality = rng.normal(size=n)
        ratings = np.clip(np.round(3 + quality + 0.7 * rng.normal(size=n)), 1, 5)
        return ratings, np.round(quality + 0.7 * rng.normal(size=n), 1)

    truth = pairwise_accuracy(*draw(np.random.default_rng(0), 4_000))
    rng = np.random.default_rng(1)
    ends = [_pairs_right(*draw(rng, 40), None, None).interval for _ in range(500)]
    held = np.mean([low <= truth <= high for low, high in ends])
    assert held >= 0.92
