"""Predictions side by side: a slow twin, order, missing predictions, what is drawn together."""

import math

import numpy as np
import pytest

from refless.stats.correlation import spearman
from refless.stats.intervals import percentile_interval
from refless.stats.resampling import weights_of
from refless.studies.side_by_side import (
    Drawing,
    side_by_side,
    to_use,
)

RNG = np.random.default_rng(5)
HUMAN = np.round(RNG.normal(size=60), 1)
NEAR = HUMAN + RNG.normal(size=60)
FAR = HUMAN + 4 * RNG.normal(size=60)


def held_against(human, one, other, drawing):
    """The line of `one` beside `other`."""
    predicted = {"other": other, "one": one}
    return side_by_side(human, predicted, reference="other", drawing=drawing).methods[1]


def test_gain_by_repeating_rows() -> None:
    """The interval is that of a bootstrap which copies rows and computes both correlations anew."""
    found = held_against(HUMAN, NEAR, FAR, Drawing(seed=3, resamples=200))
    assert found.gain == pytest.approx(spearman(HUMAN, NEAR) - spearman(HUMAN, FAR), abs=1e-12)
    order = np.lexsort((NEAR, FAR, HUMAN))
    weights = weights_of(60, resamples=200, rng=np.random.default_rng(3))
    slow = []
    for row in np.concatenate([*weights]):
        rows = np.repeat(order, row.astype(int))
        slow.append(spearman(HUMAN[rows], NEAR[rows]) - spearman(HUMAN[rows], FAR[rows]))
    assert found.gain_interval == pytest.approx(percentile_interval(np.array(slow)), abs=1e-12)


def test_saved_by_hand() -> None:
    """Errors 1 and 0 against errors 2 and 2: mean squares 0.5 and 4."""
    human, one, other = np.array([1.0, 2.0]), np.array([2.0, 2.0]), np.array([3.0, 4.0])
    assert held_against(human, one, other, Drawing(resamples=50)).saved == 3.5


def test_order_of_rows_changes_nothing() -> None:
    shuffled = RNG.permutation(60)
    groups = np.arange(60) // 3
    for drawn in (None, groups):
        one = held_against(HUMAN, NEAR, FAR, Drawing(groups=drawn, resamples=60))
        columns = (column[shuffled] for column in (HUMAN, NEAR, FAR))
        moved = None if drawn is None else drawn[shuffled]
        assert one == held_against(*columns, Drawing(groups=moved, resamples=60))


def test_groups_are_drawn_whole() -> None:
    """Copies of every text, drawn with it, leave the interval as wide as without them."""
    twice = [np.repeat(column, 2) for column in (HUMAN, NEAR, FAR)]
    groups = np.repeat(np.arange(60), 2)
    plain = held_against(HUMAN, NEAR, FAR, Drawing(resamples=400)).gain_interval
    whole = held_against(*twice, Drawing(groups=groups, resamples=400)).gain_interval
    apart = held_against(*twice, Drawing(resamples=400)).gain_interval
    width = plain[1] - plain[0]
    assert whole[1] - whole[0] == pytest.approx(width, rel=0.15)
    assert apart[1] - apart[0] < 0.85 * width


def test_the_rival_is_the_one_on_the_same_texts() -> None:
    """A baseline that is best on its own texts is not the one to beat where another does better."""
    half = np.arange(60) < 30
    noise = 3 * RNG.normal(size=60)
    partial = np.where(half, HUMAN + noise, np.nan)
    easy = np.where(half, HUMAN[::-1], HUMAN)  # right where `partial` says nothing
    same = HUMAN + 0.5 * noise
    found = side_by_side(
        HUMAN,
        {"partial": partial, "easy": easy, "same": same},
        reference="partial",
        baselines=("easy", "same"),
        drawing=Drawing(resamples=100),
    )
    assert found.rival.name == "same"


@pytest.mark.parametrize(
    ("first", "second", "used"),
    [
        ("good", "better", "better"),
        ("good", "bad", "good"),
        ("good", "few", "good"),  # better where it answers, and answers seldom
        ("few", "good", "good"),
        ("nothing", "good", "good"),
    ],
)
def test_which_to_use(first: str, second: str, used: str) -> None:
    """Whatever the order: coverage first, then a difference that is shown."""
    kinds = {
        "good": HUMAN + RNG.normal(size=60),
        "better": HUMAN + 0.05 * RNG.normal(size=60),
        "bad": -HUMAN,
        "few": np.where(np.arange(60) < 25, HUMAN, np.nan),
        "nothing": np.full(60, np.nan),
    }
    predicted = {name: kinds[name] for name in (first, second)}
    table = side_by_side(HUMAN, predicted, reference=first, drawing=Drawing(resamples=100))
    assert to_use(table) == used


def test_lines_and_what_they_are_held_against() -> None:
    gaps = NEAR.copy()
    gaps[:10] = np.nan
    found = side_by_side(
        HUMAN,
        {"near": NEAR, "gaps": gaps, "far": FAR, "none": np.full(60, np.nan)},
        reference="near",
        baselines=("far", "none"),
        drawing=Drawing(resamples=100),
    )
    near, gap, far, none = found.methods
    assert found.first == near
    assert (near.gain, near.saved) == (0.0, 0.0)
    assert gap.coverage == pytest.approx(50 / 60)
    assert gap.gain == 0.0  # on the texts that both judge they are equal
    assert gap.gain_interval == (0.0, 0.0)
    assert far.gain_interval[1] < 0
    assert math.isnan(none.spearman)
    assert none.coverage == 0
    assert found.rival == far


def test_what_ranks_nothing() -> None:
    """A constant, held out, is a mirror of each rating: only its error means something."""
    mirror = (HUMAN.sum() - HUMAN) / 59
    found = side_by_side(
        HUMAN,
        {"near": NEAR, "constant": mirror},
        reference="near",
        baselines=("constant",),
        unranked=("constant",),
        drawing=Drawing(resamples=100),
    )
    constant = found.methods[1]
    for value in (constant.spearman, constant.gain, *constant.spearman_interval):
        assert math.isnan(value)
    assert constant.mse > 0
    assert constant.saved_interval[0] < constant.saved < constant.saved_interval[1]


def test_chance_alone_seldom_shows_a_difference() -> None:
    """Two equally noisy predictions: a 95 % interval leaves out 0 in about 1 of 20 runs."""
    missed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        human = rng.normal(size=80)
        columns = (human, human + rng.normal(size=80), human + rng.normal(size=80))
        low, high = held_against(*columns, Drawing(resamples=200)).gain_interval
        missed += not low <= 0 <= high
    assert missed <= 8
