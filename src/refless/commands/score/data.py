"""Estimates of outputs as JSON and as rows."""

import math
from dataclasses import dataclass
from typing import Literal

from refless.commands.score.accepting import Accepting
from refless.commands.score.guards import Guards
from refless.commands.texts import estimate_columns
from refless.data.records import Estimates, Outputs, Reason, Scale
from refless.evaluation.scoring import Mean
from refless.report.export import Cell, Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import GateRecord
from refless.stats.intervals import Interval


@dataclass(frozen=True, kw_only=True)
class EstimateRecord:
    """The estimate of one output, or the reason why there is none.

    Attributes:
        interval: 95 %, for the mean rating that the same raters would give.
        sd: standard deviation; null from an estimator that has none.
        support: rated texts behind the estimate.
        reason: empty where there is an estimate.
    """

    id: str
    estimate: float
    interval: Interval
    sd: float
    support: Count
    reason: Reason


@dataclass(frozen=True, kw_only=True)
class ScoreRecord(Mean, Record):
    """Outputs with their estimates.

    Attributes:
        reasons: how often each reason of having no estimate occurs.
        systems: the mean of each system; empty without a system column.
        design: what belongs together among the outputs; rated_design: among the rated texts.
        scale: of the raters, in whose units all estimates are; null without one.
        accepted: null without --accept-above; those outputs whose estimates reach the threshold.
        these_items: whether the means are of these outputs alone, and not of outputs like them.
        guards: copies of rated texts, outputs unlike all rated texts.
        warnings: what is shown of them, in sentences.
    """

    command: Literal["score"] = "score"
    signature: Signed
    reasons: dict[str, int]
    systems: dict[str, Mean]
    design: str
    rated_design: str
    scale: Scale | None
    items: tuple[EstimateRecord, ...]
    accepted: Accepting | None
    these_items: bool
    gate: GateRecord
    guards: Guards
    warnings: tuple[str, ...]


def estimates_of(estimates: Estimates) -> tuple[EstimateRecord, ...]:
    """The estimate of each output."""
    records = []
    for i, name in enumerate(estimates.ids):
        record = EstimateRecord(
            id=name,
            estimate=float(estimates.values[i]),
            interval=(float(estimates.low[i]), float(estimates.high[i])),
            sd=float(estimates.sd[i]) if len(estimates.sd) else math.nan,
            support=int(estimates.support[i]),
            reason=estimates.reasons[i],
        )
        records.append(record)
    return tuple(records)


def estimate_rows(outputs: Outputs, estimates: Estimates) -> Rows:
    """One row an output, as CSV and JSONL have it."""
    rows = []
    for i, name in enumerate(outputs.ids):
        row: dict[str, Cell] = {"id": name}
        if outputs.systems:
            row["system"] = outputs.systems[i]
        row |= estimate_columns(estimates, i)
        row["text"] = outputs.texts[i]
        rows.append(row)
    return rows
