"""stream: estimates of any number of outputs, written as they are made."""

from os import fspath
from typing import Annotated, Any

import numpy as np

from refless.commands.estimating import DEFAULT, estimated, saved_in, with_scores_of
from refless.commands.parameters import (
    Argument,
    Flag,
    Folder,
    Natural,
    Rows,
    Seed,
    Share,
    Threads,
    command,
)
from refless.commands.rows import ScoredRows, column_of, tell
from refless.commands.score.data import estimate_rows
from refless.commands.score.guards import judge_said
from refless.commands.score.run import check_on, doubted, gate, note_groups, note_systems, together
from refless.commands.stream.result import StreamResult
from refless.commands.warnings import note
from refless.data.records import Estimates, Outputs
from refless.data.tables import named, read_batches
from refless.estimators import Estimator
from refless.evaluation.judge_shift import judge_shifts
from refless.evaluation.scoring import Tally
from refless.registry.errors import InputError, UsageError
from refless.report.resumable_writer import Parts, parts_of

BATCH = 20_000


@command
def stream(
    outputs: Argument,
    *,
    model: Annotated[Folder, Flag(metavar="DIR", kind=str)],
    to: Annotated[Folder, Flag(metavar="FILE", kind=str)],
    batch: Natural = BATCH,
    min_mean: float | None = None,
    min_coverage: Share[float | None] = None,
    threads: Threads = None,
    seed: Seed = 0,
    rows: ScoredRows,
) -> StreamResult:
    """Estimate the quality of any number of outputs in little memory.

    Estimates and means are those of 'refless score --model'. Outputs are read and estimates written
    batch by batch; a run that was stopped goes on where it ended, when it is started again in the
    same way. Each row is an output, also where ids come twice. No text is kept, so gates do not see
    copies, or texts unlike the rated ones, as those of 'refless score' do.

    Args:
        outputs: Files of outputs; - is standard input.
        model: Folder of 'refless fit'.
        to: File of the estimates, .jsonl or .parquet.
        batch: Outputs that are in memory at once. No number depends on it.
        min_mean: Gate: exit 3 if the mean lies below, 4 if that cannot be told. In the raters'
            units.
        min_coverage: Gate: exit 3 below this coverage.
    """
    saved = saved_in(model, rated=None, estimator=DEFAULT, rows=rows, threads=threads)
    one, group = saved.estimator, saved.group
    _check_apart(one)
    scale = one.rated.scale
    check_on(min_mean, scale, "--min-mean")
    settings = {"outputs": named(outputs), "estimator": str(saved.signature), "batch": batch}
    # by another column estimates are others, so how outputs are read is a setting too
    settings["reading"] = {name: str(value) for name, value in rows.given().items()}
    tally = Tally()
    with parts_of(to, settings) as parts:
        count = _all(outputs, one, group, rows, batch, parts, tally)
        parts.done(count)
    note(f"wrote {fspath(to)}")
    errors = one.residuals().on(scale)
    means = tally.means(errors, seed=seed)
    note_groups(tally.groups(errors), one, group)
    note_systems({*tally.systems}, one)
    reads = tally.scores and one.without_scores() is not None
    scores = np.concatenate(tally.scores) if reads else None
    judges = () if scores is None else judge_shifts(scores, tally.labels, one.rated)
    estimates = np.frombuffer(tally.values, dtype=np.float64)
    doubts = [*doubted(errors, estimates), *filter(None, map(judge_said, judges))]
    found = gate(means.overall, min_mean, min_coverage, doubts)
    if found.reason:
        note(found.reason)
    return StreamResult(
        means=means,
        judges=judges,
        reasons=dict(sorted(tally.reasons.items())),
        path=fspath(to),
        scale=scale,
        gate=found,
        signature=saved.signature.plus(ci="boot-1000", seed=seed),
    )


def _check_apart(estimator: Estimator) -> None:
    """Raises UsageError for an estimator by which an output's answer depends on the others."""
    if estimator.get_params().get("target_coverage") is not None:
        raise UsageError(
            "which outputs target_coverage leaves out depends on all of them; fit the model with "
            "max_sd instead"
        )


def _all(
    outputs: Rows,
    estimator: Estimator,
    group: str | None,
    rows: ScoredRows,
    batch: int,
    parts: Parts,
    tally: Tally,
) -> int:
    """Estimates every batch that no run before has estimated; how many batches there are."""
    options = with_scores_of(estimator, rows)
    number = done = 0
    for number, read in enumerate(
        read_batches(outputs, options.reading(group=column_of(group or "id")), batch), 1
    ):
        tell(read)
        found = _before(parts, number - 1, read.outputs)
        done += found is not None
        if found is None:
            found = estimated(estimator, read.outputs).on(estimator.rated.scale)
            parts.put(number - 1, estimate_rows(read.outputs, found))
        labels = (
            read.outputs.sources if group is None else together(read.outputs, read.group, group)
        )
        tally.add(read.outputs, labels, found)
    if done:
        note(f"{done} of {number} batches were there from a run before")
    return number


def _before(parts: Parts, number: int, outputs: Outputs) -> Estimates | None:
    """The estimates that a run before wrote for these outputs.

    Raises:
        InputError: it wrote them for other outputs.
    """
    known = parts.rows(number)
    if known is None:
        return None
    told = [(row.get("id"), row.get("text")) for row in known]
    if told != [*zip(outputs.ids, outputs.texts, strict=True)]:
        remedy = f"give it the same outputs, or remove {parts.folder}"
        found = f"a stopped run read other outputs (batch {number + 1})"
        raise InputError(found, path=str(parts.folder), remedy=remedy)

    def numbers(name: str) -> Any:
        return np.array([row.get(name) for row in known], dtype=np.float64)  # None is NaN

    return Estimates(
        ids=outputs.ids,
        values=numbers("estimate"),
        reasons=tuple(row["reason"] for row in known),
        support=numbers("support").astype(np.int64),
        low=numbers("low"),
        high=numbers("high"),
    )
