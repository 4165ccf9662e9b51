"""BLEU Neighbors: the rule, its reasons, held-out estimates, evidence and intervals."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from benchmarks.simulate import simulate
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from refless.data.human import pool_of
from refless.data.records import Estimates, Outputs, RatedPool, as_outputs
from refless.estimators.neighbors import BLEUNeighbors
from refless.metrics.kernels import kernel_of
from refless.metrics.kernels.bleu import bleu_star
from refless.registry.signature import Signature
from refless.text.ngrams import Shape
from refusals import bad_usage

TEXT = st.text("aab \U0001f98a", max_size=10)
RATED = st.lists(
    st.tuples(TEXT, st.lists(st.integers(1, 6), min_size=1, max_size=3)),
    min_size=1,
    max_size=12,
)
SETTINGS = st.fixed_dictionaries(
    {
        "tau": st.sampled_from([None, 0.0, 0.08, 0.3, 1.0]),
        "min_neighbors": st.integers(0, 3),
        "max_fraction": st.sampled_from([0.0, 0.3, 0.5, 0.66, 1.0]),
        "kernel": st.sampled_from(["bleu*", "bleu*:clip=no"]),
    }
)


def pool_from(rows: list[tuple[str, list[int]]], **columns: Any) -> RatedPool:
    """A named pool on a scale of 1 to 6."""
    ids = [f"t{i}" for i in range(len(rows))]
    texts = [text for text, _ in rows]
    ratings = [rating for _, rating in rows]
    return pool_of(texts, ratings, ids=ids, scale=(1, 6), **columns)


def by_the_rule(
    text: str, rated: list[tuple[str, Fraction]], model: BLEUNeighbors
) -> tuple[float, int, str]:
    """Definition 3.2 and equation 3, spelled out: estimate, support, reason."""
    shape = Shape(clip=kernel_of(model.kernel).clip)
    near = [(bleu_star(text, s, shape), human) for s, human in rated]
    inside = [
        (k, t) for k, t in near if k >= model.threshold - 1e-12 and len(text) >= 4
    ]
    if len(text) < 4:
        return math.nan, 0, "too-short" if text else "empty"
    if len(inside) < max(1, model.min_neighbors):
        return math.nan, len(inside), "too-few"
    if len(inside) > model.max_fraction * len(rated) + 1e-9:
        return math.nan, len(inside), "too-many"
    return float(sum(t for _, t in inside) / len(inside)), len(inside), ""


def same(one: Estimates, other: Estimates) -> None:
    """Bitwise equal, id by id."""
    rows = [one.ids.index(name) for name in other.ids]
    assert sorted(rows) == list(range(len(one)))
    assert tuple(one.reasons[i] for i in rows) == other.reasons
    for name in ("values", "support", "low", "high"):
        left = getattr(one, name)[rows]
        right = getattr(other, name)
        assert np.array_equal(left, right, equal_nan=True), name


@given(RATED, st.lists(TEXT, max_size=5), SETTINGS)
def test_predictions_follow_the_rule(
    rows: list[tuple[str, list[int]]], texts: list[str], chosen: dict[str, Any]
) -> None:
    """Against exact human ratings and the slow kernel."""
    model = BLEUNeighbors(**chosen).fit(pool_from(rows))
    found = model.estimate(texts)
    rated = [(s, (Fraction(sum(r), len(r)) - 1) / 5) for s, r in rows]
    wanted = [by_the_rule(text, rated, model) for text in texts]
    assert found.reasons == tuple(reason for _, _, reason in wanted)
    assert found.support.tolist() == [support for _, support, _ in wanted]
    assert_allclose(found.values, [value for value, _, _ in wanted], atol=1e-9)


@settings(max_examples=30)
@given(RATED, SETTINGS, st.data())
def test_held_out_equals_refitting_without_the_group(
    rows: list[tuple[str, list[int]]], chosen: dict[str, Any], data: st.DataObject
) -> None:
    """Bitwise for exact sums; |S| is what remains without the group."""
    pool = pool_from(rows)
    drawn = data.draw(
        st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows))
    )
    model = BLEUNeighbors(**chosen)
    for groups in (np.array(drawn), None):
        found = model.held_out(pool, groups)
        of = np.arange(len(pool)) if groups is None else groups
        for row, text in enumerate(pool.texts):
            rest = pool.take(np.flatnonzero(of != of[row]))
            alone = model.clone().fit(rest).estimate([text])
            assert found.reasons[row] == alone.reasons[0]
            assert found.support[row] == alone.support[0]
            assert_allclose(found.values[row], alone.values[0], rtol=0, atol=0.0)


def copies(n: int) -> list[str]:
    """A text n times, among 100 rated texts."""
    return ["the fox"] * n + ["0123456789"] * (100 - n)


@pytest.mark.parametrize(
    ("fraction", "neighbors", "reason"),
    [(0.57, 57, ""), (0.57, 58, "too-many"), (0.66, 66, ""), (0.665, 67, "too-many")],
)
def test_the_upper_bound_is_real_valued(
    fraction: float, neighbors: int, reason: str
) -> None:
    """In floating point 0.57 * 100 is 56.99999999999999, and still admits 57."""
    model = BLEUNeighbors(max_fraction=fraction).fit(copies(neighbors), [1.0] * 100)
    found = model.estimate(["the fox"])
    assert (found.support.tolist(), found.reasons) == ([neighbors], (reason,))


def test_reasons_and_their_precedence() -> None:
    """A bad row first, then the text itself, then its neighbours; none of them is 0."""
    texts = ("the fox", "", "abc", "zzzz", "0123", "")
    outputs = Outputs(
        ids=tuple("abcdef"), texts=texts, bad=(True, False, False, False, False, True)
    )
    found = BLEUNeighbors(min_neighbors=0).fit(copies(5), [2.0] * 100).estimate(outputs)
    wanted = ("bad-row", "empty", "too-short", "too-few", "too-many", "bad-row")
    assert found.reasons == wanted
    assert np.isnan([found.values, found.low, found.high]).all()
    assert found.coverage == 0.0
    # too few and too many at once: a = 96 of 95, b = 0
    both = BLEUNeighbors(min_neighbors=96, max_fraction=0.0).fit(copies(5), [2.0] * 100)
    assert both.estimate(["0123"]).reasons == ("too-few",)


def test_too_short_counts_tokens_and_orders() -> None:
    """Two words are too short for orders 2 to 4, not for 1 to 2."""
    words = {"kernel": "bleu*:tokenize=words", "min_neighbors": 1, "max_fraction": 1.0}
    texts = ["one two three four", "one two"]
    ratings = [1.0, 3.0]
    outputs = ["one two", " ", "one two three four"]
    found = BLEUNeighbors(**words).fit(texts, ratings).estimate(outputs)
    assert found.reasons == ("too-short", "empty", "")
    found = (
        BLEUNeighbors(**words)
        .set_params(kernel__orders=(1, 2))
        .fit(texts, ratings)
        .estimate(outputs)
    )
    assert found.reasons == ("", "empty", "")


def test_pools_with_nothing_to_learn_from() -> None:
    """No text, one text, no overlap at all: no estimate, no failure."""
    for texts in ([], ["the fox"], ["abcd", "wxyz"]):
        model = BLEUNeighbors()
        assert model.fit(texts, [1.0] * len(texts)).estimate(["zzzzz"]).reasons == (
            "too-few",
        )
        assert model.held_out(pool_of(texts, [1.0] * len(texts))).reasons == (
            "too-few",
        ) * len(texts)
    one = BLEUNeighbors(min_neighbors=1, max_fraction=1.0).fit(["the fox"], [4.0])
    assert one.estimate(["the fox"]).values.tolist() == [4.0]
    assert len(one.residuals()) == 0


def test_units_follow_the_pool() -> None:
    """With a scale estimates lie in [0, 1], without it in the raters' units."""
    texts = copies(50)
    ratings = [1.0, 6.0] * 50
    plain = BLEUNeighbors().fit(texts, ratings).estimate(["the fox"])
    onto = (
        BLEUNeighbors().fit(pool_of(texts, ratings, scale=(1, 6))).estimate(["the fox"])
    )
    assert (plain.values.tolist(), onto.values.tolist()) == ([3.5], [0.5])
    assert (onto.low.tolist(), onto.high.tolist()) == (
        [0.0],
        [1.0],
    )  # clipped to the scale
    assert plain.low[0] < 1.0


