"""Predictions side by side: lines, order, missing predictions, which to use."""

import math
import re

import numpy as np
import pytest
from numpy.random import default_rng

from records import fixed
from refless.commands.validate.card import _among_others, spared_said
from refless.commands.validate.leaderboard import against, to_use
from refless.commands.validate.verdict import verdict, worth_using

RNG = default_rng(5)
HUMAN = np.round(RNG.normal(size=60), 1)
NEAR = HUMAN + RNG.normal(size=60)
FAR = HUMAN + 4 * RNG.normal(size=60)


def table(human, predicted, *, reference, groups=None, baselines=()):
    """Fixed predictions side by side."""
    methods = {name: fixed(human, values, groups) for name, values in predicted.items()}
    rivals = {name: methods.pop(name) for name in baselines}
    return against(methods, {}, rivals, reference)


def held_against(human, one, other, groups=None):
    """The line of `one` beside `other`."""
    predicted = {"other": other, "one": one}
    return table(human, predicted, reference="other", groups=groups).methods[1]


def test_an_estimator_that_ranks_nothing_is_not_the_one_to_use() -> None:
    """Another one that agrees with people takes its place, and the answer says so."""
    flat = np.zeros(60)
    known = {"flat": flat, "near": NEAR, "constant": flat}
    found = table(HUMAN, known, reference="flat", baselines=("constant",))
    assert to_use(found, {}) == "near"
    found = table(HUMAN, known, reference="near", baselines=("constant",))
    assert _among_others(found) == "near, the best of 2,"
    close = {"near": NEAR, "nearer": NEAR + FAR / 20, "constant": flat}
    found = table(HUMAN, close, reference="near", baselines=("constant",))
    assert _among_others(found) == "near, not told apart from nearer,"


def test_saved_by_hand() -> None:
    """Errors 1 and 0 against errors 2 and 2: mean squares 0.5 and 4."""
    human = np.array([1.0, 2.0])
    one = np.array([2.0, 2.0])
    other = np.array([3.0, 4.0])
    assert held_against(human, one, other).saved == 3.5


def test_how_much_smaller_errors_are() -> None:
    """Larger ones are said to be larger."""
    known = {"near": NEAR, "constant": HUMAN + 0.1 * FAR}
    found = table(HUMAN, known, reference="near", baselines=("constant",))
    near, constant = found.methods
    assert found.spared[0] == pytest.approx(1 - near.mse / constant.mse)
    assert re.search(" % larger [(]95 % interval [0-9]+ % l", spared_said(found))


def test_the_rival_is_the_one_on_the_same_texts() -> None:
    """A baseline that is best on its own texts is not the one to beat where another does better."""
    half = np.arange(60) < 30
    noise = 3 * RNG.normal(size=60)
    partial = np.where(half, HUMAN + noise, np.nan)
    easy = np.where(half, HUMAN[::-1], HUMAN)  # right where `partial` says nothing
    same = HUMAN + 0.5 * noise
    found = table(
        HUMAN,
        {"partial": partial, "easy": easy, "same": same},
        reference="partial",
        baselines=("easy", "same"),
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
    assert to_use(table(HUMAN, predicted, reference=first), {}) == used


@pytest.mark.parametrize(
    ("other", "used"), [(NEAR, "texts"), (FAR, "both"), (-HUMAN, "both")]
)
def test_scores_that_change_nothing(other, used: str) -> None:
    """An exact tie goes to the texts alone; one that is merely not told apart does not."""
    found = table(HUMAN, {"both": NEAR, "texts": other}, reference="both")
    assert to_use(found, {"both": "texts"}) == used
    assert to_use(found, {}) == "both"


def test_lines_and_what_they_are_held_against() -> None:
    gaps = NEAR.copy()
    gaps[:10] = np.nan
    found = table(
        HUMAN,
        {"near": NEAR, "gaps": gaps, "far": FAR, "none": np.full(60, np.nan)},
        reference="near",
        baselines=("far", "none"),
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
    """The mean of the other blocks is one number a block: only its error means something."""
    blocks = np.arange(60) % 5
    mirror = np.array([HUMAN[blocks != block].mean() for block in blocks])
    found = table(
        HUMAN,
        {"near": NEAR, "constant": mirror},
        reference="near",
        baselines=("constant",),
    )
    constant = found.methods[1]
    for value in (constant.spearman, constant.gain, *constant.spearman_interval):
        assert math.isnan(value)
    assert constant.mse > 0
    assert constant.saved_interval[0] < constant.saved < constant.saved_interval[1]


MINE = (HUMAN + 1.5 * default_rng(2).normal(size=60)) / 3
NEARER = HUMAN + default_rng(3).normal(size=60)
MEAN = np.full(60, HUMAN.mean())


@pytest.mark.parametrize("name", ["length", "judge alone"])
def test_what_is_ahead_is_named_first(name: str) -> None:
    """Shown or not, and no command is offered."""
    others = {name: NEARER, "constant": MEAN}
    found = table(HUMAN, {"gp": MINE, **others}, reference="gp", baselines=(*others,))
    assert found.rival.gain_interval[0] < 0 < found.rival.gain
    said = f"No reason to use gp is shown: {name} is ahead of it in Spearman by 0."
    assert verdict(found).startswith(said)
    assert not worth_using(found)


def test_a_constant_that_errs_less_is_named_first() -> None:
    """Estimates that rank texts well may still be no ratings; what ranks better comes with it."""
    others = {"far": FAR, "constant": MEAN}
    found = table(
        HUMAN, {"gp": 4 * MINE, **others}, reference="gp", baselines=(*others,)
    )
    assert "Gp ranks texts as people do, Spearman 0." in verdict(found)
    assert "], but a constant errs less, by " in verdict(found)
    assert not worth_using(found)
    others = {"length": NEARER, **others}
    found = table(
        HUMAN, {"gp": 4 * MINE, **others}, reference="gp", baselines=(*others,)
    )
    first = verdict(found).split(" Gp has ")[0]
    assert "length is ahead of it" in first
    assert ", and a constant errs less, by " in first


def test_a_constant_that_may_err_less_is_not_said_to() -> None:
    """The interval of the difference includes 0."""
    others = {"far": FAR, "constant": MEAN}
    scores = table(
        HUMAN, {"gp": 2 * MINE, **others}, reference="gp", baselines=(*others,)
    )
    assert ", but it is not shown to err less than a constant (0.2" in verdict(scores)
    assert not worth_using(scores)


def test_nothing_is_ahead() -> None:
    """The estimator ranks better than length and errs less than a constant."""
    others = {"length": FAR, "constant": MEAN}
    found = table(HUMAN, {"gp": MINE, **others}, reference="gp", baselines=(*others,))
    assert verdict(found).startswith("Use gp: it agrees with people, Spearman 0.")
    assert worth_using(found)
