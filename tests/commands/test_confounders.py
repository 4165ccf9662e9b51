"""The confounders of a correlation."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng

from records import estimated, fixed, split_of
from refless.commands.validate.confounders import Confounders, cells, confounders
from refless.commands.validate.findings import confounder_lines, confounder_sections
from refless.data.records import RatedPool, Ratings
from refless.evaluation.groups import label_means
from refless.registry.arrays import FloatArray, IntArray

RUNS = 40
NOUNS = (
    "ferry",
    "choir",
    "museum",
    "bridge",
    "school",
    "tower",
    "garden",
    "bakery",
    "river",
)


def pool_of(
    human: FloatArray,
    *,
    systems: IntArray | None = None,
    lengths: IntArray | None = None,
    seed: int = 0,
) -> RatedPool:
    """Texts of random words."""
    rng = default_rng(seed)
    n = len(human)
    sizes = np.full(n, 12) if lengths is None else lengths
    texts = [
        " ".join([str(i), *rng.choice(NOUNS, size)]) for i, size in enumerate(sizes)
    ]
    return RatedPool(
        ids=tuple(f"t{i:03}" for i in range(n)),
        texts=texts,
        systems=() if systems is None else tuple(f"m{i}" for i in systems),
        human=human,
        ratings=Ratings(
            text=np.arange(n), annotator=np.zeros(n, dtype=np.int64), values=human
        ),
        named=True,
    )


def test_label_means_are_those_of_the_others() -> None:
    """The mean of a label outside a text's group; nothing where there is no other."""
    human = np.array([1.0, 2.0, 4.0, 9.0])
    found = label_means(human, np.array([0, 0, 0, 1]), np.array([0, 0, 1, 2]))
    np.testing.assert_allclose(found, [4.0, 4.0, 1.5, np.nan])


def test_partial_correlation_is_that_of_residuals() -> None:
    """In one fold of many rows, the partial rank correlation of ranks is that of residuals."""
    rng = default_rng(0)
    n = 600
    lengths = rng.integers(6, 60, n)
    human = np.log(lengths) + rng.normal(size=n)
    values = np.log(lengths) + human + rng.normal(size=n)
    one = estimated(
        replace(split_of(human), blocks=np.zeros(n, dtype=np.int64)), values
    )
    pool = pool_of(human, lengths=lengths)
    ranks = [
        np.argsort(np.argsort(c)) * 1.0
        for c in (human, values, [len(t) for t in pool.texts])
    ]
    line = np.stack([np.ones(n), ranks[2]], axis=1)
    left = [r - line @ np.linalg.lstsq(line, r, rcond=None)[0] for r in ranks[:2]]
    expected = np.corrcoef(*left)[0, 1]
    assert confounders(pool, one).within["length"].value == pytest.approx(
        expected, abs=0.02
    )


def test_within_systems_is_within_cells() -> None:
    """A cell is a fold and a system; within it, systems' means do nothing."""
    rng = default_rng(0)
    systems = rng.integers(0, 4, 200)
    human = rng.normal(size=200)
    values = rng.normal(size=200)
    one = fixed(human, values)
    labels = [f"m{i}" for i in systems]
    assert len(np.unique(cells(one.split, labels))) == 20
    left = confounders(pool_of(human, systems=systems), one).within["system"]
    for shift in (10.0 * systems, -systems * 3.0):
        shifted = confounders(
            pool_of(human + shift, systems=systems),
            fixed(human + shift, values + shift),
        )
        assert shifted.within["system"].value == pytest.approx(left.value, abs=1e-12)


def test_two_texts_of_a_source_say_nothing() -> None:
    """Spearman takes three: without them there is no such line."""
    human = np.arange(60.0)
    pool = replace(pool_of(human), sources=tuple(f"s{i // 2}" for i in range(60)))
    assert "source" not in confounders(pool, fixed(human, human)).within


Made = Callable[[np.random.Generator], Confounders]


def unmade(rng: np.random.Generator) -> Confounders:
    """Estimates that know the texts and neither systems nor lengths."""
    n = 120
    human = rng.normal(size=n)
    pool = pool_of(
        human, systems=rng.integers(0, 4, n), lengths=rng.integers(8, 30, n), seed=7
    )
    return confounders(pool, fixed(human, human + 1.5 * rng.normal(size=n)))


def of_systems(rng: np.random.Generator) -> Confounders:
    """Estimates that know the systems alone."""
    systems = rng.integers(0, 4, 400)
    human = systems + rng.normal(size=400)
    values = systems + 0.1 * rng.normal(size=400)
    return confounders(pool_of(human, systems=systems), fixed(human, values))


def of_lengths(rng: np.random.Generator) -> Confounders:
    """Estimates that know the lengths alone."""
    lengths = rng.integers(8, 60, 400)
    human = lengths + 15 * rng.normal(size=400)
    values = lengths + 8 * rng.normal(size=400)
    return confounders(pool_of(human, lengths=lengths), fixed(human, values))


def test_null_says_nothing() -> None:
    """If the correlation is of the texts, each sentence is said in at most 5 % of pools."""
    pools = [unmade(default_rng(seed)) for seed in range(RUNS)]
    said = ["\n".join(confounder_lines(pool)) for pool in pools]
    for what in ("which system", "how long"):
        assert sum(what in lines for lines in said) <= 0.05 * RUNS


@pytest.mark.parametrize(
    ("made", "line"),
    [
        (
            of_systems,
            "A part of the correlation ({}) is which system wrote the text: within",
        ),
        (
            of_lengths,
            "A part of the correlation ({}) is how long the text is: given length it is",
        ),
    ],
    ids=["systems", "lengths"],
)
def test_what_is_there_is_said(made: Made, line: str) -> None:
    """Estimates that know one thing alone are found out."""
    found = made(default_rng(1))
    start = line.format(f"{found.whole:.3f}")
    assert any(said.startswith(start) for said in confounder_lines(found)), (
        confounder_lines(found)
    )
    (section,) = confounder_sections(found)
    assert any(said.startswith(start) for said in section.lines)
