"""RatPred (Dusek et al. 2017): Tables 1-5, and other estimators on the same rows.

    python papers/ratpred.py --data ../shared/data [--train] [--quick] [--format json]

A training is kept as soon as it is done (`--results`, by default ~/.cache/refless/ratpred), so a
stopped run goes on; without `--train` the tables hold what is kept there and what comes with this
script, in `ratpred_results`.
Exit status 2 where the data is absent.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from data_files import absent
from ratpred_data import Rated, Split, prepared, rated_of
from ratpred_rivals import RIVALS, rival_results
from ratpred_runs import CROSSED, PARTS, How, Result, Run, changed, kept, make, split_of
from ratpred_tables import (
    NAMES,
    PAPER,
    TABLE1,
    TABLE2,
    Row,
    as_dict,
    calibrated,
    choosing,
    choosing_section,
    combined,
    metric_rows,
    pooled,
    sections,
)

from refless.extensions.ratpred.settings import Settings
from refless.registry.arrays import FloatArray
from refless.report.document import Document, Section, Table
from refless.report.export import as_json
from refless.report.text import as_text

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
RESULTS = Path.home() / ".cache" / "refless" / "ratpred"
# a look at the machinery, not at the paper
QUICK = Settings(
    embedding=50,
    hidden=50,
    learning_rate=1e-3,
    epochs=20,
    synthetic_epochs=2,
    patience=5,
)
REFERENCE_LESS = (1, 2, 3, 4)  # setups without any reference of a test row
FOLDS = {"pairs": "equal pairs together", "plain": "plain split"}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Found:
    """What the tables are made of."""

    rated: Rated
    data: Path
    folder: Path
    results: Mapping[Run, Result]
    rivals: Sequence[str]

    def seeds(self, part: str, setup: int, *, lexicalised: bool = False) -> list[int]:
        """Seeds for which every fold is there."""
        folds = 5 if part in PARTS else 1
        counts = Counter(
            run.seed
            for run in self.results
            if (run.part, run.setup, run.lexicalised) == (part, setup, lexicalised)
        )
        return sorted(seed for seed, count in counts.items() if count == folds)


def table1(rated: Rated) -> list[dict[str, Any]]:
    """Ratings by system and data set."""
    counts = Counter(zip(rated.system, rated.dataset, strict=True))
    return [
        {
            "system": system,
            "dataset": dataset,
            "paper": paper,
            "ours": counts[system, dataset],
        }
        for (system, dataset), paper in TABLE1.items()
    ]


def table2(rated: Rated, data: Path) -> list[dict[str, Any]]:
    """Training instances of each setup in the first fold."""
    split = split_of(data, Run("pairs", 1, 0, 0))
    return [
        {
            "setup": NAMES[setup],
            "paper": paper,
            "ours": prepared(rated, split, setup, 0).instances,
        }
        for setup, paper in TABLE2.items()
    ]


def table3(found: Found, part: str) -> list[dict[str, Any]]:
    """Cross-validation over all ratings: metrics, setups, other estimators, combinations."""
    human = found.rated.rating
    n = len(found.rated)
    runs = [Run(part, 0, fold, 0) for fold in range(5)]
    splits = [split_of(found.data, run) for run in runs]
    metrics = metric_rows(found.rated, np.arange(n), PAPER["folds"])
    rows = [*metrics, *_setup_rows(found, part, splits)]
    rivals = {
        name: rival_results(name, found.rated, found.data, runs, found.folder)
        for name in found.rivals
    }
    by_fold = dict(zip(runs, splits, strict=True))
    for name, results in rivals.items():
        values = pooled(results, by_fold, n)
        rows.append(Row(name=name, runs=(values,)))
        rows.append(Row(name=f"{name}, unrounded", runs=(values,), quantised=False))
    rows += _combinations(found, part, splits, rivals)
    against = {row.name: row for row in rows if row.name in {NAMES[1], "METEOR*"}}
    return [
        as_dict(row, human, _against(against, row))
        | ({} if row.quantised else choosing(row, human, found.rated.mr))
        for row in rows
    ]


def _against(rows: Mapping[str, Row], row: Row) -> dict[str, Row]:
    names = {NAMES[1]: "setup 1", "METEOR*": "METEOR"}
    return {names[name]: other for name, other in rows.items() if name != row.name}


def _setup_rows(found: Found, part: str, splits: Sequence[Split]) -> list[Row]:
    rows = []
    for setup, name in NAMES.items():
        for lexicalised in (False, True):
            seeds = found.seeds(part, setup, lexicalised=lexicalised)
            columns = tuple(
                _pooled(found, part, setup, seed, splits, lexicalised=lexicalised)
                for seed in seeds
            )
            if not columns:
                continue
            paper = None if lexicalised else PAPER["folds"].get(setup)
            title = f"{name}, lexicalised" if lexicalised else name
            rows.append(Row(name=title, runs=columns, paper=paper))
            rows.append(Row(name=f"{title}, unrounded", runs=columns, quantised=False))
            columns = tuple(
                _pooled(
                    found,
                    part,
                    setup,
                    seed,
                    splits,
                    lexicalised=lexicalised,
                    level=True,
                )
                for seed in seeds
            )
            rows.append(Row(name=f"{title}, calibrated", runs=columns, quantised=False))
            if len(columns) > 1:
                mean = np.mean(columns, axis=0)
                rows.append(
                    Row(
                        name=f"{title}, calibrated, averaged",
                        runs=(mean,),
                        quantised=False,
                    )
                )
    return rows


def _pooled(
    found: Found,
    part: str,
    setup: int,
    seed: int,
    splits: Sequence[Split],
    *,
    lexicalised: bool,
    level: bool = False,
) -> FloatArray:
    runs = [Run(part, setup, fold, seed, lexicalised) for fold in range(5)]
    by_fold = dict(zip(runs, splits, strict=True))
    results = {run: found.results[run] for run in runs}
    if level:
        human = found.rated.rating
        results = {
            run: calibrated(one, human, by_fold[run]) for run, one in results.items()
        }
    return pooled(results, by_fold, len(found.rated))


def _combinations(
    found: Found,
    part: str,
    splits: Sequence[Split],
    rivals: Mapping[str, Mapping[Run, Result]],
) -> list[Row]:
    """Sums whose weights come from validation rows, without and with test references."""
    human = found.rated.rating
    others = [
        list(rivals[name].values()) for name in rivals if name != "BLEU Neighbors"
    ]
    rows = []
    for name, setups in (
        ("combination", REFERENCE_LESS),
        ("combination*", tuple(NAMES)),
    ):
        networks = [
            averaged for setup in setups if (averaged := _averaged(found, part, setup))
        ]
        for title, parts in (
            (f"{name} of the networks", networks),
            (f"{name} of all", [*networks, *others]),
            ("combination of the others", others if name == "combination" else []),
        ):
            if len(parts) > 1:
                by_fold = [[one[fold] for one in parts] for fold in range(5)]
                values = combined(human, splits, by_fold)
                rows.append(Row(name=title, runs=(values,), quantised=False))
                rows.append(Row(name=f"{title}, rounded", runs=(values,)))
    return rows


def _averaged(found: Found, part: str, setup: int) -> list[Result]:
    """For each fold the mean prediction over seeds; nothing where there is no seed."""
    seeds = found.seeds(part, setup)
    folds = []
    for fold in range(5 if seeds else 0):
        results = [found.results[Run(part, setup, fold, seed)] for seed in seeds]
        test = np.mean([result.test for result in results], axis=0)
        validation = np.mean([result.validation for result in results], axis=0)
        folds.append(Result(test, validation, 0, 0, 0))
    return folds


def crossed_table(found: Found, part: str) -> list[dict[str, Any]]:
    """One configuration of Table 4 (`domain-...`) or Table 5 (`system-...`)."""
    split = split_of(found.data, Run(part, 1, 0, 0))
    human = found.rated.rating[split.test]
    rows = metric_rows(found.rated, split.test, PAPER[part.split("-", maxsplit=1)[0]])
    for setup, name in NAMES.items():
        seeds = found.seeds(part, setup)
        if seeds:
            columns = tuple(
                found.results[Run(part, setup, 0, seed)].test for seed in seeds
            )
            rows.append(Row(name=name, runs=columns, paper=PAPER[part][setup]))
            rows.append(Row(name=f"{name}, unrounded", runs=columns, quantised=False))
    run = Run(part, 0, 0, 0)
    for name in found.rivals:
        results = rival_results(name, found.rated, found.data, [run], found.folder)
        rows.append(Row(name=name, runs=(results[run].test,)))
    against = {row.name: row for row in rows if row.name in {NAMES[1], "METEOR*"}}
    return [as_dict(row, human, _against(against, row)) for row in rows]


def tables_of(
    found: Found, parts: Sequence[str], settings: Settings
) -> tuple[dict[str, object], Document]:
    """All tables, as plain data and as a document."""
    counts = table1(found.rated)
    sizes = table2(found.rated, found.data)
    tables = {
        part: table3(found, part) if part in PARTS else crossed_table(found, part)
        for part in parts
    }
    shown = [
        _counts("Table 1: ratings", counts, ("system", "dataset", "paper", "ours")),
        _counts(
            "Table 2: training instances, first fold", sizes, ("setup", "paper", "ours")
        ),
    ]
    for part, rows in tables.items():
        shown += sections(_title(part), rows, _notes(part, settings))
        if part in PARTS:
            shown.append(choosing_section(_title(part), rows))
    plain: dict[str, object] = {
        "format": 1,
        "settings": changed(settings),
        "table1": counts,
        "table2": sizes,
        **tables,
    }
    return plain, Document(sections=tuple(shown))


def _title(part: str) -> str:
    if part in PARTS:
        return f"Table 3, folds: {FOLDS[part]}"
    kind, config = part.split("-")
    table = {
        "domain": "Table 4, cross-domain (SFHot)",
        "system": "Table 5, cross-system (LOLS)",
    }
    return f"{table[kind]}, {config}"


def _notes(part: str, settings: Settings) -> tuple[str, ...]:
    lines = [
        f"Training stops {settings.patience} epochs after the best one.",
        "* sees references of test rows. p: Williams, Pearson against setup 1, median of seeds.",
        "Predictions are clipped to 1-6 and rounded to halves unless said otherwise.",
        "Calibrated: by a line from predictions to ratings of the validation rows, not rounded.",
    ]
    if part in PARTS:
        lines.append(
            "Correlations over all 2,460 rows; other estimators learn from 4 of 5 parts."
        )
    return tuple(lines)


def _counts(
    title: str, rows: Sequence[Mapping[str, Any]], names: tuple[str, ...]
) -> Section:
    cells = tuple(tuple(str(row[name]) for name in names) for row in rows)
    numeric = tuple(name in {"paper", "ours"} for name in names)
    return Section(title=title, table=Table(header=names, rows=cells, numeric=numeric))


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument(
        "--data", type=Path, default=DATA, help="folder of the real data"
    )
    parser.add_argument(
        "--results", type=Path, default=RESULTS, help="where results are kept"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument(
        "--train", action="store_true", help="train what is not kept yet"
    )
    parser.add_argument(
        "--train-only", action="store_true", help="... and print no tables"
    )
    parser.add_argument(
        "--quick", action="store_true", help="small networks, setups 1 and 2"
    )
    parser.add_argument("--parts", nargs="*", choices=[*PARTS, *CROSSED], default=None)
    parser.add_argument(
        "--setups", nargs="*", type=int, default=None, choices=tuple(NAMES)
    )
    parser.add_argument("--seeds", nargs="*", type=int, default=[0])
    parser.add_argument(
        "--folds", nargs="*", type=int, default=range(5), choices=range(5)
    )
    parser.add_argument("--rivals", nargs="*", default=None, choices=tuple(RIVALS))
    parser.add_argument(
        "--lexicalised", action="store_true", help="train the lexicalised variant"
    )
    parser.add_argument(
        "--device", help="cpu or cuda; an accelerator where there is one"
    )
    parser.add_argument("--jobs", type=int, default=1, help="training processes")
    parser.add_argument("--label", default="here", help="name of the file of results")
    parser.add_argument("--seconds", type=float, help="begin no group after that time")
    parser.add_argument("--epochs", type=int, default=Settings().epochs)
    parser.add_argument(
        "--synthetic-epochs", type=int, default=Settings().synthetic_epochs
    )
    parser.add_argument("--patience", type=int, default=Settings().patience)
    options = parser.parse_args()
    options.data /= "nlg-ratings"
    return options


def trained(options: argparse.Namespace, how: How, parts: Sequence[str]) -> None:
    """All runs that the command line asks for."""
    runs = [
        Run(part, setup, fold, seed, options.lexicalised)
        for setup in options.setups or ([1, 2] if options.quick else list(NAMES))
        for seed in options.seeds
        for part in parts
        for fold in (options.folds if part in PARTS else [0])
    ]
    make(runs, how)


def how_of(options: argparse.Namespace, settings: Settings, folder: Path) -> How:
    """Where and how to train."""
    import torch

    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    return How(
        data=options.data,
        results=folder,
        settings=settings,
        device=device,
        label=options.label,
        jobs=options.jobs,
        until=None if options.seconds is None else time.time() + options.seconds,
    )


def main() -> int:
    """Trains and prints; 2 where the data is absent."""
    options = arguments()
    settings = QUICK
    if not options.quick:
        settings = Settings(
            epochs=options.epochs,
            synthetic_epochs=options.synthetic_epochs,
            patience=options.patience,
        )
    try:
        rated = rated_of(options.data)
    except FileNotFoundError as error:
        print(f"error: {absent(Path(error.filename))}", file=sys.stderr)
        return 2
    training = options.train or options.train_only or options.quick
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) if options.quick else options.results
        parts = options.parts or (
            ["pairs"] if training or options.quick else [*PARTS, *CROSSED]
        )
        if training:
            trained(options, how_of(options, settings, folder), parts)
        if options.train_only:
            return 0
        rivals = ["TF-IDF ridge"] if options.quick else list(RIVALS)
        found = Found(
            rated=rated,
            data=options.data,
            folder=folder,
            results=kept(folder, settings),
            rivals=rivals if options.rivals is None else options.rivals,
        )
        plain, document = tables_of(found, parts, settings)
    print(as_json(plain) if options.format == "json" else as_text(document, width=100))
    return 0


if __name__ == "__main__":
    sys.exit(main())
