"""On how many items a system is rated higher, as high, lower."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.evaluation.item_wins import item_wins
from refless.stats.verdicts import proportion

NAN = float("nan")
RATINGS = st.lists(st.tuples(*[st.sampled_from([NAN, 1.0, 1.5, 2.0])] * 2), max_size=12)


def test_shares_by_hand() -> None:
    """Of five items four are rated for both: two higher, one equal up to rounding, one lower."""
    first = np.array([1, 2, 0.1 + 0.2, 4, 5])
    second = np.array([2, 3, 0.3, 1, NAN])
    shares = item_wins(first, second, np.arange(5))
    assert shares.items == 4
    assert [each.value for each in (shares.higher, shares.equal, shares.lower)] == [
        0.5,
        0.25,
        0.25,
    ]
    assert shares.higher.interval == proportion(np.arange(4) < 2, np.arange(4)).interval
    one = item_wins(first, second, np.zeros(5, dtype=np.int64))
    assert "one independent row" in one.higher.undefined


@given(ratings=RATINGS)
def test_shares_sum_to_one_and_turn(ratings) -> None:
    """Every item rated for both is in one share; the other order has them the other way round."""
    columns = np.array(ratings, dtype=np.float64).reshape(-1, 2).T
    unit = np.arange(len(ratings))
    shares = item_wins(*columns, unit)
    other = item_wins(*columns[::-1], unit)
    each = [(a, b) for a, b in ratings if a == a and b == b]
    assert shares.items == len(each)
    if not each:
        assert np.isnan(shares.higher.value)
        return
    assert shares.higher.value == pytest.approx(sum(b > a for a, b in each) / len(each))
    assert sum(
        one.value for one in (shares.higher, shares.equal, shares.lower)
    ) == pytest.approx(1)
    assert repr(shares.turned()) == repr(other)


def test_of_these_items_and_looks() -> None:
    """If all that is asked about is rated the shares are known; more looks make them wider."""
    first = np.array([1.0, 2, 3, 4, 5])
    second = np.array([2.0, 3, 3, 1, 5])
    unit = np.arange(5)
    known = item_wins(first, second, unit, these=True)
    assert known.higher.interval == (0.4, 0.4)
    once = item_wins(first, second, unit).higher.interval
    partly = item_wins(
        np.append(first, NAN), np.append(second, 2), np.arange(6), these=True
    )
    assert known.higher.interval[1] < partly.higher.interval[1] < once[1]
    many = np.tile(first, 20), np.tile(second, 20), np.arange(100)
    low, high = item_wins(*many, looks=True).higher.interval
    assert (
        low
        < item_wins(*many).higher.interval[0]
        < item_wins(*many).higher.interval[1]
        < high
    )
