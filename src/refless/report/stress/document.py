"""The report of `refless stress`."""

from __future__ import annotations

from collections.abc import Sequence

from refless.nouns import counted
from refless.report.document import Document, Section, Table
from refless.report.wording import clipped, labels, number, sentence, with_interval
from refless.studies.stress.material import Material
from refless.studies.stress.rows import Probe, Stressed, percent_of, relative

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


def stress_document(
    results: Sequence[Stressed], material: Material, notes: Sequence[str], command: str = ""
) -> Document:
    """The report of `refless stress FILE`."""
    items = counted(len(material.items), "item")
    return Document(
        title=f"{counted(len(results), 'scorer')} under stress on {items}",
        verdict=" ".join(map(_verdict, results)),
        sections=(
            *(Section(lines=(note,), warning=True) for note in notes),
            *(section for one in results for section in _sections(one)),
            Section(lines=(ADVICE,)),
        ),
        signatures=tuple(str(one.signature) for one in results),
        command=command,
    )


def _verdict(one: Stressed) -> str:
    """How many of the tests that came to a verdict fooled it."""
    decided = [probe.fooled for probe in one.probes if probe.fooled is not None]
    if not decided:
        return f"No test of {one.label} came to a verdict."
    return f"{one.label} is fooled by {sum(decided)} of {counted(len(decided), 'test')}."


def _sections(one: Stressed) -> list[Section]:
    marks = {True: "FOOLED", False: "holds", None: "-"}
    lines = tuple(f"{marks[probe.fooled]} ({probe.name}): {probe.verdict}" for probe in one.probes)
    skipped = tuple(
        f"Not run: {name}. {sentence(reason.rstrip('.'))}." for name, reason in one.skipped.items()
    )
    return [
        Section(title=one.label, lines=lines),
        *map(_section, one.probes),
        *([Section(lines=skipped)] if skipped else []),
    ]


def _section(probe: Probe) -> Section:
    base = probe.rows[0]
    shares = any(row.share == row.share for row in probe.rows)
    names = labels([row.label for row in probe.rows], 34)
    header = ("", *(("words",) if shares else ()), "score, 95 % interval", "change", "in %")
    rows = tuple(
        (
            names[row.label],
            *((percent_of(row.share) if row.share == row.share else "",) if shares else ()),
            with_interval(row.score, row.score_interval),
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
            if row.in_references is not None:
                where = f" (in the references of {counted(row.in_references, 'item')})"
            shown.append(f"{row.label}: {clipped(row.texts[-1], 200)}{where}")
    return tuple(shown)


def _percent(value: float) -> str:
    return "" if value != value else f"{100 * value:+.1f}"
