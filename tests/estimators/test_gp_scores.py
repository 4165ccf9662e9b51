"""The GP with scores of others: their map, their kernels, what is missing, what is learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.simulate import simulate
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal

from refless.data.human import pool_of
from refless.data.records import RatedPool, as_outputs, scored
from refless.estimators.gp import GaussianProcess, data
from refless.estimators.gp.features import inputs_of
from refless.estimators.gp.kernels import WIDTH, learned, score_kernels
from refless.estimators.gp.likelihood import (
    Amplitudes,
    believed,
    blocks_of,
    fitted_amplitudes,
    shrunk_amplitudes,
)
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.signature import Signature
from refless.stats.correlation import spearman
from refless.stats.scaling import Composite, NormalRanks, Standardized
from refusals import bad_usage

NAN = float("nan")
CELL = st.one_of(st.none(), st.integers(-3, 3).map(float))
COLUMNS = st.integers(1, 3).flatmap(
    lambda k: st.lists(st.lists(CELL, min_size=k, max_size=k), min_size=1, max_size=12)
)


def judged(n: int = 90, seed: int = 1, **columns: FloatArray) -> RatedPool:
    """Simulated texts with a judge that hears the raters through noise, lower being better."""
    pool = simulate(n, seed=seed).pool
    noise = default_rng(seed).normal(size=n)
    return replace(pool, **scored({"judge": -pool.human - 0.15 * noise, **columns}))


@given(COLUMNS)
def test_kernels(rows: list[list[float | None]]) -> None:
    """Each entry by its definition, out of normal ranks and standardised scores."""
    scores = np.array(rows, dtype=np.float64)
    names = tuple("abc"[: scores.shape[1]])
    inputs = inputs_of(["x"] * len(scores), (), scores=scores, score_names=names)
    kernels = [learned(name, inputs)[0] for name in score_kernels(names)]
    points = [kernel.points(inputs) for kernel in kernels]
    found = [kernel.between(at, at) for kernel, at in zip(kernels, points, strict=True)]
    for i, column in enumerate(scores.T):
        ranked = NormalRanks.of(column[:, None]).mapped(column[:, None])[:, 0]
        assert_allclose(found[i], np.outer(ranked, ranked), atol=1e-12)
        if not np.isnan(column).any() and len({*column}) > 1:
            assert np.trace(found[i]) == pytest.approx(len(column))
    assert_allclose(
        found[-2], bells(Standardized.of(scores).mapped(scores)), atol=1e-12
    )
    mean = Composite.of(scores).mapped(scores)[:, 0]
    assert_allclose(found[-1], np.outer(mean, mean), atol=1e-12)


def bells(columns: FloatArray) -> FloatArray:
    """Pair by pair; a column that is the same everywhere tells nothing and does not count."""
    told = [column for column in columns.T if len({*column}) > 1]
    out = np.zeros((len(columns), len(columns)))
    for i, j in np.ndindex(out.shape):
        squares = [((column[i] - column[j]) / WIDTH) ** 2 for column in told]
        out[i, j] = np.exp(-0.5 * sum(squares) / max(1, len(told)))
    return out


def test_a_judge_is_heard_whichever_way_it_counts() -> None:
    """Lower is better here; on fresh texts it is worth more than what words alone tell."""
    pool = judged(150)
    rated = pool.take(np.arange(100))
    fresh = pool.take(np.arange(100, 150))
    plain = GaussianProcess(use_scores=False).fit(rated).estimate(as_outputs(fresh))
    found = GaussianProcess().fit(rated).estimate(as_outputs(fresh))
    assert (
        spearman(fresh.human, found.values) > spearman(fresh.human, plain.values) + 0.1
    )
    assert ((found.low <= fresh.human) & (fresh.human <= found.high)).mean() > 0.85
    assert (found.sd < plain.sd).mean() > 0.8


def test_signatures_name_the_scores() -> None:
    """And parse back; without scores nothing is said of them."""
    pool = judged(20, **{"a, b|c:": np.arange(20.0)})
    signed = GaussianProcess().fit(pool).signature()
    assert "score a, b|c:,score judge,scores,judges" in str(signed.get("k"))
    assert Signature.parse(str(signed)) == signed == GaussianProcess().signature(pool)
    silent = GaussianProcess(use_scores=False)
    assert "score " not in str(silent.signature(pool).get("k"))
    assert silent.signature().get("scores") == "no"
    assert GaussianProcess().signature().get("scores") is None


@pytest.mark.parametrize("most", [5_000, 25])
def test_own_ratings_do_not_move_own_estimates(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Own scores do."""
    monkeypatch.setattr(data, "MOST_INVERTED", most)
    pool = judged(40)
    gp = GaussianProcess(tune_on=30)
    before = gp.held_out(pool).values
    human = pool.human.copy()
    human[3] = 1.0 - human[3]
    ratings = replace(
        pool.ratings, values=np.where(pool.ratings.text == 3, 5.0, pool.ratings.values)
    )
    after = gp.held_out(replace(pool, human=human, ratings=ratings)).values
    assert after[3] == pytest.approx(before[3], abs=1e-12)
    assert abs(np.delete(after - before, 3)).max() > 1e-6
    scores = pool.scores.copy()
    scores[3] += 0.5
    assert abs(gp.held_out(replace(pool, scores=scores)).values - before)[3] > 0.01


