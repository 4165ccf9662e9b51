"""Every study, with every estimator, with a metric, and with a column of another tool."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from refless.data.records import Outputs, as_outputs
from refless.data.simulate import simulate
from refless.estimators import ESTIMATORS
from refless.evaluation.alternative import alternative_test
from refless.evaluation.given_scores import GivenScores, given
from refless.evaluation.held_out import agreement
from refless.evaluation.judging import Scorer, judged, signed
from refless.evaluation.meta import How, meta
from refless.evaluation.units import units_of
from refless.extensions.papers.easy_texts import easy_texts
from refless.extensions.papers.huse.study import huse
from refless.extensions.papers.learning_curve import learning_curve
from refless.extensions.papers.thresholds import thresholds
from refless.extensions.papers.transfer import by_task, transfer
from refless.metrics.references import BLEU
from refless.metrics.references.protocol import averaged
from refless.registry.errors import UsageError

POOL = replace(
    simulate(60, seed=6, annotators=6).pool, tasks=tuple("ab"[i // 30] for i in range(60))
)
WRITTEN_BY_PEOPLE = np.array([name == min(set(POOL.systems)) for name in POOL.systems])


def bleu() -> GivenScores:
    """A metric's segments: each text against another answer to the same request."""
    references = tuple((POOL.texts[i - 1 if i % 3 else i + 2],) for i in range(len(POOL)))
    outputs = Outputs(ids=POOL.ids, texts=POOL.texts, references=references)
    segments = BLEU().score(outputs).segments
    return GivenScores(
        scores=dict(zip(POOL.ids, segments.tolist(), strict=True)),
        name="bleu",
        settings=BLEU().signature().settings,
    )


def foreign() -> GivenScores:
    """A column of another tool, which has no score for every tenth text."""
    rng = np.random.default_rng(0)
    scores = POOL.human + 0.2 * rng.normal(size=len(POOL))
    scores[::10] = np.nan
    return given(POOL.ids, scores, "other tool")


JUDGES: dict[str, Callable[[], Scorer]] = {
    **{name: ESTIMATORS[name] for name in ("bleu-neighbors", "gp")},  # ratpred: its own tests
    "bleu": bleu,
    "column": foreign,
}


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


def stand_in(judge: Scorer, labels: tuple[str, ...], group: str) -> tuple[float, ...]:
    pool = POOL.take(np.arange(60))
    found = alternative_test(pool, judged(judge, pool, labels, group).predicted)
    assert found.undefined == "" or "fewer than two" in found.undefined
    return tuple(one.advantage for one in found.contests)


def in_units(judge: Scorer, labels: tuple[str, ...], group: str) -> tuple[float, ...]:
    found = judged(judge, POOL, labels, group)
    row = units_of(found, {"it": averaged(found.predicted)}, unit=3, assignments=5)["it"]
    return float(row.n_units), float(row.n_dropped)


def against(judge: Scorer, labels: tuple[str, ...], group: str) -> tuple[float, ...]:
    found = judged(judge, POOL, labels, group)
    scores = {
        "it": averaged(found.predicted),
        "column": averaged(foreign().estimate(as_outputs(POOL)).values),
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
    "alternative": stand_in,
    "units": in_units,
    "meta": against,
    "huse": diversity,
}
GROUPS = {"id": (), "item": POOL.items, "system": POOL.systems}


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("study", STUDIES)
def test_every_study_takes_everything(study: str, judge: str, group: str) -> None:
    """Defined numbers, and the same again."""
    found = STUDIES[study](JUDGES[judge](), GROUPS[group], group)
    assert found
    assert np.isfinite(found).all()
    assert found == STUDIES[study](JUDGES[judge](), GROUPS[group], group)


def test_given_scores() -> None:
    """Scores by id; an id without one abstains; nonsense is refused."""
    one = given(("a", "b"), [1.0, float("nan")], "x")
    found = one.estimate(Outputs(ids=("b", "a", "c"), texts=("", "", "")))
    assert found.values == pytest.approx([np.nan, 1.0, np.nan], nan_ok=True)
    assert found.coverage == pytest.approx(1 / 3)
    for ids, scores in ((("a",), [1.0, 2.0]), (("a", "a"), [1.0, 2.0]), (("a",), [np.inf])):
        with pytest.raises(UsageError):
            given(ids, scores, "x")
