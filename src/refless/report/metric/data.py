"""Scores of metrics as JSON and as rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from refless.metrics.scoring import Corpus, Run
from refless.records import Outputs
from refless.report.export import Cell, Rows
from refless.report.record import Count, Record, Signed, record


@dataclass(frozen=True, kw_only=True)
class MetricScores(Corpus):
    """A metric's score of all outputs, and of each system.

    Attributes:
        metric: its name; label: as it was asked for.
    """

    metric: str
    label: str
    signature: Signed
    systems: dict[str, Corpus]


@dataclass(frozen=True, kw_only=True)
class OutputScores:
    """The scores of one output, by the metrics' labels; its system is null where none is named."""

    id: str
    system: str | None
    scores: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class MetricRecord(Record):
    """Outputs scored against their references.

    Attributes:
        notes: what looks wrong about the outputs but may be right.
    """

    command: Literal["metric"] = "metric"
    n: Count
    notes: tuple[str, ...]
    metrics: tuple[MetricScores, ...]
    items: tuple[OutputScores, ...]


def metric_record(runs: Sequence[Run], outputs: Outputs, notes: Sequence[str]) -> MetricRecord:
    """The object of `refless metric FILE --format json`."""
    scores = (record(MetricScores, run, run.overall, metric=run.signature.name) for run in runs)
    return MetricRecord(
        n=len(outputs),
        notes=tuple(notes),
        metrics=tuple(scores),
        items=tuple(_item(runs, outputs, i) for i in range(len(outputs))),
    )


def metric_rows(runs: Sequence[Run], outputs: Outputs) -> Rows:
    """One row an output."""
    return [_row(runs, outputs, i) for i in range(len(outputs))]


def _item(runs: Sequence[Run], outputs: Outputs, i: int) -> OutputScores:
    scores = {run.label: float(run.segments[i]) for run in runs}
    system = outputs.systems[i] if outputs.systems else None
    return OutputScores(id=outputs.ids[i], system=system, scores=scores)


def _row(runs: Sequence[Run], outputs: Outputs, i: int) -> dict[str, Cell]:
    return {
        "id": outputs.ids[i],
        **({"system": outputs.systems[i]} if outputs.systems else {}),
        **{run.label: float(run.segments[i]) for run in runs},
        "text": outputs.texts[i],
    }
