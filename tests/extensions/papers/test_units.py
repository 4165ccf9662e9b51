"""Units of M: against scipy on the same assignments, and what the paper says of them."""

import numpy as np
import pytest
from benchmarks.simulate import simulate
from numpy.random import default_rng
from scipy import stats

from refless.data.records import Outputs
from refless.extensions.metrics.bleu import BLEU
from refless.extensions.papers.units import in_units
from refless.metrics.protocol import Scores, averaged
from refusals import bad_usage

POOL = simulate(120, seed=5).pool
PAIRS = [  # rows of two systems, item by item; each item has a row of each of three systems
    (np.arange(first, 120, 3), np.arange(second, 120, 3))
    for first, second in ((0, 1), (0, 2), (1, 2))
]
GAPS = [POOL.human[first] - POOL.human[second] for first, second in PAIRS]


def sides(scores: Scores) -> list[tuple[Scores, Scores]]:
    """The scores of both systems of each pair."""
    return [(scores.take(first), scores.take(second)) for first, second in PAIRS]


def test_one_assignment_by_plain_loops() -> None:
    """Two pairs of systems, units of 3, one assignment: scipy on differences of means."""
    rng = default_rng(8)
    gaps = [rng.normal(size=11), rng.normal(size=7)]
    sides = [
        (rng.normal(size=11), rng.normal(size=11)),
        (rng.normal(size=7), rng.normal(size=7)),
    ]
    scores = {"m": [tuple(map(averaged, pair)) for pair in sides]}
    found = in_units(gaps, scores, unit=3, assignments=1, seed=6)["m"]
    again = default_rng(6)
    drawn = [again.permutation(n)[: n // 3 * 3].reshape(-1, 3) for n in (11, 7)]
    sign = again.choice([-1.0, 1.0], size=5)
    people = []
    metric = []
    for gap, (a, b), units in zip(gaps, sides, drawn, strict=True):
        people += [gap[rows].mean() for rows in units]
        metric += [a[rows].mean() - b[rows].mean() for rows in units]
    assert found.n_units == 5
    assert found.spearman == pytest.approx(
        stats.spearmanr(sign * people, sign * metric).statistic
    )
    assert found.kendall == pytest.approx(
        stats.kendalltau(sign * people, sign * metric).statistic
    )


def test_truth_itself_correlates_perfectly() -> None:
    """And noise does not; units of more items bring a noisy copy nearer."""
    rng = default_rng(0)
    noisy = POOL.human + 0.3 * rng.normal(size=120)
    scores = {"human": sides(averaged(POOL.human)), "noisy": sides(averaged(noisy))}
    small = in_units(GAPS, scores, unit=2, assignments=50)
    large = in_units(GAPS, scores, unit=10, assignments=50)
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
    assert float(scores.combine(sums)) == pytest.approx(
        BLEU().score(outputs.take(rows)).corpus
    )
    both = {"whole": sides(scores), "means": sides(averaged(scores.segments))}
    found = in_units(GAPS, both, unit=5, assignments=20)
    assert found["whole"].n_units == found["means"].n_units > 2
    assert found["whole"].spearman != found["means"].spearman


def test_undefined() -> None:
    """Too few units: NaN. Sizes below 1: an error."""
    few = in_units(GAPS, {"a": sides(averaged(POOL.human))}, unit=1000, assignments=5)[
        "a"
    ]
    assert few.n_units == 0
    assert np.isnan([few.spearman, few.kendall, *few.spearman_interval]).all()
    with bad_usage("1 or more"):
        in_units([], {}, unit=0)
