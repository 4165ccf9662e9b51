"""Numbers on one footing: hand calculations, mid-ranks, what is missing, constant or beyond."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import ndtri
from scipy.stats import rankdata

from refless.registry.arrays import FloatArray
from refless.stats.scaling import FARTHEST, Composite, NormalRanks, Standardized

NAN = float("nan")
COLUMNS = st.integers(1, 3).flatmap(
    lambda k: st.lists(
        st.lists(st.integers(-5, 5).map(float) | st.just(NAN), min_size=k, max_size=k),
        min_size=1,
        max_size=15,
    )
)


def column(*values: float) -> FloatArray:
    return np.array(values, dtype=np.float64)[:, None]


def test_ranks_by_hand() -> None:
    """Known 1, 2, 2, 4: quantiles of 1/8, 1/2, 7/8 with weights 1, 2, 1, so -z, 0, z over z/2**.5.

    Half way between 2 and 4 is half way between what these become; beyond them nothing changes.
    """
    learned = NormalRanks.of(column(2, NAN, 1, 4, 2))
    found = learned.mapped(column(1, 2, 3, 4, NAN, -9, 99))
    root = np.sqrt(2)
    assert_allclose(found[:, 0], [-root, 0, root / 2, root, 0, -root, root], atol=1e-12)
    assert len(learned) == 1


def test_standardized_by_hand() -> None:
    """Known 1, 3: mean 2, deviation 1; four deviations are the most."""
    learned = Standardized.of(column(1, NAN, 3))
    found = learned.mapped(column(1, 2.5, NAN, 5.9, 7, -99))
    assert_allclose(found[:, 0], [-1, 0.5, 0, 3.9, FARTHEST, -FARTHEST], atol=1e-12)
    assert len(learned) == 1


def test_composite_by_hand() -> None:
    """Columns of -1 or 1 once standardised, the second turned: sums 0 and twice -2, 2, in spreads.

    A column without a value, or with one alone, adds nothing.
    """
    pairs = [[2.0, 90.0], [2, 90], [2, 10], [4, 90], [4, 10], [4, 10]]
    values = np.hstack([pairs, np.full((6, 1), NAN), np.ones((6, 1))])
    found = Composite.of(values).mapped(np.vstack([values, [[NAN, 10, 5, 9]]]))[:, 0]
    wanted = np.array([-2, -2, 0, 0, 2, 2, 1]) / np.sqrt(16 / 6)
    assert_allclose(found * np.sign(found[4]), wanted, atol=1e-12)
    nothing = Composite.of(values[:, 2:])
    assert (len(nothing), nothing.mapped(values[:2, 2:]).tolist()) == (0, [[0.0]] * 2)


def test_columns_that_tell_nothing_become_0() -> None:
    """Constant (0.1 thrice has a mean beside it), missing, and no rows at all."""
    values = np.array([[0.1, NAN, 1.0], [0.1, NAN, 2.0], [0.1, NAN, NAN]])
    for kind in (NormalRanks, Standardized):
        learned = kind.of(values)
        found = learned.mapped(np.array([[0.1, 5.0, 2.0], [9.0, NAN, 1.0]]))
        assert_allclose(found, [[0, 0, 1], [0, 0, -1]], atol=1e-12)
        assert len(learned) == 1
        nothing = kind.of(np.zeros((0, 2)))
        assert len(nothing) == 0
        assert nothing.mapped(np.ones((3, 2))).tolist() == [[0.0, 0.0]] * 3
        assert nothing.mapped(np.ones((0, 2))).shape == (0, 2)


@given(COLUMNS)
def test_ranks_equal_their_twin(rows: list[list[float]]) -> None:
    """Quantiles of scipy's mid-ranks, brought to mean 0 and variance 1."""
    values = np.array(rows, dtype=np.float64)
    for known, mapped in zip(
        values.T, NormalRanks.of(values).mapped(values).T, strict=True
    ):
        there = ~np.isnan(known)
        assert not mapped[~there].any()
        if len({*known[there].tolist()}) < 2:
            assert not mapped.any()
            continue
        raw = ndtri((rankdata(known[there]) - 0.5) / there.sum())
        assert_allclose(mapped[there], (raw - raw.mean()) / raw.std(), atol=1e-9)


@given(COLUMNS, st.randoms(use_true_random=False))
def test_neither_order_nor_unknown_rows_count(
    rows: list[list[float]], random: object
) -> None:
    """Learned to the last digit alike; ranks are those of any rising function."""
    values = np.array(rows, dtype=np.float64)
    mixed = [*rows, [NAN] * len(rows[0])]
    random.shuffle(mixed)  # type: ignore[attr-defined]
    for kind in (NormalRanks, Standardized):
        found = kind.of(np.array(mixed, dtype=np.float64)).mapped(values)
        np.testing.assert_array_equal(found, kind.of(values).mapped(values))
    risen = NormalRanks.of(values**3 + values).mapped(values**3 + values)
    assert_allclose(risen, NormalRanks.of(values).mapped(values), atol=1e-12)
