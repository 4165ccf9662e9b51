"""Every study, with every estimator."""

import numpy as np
import pytest
from benchmarks.simulate import simulate

from refless.data.records import Predictions
from refless.estimators import Estimator, estimator_of
from refless.evaluation.groups import codes
from refless.evaluation.held_out import agreement
from refless.evaluation.meta import How, meta
from refless.evaluation.units import units_of
from refless.extensions.papers.huse.study import huse
from refless.metrics.references.protocol import averaged

POOL = simulate(60, seed=6, annotators=6).pool
WRITTEN_BY_PEOPLE = np.array([name == min(set(POOL.systems)) for name in POOL.systems])


OTHER_TOOL = np.where(
    np.arange(60) % 10, POOL.human + 0.2 * np.random.default_rng(0).normal(size=60), np.nan
)
JUDGES = ("bleu-neighbors", "gp")  # ratpred: its own tests


def judged(judge: Estimator, labels: tuple[str, ...]) -> Predictions:
    estimates = judge.held_out(POOL, codes(labels or POOL.ids))
    return Predictions(
        id=POOL.ids,
        human=POOL.human,
        predicted=estimates.values,
        reason=estimates.reasons,
        item=POOL.items,
        group=labels,
        system=POOL.systems,
    )


def agree(judge: Estimator, labels: tuple[str, ...]) -> tuple[float, ...]:
    found = agreement(judged(judge, labels), resamples=40)
    return found.coverage, found.mae


def in_units(judge: Estimator, labels: tuple[str, ...]) -> tuple[float, ...]:
    found = judged(judge, labels)
    row = units_of(found, {"it": averaged(found.predicted)}, unit=3, assignments=5)["it"]
    return float(row.n_units), float(row.n_dropped)


def against(judge: Estimator, labels: tuple[str, ...]) -> tuple[float, ...]:
    found = judged(judge, labels)
    scores = {
        "it": averaged(found.predicted),
        "column": averaged(OTHER_TOOL),
    }
    result = meta(found, scores, How(resamples=40, permutations=40))
    return tuple(one.pearson for one in result.segments.metrics)


def diversity(judge: Estimator, labels: tuple[str, ...]) -> tuple[float, ...]:
    found = judged(judge, labels)
    lengths = np.array([len(text) for text in POOL.texts], dtype=np.float64)
    result = huse(found.predicted, -lengths, lengths, WRITTEN_BY_PEOPLE)
    return result.huse, result.diversity


STUDIES = {
    "agreement": agree,
    "units": in_units,
    "judge": against,
    "huse": diversity,
}
GROUPS = {"id": (), "item": POOL.items, "system": POOL.systems}


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("study", STUDIES)
def test_every_study_takes_everything(study: str, judge: str, group: str) -> None:
    """Defined numbers, and the same again."""
    found = STUDIES[study](estimator_of(judge), GROUPS[group])
    assert found
    assert np.isfinite(found).all()
    assert found == STUDIES[study](estimator_of(judge), GROUPS[group])
