"""metric: outputs by metrics against references."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Annotated, ClassVar

from refless.commands.parameters import (
    OUTPUT_ROLES,
    About,
    Argument,
    ColumnRoles,
    Files,
    Metrics,
    OutputReading,
    OutputRows,
    Resamples,
    RowFilter,
    Rows,
    Seed,
    SkipBad,
    about_columns,
    command,
    names_in,
)
from refless.commands.rows import check_standard_input, tell
from refless.commands.warnings import note, progress
from refless.data.records import Outputs
from refless.data.tables import Columns, Reading, read_outputs
from refless.data.tables.roles import ROLES
from refless.extensions.metrics.references import notes
from refless.extensions.metrics.result import MetricResult
from refless.extensions.metrics.scoring import Run, run
from refless.metrics.chosen import metrics_of
from refless.registry.dialect import called
from refless.registry.errors import InputError, UsageError

TABLES = {".jsonl", ".json", ".csv", ".tsv", ".parquet"}

REFERRED_ROLES = (*OUTPUT_ROLES, "reference", "weight")
ReferredColumns = Annotated[ColumnRoles, about_columns("text=reply", REFERRED_ROLES)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferredRows(OutputRows):
    """The same with what metrics read besides the text."""

    roles: ClassVar[tuple[str, ...]] = REFERRED_ROLES


@command
def metric(
    outputs: Argument,
    metrics: Metrics,
    *,
    reference_file: Annotated[
        Files, About(names=("-r", "--reference-file"), metavar="REF")
    ] = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    columns: ReferredColumns = None,
    reading: OutputReading = None,
    skip_bad: SkipBad = False,
    where: RowFilter = None,
) -> MetricResult:
    """Score outputs by one or more metrics against references.

    For example: refless metric outputs.jsonl -m bleu

    Shows each metric's corpus score with a 95 % bootstrap interval, overall and by system; CSV,
    JSON and JSONL have the scores of single outputs. 'refless list metrics' lists the metrics.

    Args:
        outputs: Files of outputs; - is standard input.
        reference_file: References of all outputs, one a line, as sacrebleu takes them. Repeatable.
    """
    rows = ReferredRows(
        columns=columns,
        reading=reading,
        skip_bad=skip_bad,
        where=where,
    )
    chosen = metrics_of(metrics)
    named = rows.to_reading()
    records = _outputs(outputs, named, names_in(reference_file))
    runs: list[Run] = []
    with progress("scoring") as show:
        for label, scorer in chosen.items():
            runs.append(
                run(scorer, records, label=label, seed=seed, resamples=resamples)
            )
            if show is not None:
                show(len(runs) / len(chosen))
    for scored in runs:
        missing = scored.overall.n - scored.overall.n_scored
        if missing:
            note(
                f"{scored.label}: {missing} of {len(records)} outputs could not be scored"
            )
    for line in notes(records):
        note(line)
    return MetricResult(runs=tuple(runs), outputs=records, signature=runs[0].signature)


def _outputs(rows: Rows, reading: Reading, references: Sequence[str]) -> Outputs:
    check_standard_input(rows, references)
    if not references:
        return _read(rows, reading)
    if reading.columns.reference or reading.columns.weight:
        raise UsageError(
            f"references come from {called('reference_file')} or from a column, not from both"
        )
    files = [rows] if isinstance(rows, str | PathLike) else rows
    paths = [fspath(path) for path in files if isinstance(path, str | PathLike)]
    if reading.format is None and all(
        Path(path).suffix not in TABLES for path in paths
    ):
        reading = replace(reading, format="text")
        note(
            f"{', '.join(paths)} and {', '.join(references)}: plain text, one output a line"
        )
    return _with_references(_read(rows, reading), references, reading)


def _read(rows: Rows, reading: Reading) -> Outputs:
    read = read_outputs(rows, reading)
    tell(read)
    unread = " ".join(line for line in read.notes if "left unread" in line)
    if any(f"'{name}'" in unread for name in ROLES["rating"].words):
        note(
            "'refless judge FILE -m METRIC' says whether a metric agrees with the ratings"
        )
    return read.outputs


def _with_references(
    outputs: Outputs, paths: Sequence[str], reading: Reading
) -> Outputs:
    """The outputs with one reference from each file of plain lines."""
    if outputs.references:
        raise UsageError("the outputs have references of their own; leave out -r")
    plain = replace(reading, format="text", columns=Columns(), skip_bad=False)
    streams = []
    for path in paths:
        texts = read_outputs([path], plain).outputs.texts
        if len(texts) != len(outputs):
            raise InputError(
                f"{len(texts)} lines for {len(outputs)} outputs",
                path=path,
                remedy="give one reference a line, in the order of the outputs",
            )
        streams.append(texts)
    return replace(outputs, references=tuple(zip(*streams, strict=True)))
