"""The worth of held-out estimates: deals, the jackknife against formulas, promises kept."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.simulate import simulate
from numpy.random import default_rng
from numpy.testing import assert_allclose
from scipy import stats

from records import estimated, fixed, split_of
from refless.data.human import pool_of
from refless.estimators import Estimator
from refless.estimators.gp import GaussianProcess
from refless.estimators.neighbors import BLEUNeighbors
from refless.evaluation.baselines import baselines
from refless.evaluation.jackknife import (
    Replicates,
    agreement_of,
    difference,
    error_of,
    interval_of,
    measured,
    replicates,
    split,
    value_of,
)
from refless.stats import within_group as within
from refless.stats.measures import MEASURES

POOL = simulate(90, seed=4).pool
ALONE = np.arange(90)
SOURCES = np.unique(POOL.sources, return_inverse=True)[1].astype(np.int64)
ALWAYS = BLEUNeighbors(tau=0.2, min_neighbors=0, max_fraction=1.0)
RNG = default_rng(0)
HUMAN = RNG.standard_normal(100)
NEAR = HUMAN + RNG.standard_normal(100)
FAR = HUMAN + 3 * RNG.standard_normal(100)


@pytest.mark.parametrize("groups", [ALONE, SOURCES])
def test_groups_are_dealt_whole_and_by_content(groups: np.ndarray) -> None:
    """No group in two blocks or two parts; a shuffled pool is dealt alike."""
    deal = split(POOL, groups)
    order = RNG.permutation(90)
    for labels in (deal.blocks, deal.part):
        assert len(set(zip(groups.tolist(), labels.tolist(), strict=True))) == len(
            set(groups)
        )
    again = split(POOL.take(order), groups[order])
    assert (again.blocks == deal.blocks[order]).all()
    assert (again.part == deal.part[order]).all()
    assert sorted(set(deal.part)) == list(range(1, deal.parts + 1))


def test_blocks_have_twelve_groups_where_there_are_enough() -> None:
    for n, blocks in ((30, 5), (90, 5), (150, 10)):
        pool = simulate(n, seed=1).pool
        assert len(set(split(pool, np.arange(n)).blocks)) == blocks


@pytest.mark.parametrize("estimator", [GaussianProcess(), BLEUNeighbors(), ALWAYS])
@pytest.mark.parametrize("groups", [ALONE, SOURCES])
def test_whole_pool_is_that_of_held_out(
    estimator: Estimator, groups: np.ndarray
) -> None:
    """`tried` gives what `held_out` gives; blocks are what blocks held out give."""
    deal = split(POOL, groups)
    found, method = estimator.cross_validated(POOL, groups, deal.blocks)
    np.testing.assert_array_equal(found.values, estimator.held_out(POOL, groups).values)
    assert_allclose(method.estimates[0], found.values, atol=1e-12)
    if isinstance(estimator, BLEUNeighbors):
        apart = estimator.held_out(POOL, deal.blocks).values
        assert_allclose(method.estimates[1], apart, atol=1e-12)


@pytest.mark.parametrize("estimator", [BLEUNeighbors(), ALWAYS])
def test_without_a_part_is_a_smaller_pool(estimator: Estimator) -> None:
    """The rest of the pool judges itself, as if the part had never been rated."""
    deal = split(POOL, SOURCES)
    _, method = estimator.cross_validated(POOL, SOURCES, deal.blocks)
    assert method.without is not None
    rows = np.flatnonzero(deal.part != 3)
    held = method.without(rows)
    assert np.isnan(held[0, deal.part == 3]).all()
    slow = estimator.held_out(POOL.take(rows), SOURCES[rows]).values
    assert_allclose(held[0, rows], slow, atol=1e-12)


def test_kriging_without_a_part_keeps_its_amplitudes() -> None:
    """The closed form against conditioning on the ratings that are left."""
    from refless.stats.posterior import exact

    root = RNG.standard_normal((30, 30))
    y = RNG.standard_normal(30)
    kernel = root @ root.T / 30
    noise = np.full(30, 0.3)
    kept = np.arange(3, 28)
    groups = np.arange(30) // 2
    quick = (
        exact(kernel.copy(), noise, y).precision().among(kept).held_out(groups[kept])
    )
    alone = exact(kernel[np.ix_(kept, kept)].copy(), noise[kept], y[kept])
    slow = alone.precision().held_out(groups[kept])
    assert_allclose(quick, slow, atol=1e-10)


def test_baselines_without_a_part() -> None:
    """Ridge, length and constant out of the rows that are left."""
    deal = split(POOL, ALONE)
    rows = np.flatnonzero(deal.part != 2)
    found = baselines(POOL, ALONE, deal.blocks)
    left = {
        name: one.without(rows)
        for name, one in found.items()
        if one.without is not None
    }
    names = [
        "TF-IDF ridge",
        "TF-IDF + sources",
        "the system's name",
        "length",
        "constant",
    ]
    assert list(left) == names
    others = POOL.human[rows].sum() - POOL.human[rows]
    assert_allclose(left["constant"][0, rows], others / (len(rows) - 1))
    for name, held in left.items():
        assert np.isnan(held[0]).sum() == 90 - len(rows), name
        assert np.abs(held[0] - found[name].estimates[0])[rows].max() < 0.5, name


def test_what_folds_of_equal_estimates_say_is_not_certain() -> None:
    """By hand: 4 of 5 folds count as 0, whatever is left out, which the jackknife calls certain.

    100 rows of 5 folds have 95 degrees of freedom.
    """
    deal = split_of(HUMAN)
    values = np.where(deal.blocks == 1, NEAR, 0.0)
    one = estimated(deal, values)
    r, (low, high) = measured("pearson", one)
    half = stats.t.ppf(0.975, 19) / math.sqrt(95)
    assert np.arctanh([low, high]) == pytest.approx(
        [math.atanh(r) - half, math.atanh(r) + half]
    )
    assert agreement_of(one, [""] * 100).pearson_interval == (low, high)
    tau = measured("kendall", one)[1]
    assert (
        np.diff(np.arctanh(tau))
        >= 2 * stats.t.ppf(0.975, 19) * math.sqrt(4 / 9 / 95) - 1e-12
    )


@pytest.mark.parametrize(("freedom", "least"), [(4, 0.92), (5, 0.93), (math.inf, 0.95)])
def test_intervals_of_the_mse_of_heavy_tails(freedom: float, least: float) -> None:
    """Errors with Student's t of 4 and 5 degrees of freedom: it was .88 and .91 (n 100)."""
    rng = default_rng(5)
    true = freedom / (freedom - 2) if freedom < math.inf else 1.0
    kept = []
    for _ in range(400):
        errors = (
            rng.standard_t(freedom, 100)
            if freedom < math.inf
            else rng.standard_normal(100)
        )
        low, high = measured("mse", fixed(HUMAN, HUMAN + errors))[1]
        kept.append(low <= true <= high)
    assert np.mean(kept) >= least


