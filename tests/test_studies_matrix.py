"""Every study, with every estimator."""

from dataclasses import replace

import numpy as np
import pytest

from refless.data.simulate import simulate
from refless.estimators import estimator_of
from refless.evaluation.held_out import agreement
from refless.evaluation.meta import How, meta
from refless.evaluation.units import units_of
from refless.extensions.papers.easy_texts import easy_texts
from refless.extensions.papers.huse.study import huse
from refless.extensions.papers.judging import Scorer, judged, signed
from refless.extensions.papers.learning_curve import learning_curve
from refless.extensions.papers.thresholds import thresholds
from refless.extensions.papers.transfer import by_task, transfer
from refless.metrics.references.protocol import averaged

POOL = replace(
    simulate(60, seed=6, annotators=6).pool, tasks=tuple("ab"[i // 30] for i in range(60))
)
WRITTEN_BY_PEOPLE = np.array([name == min(set(POOL.systems)) for name in POOL.systems])


OTHER_TOOL = np.where(
    np.arange(60) % 10, POOL.human + 0.2 * np.random.default_rng(0).normal(size=60), np.nan
)
JUDGES = ("bleu-neighbors", "gp")  # ratpred: its own tests


def agree(judge: Scorer, labels: tuple[str, ...], group: str) -> tuple[float, ...]:
    found = agreement(judged(judge, POOL, labels, group), resamples=40)
    return found.coverage, found.mae


def sweep(judge: Scorer, labels: tuple[str, ...], group: str) -> tuple[float, ...]:
    found = thresholds(judge, POOL, labels, group=group, taus=(0.05, 0.1), min_neighbors=(1, 5))
    assert f"heldout:{group}" in str(found.signature)
    return (float(found.coverage.max()), float(np.nanmin(found.mse)))


def curve(judge: Scorer, labels: tuple[str, ...], group: str) -> tuple[float, ...]:
    found = learning_curve(judge, POOL, labels, group=group, sizes=(40, 50), repetitions=2)
    assert f"heldout:{group}" in str(found.signature)
    return tuple(found.mean["coverage"]) + tuple(found.mean["mse"])


def tasks(judge: Scorer, labels: tuple[str, ...], group: str) -> tuple[float, ...]:
    parts = by_task(POOL)
    columns = {"item": POOL.items, "system": POOL.systems, "id": ()}
    del labels
    known = {
        name: tuple(columns[group][i] for i in range(60) if POOL.tasks[i] == name)
        for name in parts
        if columns[group]
    }
    found = transfer(judge, parts, known, group=group, resamples=40)
    return tuple(one.coverage for row in found.agreements for one in row)


def easy(judge: Scorer, labels: tuple[str, ...], group: str) -> tuple[float, ...]:
    estimates = judged(judge, POOL, labels, group)
    found = easy_texts(
        POOL, ~np.isnan(estimates.predicted), signed(judge, POOL, group), resamples=40
    )
    return found.all_texts, found.estimated, found.difference_p


def in_units(judge: Scorer, labels: tuple[str, ...], group: str) -> tuple[float, ...]:
    found = judged(judge, POOL, labels, group)
    row = units_of(found, {"it": averaged(found.predicted)}, unit=3, assignments=5)["it"]
    return float(row.n_units), float(row.n_dropped)


def against(judge: Scorer, labels: tuple[str, ...], group: str) -> tuple[float, ...]:
    found = judged(judge, POOL, labels, group)
    scores = {
        "it": averaged(found.predicted),
        "column": averaged(OTHER_TOOL),
    }
    result = meta(found, scores, How(resamples=40, permutations=40))
    return tuple(one.pearson for one in result.segments.metrics)


def diversity(judge: Scorer, labels: tuple[str, ...], group: str) -> tuple[float, ...]:
    found = judged(judge, POOL, labels, group)
    lengths = np.array([len(text) for text in POOL.texts], dtype=np.float64)
    result = huse(found.predicted, -lengths, lengths, WRITTEN_BY_PEOPLE)
    return result.huse, result.diversity


STUDIES = {
    "agreement": agree,
    "thresholds": sweep,
    "learning curve": curve,
    "transfer": tasks,
    "fruit": easy,
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
    found = STUDIES[study](estimator_of(judge), GROUPS[group], group)
    assert found
    assert np.isfinite(found).all()
    assert found == STUDIES[study](estimator_of(judge), GROUPS[group], group)
