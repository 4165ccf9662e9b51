"""Systems as an input of the Gaussian process: what all texts of one have in common."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from benchmarks.simulate import simulate
from numpy.testing import assert_array_equal

import refless
from refless import GaussianProcess
from refless.data.human import pool_of
from refless.data.records import Outputs, RatedPool, as_outputs
from refless.estimators.gp.features import inputs_of
from refless.estimators.gp.kernels import learned
from refless.extensions.connect.hosts import judged
from refless.stats.correlation import spearman
from refusals import bad_usage
from rows import columns_of, only, without

SYSTEMS = ("plain", "bold", "odd")
WORTH = {"plain": 0.0, "bold": 0.3, "odd": -0.3}  # whatever the words are


def rated(n: int, seed: int = 0) -> RatedPool:
    """Simulated texts whose systems are dealt at random and count beside the words."""
    pool = simulate(n, seed=seed).pool
    systems = tuple(np.random.default_rng(seed).choice(SYSTEMS, n).tolist())
    human = pool.human + np.array([WORTH[name] for name in systems])
    return pool_of(pool.texts, human.tolist(), sources=pool.sources, systems=systems)


def lines(n: int) -> list[dict[str, object]]:
    """The same as rows."""
    pool = rated(n)
    columns = zip(pool.texts, pool.sources, pool.systems, pool.human, strict=True)
    names = ("text", "source", "system", "rating")
    return [
        {"id": str(i), **dict(zip(names, row, strict=True))}
        for i, row in enumerate(columns)
    ]


def named(outputs: Outputs, name: str) -> Outputs:
    """All of one system."""
    return replace(outputs, systems=(name,) * len(outputs))


def test_the_kernel_by_hand() -> None:
    """1 where two names are one, 0 elsewhere; a text of no name is like its own copies."""
    inputs = inputs_of(list("abcdd"), systems=["x", "y", "x", "", ""])
    kernel = learned("system", inputs)[0]
    points = kernel.points(inputs)
    wanted = np.zeros((5, 5))
    for group in ([0, 2], [1], [3, 4]):
        wanted[np.ix_(group, group)] = 1
    assert_array_equal(kernel.between(points, points), wanted)
    assert_array_equal(kernel.diagonal(points), 1.0)


def test_known_systems_bring_what_they_are_worth() -> None:
    """On fresh texts: nearer to people, surer, and the intervals hold."""
    pool = rated(150)
    fresh = rated(100, seed=5)
    outputs = as_outputs(fresh)
    plain, found = (
        GaussianProcess(use_system=on).fit(pool).estimate(outputs)
        for on in (False, True)
    )
    gain = spearman(fresh.human, found.values) - spearman(fresh.human, plain.values)
    assert gain > 0.2
    assert found.sd.mean() < 0.8 * plain.sd.mean()
    assert ((found.low <= fresh.human) & (fresh.human <= found.high)).mean() > 0.88


def test_a_new_name_is_a_new_system() -> None:
    """Its own worth is not known: nothing is added, and the estimate is less sure."""
    gp = GaussianProcess(use_system=True).fit(rated(120))
    outputs = as_outputs(simulate(9, seed=3).pool)
    new, blank, known = (
        gp.estimate(named(outputs, name)) for name in ("newest", "", "bold")
    )
    assert_array_equal(new.values, blank.values)
    assert (known.values > new.values + 0.1).all()
    assert (known.sd < new.sd).all()
    middle = [gp.estimate(named(outputs, name)).values for name in SYSTEMS]
    np.testing.assert_allclose(np.mean(middle, axis=0), new.values, atol=0.05)


def test_the_same_words_by_two_systems() -> None:
    """Have two estimates; which is said in the evidence."""
    gp = GaussianProcess(use_system=True).fit(rated(120))
    text = ("The Copper Kettle serves simple food.",) * 2
    outputs = Outputs(
        ids=("1", "2"), texts=text, sources=("food",) * 2, systems=("bold", "odd")
    )
    values = gp.estimate(outputs).values
    assert values[0] > values[1] + 0.3
    explained = [gp.explain(outputs.take([i])).parts for i in (0, 1)]
    parts = [dict(map(attrgetter("name", "addition"), part)) for part in explained]
    assert parts[0]["the system"] > 0.1 > -0.1 > parts[1]["the system"]
    rest = [sum(part.values()) - part["the system"] for part in parts]
    assert rest[0] == pytest.approx(rest[1], abs=1e-12)


def test_it_reads_no_systems_unless_asked() -> None:
    """Nor where there is only one; the signature says so."""
    pool = rated(40)
    plain = GaussianProcess().held_out(pool).values
    bare = replace(pool, systems=())
    assert_array_equal(plain, GaussianProcess().held_out(bare).values)
    asked = GaussianProcess(use_system=True)
    assert_array_equal(plain, asked.held_out(replace(pool, systems=("a",) * 40)).values)
    assert "system" not in str(GaussianProcess().signature(pool))
    assert asked.signature().get("system") == "yes"
    assert str(asked.signature(pool).get("k")).endswith(",system")


def test_outputs_need_systems_too() -> None:
    """Otherwise all would be taken for new ones, in silence."""
    gp = GaussianProcess(use_system=True).fit(rated(40))
    with bad_usage(r"the outputs have none.*gp:use_system=no"):
        gp.estimate(replace(as_outputs(simulate(5).pool), systems=()))


def test_everything_that_reads_texts_reads_their_systems(tmp_path: Path) -> None:
    """Frames, `explain` by an id and by a text, `next`, `stress`, tools' hosts."""
    rows = [
        {**row, "rating": None if i >= 50 else row["rating"]}
        for i, row in enumerate(lines(60))
    ]
    spec = "gp:use_system=yes"
    frame = columns_of(only(rows[:50], "text", "source", "system"))
    gp = GaussianProcess(use_system=True).fit(
        frame, [row["rating"] for row in rows[:50]]
    )
    new = columns_of(only(rows[50:], *frame))
    known = gp.predict(new)
    unknown = gp.predict({**new, "system": [""] * 10})
    assert np.abs(known - unknown).max() > 0.1
    rated = rows[:50]
    outputs = rows[50:]
    for asked in ({"id": "3"}, {"id": "55", "outputs": outputs}):
        found = refless.explain(rated=rated, estimator=spec, **asked)
        assert "the system" in {part.name for part in found.explanation.parts}
    refless.explain("Simple food.", rated=rated, estimator=spec, source="food")
    refless.next(outputs, rated=rated, estimator=spec, goal="learn", n=3)
    bare = without(outputs, "system")
    with bad_usage("the outputs have none"):
        refless.next(bare, rated=rated, estimator=spec, goal="learn", n=3)
    refless.fit(rated, to=tmp_path / "m.safetensors", estimator=spec)
    assert judged(tmp_path / "m.safetensors", "Simple food.", "food").low < 1


def test_held_out_systems_are_new_ones(tmp_path: object) -> None:
    """A text held out with its system has the estimate of an unknown name; so after saving."""
    pool = rated(60)
    numbers = np.array([SYSTEMS.index(name) for name in pool.systems])
    gp = GaussianProcess(use_system=True, folds=3)
    found = gp.held_out(pool, numbers)
    alone = gp.held_out(pool)
    error = [np.abs(one.values - pool.human).mean() for one in (alone, found)]
    assert error[0] < error[1]
    for one in SYSTEMS:
        rows = [i for i, name in enumerate(pool.systems) if name == one]
        rest = [i for i in range(60) if i not in rows]
        fitted = gp.clone().fit(pool.take(rest))
        refless.save(fitted, f"{tmp_path}/{one}.safetensors")
        outputs = as_outputs(pool.take(rows))
        values = refless.load(f"{tmp_path}/{one}.safetensors").estimate(outputs).values
        assert_array_equal(values, fitted.estimate(outputs).values)
        assert_array_equal(values, fitted.estimate(named(outputs, "new")).values)
