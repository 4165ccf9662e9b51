"""Estimates of very many outputs, shard by shard: texts a second, and memory of all processes.

    python benchmarks/shards.py [--texts 1000000] [--shards 100] [--rated 1000] [--threads 2]
    python benchmarks/shards.py --quick  # does it run?

Self-made texts of about 200 characters, without sources. CPU time counts, as machines are loaded:
of all processes, with their starts. Memory is what they have of their own and their shares of what
several have (PSS, of Linux), at its peak.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from texts import simulated_texts

LENGTH = 200  # characters
PAUSE = 0.5  # seconds between looks at memory


def written(path: Path, texts: tuple[str, ...], *, rated: bool = False) -> None:
    """A file of texts of four systems, perhaps with ratings that their lengths explain in part."""
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 1, len(texts)).tolist()
    with path.open("w", encoding="utf-8") as file:
        for i, text in enumerate(texts):
            row: dict[str, object] = {"text": text, "system": f"m{i % 4}"}
            if rated:
                row["rating"] = int(np.clip(len(text) / 50 + noise[i], 1, 5))
            file.write(json.dumps(row) + "\n")


def family(pid: int) -> list[int]:
    """A process and those that it started."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    found = [pid]
    if children.exists():
        for child in children.read_text().split():
            found += family(int(child))
    return found


def memory(pid: int) -> float:
    """MB of a process and those that it started, what they share counted once."""
    total = 0
    for member in family(pid):
        try:
            lines = Path(f"/proc/{member}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def timed(words: list[str]) -> tuple[float, float, float]:
    """Seconds of CPU, seconds that passed, and peak memory in MB of a command line."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    peak = 0.0
    command = [sys.executable, "-m", "refless", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, memory(process.pid))
            time.sleep(PAUSE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if process.returncode:
        raise SystemExit(process.returncode)
    return cpu, time.perf_counter() - began, peak


def main() -> None:
    """Prints one line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=1_000_000)
    parser.add_argument("--shards", type=int, default=100)
    parser.add_argument("--rated", type=int, default=1_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="400 texts: does it run?")
    options = parser.parse_args()
    texts = 400 if options.quick else options.texts
    shards = 4 if options.quick else options.shards
    rated = 60 if options.quick else options.rated
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        (at / "in").mkdir()
        written(at / "rated.jsonl", simulated_texts(rated, length=LENGTH), rated=True)
        for number in range(shards):
            some = simulated_texts(texts // shards, seed=number + 1, length=LENGTH)
            written(at / "in" / f"part-{number:05}.jsonl", some)
        model = str(at / "m.safetensors")
        timed(["fit", str(at / "rated.jsonl"), "--scale", "1", "5", "--to", model])
        words = ["score", str(at / "in"), "--model", model, "-o", f"{at}/out/"]
        cpu, wall, peak = timed([*words, "--threads", str(options.threads)])
    print(
        f"{texts:,} texts in {shards} shards, {rated:,} rated: {texts / cpu:,.0f} texts a second "
        f"of CPU, {cpu:.0f} s of CPU in {wall:.0f} s, {peak:.0f} MB at most"
    )


if __name__ == "__main__":
    main()
