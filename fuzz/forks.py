"""Children of a warm process: everything is imported once, and a kill costs one of them."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

for name in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
):
    os.environ.setdefault(name, "1")  # threads do not live on in a child

Words = Sequence[object]
NEIGHBORS = ("--estimator", "bleu-neighbors")
NETWORK = "ratpred:embedding=4,hidden=4,epochs=6,synthetic_errors=no,learning_rate=0.01"
TINY = ("--estimator", NETWORK, "--threads", 1)


def fork(work: Callable[[], int]) -> int:
    """Starts a child that ends with the status of the work; its process id."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    status = 99
    try:
        status = work()
    except BaseException:  # noqa: BLE001 - whatever happens, a child does not go on as a parent
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def ended(child: int) -> int:
    """Exit status of a child; minus the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def command(words: Words, said: Path | None = None) -> int:
    """`refless WORDS...` in this process, with what it says in a file; its exit status."""
    from refless.cli import main

    out = Path(said or os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to the very end
    sys.argv = ["refless", *map(str, words)]
    sys.stdout = out
    sys.stderr = out
    try:
        main()
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else int(bool(left.code))
    return 0


def killed_after(work: Callable[[], int], seconds: float) -> int:
    """Runs a child and kills it after some time; its status, -9 where it was killed."""
    child = fork(work)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return ended(child)


def let_through(work: Callable[[], int]) -> int:
    """Runs a child that is not cut short; its status."""
    return ended(fork(work))


def watch(folder: Path, touched: Callable[[], None]) -> None:
    """Calls `touched` at each touch of a file below the folder, as long as this process lives."""

    def seen(event: str, given: tuple[object, ...]) -> None:
        if event.startswith(("open", "os.", "shutil.")) and str(folder) in str(
            given[:2]
        ):
            touched()

    sys.addaudithook(seen)


def killed_at(work: Callable[[], int], step: int, folder: Path) -> int:
    """Runs a child that kills itself at its n-th touch of a file below the folder."""
    left = [step]

    def touched() -> None:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def watched() -> int:
        watch(folder, touched)
        return work()

    return let_through(watched)


@cache
def warm() -> None:
    """Does here, once, what children will do, which loads everything; no thread stays."""
    import torch

    torch.set_num_threads(1)
    told = sys.stdout, sys.stderr
    with workplace() as folder:
        rated = jsonl(folder / "r.jsonl", rows(0, 30))
        outputs = jsonl(folder / "o.jsonl", rows(50, 5))
        score = ("--rated", rated, *NEIGHBORS, "-o", folder / "o.json")
        said = folder / "said"
        for words in (
            ("fit", rated, "--to", folder / "fit.safetensors", *NEIGHBORS),
            ("score", outputs, *score),
            ("train", rated, "--to", folder / "net.safetensors", *TINY),
        ):
            if command(words, said):
                raise RuntimeError(f"{words}: {said.read_text(encoding='utf-8')}")
    sys.stdout, sys.stderr = told


def rows(first: int, count: int, people: int = 1) -> list[dict[str, object]]:
    """Rated texts with ids that count up from `first`."""
    words = (
        "ferry",
        "choir",
        "museum",
        "bridge",
        "opens",
        "closes",
        "sinks",
        "today",
        "at noon",
    )
    return [
        {
            "id": f"t{i}",
            "text": " ".join(words[(i * k + k) % 9] for k in (1, 2, 4, 5)) + f" {i}",
            "annotator": f"p{who}",
            "rating": 1 + (i * 7 + who) % 5,
        }
        for i in range(first, first + count)
        for who in range(people)
    ]


def jsonl(path: Path, table: list[dict[str, object]]) -> Path:
    """The rows as a file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in table), encoding="utf-8")
    return path


@contextmanager
def workplace() -> Iterator[Path]:
    """A folder in memory where there is one, else on the disk."""
    memory = Path("/dev/shm")
    where = tempfile.mkdtemp(
        prefix="refless-fuzz-", dir=memory if memory.is_dir() else None
    )
    try:
        yield Path(where)
    finally:
        shutil.rmtree(where, ignore_errors=True)


class Found:
    """Executions and faults, each kind once."""

    def __init__(self) -> None:
        self.executions = 0
        self.faults = dict[str, str]()

    def hold(self, kind: str, *, holds: bool, told: object = "") -> None:
        """Notes a fault unless something holds."""
        if not holds and kind not in self.faults:
            self.faults[kind] = str(told)
            print(f"FAULT {kind}: {told}", flush=True)

    def tell(self, campaign: str) -> int:
        """Prints the numbers; 1 where there is a fault."""
        print(
            f"{campaign}: {self.executions} executions, {len(self.faults)} unique faults"
        )
        return 1 if self.faults else 0


FEWEST = 3  # runs of a campaign, however little time it has


def used() -> float:
    """Seconds of processor time that this process and its ended children have used."""
    return sum(os.times()[:4])


class Budget:
    """So many runs at most, in no more than so many seconds of processor time from the first on.

    How busy the machine is changes none of it: what waits for its turn uses no time.
    """

    def __init__(self, runs: int, seconds: float = float("inf")) -> None:
        self.runs = runs
        self.seconds = seconds
        self.until = 0.0

    def left(self, done: int) -> bool:
        """Whether there is more to do after so many runs."""
        self.until = self.until or used() + self.seconds
        return done < self.runs and (done < FEWEST or used() < self.until)


def campaign(
    name: str,
    argv: Sequence[str] | None,
    runs: int,
    about: str | None,
    body: Callable[[Path, random.Random, Found, Budget], None],
    ready: Callable[[], None] = warm,
) -> int:
    """Runs a campaign in a warm process and a folder of its own; 1 where there is a fault.

    Args:
        name: of the campaign; about: what its help says.
        argv: see `asked`; runs: where it says no number.
        body: does so many runs; ready: loads before that what children need.
    """
    budget, seed = asked(argv, runs, about)
    if not hasattr(os, "fork"):
        print(f"{name}: skipped, this system cannot fork")
        return 0
    found = Found()
    ready()
    with workplace() as folder:
        body(folder, random.Random(seed), found, budget)
    return found.tell(name)


def asked(
    argv: Sequence[str] | None, runs: int, about: str | None
) -> tuple[Budget, int]:
    """What `--runs N` (or `--kills N`), by default `runs`, `--seconds S` and `--seed S` ask for."""
    parser = argparse.ArgumentParser(description=about or "")
    parser.add_argument("--runs", "--kills", type=int, default=runs)
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="of processor time"
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(argv)
    return Budget(given.runs, given.seconds), given.seed
