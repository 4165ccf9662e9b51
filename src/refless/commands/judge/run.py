"""judge: may a judge's or a metric's scores be trusted, and which agrees best with people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from refless.commands.judge.audits import (
    Question,
    audits_of,
    drifts_in,
    runs_in,
    turned,
    with_mix,
    with_scores,
)
from refless.commands.judge.gates import gated, requirements
from refless.commands.judge.result import JudgeResult
from refless.commands.judged_by import labels_of, rubric_of
from refless.commands.pairs.judged import JudgedResult
from refless.commands.pairs.run import tested
from refless.commands.parameters import (
    About,
    Argument,
    Files,
    Group,
    Many,
    Metrics,
    Names,
    Natural,
    Resamples,
    Rubric,
    Seed,
    command,
    names_in,
)
from refless.commands.rows import ScoredRows, note_missing, tell
from refless.commands.warnings import note, progress
from refless.data.choices import are_choices
from refless.data.design import Design, column_of, joined
from refless.data.records import Predictions
from refless.data.tables import ScoredRead
from refless.evaluation import meta as study
from refless.evaluation.meta import How
from refless.evaluation.units import ASSIGNMENTS, units_of
from refless.metrics.references import Metric, Scores, metrics_of
from refless.metrics.references.protocol import averaged
from refless.registry.errors import UsageError
from refless.registry.signature import Signature, digest_of
from refless.registry.version import __version__
from refless.stats.permutation import PERMUTATIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRows(ScoredRows):
    """The same with what metrics read besides the text.

    Attributes:
        columns: Column that plays a role, if its name does not say so: rating=score. Repeatable;
            roles: {roles}.
    """

    roles: ClassVar[tuple[str, ...]] = (
        *ScoredRows.roles,
        *("reference", "weight", "rationale", "run", "mix"),
    )


Name = Annotated[Names, About(kind=Many, metavar="NAME")]


@command
def judge(
    rated: Argument,
    *,
    passing: Annotated[float | None, About(names=("--pass",))] = None,
    by: Name = None,
    own: Annotated[str | None, About(metavar="PATTERN")] = None,
    runs: bool = False,
    before: Files = None,
    max_drift: Annotated[float | None, About("", at_least=0)] = None,
    require: Annotated[str | None, About(metavar="MEASURE>=X,...")] = None,
    rubric: Rubric = None,
    metrics: Metrics = None,
    group: Group = None,
    unit: Natural = 100,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    rows: JudgedRows,
) -> JudgeResult | JudgedResult:
    """Can I trust my judge? Its scores beside people's, and what they may be used for.

    Of each --score-column: whether it may rank systems, estimate a mean or a pass rate, filter
    single outputs or replace an annotator; verdicts against people's, errors, agreement beyond
    chance; the mean rating of all rows, corrected by the rated ones; where it errs. Rows without a
    rating count as what the judge alone has scored. Several columns, and metrics, are compared with
    each other over texts and systems. Of preference pairs: how often the higher score is that of
    the text which people preferred.

    Args:
        rated: Files of rated texts with scores; rows with a score alone may be among them.
        passing: From where on a rating, and a score, is a pass: 4; 0 and 1 are verdicts already.
        by: A column; the judge's errors are compared between its values; repeatable. Without it:
            systems, tasks and lengths.
        own: Systems of the judge's own family, a pattern such as 'gpt*': whether it favours them.
        runs: The score columns are runs of one judge, or rows of one id are, with a column run or
            epoch: how often they differ, and what several bring together.
        before: Files with the same judge's scores of the same texts before a change.
        max_drift: Gate: exit 3 if the mean score has moved by more, 4 if that cannot be told.
        require: Gate on the ends of intervals: "kappa>=0.6,tnr>=0.8,mae<=0.5"; of bias its size
            counts, "bias<=0.2"; exit 3 if one is missed, 4 if that cannot be told.
        rubric: What the judge was told; its digest names the judge in the JSON, for 'refless score
            --judged-by'.
        unit: Items a unit, for differences between pairs of systems.
    """
    columns, lower = names_in(rows.score_column), names_in(rows.lower_is_better)
    if max_drift is not None and before is None:
        raise UsageError("--max-drift goes with --before")
    required = requirements(require)
    if not columns and (required or before is not None):
        raise UsageError("--require and --before go with --score-column")
    chosen = metrics_of(names_in(metrics))
    reading = rows.to_reading(group=column_of(group), slice=names_in(by))
    read, mass = with_mix(rated, reading, "runs" if runs else "judged")
    if not columns and not names_in(metrics):
        unread = [line.split(": ", 1)[1] for line in read.notes if "--score-column" in line]
        raise UsageError("; ".join(["at least one --score-column or -m METRIC is needed", *unread]))
    tell(read)
    with progress("comparing scores with people's ratings") as show:
        scores = _scores(read, chosen, {*lower})
        if show is not None:
            show(0.1)
        if are_choices(read.pool):
            _check_choices({"--pass": passing, "--by": by, "--own": own, "--runs": runs or None,
                            "--before": before, "--require": require})  # fmt: skip
            segments = {name: metric.segments for name, metric in scores.items()}
            return tested(read.pool, segments, group, seed, resamples)
        design = Design.of(
            joined(read.pool, read.unrated), group, (*read.group, *read.unrated_group)
        )
        human, how = _human(read, design), How(seed=seed, resamples=resamples)
        question = Question(
            read,
            human,
            design,
            passing,
            by=names_in(by),
            own=own,
            seed=seed,
            lower=lower,
            mass=mass,
        )
        paired = bool(human.system and human.item and len(set(human.system)) > 1)
        meta = study.meta(human, scores, how, question.raters)
        audits = audits_of(question, scores, meta.systems) if read.scores else ()
        drifts = drifts_in(question, before, rows) if before is not None else {}
        return JudgeResult(
            pool=read.pool,
            design=design.said(read.pool.ratings),
            scores=scores,
            meta=meta,
            units=units_of(human, scores, unit=unit, seed=seed) if paired else {},
            metrics={name: metric.signature() for name, metric in chosen.items()},
            audits=audits,
            rationales=read.rationales,
            runs=runs_in(question, scores) if runs else None,
            drifts=drifts,
            gate=gated(audits, required, drifts, max_drift),
            signature=_signature(question, scores, how, unit, rubric_of(rubric)),
        )


def _check_choices(flags: Mapping[str, object]) -> None:
    """Raises UsageError for what is asked of ratings alone."""
    if asked := [flag for flag, value in flags.items() if value is not None]:
        raise UsageError(f"of choices between two texts {', '.join(asked)} cannot be answered")


def _scores(read: ScoredRead, chosen: Mapping[str, Metric], lower: set[str]) -> dict[str, Scores]:
    """Every metric's scores by name: the columns', and those computed here."""
    if chosen and not read.texts:
        raise UsageError("-m needs a text column")
    for name in read.scores.keys() & chosen.keys():
        raise UsageError(f"'{name}' is both a --score-column and a -m metric")
    note_missing(with_scores(read))
    scores = {}
    for name, values in read.scores.items():
        if np.isnan(values).all():
            note(f"{name}: no rated text has a score of it, so it is not judged")
        else:
            scores[name] = averaged(turned(read, name, values) if name in lower else values)
    if read.scores and not scores:
        names = ", ".join(sorted(read.scores))
        raise UsageError(f"no row has both a rating and a score of {names}: nothing to compare")
    return scores | {name: metric.score(read.outputs) for name, metric in chosen.items()}


def _human(read: ScoredRead, design: Design) -> Predictions:
    """The texts with their human ratings, and without predictions."""
    pool = read.pool
    return Predictions(
        id=pool.ids,
        human=pool.human,
        predicted=np.full(len(pool), np.nan),
        reason=("",) * len(pool),
        item=pool.items,
        group=design.take(np.arange(len(pool))).apart(pool),
        task=pool.tasks,
        system=pool.systems,
    )


def _signature(
    question: Question, scores: Mapping[str, Scores], how: How, unit: int, rubric: str | None
) -> Signature:
    pool = question.read.pool
    columns: list[Sequence[object]] = [pool.texts, pool.human.tolist()]
    columns += [metric.segments.tolist() for _, metric in sorted(scores.items())]
    more = {"pass": question.passing, "rubric": rubric}
    return Signature("judge").plus(
        metrics=tuple(sorted(scores)),
        scores=digest_of(columns),
        **question.design.signs,
        unit=unit,
        assignments=ASSIGNMENTS,
        permutations=PERMUTATIONS,
        holm="pairs",
        scale=pool.scale,
        ci=f"boot-{how.resamples}",
        seed=how.seed,
        pool=labels_of(pool),
        size=len(pool),
        v=__version__,
        **{name: value for name, value in more.items() if value is not None},
    )
