"""The process in tables says what the process says: its slow twin is `Exact.predict`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from benchmarks.simulate import simulate
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import random_array

from refless.data.records import as_outputs
from refless.estimators.gp import GaussianProcess, compiled, stored
from refless.estimators.gp.all_ratings import PosteriorMean
from refless.estimators.gp.compiled import Compiled, Solved
from refless.estimators.gp.features import FeatureTable, KernelInputs, inputs_of
from refless.estimators.gp.kernels import (
    MEANING,
    SOURCE,
    SOURCE_MEANING,
    SYSTEM,
    TEXT,
    Covariance,
    learned,
    score_kernels,
)
from refless.estimators.saved import load, save
from refless.registry.arrays import FloatArray
from refless.stats.correlation import spearman
from refless.stats.posterior import exact
from tiny_encoder import letters

SCORES = ("a", "b")
NAMES = (*TEXT, *SOURCE, *MEANING, *SOURCE_MEANING, *SYSTEM, *score_kernels(SCORES))
WORDS = st.sampled_from(
    [
        "fox",
        "Fox",
        "the",
        "is",
        "foxes",
        "42",
        "?",
        ".",
        "é",
        "語",
    ]
)
SENTENCE = st.lists(WORDS, max_size=9).map(" ".join) | st.text(max_size=6)
ROW = st.tuples(SENTENCE, SENTENCE, st.sampled_from("xyz"), st.integers(-3, 3))
RATED = 260  # more than have a direction each
POOL = simulate(RATED + 150, seed=4).pool


def inputs_from(rows: Sequence[tuple[str, str, str, int]]) -> KernelInputs:
    """Texts with sources, systems, two scores and vectors."""
    numbers = [float(row[3]) for row in rows]
    return inputs_of(
        [row[0] for row in rows],
        [row[1] for row in rows],
        systems=[row[2] for row in rows],
        encode=letters,
        scores=np.column_stack([numbers, numbers[::-1]]),
        score_names=SCORES,
    )


ALIKE = [("", "fox fox fox Fox", "x", 0)]  # its vector is a little longer than 1


@pytest.mark.parametrize(
    ("precision", "near"), [(np.float64, 1e-9), (np.float32, 1e-6)]
)
@settings(max_examples=30)
@given(
    rated=st.lists(ROW, min_size=1, max_size=9),
    new=st.lists(ROW, min_size=1, max_size=5),
    seed=st.integers(0, 99),
)
@example(rated=ALIKE, new=ALIKE, seed=4)
def test_tables_of_all_kernels_are_the_process(
    rated: list[tuple[str, str, str, int]],
    new: list[tuple[str, str, str, int]],
    seed: int,
    precision: type,
    near: float,
) -> None:
    """Means and variances of any texts, with any weights, from a direction a rated text."""
    rng = np.random.default_rng(seed)
    inputs = inputs_from(rated)
    kernels = {}
    points = {}
    for name in NAMES:
        kernels[name], points[name] = learned(name, inputs)
    n = len(rated)
    weights = rng.exponential(0.2, len(NAMES)) * rng.integers(0, 2, len(NAMES))
    covariance = Covariance.of(
        kernels,
        weights,
        points,
        n,
    )
    posterior = exact(
        covariance.between(points, n), np.full(n, 0.5), rng.normal(size=n)
    )
    outputs = covariance.points(inputs_from(new))
    prior = covariance.diagonal(outputs, len(new))
    average = PosteriorMean.of(posterior)
    solved = Solved.of(covariance, points, posterior, np.arange(n), average)
    with patch.object(compiled, "PRECISION", precision):
        tables = Compiled.of(covariance, solved, points, points)
    means, variances = tables.predict(outputs, prior)
    wanted = posterior.predict(covariance.between(outputs, len(new)), prior)
    assert_allclose(means, wanted[0], rtol=near, atol=near)
    assert_allclose(variances, np.maximum(wanted[1], 0.0), rtol=near, atol=near)


@cache
def fitted() -> GaussianProcess:
    """The process of more rated texts than have a direction each."""
    return GaussianProcess(threads=1).fit(POOL.take(np.arange(RATED)))


def exactly(gp: GaussianProcess) -> tuple[FloatArray, FloatArray]:
    """Means and variances of the new texts' ratings by the slow twin, in units of y."""
    state = gp._state()
    inputs = state.data.inputs_of(NEW)
    means = np.empty(len(inputs))
    variances = np.empty(len(inputs))
    for model, rows in state.parts(inputs):
        n = len(rows)
        points = model.covariance.points(inputs.take(rows))
        prior = model.covariance.diagonal(points, n)
        cross = model.covariance.between(points, n)
        means[rows], left = model.posterior.predict(cross, prior)
        nugget = model.amplitudes.nugget + float(np.median(state.data.noise))
        variances[rows] = left + nugget
    return means, variances


NEW = as_outputs(POOL.take(np.arange(RATED, RATED + 150)))


