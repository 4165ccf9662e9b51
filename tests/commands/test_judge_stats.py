"""Agreement of two columns of verdicts, and means of few labels and many verdicts."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.random import default_rng
from sklearn.metrics import cohen_kappa_score, precision_score, recall_score

from refless.commands.judge.audit import corrected_means
from refless.commands.judge.numbers import measured
from refless.commands.judge.repeated import drift_of
from refless.evaluation.labels import AllRows, Labels
from refless.evaluation.raters import Raters, Votes
from refless.evaluation.uses import (
    _extra_of_annotators,
    as_annotator,
    may_estimate,
    may_replace,
    refusals,
)
from refless.stats.answers import Estimate
from refless.stats.clusters import effective_size
from refless.stats.contrast import mean_of
from refless.stats.permutation import exchange_p
from refless.stats.verdicts import (
    Confusion,
    ac1,
    alpha,
    cells_of,
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
tables = st.tuples(*[st.integers(0, 30)] * 4).filter(lambda counts: sum(counts) > 0)
MEASURES = (kappa, ac1, lambda shares: alpha(shares, 50))


def columns(counts):
    """People's verdicts and a judge's with these (tp, fp, fn, tn)."""
    cells = np.repeat(np.arange(4), counts)
    return (cells == 0) | (cells == 2), cells <= 1


def alone(n):
    """Rows that are units."""
    return np.arange(n)


def labels_of(human, judge, *, others=(), unit=None, raters=None, **more) -> Labels:
    """Scores of a judge and ratings, NaN for nothing; `others` are scores without a rating."""
    human, judge, others = (
        np.asarray(column, dtype=float) for column in (human, judge, others)
    )
    unit = alone(len(human)) if unit is None else unit
    later = unit.max(initial=0) + 1 + alone(len(others))
    text, rating = (
        (alone(len(human)), human) if raters is None else (raters.text, raters.rating)
    )
    votes = Votes(text=text, rating=rating)
    every = AllRows(
        human=np.append(human, np.full(len(others), math.nan)),
        judge=np.append(judge, others),
        unit=np.append(unit, later),
        votes=votes,
        raters=raters,
    )
    scored = np.flatnonzero(~np.isnan(judge))
    return Labels(
        name="judge",
        human=human[scored],
        judge=judge[scored],
        unit=unit[scored],
        votes=votes,
        unlabelled=every.unlabelled,
        every=every,
        raters=raters,
        **more,
    )


def verdicts_of(human, judge, **more) -> Labels:
    """The same of ones and zeros."""
    return labels_of(human, judge, **more).as_verdicts((0.5, 0.5))


def holds(found: Estimate) -> bool:
    """Without an interval, and then with a reason; or inside it."""
    if math.isnan(found.interval[0]):
        return bool(found.undefined)
    return found.interval[0] <= found.value <= found.interval[1]


@pytest.mark.parametrize(("counts", "expected"), AGREEMENT)
def test_agreement_equals_other_tools(counts, expected):
    """Kappa, AC1 and alpha, NaN where a tool gives none."""
    shares = np.array(counts) / sum(counts)
    n = sum(counts)
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
        (proportion(judge[human], rows[human]), recall_score(human, judge, **nothing)),
        (
            proportion(~judge[~human], rows[~human]),
            recall_score(~human, ~judge, **nothing),
        ),
        (
            proportion(human[judge], rows[judge]),
            precision_score(human, judge, **nothing),
        ),
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


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(1, 9))
def test_clusters_never_tell_more(outcome, size):
    """An effective size lies between 1 and n; rows of their own count in full."""
    influence = np.array(outcome, dtype=np.float64) - np.mean(outcome)
    n = len(outcome)
    assert effective_size(influence, alone(n)) == n
    assert 1 <= effective_size(influence, alone(n) // size) <= n + 1e-9


@given(tables, st.integers(0, 200), st.integers(0, 200))
@example((1, 0, 0, 42), 157, 30)
@example((60, 0, 0, 0), 1, 0)
def test_corrected_shares_hold_themselves(counts, passed, failed):
    """Every mean is inside its interval in [0, 1], or says why it has none."""
    human, judge = columns(counts)
    others = np.repeat([1.0, 0.0], (passed, failed))
    for found in corrected_means(verdicts_of(human, judge, others=others)).values():
        assert math.isfinite(found.value)
        if not found.undefined:
            assert holds(found)
            assert 0 <= found.interval[0] <= found.interval[1] <= 1


def test_all_verdicts_alike_are_no_proof() -> None:
    """Sixty of sixty: by hand, (60 + 1.92) / (60 + 3.84) less 1.96 standard errors."""
    found = corrected_means(verdicts_of(np.ones(60), np.ones(60)))["ratings alone"]
    share = (60 + 1.92073) / 63.84146
    half = 1.95996 * math.sqrt(share * (1 - share) / 63.84146)
    assert found.interval == pytest.approx((share - half, 1.0), abs=1e-5)


def test_rows_count_by_their_mass() -> None:
    """Rows of mass 2 count as two, and the interval is that of fewer rows than there are."""
    human, judge = columns((20, 3, 2, 4))
    labels = verdicts_of(human, judge, others=np.tile([1.0, 0.0], 50))
    mass = np.ones(129)
    mass[:29] += human  # 22 passes of mass 2, 7 fails of mass 1

    def means(mass):
        return corrected_means(replace(labels, every=replace(labels.every, mass=mass)))

    once, thrice, plain, even = map(means, (mass, 3 * mass, None, np.ones(129)))
    assert once["ratings alone"].value == pytest.approx(44 / 51)
    assert once["scores alone"].value == pytest.approx((20 * 2 + 3 + 50) / 151)
    for name in ("ratings alone", "ratings and scores"):
        assert even[name].interval == pytest.approx(plain[name].interval)
        assert thrice[name].interval == pytest.approx(once[name].interval)
        assert np.ptp(once[name].interval) != pytest.approx(
            np.ptp(plain[name].interval)
        )


def test_rows_without_a_score_stay_in() -> None:
    """A judge that is blank where people rate 1 and 2: the mean is that of all ratings."""
    rng = default_rng(4)
    human = rng.integers(1, 6, 200).astype(float)
    judge = np.clip(human + rng.integers(-1, 2, 200), 1, 5).astype(float)
    judge[human <= 2] = math.nan
    labels = labels_of(human, judge, scale=(1.0, 5.0))
    means = corrected_means(labels)
    assert labels.human.mean() > 3.9
    assert means["ratings alone"].value == pytest.approx(human.mean())
    assert means["ratings alone"].n == 200
    for name in ("ratings alone", "ratings and scores"):
        low, high = means[name].interval
        assert low < human.mean() < high < 3.5


def test_blank_scores_by_simulation() -> None:
    """Scores of the others are blank in the same way: held in 93 % of 300 runs or more."""
    rng = default_rng(5)
    held = 0
    for _ in range(300):
        quality = rng.integers(1, 6, 240).astype(float)
        judge = np.clip(quality + rng.integers(-1, 2, 240), 1, 5).astype(float)
        judge[quality <= 2] = math.nan
        scored = ~np.isnan(judge[60:])
        labels = labels_of(
            np.append(quality[:60], np.full((~scored).sum(), math.nan)),
            np.append(judge[:60], np.full((~scored).sum(), math.nan)),
            others=judge[60:][scored],
            scale=(1.0, 5.0),
        )
        low, high = corrected_means(labels)["ratings and scores"].interval
        held += low <= 3.0 <= high
    assert held >= 0.93 * 120


def test_verdicts_of_one_class_are_in_the_units_of_a_judge() -> None:
    """All people pass: a judge that fails some still gives verdicts."""
    judge = np.repeat([0.0, 1.0], 10)
    labels = verdicts_of(np.ones(20), judge)
    assert (labels.span, labels.same_units) == (1.0, True)
    assert not replace(labels, judge=100 * judge).same_units


def test_means_of_few_uneven_units_are_covered() -> None:
    """Two units of 30 rows beside eight of 3: 1,000 runs, standard error .007."""
    sizes = [3] * 8 + [30] * 2
    rng = default_rng(5)
    inside = 0
    unit = np.repeat(np.arange(10), sizes)
    for _ in range(1000):
        effects = rng.normal(0.0, np.sqrt(0.2), 10)[unit]
        low, high = mean_of(effects + rng.normal(0.0, np.sqrt(0.8), 84), unit).interval
        inside += low <= 0 <= high
    assert inside >= 930


def test_few_errors_of_one_sign_are_no_proof() -> None:
    """Twenty texts with a bias of 0, of which few differ at all: 1,000 runs, standard error .007.

    Where the rare large error is not among them, Student's t alone takes the others for one; usual
    errors at both ends of the scale halve that, and no interval knows an error that nobody saw.
    """
    rng = default_rng(6)
    wrong = 0
    alone_ = 0
    for _ in range(1000):
        errors = rng.choice([-3.0, 0.0, 1.0], 20, p=[0.05, 0.8, 0.15])
        labels = labels_of(np.full(20, 4.0), 4 + errors, scale=(1.0, 7.0))
        low, high = measured(labels)["bias"].interval
        wrong += low > 0 or high < 0
        t = errors.mean() / max(errors.std(ddof=1) / math.sqrt(20), 1e-12)
        alone_ += abs(t) > 2.093
    assert 2 * wrong <= alone_
    assert wrong <= 80


def test_a_bias_lies_in_the_middle_of_its_interval() -> None:
    """A judge that is a point or two too strict, and never too kind, as on stories (HANNA).

    No bias is larger than the mean absolute error, and neither is its far end by much.
    """
    rng = default_rng(8)
    human = rng.integers(3, 6, 150).astype(float)
    judge = human - rng.choice([1.0, 2.0, 2.0, 0.0], 150)
    measures = measured(labels_of(human, judge, scale=(1.0, 5.0)))
    bias = measures["bias"]
    mae = measures["mae"]
    low, high = bias.interval
    assert bias.value - low == pytest.approx(high - bias.value, rel=0.05)
    assert bias.value == pytest.approx(-mae.value)
    plain = 1.976 * (judge - human).std(ddof=1) / math.sqrt(150)
    assert plain < high - bias.value < 1.15 * plain
    assert -low == pytest.approx(mae.interval[1], abs=0.05)


def crossed(rng, raters: int, each: int, sd: float, n: int = 150) -> Raters:
    """Ratings of texts by some of the raters, who are as strict as they are; a mean of 3."""
    who = np.stack([rng.permutation(raters)[:each] for _ in range(n)])
    quality = 3 + 0.8 * rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, each))
    rating = quality + sd * rng.normal(size=raters)[who]
    return Raters(
        text=np.repeat(alone(n), each), rater=who.ravel(), rating=rating.ravel()
    )


@pytest.mark.parametrize("sd", [0.0, 0.5])
def test_a_bias_knows_raters(sd: float) -> None:
    """Six raters, two on a text, a true bias of 0: held in 93 % of 60 runs or more.

    Without raters it was in .54 at a standard deviation of .5.
    """
    rng = default_rng(9)
    held = 0
    widths = []
    for _ in range(60):
        raters = crossed(rng, 6, 2, sd)
        human = np.bincount(raters.text, raters.rating) / 2
        judge = 3 + 0.8 * rng.normal(size=150)
        known, unknown = (
            measured(labels_of(human, judge, raters=who))["bias"].interval
            for who in (raters, None)
        )
        held += known[0] <= 0 <= known[1]
        widths.append(np.ptp(known) / np.ptp(unknown))
    assert held >= 0.93 * 60
    assert np.median(widths) < 1.1 if sd == 0 else np.median(widths) > 2


@pytest.mark.parametrize(
    ("raters", "words"),
    [
        (1, "this rater rates"),
        (2, "these 2 raters rate"),
        (3, "these 3 raters rate"),
        (4, None),
    ],
)
def test_few_raters_are_named(raters: int, words: str | None) -> None:
    """With fewer than four, nothing is said of other people, and nothing is added."""
    people = crossed(default_rng(10), raters, 1, 0.5)
    human = np.bincount(people.text, people.rating)
    labels = labels_of(human, human + 0.1 * np.arange(150) % 1, raters=people)
    said = [
        line
        for line in refusals(labels)
        if "raters rate" in line or "rater rates" in line
    ]
    few = "fewer than 4 do not tell how strict others are."
    expected = (
        [] if words is None else [f"That other people would rate as {words}: {few}"]
    )
    assert said == expected
    plain = measured(replace(labels, raters=None))["bias"]
    assert (measured(labels)["bias"].interval == plain.interval) == (words is not None)


def test_a_judge_that_passes_all_again_has_an_interval() -> None:
    """Verdicts are known to lie between 0 and 1; of other equal scores no scale is known."""
    ones = np.ones(30)
    change = drift_of(ones, ones, alone(30), 0.5).change
    low, high = change.interval
    assert change.value == 0
    assert 0.03 < high == -low < 0.2
    assert (
        "no scale is known"
        in drift_of(4 * ones, 4 * ones, alone(30), 3.0).change.undefined
    )


def test_no_number_of_labels_is_told_where_raters_count() -> None:
    """More labels by the same raters tell no more of other raters."""
    rng = default_rng(3)
    people = crossed(rng, 6, 1, 0.5)
    human = np.bincount(people.text, people.rating)
    labels = labels_of(human, human + rng.normal(0.2, 1.5, len(human)), raters=people)
    use = may_estimate(labels, measured(labels))
    assert (use.answer, use.needed) == ("unknown", None)
    alone = replace(labels, raters=None)
    assert may_estimate(alone, measured(alone)).needed is not None


def test_leaving_out_annotators_by_loop() -> None:
    """The gains without each annotator, computed from all rows anew."""
    rng = default_rng(12)
    ratings = np.where(rng.random((40, 7)) < 0.5, rng.integers(1, 6, (40, 7)), math.nan)
    judge = rng.integers(1, 6, 40).astype(float)
    means = []
    for place in range(7):
        gains = []
        for row, score in zip(np.delete(ratings, place, axis=1), judge, strict=True):
            given = row[~np.isnan(row)]
            for number, mine in enumerate(given) if len(given) > 1 else ():
                others = np.delete(given, number).mean()
                gains.append(abs(mine - others) - abs(score - others))
        means.append(np.mean(gains))
    extra = _extra_of_annotators(ratings, judge)
    assert extra.variance == pytest.approx(6 * np.var(means))
    assert extra.freedom == 5.5


def test_what_changes_places_is_no_proof() -> None:
    """Three annotators and a judge who are alike, of whom few differ: 500 runs, error .01.

    Who differs alone is farther from the others than they from each other, so gains are skewed.
    """
    rng = default_rng(7)
    rows = np.arange(20)
    wrong = 0
    for _ in range(500):
        *people, judge = (rng.random((4, 20)) < 0.9).astype(float)
        total = np.sum(people, axis=0)
        people = [(rows, (total - mine) / 2, mine) for mine in people]
        labels = replace(verdicts_of(total / 3, judge), human=total / 3, people=people)
        low, high = as_annotator(labels).interval
        wrong += low > 0 or high < 0
    assert wrong <= 25


@pytest.mark.parametrize(("same", "answer"), [(20, "unknown"), (38, "yes")])
def test_a_place_among_raters_who_disagree_is_no_use(same: int, answer: str) -> None:
    """Two raters of 40 texts say the same of 20, as by luck, or of 38: the judge is nearer."""
    first = np.tile([0.0, 1.0], 20)
    second = np.where(alone(40) < same, first, 1 - first)
    votes = Votes(text=np.tile(alone(40), 2), rating=np.append(first, second))
    labels = replace(labels_of((first + second) / 2, first), votes=votes)
    nearer = Estimate(value=0.1, interval=(0.05, 0.15), n=40)
    assert may_replace(labels, nearer).answer == answer


def test_exchanges_equal_their_enumeration() -> None:
    """The p-value of changes in six clusters, by all 64 patterns of signs."""
    moved = np.array([1.0, 2, 2, -1, 3, 1, 4, 2])
    clusters = np.array([0, 0, 1, 2, 3, 4, 5, 5])
    turns = np.stack([-moved, moved], axis=1)
    twice = np.full(8, 2)
    signs = np.array(list(product((-1, 1), repeat=6)))[:, clusters]
    exact = 2 * np.mean(signs @ moved >= moved.sum())
    assert exchange_p(turns, twice, clusters) == pytest.approx(exact, abs=0.02)
    assert exchange_p(0 * turns, twice, clusters) == 1


@pytest.mark.parametrize(
    ("errors", "least", "answer"),
    [(4, 0.2, "unknown"), (7, 0.2, "correct"), (7, -0.1, "no")],
)
def test_few_errors_of_one_kind_are_no_bias(
    errors: int, least: float, answer: str
) -> None:
    """Of 40 verdicts a judge passes four that people fail, and fails none: chance can do that.

    Of one that is not shown to agree with people, ratings beside it cannot mend a mean.
    """
    human = np.repeat([0.0, 1.0], 20)
    kappa = Estimate(value=0.4, interval=(least, 0.6))
    use = may_estimate(
        verdicts_of(human, np.where(np.arange(40) < errors, 1.0, human)),
        {"kappa": kappa},
    )
    assert (use.answer, use.estimate.value) == (answer, pytest.approx(errors / 40))