def test_intervals_hold_what_they_promise() -> None:
    """About 95 % of fresh texts of the same kind; within the scale."""
    pool = simulate(1_500, seed=5).pool
    order = np.random.default_rng(0).permutation(1_500)
    rated = pool.take(order[:700])
    fresh = pool.take(order[700:])
    found = BLEUNeighbors().fit(rated).estimate(as_outputs(fresh))
    inside = (found.low <= fresh.human) & (fresh.human <= found.high)
    assert found.coverage > 0.9
    assert 0.93 <= inside[found.defined].mean() <= 0.97
    assert found.low[found.defined].min() >= 0.0
    assert found.high[found.defined].max() <= 1.0
    assert ((found.low <= found.values) & (found.values <= found.high))[
        found.defined
    ].all()


def test_residuals_are_held_out_errors() -> None:
    """Rating minus estimate without the text's source, with what it belongs to; at most 2,000."""
    pool = simulate(90).pool
    model = BLEUNeighbors().fit(pool)
    groups = np.array(
        [sorted(set(pool.sources)).index(source) for source in pool.sources]
    )
    errors = pool.human - model.held_out(pool, groups).values
    found = model.residuals()
    rated = model.rated
    assert sorted(found.values.tolist()) == sorted(errors[~np.isnan(errors)].tolist())
    assert set(found.systems) == set(rated.systems)
    assert len(found.sources) == len(found)
    few = replace(pool, sources=("one",) * 90, items=())
    errors = pool.human - model.held_out(few).values
    alone = model.fit(few).residuals().values
    assert sorted(alone.tolist()) == sorted(errors[~np.isnan(errors)].tolist())
    many = model.fit(simulate(2_100).pool)
    assert 1_900 < len(many.residuals()) <= 2_000


