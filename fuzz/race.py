"""Writers and readers at once: of one index, one model, one report.

No acknowledged rating is lost, no reader ever fails, nothing is left behind.
"""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from fuzz.forks import (
    TINY,
    Budget,
    Found,
    campaign,
    command,
    ended,
    fork,
    jsonl,
    let_through,
    rows,
)

WRITERS, READERS = 4, 2


def reads(folder: Path, stop: Path, most: int) -> int:
    """Reads an index again and again until somebody stops it: 0, or 1 for a failure."""
    from refless.metrics.index import load_index

    seen: set[str] = set()
    for _ in range(most):
        now = set(load_index(folder).pool.ids)
        if not seen <= now:
            return 3  # an older one after a newer one
        seen = now
        if stop.exists():
            break
    return 0


def race_of_indexes(folder: Path, rng: random.Random, found: Found) -> None:
    """Some append, some read; one may begin the index anew before."""
    base, index, stop = jsonl(folder / "base.jsonl", rows(0, 25)), folder / "index", folder / "stop"
    status = let_through(lambda: command(("index", base, "--out-dir", index), folder / "said"))
    found.hold("index", holds=status == 0, told=status)
    files = [jsonl(folder / f"{i}.jsonl", rows(100 + i, 1)) for i in range(rng.randint(2, WRITERS))]
    readers = [fork(lambda: reads(index, stop, 1000)) for _ in range(rng.randint(1, READERS))]
    writers = [
        fork(
            lambda one=one: command(  # type: ignore[misc]
                ("index", one, "--out-dir", index, "--append"), one.with_suffix(".said")
            )
        )
        for one in files
    ]
    for child, one in zip(writers, files, strict=True):
        status = ended(child)
        text = one.with_suffix(".said").read_text(encoding="utf-8")
        found.hold("writer", holds=status == 0, told=f"{status} {text}")
    stop.touch()
    for child in readers:
        status = ended(child)
        found.hold("reader", holds=status == 0, told=status)
    wanted = {f"t{i}" for i in (*range(25), *range(100, 100 + len(files)))}
    from refless.metrics.index import load_index

    there = set(load_index(index).pool.ids)
    found.hold("lost", holds=there == wanted, told=wanted ^ there)
    left = sorted(path.name for path in index.iterdir())
    found.hold("left", holds=len(left) == 2, told=left)


def race_of_models(folder: Path, rng: random.Random, found: Found) -> None:
    """Two train into one folder, one reads."""
    from refless.extensions.ratpred.model import load

    rated, model, stop = folder / "rated.jsonl", folder / "model", folder / "stop"
    jsonl(rated, rows(0, 30))
    words = ("train", rated, "--out-dir", model, *TINY, "--seed")

    def read() -> int:
        for _ in range(1000):
            load(model)
            if stop.exists():
                break
        return 0

    status = let_through(lambda: command((*words, 0), folder / "said"))
    found.hold("train", holds=status == 0, told=(folder / "said").read_text(encoding="utf-8"))
    reader = fork(read)
    writers = [fork(lambda i=i: command((*words, i))) for i in (1, 2)]  # type: ignore[misc]
    for child in writers:
        found.hold("trainer", holds=ended(child) == 0)
    stop.touch()
    found.hold("reader of models", holds=ended(reader) == 0)
    left = sorted(path.name for path in model.iterdir())
    found.hold("left of models", holds=len(left) == 2, told=left)
    del rng


def race_of_reports(folder: Path, rng: random.Random, found: Found) -> None:
    """Several write one report: it is that of one of them."""
    from refless.files.writing import write_atomic

    report = folder / "o.json"
    contents = [str(i) * rng.randint(1, 1 << 17) for i in range(WRITERS)]

    def write(text: str) -> int:
        for _ in range(5):
            write_atomic(str(report), text)
        return 0

    writers = [fork(lambda one=one: write(one)) for one in contents]  # type: ignore[misc]
    for child in writers:
        found.hold("report", holds=ended(child) == 0)
    found.hold("mixed report", holds=report.read_text() in contents)
    left = [path.name for path in folder.iterdir()]
    found.hold("left beside a report", holds=left == ["o.json"], told=left)


def race(folder: Path, rng: random.Random, found: Found, budget: Budget) -> None:
    """So many races."""
    while budget.left(found.executions):
        kind = rng.choices((race_of_indexes, race_of_models, race_of_reports), (8, 1, 1))[0]
        place = folder / str(found.executions)
        place.mkdir()
        kind(place, rng, found)
        found.executions += 1
        shutil.rmtree(place)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs so many races."""
    return campaign("race", argv, 500, __doc__, race)


if __name__ == "__main__":
    sys.exit(main())
