"""BLEU Neighbors (Ethayarajh and Sadigh 2020): the paper's tables beside ours.

    python papers/bleu_neighbors.py --data ../shared/data [--only table-3] [--model DIR]

Tables 1 to 3, the data behind Figures 2 to 4, and section 5.3. Summarization is the paper's own
data (HUSE), with variants that show what the paper left open. Its dialogue and language-model data
are no longer public, nor are the scores of its test essays: STAND-INS are marked. Exit status 2
where the data is absent.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from bleu_neighbors_essays import (
    TASK_NOTE,
    essay_notes,
    essay_rows,
    essays_of,
    task_rows,
)
from bleu_neighbors_figures import Figure, all_sections, figures, hanging
from data_files import absent

from refless.data.human import canonical_order, fingerprint
from refless.data.records import Predictions, RatedPool, Scale
from refless.data.tables import Reading, read_pool
from refless.estimators.neighbors import BLEUNeighbors
from refless.evaluation.annotators import Annotators, annotators
from refless.evaluation.held_out import agreement
from refless.metrics.bertscore import BertScore
from refless.metrics.protocol import METRICS
from refless.registry.errors import RefLessError
from refless.registry.signature import Signature
from refless.registry.version import __version__
from refless.report.document import Document, Section
from refless.report.document import Table as Cells
from refless.report.export import as_json
from refless.report.text import as_text
from refless.report.wording import number, with_interval

HUSE = Path("huse-summarization") / "judgements.tsv"
GRADE = Path("grade") / "judgements.tsv"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SEED = 0
PARTS = ("table-1", "table-2", "table-3", "figures")

# a method, its measures as `refless validate` names them, its signature
Row = dict[str, Any]
PAPER = {  # Table 1, summarization
    "human, best": {"mse": 0.0200, "spearman": 0.921, "coverage": 1.00},
    "human, average": {"mse": 0.0802, "spearman": 0.405, "coverage": 1.00},
    "as published": {"mse": 0.0213, "spearman": 0.325, "coverage": 0.99},
    "ROUGE-L": {"mse": 0.0226, "spearman": 0.245, "coverage": 0.97},
    "METEOR": {"mse": 0.0180, "spearman": 0.240, "coverage": 0.12},
    "BERTScore": {"mse": 0.0223, "spearman": 0.225, "coverage": 0.53},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table: a title, rows, and what has to be known to read them."""

    title: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...]


def table_1_summarization(data: Path) -> Table:
    """Table 1 on HUSE summarization: people, the published method and its variants."""
    pool = read(data / HUSE, (1, 6))
    once = without_repeats(pool)
    people = annotators(pool)
    return Table(
        title=f"Table 1, summarization: HUSE, {len(pool)} texts, leave-one-out",
        rows=(
            *(human_rows(people, pool) if people else ()),
            neighbors_row("as published", BLEUNeighbors(), pool),
            neighbors_row("not clipped", BLEUNeighbors(kernel="bleu*:clip=no"), pool),
            neighbors_row("no repeats", BLEUNeighbors(), once[0]),
            neighbors_row("orders 1-4", BLEUNeighbors(kernel="bleu*:orders=1-4"), pool),
            neighbors_row("words", BLEUNeighbors(kernel="bleu*:tokenize=words"), pool),
        ),
        notes=(*(human_notes(people) if people else ()), *variant_notes(once)),
    )


def table_1_dialogue(data: Path) -> Table:
    """GRADE in place of Table 1's dialogue data: BLEU Neighbors as published, task by task."""
    pool = read(data / GRADE, (1, 5))
    tasks = np.array(pool.tasks)
    rows = (
        neighbors_row(task, BLEUNeighbors(), pool.take(np.flatnonzero(tasks == task)))
        for task in sorted(set(pool.tasks))
    )
    return Table(
        title="STAND-INS for Table 1, dialogue: GRADE, as published, leave-one-out",
        rows=tuple(rows),
        notes=(
            "Not the paper's data: HUSE dialogue is no longer public.",
            "On that, the paper has MSE 0.0164, Spearman 0.470, coverage 0.76;",
            "these rows neither confirm nor refute it.",
            "No human yardstick: GRADE's slotN is not one person throughout.",
        ),
    )


