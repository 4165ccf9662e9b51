"""Outputs scored against their references: the result of `refless metric`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

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
        return Document(
            title=f"{metrics} on {outputs}",
            verdict=f"{outputs}, scored by {metrics}.",
            sections=(
                _overall(runs),
                *_systems(runs),
                _segments(runs, self.outputs),
                Section(lines=(ADVICE,)),
            ),
            signatures=tuple(str(run.signature) for run in runs),
        )

    def _json(self) -> Record:
        systems = self.outputs.systems or [None] * len(self.outputs)
        return self._record(
            n=len(self.outputs),
            metrics=tuple(
                record(MetricScores, run, run.overall, metric=run.signature.name)
                for run in self.runs
            ),
            items=tuple(
                OutputScores(id=name, system=system, scores=self._scores(i))
                for i, (name, system) in enumerate(
                    zip(self.outputs.ids, systems, strict=True)
                )
            ),
        )

    def _rows(self) -> Rows:
        """One mapping an output."""
        outputs = self.outputs
        return [
            {
                "id": outputs.ids[i],
                **({"system": outputs.systems[i]} if outputs.systems else {}),
                **self._scores(i),
                "text": outputs.texts[i],
            }
            for i in range(len(outputs))
        ]

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
    n = (
        str(corpus.n)
        if corpus.n == corpus.n_scored
        else f"{corpus.n_scored} of {corpus.n}"
    )
    return with_interval(corpus.score, corpus.score_interval), n


def _systems(runs: Sequence[Run]) -> tuple[Section, ...]:
    if not runs or len(runs[0].systems) < 2:
        return ()
    names = labels([*runs[0].systems], 24)
    rows = tuple(
        (names[name], run.label, *_cells(run.systems[name]))
        for name in runs[0].systems
        for run in runs
    )
    header = ("system", "metric", "score, 95 % interval", "outputs")
    table = Table(header=header, rows=rows, numeric=(False, False, True, True))
    return (Section(title="Systems", table=table),)


def _segments(runs: Sequence[Run], outputs: Outputs) -> Section:
    n = min(len(outputs), SHOWN)
    rows = tuple(
        zip(
            [clipped(name, 12) for name in outputs.ids[:n]],
            *(numbers(run.segments[:n].tolist()) for run in runs),
            [clipped(text) for text in outputs.texts[:n]],
            strict=True,
        )
    )
    header = ("id", *(run.label for run in runs), "text")
    numeric = (False, *(True for _ in runs), False)
    hint = f"All {len(outputs):,} are in the CSV, JSON and JSONL."
    return Section(
        title="Outputs" if n == len(outputs) else f"The first {n} outputs",
        table=Table(header=header, rows=rows, numeric=numeric),
        lines=(hint,) if n < len(outputs) else (),
    )
