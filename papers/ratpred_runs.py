"""The trainings behind RatPred's tables, kept one by one, so that a stopped run goes on."""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from ratpred_data import Prepared, Split, crossed, folds, prepared, rated_of

from refless.estimators.ratpred.settings import Settings
from refless.records import FloatArray


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
    """Unrounded predictions of the test and the development rows, in the raters' units."""

    test: FloatArray
    development: FloatArray
    best_pass: int
    passes: int
    instances: int


READING = 3  # counts what changes the data of a run; results of another count are not used
SHIPPED = Path(__file__).parent / "ratpred_results"  # predictions of networks trained before
PARTS = ("pairs", "plain")
CROSSED = tuple(f"{kind}-{c}" for kind in ("domain", "system") for c in ("C1", "C2", "C3"))


def split_of(data: Path, run: Run) -> Split:
    """The rows of a run."""
    rated = rated_of(data)
    if run.part in PARTS:
        return folds(rated, plain=run.part == "plain")[run.fold]
    kind, config = run.part.split("-")
    return crossed(rated, kind, config)


def kept(folder: Path, settings: Settings) -> dict[Run, Result]:
    """Results made with these settings, products in bfloat16 or not.

    Those in `*.jsonl` of the folder, and those that come with this script.
    """
    found = {}
    for path in [*sorted(SHIPPED.glob("*.jsonl")), *sorted(folder.glob("*.jsonl"))]:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = _complete(line)
            if row and row.get("reading") == READING and _same(row["settings"], settings):
                found[Run(**row["run"])] = Result(
                    np.array(row["test"]),
                    np.array(row["development"]),
                    row["best_pass"],
                    row["passes"],
                    row["instances"],
                )
    return found


def _same(changed: dict[str, Any], settings: Settings) -> bool:
    found = Settings(**changed)
    return replace(found, narrow=settings.narrow) == settings


def _complete(line: str) -> dict[str, Any]:
    """A line, or nothing of one that was cut off."""
    try:
        row: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        return {}
    return row


def groups_of(runs: Sequence[Run], members: int) -> list[list[Run]]:
    """Runs that are trained side by side: of one setup, both kinds of folds together."""
    groups: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        part = "folds" if run.part in PARTS else run.part
        groups.setdefault((part, run.setup, run.lexicalised), []).append(run)
    return [
        group[begin : begin + members]
        for group in groups.values()
        for begin in range(0, len(group), members)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """Where and how runs are made.

    Attributes:
        data, results: folders; label: name of the file in `results`.
        members: most networks side by side; jobs: processes; workers: that prepare data in each.
        until: time (seconds since 1970) after which no group is begun; None for ever.
    """

    data: Path
    results: Path
    settings: Settings
    device: str
    label: str = "here"
    members: int = 50
    jobs: int = 1
    workers: int = 1
    graphs: bool = True
    until: float | None = None


def make(runs: Sequence[Run], how: How) -> None:
    """Trains what is not yet kept; each result is written as soon as its group is done."""
    done = kept(how.results, how.settings)
    groups = groups_of([run for run in runs if run not in done], how.members)
    how.results.mkdir(parents=True, exist_ok=True)
    if how.jobs <= 1:
        _work(groups, how, 0)
        return
    context = multiprocessing.get_context("spawn")
    shares = [groups[i :: how.jobs] for i in range(how.jobs)]
    processes = [
        context.Process(target=_work, args=(share, how, i)) for i, share in enumerate(shares)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


def _work(groups: Sequence[list[Run]], how: How, number: int) -> None:
    context = multiprocessing.get_context("forkserver" if how.workers > 1 else "spawn")
    if how.workers <= 1:
        for group in groups:
            if not _late(how):
                _train(group, [_prepared(how.data, run) for run in group], how, number)
        return
    with ProcessPoolExecutor(how.workers, mp_context=context) as pool:
        for group, members in _ahead(groups, how, pool):
            if _late(how):
                pool.shutdown(wait=False, cancel_futures=True)
                return
            _train(group, members, how, number)


def _ahead(
    groups: Sequence[list[Run]], how: How, pool: Executor
) -> Iterator[tuple[list[Run], list[Prepared]]]:
    """Groups with their data; the next one's is prepared while one is trained."""
    waiting: list[tuple[list[Run], list[Future[Prepared]]]] = []
    for group in groups:
        waiting.append((group, [pool.submit(_prepared, how.data, run) for run in group]))
        if len(waiting) > 1:
            ready, parts = waiting.pop(0)
            yield ready, [part.result() for part in parts]
    for ready, parts in waiting:
        yield ready, [part.result() for part in parts]


def _late(how: How) -> bool:
    return how.until is not None and time.time() > how.until


def _prepared(data: Path, run: Run) -> Prepared:
    # The networks of one seed begin alike in all folds; what they learn from differs.
    split = split_of(data, run)
    return prepared(rated_of(data), split, run.setup, run.seed, lexicalised=run.lexicalised)


def _train(group: Sequence[Run], parts: Sequence[Prepared], how: How, number: int) -> None:
    import torch

    from refless.estimators.ratpred.training import estimates, train

    torch.set_float32_matmul_precision("high")  # shorter mantissas on accelerators
    begin = time.monotonic()
    members = [part.member for part in parts]
    best, state = train(members, how.settings, device=how.device, graphs=how.graphs)
    test = estimates(best, [part.test for part in parts], how.settings, how.device)
    chosen = [member.development for member in members]
    development = estimates(best, chosen, how.settings, how.device)
    _emptied(how.device)
    lines = []
    for i, (run, part) in enumerate(zip(group, parts, strict=True)):
        row = {
            "run": asdict(run),
            "reading": READING,
            "settings": how.settings.changed(),
            "test": _units(test[i], part),
            "development": _units(development[i], part),
            "best_pass": state.best_number[i] + 1,
            "passes": sum(told.member == i for told in state.curve),
            "instances": part.instances,
        }
        lines.append(json.dumps(row, separators=(",", ":")) + "\n")
    with (how.results / f"{how.label}-{number}.jsonl").open("a", encoding="utf-8") as stream:
        stream.write("".join(lines))
    took = time.monotonic() - begin
    first = group[0]
    print(
        f"{len(group)} x setup {first.setup} ({first.part}): {state.number} passes, {took:.0f} s",
        file=sys.stderr,
        flush=True,
    )


def _emptied(device: str) -> None:
    """Gives an accelerator's memory back: the next group's arrays have other sizes."""
    if device != "cpu":
        import gc

        import torch

        gc.collect()
        torch.cuda.empty_cache()


def _units(values: FloatArray, part: Prepared) -> list[float]:
    return [round(v, 4) for v in (part.offset + part.unit * values).tolist()]
