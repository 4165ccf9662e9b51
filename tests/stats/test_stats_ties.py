"""Ties survive rounding: whatever the sixteenth digit says, ranks are the same."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.commands.judge.pairs import pairwise_accuracy, tie_threshold
from refless.registry.arrays import FloatArray
from refless.stats import correlation, influence, weighted
from refless.stats.correlation import settled
from refless.stats.measures import MEASURES

NUMBERS = st.lists(st.integers(-6, 6).map(lambda i: i / 7), min_size=4, max_size=20)
HUMAN = np.array([*map(float, "12345432123451231425")])


def shaken(column: FloatArray, seed: int) -> FloatArray:
    """The column with other last digits, as another order of summing leaves them."""
    noise = np.random.default_rng(seed).uniform(-1, 1, len(column))
    return np.asarray(column + noise * 4e-16 * max(1e-300, float(np.abs(column).max())))


@pytest.mark.parametrize("offset", [0.0, 3.0])
@pytest.mark.parametrize("scale", [1.0, 1e-8, 1e9])
@given(values=NUMBERS, seed=st.integers(0, 3))
def test_rounding_changes_no_rank(
    offset: float, scale: float, values: list[float], seed: int
) -> None:
    """Correlations by rank, pairs, their bootstrap and their influences: bit-equal."""
    human = HUMAN[: len(values)]
    column = scale * (np.array(values) + offset)
    if np.median(np.abs(column)) == 0:
        column = column + scale  # else nothing says how large rounding is
    moved = shaken(column, seed)
    assert correlation.ranks(moved).tolist() == correlation.ranks(column).tolist()
    assert correlation.is_constant(moved) == correlation.is_constant(column)
    weights = np.random.default_rng(seed).integers(0, 3, (3, len(human))).astype(float)
    functions: list[Callable[[FloatArray], object]] = [
        lambda y: correlation.balance(human, y),
        lambda y: pairwise_accuracy(human, y),
        lambda y: weighted.spearman(human, y)(weights),
        lambda y: weighted.kendall(human, y)(weights),
        lambda y: [MEASURES[name].value(human, y) for name in ("spearman", "kendall")],
    ]
    if not correlation.is_constant(column):
        functions.append(lambda y: influence.spearman(human, y))
    for function in functions:
        np.testing.assert_array_equal(function(column), function(moved))


@given(st.lists(st.floats(-1e300, 1e300, allow_subnormal=False), max_size=20))
def test_settled_keeps_order_and_twelve_digits(values: list[float]) -> None:
    """No value overtakes another; the slow twin rounds each by fractions of a power of two."""
    column = np.array(values)
    found = settled(column)
    order = np.argsort(column, kind="stable")
    assert (np.diff(found[order]) >= 0).all()
    middle = float(np.median(np.abs(column))) if values else 0.0
    for value, one in zip(values, found.tolist(), strict=True):
        size = max(abs(value), middle)
        assert abs(one - value) <= size * 2.0**-40
        if size:
            unit = math.ldexp(1.0, math.frexp(size)[1] - 40)
            assert one == (round(value / unit) * unit if unit else value)


def test_one_large_value_takes_no_digits_from_the_others() -> None:
    """Each value keeps twelve digits of its own."""
    column = np.array([0.25, 0.5, 0.75, 0.25 + 1e-9, 1e12])
    assert correlation.ranks(column).tolist() == [1, 3, 4, 2, 5]


def test_a_threshold_is_of_settled_scores() -> None:
    """0.1 + 0.2 and 0.3 tie as they are."""
    human = np.array([1.0, 1.0, 2.0])
    column = np.array([0.3, 0.1 + 0.2, 0.9])
    assert tie_threshold(human, column) == (0.0, 1.0)


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=6), st.integers(0, 3))
def test_constant_at_a_glance(values: list[float], seed: int) -> None:
    """A tie that is seen at a glance is one of the settled values."""
    for column in (np.array(values), shaken(np.array(values[:1] * 5), seed)):
        assert correlation.is_constant(column) == (len(np.unique(settled(column))) < 2)
