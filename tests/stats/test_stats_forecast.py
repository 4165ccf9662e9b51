"""Widths of future intervals, by hand and by drawing, and from few items with both ratings."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.stats.forecast import (
    SPREAD_ALIKE,
    USUAL_ALIKE,
    Progress,
    Prospect,
    Today,
    drawn_alike,
    progress_of,
    variance_by,
)
from refless.stats.intervals import student

HALF = Progress(rated=(20.0, 20.0), every=(100.0, 100.0), both=4.0, common=100.0)
COUNTS = st.integers(2, 60)


def test_the_formula_by_hand() -> None:
    """1/20 + 1/20 - 2 x .5 x 4 / 400 = .09; of one arm of 10 of 30: (2/3 x 4 + 1/3 x 9) / 10."""
    assert variance_by(HALF, 1.0, 1.0) == pytest.approx(0.1)
    assert variance_by(replace(HALF, shared=0.5), 1.0, 1.0) == pytest.approx(0.09)
    one = Progress(rated=(10.0,), every=(30.0,))
    assert variance_by(one, 4.0, 9.0) == pytest.approx((2 / 3 * 4 + 1 / 3 * 9) / 10)
    assert variance_by(Progress(rated=(30.0,), every=(30.0,)), 4.0, 0.0) == 0


def test_how_much_is_rated_by_hand() -> None:
    """Three units of two arms, one rated in both; deviations of it are (-1, 1) and (-.5, .5)."""
    units = [np.array([0, 1, 2, 2]), np.array([0, 1, 2])]
    ratings = [np.array([1.0, 3.0, np.nan, np.nan]), np.array([2.0, 3.0, np.nan])]
    found = progress_of(units, ratings)
    assert (found.rated, found.every) == ((2.0, 2.0), (3.0, 3.0))
    assert (found.both, found.common, found.paired) == (2.0, 3.0, True)
    assert (found.done, found.missing, found.units) == (2.0, 1.0, 2.0)
    assert found.shared == found.alike == 0.95  # 1, and never so much
    assert found.tails == 0.5
    apart = progress_of(
        [np.array([0, 1]), np.array([2, 3, 4])], [ratings[1][:2], ratings[1]]
    )
    assert (apart.both, apart.paired, apart.done, apart.missing) == (
        0.0,
        False,
        4.0,
        1.0,
    )
    half = found.after(0.5)
    assert (half.rated, half.both) == ((2.5, 2.5), 2.5)


def test_few_items_with_both_ratings_tell_little() -> None:
    """By hand: z = .5493 - .1003 = .4490; of 40 kept 1 - 1.25 / (.2016 x 37) = .8324."""
    for both in (0.0, 3.0, 4.0, 12.0):
        drawn, error = drawn_alike(0.5, both)
        assert drawn == pytest.approx(USUAL_ALIKE)
        assert error == pytest.approx((1 - USUAL_ALIKE**2) * SPREAD_ALIKE)
    assert drawn_alike(0.5, 40.0)[0] == pytest.approx(
        math.tanh(0.1003 + 0.8324 * 0.4490), abs=1e-3
    )
    assert drawn_alike(0.5, 1e6)[0] == pytest.approx(0.5, abs=1e-3)


def test_today_is_today_and_nothing_is_left_of_these() -> None:
    """Forecasts begin where the answer stands; if these items are all, their ratings are exact."""
    for these in (False, True):
        known = Today.of(HALF, alone=0.3, error=0.25, freedom=30.0, these=these)
        today = known.after(0.0)
        assert today.error == pytest.approx(0.25)
        assert today.range == pytest.approx((today.half_width, today.half_width))
        assert today.half_width == pytest.approx(student(30.0) * 0.25)
        last = known.after(1.0)
        assert last.freedom == 99.0
        assert last.units == 100.0
        assert (last.error == 0) == these


@given(
    n=st.lists(COUNTS, min_size=2, max_size=2),
    both=st.integers(0, 60),
    steps=st.integers(2, 9),
    seen=st.sampled_from([-0.6, 0.0, 0.4, 0.9]),
)
def test_more_ratings_make_no_interval_wider(
    n: list[int], both: int, steps: int, seen: float
) -> None:
    """Errors fall, ranges hold the width, and all is told as exactly as one formula says."""
    both = min(both, *n)
    progress = Progress(
        rated=(float(n[0]), float(n[1])),
        every=(60.0, 60.0),
        both=float(both),
        common=60.0,
        alike=seen if both else 0.0,
        shared=seen if both else 0.0,
    )
    known = Today(progress=progress, error=0.2, freedom=float(max(min(n) - 1, 1)))
    found = [known.after(part / steps) for part in range(steps + 1)]
    errors = [forecast.error for forecast in found]
    assert errors[0] == pytest.approx(0.2)
    assert max(errors) <= 0.2
    for forecast in found:
        low, high = forecast.range
        assert low <= forecast.half_width <= high
    whole = replace(progress, rated=(60.0, 60.0), both=60.0)
    alike = drawn_alike(progress.alike, both)[0]
    whole = replace(whole, shared=(both * progress.shared + (60 - both) * alike) / 60)
    expected = known.of_rating * variance_by(whole, 1.0, 1.0)
    assert found[-1].error ** 2 == pytest.approx(min(expected, 0.2**2))


def test_half_rated_items_by_drawing() -> None:
    """20 and 20 of 2 x 100 ratings, drawn at random: all ratings bring what is said within 25 %.

    In more than four of five draws (real ratings have shorter tails, and do it in nine of ten), and
    nine of ten widths lie in the range. Correlations are 0 to .3.
    """
    rng = np.random.default_rng(0)
    near = inside = 0
    for run in range(300):
        alike = (0.0, 0.1, 0.2, 0.3)[run % 4]
        shared = math.sqrt(alike) * rng.normal(size=100)
        own = math.sqrt(1 - alike) * rng.normal(size=(2, 100))
        human = own + shared
        part = np.full((2, 100), np.nan)
        for arm in part:
            arm[rng.choice(100, 20, replace=False)] = 0.0
        part += human
        progress = progress_of([np.arange(100), np.arange(100)], list(part))
        a, b = (arm[~np.isnan(arm)] for arm in part)
        square = a.var(ddof=1) / 20 + b.var(ddof=1) / 20
        square -= (
            2 * progress.shared * a.std(ddof=1) * b.std(ddof=1) * progress.both / 400
        )
        known = Today(progress=progress, error=math.sqrt(square), freedom=38.0)
        forecast = known.after(1.0)
        true = student(99.0) * (human[1] - human[0]).std(ddof=1) / 10
        near += abs(forecast.half_width / true - 1) <= 0.25
        inside += forecast.range[0] <= true <= forecast.range[1]
    assert near >= 0.8 * 300
    assert inside >= 0.85 * 300


def test_before_the_first_rating() -> None:
    """The formula with Student's t; two ratings tell their own width badly."""
    expected = Prospect(every=30, residual=4.0, total=9.0, freedom=40.0)
    found = expected.after(10)
    assert found.error**2 == pytest.approx((2 / 3 * 4 + 1 / 3 * 9) / 10)
    assert found.half_width == pytest.approx(student(9) * found.error)
    assert found.doubt**2 == pytest.approx(0.5 * (1 / 40 + 1 / 9))
    assert expected.after(2).doubt > found.doubt
    assert replace(expected, these=True).after(30).error == 0
