"""The result of `refless stress`: rows and verdicts of each probe."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from refless.extensions.papers.stress.material import StressItems
from refless.extensions.papers.stress.rows import (
    Probe,
    Row,
    Stressed,
    percent_of,
    relative,
)
from refless.registry.dialect import called
from refless.registry.plural import counted
from refless.report.charts import Line, row_chart
from refless.report.document import (
    Card,
    Document,
    Figure,
    Section,
    State,
    Table,
    folded,
)
from refless.report.export import Cell, Rows
from refless.report.record import Count, Record, Signed, record
from refless.report.result import Result
from refless.report.wording import clipped, labels, numbers, sentence, with_intervals

TITLES = {
    "references": "People or systems",
    "frequent": "Frequent words",
    "rare": "Rare words",
    "sentence": "One sentence for everything",
    "useless": "Useless outputs",
    "stuffing": "Stuffed with what was rated highly",
}
LABELS: dict[State, str] = {
    "yes": "Yes, as far as tested",
    "no": "No, it can be fooled",
    "open": "Cannot be told yet",
}
ADVISED: dict[State, str] = {
    "yes": "ask 'refless judge' whether people agree with it.",
    "no": "use it beside people's ratings, and look at the texts that it rates highest.",
    "open": "give more items, or outputs that no guard warns of.",
}
ADVICE = (
    "Scores are no proof of human parity, small differences say little, and a high correlation "
    "with human ratings is not enough: a metric that people can game will be gamed."
)


@dataclass(frozen=True, kw_only=True)
class StressedRecord:
    """All probes of one metric, estimator or scorer, and why others were not run."""

    label: str
    signature: Signed
    probes: tuple[Probe, ...]
    skipped: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class StressRecord(Record):
    """The rows and verdicts of each probe.

    Attributes:
        n: items; systems: names of the outputs' systems.
        results: one a metric, estimator or scorer.
    """

    command: Literal["stress"] = "stress"
    n: Count
    systems: tuple[str, ...]
    results: tuple[StressedRecord, ...]
    advice: str


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class StressResult(Result):
    """The rows and verdicts of each probe.

    Attributes:
        stressed: one a metric, estimator or scorer, with a signature of its own; `signature` is
            that of the first.
        material: items, references and outputs.
    """

    record = StressRecord
    stressed: tuple[Stressed, ...]
    material: StressItems

    def _shown(self) -> Document:
        items = counted(len(self.material.items), "item")
        scorers = counted(len(self.stressed), "scorer")
        sections: list[Section] = []
        for stressed in self.stressed:
            sections += _sections(stressed)
        return Document(
            title=f"{scorers} under stress on {items}",
            cards=tuple(map(_card, self.stressed)),
            notes=(ADVICE,),
            sections=tuple(sections),
            signatures=tuple(str(stressed.signature) for stressed in self.stressed),
        )

    def _json(self) -> Record:
        return self._record(
            n=len(self.material.items),
            systems=tuple(self.material.systems),
            results=tuple(record(StressedRecord, part) for part in self.stressed),
            advice=ADVICE,
        )

    def _rows(self) -> Rows:
        """One mapping a row of a probe."""
        rows = []
        for stressed in self.stressed:
            for probe in stressed.probes:
                rows += [_flat(stressed.label, probe, row) for row in probe.rows]
        return rows


def _flat(label: str, probe: Probe, row: Row) -> dict[str, Cell]:
    low, high = row.score_interval
    change_low, change_high = row.change_interval
    return {
        "metric": label,
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
        "text": row.text,
        "fooled": "" if probe.fooled is None else str(probe.fooled).lower(),
    }


def _card(stressed: Stressed) -> Card:
    """The card on a scorer: whether any test fooled it, and what each change does to its scores."""
    decided = [probe for probe in stressed.probes if probe.fooled is not None]
    fooled = [probe.name for probe in decided if probe.fooled]
    tests = counted(len(decided), "test")
    state: State = "open"
    answer = f"No test could tell whether {stressed.label} can be fooled."
    advice = ""
    if not stressed.probes:
        answer = f"No test of {stressed.label} could be run."
        others = f"choose others with {called('probe')}"
        advice = f"give what each test lacks, or {others}."
    if fooled:
        state = "no"
        answer = f"{stressed.label} is fooled by {len(fooled)} of {tests}: {', '.join(fooled)}."
    elif decided:
        state = "yes"
        answer = f"{stressed.label} is fooled by none of {tests}."
    return Card(
        topic=stressed.label,
        question=f"Does {stressed.label} withstand attempts to fool it?",
        state=state,
        label=LABELS[state],
        answer=answer,
        rests="" if decided else " ".join(_not_run(stressed)),
        unfit="a claim of human parity, or that small differences matter.",
        advice=advice or ADVISED[state],
        figures=_pictures(stressed),
    )


def _pictures(stressed: Stressed) -> tuple[Figure, ...]:
    """Changes of the score in percent, of each row of each test; none without a change."""
    lines = []
    for probe in stressed.probes:
        base, *rows = probe.rows
        for row in rows:
            before = abs(base.score)
            low, high = row.change_interval
            if row.change == row.change and before:
                ends = (100 * low / before, 100 * high / before)
                value = 100 * relative(row, base)
                style = "c1" if probe.fooled else "c0"
                lines.append(
                    Line(name=row.label, value=value, interval=ends, style=style)
                )
    if not lines:
        return ()
    caption = "Change of the score in percent. Orange: of tests that fooled it."
    return (row_chart(lines, "change in %", stressed.label, caption, zero=True),)


def _sections(stressed: Stressed) -> list[Section]:
    marks = {True: "FOOLED", False: "holds", None: "-"}
    lines = tuple(
        f"{marks[probe.fooled]} ({probe.name}): {probe.verdict}"
        for probe in stressed.probes
    )
    skipped = _not_run(stressed)
    numbers = [*map(_section, stressed.probes)]
    if skipped:
        numbers.append(Section(lines=skipped))
    return [Section(title=stressed.label, lines=lines), *folded(numbers)]


def _not_run(stressed: Stressed) -> tuple[str, ...]:
    """The tests that could not be run, and why."""
    return tuple(
        f"Not run: {name}. {sentence(reason.rstrip('.'))}."
        for name, reason in stressed.skipped.items()
    )


def _section(probe: Probe) -> Section:
    base = probe.rows[0]
    shares = any(row.share == row.share for row in probe.rows)
    names = labels([row.label for row in probe.rows], 34)
    scores = with_intervals(
        [row.score for row in probe.rows], [row.score_interval for row in probe.rows]
    )
    changes = numbers([row.change for row in probe.rows])
    header = ["", "score, 95 % interval", "change", "in %"]
    if shares:
        header.insert(1, "words")
    rows = []
    for row, score, change in zip(probe.rows, scores, changes, strict=True):
        cells = [names[row.label], score, change, _percent(relative(row, base))]
        if row.change != row.change:
            cells[2] = ""
        if shares:
            cells.insert(1, percent_of(row.share) if row.share == row.share else "")
        rows.append(tuple(cells))
    numeric = (False, *[True] * (len(header) - 1))
    table = Table(header=tuple(header), rows=tuple(rows), numeric=numeric)
    lines = (probe.about, *_texts(probe))
    return Section(title=TITLES[probe.name], lines=lines, table=table)


def _texts(probe: Probe) -> tuple[str, ...]:
    """The sentences behind the rows."""
    lines = []
    for row in probe.rows:
        if row.text:
            where = ""
            if row.in_references is not None:
                where = f" (in the references of {counted(row.in_references, 'item')})"
            lines.append(f"{row.label}: {clipped(row.text, 200)}{where}")
    return tuple(lines)


def _percent(value: float) -> str:
    return "" if value != value else f"{100 * value:+.1f}"
