"""score: an estimate for each output, their mean, gates."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from os import fspath
from typing import Annotated, Any

from refless.commands.estimating import DEFAULT, chosen, estimated, fitted
from refless.commands.judged_by import check_judged
from refless.commands.models import saved_in, with_scores_of
from refless.commands.parameters import (
    About,
    Argument,
    Chosen,
    Dimension,
    Files,
    Folder,
    Group,
    Inside,
    LowerIsBetter,
    Model,
    RatedColumns,
    RatedReading,
    RatingScale,
    RowFilter,
    Rows,
    Rubric,
    ScoreColumn,
    Seed,
    Share,
    SkipBad,
    TheseItems,
    Threads,
    command,
    this_call,
)
from refless.commands.random_draw import draw_remark
from refless.commands.rows import (
    ScoredRows,
    both_of,
    check_standard_input,
    note_codes,
    note_keys,
    note_unread,
    rated_of,
    sorted_outputs_of,
)
from refless.commands.score.accepting import Accepting, accepting
from refless.commands.score.gates import (
    check_on,
    doubted,
    gate,
    note_groups,
    note_systems,
)
from refless.commands.score.guards import guards
from refless.commands.score.guards_shown import said
from refless.commands.score.result import ScoreResult, signature_of
from refless.commands.score.shard import ShardJob
from refless.commands.score.shards import files_in, streamed
from refless.commands.score.shards_result import shards_result
from refless.commands.warnings import note
from refless.data.choices import are_choices
from refless.data.design import Design, column_of, group_names, unit_level, units_of
from refless.data.records import Outputs, RatedPool, Residuals, picked
from refless.data.tables import OutputsRead, PoolRead
from refless.data.tables.formats import is_export
from refless.data.tables.memory import paths_of
from refless.estimators import ESTIMATORS, Estimator
from refless.estimators.saved import Saved
from refless.evaluation.random_draw import random_draw
from refless.evaluation.scoring import scored
from refless.files.untrusted import is_folder
from refless.registry.arrays import IntArray, numbered
from refless.registry.dialect import called, flags_spoken, saving
from refless.registry.errors import UsageError

OF_SCORE = (  # parameters that 'validate' has not
    "rated model min_mean min_coverage accept_above at_most_wrong judged_by rubric to these_items"
)
SELECTED = (
    "Estimates and their intervals then hold for outputs like the rated ones: have some rated that "
    "are drawn at random."
)


@command
def score(
    outputs: Argument,
    rated: Files = None,
    *,
    model: Model = None,
    estimator: Chosen = DEFAULT,
    min_mean: float | None = None,
    min_coverage: Share[float | None] = None,
    accept_above: float | None = None,
    at_most_wrong: Inside[float] = 0.05,
    group: Group = None,
    judged_by: Annotated[Folder | None, About(kind=str | None, metavar="FILE")] = None,
    rubric: Rubric = None,
    to: Annotated[Folder | None, About(names=("-o",), kind=str | None)] = None,
    these_items: TheseItems = False,
    threads: Threads = None,
    seed: Seed = 0,
    columns: RatedColumns = None,
    reading: RatedReading = None,
    skip_bad: SkipBad = False,
    where: RowFilter = None,
    scale: RatingScale = None,
    dimension: Dimension = None,
    lower_is_better: LowerIsBetter = None,
    score_column: ScoreColumn = None,
) -> ScoreResult:
    """Estimate the quality of each output from the rated texts: no reference is needed.

    For example: refless score outputs.csv --rated rated.csv -o estimates.csv

    Shows the mean with its interval, the coverage, and each output's estimate, interval, support
    (how many rated texts it rests on) or the reason why there is none, in the raters' units. From
    preference pairs it is the share of choices that the output would win.

    Args:
        outputs: Files of outputs; - is standard input. Without `rated`: rows with a rating are
            rated texts, rows without one are outputs.
        rated: Files of rated texts, or of preference pairs.
        min_mean: Gate: exit 3 if the mean lies below, 4 if that cannot be told. In the raters'
            units.
        min_coverage: Gate: exit 3 below this coverage. `min_mean` needs it where outputs have no
            estimate: the mean is then over a part of them.
        accept_above: Say which outputs need no person, as people would rate them at least so high.
            In the raters' units.
        at_most_wrong: With `accept_above`: the share of accepted outputs that may lie below, kept
            with 90 % confidence.
        judged_by: JSON of 'refless judge': refuses the scores of another judge or another rubric,
            and says if the ratings are others or its gate did not pass.
        rubric: With `judged_by`: the rubric that the judge followed.
        to: Folder of the estimates, a file for each of the files of outputs (.jsonl, .csv or
            .parquet, perhaps .gz), or for each in a folder: in bounded memory, on all cores, and
            after a kill it goes on. With `model`.
    """
    rows = ScoredRows(
        columns=columns,
        reading=reading,
        skip_bad=skip_bad,
        where=where,
        scale=scale,
        dimension=dimension,
        lower_is_better=lower_is_better,
        score_column=score_column,
    )
    if rubric is not None and judged_by is None:
        raise UsageError(f"{called('rubric')} goes with {called('judged_by')}")
    if to is not None:
        _check_shardable(to, model, estimator)
        place = _model_of_shards(to, model, accept_above)
        saved = saved_in(place, rated=rated, estimator=estimator, rows=rows, threads=1)
        _check_group(saved, group)
        if judged_by is not None:
            check_judged(judged_by, rubric, saved.estimator.rated)
        check_on(min_mean, saved.estimator.rated.scale, "min_mean")
        note_unread([saved.estimator], saved.estimator.rated)
        job = ShardJob(
            model=fspath(place),
            signature=str(saved.signature),
            rows=rows,
            folder=fspath(to),
            seed=seed,
            flags=flags_spoken(),
        )
        return shards_result(
            streamed(job, outputs, saved, threads),
            saved,
            _rated_design(saved.estimator, saved.group),
            folder=job.folder,
            min_mean=min_mean,
            min_coverage=min_coverage,
            seed=seed,
            these=these_items,
        )
    runs = None
    outputs = _without_folders(outputs)
    if model is None:
        fit = chosen(estimator, threads, seed)
        texts = _read(outputs, rated, rows, group)
    else:
        saved = saved_in(
            model, rated=rated, estimator=estimator, rows=rows, threads=threads
        )
        _check_group(saved, group)
        fit = saved.estimator
        group = saved.group
        runs = saved.runs
        texts = _read_for(saved, outputs, rows)
    if judged_by is not None:
        check_judged(judged_by, rubric, texts.rated)
    scale = texts.rated.scale
    check_on(min_mean, scale, "min_mean")
    check_on(accept_above, scale, "accept_above")
    note_unread([fit], texts.rated)
    fit = fit if model else fitted(fit, texts.rated, texts.labels)
    errors = fit.residuals().on(scale)
    labels = units_of(texts.outputs, texts.groups, like=fit.rated)
    values = estimated(fit, texts.outputs).on(scale)
    estimates = scored(
        texts.outputs, values, errors, labels, seed=seed, these=these_items
    )
    note_groups(fit, group, known={*errors.sources}.issuperset(labels))
    note_systems({*texts.outputs.systems}, fit)
    alarms = guards(
        estimates,
        fit.rated,
        errors,
        groups=labels,
        judges=fit.without_scores() is not None,
        seed=seed,
        runs=runs,
    )
    warnings = said(alarms, estimates.overall, one_file=texts.one_file)
    doubts = [*doubted(errors, estimates.estimates.values), *warnings]
    verdict = gate(estimates.overall, min_mean, min_coverage, doubts)
    if verdict.reason:
        note(verdict.reason)
    rated_design = _rated_design(fit, group)
    design = Design.labelled(texts.outputs, rated_design.level, labels)
    signature = signature_of(Saved(fit, group), "boot-1000", seed, these=these_items)
    signature = signature.plus(**rated_design.signs)
    if accept_above is not None:
        signature = signature.plus(accept=accept_above, wrong=at_most_wrong)
    return ScoreResult(
        scored=estimates.listed(texts.listed),
        files=picked(texts.files, texts.listed),
        guards=alarms,
        one_file=texts.one_file,
        estimator=fit,
        accepted=_accepted(errors, accept_above, at_most_wrong),
        gate=verdict,
        design=design.said(noun="output"),
        rated_design=rated_design.said(fit.given[0].ratings, "rated text"),
        validating="" if model else _validating(outputs if rated is None else rated),
        signature=signature,
    )


def _validating(rated: Rows) -> str:
    """The line that validates estimates from these rated texts."""
    changes = {**dict.fromkeys(OF_SCORE.split()), "outputs": rated}
    return replace(this_call(), name="validate").said(**changes)


def _check_shardable(to: Folder, model: Folder | None, estimator: Any) -> None:
    """Raises UsageError for an estimator of the user's own, which no file can hold."""
    if model is None and type(chosen(estimator)) not in {*ESTIMATORS.values()}:
        raise UsageError(
            f"{called('to', fspath(to))}: an estimator of your own cannot be saved, and a folder "
            f"needs a saved one: name the files of outputs, and write one file: "
            f"{saving('estimates.csv')}"
        )


