"""Units of M: against scipy on the same assignments, and what the paper says of them."""

import numpy as np
import pytest
from benchmarks.simulate import simulate
from scipy import stats

from fixed_estimates import predictions
from refless.data.records import Outputs, Predictions
from refless.evaluation.units import in_units, units_of
from refless.extensions.metrics.bleu import BLEU
from refless.metrics.protocol import averaged
from refless.registry.errors import UsageError

POOL = simulate(120, seed=5).pool


def human() -> Predictions:
    return predictions(POOL.human, id=POOL.ids, item=POOL.items, system=POOL.systems)


def test_one_assignment_by_plain_loops() -> None:
    """Two pairs of systems, units of 3, one assignment: scipy on differences of means."""
    rng = np.random.default_rng(8)
    gaps = [rng.normal(size=11), rng.normal(size=7)]
    sides = [(rng.normal(size=11), rng.normal(size=11)), (rng.normal(size=7), rng.normal(size=7))]
    scores = {"m": [tuple(map(averaged, pair)) for pair in sides]}
    found = in_units(gaps, scores, unit=3, assignments=1, seed=6)["m"]
    again = np.random.default_rng(6)
    drawn = [again.permutation(n)[: n // 3 * 3].reshape(-1, 3) for n in (11, 7)]
    sign = again.choice([-1.0, 1.0], size=5)
    people = [gap[rows].mean() for gap, d in zip(gaps, drawn, strict=True) for rows in d]
    metric = [
        a[rows].mean() - b[rows].mean()
        for (a, b), d in zip(sides, drawn, strict=True)
        for rows in d
    ]
    assert found.n_units == 5
    assert found.spearman == pytest.approx(stats.spearmanr(sign * people, sign * metric).statistic)
    assert found.kendall == pytest.approx(stats.kendalltau(sign * people, sign * metric).statistic)


def test_truth_itself_correlates_perfectly() -> None:
    """And noise does not; units of more items bring a noisy copy nearer."""
    rng = np.random.default_rng(0)
    columns = {
        "human": averaged(POOL.human),
        "noisy": averaged(POOL.human + 0.3 * rng.normal(size=120)),
    }
    small = units_of(human(), columns, unit=2, assignments=50)
    large = units_of(human(), columns, unit=10, assignments=50)
    assert small["human"].spearman == pytest.approx(1.0)
    assert small["human"].spearman_interval == (pytest.approx(1.0), pytest.approx(1.0))
    assert large["noisy"].spearman > small["noisy"].spearman
    low, high = small["noisy"].kendall_interval
    assert low < small["noisy"].kendall < high


def test_corpus_scores_come_from_statistics() -> None:
    """BLEU of a unit is corpus BLEU, not the mean of its segments'."""
    references = tuple((text, text[::-1]) for text in POOL.texts[60:] + POOL.texts[:60])
    outputs = Outputs(ids=POOL.ids, texts=POOL.texts, references=references)
    scores = BLEU().score(outputs)
    rows = np.arange(12)
    sums = scores.statistics[rows].sum(axis=0)
    assert float(scores.combine(sums)) == pytest.approx(BLEU().score(outputs.take(rows)).corpus)
    whole = units_of(human(), {"bleu": scores}, unit=5, assignments=20)["bleu"]
    means = units_of(human(), {"bleu": averaged(scores.segments)}, unit=5, assignments=20)["bleu"]
    assert whole.n_units == means.n_units > 2
    assert whole.spearman != means.spearman


def test_missing_scores_drop_pairs() -> None:
    """A pair of answers counts for all metrics or for none."""
    holes = POOL.human.copy()
    holes[0] = np.nan
    found = units_of(
        human(), {"a": averaged(POOL.human), "b": averaged(holes)}, unit=2, assignments=5
    )
    n = POOL.items.count(POOL.items[0]) - 1
    assert found["a"].n_dropped == found["b"].n_dropped == n


def test_undefined() -> None:
    """Too few units: NaN. No systems: an error."""
    one = units_of(human(), {"a": averaged(POOL.human)}, unit=1000, assignments=5)["a"]
    assert one.n_units == 0
    assert np.isnan([one.spearman, one.kendall, *one.spearman_interval]).all()
    bare = predictions(np.ones(1))
    with pytest.raises(UsageError, match="system and an item"):
        units_of(bare, {"a": averaged(np.ones(1))})
    with pytest.raises(UsageError, match="1 or more"):
        in_units([], {}, unit=0)
