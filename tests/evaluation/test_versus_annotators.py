"""An estimator beside annotators on equal terms: a slow twin, and judges who are annotators."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.random import default_rng

from records import fixed
from refless.data.human import pool_of
from refless.data.records import RatedPool
from refless.evaluation.annotators import VersusAnnotators, versus_annotators
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.correlation import spearman
from refless.stats.within_group import positions


def pool_from(table: FloatArray) -> RatedPool:
    """[texts, annotators] ratings, NaN where not rated."""
    names = [f"p{i:02}" for i in range(table.shape[1])]
    return pool_of(["x"] * len(table), table, annotators=names)


def beside(
    pool: RatedPool, values: FloatArray, groups: IntArray | None = None
) -> VersusAnnotators | None:
    return versus_annotators(pool, fixed(pool.human, values, groups))


def drawn(
    rng: np.random.Generator, n: int, people: int, each: int
) -> tuple[FloatArray, FloatArray]:
    """Ratings 1-5 of n texts by `each` of so many people, and those of one more such judge."""
    quality = rng.normal(size=n)
    table = np.clip(np.rint(3 + quality[:, None] + rng.normal(size=(n, people))), 1, 5)
    for row in table:
        row[rng.permutation(people)[each:]] = np.nan
    return table, np.clip(np.rint(3 + quality + rng.normal(size=n)), 1, 5)


def test_against_loops() -> None:
    """Each annotator on the texts that others rated too and that have an estimate."""
    rng = default_rng(0)
    table, values = drawn(rng, 60, 4, 2)
    table[0, 1:] = np.nan
    values[:5] = np.nan
    pool = pool_from(table)
    one = fixed(pool.human, values)
    found = versus_annotators(pool, one)
    assert found is not None
    places = np.full(60, np.nan)
    known = ~np.isnan(values)
    places[known] = positions(values[known], one.split.blocks[known])
    wanted = []
    for person in range(4):
        rows = [
            i
            for i in range(60)
            if not math.isnan(table[i, person] + values[i])
            and (~np.isnan(np.delete(table[i], person))).any()
        ]
        others = np.array([np.nanmean(np.delete(table[i], person)) for i in rows])
        both = table[rows, person], values[rows]
        mine = math.sqrt(12 / 10) * spearman(others, places[rows])  # 11 texts a block
        wanted.append([spearman(others, both[0]), mine])
    assert found.annotator == pytest.approx(np.mean(wanted, axis=0)[0])
    assert found.estimator == pytest.approx(np.mean(wanted, axis=0)[1])
    low, high = found.difference_interval
    assert low < found.estimator - found.annotator < high


def level(seed: int, **how: int) -> VersusAnnotators:
    table, values = drawn(default_rng(seed), **how)
    found = beside(pool_from(table), values)
    assert found is not None
    return found


def test_a_judge_who_is_an_annotator_is_level() -> None:
    """With two ratings a text the rating that leaves one out is one person's: no advantage by that.

    40 runs; an interval of 95 % leaves out 0 on either side twice on average.
    """
    found = [level(seed, n=150, people=6, each=2) for seed in range(40)]
    ends = np.array([one.difference_interval for one in found])
    assert ((ends[:, 0] > 0) | (ends[:, 1] < 0)).sum() <= 6
    gaps = [one.estimator - one.annotator for one in found]
    assert (
        abs(np.mean(gaps)) < 3 * np.std(gaps) / math.sqrt(40) + 0.02
    )  # ties rank coarsely


def test_nobody_to_compare_with() -> None:
    """One annotator, or no text that two rated, or no estimate at all."""
    table = np.array([[1.0], [2.0], [3.0]])
    assert beside(pool_from(table), np.ones(3)) is None
    apart = np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, 3.0]])
    assert beside(pool_from(apart), np.ones(3)) is None
    both = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 1.0]])
    assert beside(pool_from(both), np.full(3, np.nan)) is None


def test_constant_estimates_are_undefined() -> None:
    """They rank nothing, so no difference is known."""
    rng = default_rng(1)
    table, _ = drawn(rng, 30, 3, 3)
    found = beside(pool_from(table), np.ones(30))
    assert found is not None
    assert math.isnan(found.estimator)
    assert math.isnan(found.difference_interval[0])


def test_no_difference_of_correlations_is_beyond_two() -> None:
    """Two people and six texts: the interval holds all there is on one side, and nothing else."""
    for seed in range(5):
        rng = default_rng(seed)
        found = beside(
            pool_from(rng.integers(1, 6, (6, 2)).astype(float)), rng.random(6)
        )
        assert found is not None
        low, high = found.difference_interval
        assert -2 <= low < found.estimator - found.annotator < high <= 2


def test_groups_leave_together() -> None:
    """Copies of every text in one group with it: about as wide as without them."""
    table, values = drawn(default_rng(2), 80, 4, 3)
    twice = np.repeat(np.arange(80), 2)
    groups = np.repeat(np.arange(80), 2)
    once = beside(pool_from(table), values)
    both = beside(pool_from(table[twice]), values[twice], groups)
    assert once is not None
    assert both is not None
    widths = [
        one.difference_interval[1] - one.difference_interval[0] for one in (once, both)
    ]
    assert widths[1] == pytest.approx(widths[0], rel=0.1)