def test_explanations_account_for_the_estimate() -> None:
    """Shares sum to 1, their weighted ratings to the estimate of `predict`."""
    pool = simulate(120, raters_per_text=2).pool
    model = BLEUNeighbors(max_fraction=1.0).fit(pool)
    text = "You could try the Blue Swan for Thai dishes by the river."
    found = model.estimate([text])
    told = model.explain(text)
    assert (told.estimate, told.low, told.high) == (found.values, found.low, found.high)
    assert (told.reason, told.support, told.size) == ("", found.support[0], 120)
    assert len(told.neighbors) == told.support
    assert sum(n.share for n in told.neighbors) == pytest.approx(1.0)
    total = sum(n.share * n.rating for n in told.neighbors)
    assert total == pytest.approx(told.estimate, abs=1e-12)
    assert [(-n.similarity, n.id) for n in told.neighbors] == sorted(
        (-n.similarity, n.id) for n in told.neighbors
    )
    nearest = told.neighbors[0]
    assert nearest.similarity == pytest.approx(bleu_star(text, nearest.text), abs=1e-12)
    assert nearest.rating == pool.human[pool.ids.index(nearest.id)]
    assert nearest.n_ratings == 2
    assert all(part in text and part in nearest.text for part in nearest.shared)
    assert model.explain(text, most=3).neighbors == told.neighbors[:3]


def test_an_explanation_can_hide_a_rated_text() -> None:
    """Then it tells of the held-out estimate of that text."""
    pool = simulate(60).pool
    model = BLEUNeighbors().fit(pool)
    held = model.held_out(pool)
    for row in (0, 17):
        told = model.explain(pool.texts[row], hide=pool.ids[row])
        assert np.array_equal(told.estimate, held.values[row], equal_nan=True)
        assert (told.support, told.size, told.reason) == (
            held.support[row],
            59,
            held.reasons[row],
        )
        assert pool.ids[row] not in {n.id for n in told.neighbors}
        assert pool.ids[row] in {n.id for n in model.explain(pool.texts[row]).neighbors}


