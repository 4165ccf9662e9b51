"""How many machine instructions fixed jobs take, in this tree and in another commit.

Instructions are counted by callgrind (valgrind), so that a slowdown of a few per cent shows on a
machine whose seconds are noise. Threads, hash seed and the processor that numba and BLAS see are
fixed; what is compiled is compiled before, natively.

    python benchmarks/instructions.py [--against HEAD~1] [--limit 1.05] [-o counts.json]
    python benchmarks/instructions.py --plain  # the jobs without valgrind: do they run?

Status 1 where a job takes more than --limit times what it took; 2 without valgrind.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from texts import simulated_texts

MARK = "erfc"  # of libm, which only this file calls: callgrind writes down what it has counted
HERE = Path(__file__).resolve()
FIXED = {
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx2,+popcnt,+bmi,+bmi2,+lzcnt,+fma",
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}
LIMIT = 1.05
N = 200  # texts
LENGTH = 80  # characters

Job = Callable[[], object]


def matching() -> Job:
    """BLEU* of 100 outputs with 200 rated texts."""
    from refless.metrics.kernels.bleu import BleuStar
    from refless.metrics.matching import Work

    texts = simulated_texts(N, length=LENGTH)
    ratings = np.arange(N) % 5
    prepared = BleuStar().prepare(texts)
    return partial(prepared.neighbor_sums, texts[:100], ratings, 0.08, Work(threads=1))


def indexing() -> Job:
    """N-grams and postings of 200 texts."""
    from refless.metrics.kernels.bleu import BleuStar

    return partial(BleuStar().prepare, simulated_texts(N, length=LENGTH))


def rouge() -> Job:
    """ROUGE-L of 50 outputs with 200 rated texts."""
    from refless.metrics.kernels import KERNELS

    texts = simulated_texts(N, length=LENGTH)
    prepared = KERNELS["rouge-l"]().prepare(texts)
    return partial(prepared.similarities, texts[:50])


def reading() -> Job:
    """200 rated rows, from dicts to a pool."""
    from refless.data.tables import read_pool

    texts = simulated_texts(N, length=LENGTH)
    rows = [
        {"id": str(i), "text": text, "rating": i % 5 + 1}
        for i, text in enumerate(texts)
    ]
    return partial(read_pool, rows)


def estimating() -> Job:
    """The Gaussian process, fitted on 100 rated texts, estimates 100."""
    from refless.estimators.gp import GaussianProcess

    texts = simulated_texts(N, length=LENGTH)
    fitted = GaussianProcess(threads=1).fit(texts[:100], [i % 5 for i in range(100)])
    return partial(fitted.estimate, texts[100:])


JOBS: dict[str, Callable[[], Job]] = {
    "matching": matching,
    "indexing": indexing,
    "rouge": rouge,
    "reading": reading,
    "estimating": estimating,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Counts, compares, prints."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--against", metavar="COMMIT", help="count that commit's too")
    parser.add_argument(
        "--limit", type=float, default=LIMIT, help="ratio that is too much"
    )
    parser.add_argument(
        "--plain", action="store_true", help="run the jobs once, without valgrind"
    )
    parser.add_argument("-o", "--out", type=Path, help="the counts as JSON")
    asked = parser.parse_args(argv)
    if asked.plain:
        return run_jobs()
    if shutil.which("valgrind") is None:
        print(
            "valgrind is not installed (Debian: apt-get install valgrind)",
            file=sys.stderr,
        )
        return 2
    ours = counted(HERE.parents[1] / "src")
    theirs = counted_of(asked.against) if asked.against else {}
    if asked.out:
        asked.out.write_text(
            json.dumps({"this": ours, "other": theirs}, indent=2), "utf-8"
        )
    print(*table(ours, theirs, asked.against), sep="\n")
    return int(
        any(ours[name] > asked.limit * theirs[name] for name in ours.keys() & theirs)
    )


def run_jobs() -> int:
    """Each job twice: what the first run compiles or remembers is not counted."""
    gc.disable()
    for name, made in JOBS.items():
        try:
            job = made()
            job()
        except (
            ImportError,
            AttributeError,
            TypeError,
        ) as error:  # another commit's functions
            print(f"{name}: {error}", file=sys.stderr)
            job = int
        else:
            print(f"{name}: ran")
        math.erfc(0.0)
        job()
        math.erfc(0.0)
    return 0


def counted(source: Path) -> dict[str, int]:
    """Instructions of each job with the package in `source`; those that ran there."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {"PYTHONPATH": str(source), "NUMBA_CACHE_DIR": f"{folder}/compiled"}
        words = [sys.executable, str(HERE), "--plain"]
        run = partial(subprocess.run, check=True, env={**os.environ, **FIXED, **paths})
        failed = run(words, capture_output=True, text=True).stderr  # compiles
        out = f"--callgrind-out-file={folder}/out"
        tool = ["valgrind", "-q", "--tool=callgrind", out, f"--dump-before={MARK}"]
        run([*tool, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = dict(zip(JOBS, counts_in(Path(folder)), strict=True))
    return {name: count for name, count in found.items() if f"{name}: " not in failed}


def counts_in(folder: Path) -> list[int]:
    """What was counted between the two marks of each job: every second dump."""
    dumps = sorted(folder.glob("out.[0-9]*"), key=lambda path: int(path.suffix[1:]))
    return [count_of(path.read_text("utf-8", "replace")) for path in dumps[1::2]]


def count_of(dump: str) -> int:
    """Instructions in a dump of callgrind."""
    found = re.search(r"^(?:totals|summary): (\d+)", dump, re.MULTILINE)
    if found is None:
        raise ValueError("a dump of callgrind without its total")
    return int(found[1])


def counted_of(commit: str) -> dict[str, int]:
    """The same of another commit, from a work tree that is removed afterwards."""
    git = partial(
        subprocess.run, cwd=HERE.parent, check=True, stdout=subprocess.DEVNULL
    )
    with tempfile.TemporaryDirectory() as folder:
        tree = f"{folder}/tree"
        git(["git", "worktree", "add", "--quiet", "--detach", tree, commit])
        try:
            return counted(Path(tree) / "src")
        finally:
            git(["git", "worktree", "remove", "--force", tree])


def table(
    ours: Mapping[str, int], theirs: Mapping[str, int], commit: str | None
) -> list[str]:
    """Lines for a terminal: millions of instructions, and the ratio."""
    head = f"{'job':12}{'here':>12}" + (f"{commit:>14}{'ratio':>8}" if commit else "")
    lines = [f"{head}   millions of instructions"]
    for name in JOBS:
        line = f"{name:12}{shown(ours.get(name))}"
        if commit:
            ratio = (
                f"{ours[name] / theirs[name]:8.3f}"
                if name in ours and name in theirs
                else ""
            )
            line += f"  {shown(theirs.get(name))}{ratio}"
        lines.append(line)
    return lines


def shown(count: int | None) -> str:
    """A count in millions."""
    return f"{'-' if count is None else f'{count / 1e6:,.2f}':>12}"


if __name__ == "__main__":
    raise SystemExit(main())
