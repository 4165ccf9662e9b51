"""Krippendorff's alpha and severity against published worked examples."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from refless.stats.raters import Severity, alpha, icc, of_mean, severity

NAN = np.nan
FOUR_OBSERVERS = (
    np.array(  # Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", C
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
            [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
        ]
    )
)
SHROUT_FLEISS = np.array(  # Shrout and Fleiss (1979), table 2: 6 targets by 4 judges
    [
        [9, 2, 5, 8],
        [6, 1, 3, 2],
        [8, 4, 6, 8],
        [7, 1, 2, 6],
        [10, 5, 6, 9],
        [6, 2, 4, 7],
    ]
).T.astype(float)


def krippendorff(ratings, level="interval"):
    """Krippendorff's alpha of [raters, texts], NaN where there is no rating."""
    text, rater = np.nonzero(~np.isnan(ratings.T))
    return alpha(text, ratings[rater, text], level)


@pytest.mark.parametrize(
    ("level", "published"), [("ordinal", 0.815), ("interval", 0.849)]
)
def test_four_observers(level, published) -> None:
    """The numbers of Krippendorff's own paper."""
    assert krippendorff(FOUR_OBSERVERS, level) == pytest.approx(published, abs=0.0006)


def pairwise_alpha(ratings):
    """The slow twin for intervals: mean squared differences within texts and overall."""
    texts = [column[~np.isnan(column)] for column in ratings.T]
    texts = [column for column in texts if len(column) > 1]
    within = sum(((c[:, None] - c) ** 2).sum() / (len(c) - 1) for c in texts)
    everything = np.concatenate(texts)
    n = len(everything)
    overall = ((everything[:, None] - everything) ** 2).sum() / (n - 1)
    return 1 - within / overall


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(2, 4), st.integers(2, 6)),
        elements=st.sampled_from([1.0, 2.0, 4.0, NAN]),
    )
)
def test_interval_alpha_by_definition(ratings) -> None:
    """One minus observed over expected disagreement."""
    paired = ratings[:, (~np.isnan(ratings)).sum(axis=0) > 1]
    if len(np.unique(paired[~np.isnan(paired)])) < 2:
        assert np.isnan(krippendorff(ratings))
    else:
        assert krippendorff(ratings) == pytest.approx(pairwise_alpha(ratings))


def coincidence_alpha(ratings, level):
    """The slow twin: the table of coincidences, as Krippendorff (2011) has it."""
    paired = ratings[:, (~np.isnan(ratings)).sum(axis=0) > 1]
    values = np.unique(paired[~np.isnan(paired)])
    table = np.zeros((len(values), len(values)))
    for column in paired.T:
        given = [
            int(np.searchsorted(values, one)) for one in column if not np.isnan(one)
        ]
        for i, first in enumerate(given):
            for j, second in enumerate(given):
                if i != j:
                    table[first, second] += 1 / (len(given) - 1)
    totals = table.sum(axis=1)
    places = values if level == "interval" else np.cumsum(totals) - totals / 2
    apart = (places[:, None] - places) ** 2
    expected = (np.outer(totals, totals) * apart).sum()
    return (
        1 - (table * apart).sum() * (totals.sum() - 1) / expected
        if expected > 0
        else NAN
    )


@pytest.mark.parametrize("level", ["ordinal", "interval"])
@given(
    ratings=arrays(
        np.float64,
        st.tuples(st.integers(2, 4), st.integers(1, 7)),
        elements=st.sampled_from([1.0, 1.5, 2.0, 4.0, 1e3, NAN]),
    ),
)
def test_linear_time_changes_no_alpha(level, ratings) -> None:
    """Every level, with gaps."""
    wanted = coincidence_alpha(ratings, level)
    assert krippendorff(ratings, level) == pytest.approx(wanted, abs=1e-9, nan_ok=True)


def test_reliability_of_four_judges() -> None:
    """ICC(2,1) and ICC(2,4) of Shrout and Fleiss (1979), table 4: .29 and .62."""
    judge, target = np.indices(SHROUT_FLEISS.shape)
    single = icc(target.ravel(), judge.ravel(), SHROUT_FLEISS.ravel())
    assert single == pytest.approx(0.29, abs=0.005)
    assert of_mean(single, 4) == pytest.approx(0.62, abs=0.005)


def test_reliability_of_a_table_with_gaps() -> None:
    """It comes back in the mean: texts 4, raters 1, the rest 2 make 4 / 7."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(60):
        text, rater = (column.ravel() for column in np.indices((60, 8)))
        kept = rng.random(len(text)) < 0.5
        text = text[kept]
        rater = rater[kept]
        values = 2 * rng.normal(size=60)[text] + rng.normal(size=8)[rater]
        values += rng.normal(size=len(text)) * 2**0.5
        found.append(icc(text, rater, values))
    assert np.mean(found) == pytest.approx(4 / 7, abs=0.03)


def test_severity_of_four_judges() -> None:
    """Their component of variance, from the mean squares of Shrout and Fleiss (1979), table 3."""
    judge, target = np.indices(SHROUT_FLEISS.shape)
    found = severity(target.ravel(), judge.ravel(), SHROUT_FLEISS.ravel())
    assert found.variance == pytest.approx((32.49 - 1.02) / 6, abs=0.002)
    assert found.square == pytest.approx(32.49 / 6, abs=0.002)
    assert found.freedom == 3


def fitted(*columns: np.ndarray) -> tuple[np.ndarray, int]:
    """Indicators of groups, and their rank."""
    found = np.concatenate([one[:, None] == np.unique(one) for one in columns], axis=1)
    return found.astype(float), int(np.linalg.matrix_rank(found.astype(float)))


def severity_by_models(
    block: np.ndarray, rater: np.ndarray, values: np.ndarray
) -> Severity:
    """The slow twin: what raters add to a least squares fit of the blocks (Henderson's third)."""
    alone, few = fitted(block)
    both, many = fitted(block, rater)
    left = [
        np.square(values - x @ np.linalg.lstsq(x, values, rcond=None)[0]).sum()
        for x in (alone, both)
    ]
    freedom = many - few
    spare = len(values) - many
    if not freedom:
        return Severity()
    own, _ = fitted(rater)
    own -= alone @ np.linalg.lstsq(alone, own, rcond=None)[0]
    counts = np.square(own).sum()
    noise = freedom * left[1] / spare if spare else 0.0
    above = left[0] - left[1]
    variance = max(0.0, above - noise) / counts
    return Severity(variance=variance, square=above / counts, freedom=freedom)


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(2, 5), st.integers(1, 7)),
        elements=st.sampled_from([0.1, 0.35, 0.9, NAN]),
    ),
    st.randoms(use_true_random=False),
)
def test_severity_of_any_design(ratings: np.ndarray, random: Random) -> None:
    """The slow twin agrees, whatever the order of ratings."""
    rater, text = np.nonzero(~np.isnan(ratings))
    values = ratings[rater, text]
    found = severity(text, rater, values)
    if not len(values):
        assert found.freedom == 0
        return
    expected = severity_by_models(text, rater, values)
    assert found.freedom == expected.freedom
    assert [found.variance, found.square] == pytest.approx(
        [expected.variance, expected.square], abs=1e-9, nan_ok=True
    )
    order = np.array(random.sample(range(len(text)), len(text)), dtype=np.int64)
    number = np.array(
        random.sample(range(ratings.shape[1]), ratings.shape[1]), dtype=np.int64
    )
    again = severity(number[text[order]], rater[order], values[order])
    assert (again.freedom, again.variance) == pytest.approx(
        (found.freedom, found.variance), abs=1e-9, nan_ok=True
    )
