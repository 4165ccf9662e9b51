"""The report of `refless metric`."""

from __future__ import annotations

from collections.abc import Sequence

from refless.metrics.scoring import Corpus, Run
from refless.nouns import counted
from refless.records import Outputs
from refless.report.document import Document, Section, Table
from refless.report.wording import clipped, labels, number, with_interval

SHOWN = 10  # outputs shown to people; files and other formats have all
ADVICE = (
    "A metric is no human: small differences say little, and nothing here says that a system is "
    "as good as people."
)


def metric_document(
    runs: Sequence[Run], outputs: Outputs, notes: Sequence[str], command: str = ""
) -> Document:
    """The report of `refless metric FILE`."""
    verdict = f"{counted(len(outputs), 'output')}, scored by {counted(len(runs), 'metric')}."
    return Document(
        title=f"{counted(len(runs), 'metric')} on {counted(len(outputs), 'output')}",
        verdict=verdict,
        sections=(
            *(Section(lines=(note,), warning=True) for note in notes),
            _overall(runs),
            *_systems(runs),
            _segments(runs, outputs),
            Section(lines=(ADVICE,)),
        ),
        signatures=tuple(str(run.signature) for run in runs),
        command=command,
    )


def _overall(runs: Sequence[Run]) -> Section:
    table = Table(
        header=("metric", "score, 95 % interval", "outputs"),
        rows=tuple((run.label, *_cells(run.overall)) for run in runs),
    )
    return Section(title="All outputs", table=table)


def _cells(corpus: Corpus) -> tuple[str, str]:
    n = str(corpus.n) if corpus.n == corpus.n_scored else f"{corpus.n_scored} of {corpus.n}"
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
        (clipped(outputs.ids[i], 12), *(number(run.segments[i]) for run in runs), clipped(text))
        for i, text in enumerate(outputs.texts[:n])
    )
    header = ("id", *(run.label for run in runs), "text")
    numeric = (False, *(True for _ in runs), False)
    rest = f"All {len(outputs):,} are in --format csv, json or jsonl."
    return Section(
        title="Outputs" if n == len(outputs) else f"The first {n} outputs",
        table=Table(header=header, rows=rows, numeric=numeric),
        lines=(rest,) if n < len(outputs) else (),
    )
