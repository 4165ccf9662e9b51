"""How many machine instructions fixed jobs take: beside a record, or beside another commit.

Instructions are counted by callgrind (valgrind), so that a slowdown of a few per cent shows on a
machine whose seconds are noise. Threads, hash seed and the processor that numba and BLAS see are
fixed; what is compiled is compiled before, natively.

    python benchmarks/instructions.py  # beside instructions.toml
    python benchmarks/instructions.py --against HEAD~1
    python benchmarks/instructions.py --plain  # the jobs without valgrind: do they run?

Status 1 where a job takes over 10 % more than the record says, or where a number of the record was
raised since HEAD~1 without another reason beside it. Without valgrind, on another kind of processor
or with other versions than those of the record nothing is refused, and that is said.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import importlib.metadata
import mmap
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from texts import simulated_texts

HERE = Path(__file__).resolve()
ROOT = HERE.parents[1]
RECORD = HERE.with_suffix(".toml")
FIXED = {
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx2,+popcnt,+bmi,+bmi2,+lzcnt,+fma",
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}
LIMIT = 1.10  # times the record
LIBRARIES = ("numpy", "scipy", "numba")
N = 200  # texts
TABLES = 4  # calls in which the tables of gp are made, whole in the end
LENGTH = 80  # characters
# A request to valgrind (its callgrind.h), which does nothing elsewhere: mov rax, rdi; xor edx, edx;
# rol rdi, 3; rol rdi, 13; rol rdi, 61; rol rdi, 51; xchg rbx, rbx; ret
REQUEST = bytes.fromhex("4889f8 31d2 48c1c703 48c1c70d 48c1c73d 48c1c733 4887db c3")
DUMP, ZERO, START, STOP = (0x43540000 + number for number in (0, 1, 4, 5))

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
    """The Gaussian process, fitted on 100 rated texts, with its tables, estimates 100."""
    from refless.estimators.gp import GaussianProcess

    texts = simulated_texts(N, length=LENGTH)
    fitted = GaussianProcess(threads=1).fit(texts[:100], [i % 5 for i in range(100)])
    for _ in range(TABLES):
        fitted.estimate(texts)
    return partial(fitted.estimate, texts[100:])


def cider() -> Job:
    """CIDEr-D of 100 outputs with one reference each."""
    from refless.data.records import Outputs, numbered
    from refless.extensions.metrics.cider import CIDErD

    texts = simulated_texts(N, length=LENGTH)
    references = tuple((text,) for text in texts[100:])
    outputs = Outputs(ids=numbered(100), texts=texts[:100], references=references)
    return partial(CIDErD().score, outputs)


JOBS: dict[str, Callable[[], Job]] = {
    "matching": matching,
    "indexing": indexing,
    "rouge": rouge,
    "cider": cider,
    "reading": reading,
    "estimating": estimating,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Counts, compares, prints."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--against", metavar="COMMIT", help="compare with that commit, refuse nothing"
    )
    parser.add_argument(
        "--plain", action="store_true", help="run the jobs once, without valgrind"
    )
    asked = parser.parse_args(argv)
    if asked.plain:
        return run_jobs()
    if shutil.which("valgrind") is None or platform.machine() != "x86_64":
        print("Not counted: that needs valgrind, and a processor of the kind x86_64.")
        return 0
    ours = counted(ROOT / "src")
    if asked.against:
        print(*table(ours, counted_of(asked.against), asked.against), sep="\n")
        return 0
    record = tomllib.loads(RECORD.read_text("utf-8"))
    now = record["jobs"]
    millions = {name: job["millions"] for name, job in now.items()}
    print(*table(ours, millions, "record"), sep="\n")
    if record["made_with"] != versions():
        print(f"Nothing is refused: the record was made with {record['made_with']},")
        print(f"and this is {versions()}.")
        return 0
    faults = [*too_many(ours, millions), *without_reason(now, earlier_jobs())]
    for fault in faults:
        print(fault, file=sys.stderr)
    return int(bool(faults))


def versions() -> str:
    """What instructions depend on besides the source."""
    libraries = [f"{name} {importlib.metadata.version(name)}" for name in LIBRARIES]
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    return ", ".join([python, *libraries])


def too_many(ours: Mapping[str, float], record: Mapping[str, float]) -> list[str]:
    """A line for each job that takes over the limit, cannot run, or is not in the record."""
    faults = []
    for name in JOBS:
        known = record.get(name, 0.0)
        count = ours.get(name)
        if count is None:
            faults.append(f"{name} could not run; see above.")
        elif count > LIMIT * known:
            faults.append(
                f"{name} takes {count:.2f} million instructions, and {RECORD.name} says {known}: "
                "make it as quick as before, or write the new number there and why."
            )
    return faults


def without_reason(
    now: Mapping[str, Mapping[str, Any]], before: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """A line for each number of the record that was raised and kept its reason."""
    return [
        f"{name} was raised from {before[name]['millions']} to {job['millions']} in {RECORD.name}: "
        "say why beside it."
        for name, job in now.items()
        if name in before
        and job["millions"] > before[name]["millions"]
        and job["why"] == before[name]["why"]
    ]


def earlier_jobs() -> Mapping[str, Mapping[str, Any]]:
    """The record's jobs as of HEAD~1; none where there was no record."""
    words = ["git", "show", f"HEAD~1:{RECORD.relative_to(ROOT)}"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    jobs: Mapping[str, Mapping[str, Any]] = tomllib.loads(done.stdout).get("jobs", {})
    return jobs


def run_jobs() -> int:
    """Each job twice: what the first run compiles or remembers is not counted."""
    gc.disable()
    tell = valgrind()
    for name, made in JOBS.items():
        try:
            job = made()
            job()
        except (ImportError, AttributeError, TypeError) as error:
            print(f"{name}: {error}", file=sys.stderr)  # another commit's functions
            job = int
        else:
            print(f"{name}: ran")
        tell(START)
        tell(ZERO)
        job()
        tell(DUMP)
        tell(STOP)
    return 0


def valgrind() -> Callable[[int], None]:
    """A sender of requests to valgrind, which does nothing without it."""
    if platform.machine() != "x86_64":
        return lambda _: None
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(REQUEST)
    words = ctypes.c_uint64 * 6
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    call = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.POINTER(words))(address)

    def tell(request: int) -> None:
        call(ctypes.byref(words(request)))

    tell.page = page  # type: ignore[attr-defined] # it lives as long as the function
    return tell


