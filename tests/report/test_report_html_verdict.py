"""The sentences on annotators and on outputs: decided by numbers and their intervals alone."""

import math
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.simulate import simulate

from records import estimates_of
from refless.commands.score.card import card_of
from refless.commands.validate.validation import Validation, validation
from refless.commands.validate.verdict import annotator_lines
from refless.data.human import pool_of
from refless.data.records import RatedPool
from refless.estimators.cross_validated import CrossValidated
from refless.evaluation.annotators import over_annotators
from refless.evaluation.jackknife import split
from refless.evaluation.scoring import Mean
from refless.registry.arrays import FloatArray


def validated(pool: RatedPool, values: FloatArray) -> Validation:
    """Of estimates that learned nothing."""
    parts = split(pool, np.arange(len(pool)))
    method = CrossValidated(np.stack([values, values]))
    methods = {"scores": (estimates_of(values, pool.ids), method)}
    return validation(pool, parts, methods, twins={})


def test_length_loses_the_same_parts() -> None:
    """Scores that follow length: their difference is known far better than either of the two."""
    rng = np.random.default_rng(0)
    pool = simulate(120, seed=1).pool
    noisy = pool.human + rng.normal(scale=0.4, size=120)
    texts = tuple("w" * round(400 + 200 * value) for value in noisy)
    result = validated(
        replace(pool, texts=texts), noisy + rng.normal(scale=0.05, size=120)
    )
    (length,) = (line for line in result.side_by_side.methods if line.name == "length")
    low, high = length.gain_interval
    alone = result.estimator.spearman_interval
    assert 0 < high - low < 0.5 * (alone[1] - alone[0])


def rated_by(annotators: int) -> Validation:
    """Noisy estimates of 40 texts, each rated by all of so many annotators."""
    pool = simulate(40, annotators=annotators, raters_per_text=annotators).pool
    return validated(
        pool, pool.human + np.random.default_rng(0).normal(scale=0.2, size=40)
    )


@pytest.mark.parametrize(("n", "defined"), [(2, False), (3, True)])
def test_two_annotators_have_no_interval(n: int, defined: bool) -> None:
    """Each has the same correlation, that with the other, which says nothing of other people."""
    result = rated_by(n)
    assert result.beside is not None
    assert result.beside.annotator > 0
    assert not math.isnan(result.beside.difference_interval[0])
    assert math.isnan(result.beside.annotator_interval[0]) != defined


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ((0.01, 0.09), "It agrees with people better than one average annotator does."),
        (
            (-0.36, 0.01),
            "No difference is shown; it may agree with people up to 0.360 less well.",
        ),
        (
            (-0.3, -0.1),
            "It agrees with people less well than one average annotator does.",
        ),
    ],
)
def test_beside_an_annotator(interval: tuple[float, float], words: str) -> None:
    """Better, not told apart or worse by the interval of the paired difference."""
    result = rated_by(3)
    assert result.beside is not None
    result = replace(
        result, beside=replace(result.beside, difference_interval=interval)
    )
    equal, conclusion = annotator_lines(result)
    assert equal.startswith(
        "On equal terms, both against the mean of the other annotators"
    )
    assert conclusion == words
    none = replace(result.estimator, spearman_interval=(-0.1, 0.4))
    assert words not in annotator_lines(
        replace(result, estimator=none)
    )  # nothing is claimed


def test_nothing_is_said_of_annotators() -> None:
    """Neither without a yardstick nor of too few estimates."""
    result = rated_by(3)
    assert annotator_lines(replace(result, beside=None)) == ()
    few = replace(result.estimator, n_scored=19)
    assert annotator_lines(replace(result, estimator=few)) == ()


def test_interval_over_annotators() -> None:
    """Their order does not matter, undefined ones are left out, one alone has no interval."""
    values = np.array([0.1, 0.5, 0.3, 0.2, math.nan])
    low, high = over_annotators(values)
    assert 0.1 <= low < 0.275 < high <= 0.5
    assert over_annotators(values[::-1]) == (low, high)
    assert math.isnan(over_annotators(np.array([0.4]))[0])


RATED = pool_of(["a", "b"], [1.0, 2.0])


def test_worth_of_outputs() -> None:
    """The mean, which is in the raters' units, with the abstention; none where there is none."""
    mean = Mean(mean=3.0, mean_interval=(2.6, 3.4), n=40, n_scored=36)
    name = "the Gaussian process"
    card = card_of(name, RATED, mean, (1, 5), (), of_verdicts=False)
    assert card.answer == (
        "Your raters would give these 40 outputs 3.0 on average (95 % interval 2.6 to 3.4), of 1 "
        "to 5."
    )
    assert card.rests == (
        "Rests on estimates from 2 rated texts; 10 % of the outputs have none. Whether raters "
        "agree is not known: each output has one rating, by nobody named."
    )
    rate = Mean(mean=0.3, mean_interval=(0.26, 0.34), n=40, n_scored=36)
    passed = card_of(name, RATED, rate, None, (), of_verdicts=True)
    assert "a pass in 30 % (95 % interval 26 % to 34 %)." in passed.answer
    nothing = Mean(mean=math.nan, mean_interval=(math.nan, math.nan), n=40, n_scored=0)
    unknown = card_of(name, RATED, nothing, None, (), of_verdicts=False)
    assert (unknown.state, unknown.answer) == (
        "open",
        "Not known: the Gaussian process has no estimate for these 40 outputs.",
    )
