"""Closed-form baselines against refits without each group."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refless.studies.baselines import BASELINES, constant, length_only


@st.composite
def pools(draw):
    n = draw(st.integers(1, 30))
    human = draw(st.lists(st.integers(0, 10).map(lambda r: r / 10), min_size=n, max_size=n))
    lengths = draw(st.lists(st.integers(0, 400), min_size=n, max_size=n))
    groups = draw(st.lists(st.integers(3, 9), min_size=n, max_size=n))
    return np.array(human), np.array(lengths, dtype=np.float64), np.array(groups)


def refitted(human, lengths, groups):
    """The slow twin: for each text a line through all texts outside its group."""
    predictions = []
    for row, group in enumerate(groups):
        others = groups != group
        x, y = np.log1p(lengths[others]), human[others]
        if len(x) == 0:
            predictions.append(np.nan)
        elif np.ptp(x) == 0:
            predictions.append(y.mean())
        else:
            slope = ((x - x.mean()) * (y - y.mean())).sum() / np.square(x - x.mean()).sum()
            predictions.append(y.mean() + slope * (np.log1p(lengths[row]) - x.mean()))
    return predictions


@settings(max_examples=80, deadline=None)
@given(pools())
def test_constant_is_the_mean_of_the_others(pool):
    """Closed form equals a mean taken anew for each text."""
    human, _, groups = pool
    slow = [human[groups != g].mean() if (groups != g).any() else np.nan for g in groups]
    assert constant(human, groups) == pytest.approx(slow, abs=1e-12, nan_ok=True)


@settings(max_examples=80, deadline=None)
@given(pools())
def test_length_only_is_a_line_through_the_others(pool):
    """Closed form equals a least-squares line fitted anew for each text."""
    assert length_only(*pool) == pytest.approx(refitted(*pool), abs=1e-5, nan_ok=True)


@settings(max_examples=40, deadline=None)
@given(pools(), st.randoms(use_true_random=False))
@pytest.mark.parametrize("name", list(BASELINES))
def test_row_order_and_labels_do_not_matter(name, pool, random):
    """Shuffled rows and renamed groups give the same predictions, bit for bit."""
    order = list(range(len(pool[0])))
    random.shuffle(order)
    human, lengths, groups = (column[order] for column in pool)
    first = BASELINES[name](*pool)
    assert np.array_equal(BASELINES[name](human, lengths, -groups), first[order], equal_nan=True)


@pytest.mark.parametrize("name", list(BASELINES))
def test_no_texts_no_predictions(name):
    """An empty pool gives empty predictions."""
    assert len(BASELINES[name](np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64))) == 0


def test_length_reads_a_planted_line():
    """Truth that is exactly 2 + 3 log(1 + length) is found without error."""
    lengths = np.array([3.0, 10.0, 50.0, 200.0, 700.0])
    human = 2 + 3 * np.log1p(lengths)
    assert length_only(human, lengths, np.arange(5)) == pytest.approx(human)
