"""Held-out estimates against the human rating, and by what they are held out."""

import math
from dataclasses import replace

import numpy as np
import pytest

from refless.errors import UsageError
from refless.estimators import BLEUNeighbors
from refless.simulate import simulate
from refless.studies.held_out import agreement
from refless.studies.validation import Validation, codes, group_labels, validation

from refless.records import Predictions, RatedPool  # isort: skip

POOL = simulate(60, seed=3).pool


def validated(pool: RatedPool, group: str = "id") -> Validation:
    estimator = BLEUNeighbors()
    labels = group_labels(pool, group)
    estimates = estimator.held_out(pool, codes(labels))
    return validation(pool, estimates, labels, estimator.signature(), group=group, resamples=60)


def test_codes_are_numbers_from_zero() -> None:
    """In the order of the sorted labels, whatever the order of rows."""
    assert codes(["b", "a", "b", "c"]).tolist() == [1, 0, 1, 2]


def test_group_labels() -> None:
    """Ids, a role of the pool, or a column that the user names."""
    assert group_labels(POOL, "id") == POOL.ids
    assert group_labels(POOL, "system") == POOL.systems
    column = ["x", "y"] * 30
    assert group_labels(POOL, "mood", column) == tuple(column)


@pytest.mark.parametrize("group", ["task", "mood"])
def test_groups_that_are_not_there(group: str) -> None:
    """A missing column is named."""
    with pytest.raises(UsageError, match=f"no {group} column"):
        group_labels(replace(POOL, tasks=()), group)


def test_one_group_only() -> None:
    """Nothing would be left to judge by."""
    with pytest.raises(UsageError, match="nothing would be left"):
        group_labels(POOL, "mood", ["same"] * 60)


def test_agreement_is_that_of_the_estimates() -> None:
    """The study adds no arithmetic of its own."""
    found = validated(POOL)
    judged = Predictions(
        id=POOL.ids,
        human=POOL.human,
        predicted=found.estimates.values,
        reason=found.estimates.reasons,
    )
    assert repr(found.estimator) == repr(agreement(judged, resamples=60))
    defined = ~np.isnan(found.estimates.values)
    errors = POOL.human[defined] - found.estimates.values[defined]
    assert found.estimator.mse == pytest.approx(float(np.mean(errors**2)), rel=1e-12)


def test_the_signature_says_how() -> None:
    """What was held out, the bootstrap and its seed."""
    signature = validated(POOL, "system").signature
    assert signature.get("heldout") == "system"
    assert signature.get("ci") == "boot-60"
    assert signature.get("seed") == "0"


def test_the_constant_ranks_nothing() -> None:
    """Its errors stand, its correlations (-1 by construction) do not."""
    found = validated(POOL)
    constant, judged = found.baselines["constant"], found.estimates.defined
    n, human = len(POOL), POOL.human
    others = (human.sum() - human) / (n - 1)  # the mean of all the other texts
    errors = (human - others)[judged] ** 2  # on the texts that the estimator judges too
    assert constant.mse == pytest.approx(float(np.mean(errors)), rel=1e-12)
    assert 0 < constant.n_scored == found.estimator.n_scored < n
    for name in ("pearson", "spearman", "kendall"):
        assert math.isnan(getattr(constant, name))
        assert math.isnan(constant.interval_of(name)[0])
        assert math.isnan(getattr(constant, f"{name}_p"))
        assert constant.undefined[name] == "a constant ranks nothing"


def test_groups_are_resampled_whole() -> None:
    """Intervals over clusters differ from those over texts; the point estimates of a baseline
    that ignores the groups' words do not share their seed by chance."""
    single, grouped = validated(POOL), validated(POOL, "source")
    assert single.estimator.mse_interval != grouped.estimator.mse_interval
