"""The search for one sentence: from corpus statistics, beside a loop of single scores.

    python benchmarks/stress.py [--data ../shared/data] [--quick] [--large]

Flickr30k: 144,481 distinct training captions against 1,000 items with 5 references each, or
simulated captions of the same number where the data is absent. `--large` takes 500,000 simulated
captions against 5,000 items with 5 references and shows the peak memory. The loop scores a sample,
one candidate after the other; its seconds are those of the sample times the number of candidates.
Exit status 1 if the two disagree.
"""

from __future__ import annotations

import argparse
import gzip
import re
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from refless.extensions.metrics.bleu import BLEU
from refless.extensions.papers.stress.constant import ConstantBLEU, References
from refless.extensions.papers.stress.sentence import score_of, search
from refless.metrics.matching import cores

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SAMPLE = 5
SEED = 0
TOLERANCE = 1e-9
TOKEN = re.compile(r"\w+(?:-\w+)*")
METRIC = BLEU(tokenize="words", smooth="coco")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Task:
    """What is searched."""

    name: str
    references: References
    candidates: Sequence[str]


def flickr(data: Path) -> Task:
    """Flickr30k's test references and training captions, lower case, without punctuation."""

    def captions(name: str) -> list[str]:
        with gzip.open(data / "flickr30k" / name, "rt", encoding="utf-8") as file:
            return [" ".join(TOKEN.findall(line.lower())) for line in file]

    streams = [captions(f"test_2016.{i}.en.gz") for i in range(1, 6)]
    train = {text for i in range(1, 6) for text in captions(f"train.{i}.en.gz")}
    return Task(
        name="Flickr30k",
        references=list(zip(*streams, strict=True)),
        candidates=sorted(train),
    )


def simulated(items: int, candidates: int) -> Task:
    """Captions of words drawn by Zipf's law, 5 to 18 words long."""
    rng = np.random.default_rng(SEED)

    def texts(n: int) -> list[str]:
        lengths = rng.integers(5, 19, size=n)
        words = iter((rng.zipf(1.35, size=int(lengths.sum())) % 20_000).tolist())
        return [
            " ".join(f"w{next(words)}" for _ in range(length)) for length in lengths
        ]

    flat = texts(5 * items)
    return Task(
        name="SIMULATED captions",
        references=[flat[5 * i : 5 * i + 5] for i in range(items)],
        candidates=texts(candidates),
    )


def contest(metric: BLEU, task: Task) -> bool:
    """Prints the metric's lines; whether ours and the loop agree."""
    search(metric, task.references[:20], task.candidates[:50])  # compiles, or loads
    begin = time.perf_counter()
    best = search(metric, task.references, task.candidates)
    seconds = time.perf_counter() - begin
    rng = np.random.default_rng(SEED)
    drawn = [
        task.candidates[int(i)] for i in rng.integers(len(task.candidates), size=SAMPLE)
    ]
    begin = time.perf_counter()
    slow = [score_of(metric, text, task.references) for text in drawn]
    loop = (time.perf_counter() - begin) / SAMPLE * best.n_candidates
    constant = ConstantBLEU(metric, task.references)
    quick = [*constant.scores(constant.read(drawn)), best.score]
    slow.append(score_of(metric, best.text, task.references))
    agrees = np.allclose(quick, slow, rtol=0, atol=TOLERANCE)
    print(
        f"BLEU     {seconds:8.2f} s   a loop {loop:12,.0f} s   {loop / seconds:9,.0f} times as "
        f"fast{'' if agrees else '   FAULT: they differ'}"
    )
    print(f"{'':8} best: {best.text} ({best.score:.4f})")
    return agrees


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; returns the exit status."""
    parser = argparse.ArgumentParser(
        description="The search for one sentence, beside a loop.", allow_abbrev=False
    )
    parser.add_argument(
        "--data", type=Path, default=DATA, help="folder of the real data"
    )
    parser.add_argument(
        "--quick", action="store_true", help="few captions: does it run?"
    )
    parser.add_argument(
        "--large", action="store_true", help="500,000 x 5,000 x 5, simulated"
    )
    options = parser.parse_args(arguments)
    if options.quick:
        task = simulated(50, 500)
    elif options.large:
        task = simulated(5_000, 500_000)
    elif (options.data / "flickr30k").exists():
        task = flickr(options.data)
    else:
        task = simulated(1_000, 145_000)
    print(
        f"{task.name}: {len(task.candidates):,} candidates, {len(task.references):,} items with 5 "
        f"references;\n{cores()} cores; the loop's seconds are those of {SAMPLE} candidates times "
        "their number"
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    agrees = contest(METRIC, task)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"Peak memory of the process: {peak:,} MiB ({before:,} before the search)")
    return 0 if agrees else 1


if __name__ == "__main__":
    sys.exit(main())