@given(seed=st.integers(0, 999), texts=st.integers(1, 4))
def test_rows_that_are_asked_for_are_those_of_the_whole_table(
    seed: int, texts: int
) -> None:
    """To the last bit, whether they are made each time or once for all."""
    rng = np.random.default_rng(seed)
    rated = random_array((5, 12), density=0.4, rng=rng, format="csr")
    outputs = random_array((texts, 12), density=0.3, rng=rng, format="csr")
    columns = rng.normal(size=(5, 3))
    first = rng.normal(size=12)
    table = FeatureTable(rated, columns, first)
    asked = [table.times(outputs).tobytes() for _ in range(14)]
    assert len({*asked}) == 1
    whole = rated.toarray().T @ columns
    whole[:, 0] = first
    product = np.frombuffer(asked[0]).reshape(texts, 3)
    np.testing.assert_allclose(product, outputs.toarray() @ whole, atol=1e-12)


def test_few_directions_stand_for_many() -> None:
    """Means to 1e-5; deviations within a few per cent, but for texts much like a rated one."""
    gp = fitted()
    assert RATED > 2 * compiled.DIRECTIONS
    means, variances = exactly(gp)
    found = gp.estimate(NEW)
    data = gp._state().data
    values = np.clip(data.offset + data.unit * means, 0, 1)
    sd = data.unit * np.sqrt(variances)
    assert_allclose(found.values, values, atol=1e-5)
    assert_allclose(found.sd, sd, rtol=0.25)
    assert np.quantile(np.abs(found.sd / sd - 1.0), 0.8) < 0.05


def test_what_remains_is_that_of_outputs_left_out() -> None:
    """On average, directions and what remains explain as much as all ratings do."""
    gp = fitted()
    _, variances = exactly(gp)
    sd = gp.estimate(NEW).sd / gp._state().data.unit
    assert np.mean(sd**2) == pytest.approx(np.mean(variances), rel=0.03)


def test_estimates_are_of_each_text_alone() -> None:
    """A text has the estimate that it has among others, whatever its place."""
    gp = fitted()
    every = gp.estimate(NEW)
    for rows in ([3], [140, 7], [*range(149, 60, -1)]):
        part = gp.estimate(NEW.take(rows))
        assert_allclose(part.values, every.values[rows], rtol=0, atol=1e-12)
        assert_allclose(part.sd, every.sd[rows], rtol=0, atol=1e-12)


def compact(few: int) -> GaussianProcess:
    """The process of the rated texts, where so few of them stand for all."""
    gp = GaussianProcess(threads=1, compact=True)
    with patch.object(compiled, "COMPACT", few):
        gp.fit(POOL.take(np.arange(RATED)))
        gp.estimate(NEW)  # its tables are made
    return gp


def test_few_texts_stand_for_all_by_least_squares() -> None:
    """Their weights are those of numpy's least squares, with the ridge as further rows."""
    gp = compact(60)
    state = gp._state()
    model = state.parts(state.data.inputs_of(NEW))[0][0]
    solved = model.solved
    others = model.kinds[1]
    every = others.between(model.data.at(np.arange(RATED)), RATED)
    with patch.object(compiled, "COMPACT", 60):
        few = solved.beside
    beside = every[:, few]
    penalty = compiled.RIDGE * (beside[few] + np.eye(60))
    left = np.vstack([beside, np.linalg.cholesky(penalty).T])
    weights = np.column_stack([solved.average.beta, solved.ones, solved.directions])
    right = np.vstack([every @ weights, np.zeros((60, weights.shape[1]))])
    wanted = np.linalg.lstsq(left, right)[0]
    assert len(np.unique(few)) == 60
    assert_allclose(solved.compact, wanted, atol=1e-6)


def test_compact_estimates_come_near_those_of_all() -> None:
    """60 of 260 texts give nearly the same order, and deviations; all give the same."""
    wanted = fitted().estimate(NEW)
    assert_array_equal(compact(RATED).estimate(NEW).values, wanted.values)
    found = compact(60).estimate(NEW)
    assert spearman(found.values, wanted.values) > 0.98
    assert np.quantile(np.abs(found.sd / wanted.sd - 1.0), 0.8) < 0.05


def test_texts_that_stand_for_all_are_saved(tmp_path: Path) -> None:
    """Estimates out of the file are the same to the last bit."""
    gp = compact(60)
    wanted = gp.estimate(NEW)
    with patch.object(compiled, "COMPACT", 60), patch.object(stored, "COMPACT", 60):
        save(gp, tmp_path / "gp.safetensors")
        found = load(tmp_path / "gp.safetensors").estimate(NEW)
    assert_array_equal(found.values, wanted.values)
    assert_array_equal(found.sd, wanted.sd)


@given(
    exponents=arrays(
        np.float32,
        35,
        elements=st.floats(-120, 0.5, width=32),
    ),
    highest=st.floats(-8, 0, width=32),
)
def test_bells_are_exponentials(exponents: FloatArray, highest: float) -> None:
    """In single precision; NumPy's in double precision are the twin."""
    wanted = np.zeros(35)
    found = np.zeros(35, np.float32)
    compiled.add_bells(exponents.astype(np.float64), highest, wanted)
    compiled.add_bells(exponents, highest, found)
    assert_allclose(
        found,
        wanted,
        rtol=1e-6,
        atol=1e-7,
    )
