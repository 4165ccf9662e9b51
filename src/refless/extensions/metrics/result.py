"""Outputs scored against their references: the result of `refless metric`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from refless.commands.texts import place_columns
from refless.data.records import Outputs
from refless.extensions.metrics.scoring import Corpus, Run
from refless.registry.plural import counted
from refless.report.document import Document, Section, Table
from refless.report.export import Rows
from refless.report.record import Count, Record, Signed, record
from refless.report.result import Result
from refless.report.wording import clipped, labels, numbers, with_interval

SHOWN = 10  # outputs shown to people; files and other formats have all
ADVICE = (
    "A metric is no human: small differences say little, and nothing here says that a system is "
    "as good as people."
)


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
    """Outputs scored against their references."""

    command: Literal["metric"] = "metric"
    n: Count
    metrics: tuple[MetricScores, ...]
    items: tuple[OutputScores, ...]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MetricResult(Result):
    """Outputs scored against their references.

    Attributes:
        runs: one a metric, with corpus scores, scores of outputs, and a signature of its own;
            `signature` is that of the first.
        outputs: what was scored.
    """

    record = MetricRecord
    runs: tuple[Run, ...]
    outputs: Outputs

    def _shown(self) -> Document:
        runs = self.runs
        outputs = counted(len(self.outputs), "output")
        metrics = counted(len(runs), "metric")
        sections = (
            _overall(runs),
            *_systems(runs),
            _segments(runs, self.outputs),
            Section(lines=(ADVICE,)),
        )
        return Document(
            title=f"{metrics} on {outputs}",
            verdict=f"{outputs}, scored by {metrics}.",
            sections=sections,
            signatures=tuple(str(run.signature) for run in runs),
        )

    def _json(self) -> Record:
        outputs = self.outputs
        systems = outputs.systems or [None] * len(outputs)
        metrics = [
            record(MetricScores, run, run.overall, metric=run.signature.name)
            for run in self.runs
        ]
        items = [
            OutputScores(id=outputs.ids[i], system=system, scores=self._scores(i))
            for i, system in enumerate(systems)
        ]
        return self._record(n=len(outputs), metrics=tuple(metrics), items=tuple(items))

    def _rows(self) -> Rows:
        """One mapping an output."""
        outputs = self.outputs
        rows = []
        for i, text in enumerate(outputs.texts):
            placed = place_columns(outputs, i)
            rows.append({**placed, **self._scores(i), "text": text})
        return rows

    def _scores(self, i: int) -> dict[str, float]:
        """The scores of one output, by the metrics' labels."""
        return {run.label: float(run.segments[i]) for run in self.runs}


def _overall(runs: Sequence[Run]) -> Section:
    table = Table(
        header=("metric", "score, 95 % interval", "outputs"),
        rows=tuple((run.label, *_cells(run.overall)) for run in runs),
    )
    return Section(title="All outputs", table=table)


def _cells(corpus: Corpus) -> tuple[str, str]:
    n = str(corpus.n)
    if corpus.n_scored < corpus.n:
        n = f"{corpus.n_scored} of {corpus.n}"
    return with_interval(corpus.score, corpus.score_interval), n


def _systems(runs: Sequence[Run]) -> tuple[Section, ...]:
    if not runs or len(runs[0].systems) < 2:
        return ()
    names = labels([*runs[0].systems], 24)
    rows = []
    for name, short in names.items():
        rows += [(short, run.label, *_cells(run.systems[name])) for run in runs]
    header = ("system", "metric", "score, 95 % interval", "outputs")
    numeric = (False, False, True, True)
    table = Table(header=header, rows=tuple(rows), numeric=numeric)
    return (Section(title="Systems", table=table),)


def _segments(runs: Sequence[Run], outputs: Outputs) -> Section:
    n = min(len(outputs), SHOWN)
    names = [clipped(name, 12) for name in outputs.ids[:n]]
    scores = [numbers(run.segments[:n].tolist()) for run in runs]
    texts = [clipped(text) for text in outputs.texts[:n]]
    rows = tuple(zip(names, *scores, texts, strict=True))
    header = ("id", *(run.label for run in runs), "text")
    numeric = (False, *(True for _ in runs), False)
    table = Table(header=header, rows=rows, numeric=numeric)
    if n == len(outputs):
        return Section(title="Outputs", table=table)
    hint = f"All {len(outputs):,} are in the CSV, JSON and JSONL."
    return Section(title=f"The first {n} outputs", table=table, lines=(hint,))
