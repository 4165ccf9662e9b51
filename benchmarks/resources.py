"""What large inputs cost: seconds and peak memory of whole commands, on self-made texts.

    python benchmarks/resources.py [--quick] [--only NAME]

Each command is a process of its own; the operating system says what it used. Ends with status 1
where a command fails or takes more than is promised.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from texts import simulated_texts

LONG = 10_000_000  # characters of the one long text


@dataclass(frozen=True, slots=True)
class Case:
    """A command on files of its own, and what is promised of it on two cores."""

    name: str
    make: Callable[[Path, float], list[str]]
    seconds: float
    mebibytes: float


def rated(path: Path, n: int, *, long: int = 0, seed: int = 0) -> str:
    """A file of n rated texts of about 50 characters; the last one may be a long one."""
    rng = np.random.default_rng(seed)
    texts = [
        *simulated_texts(n - bool(long), seed=seed),
        *([_long(long)] if long else []),
    ]
    merit = np.array([min(len(text), 100) for text in texts]) / 25
    stars = np.clip(np.rint(1 + merit + rng.normal(0, 1, n)), 1, 5).astype(int)
    rows = zip(texts, stars.tolist(), strict=True)
    return _written(path, ({"text": text, "rating": rating} for text, rating in rows))


def outputs(path: Path, n: int, *, long: int = 0) -> str:
    """A file of n outputs; the last one may be a long one."""
    texts = [*simulated_texts(n - bool(long), seed=1), *([_long(long)] if long else [])]
    return _written(path, ({"text": text} for text in texts))


def _long(size: int) -> str:
    return " ".join(simulated_texts(max(1, size // 1_000), seed=2, length=1_000))


def _written(path: Path, rows: Iterable[object]) -> str:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return str(path)


def _validate(n: int, at: Path, share: float) -> list[str]:
    made_of = rated(at / "rated.jsonl", int(n * share) + 10)
    return ["validate", made_of, "--scale", "1", "5"]


def _score(at: Path, share: float) -> list[str]:
    given = outputs(at / "outputs.jsonl", int(200_000 * share))
    return [
        "score",
        given,
        "--rated",
        rated(at / "rated.jsonl", int(2_000 * share) + 10),
    ]


def _opened(n: int, estimator: str, at: Path, share: float) -> list[str]:
    model = str(at / "model.safetensors")
    made_of = rated(at / "rated.jsonl", int(n * share) + 10)
    words = ("fit", made_of, "--to", model, "--estimator", estimator)
    command = [sys.executable, "-m", "refless", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return ["score", outputs(at / "outputs.jsonl", 200), "--model", model]


def _long_output(at: Path, share: float) -> list[str]:
    given = outputs(at / "outputs.jsonl", 100, long=int(LONG * share))
    return ["score", given, "--rated", rated(at / "rated.jsonl", 300)]


def _long_rated(at: Path, share: float) -> list[str]:
    long = rated(at / "rated.jsonl", 300, long=int(LONG * share))
    return ["score", outputs(at / "outputs.jsonl", 100), "--rated", long]


def _long_validated(at: Path, share: float) -> list[str]:
    return ["validate", rated(at / "rated.jsonl", 300, long=int(LONG * share))]


CASES = (
    Case("validate 300 rated texts", partial(_validate, 300), 2, 500),
    Case("validate 1,200 rated texts", partial(_validate, 1_200), 15, 1_000),
    Case("validate 1,000,000 rated texts", partial(_validate, 1_000_000), 180, 2_000),
    Case("score 200,000 outputs, 2,000 rated", _score, 60, 2_000),
    Case("score 200 by gp of 1,200", partial(_opened, 1_200, "gp"), 5, 500),
    Case("score 200 by gp of 100,000", partial(_opened, 100_000, "gp"), 15, 3_000),
    Case(
        "score 200 by neighbors of 100,000",
        partial(_opened, 100_000, "bleu-neighbors"),
        10,
        1_000,
    ),
    Case(
        "score 200 by neighbors of 1,000,000",
        partial(_opened, 1_000_000, "bleu-neighbors"),
        30,
        2_000,
    ),
    Case("score, an output of 10 MB", _long_output, 60, 500),
    Case("score, a rated text of 10 MB", _long_rated, 60, 500),
    Case("validate, a rated text of 10 MB", _long_validated, 60, 500),
)


def run(case: Case, share: float) -> bool:
    """Runs one case and prints its line; whether it kept what is promised."""
    with tempfile.TemporaryDirectory() as folder:
        # a child's peak is never below its parent's
        with ProcessPoolExecutor(1) as elsewhere:
            arguments = elsewhere.submit(case.make, Path(folder), share).result()
        words = [sys.executable, "-m", "refless", *arguments]
        begin = time.perf_counter()
        process = subprocess.Popen(
            [*words, "--format", "json"], stdout=subprocess.DEVNULL
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - begin
    mebibytes = used.ru_maxrss / 1024
    kept = (
        not process.returncode
        and seconds <= case.seconds
        and mebibytes <= case.mebibytes
    )
    cpu = used.ru_utime + used.ru_stime
    print(
        f"{case.name:36}{seconds:9.1f} s{cpu:9.1f} s CPU{mebibytes:9.0f} MiB   "
        f"promised {case.seconds:g} s, {case.mebibytes:g} MiB: {'kept' if kept else 'NOT KEPT'}",
        flush=True,
    )
    return kept


def main() -> int:
    """Runs the cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a thousandth of it: does it run?"
    )
    parser.add_argument("--only", default="", help="cases whose name holds this")
    given = parser.parse_args()
    wanted = [case for case in CASES if given.only in case.name]
    kept = [run(case, 0.001 if given.quick else 1.0) for case in wanted]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
