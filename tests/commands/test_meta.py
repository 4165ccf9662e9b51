"""Metrics against people: levels, comparisons, the best cluster."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import stats

from places import DATA
from published import needed
from records import predictions
from refless.commands.judge.metrics_compared import How, meta
from refless.data.records import Outputs, Predictions
from refless.extensions.metrics.bleu import BLEU
from refless.metrics.protocol import averaged
from refless.stats.corrections import holm
from refless.stats.intervals import of_best
from refless.stats.measures import WEIGHTED
from refless.stats.resampling import bootstrap
from refusals import bad_usage
from rows import column, read_csv

HOW = How(resamples=60, permutations=200)


def judged(n: int = 120, systems: int = 4, *, seed: int = 0) -> Predictions:
    """Items answered by all systems, which differ in how good they are."""
    rng = default_rng(seed)
    place = np.arange(n)
    human = (place % systems) / systems + rng.normal(size=n)
    items = tuple(f"i{i // systems}" for i in place)
    return predictions(
        np.round(human, 1),
        item=items,
        group=items if systems > 1 else (),
        system=tuple(f"s{i % systems}" for i in place),
    )


def noisy(human, amount, seed):
    return averaged(human.human + amount * default_rng(seed).normal(size=len(human)))


def test_correlations_are_scipys() -> None:
    """At both levels, system scores being means."""
    human = judged()
    scores = {"good": noisy(human, 0.5, 1), "bad": noisy(human, 4, 2)}
    found = meta(human, scores, HOW)
    for level, n in ((found.segments, 120), (found.systems, 4)):
        assert [one.name for one in level.metrics] == ["good", "bad"]
        assert level.n == n
    one = found.segments.metrics[0]
    column = scores["good"].segments
    assert one.pearson == pytest.approx(stats.pearsonr(human.human, column).statistic)
    assert one.spearman == pytest.approx(stats.spearmanr(human.human, column).statistic)
    names = np.array(human.system)
    members = [names == name for name in sorted(set(names))]
    of_systems = np.corrcoef(
        [human.human[rows].mean() for rows in members],
        [column[rows].mean() for rows in members],
    )
    assert found.systems.metrics[0].pearson == pytest.approx(of_systems[0, 1])
    for level in (found.segments, found.systems):
        for each in level.metrics:
            low, high = each.pearson_interval
            assert low - 1e-9 <= each.pearson <= high + 1e-9


def test_who_is_better() -> None:
    """A good metric beats a bad one, not its own copy in other units; the best are these two."""
    human = judged()
    good = noisy(human, 0.5, 1)
    copy = averaged(10 * good.segments - 3)
    scores = {"good": good, "copy": copy, "bad": noisy(human, 4, 2)}
    found = meta(human, scores, HOW).segments
    assert set(found.best) == {"good", "copy"}
    better = {(one.first, one.second): one for one in found.comparisons}
    assert better["copy", "bad"].better
    assert better["good", "bad"].better
    same = better["copy", "good"]
    assert not same.better
    assert same.permutation_p == 1.0
    assert better["good", "bad"].difference_interval[0] > 0


def test_comparisons_are_permutations_and_holm() -> None:
    """Their parts, put together by hand for three metrics."""
    human = judged()
    scores = {
        name: noisy(human, amount, i)
        for i, (name, amount) in enumerate([("a", 1), ("b", 2), ("c", 3)])
    }
    found = meta(human, scores, HOW).segments

    def rho(x, y):
        return stats.spearmanr(x, y).statistic

    for one in found.comparisons:
        a = scores[one.first].segments
        b = scores[one.second].segments
        assert one.difference == pytest.approx(
            rho(human.human, a) - rho(human.human, b)
        )
    corrected = holm(np.array([one.permutation_p for one in found.comparisons]))
    assert [one.permutation_p_holm for one in found.comparisons] == pytest.approx(
        list(corrected)
    )


def test_common_rows_only() -> None:
    """Two metrics are compared where both have a score."""
    human = judged()
    holes = noisy(human, 1, 3).segments.copy()
    holes[:30] = np.nan
    found = meta(human, {"a": noisy(human, 1, 4), "b": averaged(holes)}, HOW)
    assert found.segments.comparisons[0].n == 90
    assert {one.name: one.n_scored for one in found.segments.metrics} == {
        "a": 120,
        "b": 90,
    }


def test_system_scores_of_metrics_are_corpus_scores() -> None:
    """BLEU of a system is not the mean of its sentences'."""
    human = judged(40)
    words = list("abcdefgh")
    rng = default_rng(0)
    texts = [" ".join(rng.choice(words, 9)) for _ in range(80)]
    outputs = Outputs(
        ids=human.id,
        texts=tuple(texts[:40]),
        references=tuple((text,) for text in texts[40:]),
    )
    scores = BLEU().score(outputs)
    found = meta(human, {"bleu": scores}, HOW).systems.metrics[0]
    names = np.array(human.system)
    columns = [
        [
            human.human[names == name].mean(),
            BLEU().score(outputs.take(np.flatnonzero(names == name))).corpus,
        ]
        for name in sorted(set(names))
    ]
    assert found.pearson == pytest.approx(np.corrcoef(np.array(columns).T)[0, 1])


