"""The views of `refless metric`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from refless.metrics.scoring import Corpus, Run
from refless.records import Outputs
from refless.report.parts import FORMAT
from refless.report.view import Cell, Section, Table, View, clipped, number, with_interval

SHOWN = 10  # outputs shown to people; files and other formats have all
ADVICE = (
    "A metric is no human: small differences say little, and nothing here says that a system is "
    "as good as people."
)


def metric_view(runs: Sequence[Run], outputs: Outputs, notes: Sequence[str]) -> View:
    """The view of `refless metric FILE`."""
    json = {
        "format": FORMAT,
        "command": "metric",
        "n": len(outputs),
        "notes": list(notes),
        "metrics": [_metric_dict(run) for run in runs],
        "items": [_item(runs, outputs, i) for i in range(len(outputs))],
    }
    return View(
        json=json,
        rows=[_row(runs, outputs, i) for i in range(len(outputs))],
        sections=(
            *(Section(lines=(note,), warning=True) for note in notes),
            Section(lines=(f"{len(outputs)} outputs.",), table=_overall(runs)),
            *_systems(runs),
            _segments(runs, outputs),
            Section(lines=(ADVICE,)),
            *(Section(lines=(f"signature: {run.signature}",)) for run in runs),
        ),
    )


def _metric_dict(run: Run) -> dict[str, object]:
    return {
        "metric": run.signature.name,
        "label": run.label,
        "signature": str(run.signature),
        **_corpus_dict(run.overall),
        "systems": {name: _corpus_dict(corpus) for name, corpus in run.systems.items()},
    }


def _corpus_dict(corpus: Corpus) -> dict[str, object]:
    return {
        "score": corpus.score,
        "score_interval": list(corpus.interval),
        "n": corpus.n,
        "n_scored": corpus.n_scored,
    }


def _item(runs: Sequence[Run], outputs: Outputs, i: int) -> dict[str, object]:
    return {
        "id": outputs.ids[i],
        **({"system": outputs.systems[i]} if outputs.systems else {}),
        "scores": {run.label: float(run.segments[i]) for run in runs},
    }


def _row(runs: Sequence[Run], outputs: Outputs, i: int) -> dict[str, Cell]:
    return {
        "id": outputs.ids[i],
        **({"system": outputs.systems[i]} if outputs.systems else {}),
        **{run.label: float(run.segments[i]) for run in runs},
        "text": outputs.texts[i],
    }


def _overall(runs: Sequence[Run]) -> Table:
    rows = tuple((run.label, *_cells(run.overall)) for run in runs)
    return Table(
        header=("metric", "score, 95 % interval", "outputs"),
        rows=rows,
        numeric=(False, True, True),
    )


def _cells(corpus: Corpus) -> tuple[str, str]:
    n = str(corpus.n) if corpus.n == corpus.n_scored else f"{corpus.n_scored} of {corpus.n}"
    return with_interval(corpus.score, corpus.interval), n


def _systems(runs: Sequence[Run]) -> tuple[Section, ...]:
    if not runs or len(runs[0].systems) < 2:
        return ()
    rows = tuple(
        (clipped(name, 24), run.label, *_cells(run.systems[name]))
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
    rest = f"The other {len(outputs) - n} are in --format csv, json or jsonl."
    return Section(
        title="Outputs" if n == len(outputs) else f"The first {n} outputs",
        table=Table(header=header, rows=rows, numeric=numeric),
        lines=(rest,) if n < len(outputs) else (),
    )


def list_view(metrics: Sequence[Mapping[str, str]]) -> View:
    """The view of `refless metric --list`: rows of name, needs, missing and parameters."""
    rows = tuple(
        (row["name"], row["needs"], row["missing"] or "ready", row["parameters"]) for row in metrics
    )
    header = ("metric", "needs", "here", "parameters and defaults")
    table = Table(header=header, rows=rows, numeric=(False, False, False, False))
    return View(
        json={"format": FORMAT, "command": "metric", "available": [dict(row) for row in metrics]},
        rows=[dict(row) for row in metrics],
        sections=(
            Section(table=table),
            Section(lines=("Give parameters with the name: -m bleu:order=2,smooth=exp",)),
        ),
    )
