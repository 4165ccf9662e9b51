"""The sentence at the top of a report: decided by numbers and their intervals alone."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from refless.commands.score.document import mean_sentence
from refless.commands.score.document import verdict as worth
from refless.commands.validate.verdict import Grounds, grounds_of, notes, standing, verdict
from refless.data.records import Estimates, RatedPool
from refless.data.simulate import simulate
from refless.estimators.scorer import CrossValidated
from refless.evaluation.annotators import Annotator, Annotators, annotator_interval
from refless.evaluation.jackknife import split
from refless.evaluation.scoring import Mean
from refless.evaluation.validation import Validation, validation
from refless.registry.arrays import FloatArray
from refless.registry.signature import Signature

LEVEL = Grounds(
    estimator="BLEU Neighbors",
    n=200,
    n_scored=198,
    spearman=0.32,
    spearman_interval=(0.19, 0.44),
    mse=0.02,
    mse_interval=(0.018, 0.025),
    annotator=0.33,
    annotator_interval=(0.27, 0.40),
    paired=0.31,
    paired_interval=(-0.14, 0.11),
    length=-0.3,
    length_interval=(0.4, 0.8),
    constant=0.03,
    constant_interval=(0.004, 0.015),
)
UNKNOWN = (math.nan, math.nan)
ALONE = replace(
    LEVEL, annotator=math.nan, annotator_interval=UNKNOWN, paired=math.nan, paired_interval=UNKNOWN
)


def test_as_the_specification_words_it() -> None:
    """The sentence word for word: a wide interval is no equality."""
    assert verdict(LEVEL) == (
        "On these 200 texts BLEU Neighbors agrees with people; no difference from one average "
        "annotator is shown, and it may agree up to 0.140 less well; it abstains on 1 %."
    )


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ((0.01, 0.09), "agrees with people better than one average annotator"),
        (
            (-0.36, 0.01),
            "no difference from one average annotator is shown, and it may agree up to 0.36",
        ),
        ((-0.3, -0.1), "agrees with people, but less well than one average annotator does"),
    ],
)
def test_beside_an_annotator(interval: tuple[float, float], words: str) -> None:
    """Better, not told apart or worse by the interval of the paired difference."""
    assert words in verdict(replace(LEVEL, paired_interval=interval))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "ranks texts better than their length alone does and errs less than a constant"),
        (
            {"constant_interval": (-0.01, 0.01)},
            "does but shows no difference in error from a constant",
        ),
        (
            {"constant": 0.01, "constant_interval": (-0.03, -0.01)},
            "errs more than a constant (0.0200 against 0.0100); it ranks texts better",
        ),
        (
            {"length": math.nan, "length_interval": UNKNOWN},
            "BLEU Neighbors agrees with people and errs less than a constant; it abstains",
        ),
        (
            {"length": 0.1, "length_interval": (-0.05, 0.49)},
            (
                "less than a constant; no difference from ranking texts by their length alone is "
                "shown, and it may rank them up to 0.050 worse; it abstains"
            ),
        ),
        (
            {
                "length": 0.8,
                "length_interval": (-0.6, -0.3),
                "constant_interval": (-0.01, 0.01),
            },
            "worse than their length alone does (0.320 against 0.800); it agrees with people",
        ),
    ],
)
def test_without_annotators(changes: dict[str, object], words: str) -> None:
    """Without a yardstick it is held against length and the constant."""
    assert words in verdict(replace(ALONE, **changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"spearman": 0.1, "spearman_interval": (-0.03, 0.2)}, "there may be as much as 0.200"),
        ({"spearman": -0.3, "spearman_interval": (-0.4, -0.2)}, "shows no agreement with people;"),
        ({"spearman": math.nan}, "agreement is undefined"),
        ({"n": 10, "n_scored": 10}, "too few estimates"),
        ({"n_scored": 0}, "has no estimate at all."),
        ({"n_scored": 200}, "it abstains on none."),
        ({"n_scored": 199}, "it abstains on less than 1 %."),
    ],
)
def test_what_comes_first(changes: dict[str, object], words: str) -> None:
    """Nothing is claimed that the numbers do not carry, whatever annotators do."""
    assert words in verdict(replace(LEVEL, **changes))


def test_what_a_constant_beats_is_called_that_first() -> None:
    """Above a constant's error and below length's correlation, shown or not: before all else."""
    worse = replace(
        LEVEL,
        mse=0.031,
        constant=0.027,
        constant_interval=(-0.009, 0.001),
        length=0.5,
        length_interval=(-0.36, 0.01),
        paired_interval=(-0.3, -0.1),
    )
    assert verdict(worse) == (
        "On these 200 texts BLEU Neighbors errs no less than a constant (0.0310 against 0.0270) "
        "and ranks texts no better than their length alone does (0.320 against 0.500); it agrees "
        "with people, but less well than one average annotator does; it abstains on 1 %."
    )


def test_abstention_leads_where_it_is_large() -> None:
    """Above a third, the texts without an estimate are said before the agreement on the rest."""
    assert verdict(replace(LEVEL, n_scored=80)) == (
        "On these 200 texts BLEU Neighbors abstains on 60 %; on the other 80 it agrees with "
        "people; no difference from one average annotator is shown, and it may agree up to 0.140 "
        "less well."
    )


@pytest.mark.parametrize(
    ("interval", "word"),
    [
        ((0.1, 0.2), "better"),
        ((-0.1, 0.9), "unclear"),
        ((-0.2, -0.1), "worse"),
        (UNKNOWN, "unclear"),
    ],
)
def test_standing(interval: tuple[float, float], word: str) -> None:
    """Only an interval that leaves out 0 says which is better; one that is missing says nothing."""
    assert standing(interval) == word


def test_notes_say_what_speaks_against_it() -> None:
    """An error like a constant's, and the published comparison; length stands in the table."""
    changes: dict[str, Any] = {
        "length": 0.31,
        "length_interval": (-0.1, 0.12),
        "constant_interval": (-0.001, 0.002),
        "published": 0.41,
    }
    said = " ".join(notes(replace(LEVEL, **changes)))
    for words in ("shows no difference in error", "As published", "0.410"):
        assert words in said
    assert "Length" not in said
    assert "as well" not in said
    assert "no single annotators to compare" in notes(ALONE)[0]
    assert notes(replace(ALONE, spearman=math.nan))[0].endswith("mean rating is undefined.")