def test_one_text_that_deviates_leaves_a_possible_interval() -> None:
    """No error is larger than the range of the ratings: it was [0.0000, 9.9e+63]."""
    errors = np.where(np.arange(100) == 7, 0.5, 1e-9)
    for measure, most in (("mse", np.ptp(HUMAN) ** 2), ("mae", np.ptp(HUMAN))):
        value, (low, high) = measured(measure, fixed(HUMAN, HUMAN + errors))
        assert 0 <= low < value < high == pytest.approx(most)


def test_errors_are_no_surer_than_normal_ones() -> None:
    """By hand: of errors that are all equal the jackknife knows nothing but certainty."""
    one = fixed(HUMAN, HUMAN + np.where(np.arange(100) % 2, 0.5, -0.5))
    t = stats.t.ppf(0.975, 19)
    for measure, value, variance in (("mse", 0.25, 2.0), ("mae", 0.5, math.pi / 2 - 1)):
        found, ends = measured(measure, one)
        assert found == pytest.approx(value)
        half = t * math.sqrt(variance / 100)
        assert ends == pytest.approx((value / math.exp(half), value / (1 - half)))
    drawn = RNG.standard_normal((4_000, 100))
    logs = [np.log(column.mean(axis=1)) for column in (drawn**2, np.abs(drawn))]
    wanted = np.sqrt(np.array([2.0, math.pi / 2 - 1]) / 100)
    assert np.std(logs, axis=1) == pytest.approx(wanted, rel=0.05)


