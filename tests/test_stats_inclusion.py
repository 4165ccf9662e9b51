"""Chances of inclusion, the draw that has them, and the error that they promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from refless.stats.inclusion import FLOOR, drawn, error_of_mean, probabilities

SPREADS = arrays(np.float64, st.integers(2, 30), elements=st.floats(0, 100))


@given(SPREADS, st.data())
def test_chances_sum_to_n_and_keep_the_floor(spread, data) -> None:
    """As many as asked for, none above 1, and no weight above 1 / FLOOR times the equal one."""
    n = data.draw(st.integers(1, len(spread)))
    chances = probabilities(spread, n)
    assert chances.sum() == pytest.approx(n)
    assert (chances <= 1).all()
    assert (n / len(spread) / chances <= 1 / FLOOR + 1e-9).all()
    assert 1 / FLOOR <= 20


def test_chances_by_hand() -> None:
    """0.2 of two in four for all, and 0.8 of it by spread: 1, 2, 3 and 4 of 10."""
    expected = 0.2 * 0.5 + 0.8 * np.array([0.2, 0.4, 0.6, 0.8])
    assert probabilities(np.array([1.0, 2, 3, 4]), 2) == pytest.approx(expected)


def test_certain_ones_leave_their_share_to_others() -> None:
    """What would have more than 1 is certain; the other one is split among the rest."""
    chances = probabilities(np.array([98.0, 1, 1]), 2)
    assert chances == pytest.approx(0.2 * 2 / 3 + 0.8 * np.array([1, 0.5, 0.5]))


def test_nothing_known_is_equal_chances() -> None:
    """Spreads of 0 tell nothing apart."""
    assert probabilities(np.zeros(4), 3) == pytest.approx(np.full(4, 0.75))


def test_each_is_drawn_with_its_chance() -> None:
    """Always n different ones; how often each is among them is its chance (4 standard errors)."""
    chances = probabilities(np.random.default_rng(0).lognormal(0, 1.5, 20), 7)
    rng, counts, times = np.random.default_rng(1), np.zeros(20), 4_000
    for _ in range(times):
        places = drawn(chances, rng)
        assert len(set(places.tolist())) == len(places) == 7
        counts[places] += 1
    error = np.sqrt(chances * (1 - chances) / times)
    assert (np.abs(counts / times - chances) <= 4 * error + 1e-9).all()


def test_all_are_drawn_where_all_are_asked_for() -> None:
    """Chances of 1, also where rounding would lose the last."""
    chances = probabilities(np.random.default_rng(2).random(33), 33)
    assert drawn(chances, np.random.default_rng(0)).tolist() == list(range(33))


def test_promised_error_is_that_of_draws() -> None:
    """The weighted mean of errors, over draws and errors of these spreads, varies as promised."""
    rng, spread = np.random.default_rng(3), np.array([0.2, 0.5, 1.0, 2.0, 4.0] * 6)
    chances = probabilities(spread, 8)
    misses = []
    for _ in range(6_000):
        errors = spread * rng.standard_normal(len(spread))
        places = drawn(chances, rng)
        estimate = float((errors[places] / chances[places]).sum()) / len(spread)
        misses.append(estimate - float(errors.mean()))
    assert np.std(misses) == pytest.approx(error_of_mean(spread, chances, 0.0), rel=0.03)


def test_equal_chances_have_the_textbook_error() -> None:
    """Cochran: s² / n (1 - n / N), and s² / N more where the N are a sample themselves."""
    chances = np.full(50, 10 / 50)
    assert error_of_mean(np.full(50, 3.0), chances, 0.0) ** 2 == pytest.approx(9 / 10 * 0.8)
    assert error_of_mean(np.full(50, 3.0), chances, 9.0) ** 2 == pytest.approx(9 / 10)
