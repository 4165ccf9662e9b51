"""meta: which metrics agree with people, and which do so better than others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from refless.commands.estimating import metrics_of
from refless.commands.meta.result import MetaResult
from refless.commands.pairs.judged import JudgedResult
from refless.commands.pairs.run import tested
from refless.commands.parameters import (
    Argument,
    Metrics,
    Natural,
    Resamples,
    Seed,
    SeveralColumns,
    command,
    names_in,
)
from refless.commands.rows import ScoredRows, column_of, tell
from refless.commands.warnings import note, note_few, progress
from refless.data.choices import are_choices
from refless.data.human import canonical_order, fingerprint
from refless.data.records import Predictions, RatedPool
from refless.data.tables import ScoredRead, read_scored
from refless.data.tables.columns import OWN
from refless.evaluation import meta as study
from refless.evaluation.annotators import annotators
from refless.evaluation.groups import group_labels
from refless.evaluation.meta import How, together_of
from refless.evaluation.rater_agreement import rater_agreement
from refless.evaluation.units import ASSIGNMENTS, units_of
from refless.metrics.references import Metric, Scores
from refless.metrics.references.protocol import averaged
from refless.registry.errors import UsageError
from refless.registry.signature import Signature, digest_of
from refless.registry.version import __version__
from refless.stats.permutation import PERMUTATIONS

Measure = Literal["spearman", "pearson"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRows(ScoredRows):
    """The same with what metrics read besides the text.

    Attributes:
        columns: Column that plays a role, if its name does not say so: rating=score. Repeatable;
            roles: text, id, item, source, system, task, rating (several, or a pattern 'rater*'),
            annotator, time, dimension, reference (several), weight, and for slor logprobs and
            tokens.
    """

    roles: ClassVar[tuple[str, ...]] = (*ScoredRows.roles, *OWN)


@command
def meta(
    rated: Argument,
    *,
    lower_is_better: SeveralColumns = None,
    metrics: Metrics = None,
    measure: Measure = "spearman",
    group: str = "id",
    unit: Natural = 100,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    rows: JudgedRows,
) -> MetaResult | JudgedResult:
    """Test metrics against human ratings: which agree with people, and which do so better.

    Shows Pearson, Spearman and Kendall with 95 % intervals for single texts and for systems, which
    metric is significantly better than which (Williams' test and a permutation test, corrected for
    the number of pairs), and the metrics that no other beats. Of preference pairs it shows
    how often the higher score is that of the text which people preferred.

    Args:
        rated: Files of rated texts with scores.
        lower_is_better: A score column whose sign is to be turned; repeatable.
        measure: Correlation by which metrics are compared: spearman or pearson.
        group: What is drawn together: id (each text alone), source, system, item, task or a
            column's name.
        unit: Items a unit, for differences between pairs of systems.
    """
    columns, lower = names_in(rows.score_column), names_in(lower_is_better)
    if not columns and not names_in(metrics):
        raise UsageError("at least one --score-column or -m METRIC is needed")
    chosen = metrics_of(metrics)
    read = read_scored(rated, rows.to_reading(group=column_of(group)))
    tell(read)
    for name in lower:
        if name not in read.scores:
            raise UsageError(f"--lower-is-better {name}: it is no --score-column")
    with progress("testing metrics") as show:
        scores = _scores(read, chosen, {*lower})
        if show is not None:
            show(0.1)
        if are_choices(read.pool):
            segments = {name: metric.segments for name, metric in scores.items()}
            return tested(read.pool, segments, group, seed, resamples)
        human, how = _human(read, group), How(measure=measure, seed=seed, resamples=resamples)
        result = _result(read.pool, human, scores, how, unit, group)
    note_few(len(set(together_of(human))), "item" if group == "id" else group)
    signatures = {name: metric.signature() for name, metric in chosen.items()}
    return replace(result, metrics=signatures)


def _scores(read: ScoredRead, chosen: Mapping[str, Metric], lower: set[str]) -> dict[str, Scores]:
    """Every metric's scores by name: the columns', and those computed here."""
    if chosen and not read.texts:
        raise UsageError("-m needs a text column")
    for name in read.scores.keys() & chosen.keys():
        raise UsageError(f"'{name}' is both a --score-column and a -m metric")
    scores = {
        name: averaged(-values if name in lower else values) for name, values in read.scores.items()
    }
    for name, metric in scores.items():
        n_scored = int((~np.isnan(metric.segments)).sum())
        if n_scored < len(read.pool):
            note(f"{name}: {len(read.pool) - n_scored} of {len(read.pool)} texts have no score")
    return scores | {name: metric.score(read.outputs) for name, metric in chosen.items()}


def _result(
    pool: RatedPool,
    human: Predictions,
    scores: Mapping[str, Scores],
    how: How,
    unit: int,
    group: str,
) -> MetaResult:
    paired = bool(human.system and human.item and len(set(human.system)) > 1)
    people = annotators(pool)
    return MetaResult(
        pool=pool,
        scores=scores,
        meta=study.meta(human, scores, how),
        units=units_of(human, scores, unit=unit, seed=how.seed) if paired else {},
        annotators=people,
        left_out=None if people is None else annotators(pool, leave_out=True),
        raters=None if people is None else rater_agreement(pool, seed=how.seed),
        metrics={},
        signature=_signature(pool, scores, how, unit, group),
    )


def _human(read: ScoredRead, group: str) -> Predictions:
    """The texts with their human ratings, and without predictions."""
    pool = read.pool
    labels = () if group == "id" else group_labels(pool, group, read.group)
    return Predictions(
        id=pool.ids,
        human=pool.human,
        predicted=np.full(len(pool), np.nan),
        reason=("",) * len(pool),
        item=pool.items,
        group=tuple(labels),
        task=pool.tasks,
        system=pool.systems,
    )


def _signature(
    pool: RatedPool, scores: Mapping[str, Scores], how: How, unit: int, group: str
) -> Signature:
    columns: list[Sequence[object]] = [pool.texts, pool.human.tolist()]
    columns += [metric.segments.tolist() for _, metric in sorted(scores.items())]
    return Signature("meta").plus(
        measure=how.measure,
        metrics=tuple(sorted(scores)),
        scores=digest_of(columns),
        group=group,
        unit=unit,
        assignments=ASSIGNMENTS,
        permutations=PERMUTATIONS,
        holm="pairs",
        scale=pool.scale,
        aggregate=pool.aggregate,
        ci=f"boot-{how.resamples}",
        seed=how.seed,
        pool=fingerprint(pool.take(canonical_order(pool))),
        size=len(pool),
        v=__version__,
    )