SIGNATURE = Signature("scores").plus(seed=0)


def validated(pool: RatedPool, values: FloatArray) -> Validation:
    """Of estimates that learned nothing."""
    parts = split(pool, np.arange(len(pool)))
    nothing = np.full(len(pool), math.nan)
    estimates = Estimates(
        ids=pool.ids,
        values=values,
        reasons=("",) * len(pool),
        support=np.zeros(len(pool), dtype=np.int64),
        low=nothing,
        high=nothing,
    )
    method = CrossValidated(np.stack([values, values]))
    return validation(pool, parts, {"scores": (estimates, method)}, pool.ids)


def test_length_loses_the_same_parts() -> None:
    """Scores that follow length: their difference is known far better than either of the two."""
    rng = np.random.default_rng(0)
    pool = simulate(120, seed=1).pool
    noisy = pool.human + rng.normal(scale=0.4, size=120)
    texts = tuple("w" * round(400 + 200 * value) for value in noisy)
    found = validated(replace(pool, texts=texts), noisy + rng.normal(scale=0.05, size=120))
    low, high = grounds_of(found, SIGNATURE).length_interval
    alone = found.estimator.spearman_interval
    assert (low, high) == found.differences["length_only"].interval
    assert 0 < high - low < 0.5 * (alone[1] - alone[0])


@pytest.mark.parametrize(("n", "known"), [(2, False), (3, True)])
def test_two_annotators_have_no_interval(n: int, known: bool) -> None:
    """Each has the same correlation, that with the other, which says nothing of other people."""
    pool = simulate(40, annotators=n, raters_per_text=n).pool
    noisy = pool.human + np.random.default_rng(0).normal(scale=0.2, size=40)
    found = grounds_of(validated(pool, noisy), SIGNATURE)
    assert found.annotator > 0
    assert not math.isnan(found.paired_interval[0])
    assert math.isnan(found.annotator_interval[0]) != known


def people(values: list[float]) -> Annotators:
    each = tuple(
        Annotator(name=str(i), n=9, mse=0.1, mae=0.1, pearson=v, spearman=v, kendall=v)
        for i, v in enumerate(values)
    )
    return Annotators(
        n=len(each), average={}, best={}, n_undefined=0, spearman_undefined_as_zero=0.0,
        per_annotator=each,
    )  # fmt: skip


def test_interval_over_annotators() -> None:
    """Their order does not matter, undefined ones are left out, one alone has no interval."""
    values = [0.1, 0.5, 0.3, 0.2, math.nan]
    low, high = annotator_interval(people(values), "spearman")
    assert 0.1 <= low < 0.275 < high <= 0.5
    assert annotator_interval(people(values[::-1]), "spearman") == (low, high)
    assert math.isnan(annotator_interval(people([0.4]), "spearman")[0])
    assert math.isnan(annotator_interval(None, "spearman")[0])


def test_worth_of_outputs() -> None:
    """The mean, which is in the raters' units, with the abstention; none where there is none."""
    mean = Mean(mean=3.0, mean_interval=(2.6, 3.4), n=40, n_scored=36)
    assert worth("The Gaussian process", mean, (1, 5)) == (
        "The Gaussian process expects your raters to give these 40 outputs 3.00 [2.60, 3.40] on "
        "average on a scale of 1 to 5; it abstains on 10 %."
    )
    assert "3.000 [2.600, 3.400] on average;" in worth("The Gaussian process", mean, None)
    many = Mean(mean=0.5, mean_interval=(0.4, 0.6), n=60_000, n_scored=54_000)
    assert "over 54,000 of 60,000 outputs" in mean_sentence(many)
    nothing = Mean(mean=math.nan, mean_interval=(math.nan, math.nan), n=40, n_scored=0)
    assert worth("The Gaussian process", nothing, None) == (
        "The Gaussian process has no estimate for these 40 outputs."
    )
