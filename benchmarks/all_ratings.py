"""Do all ratings tell more than a draw of 5,000, and what do they cost?

A fifth of each large pool's units (sources, or texts) is estimated by `gp` fitted to all others,
and by `gp` fitted to the 5,000 of these that variances come from.

    python benchmarks/all_ratings.py --data ../shared/data [--pool NAME]
    python benchmarks/all_ratings.py --sizes --data ../shared/data  # time and memory
    python benchmarks/all_ratings.py --quick  # self-made ratings: does it run?

For --sizes, answers of ASAP-SAS are made into as many as are wanted: the beginning of one and the
end of another to the same question, rated with the mean of both. CPU seconds of one thread.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from compiled import essays, every, timed
from rivals import r2
from simulate import simulate

from refless.data.design import units_or_texts
from refless.data.human import copies_of, pool_of
from refless.data.records import RatedPool, as_outputs
from refless.estimators.folds import whole
from refless.estimators.gp import GaussianProcess
from refless.estimators.gp.data import MOST_INVERTED
from refless.registry.arrays import FloatArray, codes
from refless.stats.correlation import spearman

LARGE = 6_000
PARTS = 5
SIZES = (1_000, 5_000, 10_000, 20_000, 50_000, 100_000)
JUDGED = 2_000  # texts that are estimated for the speed
FAR = 0.002  # by which a correlation may be lower


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One pool: estimates from all ratings, and from a draw of them; pairs in this order.

    Attributes:
        rated, judged: texts; spearman, r2: with people.
        coverage, width: of 95 % intervals, widths as shares of the scale.
    """

    name: str
    rated: int
    judged: int
    spearman: tuple[float, float]
    r2: tuple[float, float]
    coverage: tuple[float, float]
    width: tuple[float, float]

    def __str__(self) -> str:
        pairs = (self.spearman, self.r2, self.coverage, self.width)
        cells = "  ".join(f"{first:.4f} / {second:.4f}" for first, second in pairs)
        return f"{self.name:24.24s} {self.rated:6d} {self.judged:6d}  {cells}"


def row_of(name: str, pool: RatedPool, most: int = MOST_INVERTED) -> Row:
    """All ratings beside a draw of so many, on a fifth of a pool's units."""
    units = codes(units_or_texts(pool, pool))
    part = np.random.default_rng(0).permutation(units.max() + 1)[units] % PARTS
    rated = pool.take(np.flatnonzero(part > 0))
    judged = pool.take(np.flatnonzero(part == 0))
    drawn = whole(copies_of(rated), most, np.random.default_rng(1))
    human = judged.human
    cells = []
    for some in (rated, rated.take(drawn)):
        found = GaussianProcess(threads=1).fit(some).estimate(as_outputs(judged))
        values = np.where(found.defined, found.values, some.human.mean())
        inside = (found.low <= human + 1e-9) & (human <= found.high + 1e-9)
        cells.append(
            (
                spearman(human, values),
                r2(human, values),
                float(inside[found.defined].mean()),
                float(np.nanmean(found.high - found.low)),
            )
        )
    correlations, shares, coverages, widths = zip(*cells, strict=True)
    return Row(
        name=name,
        rated=len(rated),
        judged=len(judged),
        spearman=correlations,
        r2=shares,
        coverage=coverages,
        width=widths,
    )


def large(data: Path) -> Iterator[tuple[str, RatedPool]]:
    """Pools of 6,000 rated texts or more, two of them put together from smaller ones."""
    yield "ASAP-SAS", essays(data)
    yield "DailyDialog++", replies(data)
    yield "28 pools as one", mixture(data)


def replies(data: Path) -> RatedPool:
    """Replies in dialogues: 1 for good ones, 0 for adversarial ones."""
    file = data / "dailydialog-plusplus/dev.json"
    texts: list[str] = []
    sources: list[str] = []
    ratings: list[float] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        dialogue = json.loads(line)
        for name, rating in (("positive", 1.0), ("adversarial_negative", 0.0)):
            some = dialogue[f"{name}_responses"]
            texts += some
            sources += [" ".join(dialogue["context"])] * len(some)
            ratings += [rating] * len(some)
    return pool_of(texts, ratings, sources=sources, scale=(0.0, 1.0))


def mixture(data: Path) -> RatedPool:
    """All other pools at hand as one, without sources; ratings as shares of their scales."""
    texts: list[str] = []
    ratings: list[FloatArray] = []
    for name, pool in every(data):
        if not name.startswith("ASAP"):
            texts += pool.texts
            low = pool.human.min()
            ratings.append((pool.human - low) / (pool.human.max() - low))
    return pool_of(texts, np.concatenate(ratings), scale=(0.0, 1.0))


def spliced(pool: RatedPool, size: int) -> RatedPool:
    """So many texts, each of the beginning of one answer and the end of another."""
    rng = np.random.default_rng(7)
    first = rng.integers(len(pool), size=size)
    second = (first + rng.integers(1, 50, size)) % len(pool)
    ratings = (pool.human[first] + pool.human[second]) / 2
    texts = []
    for one, other in zip(first.tolist(), second.tolist(), strict=True):
        begin = pool.texts[one].split()
        end = pool.texts[other].split()
        texts.append(" ".join([*begin[: len(begin) // 2], *end[len(end) // 2 :]]))
    return pool_of(texts, ratings, scale=(0.0, 1.0))


def cost(pool: RatedPool, size: int) -> str:
    """CPU seconds until all is learned, texts a second after it, and memory at the peak."""
    every = spliced(pool, size + JUDGED)
    rated = every.take(np.arange(size))
    outputs = as_outputs(every.take(np.arange(size, size + JUDGED)))
    one = outputs.take(np.arange(1))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    gp = GaussianProcess(threads=1)
    fit, _ = timed(lambda: gp.fit(rated).estimate(one))
    seconds, _ = timed(lambda: gp.estimate(outputs))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (
        f"| {size:,} | {fit:.0f} | {JUDGED / seconds:,.0f} | "
        f"{peak / 2**20:.1f} (before: {before / 2**20:.1f}) |"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a row for each pool or size; status 1 if a pool loses by all ratings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument(
        "--pool", default="", help="only pools whose name contains this"
    )
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--size", type=int, help="this one alone, in this process")
    parser.add_argument("--quick", action="store_true", help="self-made ratings")
    options = parser.parse_args(arguments)
    if options.quick:
        print(row_of("self-made", simulate(200, seed=1).pool, most=100))
        return 0
    if options.data is None:
        parser.error("--data names the folder of public ratings")
    if options.size:
        print(cost(essays(options.data), options.size), flush=True)
        return 0
    if options.sizes:
        for size in SIZES:
            alone = ["--data", str(options.data), "--size", str(size)]
            subprocess.run([sys.executable, __file__, *alone], check=True)
        return 0
    losses = []
    for name, pool in large(options.data):
        if options.pool in name and len(pool) >= LARGE:
            row = row_of(name, pool)
            print(row, flush=True)
            losses.append(row.spearman[1] - row.spearman[0])
    return 0 if max(losses, default=0.0) <= FAR else 1


if __name__ == "__main__":
    sys.exit(main())
