"""Estimators that nobody registered: a regressor of scikit-learn, a class of a user."""

from typing import Any

import numpy as np
import pytest
from benchmarks.simulate import simulate

import refless
from refless.estimators import estimator_of
from refless.estimators.folds import folds_in
from refless.estimators.neighbors import BLEUNeighbors
from refless.registry.arrays import FloatArray

pytest.importorskip("sklearn")

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline

from refusals import bad_usage

POOL = simulate(120, seed=3).pool
RATED = [
    {
        "item": item,
        "source": source,
        "system": system,
        "text": text,
        "rating": 1 + 4 * float(human),
    }
    for item, source, system, text, human in zip(
        POOL.items, POOL.sources, POOL.systems, POOL.texts, POOL.human, strict=True
    )
]


class Mine(BLEUNeighbors):
    """A class of a user, in a file of their own."""


def pipeline() -> Pipeline:
    return make_pipeline(TfidfVectorizer(), Ridge())


def test_held_out_is_cross_validation() -> None:
    """Of the same folds, by scikit-learn's own."""
    groups = np.unique(POOL.sources, return_inverse=True)[1]
    found = estimator_of(pipeline()).held_out(POOL, groups).values
    split = PredefinedSplit(folds_in(POOL, groups, 5))
    wanted = cross_val_predict(pipeline(), [*POOL.texts], POOL.human, cv=split)
    np.testing.assert_allclose(found, np.clip(wanted, 0, 1), rtol=1e-12)


def test_intervals_are_of_held_out_errors() -> None:
    """They hold about 95 % of new texts; the model itself errs less on what it has seen."""
    new = simulate(300, seed=9).pool
    found = estimator_of(pipeline()).fit(POOL).estimate(new)
    inside = (found.low <= new.human) & (new.human <= found.high)
    assert inside.mean() > 0.9


@pytest.mark.parametrize("given", [pipeline(), Mine()])
def test_taken_wherever_an_estimator_is_named(given: Any) -> None:
    """In validate alone and beside gp, in score and in compare."""
    assert "Spearman" in str(refless.validate(RATED, scale=(1, 5), estimator=given))
    several = refless.validate(RATED, scale=(1, 5), estimator=["gp", given])
    first, other = (several.side_by_side.methods[i] for i in (0, 1))
    card = several.card()
    assert first.name in card.answer
    assert f"{other.name} against {first.name}: " in card.rests
    assert "in Spearman. Intervals" in card.rests or first.name != "Ridge"
    outputs = [{**row, "rating": None} for row in RATED[:30]]
    scored = refless.score(outputs, RATED[30:], scale=(1, 5), estimator=given)
    assert scored.scored.overall.n == 30
    half = [
        {**row, "rating": row["rating"] if i % 2 else None}
        for i, row in enumerate(RATED)
    ]
    two = [row for row in half if row["system"] != "hasty"]
    assert refless.compare(two, scale=(1, 5), estimator=given).comparison.pairs


def test_it_has_the_name_of_its_last_step() -> None:
    """And the signature tells two models apart."""
    one, other = (
        estimator_of(make_pipeline(TfidfVectorizer(), Ridge(a))) for a in (1.0, 2.0)
    )
    assert one.title == "Ridge"
    assert str(one.signature()) != str(other.signature())


def test_it_is_not_saved(tmp_path: Any) -> None:
    """No folder could say what it is."""
    with bad_usage("Ridge cannot be saved.*estimates with it, if it"):
        refless.save(
            estimator_of(pipeline()).fit(POOL), tmp_path / "fitted.safetensors"
        )


def test_what_cannot_fit_is_refused() -> None:
    """With its name."""
    with bad_usage("has no fit and predict"):
        estimator_of(3)


class Misbehaving:
    """A model of a user whose answer is wrong."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def fit(self, texts: list[str], ratings: FloatArray) -> None:
        """Learns nothing."""

    def predict(self, texts: list[str]) -> Any:
        """The values that it was told to give, of so many texts."""
        return self.answer(len(texts))


ANSWERS: dict[str, tuple[Any, str]] = {
    "one too few": (lambda n: [0.5] * (n - 1), "float64 of shape"),
    "a column": (lambda n: np.full((n, 1), 0.5), r"float64 of shape \(\d+, 1\)"),
    "two columns": (lambda n: np.full((n, 2), 0.5), r"float64 of shape \(\d+, 2\)"),
    "one number": (lambda _: 0.5, r"float64 of shape \(\)"),
    "nothing": (lambda _: None, r"object of shape \(\)"),
    "words": (lambda n: ["0.5"] * n, "<U3 of shape"),
    "complex": (lambda n: np.full(n, 0.5 + 1j), "complex128 of shape"),
    "None among them": (lambda n: [None] * n, "object of shape"),
    "infinite": (lambda n: [np.inf] * n, "infinite numbers of shape"),
}


@pytest.mark.parametrize("how", ANSWERS)
def test_a_wrong_answer_is_refused(how: str) -> None:
    """Held out and of new outputs, with the name of the class and what it must give."""
    answer, message = ANSWERS[how]
    mine = estimator_of(Misbehaving(answer))
    with bad_usage(
        rf"Regressor \(Misbehaving\) gives {message}.*; it must give one",
    ):
        mine.held_out(POOL)
    with bad_usage(message):
        mine.fit(POOL).predict([*POOL.texts[:7]])


def test_the_raters_units_are_refused() -> None:
    """An estimate of 4.6 would count as the highest rating; a regression may overshoot a little."""
    mine = estimator_of(Misbehaving(lambda n: np.full(n, 4.6)))
    with bad_usage(
        r"Misbehaving\) estimates 4.6, .* predict must answer on that scale"
    ):
        mine.fit(POOL).predict(["a text"])
    over = estimator_of(Misbehaving(lambda n: np.full(n, 1.2))).fit(POOL)
    assert over.predict(["a text"]).tolist() == [1.0]


def test_nan_abstains() -> None:
    """A text without an estimate is no fault."""
    mine = estimator_of(Misbehaving(lambda n: np.full(n, np.nan)))
    assert np.isnan(mine.held_out(POOL).values).all()
