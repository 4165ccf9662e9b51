"""Williams' test, the paired permutation test, corrections for many tests."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.random import default_rng
from papers.williams import williams
from scipy import stats

from refless.stats.corrections import holm
from refless.stats.permutation import permutation_p

P_VALUES = arrays(np.float64, st.integers(1, 12), elements=st.floats(0, 1))


def test_williams_as_documented_by_psych() -> None:
    """R's psych, `r.test(103, .4, .5, .1)` on its help page: t -0.89, p < 0.37."""
    found = williams(0.4, 0.5, 0.1, 103)
    assert found.freedom == 100
    assert found.t == pytest.approx(-0.89, abs=0.005)
    assert found.p == pytest.approx(0.37, abs=0.006)
    assert found.p_greater == pytest.approx(1 - found.p / 2)


def test_williams_by_hand() -> None:
    """n 12, r 0.8 and 0.5, 0.6 between: |R| = 1 - .64 - .25 - .36 + .48 = 0.23.

    Below the root: 2 (11/9) 0.23 + 0.65^2 0.4^3 = 0.562222 + 0.02704 = 0.589262; above it:
    11 (1.6) = 17.6; t = 0.3 sqrt(17.6 / 0.589262) = 1.639545.
    """
    found = williams(0.8, 0.5, 0.6, 12)
    assert found.t == pytest.approx(1.639545, abs=1e-6)
    assert found.p == pytest.approx(2 * stats.t.sf(1.639545, 9), abs=1e-6)


@pytest.mark.parametrize(
    "case", [(math.nan, 0.5, 0.1, 20), (0.4, 0.5, 0.1, 3), (0.5, 0.5, 1.0, 20)]
)
def test_williams_undefined(case) -> None:
    """Without a correlation, with three rows, with one column twice: NaN, not 0."""
    found = williams(*case)
    assert math.isnan(found.t)
    assert math.isnan(found.p)


def exact_p(human, first, second):
    """The slow twin: every one of the 2^n exchanges of ranks."""
    h, a, b = (stats.rankdata(column) for column in (human, first, second))

    def gap(x, y):
        def r(column):
            return 0.0 if np.ptp(column) == 0 else np.corrcoef(h, column)[0, 1]

        return abs(r(x) - r(y))

    observed = gap(a, b)
    reached = [
        gap(np.where(mask, b, a), np.where(mask, a, b)) >= observed - 1e-12
        for mask in itertools.product([False, True], repeat=len(h))
    ]
    return np.mean(reached)


def test_permutation_against_all_permutations() -> None:
    """Drawn exchanges come near the exact p-value of all 2^9."""
    rng = default_rng(3)
    human = rng.normal(size=9)
    first = human + rng.normal(size=9) * 0.5
    second = rng.normal(size=9)
    p = permutation_p(human, first, second, rng=default_rng(0), permutations=20_000)
    assert p == pytest.approx(exact_p(human, first, second), abs=0.015)


def test_permutation_tells_good_from_bad() -> None:
    """A copy of the human rating beats noise; a column does not beat itself, whatever its units."""
    rng = default_rng(0)
    human = rng.normal(size=60)
    near = human + 0.1 * rng.normal(size=60)
    far = rng.normal(size=60)
    assert permutation_p(human, near, far, rng=rng) < 0.01
    assert permutation_p(human, near, 100 * near + 3, rng=rng) == 1.0
    assert math.isnan(permutation_p(human, near, np.ones(60), rng=rng))


def test_permutation_of_clusters_is_coarser() -> None:
    """Rows that are exchanged together leave few permutations: no small p-value."""
    rng = default_rng(0)
    human = rng.normal(size=60)
    near = human + 0.1 * rng.normal(size=60)
    far = rng.normal(size=60)
    clusters = np.repeat([0, 1], 30)
    assert permutation_p(human, near, far, rng=rng, clusters=clusters) > 0.2


def test_holm_by_hand() -> None:
    """Holm's own steps: 4 x .005, 3 x .01, 2 x .03, then no smaller: .06."""
    found = holm(np.array([0.01, 0.04, 0.03, 0.005]))
    assert found == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(P_VALUES)
def test_holm_by_definition(p_values) -> None:
    """Each is the largest (m - j + 1) p_j of those no larger, at most 1."""
    m = len(p_values)
    order = np.sort(p_values)
    scaled = order * np.arange(m, 0, -1)
    expected = [
        min(1.0, scaled[: np.searchsorted(order, p, "right")].max()) for p in p_values
    ]
    assert holm(p_values) == pytest.approx(expected)


def test_undefined_p_values_are_not_counted() -> None:
    """NaN stays NaN; the others are corrected as if it were not there."""
    both = np.array([0.01, np.nan, 0.04])
    assert holm(both)[[0, 2]] == pytest.approx(holm(np.array([0.01, 0.04])))
    assert np.isnan(holm(both)[1])
