"""Kills index, index --append, train and score -o at drawn moments, from outside and at each step.

After a kill what was acknowledged is there and what is there can be used; after the next run that
is let through nothing else is left.
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

DATA = re.compile(r"data-[0-9a-f]{12}-[0-9a-f]{8}")


class Place:
    """One folder with what is killed in it; each kind of run knows what must hold after it."""

    def __init__(self, folder: Path, found: Found) -> None:
        self.folder, self.found = folder, found
        self.steps: dict[str, tuple[int, float]] = {}  # of a run that is let through
        self.known: set[str] = set()
        self.fresh = 0
        self.some = [jsonl(folder / f"some{i}.jsonl", rows(100 * i, 30)) for i in range(2)]
        self.outputs = jsonl(folder / "outputs.jsonl", rows(500, 5))

    def run(self, words: Words, cut: Callable[[Callable[[], int]], int]) -> int:
        """One command, which may be cut short; never another status than 0 or that of a kill."""
        said = self.folder / "said.txt"
        said.unlink(missing_ok=True)
        status = cut(lambda: command(words, said))
        self.found.executions += 1
        text = said.read_text(encoding="utf-8", errors="replace")[-500:] if said.exists() else ""
        self.found.hold(f"{words[0]} exits {status}", holds=status in (0, -9), told=text)
        return status

    def append(self, cut: Callable[[Callable[[], int]], int]) -> int:
        """A text more; once it is acknowledged it stays. The index is made anew, or grows."""
        from refless.metrics import growth

        self.fresh += 1
        growth.SMALL = (1 << 14, -1)[self.fresh % 2]
        name = f"t{10_000 + self.fresh}"
        more = jsonl(self.folder / "more.jsonl", rows(10_000 + self.fresh, 1))
        words = ("index", more, "--out-dir", self.folder / "grown", "--append")
        status = self.run(words, cut)
        there = self.ids("grown")
        self.known |= {name} if status == 0 else set()
        self.found.hold("lost", holds=self.known <= there, told=self.known - there)
        self.found.hold("not whole", holds=there <= self.known | {name}, told=there - self.known)
        self.known |= there & {name}
        return status

    def replace(self, cut: Callable[[Callable[[], int]], int]) -> int:
        """Another index in the place of one."""
        self.fresh += 1
        one = self.some[self.fresh % 2]
        status = self.run(("index", one, "--out-dir", self.folder / "index"), cut)
        wanted = [{f"t{100 * i + k}" for k in range(30)} for i in range(2)]
        self.found.hold("neither", holds=self.ids("index") in wanted)
        return status

    def train(self, cut: Callable[[Callable[[], int]], int]) -> int:
        """Another model in the place of one."""
        from refless.extensions.ratpred.model import load
        from refless.registry.errors import RefLessError

        self.fresh += 1
        words = ("train", self.some[self.fresh % 2], "--out-dir", self.folder / "model", *TINY)
        status = self.run(words, cut)
        try:
            load(self.folder / "model")
        except RefLessError as fault:
            self.found.hold("model", holds=False, told=fault)
        return status

    def score(self, cut: Callable[[Callable[[], int]], int]) -> int:
        """A report in the place of one."""
        report = self.folder / "reports" / "o.json"
        rated = ("--rated", self.folder / "index", *NEIGHBORS)
        status = self.run(("score", self.outputs, *rated, "-o", report), cut)
        text = report.read_text(encoding="utf-8")
        self.found.hold("report", holds=text.startswith("{") and text.endswith("}\n"), told=text)
        return status

    def ids(self, name: str) -> set[str]:
        """What an index holds; a fault where it cannot be read."""
        from refless.metrics.index import load_index
        from refless.registry.errors import RefLessError

        try:
            return set(load_index(self.folder / name).pool.ids)
        except RefLessError as fault:
            self.found.hold("unusable", holds=False, told=fault)
            return set()

    def clean(self) -> None:
        """Lets one of each through; then nothing is left."""
        for way in (self.replace, self.append, self.train, self.score):
            status = way(let_through)
            self.found.hold(f"{way.__name__} after kills", holds=status == 0, told=status)
        for name, manifest in (
            ("index", "index.json"),
            ("grown", "index.json"),
            ("model", "model.json"),
        ):
            left = {path.name for path in (self.folder / name).iterdir()} - {manifest}
            data = {one for one in left if DATA.fullmatch(one)}
            self.found.hold(f"left in {name}", holds=left == data and len(data) == 1, told=left)
        left = {path.name for path in (self.folder / "reports").iterdir()}
        self.found.hold("left beside a report", holds=left == {"o.json"}, told=left)

    def begin(self) -> None:
        """The state before any kill, and how long each way takes, in seconds and in steps."""
        (self.folder / "reports").mkdir()
        self.run(("index", self.some[0], "--out-dir", self.folder / "grown"), let_through)
        self.known = self.ids("grown")
        for way in (self.replace, self.append, self.train, self.score):
            way(let_through)
            begun = time.monotonic()
            way(let_through)
            self.steps[way.__name__] = (self.touches(way), time.monotonic() - begun)

    def touches(self, way: Callable[[Callable[[Callable[[], int]], int]], int]) -> int:
        """How often a run touches files here."""
        counts = self.folder / "touches"

        def counted(work: Callable[[], int]) -> int:
            seen = [0]

            def touched() -> None:
                seen[0] += 1

            def watched() -> int:
                watch(self.folder, touched)
                status = work()
                os.write(os.open(counts, os.O_WRONLY | os.O_CREAT, 0o600), str(seen[0]).encode())
                return status

            return let_through(watched)

        way(counted)
        steps = int(counts.read_text())
        counts.unlink()
        return steps


def drawn(place: Place, name: str, rng: random.Random) -> Callable[[Callable[[], int]], int]:
    """A kill at a drawn moment, or at a drawn step."""
    steps, seconds = place.steps[name]
    if rng.random() < 0.5:
        moment = rng.uniform(0, 1.1 * seconds)
        return lambda work: killed_after(work, moment)
    step = rng.randrange(steps + 1)
    return lambda work: killed_at(work, step, place.folder)


def kill(folder: Path, rng: random.Random, found: Found, budget: Budget) -> None:
    """So many kills."""
    place, kills = Place(folder, found), 0
    place.begin()
    while budget.left(kills):
        way = rng.choice((place.append, place.append, place.replace, place.train, place.score))
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