def test_explanations_of_abstentions() -> None:
    """The neighbours of an abstention are shown; a text that is too short has none, at any tau."""
    told = BLEUNeighbors().fit(copies(3), [1.0] * 100).explain("the fox")
    assert (told.reason, told.support, len(told.neighbors)) == ("too-few", 3, 3)
    assert math.isnan(told.estimate)
    told = BLEUNeighbors(tau=0.0).fit(copies(3), [1.0] * 100).explain("the")
    assert (told.reason, told.support, told.neighbors) == ("too-short", 0, ())
    with bad_usage("one output at a time"):
        BLEUNeighbors().fit(["a"], [1]).explain(
            Outputs(ids=("a", "b"), texts=("a", "b"))
        )


def test_changed_parameters_count_at_once_or_ask_for_a_fit() -> None:
    """Tau changes estimates and intervals; other n-grams need another fit."""
    pool = simulate(150).pool
    model = BLEUNeighbors().fit(pool)
    model.estimate(pool.texts[:5])
    changed = model.set_params(tau=0.2, min_neighbors=1).estimate(pool.texts[:5])
    same(
        changed,
        BLEUNeighbors(tau=0.2, min_neighbors=1).fit(pool).estimate(pool.texts[:5]),
    )
    for kernel in ("bleu*:orders=1-4", "bleu*:clip=no", "bleu*:tokenize=words"):
        with bad_usage("fit the rated pool again"):
            BLEUNeighbors().fit(pool).set_params(kernel=kernel).estimate(["abcd"])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tau": -0.1}, "tau must be from 0 to 1"),
        ({"tau": math.nan}, "tau must be finite and from 0 to 1"),
        ({"kernel": "rouge"}, r"no kernel 'rouge' \(did you mean 'rouge-l'"),
        ({"min_neighbors": -1}, "min_neighbors must be"),
        ({"max_fraction": 1.01}, "max_fraction must be from 0 to 1"),
        ({"threads": 0}, "threads must be"),
        ({"kernel": "bleu*:orders=0-4"}, "n-gram orders"),
    ],
)
def test_parameters_out_of_range(parameters: dict[str, Any], message: str) -> None:
    """Refused by the constructor, by name."""
    with bad_usage(message):
        BLEUNeighbors(**parameters)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, p: m.estimate(["a"]), "fit a rated pool first"),
        (lambda m, p: m.fit("abcd", [1]), "a list of texts is needed, got one string"),
        (lambda m, p: m.fit(["abcd"]), "list of texts and a list of ratings"),
        (lambda m, p: m.fit(["abcd"], [1, 2]), "1 texts but 2 ratings"),
        (lambda m, p: m.fit(p, [1.0] * len(p)), "has its own ratings"),
        (lambda m, p: m.fit(p).estimate("abcd"), "wrap it in a list"),
    ],
)
def test_wrong_use(
    call: Callable[[BLEUNeighbors, RatedPool], object], message: str
) -> None:
    """Named, never guessed at."""
    with bad_usage(message):
        call(BLEUNeighbors(), simulate(6).pool)


def test_signatures_tell_what_was_done() -> None:
    """DESIGN's example, as far as it is the estimator's; it parses back."""
    model = BLEUNeighbors()
    text = str(model.fit(pool_from([("the fox", [1])] * 4)).signature())
    assert text.startswith(
        "bleu-neighbors|kernel:bleu*|tok:char|n:2-4|clip:yes|tau:0.08|a:5|b:0.66|scale:1,6|pool:"
    )
    assert Signature.parse(text) == model.signature()
    others: list[dict[str, Any]] = [
        {"kernel": "bleu*:clip=no"},
        {"tau": 0.1},
        {"kernel": "bleu*:orders=1-4"},
        {"max_fraction": 0.5},
    ]
    signed = {
        str(BLEUNeighbors(**parameters).signature()) for parameters in ({}, *others)
    }
    assert len(signed) == 5