def test_what_other_raters_may_add_is_that_of_a_drawn_panel() -> None:
    """Three who rate all lie 0, 1 and 5 higher: variance 7, t with 2 degrees of freedom."""
    texts = 10 * RNG.standard_normal(40)
    pool = pool_of(
        [f"t{i}" for i in range(40)], texts[:, None] + [0.0, 1.0, 5.0], annotators="abc"
    )
    deal = split(pool, np.arange(40))
    added = stats.t.ppf(0.975, 2) ** 2 * 2 * 7 / 3
    assert deal.severity == pytest.approx(added)
    values = pool.human + RNG.standard_normal(40)
    one = estimated(deal, values)
    same = estimated(replace(deal, severity=0.0), values)
    (mse, (low, high)), (_, (least, most)) = (
        measured("mse", each) for each in (one, same)
    )
    assert low == least
    up = math.hypot(math.log(most / mse), math.log(1 + added / mse))
    assert high == pytest.approx(mse * math.exp(up))
    (_, (low, high)), (_, (least, most)) = (
        measured("mae", each) for each in (one, same)
    )
    assert (low, high > most) == (least, True)
    assert measured("spearman", one) == measured("spearman", same)
    assert (one.method, same.method) == ("jack-20-fixed-raters", "jack-20-fixed")


def test_a_panel_that_never_met_says_nothing_of_others() -> None:
    """One rating a text: stricter raters and worse texts look alike; nor do the nameless."""
    ratings = np.full((40, 4), np.nan)
    ratings[np.arange(40), np.arange(40) % 4] = RNG.standard_normal(40)
    pool = pool_of([f"t{i}" for i in range(40)], ratings, annotators="abcd")
    unnamed = pool_of(pool.texts, RNG.standard_normal((40, 3)))
    two = pool_of(pool.texts, pool.human[:, None] + [0.0, 5.0], annotators="ab")
    assert [split(one, np.arange(40)).severity for one in (pool, unnamed, two)] == [
        0.0
    ] * 3


def test_a_tuning_without_error_leaves_an_interval() -> None:
    """Its logarithm is infinite: errors are then as they are; an undefined one adds nothing."""
    values = np.full((2, 21), 0.5) + RNG.random((2, 21)) / 100
    for tuned in ([0.0, 0.1, 0.1, 0.1, 0.1], [np.nan] * 4 + [0.1]):
        low, high = interval_of(values, MEASURES["mse"], tuned=np.array(tuned))
        assert low < values[0, 0] < high


def test_a_difference_is_tuned_on_the_texts_that_both_estimate() -> None:
    """Each is estimated as if it had no others."""
    deal = split_of(HUMAN)
    columns = RNG.standard_normal((8, 100))
    columns[0, :30] = columns[1:4, :30] = np.nan  # one abstains, however it is tuned
    first = estimated(deal, *columns[:4])
    second = estimated(deal, *columns[4:])
    there = np.arange(100) >= 30
    for measure in ("mse", "spearman"):
        found = difference(measure, first, second)
        assert found == difference(measure, first.on(there), second.on(there))


def test_a_mean_has_its_textbook_error() -> None:
    """Parts of one text: the jackknife of a mean is s / sqrt(n), its interval Student's."""
    deal = split_of(HUMAN, parts=100)
    one = estimated(deal, HUMAN)
    values = one.table(lambda estimates: float(np.nanmean(estimates[0])))
    assert error_of(values) == pytest.approx(HUMAN.std(ddof=1) / 10)
    theirs = stats.ttest_1samp(HUMAN, 0).confidence_interval()
    assert interval_of(values) == pytest.approx((theirs.low, theirs.high))