def counted(source: Path) -> dict[str, float]:
    """Millions of instructions of each job with the package in `source`; those that ran there."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {"PYTHONPATH": str(source), "NUMBA_CACHE_DIR": f"{folder}/compiled"}
        words = [sys.executable, str(HERE), "--plain"]
        run = partial(
            subprocess.run,
            check=True,
            env={**os.environ, **FIXED, **paths},
            capture_output=True,
            text=True,
        )
        failed = run(words).stderr  # compiles
        print(failed, end="", file=sys.stderr)
        out = f"--callgrind-out-file={folder}/out"
        run(["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", out, *words])
        found = dict(zip(JOBS, counts_in(Path(folder)), strict=True))
    return {name: count for name, count in found.items() if f"{name}: " not in failed}


def counts_in(folder: Path) -> list[float]:
    """Millions of instructions in each dump of callgrind, in their order."""
    dumps = sorted(folder.glob("out.[0-9]*"), key=lambda path: int(path.suffix[1:]))
    return [count_of(path.read_text("utf-8", "replace")) / 1e6 for path in dumps]


def count_of(dump: str) -> int:
    """Instructions in a dump of callgrind."""
    found = re.search(r"^totals: (\d+)", dump, re.MULTILINE)
    if found is None:
        raise ValueError("a dump of callgrind without its total")
    return int(found[1])


def counted_of(commit: str) -> dict[str, float]:
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
    ours: Mapping[str, float], theirs: Mapping[str, float], other: str
) -> list[str]:
    """Lines for a terminal: millions of instructions, and the ratio."""
    lines = [
        f"{'job':12}{'here':>12}{other:>14}{'ratio':>8}   millions of instructions"
    ]
    for name in JOBS:
        both = name in ours and name in theirs
        ratio = f"{ours[name] / theirs[name]:8.3f}" if both else ""
        lines.append(
            f"{name:12}{shown(ours.get(name))}  {shown(theirs.get(name))}{ratio}"
        )
    return lines


def shown(count: float | None) -> str:
    """A count, or a dash."""
    return f"{'-' if count is None else f'{count:,.2f}':>12}"


if __name__ == "__main__":
    raise SystemExit(main())