def test_outputs_need_the_same_scores() -> None:
    """Named, whichever side has more; an estimator of texts alone takes either."""
    pool = judged(30)
    plain = simulate(30, seed=1).pool
    with bad_usage(r"the rated texts have scores that the outputs lack: ju"):
        GaussianProcess().fit(pool).estimate(as_outputs(plain))
    with bad_usage(r"the outputs have scores that the rated texts lack: ju"):
        GaussianProcess().fit(plain).estimate(as_outputs(pool))
    silent = GaussianProcess(use_scores=False).fit(pool)
    assert_array_equal(
        silent.predict(as_outputs(plain)), silent.predict(as_outputs(pool))
    )


def test_pools_in_python() -> None:
    """Columns by name; what is no number or of another length is refused."""
    made = pool_of(["a", "b"], [1, 2], scores={"z": [1, None], "a": np.array([0.5, 2])})
    assert made.score_names == ("a", "z")
    assert_array_equal(made.scores, [[0.5, 1.0], [2.0, NAN]])
    assert made.take(np.array([1])).scores[0, 0] == 2.0
    refused: list[tuple[dict[str, object], str]] = [
        ({"a": [1.0]}, "array of"),
        ({"a": [1.0, 2.0], "b": [1.0]}, "one length"),
        ({"a": ["good", 1.0]}, "must be numbers"),
        ({"a": [1.0, float("inf")]}, "finite"),
    ]
    for columns, message in refused:
        with bad_usage(message):
            pool_of(["a", "b"], [1, 2], scores=columns)  # type: ignore[arg-type]


def test_few_ratings_doubt_what_texts_and_scores_add_to_each_other() -> None:
    """The mean of three answers, by hand; without scores, or where they tell nothing, of one.

    That of texts and scores is a mean of three: likelihood, left out, left out without details.
    """
    rng = default_rng(4)
    points = rng.normal(size=(3, 20))
    # detail, text, score
    gaps = points[:, :, None] - points[:, None]
    kernels = np.exp(-np.square(gaps) / 2)
    y = points.sum(axis=0)
    noise = np.full(20, 0.1)
    blocks = blocks_of(np.arange(20))

    likely = fitted_amplitudes(kernels, y, noise)

    def fitted(
        columns: list[int], blocks: list[IntArray], near: Amplitudes | None = None
    ) -> FloatArray:
        answer = fitted_amplitudes(kernels[columns], y, noise, blocks, near)
        every = np.zeros(4)
        every[[*columns, 3]] = [*answer.weights, answer.nugget]
        return every

    detail = np.array([True, False, False])
    score = np.array([False, False, True])
    full = fitted([0, 1, 2], [])
    full += fitted([1, 2], blocks)
    full += fitted([0, 1, 2], blocks, likely)
    full /= 3
    beliefs = ((~score, 2 / 3), (score, 1 / 3))
    answer = shrunk_amplitudes(kernels, y, noise, detail, beliefs, blocks, likely)
    belief = np.array([2 / 9, 2 / 9, 2 / 9, 1 / 3])  # a third belongs to single texts
    wanted = full / 6 + belief * 5 / 6  # 20 / (20 + 100)
    assert_allclose([*answer.weights, answer.nugget], wanted)


def test_a_kernel_that_never_varies_is_worth_nothing_beforehand() -> None:
    """If all of a kind are such, the others have its share."""
    kernels = np.stack([np.eye(3), np.ones((3, 3)), np.ones((3, 3))])
    text = np.array([True, True, False])
    score = np.array([False, False, True])
    belief = believed(kernels, ((text, 2 / 3), (score, 1 / 3)))
    assert_allclose([*belief.weights, belief.nugget], [2 / 3, 0.0, 0.0, 1 / 3])
    nothing = believed(kernels[1:], ((text[1:], 2 / 3), (score[1:], 1 / 3)))
    assert_array_equal(nothing.weights, 0.0)


def test_what_misleads_about_other_sources_is_not_believed() -> None:
    """Near copies share a rating, which the likelihood pays for; other sources contradict it."""
    sources = np.repeat(np.arange(10), 4)
    y = np.where(sources % 2, 1.0, -1.0)
    near = (
        np.abs(sources[:, None] // 2 - sources // 2) < 1
    )  # pairs of sources, rated otherwise
    alike = np.where(near, 0.8, 0.0)
    alike[sources[:, None] == sources] = 1.0
    kernels = np.stack([alike, np.eye(40)])
    noise = np.full(40, 0.01)
    blocks = blocks_of(sources)
    likely = fitted_amplitudes(kernels, y, noise)
    assert likely.weights[0] > 0.5
    no = np.zeros(2, dtype=np.bool_)
    fitted = shrunk_amplitudes(kernels, y, noise, no, (), blocks, likely)
    left_out = fitted_amplitudes(kernels, y, noise, blocks, likely)
    assert_allclose(fitted.weights, left_out.weights * 40 / 140)
    assert left_out.weights[0] < 0.01
