"""Writers and readers at once: of one fitted estimator, one report.

No reader ever fails, each sees what one of the writers wrote, nothing is left behind.
"""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from fuzz.forks import (
    NEIGHBORS,
    Budget,
    Found,
    campaign,
    command,
    ended,
    fork,
    jsonl,
    rows,
)

WRITERS = 4
READERS = 2


def reads(path: Path, stop: Path, most: int) -> int:
    """Opens a fitted estimator again and again until somebody stops it: 0, or 1 for a failure."""
    from refless import load

    for _ in range(most):
        if len(load(path).rated) not in range(25, 25 + WRITERS):
            return 3
        if stop.exists():
            break
    return 0


def race_of_models(folder: Path, rng: random.Random, found: Found) -> None:
    """Some fit into one file, some read it."""
    model = folder / "model.safetensors"
    stop = folder / "stop"
    count = rng.randint(2, WRITERS)
    rated = [jsonl(folder / f"rated{i}.jsonl", rows(0, 25 + i)) for i in range(count)]

    def fit(path: Path) -> int:
        return command(
            ("fit", path, "--to", model, *NEIGHBORS), path.with_suffix(".said")
        )

    found.hold("fit", holds=ended(fork(lambda: fit(rated[0]))) == 0)
    readers = [
        fork(lambda: reads(model, stop, 1000)) for _ in range(rng.randint(1, READERS))
    ]
    writers = [fork(lambda path=path: fit(path)) for path in rated]  # type: ignore[misc]
    for child, path in zip(writers, rated, strict=True):
        text = path.with_suffix(".said")
        found.hold(
            "writer", holds=ended(child) == 0, told=text.read_text(encoding="utf-8")
        )
    stop.touch()
    for child in readers:
        status = ended(child)
        found.hold("reader", holds=status == 0, told=status)
    left = [path.name for path in folder.glob(".*")]
    found.hold("left", holds=not left, told=left)


def race_of_reports(folder: Path, rng: random.Random, found: Found) -> None:
    """Several write one report: it is that of one of them."""
    from refless.files.writing import write_atomic

    report = folder / "o.json"
    contents = [str(i) * rng.randint(1, 1 << 17) for i in range(WRITERS)]

    def write(text: str) -> int:
        for _ in range(5):
            write_atomic(str(report), text)
        return 0

    writers = [fork(lambda text=text: write(text)) for text in contents]  # type: ignore[misc]
    for child in writers:
        found.hold("report", holds=ended(child) == 0)
    found.hold("mixed report", holds=report.read_text() in contents)
    left = [path.name for path in folder.iterdir()]
    found.hold("left beside a report", holds=left == ["o.json"], told=left)


def race(folder: Path, rng: random.Random, found: Found, budget: Budget) -> None:
    """So many races."""
    while budget.left(found.executions):
        kind = rng.choices((race_of_models, race_of_reports), (8, 1))[0]
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
