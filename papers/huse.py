"""HUSE (Hashimoto, Zhang and Liang 2019): the paper's numbers for summarization beside ours.

    python papers/huse.py --data ../shared/data [--format json]

Its other tasks are no longer public. Beside human ratings stand estimates of them, held out: where
the estimates do not tell a model's texts from people's, HUSE is near 1 and says nothing about the
model. Exit status 2 where the data is absent.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from data_files import absent

from refless.data.human import human_ratings, unscaled
from refless.data.records import RatedPool
from refless.data.tables import Columns, Reading, ScoredRead, read_scored
from refless.estimators import ESTIMATORS
from refless.extensions.papers.huse.study import Huse, huse
from refless.registry.arrays import BoolArray, FloatArray
from refless.registry.errors import RefLessError
from refless.report.document import Document, Section, Table
from refless.report.export import as_json
from refless.report.text import as_text
from refless.report.wording import number, with_interval

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
FOLDER = Path("huse-summarization")
QUICK = ("bleu-neighbors", "gp")  # ratpred is trained for hours
CLEAN = FOLDER / "summary_clean.csv"
SINGLE = FOLDER / "judgements.tsv"
PAPER = {"huse": 0.53, "quality": 0.58, "diversity": 0.95}
SEED = 0
Row = dict[str, Any]


def results(data: Path) -> list[Row]:
    """HUSE from the paper's table, from the single ratings, and from estimates of these."""
    for path in (data / CLEAN, data / SINGLE):
        if not path.is_file():
            raise absent(path)
    clean = read_scored(
        [str(data / CLEAN)],
        Reading(columns=Columns(rating=("HumanJudgement",))),
        "huse",
    )
    single = read_scored([str(data / SINGLE)], Reading(scale=(1.0, 6.0)), "huse")
    pool = single.pool
    plain = human_ratings(pool.ratings, len(pool))
    by_people = np.array([name == "human" for name in pool.systems])
    lengths = _words(pool)
    human = np.array([label == "False" for label in clean.labels])
    numbers = (clean.numbers["logprob"], clean.numbers["length"])
    rows = [
        _row("people", huse(clean.pool.human, *numbers, human, seed=SEED)),
        _row("people, single ratings", _of(single, plain, lengths, by_people)),
        _row("people, exact ties", _of(single, plain, lengths, by_people, exact=True)),
    ]
    for name in QUICK:
        kind = ESTIMATORS[name]
        estimates = unscaled(kind().held_out(pool).values, pool.scale)
        rows.append(
            _row(f"estimated, {name}", _of(single, estimates, lengths, by_people))
        )
    return rows


def _words(pool: RatedPool) -> FloatArray:
    return np.array([len(text.split()) for text in pool.texts], dtype=np.float64)


def _of(
    read: ScoredRead,
    ratings: FloatArray,
    lengths: FloatArray,
    human: BoolArray,
    *,
    exact: bool = False,
) -> Huse:
    return huse(
        ratings, read.numbers["logprob"], lengths, human, exact_ties=exact, seed=SEED
    )


def _row(name: str, found: Huse) -> Row:
    row: Row = {"ratings": name, "n": found.n, "n_left_out": found.n_left_out}
    for part in PAPER:
        row[part] = getattr(found, part)
        row[f"{part}_interval"] = list(getattr(found, f"{part}_interval"))
    return row


def document_of(rows: Sequence[Row]) -> Document:
    """The rows for people."""
    cells = [("paper", *(number(value, 2) for value in PAPER.values()), "200")]
    for row in rows:
        parts = (with_interval(row[part], row[f"{part}_interval"], 2) for part in PAPER)
        cells.append((row["ratings"], *parts, str(row["n"])))
    table = Table(
        header=("ratings", "HUSE", "HUSE-Q", "HUSE-D", "n"),
        rows=tuple(cells),
        numeric=(False, True, True, True, True),
    )
    lines = (
        "Leave-one-out, k 15, log-probability by token; intervals are over texts.",
        "The paper's ties are those of floating-point numbers; exact ones move HUSE-Q.",
        "Estimates, held out, hardly tell the model's summaries from people's:",
        "HUSE near 1 is then no praise of the model.",
    )
    return Document(
        sections=(
            Section(title="HUSE, summarization", table=table),
            Section(lines=lines),
        )
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; returns the exit status."""
    parser = argparse.ArgumentParser(
        description="HUSE: the paper's numbers beside ours.", allow_abbrev=False
    )
    parser.add_argument(
        "--data", type=Path, default=DATA, help="folder of the real data"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    options = parser.parse_args(arguments)
    try:
        rows = results(options.data)
    except RefLessError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    result = {"format": 1, "paper": "huse", "published": PAPER, "rows": rows}
    shown = as_json(result) if options.format == "json" else as_text(document_of(rows))
    print(shown, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