def _model_of_shards(
    to: Folder, model: Folder | None, accept_above: float | None
) -> Folder:
    """The file of the estimator; raises UsageError for what a stream of shards cannot have."""
    place = called("to", fspath(to))
    if model is None:
        saved = called("model", "model.safetensors")
        raise UsageError(
            f"{place}: shards are scored by a fitted estimator. Save one with 'refless fit', and "
            f"give it with {saved}"
        )
    if accept_above is not None:
        raise UsageError(
            f"{place}: {called('accept_above')} is for outputs that are all in memory; leave one "
            "of them out"
        )
    return model


def _rated_design(fit: Estimator, group: str | None) -> Design:
    """The design of the rated texts, as errors were measured."""
    pool, labels = fit.given
    level = group or ("group" if labels else unit_level(pool))
    return Design.labelled(pool, level, units_of(pool, labels))


def _accepted(errors: Residuals, above: float | None, wrong: float) -> Accepting | None:
    """The estimates that need no person, by the held-out ones; None if that is not asked."""
    if above is None:
        return None
    together = numbered(errors.sources, len(errors))
    return accepting(errors.human - errors.values, errors.human, together, above, wrong)


def _check_group(saved: Saved, group: str | None) -> None:
    """Raises UsageError for another group than the model was made with."""
    if group not in {None, saved.group}:
        origin = f"with {called('group')} {saved.group}"
        if saved.group is None:
            origin = f"without {called('group')}"
        raise UsageError(
            f"the model was made {origin}; leave {called('group')} out, or make another"
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Texts:
    """The rated texts and the outputs, perhaps of one file, with their groups if not sources.

    Both are sorted by content; listed: [n] the outputs in the order of their rows; files: [n] that
    they are from, if there are several.
    """

    rated: RatedPool
    outputs: Outputs
    listed: IntArray
    files: Sequence[str]
    labels: Sequence[str] = ()
    groups: Sequence[str] = ()
    one_file: bool = False


def _read(outputs: Rows, rated: Rows, rows: ScoredRows, group: str | None) -> _Texts:
    """The rated texts and the outputs, from two places or from one."""
    check_standard_input(outputs, rated)
    one_file = rated is None
    if rated is not None:
        pool, labels = rated_of(rated, rows, group)
        reading = rows.to_reading(group=column_of(group))
        new = sorted_outputs_of(outputs, replace(reading, beside_rated=True))
        note_keys(pool, new.outputs)
    elif isinstance(outputs, RatedPool | Outputs):
        raise UsageError("rated is needed: estimates come from rated texts")
    else:
        both, new = both_of(outputs, rows, group)
        pool = both.pool
        labels = both.group
        _note_draw(both, new)
    texts = new.outputs
    note_codes(pool, texts)
    if group is None:
        return _Texts(pool, texts, new.listed, new.files, one_file=one_file)
    labels = group_names(pool, group, labels)
    of_outputs = group_names(texts, group, new.group)
    return _Texts(
        pool, texts, new.listed, new.files, labels, of_outputs, one_file=one_file
    )


def _without_folders(outputs: Rows) -> Rows:
    """The outputs, a folder of tables as its files."""
    paths = paths_of(outputs) or ()
    folders = [path for path in paths if is_folder(path) and not is_export(path)]
    if not folders:
        return outputs
    files = (sorted(files_in(path)) if path in folders else [path] for path in paths)
    return [*chain.from_iterable(files)]


def _note_draw(rated: PoolRead, outputs: OutputsRead) -> None:
    """Says if the rated rows of a file do not look drawn at random within their systems."""
    if are_choices(rated.pool):
        return
    first_rows = (rated.first_rows, outputs.first_rows)
    draw = random_draw(rated.pool, outputs.outputs, first_rows, by_system=True)
    note(draw_remark(draw, SELECTED))


def _read_for(saved: Saved, outputs: Rows, rows: ScoredRows) -> _Texts:
    """The outputs, and the rated texts of a fitted estimator."""
    reading = with_scores_of(saved.estimator, rows)
    column = column_of(saved.group)
    read = sorted_outputs_of(outputs, reading.to_reading(group=column))
    texts = read.outputs
    note_codes(saved.estimator.rated, texts)
    labels = () if saved.group is None else group_names(texts, saved.group, read.group)
    return _Texts(saved.estimator.rated, texts, read.listed, read.files, (), labels)
