"""Agreement of predictions with people: values, order, groups, abstention, JSON names."""

import math

import numpy as np
import pytest
import scipy.stats
from numpy.random import default_rng

from refless.data.records import Predictions
from refless.evaluation.held_out import agreement
from refless.report.export import as_json

NAN = float("nan")


def judged(human, predicted, group=(), reason=None) -> Predictions:
    predicted = np.array(predicted, dtype=np.float64)
    reason = reason or tuple(
        "too-few" if np.isnan(value) else "" for value in predicted
    )
    return Predictions(
        id=tuple(f"t{i}" for i in range(len(predicted))),
        human=np.array(human, dtype=np.float64),
        predicted=predicted,
        reason=reason,
        group=tuple(group),
    )


def sample(n: int) -> Predictions:
    rng = default_rng(0)
    human = np.round(rng.random(n), 1)
    predicted = np.where(
        rng.random(n) < 0.2, np.nan, np.round(human + rng.normal(size=n), 1)
    )
    return judged(human, predicted)


def test_measures_are_over_predicted_texts_only():
    """Hand calculation: errors 0.5, 0.5 and 0 on three of four texts; order scipy's."""
    found = agreement(judged([0.0, 1.0, 0.5, 0.9], [0.5, 0.5, 0.5, NAN]))
    assert (found.n, found.n_scored, found.coverage) == (4, 3, 0.75)
    assert found.mse == pytest.approx(0.5 / 3)
    assert found.mae == pytest.approx(1 / 3)
    assert found.reasons == {"too-few": 1}


def test_correlations_and_intervals_belong_together():
    """Coefficients equal scipy's, and each lies in its interval."""
    table = sample(80)
    scored = ~np.isnan(table.predicted)
    found = agreement(table)
    for name in ("pearson", "spearman", "kendall"):
        function = {
            "pearson": "pearsonr",
            "spearman": "spearmanr",
            "kendall": "kendalltau",
        }[name]
        value = getattr(scipy.stats, function)(
            table.human[scored], table.predicted[scored]
        )[0]
        assert getattr(found, name) == pytest.approx(value, abs=1e-12)
        low, high = found.interval_of(name)
        assert low < value < high
    assert found.interval_method == "boot-1000"


def test_the_seed_matters_and_zero_is_a_seed():
    """Seed 0 repeats itself and differs from seed 1."""
    table = sample(50)
    first, again, other = (
        agreement(table, seed=seed).mse_interval for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other


def test_groups_are_drawn_whole():
    """Five copies of each text in one group say no more than one: a wider interval than apart.

    So it is for rows in another order, to the last bit.
    """
    human = np.repeat(np.linspace(0, 1, 30), 5)
    predicted = np.repeat(default_rng(0).random(30), 5)
    apart = agreement(judged(human, predicted)).mse_interval
    names = [f"g{i // 5}" for i in range(150)]
    together = agreement(judged(human, predicted, names)).mse_interval
    turned = judged(human[::-1], predicted[::-1], names[::-1])
    assert agreement(turned).mse_interval == together
    # Independent copies would shrink the width by sqrt(5).
    assert (together[1] - together[0]) / (apart[1] - apart[0]) == pytest.approx(
        5**0.5, rel=0.15
    )


@pytest.mark.parametrize(
    ("human", "predicted", "why", "missing"),
    [
        ([0.5, 0.5, 0.5], [0.1, 0.2, 0.3], "all ratings are equal", {"pearson"}),
        ([0.1, 0.5, 0.9], [0.2, 0.2, 0.2], "all predictions are equal", {"pearson"}),
        ([0.1, 0.5], [0.2, NAN], "only one text has a prediction", {"pearson"}),
        ([0.1, 0.5], [NAN, NAN], "no text has a prediction", {"pearson", "mse", "mae"}),
        ([], [], "no text has a prediction", {"pearson", "mse", "mae"}),
    ],
)
def test_undefined_measures_say_why(human, predicted, why, missing):
    """A number that is NaN is named with its reason and is null in the JSON."""
    found = agreement(judged(human, predicted))
    if missing == {"pearson"}:
        assert set(found.undefined) - {"auc"} == {"pearson", "spearman", "kendall"}
    assert missing <= set(found.undefined)
    assert set(found.undefined.values()) == {why}
    assert '"pearson": null' in as_json(found)


def test_auc_appears_only_for_two_ratings():
    """Thumbs have an AUC; 3 of 4 pairs in order is 0.75 by hand. Three ratings have none."""
    found = agreement(judged([0, 0, 1, 1], [0.1, 0.6, 0.5, 0.9]))
    assert found.auc == 0.75
    assert 0.5 <= found.auc_interval[1] <= 1
    other = agreement(judged([0, 0.5, 1, 1], [0.1, 0.6, 0.5, 0.9]))
    assert math.isnan(other.auc)
    assert "auc" not in other.undefined
    assert math.isnan(other.auc_interval[0])


def test_missing_predictions_without_a_reason_are_counted():
    """A score column of another tool may be empty without saying why."""
    found = agreement(judged([0.1, 0.2], [NAN, NAN], reason=("", "too-short")))
    assert found.reasons == {"too-short": 1, "undefined": 1}
