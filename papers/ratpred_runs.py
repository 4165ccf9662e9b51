"""The trainings behind RatPred's tables, kept one by one, so that a stopped run goes on."""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ratpred_data import Prepared, Split, crossed, folds, prepared, rated_of

from refless.extensions.ratpred.settings import Settings
from refless.registry.arrays import FloatArray


@dataclass(frozen=True, slots=True, order=True)
class Run:
    """One training: what is split how, which setup, which fold, which seed.

    Attributes:
        part: `pairs` or `plain` (Table 3's two kinds of folds), or `domain-C1` to `system-C3`.
    """

    part: str
    setup: int
    fold: int
    seed: int
    lexicalised: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """Unrounded predictions of the test and the validation rows, in the raters' units."""

    test: FloatArray
    validation: FloatArray
    best_epoch: int
    epochs: int
    instances: int


READING = 4  # counts what changes a run or how it is kept; results of another count are not used
# predictions of networks trained before
SHIPPED = Path(__file__).parent / "ratpred_results"
PARTS = ("pairs", "plain")
CROSSED = tuple(
    f"{kind}-{c}" for kind in ("domain", "system") for c in ("C1", "C2", "C3")
)


def split_of(data: Path, run: Run) -> Split:
    """The rows of a run."""
    rated = rated_of(data)
    if run.part in PARTS:
        return folds(rated, plain=run.part == "plain")[run.fold]
    kind, config = run.part.split("-")
    return crossed(rated, kind, config)


def kept(folder: Path, settings: Settings) -> dict[Run, Result]:
    """Results made with these settings, products in bfloat16 or not (which those here were).

    Those in `*.jsonl` of the folder, and those that come with this script.
    """
    found = {}
    for path in [*sorted(SHIPPED.glob("*.jsonl")), *sorted(folder.glob("*.jsonl"))]:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = _complete(line)
            if (
                row
                and row.get("reading") == READING
                and _same(row["settings"], settings)
            ):
                found[Run(**row["run"])] = Result(
                    np.array(row["test"]),
                    np.array(row["validation"]),
                    row["best_epoch"],
                    row["epochs"],
                    row["instances"],
                )
    return found


def changed(settings: Settings) -> dict[str, Any]:
    """What differs from the defaults, by name."""
    usual = asdict(Settings())
    return {
        name: value for name, value in asdict(settings).items() if value != usual[name]
    }


def _same(given: dict[str, Any], settings: Settings) -> bool:
    return Settings(**{k: v for k, v in given.items() if k != "bfloat16"}) == settings


def _complete(line: str) -> dict[str, Any]:
    """A line, or nothing of one that was cut off."""
    try:
        row: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        return {}
    return row


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """Where and how runs are made.

    Attributes:
        data, results: folders; label: name of the file in `results`.
        jobs: processes.
        until: time (seconds since 1970) after which no run is begun; None for ever.
    """

    data: Path
    results: Path
    settings: Settings
    device: str
    label: str = "here"
    jobs: int = 1
    until: float | None = None


def make(runs: Sequence[Run], how: How) -> None:
    """Trains what is not yet kept; each result is written as soon as it is there."""
    done = kept(how.results, how.settings)
    missing = [run for run in runs if run not in done]
    how.results.mkdir(parents=True, exist_ok=True)
    if how.jobs <= 1:
        _work(missing, how, 0)
        return
    context = multiprocessing.get_context("spawn")
    shares = [missing[i :: how.jobs] for i in range(how.jobs)]
    processes = [
        context.Process(target=_work, args=(share, how, i))
        for i, share in enumerate(shares)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


def _work(runs: Sequence[Run], how: How, number: int) -> None:
    for run in runs:
        if how.until is None or time.time() < how.until:
            _train(run, how, number)


def _train(run: Run, how: How, number: int) -> None:
    from refless.extensions.ratpred.training import predictions, train

    # The networks of one seed begin alike in all folds; what they learn from differs.
    begin = time.monotonic()
    rated = rated_of(how.data)
    split = split_of(how.data, run)
    part = prepared(rated, split, run.setup, run.seed, lexicalised=run.lexicalised)
    network, state = train(part.learned, how.settings, device=how.device)
    chosen = predictions(network, part.learned.validation)
    row = {
        "run": asdict(run),
        "reading": READING,
        "settings": changed(how.settings),
        "test": _units(predictions(network, part.test), part),
        "validation": _units(chosen, part),
        "best_epoch": state.best_epoch + 1,
        "epochs": state.number,
        "instances": part.instances,
    }
    with (how.results / f"{how.label}-{number}.jsonl").open(
        "a", encoding="utf-8"
    ) as stream:
        stream.write(json.dumps(row, separators=(",", ":")) + "\n")
    took = time.monotonic() - begin
    print(
        f"setup {run.setup} ({run.part}): {state.number} epochs, {took:.0f} s",
        file=sys.stderr,
        flush=True,
    )


def _units(values: FloatArray, part: Prepared) -> list[float]:
    return [round(v, 4) for v in (part.offset + part.unit * values).tolist()]
