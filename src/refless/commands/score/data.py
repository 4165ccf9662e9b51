"""Estimates of outputs, and what was chosen among them, as JSON and as rows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from refless.commands.advised import Advice
from refless.commands.score.guards import GuardsRecord
from refless.data.records import Estimates, Outputs, Reason, Scale
from refless.evaluation.best_of import BestOf, Choice
from refless.evaluation.scoring import Mean, Scored
from refless.report.export import Cell, Rows
from refless.report.record import Count, Record, Signed, record
from refless.report.result import GateRecord
from refless.stats.accepting import Accepting
from refless.stats.intervals import UNDEFINED, Interval


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
class ChoiceRecord:
    """The output with the highest estimate of one item; null where none has an estimate.

    Attributes:
        item: its name; the output's id where the output names no item.
        candidates: outputs of the item; n_scored: those with an estimate.
        fallback: whether the estimate lies below `fallback_below`, or there is none.
    """

    item: str
    id: str | None
    text: str | None
    estimate: float
    interval: Interval
    candidates: Count
    n_scored: Count
    reasons: dict[str, int]
    fallback: bool


@dataclass(frozen=True, kw_only=True)
class BestOfRecord:
    """The best output of each item.

    Attributes:
        by: what the outputs to choose from have in common.
        n_tied: items whose highest estimate several outputs share.
        n_fallback: items whose `fallback` is true.
    """

    by: Literal["item", "source"]
    n_tied: Count
    n_fallback: Count
    fallback_below: float | None
    items: tuple[ChoiceRecord, ...]


@dataclass(frozen=True, kw_only=True)
class ScoreRecord(Mean, Record):
    """Outputs with their estimates.

    Attributes:
        reasons: how often each reason of having no estimate occurs.
        systems: the mean of each system; empty without a system column.
        scale: of the raters, in whose units all estimates are; null without one.
        advice: what to do where more than a third has no estimate.
        best_of: null without --best-of.
        accepted: null without --accept-above; those outputs whose estimates reach the threshold.
        these_items: whether the means are of these outputs alone, and not of outputs like them.
        guards: copies of rated texts, outputs unlike all rated texts.
    """

    command: Literal["score"] = "score"
    signature: Signed
    reasons: dict[str, int]
    systems: dict[str, Mean]
    scale: Scale | None
    advice: Advice | None
    items: tuple[Annotated[EstimateRecord, EITHER], ...]
    best_of: BestOfRecord | None
    accepted: Accepting | None
    these_items: bool
    gate: GateRecord
    guards: GuardsRecord


def estimates_of(scored: Scored) -> tuple[EstimateRecord, ...]:
    """The estimate of each output."""
    return tuple(_item(scored.estimates, i) for i in range(len(scored.outputs)))


def chosen(scored: Scored, best: BestOf) -> BestOfRecord:
    """What `--best-of` chose."""
    items = tuple(_choice(scored, choice) for choice in best.choices)
    return record(BestOfRecord, best, items=items)


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


def _choice(scored: Scored, choice: Choice) -> ChoiceRecord:
    i, nothing = choice.best, {"id": None, "estimate": math.nan, "interval": UNDEFINED}
    return record(
        ChoiceRecord,
        choice,
        *(() if i is None else (_item(scored.estimates, i),)),
        **(nothing if i is None else {}),
        text=None if i is None else scored.outputs.texts[i],
        candidates=len(choice.rows),
    )


def best_row(scored: Scored, choice: Choice) -> dict[str, Cell]:
    """The chosen output as `refless score` has it, and its item; empty where there is none."""
    cells: Mapping[str, Cell]
    if choice.best is None:
        cells = {
            **dict.fromkeys(_row(scored.outputs, scored.estimates, choice.rows[0])),
            "reason": ", ".join(choice.reasons),
        }
    else:
        cells = _row(scored.outputs, scored.estimates, choice.best)
    return {
        "item": choice.item,
        **cells,
        "candidates": len(choice.rows),
        "n_scored": choice.n_scored,
        "fallback": choice.fallback,
    }