def test_system_intervals_contain_their_correlation() -> None:
    """Resampled means have more noise, which lowers correlations: the high end makes up for it."""
    values = []
    for seed in range(6):
        human = judged(120, systems=12, seed=seed)
        (metric,) = meta(human, {"near": noisy(human, 0.3, seed)}, HOW).systems.metrics
        for measure in ("pearson", "spearman"):
            low, high = getattr(metric, f"{measure}_interval")
            value = getattr(metric, measure)
            assert low <= value <= high <= 1
            values.append(high - value >= min(value - low, 1 - value) - 1e-12)
    assert all(values)


def test_few_systems_and_none() -> None:
    """Two systems always correlate perfectly: undefined, and said."""
    human = judged(40, 2)
    assert "too few" in meta(human, {"a": noisy(human, 1, 0)}, HOW).systems.undefined
    bare = replace(human, system=())
    assert (
        "no system column"
        in meta(bare, {"a": noisy(human, 1, 0)}, HOW).systems.undefined
    )


def test_constant_metric() -> None:
    """It has no correlation and beats nobody."""
    human = judged(40)
    found = meta(
        human, {"a": noisy(human, 1, 0), "flat": averaged(np.ones(40))}, HOW
    ).segments
    assert found.best == ("a",)
    assert found.metrics[-1].undefined == "all scores, or all ratings, are the same"
    assert np.isnan(found.comparisons[0].permutation_p)


def test_wrong_lengths() -> None:
    """A metric for other segments, or none at all."""
    human = judged(40)
    for scores in ({}, {"a": averaged(np.ones(39))}):
        with bad_usage("one score for each of 40"):
            meta(human, scores, HOW)


def test_novikova_columns() -> None:
    """FACTS, RatPred 1: Pearson BLEU-4 0.075, ROUGE-L 0.081, METEOR 0.098, CIDEr 0.064."""
    needed("nlg-ratings")
    medians = DATA / "nlg-ratings" / "emnlp_data_medians.csv"
    rows = read_csv(medians.read_text("utf-8"))
    human = predictions(np.array([float(row["quality"]) for row in rows]))
    names = ("Bleu_4", "ROUGE_L", "METEOR", "CIDEr")
    scores = {
        name: averaged(np.array(column(rows, name), dtype=np.float64)) for name in names
    }
    found = meta(human, scores, How(resamples=40, permutations=40))
    pearson = {one.name: one.pearson for one in found.segments.metrics}
    expected = {"Bleu_4": 0.075, "ROUGE_L": 0.081, "METEOR": 0.098, "CIDEr": 0.064}
    assert pearson == pytest.approx(expected, abs=0.0006)


def test_what_was_drawn_as_a_whole_is_compared_as_a_whole() -> None:
    """Of items that are groups, and of rows that are none; the correlations are the same."""
    human = judged()
    scores = {"a": noisy(human, 1, 1), "b": noisy(human, 1.2, 2)}
    single = replace(human, group=())
    together, alone = (meta(rows, scores, HOW).segments for rows in (human, single))
    assert together.comparisons != alone.comparisons
    for first, second in zip(together.metrics, alone.metrics, strict=True):
        assert first.spearman == second.spearman
        assert first.spearman_interval != second.spearman_interval


def test_equal_metrics_whose_errors_items_share() -> None:
    """Neither is better than the other, however sure single rows make it (25 runs, 5 allowed)."""
    better = 0
    for seed in range(25):
        rng = default_rng(seed)
        human = judged(160, 8, seed=seed)
        of_item = np.repeat(rng.normal(size=(2, 20)), 8, axis=1)
        scores = {
            name: averaged(human.human + errors + 0.3 * rng.normal(size=160))
            for name, errors in zip("ab", 1.5 * of_item, strict=True)
        }
        better += meta(human, scores, HOW).segments.comparisons[0].better
    assert better <= 5


@pytest.mark.parametrize("together", [1, 4])
def test_the_best_of_ten_is_named_in_one_of_twenty_at_most(together: int) -> None:
    """Of draws in which all ten are noise; their own intervals name one in a quarter of these."""
    named = np.zeros(2)
    runs = 100
    n = 60
    for seed in range(runs):
        rng = default_rng(seed)
        groups = np.arange(n) // together
        human, *columns = rng.normal(size=(11, n)) + rng.normal(size=(11, n))[:, groups]
        found = [stats.spearmanr(human, column).statistic for column in columns]
        best = int(np.argmax(found))
        ends = bootstrap(
            {"rho": WEIGHTED["spearman"]},
            human,
            columns[best],
            resamples=200,
            rng=rng,
            clusters=groups,
        )["rho"]
        z, low, high = np.arctanh([found[best], *ends])
        named += low > 0, of_best(z, (low, high), 10, n // together)[0] > 0
    assert named[0] > 0.15 * runs
    assert named[1] <= 0.05 * runs
