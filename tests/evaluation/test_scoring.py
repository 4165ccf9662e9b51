"""The sums of estimates."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng

from records import estimates_of
from refless.data.records import Outputs, Residuals, numbered
from refless.estimators.intervals import half_widths
from refless.evaluation.scoring import Scored, scored
from refless.stats.clusters import group_effects

RESIDUALS = np.array([-0.2, -0.1, 0.0, 0.1, 0.2])


def score(values: list[float], systems: tuple[str, ...] = (), seed: int = 0) -> Scored:
    n = len(values)
    texts = Outputs(ids=numbered(n), texts=("text",) * n, systems=systems)
    return scored(texts, estimates_of(values), RESIDUALS, seed=seed, resamples=200)


def test_by_hand() -> None:
    """The mean is over what is defined; coverage counts all: (0.2 + 0.6) / 2 and 2 of 3."""
    found = score([0.2, math.nan, 0.6], ("b", "a", "b"))
    assert found.overall.mean == pytest.approx(0.4)
    assert found.overall.coverage == pytest.approx(2 / 3)
    assert found.reasons == {"too-few": 1}
    assert list(found.systems) == ["a", "b"]
    assert math.isnan(found.systems["a"].mean)
    assert math.isnan(found.systems["a"].mean_interval[0])
    assert found.systems["a"].coverage == 0
    assert found.systems["b"].mean == pytest.approx(0.4)


def test_nothing_to_score() -> None:
    """No outputs, or none with an estimate: NaN, not zero."""
    for values in ([], [math.nan]):
        found = score(values)
        assert math.isnan(found.overall.mean)
        assert found.overall.n_scored == 0
    assert math.isnan(score([]).overall.coverage)


def test_intervals_stay_on_the_scale() -> None:
    """Two systems were rated and a third is judged: hardly anything is known of it."""
    values = np.array([-0.2, -0.1, 0.1, 0.2])
    residuals = Residuals(
        values=values, afar=3 * values, systems=("a", "a", "b", "b"), ends=(0.0, 1.0)
    )
    texts = Outputs(ids=numbered(2), texts=("x", "y"), systems=("new", "new"))
    found = scored(texts, estimates_of([0.4, 0.5]), residuals, resamples=200)
    assert found.systems["new"].mean_interval == (0.0, 1.0)


@pytest.mark.parametrize("rated", [1, 4, 5])
def test_a_system_with_few_ratings_is_as_a_new_one(rated: int) -> None:
    """Fewer than five do not tell how far a whole system is misjudged."""
    values = default_rng(0).normal(size=40 + rated)
    residuals = Residuals(
        values=values, afar=values, systems=("old",) * 40 + ("few",) * rated
    )
    systems = ("few",) * 30 + ("new",) * 30
    texts = Outputs(ids=numbered(60), texts=("x",) * 60, systems=systems)
    means = scored(texts, estimates_of([3.0] * 60), residuals, resamples=200).systems
    widths = [float(np.ptp(means[name].mean_interval)) for name in ("few", "new")]
    assert (widths[0] == pytest.approx(widths[1], rel=0.1)) == (rated < 5)


def test_equal_ratings_are_no_proof_of_certainty() -> None:
    """No interval without a scale. By hand: (1 - .05 ** (1 / 20)) x 3 x root 2 is .59019."""
    texts = Outputs(ids=numbered(20), texts=("x",) * 20)
    plain = Residuals(values=np.zeros(20), human=np.full(20, 4.0))
    on_scale = replace(plain, ends=(1.0, 5.0))
    unknown, known = (
        scored(texts, estimates_of([4.0] * 20), errors).overall.mean_interval
        for errors in (plain, on_scale)
    )
    assert math.isnan(unknown[0])
    assert known == pytest.approx((4 - 0.59019, 4 + 0.59019), abs=1e-4)
    assert np.isnan(half_widths(texts, (), plain)).all()


def of_sources(
    rng: np.random.Generator, sources: int, each: int
) -> tuple[Outputs, np.ndarray]:
    """Texts of new sources, whose errors share much of their variance."""
    errors = rng.normal(0, 0.15, sources).repeat(each) + rng.normal(
        0, 0.1, sources * each
    )
    names = tuple(
        f"{rng.integers(10**9)}" for _, _ in product(range(sources), range(each))
    )
    names = tuple(names[i // each * each] for i in range(sources * each))
    n = len(names)
    return Outputs(ids=numbered(n), texts=("x",) * n, sources=names), errors


@pytest.mark.parametrize("sources", [2, 10])
def test_few_sources_are_told(sources: int) -> None:
    """At least 92 of 100 pools with few sources; left out alone their errors are a third as large.

    For outputs on the rated sources the errors of texts that are left out alone count.
    """
    rng = default_rng(sources)
    inside = 0
    widths = []
    for _ in range(60):
        rated, errors = of_sources(rng, sources, 12)
        outputs, truth = of_sources(rng, 20, 5)
        residuals = Residuals(values=errors, alone=errors / 3, sources=rated.sources)
        found = [
            scored(
                texts, estimates_of([0.5] * len(texts)), residuals, resamples=200
            ).overall
            for texts in (outputs, rated)
        ]
        low, high = found[0].mean_interval
        inside += low <= 0.5 + truth.mean() <= high
        widths.append(
            [high - low, found[1].mean_interval[1] - found[1].mean_interval[0]]
        )
    assert inside >= 53
    assert (np.array(widths)[:, 0] > 2 * np.array(widths)[:, 1]).all()


def test_these_outputs() -> None:
    """Of these alone their own scatter is no error."""
    rng = default_rng(2)
    estimates = rng.normal(size=50)
    errors = Residuals(values=0.5 * rng.normal(size=80))
    texts = Outputs(ids=numbered(50), texts=("x",) * 50)
    plain, these = (
        scored(
            texts, estimates_of(estimates), errors, these=these
        ).overall.mean_interval
        for these in (False, True)
    )
    half = 1.96 * math.sqrt(errors.values.var() * (1 / 50 + 1 / 80))
    assert np.ptp(these) / 2 == pytest.approx(half, rel=0.1)
    assert np.ptp(plain) > 1.5 * np.ptp(these)


def test_the_mean_of_a_rated_system_moves_by_its_effect() -> None:
    """Slow twin: the mean of its estimates, and its held-out errors drawn towards 0."""
    rng = default_rng(2)
    systems = ("a",) * 30 + ("b",) * 40
    errors = rng.normal(size=70) / 20 + np.repeat([0.1, -0.1], [30, 40])
    texts = Outputs(
        ids=numbered(9), texts=("x",) * 9, systems=("a",) * 4 + ("b",) * 3 + ("c",) * 2
    )
    values = np.linspace(0.3, 0.7, 9)
    residuals = Residuals(values=errors, systems=systems, ends=(0.0, 1.0))
    found = scored(texts, estimates_of(values), residuals)
    effect = group_effects(errors, systems)
    assert effect["a"].shift > 0.05
    for name, rows in (("a", slice(0, 4)), ("b", slice(4, 7))):
        wanted = values[rows].mean() + effect[name].shift
        assert found.systems[name].mean == pytest.approx(wanted)
        low, high = found.systems[name].mean_interval
        assert low < wanted < high
    assert found.systems["c"].mean == pytest.approx(values[7:].mean())
    wanted = values.mean() + (4 * effect["a"].shift + 3 * effect["b"].shift) / 9
    assert found.overall.mean == pytest.approx(wanted)