def test_the_variance_of_both_ways_to_leave_out() -> None:
    """By hand: that of the test, half of what learning adds, or all; and a jackknife over folds."""
    values = np.array([[1.0, 1.1, 0.9, 1.0], [1.0, 1.3, 0.7, 1.0]])
    assert error_of(values) == pytest.approx(math.sqrt((0.02 + 0.18) / 2 * 2 / 3))
    assert error_of(values, larger=True) == pytest.approx(math.sqrt(0.18 * 2 / 3))
    assert error_of(values[::-1]) == pytest.approx(math.sqrt(0.18 * 2 / 3))
    found = error_of(values, least=0.5, tuned=np.array([1.0, 2.0]))
    assert found == pytest.approx(math.sqrt(0.25 + 0.16 / 2 * 2 / 3 + 0.5 / 2))
    assert error_of(np.array([values[0], np.full(4, np.nan)])) == pytest.approx(
        math.sqrt(0.02 * 2 / 3)
    )
    assert math.isnan(error_of(np.full((2, 4), np.nan)))


def test_what_is_tuned_otherwise_is_part_of_the_error() -> None:
    """By hand: of three tunings one finds nothing, and one what the pool itself finds."""
    one = fixed(HUMAN, NEAR)
    tuned = (NEAR, np.ones(100), HUMAN + 0.5 * (NEAR - HUMAN))
    wider = estimated(one.split, NEAR, *tuned)
    z = [value_of("pearson", one.split, np.stack([v, v])) for v in (tuned[0], tuned[2])]
    z = np.arctanh(z)
    z = np.array([z[0], 0.0, z[1]])
    (r, (low, high)), (same, (least, _)) = (
        measured("pearson", each) for each in (wider, one)
    )
    assert r == same
    t = stats.t.ppf(0.975, 19)
    error = math.hypot(
        (math.atanh(r) - math.atanh(least)) / t, math.sqrt(2 / 3 * 3 * z.var())
    )
    assert np.arctanh([low, high]) == pytest.approx(
        math.atanh(r) + np.array([-t, t]) * error
    )
    gap, alone = (
        difference("mse", each, fixed(HUMAN, FAR)).interval for each in (wider, one)
    )
    assert gap[1] - gap[0] > alone[1] - alone[0]
    assert difference("mse", wider, wider).interval == pytest.approx((0.0, 0.0))
    assert wider.on(HUMAN > 0).tuned[0, 0, HUMAN < 0].tolist() == pytest.approx(
        [np.nan] * int((HUMAN < 0).sum()), nan_ok=True
    )
    assert wider.method == "jack-20-fixed-tuned"


def test_every_fold_tunes_the_whole_pool() -> None:
    """Each fold's own texts are judged as in the pool; the others by what it was tuned to."""
    deal = split(POOL, ALONE)
    _, method = GaussianProcess().cross_validated(POOL, ALONE, deal.blocks)
    assert len(method.tuned) == 5
    for number, held in enumerate(method.tuned):
        inside = deal.blocks % 5 == number
        for ours, theirs in zip(held, method.estimates, strict=True):
            assert (ours[inside] == theirs[inside]).all()
            assert np.isfinite(ours).all()
    assert len(BLEUNeighbors().cross_validated(POOL, ALONE, deal.blocks)[1].tuned) == 0


def test_correlations_are_ranked_within_blocks_and_errors_are_not() -> None:
    one = fixed(HUMAN, NEAR)
    deal = one.split
    held = one.at()
    assert value_of("spearman", deal, held) == within.spearman(HUMAN, NEAR, deal.blocks)
    assert value_of("mse", deal, held) == pytest.approx(np.mean((HUMAN - NEAR) ** 2))
    apart = np.stack([held[0], np.full(100, np.nan)])
    assert math.isnan(value_of("spearman", deal, apart))


