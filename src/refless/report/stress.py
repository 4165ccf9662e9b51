"""The view of `refless stress`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from refless.report.parts import FORMAT
from refless.report.view import Cell, Section, Table, View, clipped, number, with_interval
from refless.studies.stress.material import Material
from refless.studies.stress.rows import Probe, Row, Stressed, percent_of, relative

TITLES = {
    "references": "People or systems",
    "frequent": "Frequent words",
    "rare": "Rare words",
    "sentence": "One sentence for everything",
    "direction": "Better or worse",
    "stuffing": "Stuffed with what was rated highly",
}
ADVICE = (
    "Scores are no proof of human parity, small differences say little, and a high correlation "
    "with human ratings is not enough: a metric that people can game will be gamed."
)


def stress_view(results: Sequence[Stressed], material: Material, notes: Sequence[str]) -> View:
    """The view of `refless stress FILE`."""
    json = {
        "format": FORMAT,
        "command": "stress",
        "n": len(material.items),
        "systems": list(material.systems),
        "notes": list(notes),
        "results": [_result_dict(one) for one in results],
        "advice": ADVICE,
    }
    return View(
        json=json,
        rows=[
            _flat(one, probe, row) for one in results for probe in one.probes for row in probe.rows
        ],
        sections=(
            *(Section(lines=(note,), warning=True) for note in notes),
            *(section for one in results for section in _sections(one)),
            Section(lines=(ADVICE,)),
            *(Section(lines=(f"signature: {one.signature}",)) for one in results),
        ),
    )


def _result_dict(one: Stressed) -> dict[str, object]:
    return {
        "label": one.label,
        "signature": str(one.signature),
        "probes": [_probe_dict(probe) for probe in one.probes],
        "skipped": [{"probe": name, "reason": reason} for name, reason in one.skipped],
    }


def _probe_dict(probe: Probe) -> dict[str, object]:
    return {
        "probe": probe.name,
        "about": probe.about,
        "verdict": probe.verdict,
        "fooled": probe.fooled,
        "rows": [row_dict(row, probe.rows[0]) for row in probe.rows],
    }


def row_dict(row: Row, base: Row) -> dict[str, object]:
    """A row as JSON has it."""
    return {
        "label": row.label,
        "score": row.score,
        "score_interval": list(row.interval),
        "sd": row.sd,
        "change": row.change,
        "change_interval": list(row.change_interval),
        "relative_change": relative(row, base),
        "share": row.share,
        "coverage": row.coverage,
        "expected": row.expected or None,
        "texts": list(row.texts),
        "in_references": None if row.in_references < 0 else row.in_references,
        "note": row.note,
    }


def _flat(one: Stressed, probe: Probe, row: Row) -> dict[str, Cell]:
    values = asdict(row)
    low, high = values["interval"]
    change_low, change_high = values["change_interval"]
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


def _sections(one: Stressed) -> list[Section]:
    found = [_verdicts(one)]
    found += [_section(probe) for probe in one.probes]
    if one.skipped:
        lines = tuple(f"Not run: {name}. {_sentence(reason)}" for name, reason in one.skipped)
        found.append(Section(lines=lines))
    return found


def _sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:].rstrip('.')}."


def _verdicts(one: Stressed) -> Section:
    marks = {True: "FOOLED", False: "holds", None: "-"}
    lines = tuple(f"{marks[probe.fooled]} ({probe.name}): {probe.verdict}" for probe in one.probes)
    return Section(title=one.label, lines=lines)


def _section(probe: Probe) -> Section:
    base = probe.rows[0]
    shares = any(row.share == row.share for row in probe.rows)
    header = ("", *(("words",) if shares else ()), "score, 95 % interval", "change", "in %")
    rows = tuple(
        (
            clipped(row.label, 34),
            *((percent_of(row.share) if row.share == row.share else "",) if shares else ()),
            with_interval(row.score, row.interval) if row.score == row.score else "-",
            number(row.change) if row.change == row.change else "",
            _percent(relative(row, base)),
        )
        for row in probe.rows
    )
    numeric = (False, *((True,) if shares else ()), True, True, True)
    return Section(
        title=TITLES[probe.name],
        lines=(probe.about, *_texts(probe)),
        table=Table(header=header, rows=rows, numeric=numeric),
    )


def _texts(probe: Probe) -> tuple[str, ...]:
    """The sentences behind the rows, each row's last one."""
    shown = []
    for row in probe.rows:
        if row.texts:
            where = ""
            if row.in_references >= 0:
                where = f" (in the references of {row.in_references} items)"
            shown.append(f"{row.label}: {clipped(row.texts[-1], 200)}{where}")
    return tuple(shown)


def _percent(value: float) -> str:
    return "" if value != value else f"{100 * value:+.1f}"
