"""Estimates of outputs as JSON and as rows."""

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from refless.commands.advice import Advice
from refless.commands.score.guards import GuardsRecord
from refless.data.records import Estimates, Outputs, Reason, Scale
from refless.evaluation.scoring import Mean, Scored
from refless.report.export import Cell, Rows
from refless.report.record import Count, Record, Signed
from refless.report.result import GateRecord
from refless.report.wording import Looks
from refless.stats.accepting import Accepting
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


NO = {"properties": {"estimate": {"type": "null"}}}
DEFINED = {"properties": {"reason": {"const": ""}}}
EITHER = Meta(extra_json_schema={"if": DEFINED, "then": {"not": NO}, "else": NO})


@dataclass(frozen=True, kw_only=True)
class ScoreRecord(Mean, Record):
    """Outputs with their estimates.

    Attributes:
        reasons: how often each reason of having no estimate occurs.
        systems: the mean of each system; empty without a system column.
        scale: of the raters, in whose units all estimates are; null without one.
        advice: what to do where more than a third has no estimate.
        accepted: null without --accept-above; those outputs whose estimates reach the threshold.
        these_items: whether the means are of these outputs alone, and not of outputs like them.
        looks: whether intervals of means hold for one look, or any number of them.
        guards: copies of rated texts, what a training file holds, outputs unlike all rated texts.
    """

    command: Literal["score"] = "score"
    signature: Signed
    reasons: dict[str, int]
    systems: dict[str, Mean]
    scale: Scale | None
    advice: Advice | None
    items: tuple[Annotated[EstimateRecord, EITHER], ...]
    accepted: Accepting | None
    these_items: bool
    looks: Looks
    gate: GateRecord
    guards: GuardsRecord


def estimates_of(scored: Scored) -> tuple[EstimateRecord, ...]:
    """The estimate of each output."""
    return tuple(_item(scored.estimates, i) for i in range(len(scored.outputs)))


def estimate_rows(outputs: Outputs, estimates: Estimates) -> Rows:
    """One row an output."""
    return [_row(outputs, estimates, i) for i in range(len(outputs))]


def _item(estimates: Estimates, i: int) -> EstimateRecord:
    return EstimateRecord(
        id=estimates.ids[i],
        estimate=float(estimates.values[i]),
        interval=(float(estimates.low[i]), float(estimates.high[i])),
        sd=float(estimates.sd[i]) if len(estimates.sd) else math.nan,
        support=int(estimates.support[i]),
        reason=estimates.reasons[i],
    )


def _row(outputs: Outputs, estimates: Estimates, i: int) -> dict[str, Cell]:
    """An output as CSV and JSONL have it."""
    found, systems = _item(estimates, i), outputs.systems
    low, high = found.interval
    return {
        "id": found.id,
        **({"system": systems[i]} if systems else {}),
        "estimate": found.estimate,
        "low": low,
        "high": high,
        **({"sd": found.sd} if len(estimates.sd) else {}),
        "support": found.support,
        "reason": found.reason,
        "text": outputs.texts[i],
    }
