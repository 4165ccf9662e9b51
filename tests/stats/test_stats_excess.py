"""Rows that are marked more often than others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy.stats import fisher_exact, hypergeom

from refless.stats.fisher import Marks, at_most, by_name, marked, one_each


def marks(
    on: list[int], groups: list[int] | None = None, names: tuple[str, ...] = ()
) -> Marks:
    labels = range(len(on)) if groups is None else groups
    return Marks(np.array(on, dtype=np.bool_), np.array(labels, dtype=np.int64), names)


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_chance_is_hypergeometric(n: int, m: int, data: st.DataObject) -> None:
    """The same as in scipy.stats."""
    drawn = data.draw(st.integers(0, n + m))
    k = data.draw(st.integers(max(0, drawn - m), min(n, drawn)))
    assert at_most(k, drawn, n, m) == pytest.approx(
        hypergeom.cdf(k, n + m, drawn, n), rel=1e-9
    )


def test_fishers_test() -> None:
    """7 of 10 beside 1 of 12, as scipy's test of the table has it."""
    found = marked(marks([1] * 7 + [0] * 3), marks([1] + [0] * 11), default_rng(0))
    expected = fisher_exact([[7, 3], [1, 11]], alternative="greater").pvalue
    assert (found.n, found.count, found.share, found.usual) == (10, 7, 0.7, 1 / 12)
    assert found.p == pytest.approx(expected, rel=1e-9)


def test_rows_of_a_group_count_once() -> None:
    """Ten rows of one group are one row; nothing is said of none."""
    together = marks([1] * 10, [0] * 10)
    found = marked(together, marks([0] * 9), default_rng(0))
    assert (found.n, found.count) == (10, 10)
    assert found.p == pytest.approx(0.1)
    assert np.isnan(marked(together, marks([]), default_rng(0)).p)


def test_each_row_of_a_group_is_drawn() -> None:
    """One of each group, and every one of it now and then."""
    groups = np.array([0, 0, 0, 1])
    rng = default_rng(0)
    drawn = [one_each(groups, rng).tolist() for _ in range(60)]
    assert {one[0] for one in drawn} == {0, 1, 2}
    assert {one[1] for one in drawn} == {3}


def test_names_stand_beside_their_own() -> None:
    """A known name beside others of its own, a new one beside all; p-values after Holm."""
    mine = marks([1] * 5 + [1] * 5, names=("a",) * 5 + ("b",) * 5)
    others = marks([1] * 5 + [0] * 15, names=("a",) * 5 + ("c",) * 15)
    found = by_name(mine, others, default_rng(0))
    assert {name: one.usual for name, one in found.items()} == {"a": 1.0, "b": 0.25}
    alone = hypergeom.cdf(5, 25, 10, 20)  # of 20 others 5 and of 5 rows 5
    assert found["b"].p == pytest.approx(2 * alone)
    assert found["a"].p == 1.0
