"""Does `score --accept-above` keep its promise? Accepted texts that people rate below the bar.

Every pool is held out by source once. Then sources are drawn from it with replacement, many times,
as many as half of them. Their texts choose a threshold, and the whole pool, which is the truth,
counts which share of the accepted texts lies below the bar. More than was promised is a broken
promise.

    python benchmarks/accepting.py --data ../shared/data [--draws 200] [--quick]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from intervals import split
from simulate import simulate

from estimators import pools as rated_pools
from estimators import summeval
from refless.commands.score.accepting import accepting
from refless.data.records import RatedPool
from refless.estimators.gp import GaussianProcess
from refless.registry.arrays import FloatArray, IntArray, codes

# quantile of the ratings that is the bar; share of wrong ones
PROMISES = (
    (0.1, 0.05),
    (0.3, 0.1),
)
MOST = 700


def pools(data: Path | None) -> Iterator[tuple[str, RatedPool]]:
    """Every rated pool, or a small one of self-made ratings."""
    if data is None:
        yield "self-made", simulate(400, seed=1).pool
        return
    yield from rated_pools(data)
    yield from summeval(data, articles=False)


def held_out(pool: RatedPool) -> tuple[FloatArray, FloatArray, IntArray]:
    """Estimates, ratings and sources of at most so many texts."""
    if len(pool) > MOST:
        pool = pool.take(np.sort(split(pool, MOST, np.random.default_rng(0))[0]))
    sources = codes(pool.sources or pool.items or pool.ids)
    estimates = GaussianProcess().held_out(pool, sources).values
    known = ~np.isnan(estimates)
    return estimates[known], pool.human[known], codes([*map(str, sources[known])])


def drawn(sources: IntArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Rows of half as many sources as there are, drawn with replacement, and which draw each is."""
    count = int(sources.max()) + 1
    numbers = rng.integers(count, size=count // 2)
    rows = [np.flatnonzero(sources == number) for number in numbers]
    unit = np.repeat(np.arange(len(rows)), [*map(len, rows)])
    return np.concatenate(rows), unit


def line(
    name: str, texts: tuple[FloatArray, FloatArray, IntArray], draws: int
) -> Iterator[str]:
    """A row for each promise."""
    estimates, human, sources = texts
    for quantile, most in PROMISES:
        bar = float(np.quantile(human, quantile))
        shares = []
        broken = 0
        for seed in range(draws):
            rows, unit = drawn(sources, np.random.default_rng(seed))
            found = accepting(estimates[rows], human[rows], unit, bar, most)
            taken = found.takes(estimates)
            if found.chosen is not None:
                shares.append(float(taken.mean()))
                broken += float((human[taken] < bar).mean()) > most
        base = float((human < bar).mean())
        accepted = float(np.mean(shares or [0.0]))
        cells = (f"{base:.3f}", f"{most:g}", str(len(shares)), f"{accepted:.2f}")
        yield f"| {name} | {' | '.join(cells)} | {broken / draws:.3f} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the real pools")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument(
        "--quick", action="store_true", help="four draws of self-made ratings"
    )
    options = parser.parse_args(arguments)
    print("| pool | below the bar | at most wrong | promised | accepted | broken |")
    print("|---|---:|---:|---:|---:|---:|")
    draws = 4 if options.quick else options.draws
    for name, pool in pools(None if options.quick else options.data):
        print("\n".join(line(name, held_out(pool), draws)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
