"""Does `gp` in tables say what the exact process says, and how much quicker is it?

Each pool's ratings are learned from, but for a fourth of its sources (or texts), which both
estimate: the tables, and the process with all rated texts. CPU seconds of one thread, one run.

    python benchmarks/compiled.py --data ../shared/data [--pool NAME]
    python benchmarks/compiled.py --compact --data ../shared/data  # the compact form of both
    python benchmarks/compiled.py --speed --data ../shared/data  # 1,000 rated, 200 characters
    python benchmarks/compiled.py --quick  # self-made ratings: does it run?
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from simulate import simulate

from estimators import _read, newer, pools, summeval
from refless.data.design import units_or_texts
from refless.data.records import Outputs, RatedPool, as_outputs, ends_of
from refless.data.tables import Columns
from refless.estimators.gp import GaussianProcess
from refless.estimators.intervals import half_widths
from refless.loops.threads import single_threaded_blas
from refless.registry.arrays import FloatArray, codes
from refless.stats.correlation import spearman

MOST = 1_000  # rated texts
LENGTH = 200  # characters of the texts for speed
LEAST_SURE = 0.8  # share of texts that get an estimate
PARTS = 4
NEAR = 1e-3  # by which correlations with people may differ
NEAR_COMPACT = 1e-2
SLOW = 1_000  # texts that the exact process is timed on

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One pool: the exact process and its tables on the same outputs.

    Attributes:
        spearman: with people, of both; coverage: of 95 % intervals, of both.
        ratio: 2.5, 50 and 97.5 per cent quantiles of the tables' deviations over the exact ones.
        same: share of texts on which both abstain, or neither, if a fifth are to be left out.
    """

    name: str
    size: int
    spearman: tuple[float, float]
    coverage: tuple[float, float]
    ratio: tuple[float, float, float]
    same: float

    def __str__(self) -> str:
        ratio = "-".join(f"{share:.3f}" for share in self.ratio)
        numbers = (*self.spearman, *self.coverage)
        cells = " ".join(f"{number:8.4f}" for number in numbers)
        return f"{self.name:32.32s} {self.size:5d} {cells}  {ratio}  {self.same:.3f}"


def exactly(gp: GaussianProcess, outputs: Outputs) -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations by the process with all rated texts, in raters' units."""
    state = gp._state()  # noqa: SLF001 - both forms are asked
    data = state.data
    inputs = data.inputs_of(outputs)
    values = np.empty(len(outputs))
    variances = np.empty(len(outputs))
    with single_threaded_blas():
        for model, rows in state.parts(inputs):
            points = model.covariance.points(inputs.take(rows))
            prior = model.covariance.diagonal(points, len(rows))
            cross = model.covariance.between(points, len(rows))
            values[rows], left = model.posterior.predict(cross, prior)
            nugget = model.amplitudes.nugget + float(np.median(data.noise))
            variances[rows] = np.maximum(left, 0.0) + nugget
    values = np.clip(data.offset + data.unit * values, *ends_of(data.rated.scale))
    return values, data.unit * np.sqrt(variances)


def row_of(name: str, pool: RatedPool, *, compact: bool = False) -> Row:
    """The tables, maybe compact, beside the exact process on a fourth of a pool's units."""
    units = codes(units_or_texts(pool, pool))
    part = np.random.default_rng(0).permutation(units.max() + 1)[units] % PARTS
    rated = pool.take(np.flatnonzero(part > 0)[:MOST])
    judged = pool.take(np.flatnonzero(part == 0))
    outputs = as_outputs(judged)
    gp = GaussianProcess(threads=1, compact=compact).fit(rated)
    estimates = gp.estimate(outputs)
    values, sd = exactly(gp, outputs)
    state = gp._state()  # noqa: SLF001 - both forms are asked
    labels = gp._units_of(outputs)  # noqa: SLF001
    widths = half_widths(outputs, labels, state.errors, state.standardized, sd)
    human = judged.human
    inside = (human >= estimates.low - 1e-9) & (human <= estimates.high + 1e-9)
    least_sure = np.quantile(sd, LEAST_SURE)
    low, middle, high = np.percentile(estimates.sd / sd, [2.5, 50, 97.5])
    return Row(
        name=name,
        size=len(judged),
        spearman=(spearman(human, values), spearman(human, estimates.values)),
        coverage=(
            float(np.mean(np.abs(human - values) <= widths + 1e-9)),
            inside.mean(),
        ),
        ratio=(low, middle, high),
        same=float(np.mean((sd > least_sure) == (estimates.sd > least_sure))),
    )


