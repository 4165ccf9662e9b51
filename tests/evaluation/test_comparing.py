"""Promises of compare on further ratings, and how often they are kept."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng

from refless.commands.compare.card import of_one_sided
from refless.commands.compare.document import made_of, of_pair
from refless.data.design import Design
from refless.data.records import Outputs, Residuals
from refless.evaluation.comparing import Comparison, Pair, compared
from refless.evaluation.entries import Field
from refless.evaluation.raters import Raters
from refless.registry.arrays import FloatArray
from refless.stats.assurance import USUAL, chance_shown

ITEMS = 300


def field_of(
    human: FloatArray,
    estimates: FloatArray | None = None,
    *,
    sources: int = 0,
    **more: Any,
) -> Field:
    """Systems a, b ..., of which each has a row of ratings and estimates, by item; all in order."""
    systems, n = human.shape
    items = tuple(f"i{i:04}" for i in range(n))
    per_source = n // sources if sources else 0
    outputs = Outputs(
        ids=tuple(map(str, range(systems * n))),
        texts=tuple(f"text {i}" for i in range(systems * n)),
        systems=tuple(name for name, _ in product("abcdef"[:systems], range(n))),
        items=items * systems,
        sources=tuple(f"s{i // per_source}" for i in range(n)) * systems
        if sources
        else (),
    )
    nothing = np.full(systems * n, np.nan)
    return Field(
        outputs=outputs,
        design=Design.of(outputs),
        human=human.ravel(),
        estimates=nothing if estimates is None else estimates.ravel(),
        probability=nothing,
        **more,
    )


def pair_of(first: FloatArray, second: FloatArray, rated: int) -> Pair:
    """Two systems on the same items, of which the first so many are rated."""
    human = np.stack([first, second])
    human[:, rated:] = np.nan
    return compared(field_of(human), Residuals(values=np.zeros(0)), ["a", "b"]).pairs[0]


def test_raters_of_one_system_are_no_difference() -> None:
    """A strict rater of a alone leaves the difference of the ratings of somebody who rated both."""
    human = np.array([[1.0, 3.0] * 10, [3.0, 3.0] * 10])
    human[:, 19:] = np.nan
    text = np.flatnonzero(~np.isnan(human.ravel()))
    strict = (text < 19) & (text % 2 == 0)
    ratings = human.ravel()[text]
    raters = Raters(
        text=text, rater=strict.astype(np.int64), rating=ratings, names=("both", "me")
    )
    nothing = Residuals(values=np.zeros(0))
    field = field_of(human, raters=raters, scale=(1.0, 5.0))
    comparison = compared(field, nothing, ["a", "b"])
    pair = comparison.pairs[0]
    assert (pair.difference.value, pair.both_rated) == (0.0, 9)
    assert {one.name: (one.mean.value, one.rated) for one in comparison.standings} == {
        "a": (3.0, 9),
        "b": (3.0, 19),
    }
    assert pair.one_sided == {"me": "a"}
    assert of_pair(pair).startswith("No difference between a and b is shown")
    assert of_one_sided([pair])[0].startswith("'me' rated only a: ")
    (counts,) = of_one_sided([pair], {"me": 10, "x": 9, "y": 9})
    assert counts.endswith("10 ratings that do not count; 18 by 2 people do.")


def test_estimates_count_only_if_they_make_it_more_exact() -> None:
    """Of many draws of ratings and worthless estimates none has the wider answer of the two."""
    rng = default_rng(2)
    methods = set()
    errors = Residuals(values=np.zeros(0))
    for _ in range(40):
        human = rng.normal(size=(2, 40))
        guess = 0.3 * human + rng.normal(size=(2, 40))
        human[:, 20:] = np.nan
        pair = compared(field_of(human, guess), errors, ["a", "b"]).pairs[0]
        methods.add(pair.method)
        assert pair.difference.error <= pair.powered.alone.error
        assert ("alone" in made_of(pair, "gp")) == (pair.method == "ratings")
    assert methods == {"ratings", "ratings and estimates"}


def test_promises_are_kept() -> None:
    """Of 300 pairs that differ as is usual: four times out of five, and as often as it is said.

    With the power of the difference as it looks, .54 to .72 were kept, and of those of which all
    ratings were to show nothing 29 to 36 % were shown.
    """
    rng = default_rng(7)
    kept = []
    promised = []
    after = []
    for _ in range(300):
        gaps = rng.normal(USUAL * rng.normal(), 1.0, ITEMS)
        first = rng.normal(size=ITEMS)
        looked = pair_of(first, first + gaps, 20)
        if looked.shown:
            continue
        promised.append(looked.chance)
        after.append(pair_of(first, first + gaps, ITEMS).shown)
        if looked.needed is not None:
            kept.append(pair_of(first, first + gaps, looked.needed).shown)
    assert len(kept) > 25
    assert np.mean(kept) == pytest.approx(0.8, abs=0.1)
    assert np.mean(after) == pytest.approx(np.mean(promised), abs=0.05)


def test_the_chance_by_drawing() -> None:
    """The closed form is the share of drawn studies that show a difference."""
    rng = default_rng(0)
    prior = 0.09
    now = 1 / 20
    then = 1 / 80
    value = 0.3
    truth = rng.normal(0, np.sqrt(prior), 1_000_000)
    final = truth + rng.normal(0, np.sqrt(then), len(truth))
    looked = final + rng.normal(0, np.sqrt(now - then), len(truth))
    alike = np.abs(looked - value) < 0.01
    shown = np.abs(final) > 1.99045 * np.sqrt(then)
    half = 1.99045 * np.sqrt(then)
    found = chance_shown(value, now, then, prior, half, more=True)
    assert found == pytest.approx(shown[alike].mean(), abs=0.02)
    anew = truth + rng.normal(0, np.sqrt(now), len(truth))
    alike = np.abs(anew - value) < 0.01
    found = chance_shown(value, now, then, prior, half, more=False)
    assert found == pytest.approx(shown[alike].mean(), abs=0.02)
    assert chance_shown(0.9, now, now, prior, 2.093 * np.sqrt(now), more=True) > 0.999


def test_what_is_known_already() -> None:
    """A difference that is shown needs no more ratings; with no rating there is nothing to say."""
    rng = default_rng(0)
    first = rng.normal(size=40)
    shown = pair_of(first, first + 3 + 0.1 * rng.normal(size=40), 20)
    assert shown.needed == 20
    assert shown.chance == pytest.approx(1.0)
    unknown = pair_of(first, first + 1, 0)
    assert unknown.needed is None
    assert np.isnan(unknown.chance)


def misjudged(rng: np.random.Generator, effects: FloatArray) -> tuple[Field, Residuals]:
    """Two systems that estimates misjudge so, 100 items of which 25 are rated, nobody knows why."""
    n = 100
    kept = rng.permutation(100)[:25]
    estimates, noise = rng.normal(size=(2, 2, n))
    human = np.full((2, n), np.nan)
    human[:, kept] = (estimates + effects[:, None] + noise)[:, kept]
    field = field_of(human, estimates, drawn=False)
    errors = (human - estimates)[:, kept].ravel()
    named = tuple(np.repeat(["a", "b"], 25).tolist())
    return field, Residuals(values=errors, systems=named, afar=errors)


def test_two_systems_of_unknown_selection() -> None:
    """Two systems tell little of how far systems are misjudged: intervals know that.

    200 runs; with a variance between systems that two of them can deny they held .90.
    """
    rng = default_rng(3)
    held = 0
    for _ in range(200):
        effects = 0.2 * rng.normal(size=2)
        field, errors = misjudged(rng, effects - effects.mean())
        (pair,) = compared(field, errors, ["a", "b"]).pairs
        assert pair.method == "estimates"
        low, high = pair.difference.interval
        held += low <= effects[1] - effects[0] <= high
    assert held >= 0.93 * 200


def standings_of(human: FloatArray, estimates: FloatArray | None = None) -> Comparison:
    """All systems, on a scale of 1 to 5."""
    field = field_of(human, estimates, scale=(1.0, 5.0))
    errors = field.human - field.estimates
    known = Residuals(values=errors[~np.isnan(errors)])
    return compared(field, known, [*dict.fromkeys(field.outputs.systems)])


@pytest.mark.parametrize("rating", [1.0, 5.0])
def test_a_system_with_one_rating(rating: float) -> None:
    """Its mean is that rating, without an interval; so is each difference from it."""
    rng = default_rng(1)
    human = rng.integers(1, 6, (3, 40)).astype(float)
    human[2, 1:] = np.nan
    human[2, 0] = rating
    for estimates in (None, rng.normal(3, 1, (3, 40))):
        found = standings_of(human, estimates)
        (single,) = (one for one in found.standings if one.name == "c")
        assert single.mean.value == rating
        assert np.isnan(single.mean.interval).all()
        for pair in found.pairs:
            assert (pair.method == "none") == (pair.second == "c")
            if pair.second == "c":
                assert pair.difference.untold == "one unit is rated"
                assert pair.independent == (40, 1)
                assert not pair.shown


def test_estimates_alone_are_for_systems_without_ratings() -> None:
    """They answer as soon as a system has none, and not before."""
    rng = default_rng(2)
    estimates = rng.normal(3, 1, (3, 40))
    human = np.clip(np.round(estimates + rng.normal(size=(3, 40)) / 2), 1, 5)
    human[2] = np.nan
    methods = {
        (pair.first, pair.second): pair.method
        for pair in standings_of(human, estimates).pairs
    }
    assert methods["a", "c"] == methods["b", "c"] == "estimates"
    assert methods["a", "b"] != "estimates"


@pytest.mark.parametrize("sources", [8, 20])
def test_items_of_one_source_are_no_evidence_of_their_own(sources: int) -> None:
    """Systems differ by source alone, five items each: seldom wrongly better, 200 runs.

    With items as if each were drawn by itself it was .10 to .38.
    """
    rng = default_rng(sources)
    shown = 0
    n = 5 * sources
    for _ in range(200):
        effects = np.repeat(0.5 * rng.normal(size=(2, sources)), 5, axis=1)
        human = np.clip(np.round(3 + effects + 0.5 * rng.normal(size=(2, n))), 1, 5)
        field = field_of(human, sources=sources, scale=(1.0, 5.0))
        (pair,) = compared(field, Residuals(values=np.zeros(0)), ["a", "b"]).pairs
        shown += pair.shown
    assert shown <= 0.075 * 200
