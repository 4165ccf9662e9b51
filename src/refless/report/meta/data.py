"""Metrics against human ratings as JSON and as rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from refless.report.export import Rows
from refless.report.meta.document import MetaResult
from refless.report.record import AnnotatorsRecord, Count, Record, Signed, annotators_record, record
from refless.studies.meta import Level
from refless.studies.rater_agreement import RaterAgreement
from refless.studies.units import InUnits


@dataclass(frozen=True, kw_only=True)
class MetaRecord(Record):
    """Metrics against human ratings.

    Attributes:
        n: rated texts.
        measure: the correlation that orders metrics.
        metrics: each metric by name; its signature where it was computed here.
        annotators: each against all ratings; annotators_left_out: against the others' ratings.
    """

    command: Literal["meta"] = "meta"
    signature: Signed
    n: Count
    measure: Literal["spearman", "pearson"]
    metrics: dict[str, str | None]
    segments: Level
    systems: Level
    units: dict[str, InUnits]
    annotators: AnnotatorsRecord | None
    annotators_left_out: AnnotatorsRecord | None
    raters: RaterAgreement | None


def meta_record(found: MetaResult) -> MetaRecord:
    """The object of `refless meta --format json`."""
    signed = {name: str(one) for name, one in found.metrics.items()}
    return record(
        MetaRecord,
        found,
        found.meta,
        n=len(found.pool),
        metrics={name: signed.get(name) for name in sorted(found.scores)},
        annotators=annotators_record(found.annotators),
        annotators_left_out=annotators_record(found.left_out),
    )


def meta_rows(found: MetaResult) -> Rows:
    """One row a text."""
    pool = found.pool
    return [
        {
            "id": pool.ids[i],
            **({"system": pool.systems[i]} if pool.systems else {}),
            "human": float(pool.human[i]),
            **{name: float(one.segments[i]) for name, one in found.scores.items()},
            "text": pool.texts[i],
        }
        for i in range(len(pool))
    ]
