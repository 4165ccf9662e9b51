"""Outputs whose source is rated already are placed and weighed as its rated texts are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.simulate import simulate
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from refless.commands.validate.leaderboard import against
from refless.commands.validate.source_study import source_study
from refless.data.design import unit_name, units_of, units_or_texts
from refless.data.human import pool_of
from refless.data.records import Outputs, RatedPool, as_outputs
from refless.estimators.gp import GaussianProcess
from refless.estimators.gp.model import conditioned, estimated
from refless.estimators.gp.state import weight_ways
from refless.estimators.saved import load, save
from refless.evaluation.baselines import baselines
from refless.evaluation.jackknife import replicates, split
from refless.registry.arrays import FloatArray, numbered

SOURCES = 24
ENDINGS = ("", " !", " again", " , so they say", " and it rained")


def corrections(seed: int = 0, copies: int = 5) -> RatedPool:
    """Near copies of 24 sentences, rated by the sentence and by whether its error is mended."""
    rng = np.random.default_rng(seed)
    nouns = ["ferry", "choir", "doctor", "garden", "ticket", "lamp", "river", "cook"]
    verbs = ["open", "sing", "wait", "fall", "ask", "walk"]
    texts = []
    sources = []
    ratings = []
    for number in range(SOURCES):
        noun = nouns[number % 8]
        verb = verbs[number % 6]
        sentence = (
            f"the {noun} number {number} {verb} near the old {nouns[number // 8]}"
        )
        base = rng.uniform(0.2, 0.8)
        for ending in ENDINGS[:copies]:
            mended = rng.random() < 0.5
            texts.append(
                (sentence.replace(verb, f"{verb}s") if mended else sentence) + ending
            )
            sources.append(sentence)
            ratings.append(base + (0.2 if mended else -0.2))
    return pool_of(texts, ratings, sources=sources)


POOL = corrections()
GP = GaussianProcess().fit(POOL)


def fitted_values(gp: GaussianProcess) -> FloatArray:
    """[n] what the process says of its rated texts: ratings less their share of alpha.

    Of sigma alpha = y - mean, with sigma = K + D and a diagonal D, so that K alpha + mean is
    y - D alpha: the fit of a kernel ridge whose penalties are D.
    """
    state = gp._state()
    assert state.near is not None
    diagonal = state.data.noise + state.near.amplitudes.nugget
    y = state.data.y - diagonal * state.near.posterior.alpha
    return np.asarray(state.data.offset + state.data.unit * y)


def test_a_copy_of_a_rated_text_is_estimated_as_a_ridge_would() -> None:
    """With its source; far from that of a text that was never seen."""
    found = GP.estimate(as_outputs(GP.rated))
    assert_allclose(found.values, fitted_values(GP), atol=1e-6)
    errors = GP.rated.human - found.values
    assert np.square(errors).mean() < 0.04 * GP.rated.human.var()


def test_a_copy_lies_near_its_rating_without_sources_too() -> None:
    """Equal texts, or items, say that an output is rated already."""
    bare = replace(POOL, sources=())
    for pool in (bare, replace(bare, items=POOL.sources)):
        gp = GaussianProcess().fit(pool)
        found = gp.estimate(as_outputs(gp.rated))
        assert_allclose(found.values, fitted_values(gp), atol=1e-6)


@settings(max_examples=8)
@given(st.integers(0, 119))
def test_a_text_left_out_alone_is_an_output_of_a_rated_source(row: int) -> None:
    """The slow twin: the others are conditioned on, with the same weights, and estimate it."""
    state = GP._state()
    others = np.setdiff1d(np.arange(120), [row])
    alone = np.array([row])
    model = conditioned(state.data.take(others), state.near.amplitudes)
    y, variance = estimated(
        state.data.take(others), model, state.data.inputs.take(alone)
    )
    error = GP.rated.human[row] - (state.data.offset + state.data.unit * y[0])
    assert GP.residuals().alone[row] == pytest.approx(error, abs=1e-6)
    ratio = error / state.data.unit / np.sqrt(variance[0])
    assert state.standardized.alone[row] == pytest.approx(ratio, abs=1e-6)


@settings(max_examples=4)
@given(st.integers(0, SOURCES - 1))
def test_texts_left_out_with_their_source_are_outputs_of_a_new_one(number: int) -> None:
    """The slow twin of the other errors; weights are those of new sources."""
    state = GP._state()
    inside = numbered(GP.rated.sources, 120) == number
    others = state.data.take(np.flatnonzero(~inside))
    model = conditioned(others, state.model.amplitudes)
    y, _ = estimated(others, model, state.data.inputs.take(np.flatnonzero(inside)))
    errors = GP.rated.human[inside] - (state.data.offset + state.data.unit * y)
    assert_allclose(GP.residuals().values[inside], errors, atol=1e-6)


def test_each_output_has_the_model_of_its_kind() -> None:
    """Rated and new sources in one call are as in two, whatever their order and the threads."""
    new = as_outputs(corrections(seed=1).take([3, 50, 77]))
    new = replace(new, ids=("a", "b", "c"), sources=("what is new",) * 3)
    rated = as_outputs(POOL.take([5, 9, 100]))
    both = Outputs(
        ids=(*rated.ids, *new.ids),
        texts=(*rated.texts, *new.texts),
        sources=(*rated.sources, *new.sources),
    )
    together = GP.estimate(both)
    for part, rows in ((rated, [0, 1, 2]), (new, [3, 4, 5])):
        apart = GP.estimate(part)
        assert_allclose(apart.values, together.values[rows], rtol=0, atol=1e-12)
        assert_allclose(apart.high, together.high[rows], rtol=0, atol=1e-12)
    order = [4, 0, 5, 2, 1, 3]
    shuffled = GP.estimate(both.take(order))
    assert_array_equal(shuffled.values, together.values[order])
    mixed = POOL.take(np.random.default_rng(0).permutation(len(POOL)))
    again = GaussianProcess(threads=1).fit(mixed).estimate(both)
    assert_array_equal(again.values, together.values)
    widths = together.high - together.low
    assert widths[:3].max() < widths[3:].min()  # the others of the source tell
    explained = GP.explain(both.take([0]))
    assert explained.estimate == pytest.approx(together.values[0])


def test_held_out_texts_are_weighed_as_what_is_held_out() -> None:
    """Alone, the others of the source tell; with the source, they do not: as `residuals` says."""
    groups = numbered(POOL.sources, len(POOL))
    alone, apart = (
        GaussianProcess().held_out(POOL, held).values for held in (None, groups)
    )
    order = [POOL.ids.index(name) for name in GP.rated.ids]
    errors = GP.residuals()
    assert np.corrcoef(GP.rated.human - alone[order], errors.alone)[0, 1] > 0.95
    assert np.corrcoef(GP.rated.human - apart[order], errors.values)[0, 1] > 0.95
    assert np.square(errors.alone).mean() < np.square(errors.values).mean()


def test_weights_leave_out_what_belongs_together() -> None:
    """Sources, else items, else single texts; what the user names goes first."""
    data = GP._state().data
    rated = data.rated
    by_source, alone = weight_ways(data, rated.sources)
    assert by_source.tolist() == numbered(rated.sources, 120).tolist()
    assert alone.tolist() == list(range(120))
    days = tuple(f"day {i % 7}" for i in range(120))
    assert [way.tolist() for way in weight_ways(data, days)] == [
        numbered(days, 120).tolist()
    ]
    bare = replace(rated, sources=())
    items = GaussianProcess().fit(replace(bare, items=rated.sources))
    assert items.residuals().sources == items.rated.items
    assert len(GaussianProcess().fit(bare).residuals().alone) == 0


def test_what_belongs_together_is_decided_in_one_place() -> None:
    """Groups, else what items and sources connect; blanks belong with equal texts."""
    texts = Outputs(ids=("a", "b", "c"), texts=("x", "x", "y"))
    assert (unit_name(texts), units_of(texts)) == ("text", ())
    items = replace(texts, items=("1", "1", ""))
    assert (unit_name(items), units_of(items)) == ("item", ("1", "1", ""))
    assert units_or_texts(items, items) == ("1", "1", "\0y")
    both = replace(items, items=("1", "2", "3"), sources=("p", "q", "q"))
    assert (unit_name(both), units_of(both)) == ("source", ("p", "q", "q"))
    dialogues = replace(items, items=("1", "1", "2"), sources=("p", "q", "r"))
    assert (unit_name(dialogues), units_of(dialogues)) == ("item", ("1", "1", "2"))
    constant = replace(items, sources=("p", "p", "p"))
    assert unit_name(constant) == "item"
    assert units_of(both, ("g", "g", "h")) == ("g", "g", "h")
    assert units_of(texts, like=both) == ()
    assert units_or_texts(texts, both) == ("\0x", "\0x", "\0y")


def test_a_saved_estimator_has_both_weights(tmp_path: Path) -> None:
    """Estimates of outputs on rated and on new sources are the same, digit for digit."""
    path = tmp_path / "gp.safetensors"
    outputs = as_outputs(simulate(20, seed=2).pool)
    outputs = replace(outputs, sources=(*POOL.sources[:10], *outputs.sources[10:]))
    save(GP, path)
    assert_array_equal(load(path).estimate(outputs).values, GP.predict(outputs))
    days = [f"day {i % 7}" for i in range(120)]
    grouped = GaussianProcess().fit(POOL, groups=days)
    assert grouped.signature().get("groups") != ""
    save(grouped, path)
    assert_array_equal(load(path).predict(outputs), grouped.predict(outputs))


def test_validate_tells_rated_sources_from_new_ones() -> None:
    """Nothing of texts that are alone on their sources; of new ones what the leaderboard says."""
    gp = GaussianProcess()

    def cross_validate(pool: RatedPool):  # type: ignore[no-untyped-def]
        return lambda groups, blocks: gp.cross_validated(pool, groups, blocks)[1]

    study = source_study(POOL, cross_validate(POOL))
    assert study is not None
    assert (study.unit, study.n_units) == ("source", SOURCES)
    assert (study.rated.n, study.new.n) == (120, 120)
    assert study.rated.r2 > study.new.r2
    assert (
        study.rated.spearman_interval[0]
        < study.rated.spearman
        < study.rated.spearman_interval[1]
    )
    groups = numbered(POOL.sources, 120)
    parts = split(POOL, groups)
    crossed = cross_validate(POOL)(groups, parts.blocks)
    flat = baselines(POOL, groups, parts.blocks)["constant"]
    rivals = {"constant": replicates(flat, parts)}
    table = against({"gp": replicates(crossed, parts)}, {}, rivals, "gp")
    assert (study.new.r2, study.new.r2_interval) == table.spared
    alone = replace(POOL, sources=POOL.texts)
    assert source_study(alone, cross_validate(alone)) is None
    few = POOL.take(np.arange(50))
    assert source_study(few, cross_validate(few)) is None
