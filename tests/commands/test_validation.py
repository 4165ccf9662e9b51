"""Held-out estimates against the human rating, and by what they are held out."""

import math
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.simulate import simulate

from refless.commands.validate.run import validate
from refless.commands.validate.validation import Validation, validation
from refless.data.design import group_names
from refless.estimators.neighbors import BLEUNeighbors
from refless.evaluation.jackknife import split
from refless.registry.arrays import codes

from refless.data.records import RatedPool  # isort: skip
from refusals import bad_usage

POOL = simulate(60, seed=3).pool


def validated(pool: RatedPool, group: str = "id") -> Validation:
    estimator = BLEUNeighbors()
    labels = group_names(pool, group)
    parts = split(pool, codes(labels))
    estimates = estimator.cross_validated(pool, parts.groups, parts.blocks)
    return validation(pool, parts, {"it": estimates}, group=group, twins={})


def test_codes_are_numbers_from_zero() -> None:
    """In the order of the sorted labels, whatever the order of rows."""
    assert codes(["b", "a", "b", "c"]).tolist() == [1, 0, 1, 2]


def test_group_names() -> None:
    """Ids, a role of the pool, or a column that the user names."""
    assert group_names(POOL, "id") == POOL.ids
    assert group_names(POOL, "system") == POOL.systems
    column = ["x", "y"] * 30
    assert group_names(POOL, "mood", column) == tuple(column)
    assert group_names(POOL) == POOL.sources  # what belongs together, if nobody says it


@pytest.mark.parametrize("group", ["task", "mood"])
def test_groups_that_are_not_there(group: str) -> None:
    """A missing column is named."""
    with bad_usage(f"no {group} column"):
        group_names(replace(POOL, tasks=()), group)


def test_one_group_only() -> None:
    """Nothing would be left to judge by."""
    with bad_usage("nothing would be left"):
        validate(replace(POOL, systems=("same",) * 60), group="system")


def test_agreement_is_that_of_the_estimates() -> None:
    """The study adds no arithmetic of its own."""
    found = validated(POOL)
    defined = ~np.isnan(found.estimates.values)
    errors = POOL.human[defined] - found.estimates.values[defined]
    assert found.estimator.mse == pytest.approx(float(np.mean(errors**2)), rel=1e-12)


def test_the_signature_says_how() -> None:
    """The page says what was held out, what intervals rest on, and the seed."""
    signature = validate(POOL, estimator="bleu-neighbors", group="system").signature
    assert signature.get("heldout") == "system"
    assert (
        signature.get("ci") == "jack-3-raters"
    )  # three systems, annotators who are named
    assert signature.get("seed") == "0"


def test_the_constant_ranks_nothing() -> None:
    """Its errors stand; it says the same of all texts of a block."""
    methods = validated(POOL).side_by_side.methods
    (constant,) = (line for line in methods if line.name == "constant")
    others = (POOL.human.sum() - POOL.human) / (
        len(POOL) - 1
    )  # the mean of all the other texts
    errors = (POOL.human - others) ** 2
    assert constant.mse == pytest.approx(float(np.mean(errors)), rel=1e-12)
    assert math.isnan(constant.spearman)
    assert math.isnan(constant.spearman_interval[0])


def test_groups_leave_whole() -> None:
    """Intervals over groups differ from those over texts."""
    single = validated(POOL)
    grouped = validated(POOL, "source")
    assert single.estimator.mse_interval != grouped.estimator.mse_interval
