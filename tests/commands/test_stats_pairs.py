"""Pairwise accuracy with ties."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from refless.commands.judge.pairs import (
    chance_accuracy,
    pairwise_accuracy,
    tie_threshold,
)

LEVELS = st.integers(0, 4).map(float)


@st.composite
def columns(draw):
    """Human rating, prediction, groups."""
    n = draw(st.integers(2, 10))
    human, predicted = (draw(arrays(np.float64, n, elements=LEVELS)) for _ in range(2))
    return human, predicted, draw(arrays(np.int64, n, elements=st.integers(0, 2)))


def slow(human, predicted, groups, threshold):
    """Pair by pair, then group by group."""
    labels = np.zeros(len(human)) if groups is None else groups
    shares = []
    for label in np.unique(labels):
        right = []
        for i, j in combinations(np.flatnonzero(labels == label), 2):
            gap = predicted[i] - predicted[j]
            sign = 0 if abs(gap) <= threshold else np.sign(gap)
            right.append(sign == np.sign(human[i] - human[j]))
        if right:
            shares.append(np.mean(right))
    return np.mean(shares) if shares else np.nan


def test_every_item_counts_the_same() -> None:
    """Two of three systems' pairs are right on one item, the only pair on another is wrong.

    mt-metrics-eval (tau_optimization with acc_23) averages over items: 1/3, not 2 of 4 pairs.
    """
    human = np.array([1.0, 2, 3, 1, 2])
    metric = np.array([1.0, 3, 2, 2, 1])
    groups = np.array([0, 0, 0, 1, 1])
    assert pairwise_accuracy(human, metric, groups=groups) == 1 / 3
    assert tie_threshold(human, metric, groups=groups) == (0.0, 1 / 3)


@given(columns(), st.sampled_from([0.0, 1.0, 2.5]), st.booleans())
def test_accuracy_pair_by_pair(three, threshold, grouped) -> None:
    """The definition, with and without groups."""
    human, predicted, groups = three
    groups = groups if grouped else None
    found = pairwise_accuracy(human, predicted, groups=groups, threshold=threshold)
    assert found == pytest.approx(
        slow(human, predicted, groups, threshold), nan_ok=True
    )


@given(columns(), st.booleans())
def test_tie_threshold_is_the_best(three, grouped) -> None:
    """No difference of predictions is a better threshold, and none as good is smaller."""
    human, predicted, groups = three
    groups = groups if grouped else None
    threshold, best = tie_threshold(human, predicted, groups=groups)
    tried = {t: slow(human, predicted, groups, t) for t in (0.0, 1.0, 2.0, 3.0, 4.0)}
    assert best == pytest.approx(max(tried.values()), nan_ok=True)
    if not np.isnan(best):
        assert threshold == min(t for t, a in tried.items() if a == pytest.approx(best))


def test_chance_by_hand() -> None:
    """People tie a third of the pairs, the metric none: 1/3 * 0 + 2/3 * 1 / 2."""
    human = np.array([1.0, 1.0, 2.0])
    metric = np.array([0.0, 0.1, 1.1])
    assert chance_accuracy(human, metric) == pytest.approx(1 / 3)
    assert chance_accuracy(human, metric, threshold=0.1 + 1e-9) == pytest.approx(
        1 / 9 + 4 / 18
    )


def test_no_pairs() -> None:
    """One row, or rows of different groups: undefined."""
    one = np.ones(1)
    assert np.isnan(pairwise_accuracy(one, one))
    assert np.isnan(tie_threshold(np.ones(2), np.ones(2), groups=np.arange(2))).all()
