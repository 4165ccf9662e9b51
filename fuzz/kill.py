"""Kills fit, train and score -o at drawn moments, from outside and at each step.

After a kill each file is the old one or the new one, and nothing but unfinished temporary files is
left.
"""

from __future__ import annotations

import os
import random
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from fuzz.forks import (
    NEIGHBORS,
    TINY,
    Budget,
    Found,
    Words,
    campaign,
    command,
    jsonl,
    killed_after,
    killed_at,
    let_through,
    rows,
    watch,
)

Cut = Callable[[Callable[[], int]], int]
UNFINISHED = re.compile(r"\.[a-z]+\.[a-z]+\.[0-9a-f]{8}")


class Place:
    """One folder with what is killed in it; each kind of run knows what must hold after it."""

    def __init__(self, folder: Path, found: Found) -> None:
        self.folder = folder
        self.found = found
        self.steps: dict[str, tuple[int, float]] = {}  # of a run that is let through
        self.count = 0
        self.rated = [
            jsonl(folder / f"rated{i}.jsonl", rows(100 * i, 30)) for i in range(2)
        ]
        self.outputs = jsonl(folder / "outputs.jsonl", rows(500, 5))
        self.written = folder / "written"
        self.written.mkdir()

    def run(self, words: Words, cut: Cut) -> int:
        """One command, which may be cut short; never another status than 0 or that of a kill."""
        said = self.folder / "said.txt"
        said.unlink(missing_ok=True)
        status = cut(lambda: command(words, said))
        self.found.executions += 1
        text = (
            said.read_text(encoding="utf-8", errors="replace")[-500:]
            if said.exists()
            else ""
        )
        self.found.hold(
            f"{words[0]} exits {status}", holds=status in (0, -9), told=text
        )
        return status

    def fit(self, cut: Cut) -> int:
        """Another fitted estimator in the place of one."""
        return self._saved("fit", NEIGHBORS, cut)

    def train(self, cut: Cut) -> int:
        """Another network in the place of one."""
        return self._saved("train", TINY, cut)

    def _saved(self, name: str, more: Words, cut: Cut) -> int:
        from refless import load
        from refless.registry.errors import RefLessError

        self.count += 1
        path = self.written / f"{name}.safetensors"
        status = self.run((name, self.rated[self.count % 2], "--to", path, *more), cut)
        wanted = [{f"t{100 * i + k}" for k in range(30)} for i in range(2)]
        try:
            self.found.hold("neither", holds=set(load(path).rated.ids) in wanted)
        except RefLessError as fault:
            self.found.hold("unusable", holds=False, told=fault)
        return status

    def score(self, cut: Cut) -> int:
        """A report in the place of one."""
        report = self.written / "o.json"
        rated = ("--rated", self.rated[0], *NEIGHBORS)
        status = self.run(("score", self.outputs, *rated, "-o", report), cut)
        text = report.read_text(encoding="utf-8")
        self.found.hold(
            "report", holds=text.startswith("{") and text.endswith("}\n"), told=text
        )
        return status

    def clean(self) -> None:
        """Lets one of each through; then only files and unfinished ones are there."""
        for way in (self.fit, self.train, self.score):
            status = way(let_through)
            self.found.hold(
                f"{way.__name__} after kills", holds=status == 0, told=status
            )
        names = {path.name for path in self.written.iterdir()}
        names -= {"fit.safetensors", "train.safetensors", "o.json"}
        self.found.hold("left", holds=all(map(UNFINISHED.fullmatch, names)), told=names)

    def begin(self) -> None:
        """The state before any kill, and how long each way takes, in seconds and in steps."""
        for way in (self.fit, self.train, self.score):
            way(let_through)
            begun = time.monotonic()
            way(let_through)
            self.steps[way.__name__] = (self.touches(way), time.monotonic() - begun)

    def touches(self, way: Callable[[Cut], int]) -> int:
        """How often a run touches files here."""
        counts = self.folder / "touches"

        def counted(work: Callable[[], int]) -> int:
            seen = [0]

            def touched() -> None:
                seen[0] += 1

            def watched() -> int:
                watch(self.folder, touched)
                status = work()
                os.write(
                    os.open(counts, os.O_WRONLY | os.O_CREAT, 0o600),
                    str(seen[0]).encode(),
                )
                return status

            return let_through(watched)

        way(counted)
        steps = int(counts.read_text())
        counts.unlink()
        return steps


def drawn(place: Place, name: str, rng: random.Random) -> Cut:
    """A kill at a drawn moment, or at a drawn step."""
    steps, seconds = place.steps[name]
    if rng.random() < 0.5:
        moment = rng.uniform(0, 1.1 * seconds)
        return lambda work: killed_after(work, moment)
    step = rng.randrange(steps + 1)
    return lambda work: killed_at(work, step, place.folder)


def kill(folder: Path, rng: random.Random, found: Found, budget: Budget) -> None:
    """So many kills."""
    place = Place(folder, found)
    kills = 0
    place.begin()
    while budget.left(kills):
        way = rng.choice((place.fit, place.fit, place.train, place.score))
        kills += way(drawn(place, way.__name__, rng)) == -9
        if rng.random() < 0.1:
            place.clean()
    place.clean()
    print(f"kill: {kills} kills")


def main(argv: Sequence[str] | None = None) -> int:
    """Kills so many runs."""
    return campaign("kill", argv, 1000, __doc__, kill)


if __name__ == "__main__":
    sys.exit(main())
