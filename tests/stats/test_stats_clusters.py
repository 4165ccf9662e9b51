"""Rows that belong together: against hand calculations, another estimate, and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm, t

from refless.stats.clusters import (
    GroupSums,
    effective_size_of_share,
    group_effects,
    intraclass,
    unseen,
    width,
)


def test_intraclass_by_hand() -> None:
    """Groups 1 2 and 3 4: MSB 4, MSW 1/2, so (4 - 1/2) / (4 + 1/2); blank labels stand alone."""
    values = np.array([1.0, 2.0, 3.0, 4.0])
    assert intraclass(values, list("aabb")) == pytest.approx(7 / 9)
    assert intraclass(values, list("abab")) == 0.0  # MSB 1, MSW 2: less than chance
    assert intraclass(values, ()) == intraclass(values, ["", "", "", ""]) == 0.0
    assert intraclass(values, list("aaaa")) == 0.0
    assert intraclass(np.ones(4), list("aabb")) == 0.0
    assert intraclass(np.array([1.0, 1.0, 2.0, 2.0]), list("aabb")) == 1.0


def test_unequal_groups_by_simulation() -> None:
    """Between groups 0.3 of the variance, groups of 1 to 9 rows."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(2_000), rng.integers(1, 10, size=2_000)).astype(str)
    _, number = np.unique(labels, return_inverse=True)
    values = math.sqrt(0.3) * rng.standard_normal(2_000)[number]
    values += math.sqrt(0.7) * rng.standard_normal(len(labels))
    assert intraclass(values, labels.tolist()) == pytest.approx(0.3, abs=0.03)


def test_design_effect_by_hand() -> None:
    """Groups of 3 and 1, half the variance between: 1 + (10 / 4 - 1) / 2."""
    effects = {
        "aaab": 1.75,
        "": 1.0,
        "abcd": 1.0,
    }
    for labels, effect in effects.items():
        sums = GroupSums.of(np.zeros(4), [*labels])
        assert sums.design_effect(0.5) == effect


def test_effects_by_hand() -> None:
    """Means 0 and 4 of two rows each, variance within 2, so 1 of each mean.

    Q = 8, tau² = (8 - 1) / (2 - 1) = 7; each deviation of 2 is drawn to 7/8 of it.
    """
    known = group_effects(np.array([-1.0, 1.0, 3.0, 5.0]), list("aabb"))
    assert (known["a"].shift, known["b"].shift) == (-1.75, 1.75)
    assert known["a"].error == pytest.approx(math.sqrt(7 / 8))


def test_an_unseen_group_by_hand() -> None:
    """Held-out means -2 and 4, variance 18 with 1 degree, more than two that vary by (0.4 sd)².

    The errors -3 and 5 have the variance 16. Means of 0 and 1 vary less: (2 * 0.16 * 16 + 0.5) / 3.
    With 3 degrees of freedom t is 3.182. One group alone leaves the two: 2 degrees, 4.303.
    """
    values = np.array([-3.0, -3.0, 5.0, 5.0])
    afar = np.array([-2.0, -2.0, 3.0, 5.0])
    found = unseen(afar, values, list("aabb"))
    assert (found.groups, found.spread) == (2, pytest.approx(math.sqrt(18)))
    less = unseen(np.array([0.0, 0.0, 0.0, 2.0]), values, list("aabb"))
    assert less.spread == pytest.approx(math.sqrt((2 * 0.16 * 16 + 0.5) / 3))
    one_of_two = math.sqrt(0.5**2 + 0.5**2 / 2)
    assert found.error([0.5]) == pytest.approx(
        found.spread * one_of_two * 3.1824 / 1.96, rel=1e-3
    )
    alone = unseen(np.zeros(0), values, list("aaaa"))
    assert (alone.groups, alone.spread) == (1, pytest.approx(0.4 * 4.0))
    assert alone.error([1.0]) == pytest.approx(
        1.6 * math.sqrt(2) * 4.3027 / 1.96, rel=1e-3
    )
    assert unseen(np.zeros(0), values, ()).error([1.0]) == 0.0
    assert found.error([]) == 0.0


def test_width_by_hand() -> None:
    """Groups 1 2 and 3 4, 7/9 between: 1 / (49/81 + 32/81/3) degrees, and a mean of two groups."""
    values = np.array([1.0, 2.0, 3.0, 4.0])
    freedom = 1 / (49 / 81 + 32 / 81 / 3)
    expected = t.ppf(0.975, freedom) / norm.ppf(0.975) * math.sqrt(1 + 7 / 18)
    assert width(values, list("aabb")) == pytest.approx(expected)
    assert (
        width(values, list("abcd"))
        == width(values, ())
        == width(values, list("aaaa"))
        == 1.0
    )


@pytest.mark.parametrize("scale", [1e-12, 1e-7, 1e6, 1e12])
def test_effects_have_the_unit_of_the_errors(scale: float) -> None:
    """Also where nothing varies within groups, and where nothing varies at all."""
    for values in ([-1.0, 1.0, 3.0, 5.0], [1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 1.0, 1.0]):
        plain = group_effects(np.array(values), list("aabb"))
        scaled = group_effects(scale * np.array(values), list("aabb"))
        for name, effect in plain.items():
            assert scaled[name].shift == pytest.approx(
                scale * effect.shift, rel=1e-6, abs=0
            )
            assert scaled[name].error == pytest.approx(
                scale * effect.error, rel=1e-6, abs=0
            )


@pytest.mark.parametrize(
    "labels", [(), ["a"] * 4, ["a", "a", "b", ""], ["", "", "", ""]]
)
def test_no_effects_without_two_groups(labels: list[str]) -> None:
    """One group says nothing of how groups vary."""
    assert group_effects(np.array([1.0, 2.0, 3.0, 4.0]), labels) == {}


def test_one_error_leaves_clusters_their_worth() -> None:
    """Of 34 texts one pair is of one source: 34 ** 2 / (32 + 4) texts at least."""
    values = np.zeros(34)
    values[7] = 1
    clusters = np.append(np.arange(33), 32)
    assert effective_size_of_share(values, clusters) == pytest.approx(34**2 / 36)