def speed(pool: RatedPool, most: int, *, compact: bool) -> str:
    """CPU time of both on texts that neither has read before, from `most` rated ones."""
    order = np.random.default_rng(0).permutation(len(pool))
    gp = GaussianProcess(threads=1, use_source=False, compact=compact)
    gp.fit(pool.take(order[:most]))
    rest = pool.take(order[most:])
    enough = [len(text) >= 0.75 * LENGTH for text in rest.texts]
    outputs = as_outputs(rest.take(np.flatnonzero(enough)))
    outputs = replace(outputs, texts=tuple(t[:LENGTH] for t in outputs.texts))
    first, many, few = np.split(np.arange(len(outputs)), [SLOW, -SLOW])
    gp.estimate(outputs.take(first))  # loops are compiled, and usual words known
    quick, _ = timed(lambda: gp.estimate(outputs.take(many)))
    slow, _ = timed(lambda: exactly(gp, outputs.take(few)))
    mine = quick / len(many)
    theirs = slow / len(few)
    return (
        f"{len(many)} texts of {LENGTH} characters, {most:,} rated: {1 / mine:,.0f} texts/s with "
        f"interval; the exact process {1 / theirs:,.0f}: {theirs / mine:.1f} times"
    )


def timed(job: Callable[[], T]) -> tuple[float, T]:
    """CPU seconds of a job, and its result."""
    began = time.process_time()
    result = job()
    return time.process_time() - began, result


def every(data: Path) -> Iterator[tuple[str, RatedPool]]:
    """The pools of `rivals.py`."""
    yield from pools(data)
    yield from newer(data)
    yield from summeval(data, articles=True)


def essays(data: Path) -> RatedPool:
    """All answers of ASAP-SAS as one pool."""
    columns = Columns(text="EssayText", id="Id", rating=("Score1", "Score2"))
    return _read(data / "asap-sas/train.tsv", (0, 3), columns)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a row for each pool, or the speed; status 1 if correlations differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument(
        "--pool", default="", help="only pools whose name contains this"
    )
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--compact", action="store_true", help="gp:compact=yes")
    parser.add_argument("--rated", type=int, default=MOST, help="texts, for speed")
    parser.add_argument("--quick", action="store_true", help="self-made ratings")
    options = parser.parse_args(arguments)
    if options.quick:
        pool = simulate(400, seed=1).pool
        rows = [row_of("self-made", pool, compact=options.compact)]
    elif options.data is None:
        parser.error("--data names the folder of public ratings")
    elif options.speed:
        pool = essays(options.data)
        print(speed(pool, options.rated, compact=options.compact))
        return 0
    else:
        named = every(options.data)
        rows = []
        for name, pool in named:
            if options.pool in name:
                rows.append(row_of(name, pool, compact=options.compact))
                print(rows[-1], flush=True)
    print(rows[-1] if options.quick else summary(rows))
    gaps = [abs(row.spearman[1] - row.spearman[0]) for row in rows]
    near = NEAR_COMPACT if options.compact else NEAR
    return 0 if np.nanmax(gaps) <= near else 1


def summary(rows: Sequence[Row]) -> str:
    """Means over the pools, and the worst."""
    gaps = np.array([row.spearman[1] - row.spearman[0] for row in rows])
    coverage = np.array([row.coverage for row in rows])
    same = np.array([row.same for row in rows])
    return (
        f"{len(rows)} pools: Spearman differs by at most {np.nanmax(np.abs(gaps)):.5f}; coverage "
        f"{coverage[:, 0].mean():.4f} exact, {coverage[:, 1].mean():.4f} by tables; the same "
        f"abstention {same.mean():.3f}, at least {same.min():.3f}"
    )


if __name__ == "__main__":
    sys.exit(main())