def table_1_kernels(data: Path, model: str | None) -> Table:
    """Table 1 with other kernels on HUSE summarization, each with its published tau."""
    pool = read(data / HUSE, (1, 6))
    rows = [neighbors_row("ROUGE-L", BLEUNeighbors(kernel="rouge-l"), pool)]
    notes = ["ROUGE-L: F1 on words split at spaces, tau 0.06."]
    if not (missing := METRICS["meteor"].missing()):
        rows.append(neighbors_row("METEOR", BLEUNeighbors(kernel="meteor"), pool))
        notes.append(
            "METEOR: the rated text is the reference, tau 0.18. The paper does not say which "
            "METEOR; its row rests on some 24 texts."
        )
    else:
        notes.append(f"METEOR is left out: {missing}")
    if model is not None:
        estimator = BLEUNeighbors(kernel=BertScore(model=model))
        rows.append(neighbors_row("BERTScore", estimator, pool))
        notes.append(
            "BERTScore: rescaled with random pairs of the rated texts, tau 0.10."
        )
    else:
        notes.append("BERTScore is left out: name an encoder with --model.")
    return Table(
        title=f"Table 1, summarization: other kernels, {len(pool)} texts, leave-one-out",
        rows=tuple(rows),
        notes=tuple(notes),
    )


def table_2(data: Path) -> Table:
    """Table 2, from task to task."""
    pools = {
        "dialogue": read(data / GRADE, (1, 5)),
        "essays": essays_of(data).judged,
        "summaries": read(data / HUSE, (1, 6)),
    }
    return Table(
        title="Table 2, from task to task, as published: STAND-INS for two of three tasks",
        rows=task_rows(pools, SEED),
        notes=(TASK_NOTE,),
    )


def table_3(data: Path, vectors: str | None) -> Table:
    """Table 3, essays."""
    essays = essays_of(data)
    rows = essay_rows(essays, vectors, SEED)
    return Table(
        title=f"Table 3: STAND-IN, {len(essays.judged)} answers of topic 3, b 1",
        rows=rows,
        notes=essay_notes(essays, rows, vectors),
    )


def all_figures(data: Path) -> tuple[Figure, ...]:
    """Figures 2 to 4 on summaries and on the stand-ins for dialogue; section 5.3 on summaries."""
    huse = read(data / HUSE, (1, 6))
    grade = read(data / GRADE, (1, 5))
    # slotN is not one person throughout, so there is no human yardstick
    grade = replace(grade, ratings=replace(grade.ratings, annotators=()))
    tasks = np.array(grade.tasks)
    pools = {"summarization (HUSE)": huse}
    for task in sorted(set(grade.tasks)):
        pools[f"STAND-IN for dialogue, {task}"] = grade.take(
            np.flatnonzero(tasks == task)
        )
    return (*figures(pools, SEED), hanging("summarization (HUSE)", huse, SEED))


TABLES: tuple[Callable[[Path], Table], ...] = (table_1_summarization, table_1_dialogue)


def read(path: Path, scale: Scale) -> RatedPool:
    """The rated texts of a file.

    Raises:
        InputError: the file is absent or cannot be read.
    """
    if not path.is_file():
        raise absent(path)
    return read_pool([str(path)], Reading(scale=scale)).pool


def without_repeats(pool: RatedPool) -> tuple[RatedPool, ...]:
    """Pools with one copy of each text, for every choice of copies; the first copies first."""
    copies: dict[str, list[int]] = {}
    for i, text in enumerate(pool.texts):
        copies.setdefault(text, []).append(i)
    return tuple(
        pool.take(np.sort(np.array(rows))) for rows in product(*copies.values())
    )


def neighbors_row(method: str, estimator: BLEUNeighbors, pool: RatedPool) -> Row:
    """One estimator, each text judged by all the others."""
    estimates = estimator.held_out(pool)
    judged = Predictions(
        id=pool.ids,
        human=pool.human,
        predicted=estimates.values,
        reason=estimates.reasons,
    )
    found = agreement(judged, seed=SEED)
    signature = estimator.signature(pool).plus(
        heldout="id", ci=found.interval_method, seed=SEED
    )
    return {
        "method": method,
        "paper": PAPER.get(method),
        **asdict(found),
        "signature": str(signature),
    }


def variant_notes(once: Sequence[RatedPool]) -> tuple[str, ...]:
    """What the variants of BLEU Neighbors are, and how far the choice of copies matters."""
    spearman = [neighbors_row("", BLEUNeighbors(), pool)["spearman"] for pool in once]
    span = f"{min(spearman):.3f} to {max(spearman):.3f}"
    return (
        "As published: BLEU* on characters, orders 2-4, clipped; tau 0.08, a 5, b 0.66.",
        "Characters are not in the paper, but only they give its numbers.",
        "Words: without smoothing, no text has enough neighbours.",
        "Not clipped: equation 1 to the letter. Orders 1-4: the paper's ablation.",
        f"No repeats: the first copy of each text is kept; for any copies, Spearman is {span}.",
    )


