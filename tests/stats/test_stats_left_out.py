"""Correlations and RMSE with intervals: against other tools, loops over units, simulation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy.stats import norm, pearsonr, spearmanr, t
from sklearn.metrics import cohen_kappa_score

from refless.registry.arrays import FloatArray, IntArray
from refless.stats import correlation, influence, left_out, weighted
from refless.stats.answers import Estimate
from refless.stats.contrast import mean_of
from refless.stats.left_out import correlated, root_mean_square, without_each

STARS = np.arange(1, 6)
OTHER_TOOLS: dict[str, Callable[[FloatArray, FloatArray], float]] = {
    "pearson": lambda x, y: pearsonr(x, y).statistic,
    "spearman": lambda x, y: spearmanr(x, y).statistic,
    "quadratic_kappa": lambda x, y: cohen_kappa_score(
        x.astype(int), y.astype(int), weights="quadratic", labels=STARS
    ),
}


def stars(
    rng: np.random.Generator, n: int, noise: float = 0.8
) -> tuple[FloatArray, FloatArray]:
    """Ratings and scores on a scale of 1 to 5."""
    level = rng.normal(3.4, 1.0, n)
    columns = (level + noise * rng.normal(size=n) for _ in range(2))
    human, judge = (np.clip(np.round(column), 1, 5) for column in columns)
    return human, judge


def half_by_loop(left: list[float]) -> float:
    """Half the width: the jackknife's error, and as many degrees of freedom as units weigh in."""
    units = len(left)
    off = [value - sum(left) / units for value in left]
    squares = sum(x**2 for x in off)
    weighty = 3 * squares**2 / sum(x**4 for x in off) - 1
    freedom = max(min(weighty, units - 2), (units - 2) / 2)
    return float(t.ppf(0.975, freedom)) * math.sqrt((units - 1) / units * squares)


def unlike(column: FloatArray, unit: IntArray) -> int:
    """Units with a value that is not the commonest one; of two such, the smaller one."""
    counts = Counter(column.tolist())
    commonest = min(counts, key=lambda value: (-counts[value], value))
    return len(
        {place for place, value in zip(unit, column, strict=True) if value != commonest}
    )


@pytest.mark.parametrize("name", OTHER_TOOLS)
@settings(max_examples=25)
@given(st.integers(12, 60), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_leaving_out_by_hand(name: str, n: int, size: int, seed: int) -> None:
    """Other tools' coefficients without each unit, on Fisher's scale; rows in any order."""
    rng = default_rng(seed)
    human, judge = stars(rng, n)
    unit = rng.permutation(n) // size
    value = OTHER_TOOLS[name](human, judge)
    left = [
        OTHER_TOOLS[name](human[unit != u], judge[unit != u]) for u in np.unique(unit)
    ]
    answer = correlated(name, human, judge, unit)
    assert answer.value == pytest.approx(value)
    too_even = min(unlike(column, unit) for column in (human, judge)) < 5
    if too_even or max(map(abs, [value, *left])) > 1 - 1e-9:
        assert math.isnan(answer.interval[0])
        assert answer.undefined
        return
    half = half_by_loop([math.atanh(r) for r in left])
    ends = math.tanh(math.atanh(value) - half), math.tanh(math.atanh(value) + half)
    assert answer.interval == pytest.approx(ends)
    order = rng.permutation(n)
    again = correlated(name, human[order], judge[order], unit[order] + 7)
    assert again.interval == pytest.approx(ends)


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=30)
)
def test_quadratic_kappa_is_scikit_learns(pairs: list[tuple[int, int]]) -> None:
    """NaN where both columns are one number throughout."""
    human, judge = np.array(pairs).T
    value = correlation.concordance(human.astype(float), judge.astype(float))
    if len({*human.tolist(), *judge.tolist()}) == 1:
        assert math.isnan(value)
    else:
        true = cohen_kappa_score(human, judge, weights="quadratic", labels=STARS)
        assert value == pytest.approx(true, abs=1e-12)


@given(
    st.lists(
        st.tuples(*[st.integers(1, 5)] * 2, st.integers(0, 3)), min_size=2, max_size=20
    )
)
def test_weighted_quadratic_kappa_repeats_rows(
    rows: list[tuple[int, int, int]],
) -> None:
    """A row of weight 3 stands three times."""
    human, judge, often = np.array(rows, dtype=float).T
    by_weights = float(weighted.concordance(human, judge)(often[None, :])[0])
    repeated = [np.repeat(column, often.astype(int)) for column in (human, judge)]
    true = correlation.concordance(*repeated) if often.any() else math.nan
    assert by_weights == pytest.approx(true, abs=1e-9, nan_ok=True)


def test_slopes_of_quadratic_kappa() -> None:
    """Each is what a little weight more on the row does."""
    human, judge = stars(default_rng(1), 40)
    slopes = influence.concordance(human, judge)
    step = 1e-6
    weights = np.ones((40, 40)) + step * 40 * np.eye(40)
    moved = weighted.concordance(human, judge)(weights) - correlation.concordance(
        human, judge
    )
    assert slopes.sum() == pytest.approx(0, abs=1e-12)
    assert slopes == pytest.approx(moved / step / 40, abs=1e-5)


