"""Estimates of any number of outputs, written as they are made; their means are the result."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import fspath
from typing import Literal

import numpy as np

from refless.commands.advised import reasons_sections
from refless.commands.estimating import estimated, with_scores_of
from refless.commands.parameters import Folder, Rows
from refless.commands.rows import ScoredRows, column_of, tell
from refless.commands.score.data import estimate_rows
from refless.commands.score.document import WHETHER, mean_sentence, systems_sections, verdict
from refless.commands.score.gates import doubted, gate, note_groups, note_systems
from refless.commands.score.guards import judge_said
from refless.commands.warnings import note
from refless.data.records import Scale
from refless.data.tables import read_batches
from refless.estimators import Estimator
from refless.estimators.saved import Saved
from refless.evaluation.groups import output_groups
from refless.evaluation.judge_shift import JudgeShift, judge_shifts
from refless.evaluation.scoring import Mean, Means, Tally
from refless.registry.plural import counted
from refless.report.batches import writer
from refless.report.document import Document, Section
from refless.report.record import Record, Signed
from refless.report.result import GateRecord, Result
from refless.report.wording import estimator_name, sentence

BATCH = 20_000  # outputs in memory at a time


@dataclass(frozen=True, kw_only=True)
class StreamRecord(Mean, Record):
    """Means of outputs, and the file of their estimates.

    Attributes:
        path: the file; reasons: how often each reason of having no estimate occurs.
        systems: the mean of each system; empty without a system column.
        scale: of the raters, in whose units all estimates are; null without one.
        judges: the scores that estimates read beside those of rated texts.
        said: what is shown of these, in sentences.
    """

    command: Literal["score"] = "score"
    signature: Signed
    path: str
    reasons: dict[str, int]
    systems: dict[str, Mean]
    scale: Scale | None
    gate: GateRecord
    judges: tuple[JudgeShift, ...]
    said: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class StreamResult(Result):
    """Means of outputs whose estimates are in a file: the result of `refless score --to`."""

    record = StreamRecord
    means: Means
    judges: tuple[JudgeShift, ...]
    reasons: dict[str, int]
    path: str
    scale: Scale | None

    def _shown(self) -> Document:
        name, mean = estimator_name(self.signature), self.means.overall
        warnings = (Section(lines=(line,), warning=True) for line in sentences(self.judges))
        return Document(
            title=f"{sentence(name)} on {counted(mean.n, 'output')}",
            verdict=verdict(name, mean, self.scale),
            notes=(mean_sentence(mean), WHETHER),
            sections=(
                *warnings,
                *systems_sections(self.means.systems),
                *reasons_sections(self.reasons, mean.n),
                Section(lines=(f"Estimates of all outputs: {self.path}",)),
            ),
        )

    def _json(self) -> Record:
        mean, systems = self.means.overall, self.means.systems
        return self._record(mean, systems=systems, said=sentences(self.judges))


def sentences(judges: Sequence[JudgeShift]) -> tuple[str, ...]:
    """What is shown of the scores that estimates read."""
    return tuple(filter(None, map(judge_said, judges)))


def streamed(
    outputs: Rows,
    saved: Saved,
    rows: ScoredRows,
    to: Folder,
    min_mean: float | None,
    min_coverage: float | None,
    seed: int,
) -> StreamResult:
    """Reads, estimates and writes outputs batch by batch; `to` is written whole or not at all.

    Raises:
        UsageError: another ending than .jsonl or .parquet.
    """
    estimator, scale = saved.estimator, saved.estimator.rated.scale
    tally = _tally(outputs, estimator, saved.group, rows, to)
    note(f"wrote {fspath(to)}")
    errors = estimator.residuals().on(scale)
    means = tally.means(errors, seed=seed)
    note_groups(estimator, saved.group, known=tally.are_known(errors))
    note_systems({*tally.systems}, estimator)
    reads = tally.scores and estimator.without_scores() is not None
    scores = np.concatenate(tally.scores) if reads else None
    judges = () if scores is None else judge_shifts(scores, tally.labels, estimator.rated)
    estimates = np.frombuffer(tally.values, dtype=np.float64)
    doubts = [*doubted(errors, estimates), *sentences(judges)]
    verdict = gate(means.overall, min_mean, min_coverage, doubts)
    if verdict.reason:
        note(verdict.reason)
    return StreamResult(
        means=means,
        judges=judges,
        reasons=dict(sorted(tally.reasons.items())),
        path=fspath(to),
        scale=scale,
        gate=verdict,
        signature=saved.signature.plus(ci="boot-1000", seed=seed),
    )


def _tally(
    outputs: Rows, estimator: Estimator, group: str | None, rows: ScoredRows, to: Folder
) -> Tally:
    """Estimates and writes every batch; what is kept of them."""
    reading = with_scores_of(estimator, rows).to_reading(group=column_of(group or "id"))
    tally = Tally()
    with writer(to) as write:
        for read in read_batches(outputs, reading, BATCH):
            tell(read)
            estimates = estimated(estimator, read.outputs).on(estimator.rated.scale)
            write(estimate_rows(read.outputs, estimates))
            labels = read.outputs.sources
            if group is not None:
                labels = tuple(output_groups(read.outputs, read.group, group))
            tally.add(read.outputs, labels, estimates)
    return tally
