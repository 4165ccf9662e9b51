"""judge: may a judge's or a metric's scores be trusted, and which agrees best with people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from refless.commands.asking import asking
from refless.commands.calls import TO_RATE, check_asked, returning, writing
from refless.commands.judge import metrics_compared as study
from refless.commands.judge.audit import Audit
from refless.commands.judge.audits import audits_of, drifts_in, runs_in
from refless.commands.judge.candidates import as_votes, estimates_beside, with_estimates
from refless.commands.judge.card import LICENCE
from refless.commands.judge.gates import gated, requirements
from refless.commands.judge.licence import Licence, Promise
from refless.commands.judge.metrics_compared import How
from refless.commands.judge.question import Question, scores_of, unjudged, with_mix
from refless.commands.judge.raters import RatersResult, agreeing
from refless.commands.judge.result import JudgeResult
from refless.commands.judge.ties import TieRule, tie_rules
from refless.commands.judged_by import labels_of, rubric_of
from refless.commands.pairs.judged import JudgedResult
from refless.commands.pairs.run import tested
from refless.commands.parameters import (
    RATED_ROLES,
    About,
    Argument,
    Chosen,
    ColumnRoles,
    Dimension,
    Files,
    Group,
    Inside,
    LowerIsBetter,
    Many,
    Metrics,
    Names,
    RatedReading,
    RatingScale,
    Resamples,
    RowFilter,
    Rubric,
    ScoreColumn,
    Seed,
    SkipBad,
    about_columns,
    command,
    names_in,
    this_call,
    words_of,
)
from refless.commands.random_draw import shares_said
from refless.commands.rows import ScoredRows, tell
from refless.commands.warnings import progress
from refless.data.choices import CHOICES, are_choices
from refless.data.design import Design, column_of, joined
from refless.data.tables import ScoredRead
from refless.estimators import ESTIMATORS
from refless.evaluation.random_draw import RandomDraw
from refless.metrics.chosen import metrics_of
from refless.metrics.protocol import Metric, Scores
from refless.registry.dialect import Blank, called
from refless.registry.errors import UsageError
from refless.registry.signature import Signature, digest_of
from refless.registry.version import __version__
from refless.report.export import Cell
from refless.stats.permutation import PERMUTATIONS

JUDGE_ALONE = ("reference", "weight", "rationale", "mix")
JUDGED_ROLES = (*RATED_ROLES, *JUDGE_ALONE, "run")
JudgedColumns = Annotated[ColumnRoles, about_columns("rating=score", JUDGED_ROLES)]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRows(ScoredRows):
    """The same with what metrics read besides the text."""

    roles: ClassVar[tuple[str, ...]] = JUDGED_ROLES


Name = Annotated[Names, About(kind=Many, metavar="NAME")]


NAMES = {
    JudgeResult: "judge",
    JudgedResult: "judge_choices",
    RatersResult: "judge_raters",
}


@returning(JudgeResult, NAMES)
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
    at_most_wrong: Inside[float | None] = None,
    sure: Inside[float] = 0.9,
    estimator: Chosen = None,
    rubric: Rubric = None,
    metrics: Metrics = None,
    group: Group = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    columns: JudgedColumns = None,
    reading: RatedReading = None,
    skip_bad: SkipBad = False,
    where: RowFilter = None,
    scale: RatingScale = None,
    dimension: Dimension = None,
    lower_is_better: LowerIsBetter = None,
    score_column: ScoreColumn = None,
) -> JudgeResult | JudgedResult | RatersResult:
    """Can I trust my judge? Its scores beside people's, and what they may be used for.

    For example: refless judge rated.csv --score-column judge_score -o page.html

    Of each `score_column`: whether it may rank systems, estimate a mean or a pass rate, filter
    single outputs or replace an annotator; verdicts against people's, errors, agreement beyond
    chance; the mean rating of all rows, corrected by the rated ones; where it errs. Rows without a
    rating count as what the judge alone has scored. Several columns, and metrics, are compared with
    each other over texts and systems. Of preference pairs: how often the higher score is that of
    the text which people preferred. Of ratings by several people, and no scores: how far the
    raters agree, who differs, and which texts they dispute.

    Args:
        rated: Files of rated texts with scores; rows with a score alone may be among them.
        passing: From where on a rating, and a score, is a pass: 4; 0 and 1 are verdicts already.
        by: A column; the judge's errors are compared between its values; repeatable. Without it:
            systems, tasks and lengths.
        own: Systems of the judge's own family, a pattern such as 'gpt*': whether it favours them.
        runs: The score columns are runs of one judge, or rows of one id are, with a column run or
            epoch: how often they differ, and what several bring together. With `at_most_wrong` the
            share of them that pass is the score.
        before: Files with the same judge's scores of the same texts before a change.
        max_drift: Gate: exit 3 if the mean score has moved by more, 4 if that cannot be told.
        require: Gate on the ends of intervals: "kappa>=0.6,tnr>=0.8,mae<=0.5"; of bias its size
            counts, "bias<=0.2"; exit 3 if one is missed, 4 if that cannot be told.
        at_most_wrong: Say which texts the judge may pass, and fail, alone: of those that it passes,
            and of those that it fails, at most this share is wrong.
        sure: With `at_most_wrong`: the confidence in it.
        estimator: Judge also what this estimator makes of texts and scores together: gp. Beside
            `metrics` alone, of the texts.
        rubric: What the judge was told; by its digest in the JSON 'refless score' knows the judge.
    """
    rows = JudgedRows(
        columns=columns,
        reading=reading,
        skip_bad=skip_bad,
        where=where,
        scale=scale,
        dimension=dimension,
        lower_is_better=lower_is_better,
        score_column=score_column,
    )
    judged = names_in(score_column)
    lower = names_in(lower_is_better)
    if max_drift is not None and before is None:
        raise UsageError(f"{called('max_drift')} goes with {called('before')}")
    required = requirements(require)
    of_judges = {
        "require": require,
        "before": before,
        "at_most_wrong": at_most_wrong,
        "estimator": None if metrics else estimator,
    }
    lone = [name for name, value in of_judges.items() if value is not None]
    if lone and not judged:
        raise UsageError(_goes_with_scores(lone[0]))
    if at_most_wrong is not None and lower:
        raise UsageError(
            f"{called('at_most_wrong')} needs columns of which higher values are better: turn "
            f"{', '.join(lower)} in the file"
        )
    _check_no_estimators(metrics)
    chosen = metrics_of(metrics)
    by_role = rows.to_reading(group=column_of(group), slice=names_in(by))
    read, mass = with_mix(rated, by_role, "runs" if runs else "judged")
    of_scores = {
        "passing": passing,
        "by": by,
        "own": own,
        "runs": runs or None,
        "at_most_wrong": at_most_wrong,
        "estimator": estimator,
    }
    if not judged and not chosen:
        _check_several_ratings(read)
        check_asked(RatersResult, "ratings without a judge's scores")
        tell(read)
        _check_unanswered(of_scores, "of ratings without a judge's scores")
        return agreeing(read.pool, Design.of(read.pool, group, read.group))
    tell(read)
    with progress("comparing scores with people's ratings") as show:
        if show is not None:
            show(0.1)
        if are_choices(read.pool):
            check_asked(JudgedResult, CHOICES)
            of_ratings = {**of_scores, "before": before, "require": require}
            _check_unanswered(of_ratings, f"of {CHOICES}")
            _check_text_metrics(chosen)
            scores = scores_of(read, chosen, lower)
            segments = {name: metric.segments for name, metric in scores.items()}
            return tested(read.pool, segments, group, seed, resamples)
        check_asked(JudgeResult, "scores beside ratings")
        groups = (*read.group, *read.unrated_group)
        design = Design.of(joined(read.pool, read.unrated), group, groups)
        question = Question(
            read=read,
            human=unjudged(read, design),
            design=design,
            passing=passing,
            by=names_in(by),
            family=own,
            seed=seed,
            lower=lower,
            promise=_promise(at_most_wrong, sure, len(read.scores)),
            mass=mass,
        )
        _check_promised(question)
        of_runs = runs_in(question) if runs else None
        drifts = drifts_in(question, before, rows) if before is not None else {}
        if runs and question.promise is not None:
            question = as_votes(question)
        reader = None
        if estimator is not None and judged:
            question, reader = with_estimates(question, estimator)
        read = question.read
        beside = None if judged else estimator
        scores, signed = _scored(question, chosen, lower, beside)
        how = How(seed=seed, resamples=resamples)
        meta = study.meta(question.human, scores, how, question.raters)
        audits: tuple[Audit, ...] = ()
        judge_columns: Mapping[str, Sequence[Cell]] = {}
        draw = RandomDraw(n=0, n_rated=0, differing=())
        if read.scores:
            audits, judge_columns, draw = audits_of(question, scores, meta.systems)
        ties = tie_rules(question, audits, scores)
        audits = tuple(ties.get(one.name, TieRule()).of(one) for one in audits)
        return JudgeResult(
            pool=read.pool,
            design=design.said(read.pool.ratings),
            scores=scores,
            meta=meta,
            metrics=signed,
            audits=audits,
            columns=judge_columns,
            commands=_commands(read, judged, audits, draw.wanted),
            drawing=_drawing(draw.wanted),
            uneven=shares_said(draw),
            ties=ties,
            unrated=question.unrated_outputs,
            places=question.places,
            rationales=read.rationales,
            listed=read.listed,
            runs=of_runs,
            drifts=drifts,
            gate=gated(audits, required, drifts, max_drift),
            signature=_signature(
                question, scores, how, rubric=rubric_of(rubric), estimator=reader
            ),
        )


judge_choices = returning(JudgedResult, NAMES)(judge)
judge_raters = returning(RatersResult, NAMES)(judge)


def _commands(
    read: ScoredRead,
    judged: Sequence[str],
    audits: Sequence[Audit],
    wanted: Mapping[str, int],
) -> dict[str, str]:
    """By judge, the line that routes outputs by its licence, or asks for one that it may get.

    One judge that does not agree has the line that compares versions with its scores. If more
    ratings of versions are wanted first, lines read these too, or else ask again.
    """
    given = this_call().values
    later = given["rated"]
    if wanted:
        later = [*words_of(later), *_files_to_rate(len(wanted))]
    licences = {audit.name: audit.licence for audit in audits if audit.licence}
    columns = given["columns"] or {}
    routed = {role: columns[role] for role in columns if role not in JUDGE_ALONE}
    lines = {audit.name: asking("judge", rated=later) for audit in audits if wanted}
    for name, licence in licences.items():
        if licence.undefined:
            lines.setdefault(name, _within_reach(licence))
            continue
        lines[name] = asking(
            "route",
            outputs="OUTPUTS",
            licence=LICENCE,
            columns=routed,
            rated=given["rated"] if licence.inputs.estimator else None,
            score_column=name if len(licences) > 1 else None,
        )
    agree = [audit for audit in audits if audit.alone.answer == "yes"]
    if licences:
        return lines
    for audit in agree:
        if given["lower_is_better"]:
            continue
        passing = Blank("X") if audit.passing is None else given["passing"]
        lines[audit.name] = asking(
            "judge",
            rated=later,
            passing=passing,
            at_most_wrong=0.1,
            score_column=audit.name,
        )
    asks_again = wanted and audits[0].alone.answer != "no"
    several = len({*read.pool.systems}) > 1
    if len(judged) == 1 and several and not agree and not asks_again:
        line = asking("compare", outputs=given["rated"], rated=None)
        lines[audits[0].name] = line
    return lines


def _within_reach(licence: Licence) -> str:
    """The line that asks for the promise that can be kept; "" if none can."""
    point = licence.within_reach
    if point is None:
        return ""
    return asking("judge", at_most_wrong=point.at_most_wrong)


def _drawing(wanted: Mapping[str, int]) -> str:
    """The lines that draw what is wanted of each system; "" if nothing is."""
    rows = this_call().values["rated"]
    files = _files_to_rate(len(wanted))
    lines = []
    for file, (name, n) in zip(files, wanted.items(), strict=True):
        line = asking("next", outputs=rows, rated=None, goal="mean", system=name, n=n)
        lines.append(writing(line, file))
    return "\n".join(lines)


def _files_to_rate(count: int) -> list[str]:
    """Names of so many files for raters."""
    if count == 1:
        return [TO_RATE]
    stem, end = TO_RATE.rsplit(".", 1)
    return [f"{stem}-{k}.{end}" for k in range(1, count + 1)]


def _scored(
    question: Question, chosen: Mapping[str, Metric], lower: Sequence[str], beside: Any
) -> tuple[dict[str, Scores], dict[str, Signature]]:
    """The scores by name, with the estimates of an estimator beside metrics if there is one.

    With them come the signatures of those that were computed here.
    """
    scores = scores_of(question.read, chosen, lower)
    signed = {name: metric.signature() for name, metric in chosen.items()}
    if beside is not None:
        name, estimates, signature = estimates_beside(question, beside)
        scores[name] = estimates
        signed[name] = signature
    return scores, signed


def _goes_with_scores(name: str) -> str:
    """The message on a parameter that is for scores of a column, without such a column."""
    column = called("score_column")
    if name == "estimator":
        beside = f"{column} or {called('metrics')}"
        return f"{called(name)} goes with {beside}: 'refless validate' tests estimates alone"
    return (
        f"{called(name)} goes with {column}: it judges scores in a column of the file"
    )


def _check_no_estimators(metrics: object) -> None:
    """Raises UsageError for an estimator among the metrics."""
    specs = metrics if isinstance(metrics, list | tuple) else [metrics]
    for spec in specs:
        if isinstance(spec, str) and spec.partition(":")[0] in ESTIMATORS:
            raise UsageError(
                f"'{spec}' is an estimator: {called('estimator', spec)} holds it beside metrics"
            )


def _promise(at_most_wrong: float | None, sure: float, judges: int) -> Promise | None:
    """The promise that is asked for, if one is."""
    if at_most_wrong is None:
        return None
    return Promise(at_most_wrong=at_most_wrong, sure=sure, judges=judges)


def _check_promised(question: Question) -> None:
    """Raises UsageError if a licence is asked for, and nothing passes or rows count unlike."""
    asked = called("at_most_wrong")
    if question.promise is None:
        return
    if question.bar is None:
        raise UsageError(
            f"{asked} needs {called('passing', Blank('X'))}: from where on a rating is a pass"
        )
    if question.mass is not None:
        raise UsageError(
            f"{asked} cannot be answered if rows count unlike: leave "
            f"{called('columns', {'mix': Blank('NAME')})} out"
        )


def _check_several_ratings(read: ScoredRead) -> None:
    """Raises UsageError if there is neither a score to judge nor raters to compare."""
    scores = f"at least one {called('score_column')} or {called('metrics', 'METRIC')} is needed"
    needed = ""
    if are_choices(read.pool):
        needed = f"{scores}: whether raters agree is not told of choices"
    elif not read.pool.has_several_ratings:
        needed = f"two ratings of some text, or {scores}"
    if needed:
        parts = "; ".join([needed, *read.notes]).split("; ")
        parts.sort(key=lambda part: not part.startswith(called("score_column")))
        raise UsageError("; ".join(parts))


def _check_text_metrics(chosen: Mapping[str, Metric]) -> None:
    """Raises UsageError for a metric that needs references, which are not read of choices."""
    needing = [name for name, metric in chosen.items() if metric.needs]
    if needing:
        raise UsageError(
            f"{called('metrics', needing[0])} needs references, which are not read of {CHOICES}: "
            "there it takes a metric of the text alone, or rows of single texts"
        )


def _check_unanswered(parameters: Mapping[str, object], of_rows: str) -> None:
    """Raises UsageError for parameters that these rows do not answer."""
    names = [called(name) for name, value in parameters.items() if value is not None]
    if names:
        raise UsageError(f"{of_rows} {', '.join(names)} cannot be answered")


def _signature(
    question: Question, scores: Mapping[str, Scores], how: How, **more: str | None
) -> Signature:
    pool = question.read.pool
    names = sorted(scores)
    columns: list[Sequence[object]] = [pool.texts, pool.human.tolist()]
    columns += [scores[name].segments.tolist() for name in names]
    optional: dict[str, object] = {"pass": question.passing, **more}
    if question.promise is not None:
        optional["wrong"] = question.promise.at_most_wrong
        optional["sure"] = question.promise.sure
    used = {name: value for name, value in optional.items() if value is not None}
    return Signature("judge").plus(
        metrics=tuple(names),
        scores=digest_of(columns),
        **question.design.signs,
        permutations=PERMUTATIONS,
        holm="pairs",
        scale=pool.scale,
        ci=f"boot-{how.resamples}",
        seed=how.seed,
        pool=labels_of(pool),
        size=len(pool),
        v=__version__,
        **used,
    )
