"""On how many items a system is rated higher, as high, lower."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from refless.evaluation.item_wins import item_wins

NAN = float("nan")
RATINGS = st.lists(st.tuples(*[st.sampled_from([NAN, 1.0, 1.5, 2.0])] * 2), max_size=12)


def test_shares_by_hand() -> None:
    """Of five items four are rated for both: two higher, one equal up to rounding, one lower."""
    shares = item_wins(np.array([1, 2, 0.1 + 0.2, 4, 5]), np.array([2, 3, 0.3, 1, NAN]))
    assert shares.items == 4
    assert (shares.higher, shares.equal, shares.lower) == (0.5, 0.25, 0.25)


@given(ratings=RATINGS)
def test_shares_sum_to_one_and_turn(ratings) -> None:
    """Every item rated for both is in one share; the other order has them the other way round."""
    columns = np.array(ratings, dtype=np.float64).reshape(-1, 2).T
    shares, other = item_wins(*columns), item_wins(*columns[::-1])
    each = [(a, b) for a, b in ratings if a == a and b == b]
    assert shares.items == len(each)
    if not each:
        assert np.isnan(shares.higher)
        return
    assert shares.higher == sum(b > a for a, b in each) / len(each)
    assert abs(shares.higher + shares.equal + shares.lower - 1) < 1e-12
    assert shares.turned() == other