@pytest.mark.parametrize("name", OTHER_TOOLS)
@pytest.mark.parametrize("size", [1, 4])
def test_of_many_units_slopes_say_the_same(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """400 units: as wide as by leaving out, to a hundredth."""
    human, judge = stars(default_rng(2), 400 * size)
    unit = np.arange(400 * size) // size
    slow = correlated(name, human, judge, unit)
    monkeypatch.setattr(left_out, "MOST_WEIGHTS", 0)
    fast = correlated(name, human, judge, unit)
    assert fast.value == slow.value
    widths = [high - low for low, high in (slow.interval, fast.interval)]
    assert widths[1] == pytest.approx(widths[0], rel=0.015)
    assert fast.interval == pytest.approx(slow.interval, abs=0.002)


def test_units_are_left_out_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few weights are held at once."""
    human, judge = stars(default_rng(3), 30)
    of_weights = weighted.pearson(human, judge)
    unit = np.arange(30) // 2
    whole = without_each(of_weights, unit)
    monkeypatch.setattr(left_out, "CELLS", 100)
    assert without_each(of_weights, unit).tolist() == whole.tolist()


@pytest.mark.parametrize(
    ("human", "judge", "why"),
    [
        ([1.0, 2, 3, 4, 5, 5], [3.0] * 6, "are the same"),
        ([1.0, 2, 3, 4], [1.0, 3, 2, 4], "too few"),
        (
            [5.0, 5, 5, 5, 5, 5, 1, 2, 3, 4],
            [4.0, 2, 5, 3, 1, 5, 2, 3, 1, 4],
            "too even",
        ),
        ([1.0, 2, 3, 4, 5, 6], [1.0, 2, 3, 4, 5, 6], "too even"),
        ([1.0, 1, 1, 1, 1, 2], [1.0, 2, 1, 2, 1, 2], "too even"),
    ],
)
def test_what_has_no_interval(human: list[float], judge: list[float], why: str) -> None:
    """One value throughout, fewer than five units, all alike; four unlike the commonest."""
    answer = correlated("pearson", np.array(human), np.array(judge))
    assert math.isnan(answer.interval[0])
    assert why in answer.undefined


@pytest.mark.parametrize("n", [12, 20])
@pytest.mark.parametrize("name", ["pearson", "quadratic_kappa"])
def test_intervals_of_correlations_hold(name: str, n: int) -> None:
    """On a scale of 1 to 5, 300 runs: 93 % or more; the truth is that of a million rows."""
    rng = default_rng(n)
    true = left_out.COEFFICIENTS[name].value(*stars(rng, 1_000_000))
    answers = [correlated(name, *stars(rng, n)) for _ in range(300)]
    ends = np.array([answer.interval for answer in answers if not answer.undefined])
    assert len(ends) > 280
    assert np.mean((ends[:, 0] <= true) & (true <= ends[:, 1])) >= 0.93


def square_errors(rng: np.random.Generator, n: int) -> FloatArray:
    """Errors of a judge on a scale of 1 to 5, most of them none."""
    return np.clip(np.round(rng.normal(0.2, 0.9, n)), -4, 4)


def rmse(errors: FloatArray, unit: IntArray) -> Estimate:
    """Of errors on a scale of 1 to 5."""
    mean = mean_of(np.square(errors), unit, scale=(0.0, 16.0))
    return root_mean_square(errors, unit, mean)


@settings(max_examples=50)
@given(st.integers(12, 60), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_root_mean_square_by_loop(n: int, size: int, seed: int) -> None:
    """The low end on the scale of the power -2/3, the high end that of the mean of squares."""
    rng = default_rng(seed)
    errors = square_errors(rng, n) + 0.01 * rng.normal(size=n)
    unit: IntArray = rng.permutation(n) // size
    answer = rmse(errors, unit)
    squares = np.square(errors)
    assert answer.value == pytest.approx(math.sqrt(squares.mean()))
    high = mean_of(squares, unit, scale=(0.0, 16.0)).interval[1]
    assert answer.interval[1] == pytest.approx(math.sqrt(high))
    units = np.unique(unit)
    if len(units) >= 5:
        left = [float(squares[unit != u].mean()) ** (-1 / 3) for u in units]
        end = squares.mean() ** (-1 / 3) + half_by_loop(left)
        assert answer.interval[0] == pytest.approx(min(end**-1.5, answer.value))
    order = rng.permutation(n)
    again = rmse(errors[order], unit[order])
    assert again.interval == pytest.approx(answer.interval)


@pytest.mark.parametrize("n", [12, 20, 60])
def test_intervals_of_rmse_hold(n: int) -> None:
    """Of 1,000 runs, standard error .007; of 3,000 they hold .97, .93 and .96."""
    rng = default_rng(n)
    places = np.arange(-3.5, 4)
    mass = np.diff(norm.cdf(np.concatenate([[-np.inf], places, [np.inf]]), 0.2, 0.9))
    true = math.sqrt(float(mass @ np.square(np.arange(-4, 5))))
    held = 0
    for _ in range(1000):
        low, high = rmse(square_errors(rng, n), np.arange(n)).interval
        held += low <= true <= high
    assert held >= 0.92 * 1000


def test_errors_that_are_all_equal() -> None:
    """No error at all is no proof of none; of one unit nothing is said."""
    low, high = rmse(np.zeros(20), np.arange(20)).interval
    assert low == 0
    assert 0.3 < high < 2
    assert (
        "one independent row" in rmse(np.ones(3), np.zeros(3, dtype=np.int64)).undefined
    )