@pytest.mark.parametrize("measure", list(MEASURES))
def test_intervals_hold_their_value_and_stay_in_range(measure: str) -> None:
    human = (HUMAN > 0).astype(float) if measure == "auc" else HUMAN
    value, (low, high) = measured(measure, fixed(human, NEAR))
    assert MEASURES[measure].low <= low < value < high <= MEASURES[measure].high


def test_perfect_and_undefined() -> None:
    assert measured("spearman", fixed(HUMAN, HUMAN)) == (1.0, pytest.approx((1.0, 1.0)))
    assert measured("mse", fixed(HUMAN, HUMAN)) == (0.0, (0.0, 0.0))
    value, ends = measured("spearman", fixed(HUMAN, np.ones(100)))
    assert math.isnan(value)
    assert math.isnan(ends[0])


@pytest.mark.parametrize("measure", ["spearman", "mse"])
def test_a_difference_is_that_of_the_measures(measure: str) -> None:
    """And turns round with its sides; on the texts that both predict."""
    near = fixed(HUMAN, NEAR)
    far = fixed(HUMAN, FAR)
    found = difference(measure, near, far)
    other = difference(measure, far, near)
    assert found.value == pytest.approx(
        measured(measure, near)[0] - measured(measure, far)[0]
    )
    assert found.value == -other.value
    assert found.interval == pytest.approx((-other.interval[1], -other.interval[0]))
    assert difference(measure, near, near).interval == pytest.approx((0.0, 0.0))
    gaps = np.where(np.arange(100) < 20, np.nan, NEAR)
    assert difference(measure, fixed(HUMAN, gaps), near).value == 0.0


def test_what_learns_is_less_certain_than_what_does_not() -> None:
    """And only where it can learn anew from what is left: the signature tells."""
    deal = split(POOL, ALONE)
    _, method = GaussianProcess().cross_validated(POOL, ALONE, deal.blocks)
    anew = replicates(method, deal)
    plain = Replicates(deal, anew.estimates[:1], anew.tuned[:0])
    assert (anew.method, plain.method) == (
        "jack-20-tuned-raters",
        "jack-20-fixed-raters",
    )
    widths = [
        high - low
        for _, (low, high) in (measured("pearson", one) for one in (anew, plain))
    ]
    assert widths[0] > widths[1]


def test_without_signal_no_correlation_is_expected() -> None:
    """40 pools of shuffled ratings: over single texts the mean is far below 0, here not."""
    rng = default_rng(1)
    found = []
    for _ in range(40):
        order = rng.permutation(90)
        human = POOL.human[order]
        held = baselines_of(human)
        deal = split_of(human)
        found.append(
            (value_of("spearman", deal, held), np.corrcoef(human, held[0])[0, 1])
        )
    ours, plain = np.mean(found, axis=0)
    assert plain < -0.2
    assert abs(ours) < 4 * np.std([one for one, _ in found]) / math.sqrt(40)


def baselines_of(human: np.ndarray) -> np.ndarray:
    """A line on lengths, which these ratings do not follow."""
    from refless.evaluation.baselines import length_only, lengths_of

    lengths = lengths_of(POOL)
    labels = ALONE, split_of(human).blocks
    return np.stack([length_only(human, lengths, groups) for groups in labels])


@pytest.mark.parametrize(("n", "told"), [(19, False), (20, True)])
def test_no_difference_of_correlations_of_few_texts(n: int, told: bool) -> None:
    """Their intervals hold too seldom, and were as wide as [-1.485, 2.218]; errors stay."""
    human = np.arange(n) + 0.0
    noise = default_rng(0).normal(size=(2, n))
    first, second = (fixed(human, human + 3 * column) for column in noise)
    found = difference("spearman", first, second)
    assert math.isnan(found.value) != told
    assert math.isnan(found.interval[0]) != told
    assert difference("mse", first, second).value == pytest.approx(
        np.mean(np.square(3 * noise[0])) - np.mean(np.square(3 * noise[1]))
    )
