"""Stress tests as JSON and as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from refless.report.export import Cell, Rows
from refless.report.record import Count, Record, Signed, record
from refless.report.stress.document import ADVICE
from refless.studies.stress.material import Material
from refless.studies.stress.rows import Probe, Row, Stressed


@dataclass(frozen=True, kw_only=True)
class StressedRecord:
    """All probes of one metric, estimator or scorer, and why others were not run."""

    label: str
    signature: Signed
    probes: tuple[Probe, ...]
    skipped: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class StressRecord(Record):
    """What each probe found.

    Attributes:
        n: items; systems: names of the outputs' systems.
        notes: what was left out.
        results: one a metric, estimator or scorer.
    """

    command: Literal["stress"] = "stress"
    n: Count
    systems: tuple[str, ...]
    notes: tuple[str, ...]
    results: tuple[StressedRecord, ...]
    advice: str


def stress_record(
    results: Sequence[Stressed], material: Material, notes: Sequence[str]
) -> StressRecord:
    """The object of `refless stress FILE --format json`."""
    return StressRecord(
        n=len(material.items),
        systems=tuple(material.systems),
        notes=tuple(notes),
        results=tuple(record(StressedRecord, one) for one in results),
        advice=ADVICE,
    )


def stress_rows(results: Sequence[Stressed]) -> Rows:
    """One row for each row of each probe."""
    return [_flat(one, probe, row) for one in results for probe in one.probes for row in probe.rows]


def _flat(one: Stressed, probe: Probe, row: Row) -> dict[str, Cell]:
    (low, high), (change_low, change_high) = row.score_interval, row.change_interval
    return {
        "metric": one.label,
        "probe": probe.name,
        "label": row.label,
        "score": row.score,
        "low": low,
        "high": high,
        "sd": row.sd,
        "change": row.change,
        "change_low": change_low,
        "change_high": change_high,
        "share": row.share,
        "coverage": row.coverage,
        "text": " ||| ".join(row.texts),
        "fooled": "" if probe.fooled is None else str(probe.fooled).lower(),
    }
