"""Targets in a process of their own: `python -m fuzz.worker csv --runs 100000 --seed 1`.

Atheris guides the mutation by coverage where it is installed and one target is asked for; else it
is drawn at random, aloud. Prints lines of JSON: what is run, each fault that is new with its input,
and the executions, every second and at the end.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import random
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

KEPT = 256  # inputs that mutation without guidance starts from
Maker = Callable[[random.Random], bytes]


def main(argv: list[str] | None = None) -> int:
    """Runs targets one after the other; the status is 1 where a fault was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--runs", type=int, default=10**9, help="of each target")
    parser.add_argument(
        "--seconds", type=float, default=1e9, help="of processor time, of each"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--drawn", action="store_true", help="no guidance, also with atheris"
    )
    asked = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    guide = _atheris()
    without = "" if guide else ", as atheris is not installed"
    guide = None if asked.drawn or len(asked.targets) > 1 else guide
    if guide is None:
        say(way=f"inputs are drawn at random{without}")
        from fuzz.targets import TARGETS
    else:
        say(way="inputs are guided by atheris")
        with guide.instrument_imports(
            include=["refless"], enable_loader_override=False
        ):
            from fuzz.targets import TARGETS
    status = 0
    for name in asked.targets:
        say(target=name)
        watched = Watched(TARGETS[name].call, asked.runs, asked.seconds)
        if guide is not None:
            _guided(guide, watched, TARGETS[name].make, asked.seed)
        _drawn(watched, TARGETS[name].make, asked.seed)
        status |= watched.end()
    return status


def _atheris() -> Any:
    with suppress(ImportError):
        import atheris

        return atheris
    return None


class Watched:
    """A target that remembers its faults instead of raising them."""

    def __init__(
        self, call: Callable[[bytes], None], runs: int, seconds: float
    ) -> None:
        self.call = call
        self.runs = runs
        self.seconds = seconds
        self.until = 0.0
        self.done = 0
        self.told = time.monotonic()
        self.faults = set[str]()

    def __call__(self, data: bytes) -> None:
        """One execution."""
        from fuzz.targets import attempt

        self.until = self.until or time.process_time() + self.seconds
        fault = attempt(self.call, data)
        self.done += 1
        if fault is not None and (name := named(fault)) not in self.faults:
            self.faults.add(name)
            shown = "".join(traceback.format_exception(fault))[-3000:]
            say(fault=name, data=base64.b64encode(data).decode(), shown=shown)
        if time.monotonic() - self.told > 1:
            self.told = time.monotonic()
            say(done=self.done)

    @property
    def over(self) -> bool:
        """Whether there has been enough of it."""
        return self.done >= self.runs or 0 < self.until < time.process_time()

    def end(self) -> int:
        """The last word; the exit status."""
        say(done=self.done)
        return int(bool(self.faults))


def say(**what: object) -> None:
    """One line of JSON."""
    os.write(1, (json.dumps(what) + "\n").encode())


def named(fault: BaseException) -> str:
    """What makes two faults one: the type, and the innermost function of refless."""
    frames = traceback.extract_tb(fault.__traceback__)
    ours = [f for f in frames if "refless/" in f.filename]
    where = (
        f"{ours[-1].filename.rpartition('refless/')[2]}:{ours[-1].name}"
        if ours
        else "itself"
    )
    return f"{type(fault).__name__} in {where}"


def _drawn(watched: Watched, make: Maker, seed: int) -> None:
    from fuzz.making import mutated

    rng = random.Random(seed)
    kept = [make(rng) for _ in range(KEPT)]
    while not watched.over:
        data = mutated(rng.choice(kept), rng, make)
        watched(data)
        if rng.random() < 0.01:
            kept[rng.randrange(KEPT)] = data


def _guided(atheris: Any, watched: Watched, make: Maker, seed: int) -> None:
    """Leaves the process when it is done, as libFuzzer does."""
    from fuzz.making import mutated

    def mutate(data: bytes, most: int, drawn: int) -> bytes:
        rng = random.Random(drawn)
        if rng.random() < 0.4:
            return bytes(atheris.Mutate(data, most))
        return mutated(data, rng, make, most)

    def once(data: bytes) -> None:
        watched(data)
        if watched.over:
            os._exit(watched.end())

    words = [
        sys.argv[0],
        f"-seed={seed + 1}",
        "-max_len=16384",
        "-rss_limit_mb=0",
        "-timeout=60",
    ]
    atheris.Setup(
        [*words, "-verbosity=0", "-len_control=0"], once, custom_mutator=mutate
    )
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
