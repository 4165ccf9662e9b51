"""Ratings that arrive after a fit: as if all had been there, with the amplitudes of before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import refless
from command_line import NOUNS
from refless import GaussianProcess, pool_of
from refless.data.joining import joined
from refless.data.records import RatedPool, as_outputs
from refless.data.simulate import simulate
from refless.estimators.gp.posterior import Exact
from refless.registry.errors import UsageError

NEW = as_outputs(simulate(12, seed=22).pool)
WAYS: list[dict[str, int]] = [{}, {"exact_up_to": 20, "inducing": 15}]
SIZES = st.integers(25, 50), st.integers(1, 20), st.integers(0, 10)


def named(n: int, seed: int, first: int = 0) -> RatedPool:
    """Self-made texts, each rated by three, whose ids count on."""
    pool = simulate(n, seed=seed).pool
    return replace(pool, ids=tuple(f"t{i}" for i in range(first, first + n)), named=True)


def test_words_unknown_before_are_in_a_texts_own_variance() -> None:
    """What a new text shares with no other widens its own variance, as it does for outputs."""
    rng, words = np.random.default_rng(0), NOUNS
    rows, worth = [rng.choice(7, 4, replace=False) for _ in range(60)], rng.normal(size=7)
    texts = [" ".join(words[i] for i in row) for row in rows]
    ratings = [float(worth[row].sum()) for row in rows]
    before = GaussianProcess(threads=1).fit(pool_of(texts, ratings, ids=list(map(str, range(60)))))
    fresh = pool_of(["zyx wvu qqr plm ferry"], [1.0], ids=["new"])
    state = before.updated(fresh)._state()
    assert state.model is not None
    assert isinstance(state.model.posterior, Exact)
    data, covariance = state.data, state.model.covariance
    points = data.at(np.array([60]))
    own = float(covariance.diagonal(points, 1)[0])
    assert own > float(covariance.between(points, 1)[0, 60]) + 0.1
    row = np.tril(state.model.posterior.factor[0])[-1]
    assert float(row @ row) == pytest.approx(own + data.noise[-1] + state.model.amplitudes.nugget)


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=5, deadline=None)
@given(SIZES[0], SIZES[1], SIZES[2])
def test_it_hears_all_ratings(way: dict[str, int], n: int, more: int, again: int) -> None:
    """Exact or not, with texts that are rated once more; and twice over is as at once."""
    old, fresh = named(n, 20), named(more, 21, first=n)
    before = GaussianProcess(threads=1, tune_on=20, **way).fit(old)
    values = before.estimate(NEW).values
    both = before.updated(fresh)
    if again:
        both = both.updated(old.take(np.arange(again)))
        turned = before.updated(old.take(np.arange(again))).updated(fresh)
        np.testing.assert_allclose(
            turned.estimate(NEW).values, both.estimate(NEW).values, atol=1e-8
        )
    assert np.array_equal(before.estimate(NEW).values, values)  # it is what it was
    assert np.abs(both.estimate(NEW).values - values).max() > 1e-6
    amplitudes = [gp._state().model.amplitudes for gp in (before, both)]
    assert amplitudes[0] is amplitudes[1]
    shares = [evidence.share for evidence in both.explain(NEW.take([0])).neighbors]
    assert sum(shares) == pytest.approx(1.0)
    assert len(both.rated) == n + more == len(shares)


def test_what_stays_and_what_comes() -> None:
    """Units and the variance of a rating stay; ratings of a text are averaged; the rest is new."""
    old = named(30, 20)
    fresh = joined(old.take(np.array([29])), named(4, 21, first=30))
    before = GaussianProcess(threads=1, tune_on=20).fit(old)
    data, now = before._state().data, before.updated(fresh)._state().data
    assert (now.offset, now.unit, len(now.rated)) == (data.offset, data.unit, 34)
    place = data.rated.ids.index("t29")
    assert now.noise[place] == pytest.approx(data.noise[place] / 2)
    assert now.noise[30:] == pytest.approx(data.noise[0])
    six = now.rated.ratings.values[now.rated.ratings.text == place]
    assert len(six) == 6
    assert now.rated.human[place] == pytest.approx((six.mean() - 1) / 4)
    words = now.kernels["words"].points(now.inputs)
    np.testing.assert_array_equal(now.points["words"].toarray(), words.toarray())


def test_it_says_so_and_is_not_saved(tmp_path: Path) -> None:
    """The signature names both pools; a folder would not know which texts taught what."""
    old, fresh = named(30, 20), named(5, 21, first=30)
    before = GaussianProcess(threads=1).fit(old)
    after = before.updated(fresh)
    origin = before.signature().get("pool")
    assert after.signature().get("learned") == origin != after.signature().get("pool")
    assert after.updated(named(5, 23, first=35)).signature().get("learned") == origin
    assert after.residuals() is before.residuals()
    with pytest.raises(UsageError, match="fit them all before saving"):
        refless.save(after, tmp_path / "m.safetensors")


def test_what_cannot_be_updated() -> None:
    """Too few texts, a sub-sample, ratings of another kind, outputs without sources."""
    old = named(30, 20)
    with pytest.raises(UsageError, match="fit all ratings anew"):
        GaussianProcess().fit(old.take(np.arange(3))).updated(old)
    with pytest.raises(UsageError, match="fit all ratings anew"):
        GaussianProcess(subsample=0.5).fit(old).updated(old)
    with pytest.raises(UsageError, match="cannot be joined"):
        GaussianProcess().fit(old).updated(pool_of(["a"], [1.0]))
    with pytest.raises(UsageError, match="fit a rated pool first"):
        GaussianProcess().updated(old)
