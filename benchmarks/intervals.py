"""Do the intervals of `score` hold what they promise? Coverage on real pools and on drawn ones.

Each pool is split many times: some sources are rated, others are judged. Counted is how often the
95 % intervals hold the human rating of single texts, of systems and of all outputs, also where one
system has no rated text. Widths stand beside those of a z-interval of the judged texts' own
ratings, which no estimate can know.

    python benchmarks/intervals.py --data ../shared/data [--pool NAME] [--splits 24] [--sources 10]
    python benchmarks/intervals.py --drawn  # strong, weak and no sources, from 2 to 40 of them
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from estimators import pools as rated_pools
from estimators import summeval
from refless.data.records import RatedPool, as_outputs
from refless.data.tables import read_pool
from refless.estimators.gp import GaussianProcess
from refless.evaluation.scoring import scored
from refless.registry.arrays import IntArray, codes

MOST = 300  # rated texts, and judged ones
COLUMNS = ("single", "all", "systems", "single, new system", "new system")
DRAWN = {
    "strong": (0.15, 0.05, 0.1),
    "weak": (0.08, 0.05, 0.1),
    "none": (0.0, 0.08, 0.1),
}
Found = dict[str, list[tuple[float, float, float]]]  # share inside, width, width of z


def pools(data: Path) -> Iterator[tuple[str, RatedPool]]:
    """Every rated pool of several systems."""
    for name, pool in rated_pools(data):
        if len(set(pool.systems)) > 1:
            yield name, pool
    yield from summeval(data, articles=False)


def split(
    pool: RatedPool, most: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Texts of some sources, at most half of them, and texts of others."""
    source = codes(pool.sources)
    place = np.argsort(rng.permutation(source.max() + 1))[source]
    sizes = np.cumsum(np.bincount(place))
    count = max(1, min(most, len(sizes) // 2, int(np.searchsorted(sizes, MOST))))
    others = np.argsort(place, kind="stable")[sizes[count - 1] :][:MOST]
    return np.flatnonzero(place < count), np.sort(others)


def tried(
    pool: RatedPool, rated: IntArray, judged: IntArray, found: Found, new: str = ""
) -> None:
    """Adds what the intervals hold where these texts are rated and those are judged."""
    if len(rated) < 20 or not len(judged):
        return
    fitted = GaussianProcess(threads=1).fit(pool.take(rated))
    human = pool.human[judged]
    outputs = as_outputs(pool.take(judged))
    estimates = fitted.estimate(outputs)
    inside = (estimates.low <= human) & (human <= estimates.high)
    width = float(np.mean(estimates.high - estimates.low))
    found[f"single{new}"].append((float(np.mean(inside)), width, np.nan))
    means = scored(outputs, estimates, fitted.residuals())
    systems = np.array(outputs.systems, dtype=object)
    rows = {name: np.flatnonzero(systems == name) for name in means.systems}
    one = "new system" if new else "systems"
    every = [(one, means.systems[name].mean_interval, rows[name]) for name in rows]
    every += (
        [] if new else [("all", means.overall.mean_interval, np.arange(len(judged)))]
    )
    for name, (low, high), which in every:
        truth = human[which].mean()
        z = 3.92 * human[which].std() / len(which) ** 0.5
        found[name].append((float(low <= truth <= high), high - low, float(z)))


def on_pool(pool: RatedPool, splits: int, sources: int) -> Found:
    """Many splits, each also with one system held out wholly."""
    found: Found = defaultdict(list)
    systems = np.array(pool.systems, dtype=object)
    names = sorted({*pool.systems})
    for seed in range(splits):
        rated, judged = split(pool, sources, np.random.default_rng(seed))
        tried(pool, rated, judged, found)
        new = systems == names[seed % len(names)]
        if len(names) > 1:
            tried(pool, rated[~new[rated]], judged[new[judged]], found, ", new system")
    return found


def drawn(sources: int, each: int, kind: str, rng: np.random.Generator) -> RatedPool:
    """Random words; sources, words and single texts each have their part in the rating."""
    between, words, noise = DRAWN[kind]
    worth = rng.normal(0, words * 8**0.5, 300)
    share = 1.0 / np.arange(1, 301) ** 0.8
    share /= share.sum()
    rows: list[dict[str, object]] = []
    for number in range(sources):
        source = " ".join(f"w{i}" for i in rng.choice(300, 12, p=share)) + f" q{number}"
        effect = rng.normal(0, between)
        for _ in range(each):
            text = rng.choice(300, 8, p=share)
            rating = 0.5 + effect + worth[text].mean() + rng.normal(0, noise)
            rows.append({"text": " ".join(f"w{i}" for i in text), "source": source})
            rows[-1] |= {"rating": float(rating), "system": "one"}
    return read_pool(rows).pool


def on_drawn(kind: str, sources: int, splits: int) -> Found:
    """Many pools, 30 other sources judged."""
    found: Found = defaultdict(list)
    each = max(4, 80 // sources)
    for seed in range(splits):
        pool = drawn(sources + 30, each, kind, np.random.default_rng([seed, sources]))
        old = {*dict.fromkeys(pool.sources)} - {*pool.sources[sources * each :]}
        rated = np.array([source in old for source in pool.sources])
        tried(pool, np.flatnonzero(rated), np.flatnonzero(~rated)[::2], found)
    return found


def line(name: str, found: Found) -> str:
    """One row: the share inside and, in brackets, the mean width over that of z."""
    cells = []
    for column in COLUMNS:
        share, width, z = (
            np.mean(found[column], axis=0) if found[column] else (np.nan,) * 3
        )
        beside = f"{width:.2f}" if np.isnan(z) else f"{width / z:.1f} z"
        cells.append("-" if np.isnan(share) else f"{share:.3f} ({beside})")
    return f"| {name} | {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--pool", default="", help="only pools whose name holds this")
    parser.add_argument("--splits", type=int, default=24)
    parser.add_argument(
        "--sources", type=int, default=MOST, help="rated sources, at most"
    )
    parser.add_argument(
        "--drawn", action="store_true", help="drawn pools instead of real ones"
    )
    options = parser.parse_args(arguments)
    print(f"| pool | {' | '.join(COLUMNS)} |\n|---|{'---:|' * len(COLUMNS)}")
    if options.drawn:
        for kind in DRAWN:
            for sources in (2, 3, 5, 10, 19, 20, 40):
                print(
                    line(
                        f"{kind}, {sources} sources",
                        on_drawn(kind, sources, options.splits),
                    )
                )
        return 0
    if not options.data.is_dir():
        print(f"no folder {options.data}", file=sys.stderr)
        return 2
    for name, pool in pools(options.data):
        if options.pool in name:
            found = on_pool(pool, options.splits, options.sources)
            print(line(name, found), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