def human_rows(people: Annotators, pool: RatedPool) -> tuple[Row, ...]:
    """Single annotators against the human rating, as the paper takes them together."""
    signature = Signature("annotators").plus(
        scale=pool.scale,
        pool=fingerprint(pool.take(canonical_order(pool))),
        size=len(pool),
        v=__version__,
    )

    def row(which: str, measures: dict[str, float]) -> Row:
        return {
            "method": f"human, {which}",
            "paper": PAPER[f"human, {which}"],
            "coverage": 1.0,
            "mse": measures["mse"],
            "spearman": measures["spearman"],
            "signature": str(signature.plus(which=which)),
        }

    return row("best", people.best), row("average", people.average)


def human_notes(people: Annotators) -> tuple[str, ...]:
    """How the human rows are counted."""
    rho = people.values["spearman"]
    undefined = int(np.isnan(rho).sum())
    as_zero = f"as 0, the average is {np.nan_to_num(rho).mean():.3f}"
    return (
        f"Human: {people.n} annotators, each on the texts that this one rated; best is taken for",
        "each measure by itself. The human rating includes the annotator, in the paper and here.",
        f"Human correlations that are undefined ({undefined}) are left out; {as_zero}.",
        "The paper's means, in floating point, break true ties; ours are exact.",
    )


def shown(
    tables: Sequence[Table], drawn: Sequence[Figure]
) -> tuple[dict[str, object], Document]:
    """The result as JSON has it and as a document."""
    found = [{"title": t.title, "rows": t.rows, "notes": t.notes} for t in tables]
    result: dict[str, object] = {
        "format": 1,
        "paper": "bleu-neighbors",
        "tables": found,
        "figures": [figure.as_dict() for figure in drawn],
    }
    parts = (
        *(part for table in tables for part in sections(table)),
        *all_sections(drawn),
    )
    return result, Document(sections=parts)


def sections(table: Table) -> tuple[Section, ...]:
    """The table for people, what has to be known, and every row's signature."""
    columns = ("", "", "MSE [95 %]", "Spearman [95 %]", "coverage")
    lines = [line for row in table.rows for line in lines_of(row)]
    shown = [
        i
        for i in range(len(columns))
        if i != 1 or any(line[1] == "paper" for line in lines)
    ]
    cells = Cells(
        header=tuple(columns[i] for i in shown),
        rows=tuple(tuple(line[i] for i in shown) for line in lines),
        numeric=tuple(columns[i] == "coverage" for i in shown),
    )
    return (
        Section(title=table.title, table=cells),
        Section(lines=table.notes),
        *(
            Section(lines=(row["method"], f"signature: {row['signature']}"))
            for row in table.rows
        ),
    )


def lines_of(row: Row) -> list[tuple[str, ...]]:
    """Our line of a table, below the paper's where it has one: name, whose, measures."""
    ours = (
        "ours",
        measure(row, "mse", 4),
        measure(row, "spearman", 3),
        number(row["coverage"]),
    )
    if not (paper := row.get("paper")):
        return [(row["method"], *ours)]
    published = ("paper", measure(paper, "mse", 4), measure(paper, "spearman", 3))
    return [(row["method"], *published, number(paper["coverage"], 2)), ("", *ours)]


def measure(row: Row, name: str, digits: int) -> str:
    """A measure with its interval, where it has one."""
    value = row[name]
    interval = row.get(f"{name}_interval", (None, None))
    if value is None or interval[0] is None:
        return number(value, digits)
    return with_interval(value, interval, digits)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables; returns the exit status."""
    parser = argparse.ArgumentParser(
        description="BLEU Neighbors: the paper's tables beside ours.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--data", type=Path, default=DATA, help="folder of the real data"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument(
        "--model", help="encoder of the BERTScore kernel: a folder or a name"
    )
    parser.add_argument(
        "--vectors", help="word vectors for S+WMS in Table 3, in text form"
    )
    parser.add_argument(
        "--only", choices=PARTS, action="append", help="a part; repeatable"
    )
    options = parser.parse_args(arguments)
    parts = options.only or PARTS
    tables = []
    try:
        if "table-1" in parts:
            tables += [table(options.data) for table in TABLES]
            tables.append(table_1_kernels(options.data, options.model))
        if "table-2" in parts:
            tables.append(table_2(options.data))
        if "table-3" in parts:
            tables.append(table_3(options.data, options.vectors))
        drawn = all_figures(options.data) if "figures" in parts else ()
        result, document = shown(tables, drawn)
    except RefLessError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(as_json(result) if options.format == "json" else as_text(document), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
