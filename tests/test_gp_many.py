"""The GP of so many rated texts that not all of them is kept: what may not matter, does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import refless
from refless import GaussianProcess
from refless.data.records import as_outputs
from refless.data.simulate import simulate
from refless.estimators.gp import data, inducing, model
from refless.estimators.gp.model import drawn
from refless.estimators.gp.tfidf import Bag

POOL = simulate(90, seed=11).pool
NEW = as_outputs(simulate(12, seed=12).pool)
COLUMNS = ("values", "low", "high", "sd")


def few() -> GaussianProcess:
    """Of more than 20 texts through inducing points."""
    return GaussianProcess(exact_up_to=20, inducing=15, tune_on=30, threads=2)


def test_what_is_found_again_is_what_was_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Features that are kept, and those that are found again: the same of everything."""
    kept, again = few().fit(POOL), few()
    held = kept.held_out(POOL)
    monkeypatch.setattr(inducing, "NUMBERS", 0)
    again.fit(POOL)
    assert again._state().model.posterior.kept is None
    other = again.held_out(POOL)
    for name in COLUMNS:
        mine, wanted = (getattr(gp.estimate(NEW), name) for gp in (again, kept))
        np.testing.assert_allclose(mine, wanted, atol=1e-9)
        np.testing.assert_allclose(getattr(other, name), getattr(held, name), atol=1e-9)
    both = [gp.explain(NEW.take([0])).neighbors for gp in (kept, again)]
    shares, others = ({one.id: one.share for one in near} for near in both)
    assert others == pytest.approx(shares, abs=1e-9)
    assert sum(others.values()) == pytest.approx(1.0)


def test_of_many_texts_some_say_how_frequent_words_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """A drawn part, whose words alone have places; points are found where they are wanted."""
    monkeypatch.setattr(data, "KEPT", 40)
    found = few().fit(POOL)._state().data
    assert found.points is None
    usual = data.usual(found.inputs)
    assert len(usual) == len({*zip(usual.texts, usual.sources, strict=True)}) == 40
    bag = found.components["words"]
    assert isinstance(bag, Bag)
    assert bag.unknown == pytest.approx(1 + np.log(41 / 2))
    assert [*bag.known] == [*Bag.of(bag.read, usual).known]
    rows = np.array([3, 70, 8])
    points = found.at(rows)
    assert [*points] == [*found.components]
    wanted = bag.points(found.inputs.take(rows))
    np.testing.assert_array_equal(points["words"].toarray(), wanted.toarray())
    assert [*found.at(rows, ["trend"])] == ["trend"]


@pytest.mark.parametrize("numbers", [0, 10**9])
def test_many_texts_in_a_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, numbers: int
) -> None:
    """How rare words are and no points; the same digits and the same evidence."""
    monkeypatch.setattr(data, "KEPT", 40)
    monkeypatch.setattr(inducing, "NUMBERS", numbers)
    fitted = few().fit(POOL)
    refless.save(fitted, tmp_path)
    names = {path.stem for path in tmp_path.glob("data-*/*.npy")}
    assert ("posterior.phi" in names) == (numbers > 0)
    assert "words.idf" in names
    assert "words.values" not in names
    read = refless.load(tmp_path)
    for name in COLUMNS:
        mine, wanted = (getattr(gp.estimate(NEW), name) for gp in (read, fitted))
        np.testing.assert_array_equal(mine, wanted)
    assert repr(read.explain(NEW.take([0]))) == repr(fitted.explain(NEW.take([0])))


def test_errors_are_measured_on_some(monkeypatch: pytest.MonkeyPatch) -> None:
    """On whole groups, and there they are what they are on all."""
    every = few().fit(POOL)
    monkeypatch.setattr(model, "HELD_OUT", 30)
    monkeypatch.setattr(model, "AT_LEAST", 10)
    some = few().fit(POOL)
    known = ~np.isnan(some._state().left["values"][0])
    assert 20 < known.sum() <= 30
    for way, both in some._state().left.items():
        for mine, other in zip(both, every._state().left[way], strict=True):
            assert (np.isnan(mine) == ~known).all()
            np.testing.assert_allclose(mine[known], other[known], atol=1e-12)
    sources = np.array(every.rated.sources)
    assert not {*sources[known]} & {*sources[~known]}
    assert len(some.residuals()) == known.sum()


@settings(max_examples=50)
@given(st.lists(st.integers(0, 20), min_size=1, max_size=60), st.integers(5, 40), st.integers(1, 4))
def test_what_is_drawn(groups: list[int], most: int, least: int) -> None:
    """Never more than asked for, each row once, small groups whole and equal parts of others."""
    labels = np.array(groups)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "AT_LEAST", least)
        rows = drawn(labels, most, np.random.default_rng(0))
    assert 0 < len({*rows.tolist()}) == len(rows) <= most
    part = max(least, most // len({*groups}))
    sizes, taken = np.bincount(labels), np.bincount(labels[rows], minlength=labels.max() + 1)
    if len(groups) <= most:
        assert len(rows) == len(groups)
    else:
        assert all(taken[group] in {0, min(sizes[group], part)} for group in groups)


def test_few_large_groups_all_have_a_part() -> None:
    """Two prompts with 5,000 answers each: 500 of each are judged, not all of none."""
    rows = drawn(np.arange(10_000) % 2, 1_000, np.random.default_rng(0))
    assert np.bincount(rows % 2).tolist() == [500, 500]
