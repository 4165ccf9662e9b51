"""Agreement of two columns of verdicts, and means of few labels and many verdicts."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score, precision_score, recall_score

from refless.evaluation.labels import Labels, mean_of, shift_of
from refless.evaluation.uses import as_annotator, may_estimate
from refless.stats.clusters import effective_size
from refless.stats.corrected import (
    Sample,
    as_compared,
    by_ppi_plus,
    by_verdict,
    ppi_plus,
    rogan_gladen,
)
from refless.stats.permutation import exchange_p
from refless.stats.verdicts import (
    Confusion,
    Estimate,
    ac1,
    alpha,
    cells_of,
    clopper_pearson,
    kappa,
    of_table,
    proportion,
)

# Counts (tp, fp, fn, tn); kappa by scikit-learn 1.9.1 (cohen_kappa_score), AC1 by irrCAC 0.4.4
# (CAC(...).gwet()), nominal alpha by krippendorff 0.9.0.
AGREEMENT = [
    ((31, 8, 5, 16), [0.5390070921985816, 0.592156862745098, 0.5416296296296297]),
    ((3, 1, 40, 56), [0.058769513314967936, 0.359825122960419, -0.13461271033235978]),
    ((95, 2, 3, 0), [-0.024590163934426146, 0.947437582128778, -0.02051282051282044]),
    ((0, 7, 9, 0), [-0.9692307692307693, -1.0, -0.9375]),
    ((5, 0, 0, 5), [1.0, 1.0, 1.0]),
    ((12, 0, 0, 0), [math.nan, 1.0, math.nan]),
    ((9, 4, 0, 0), [0.0, 0.584, -0.13636363636363646]),
]
# Counts of labelled rows, then the judge's passes and fails among rows without a label; the value
# by truescore 0.7.4 (rogan_gladen_estimate), the ends by hand as in Lang & Reiczigel (2014).
CORRECTED = [
    ((31, 8, 5, 16), (300, 200), (0.5154135338345864, 0.2737581602965006, 0.7326008020584326)),
    ((3, 1, 1, 45), (40, 460), (0.07999999999999997, 0.0, 0.17916895362097054)),
    ((18, 9, 12, 21), (90, 10), (1.0, 0.618994706441917, 1.0)),
    ((9, 0, 1, 10), (5, 1), (0.5982905982905982, 0.33011679146333694, 0.9380017657671615)),
]
# Value and standard error by ppi_python 0.2.3: ppi_mean_pointestimate, and the half width of
# ppi_mean_ci(alpha=0.05) over 1.96, both with lam=None.
HUMAN = [5, 4, 4, 2, 1, 3, 5, 2, 4, 1]
JUDGES = {
    "near": ([4, 4, 5, 2, 2, 3, 4, 2, 4, 1], (3.009142857142857, 0.3398501662647881)),
    "turned": ([1, 2, 1, 4, 5, 3, 2, 4, 2, 4], (3.1, 0.4571651780264983)),
    "narrow": ([3, 2.5, 2.5, 1.5, 1, 2, 3, 1.5, 2.5, 1], (3.4608143322475575, 0.3902818490938942)),
}
UNLABELLED = [4, 4, 2, 1, 5, 3, 3, 2, 5, 4, 1, 1, 2, 4, 3]

tables = st.tuples(*[st.integers(0, 30)] * 4).filter(lambda counts: sum(counts) > 0)
MEASURES = (kappa, ac1, lambda shares: alpha(shares, 50))


def columns(counts):
    """People's verdicts and a judge's with these (tp, fp, fn, tn)."""
    cells = np.repeat(np.arange(4), counts)
    return (cells == 0) | (cells == 2), cells <= 1


def sample(human, judge, others, clusters=None, later=None, mass=None) -> Sample:
    """Verdicts or ratings as numbers; every row alone, unless it is said."""
    human, judge, others = (
        np.asarray(column, dtype=np.float64) for column in (human, judge, others)
    )
    n, m = len(human), len(others)
    clusters, later = (
        (alone(n) if clusters is None else clusters),
        (alone(m, n) if later is None else later),
    )
    return Sample(
        human=human, judge=judge, unlabelled=others, clusters=clusters, later=later, mass=mass
    )


def alone(n, start=0):
    """Rows of clusters of their own."""
    return np.arange(start, start + n)


def holds(found: Estimate) -> bool:
    """Undefined with a reason, or inside its own interval."""
    if math.isnan(found.value):
        return bool(found.undefined) and math.isnan(found.interval[0])
    return found.interval[0] <= found.value <= found.interval[1]


@pytest.mark.parametrize(("counts", "expected"), AGREEMENT)
def test_agreement_equals_other_tools(counts, expected):
    """Kappa, AC1 and alpha, NaN where a tool gives none."""
    shares, n = np.array(counts) / sum(counts), sum(counts)
    found = [float(kappa(shares)), float(ac1(shares)), float(alpha(shares, n))]
    assert found == pytest.approx(expected, abs=1e-10, nan_ok=True)


@given(tables)
def test_rates_equal_scikit_learn(counts):
    """TPR, TNR, precision and kappa of any table; undefined ones have a reason."""
    human, judge = columns(counts)
    rows = alone(len(human))
    table = Confusion.of(human, judge)
    assert (table.tp, table.fp, table.fn, table.tn) == tuple(counts)
    nothing = {"zero_division": math.nan}
    pairs = [
        (proportion(judge, rows, human), recall_score(human, judge, **nothing)),
        (proportion(~judge, rows, ~human), recall_score(~human, ~judge, **nothing)),
        (proportion(human, rows, judge), precision_score(human, judge, **nothing)),
    ]
    if len({*human.tolist(), *judge.tolist()}) > 1:
        cells = cells_of(human, judge)
        pairs.append((of_table(kappa, cells, rows), cohen_kappa_score(human, judge)))
    for found, expected in pairs:
        assert found.value == pytest.approx(expected, abs=1e-10, nan_ok=True)
        assert holds(found)


@given(tables, st.randoms(use_true_random=False), st.integers(1, 9))
def test_symmetry_order_and_own_interval(counts, random, size):
    """Either column may be the first, rows stand in any order, an interval holds its value."""
    human, judge = columns(counts)
    clusters = alone(len(human)) // size
    order = np.array(random.sample(range(len(human)), len(human)))
    for measure in MEASURES:
        found = of_table(measure, cells_of(human, judge), clusters)
        swapped = of_table(measure, cells_of(judge, human), clusters)
        again = of_table(measure, cells_of(human, judge)[order], clusters[order])
        assert found.value == pytest.approx(swapped.value, abs=1e-12, nan_ok=True)
        assert found.interval == pytest.approx(again.interval, abs=1e-9, nan_ok=True)
        assert holds(found)


@given(st.integers(1, 400), st.data())
def test_clopper_pearson_equals_scipy(trials, data):
    """The exact interval of a binomial share."""
    successes = data.draw(st.integers(0, trials))
    expected = binomtest(successes, trials).proportion_ci(method="exact")
    assert clopper_pearson(successes, trials) == pytest.approx(tuple(expected), abs=1e-10)


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(1, 9))
def test_clusters_never_tell_more(outcome, size):
    """An effective size lies between 1 and n; rows of their own count in full."""
    influence = np.array(outcome, dtype=np.float64) - np.mean(outcome)
    n = len(outcome)
    assert effective_size(influence, alone(n)) == n
    assert 1 <= effective_size(influence, alone(n) // size) <= n + 1e-9


@pytest.mark.parametrize(("counts", "later", "expected"), CORRECTED)
def test_rogan_gladen_equals_other_tools(counts, later, expected):
    """The point of truescore, the ends of the formula."""
    human, judge = columns(counts)
    others = np.repeat([True, False], later)
    found = rogan_gladen(sample(human, judge, others))
    assert (found.value, *found.interval) == pytest.approx(expected, abs=1e-10)


@given(tables, st.integers(0, 200), st.integers(1, 200))
@example((1, 0, 0, 42), 157, 30)
def test_corrected_shares_hold_themselves(counts, passed, failed):
    """Every method is inside its interval in [0, 1], or says why it has none."""
    human, judge = columns(counts)
    others = np.repeat([True, False], (passed, failed))
    rows = alone(len(human)), alone(len(others), len(human))
    for method in (rogan_gladen, by_verdict):
        found = method(sample(human, judge, others, *rows))
        assert holds(found)
        if not found.undefined:
            assert 0 <= found.interval[0] <= found.interval[1] <= 1


@pytest.mark.parametrize(("counts", "method", "why"), [
    ((10, 0, 5, 0), rogan_gladen, "one verdict only"),
    ((2, 6, 6, 2), rogan_gladen, "no better than chance"),
    ((10, 5, 0, 0), by_verdict, "one verdict only"),
])  # fmt: skip
def test_undefined_for_a_reason(counts, method, why):
    """Nothing is corrected by what the labels do not tell."""
    human, judge = columns(counts)
    found = method(sample(human, judge, judge))
    assert math.isnan(found.value)
    assert math.isnan(found.interval[0])
    assert why in found.undefined


@pytest.mark.parametrize(("judge", "expected"), JUDGES.values(), ids=JUDGES)
def test_ppi_plus_equals_ppi_python(judge, expected):
    """Lambda inside and at both ends of [0, 1]."""
    found = ppi_plus(*(np.array(column, float) for column in (HUMAN, judge, UNLABELLED)))
    assert found == pytest.approx(expected, abs=1e-10)


def test_few_labels_and_clusters_have_no_interval():
    """PPI++ says no to rows that belong together, Student's t to a few of one verdict."""
    human, judge = (column.astype(float) for column in columns((20, 3, 2, 4)))
    others, rows = np.tile([1.0, 0.0], 50), alone(29)
    assert "fewer than 15" in by_ppi_plus(sample(human, judge, others)).undefined
    assert "belong together" in by_ppi_plus(sample(human, judge, others, rows // 2, rows)).undefined
    labels, both = as_compared(sample(human, judge, others))
    assert labels.value == pytest.approx(22 / 29)
    assert math.isnan(both.interval[0])


def test_rows_count_by_their_mass() -> None:
    """Rows of mass 2 count as two; the interval is that of fewer rows than there are."""
    human, judge = columns((20, 3, 2, 4))
    others, rows = np.tile([1.0, 0.0], 50), alone(29)
    mass = np.ones(129)
    mass[human.nonzero()[0]] = 2.0  # 22 passes of mass 2, 7 fails of mass 1
    assert proportion(human, rows, mass=mass[:29]).value == pytest.approx(44 / 51)
    even = np.ones(129)
    for method in (rogan_gladen, by_verdict):
        once, thrice, plain, alike = (
            method(sample(human, judge, others, mass=each)) for each in (mass, 3 * mass, None, even)
        )
        assert alike.value == pytest.approx(plain.value)
        assert thrice.interval == pytest.approx(once.interval)
    # The judge passes 20 * 2 + 3 of 51 labelled and 50 of 100 others; 40 of its 43 passes are
    # passes of people's, 4 of its 8 fails.
    rate = (43 + 50) / 151
    value = rate * 40 / 43 + (1 - rate) * 4 / 8
    assert by_verdict(sample(human, judge, others, mass=mass)).value == pytest.approx(value)
    assert "count unlike" in by_ppi_plus(sample(human, judge, others, mass=mass)).undefined
    assert effective_size(np.arange(4.0), np.arange(4), np.array([1.0, 1.0, 1.0, 9.0])) < 4


def test_few_clusters_have_no_interval_by_students_t() -> None:
    """Thirty labels of the rarer verdict that lie in nine clusters are nine."""
    human = np.repeat([1.0, 0.0], [90, 30])
    judge, later = np.roll(human, 5), np.zeros(40)
    alone = np.arange(160)
    together = np.concatenate([np.arange(90), 90 + np.arange(30) % 9, 200 + np.arange(40)])
    for clusters, defined in ((alone, True), (together, False)):
        for each in as_compared(sample(human, judge, later, clusters[:120], clusters[120:])):
            assert math.isfinite(each.interval[0]) == defined
            assert ("fewer than 15 independent labels" in each.undefined) != defined


def test_verdicts_of_one_class_are_in_the_units_of_a_judge() -> None:
    """All people pass: a judge that fails some still gives verdicts."""
    nothing = np.zeros(0)
    human, judge, rows = np.ones(20), np.repeat([0.0, 1.0], 10), np.arange(20)
    labels = Labels(
        name="judge", human=human, judge=judge, clusters=rows, unlabelled=nothing,
        later=nothing.astype(np.int64), passing=0.5,
    )  # fmt: skip
    assert (labels.span, labels.same_units) == (1.0, True)
    percent = replace(labels, judge=100 * judge)
    assert not percent.same_units


def test_a_mean_of_few_groups_has_no_interval() -> None:
    """Forty rows in nine groups tell no error of their mean; in ten they do."""
    values = np.arange(40.0) % 7
    few, enough = (mean_of(values, np.arange(40) % groups) for groups in (9, 10))
    assert few.value == enough.value == values.mean()
    assert (math.isnan(few.interval[0]), few.undefined) == (True, "fewer than 10 groups of rows")
    assert enough.interval[0] < values.mean() < enough.interval[1]


def test_means_of_few_uneven_clusters_are_covered() -> None:
    """Two clusters of 30 rows beside eight of 3: 1,000 runs, standard error .007."""
    sizes, rng, inside = [3] * 8 + [30] * 2, np.random.default_rng(5), 0
    clusters = np.repeat(np.arange(10), sizes)
    for _ in range(1000):
        effects = rng.normal(0.0, np.sqrt(0.2), 10)[clusters]
        low, high = mean_of(effects + rng.normal(0.0, np.sqrt(0.8), 84), clusters).interval
        inside += low <= 0 <= high
    assert inside >= 930


def test_few_differences_of_one_sign_are_no_proof() -> None:
    """Twenty texts with a mean of 0, of which few differ at all: 1,000 runs, standard error .007.

    Where the rare large difference is not among them, Student's t alone takes the others for one.
    """
    rng, rows, wrong, alone = np.random.default_rng(6), np.arange(20), 0, 0
    for _ in range(1000):
        values = rng.choice([-3.0, 0.0, 1.0], 20, p=[0.05, 0.8, 0.15])
        low, high = shift_of(values, rows).interval
        wrong += low > 0 or high < 0
        low, high = mean_of(values, rows).interval
        alone += low > 0 or high < 0
    assert wrong <= 65 < alone


def test_what_changes_places_is_no_proof() -> None:
    """Three annotators and a judge who are alike, of whom few differ: 500 runs, error .01.

    Who differs alone is farther from the others than they from each other, so gains are skewed:
    an interval by Student's t takes judges who happened not to differ for better ones.
    """
    rng, rows, wrong, alone = np.random.default_rng(7), np.arange(20), 0, 0
    nothing = np.zeros(0)
    for _ in range(500):
        *people, judge = (rng.random((4, 20)) < 0.9).astype(float)
        total = np.sum(people, axis=0)
        labels = Labels(
            name="judge", human=total / 3, judge=judge, clusters=rows, unlabelled=nothing,
            later=nothing.astype(np.int64), passing=0.5,
            people=[(rows, (total - mine) / 2, mine) for mine in people],
        )  # fmt: skip
        low, high = as_annotator(labels).interval
        wrong += low > 0 or high < 0
        gains = [np.abs(mine - rest) - np.abs(judge - rest) for _, rest, mine in labels.people]
        low, high = shift_of(np.concatenate(gains), np.tile(rows, 3)).interval
        alone += low > 0 or high < 0
    assert wrong <= 25 < alone


def test_exchanges_equal_their_enumeration() -> None:
    """The p-value of changes in six clusters, by all 64 patterns of signs."""
    moved, clusters = np.array([1.0, 2, 2, -1, 3, 1, 4, 2]), np.array([0, 0, 1, 2, 3, 4, 5, 5])
    turns, twice = np.stack([-moved, moved], axis=1), np.full(8, 2)
    signs = np.array(list(product((-1, 1), repeat=6)))[:, clusters]
    exact = 2 * np.mean(signs @ moved >= moved.sum())
    assert exchange_p(turns, twice, clusters) == pytest.approx(exact, abs=0.02)
    assert exchange_p(0 * turns, twice, clusters) == 1


@pytest.mark.parametrize(("errors", "answer"), [(4, "unknown"), (7, "correct")])
def test_few_errors_of_one_kind_are_no_bias(errors: int, answer: str) -> None:
    """Of 40 verdicts a judge passes four that people fail, and fails none: chance can do that."""
    human, nothing = np.repeat([0.0, 1.0], 20), np.zeros(0)
    labels = Labels(
        name="judge", human=human, judge=np.where(np.arange(40) < errors, 1.0, human),
        clusters=np.arange(40), unlabelled=nothing, later=nothing.astype(np.int64), passing=0.5,
    )  # fmt: skip
    use = may_estimate(labels, {})
    assert (use.answer, use.estimate.value) == (answer, errors / 40)
