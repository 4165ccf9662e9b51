"""Does the Gaussian process pick the text that people preferred, on sources that it has not seen?

Pairs are made of rated texts: of two for one source the one with the higher mean rating was
preferred. Ties are left out, and at most five pairs a source are drawn. Beside it stand the length
(which way, the other sources say) and a ridge on TF-IDF. All read the choices as ratings, 1 of the
text that was preferred and 0 of the other, and estimate each source from the others.

    python benchmarks/pairs.py --data ../shared/data [--pool NAME]
    python benchmarks/pairs.py --file pairs.jsonl   # your own, as 'refless validate' reads them
    python benchmarks/pairs.py --quick              # self-made pairs: does it run?
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from pathlib import Path

import numpy as np
from simulate import simulate

from estimators import pools, summeval
from refless.commands.pairs.pairwise import Pairwise, pairwise
from refless.commands.pairs.run import held_out_differences
from refless.data.choices import choices_in
from refless.data.records import RatedPool
from refless.data.tables import Reading, read_pool
from refless.estimators.gp import GaussianProcess
from refless.registry.arrays import FloatArray
from refless.registry.errors import RefLessError
from refless.stats.intervals import percentile_interval

CHOSEN_BY = ("GRADE convai2", "SummEval coherence")  # what settings were chosen on
MOST = 5  # pairs of a source
QUICK = 120  # self-made texts
STEEP = (
    8.0  # logits by which a text that is perfect is preferred to one that is worthless
)


def made(pool: RatedPool, seed: int = 0) -> RatedPool:
    """Pairs of a rated pool: of two texts for one source the better rated one was preferred."""
    rng = np.random.default_rng(seed)
    human = pool.human
    sides = []
    for rows in _by_source(pool).values():
        both = [
            (a, b) if human[a] > human[b] else (b, a)
            for a, b in combinations(rows, 2)
            if abs(human[a] - human[b]) > 1e-9 and pool.texts[a] != pool.texts[b]
        ]
        sides += [both[i] for i in np.sort(rng.permutation(len(both))[:MOST])]
    return of_choices(
        [
            {
                "prompt": pool.sources[a],
                "chosen": pool.texts[a],
                "rejected": pool.texts[b],
            }
            for a, b in sides
        ]
    )


def of_choices(rows: list[dict[str, str]]) -> RatedPool:
    """The rated texts that choices are."""
    return read_pool(rows, Reading(format="preference-pairs")).pool


def _by_source(pool: RatedPool) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for i, source in enumerate(pool.sources):
        found.setdefault(source, []).append(i)
    return found


def self_made(n: int, seed: int = 0) -> RatedPool:
    """Simulated texts, between which simulated people choose by their true quality."""
    simulated = simulate(n, seed=seed)
    rng = np.random.default_rng(seed)
    rows = []
    pool = simulated.pool
    for group in _by_source(pool).values():
        for a, b in combinations(group, 2):
            ahead = STEEP * (simulated.quality[a] - simulated.quality[b])
            best, worst = (
                (a, b) if rng.random() < 1.0 / (1.0 + np.exp(-ahead)) else (b, a)
            )
            texts = {"chosen": pool.texts[best], "rejected": pool.texts[worst]}
            rows.append({"prompt": pool.sources[a], **texts})
    return of_choices(rows)


def good_and_bad(data: Path, kind: str) -> RatedPool:
    """DailyDialog++: a response that people wrote as good, and one written, or drawn, as bad."""
    rows = []
    with (data / "dailydialog-plusplus/dev.json").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            texts = {"chosen": row["positive_responses"][0], "rejected": row[kind][0]}
            rows.append({"prompt": "\n".join(row["context"]), **texts})
    return of_choices(rows)


def row_of(pool: RatedPool) -> Pairwise:
    """All of them on one set of pairs."""
    choices = choices_in(pool)
    differences = held_out_differences({"gp": GaussianProcess()}, pool, choices)
    return pairwise(pool, choices, differences, seed=0, resamples=4_000)


def table(rows: Sequence[tuple[str, Pairwise]]) -> list[str]:
    """A line a set of pairs."""
    names = ("pairs of", "sources", "pairs", "gp [95 %]", "length", "TF-IDF")
    more = ("over length [95 %]", "over TF-IDF [95 %]")
    lines = [f"| {' | '.join([*names, *more])} |", "|---|" + "---:|" * 7]
    for name, found in rows:
        first, *others = found.judges[:3]
        cells = [
            name,
            f"{found.groups}",
            f"{found.pairs}",
            _with(first.accuracy, first.interval),
        ]
        cells += [f"{line.accuracy:.3f}" for line in others]
        cells += [_with(line.gap, line.gap_interval, "+") for line in others]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _with(value: float, ends: Sequence[float], sign: str = "") -> str:
    return f"{value:{sign}.3f} [{ends[0]:{sign}.3f}, {ends[1]:{sign}.3f}]"


def summary(rows: Sequence[tuple[str, Pairwise]]) -> list[str]:
    """Means over the real sets on which nothing was chosen; their intervals draw the sets."""
    kept = [found for name, found in rows if name not in {*CHOSEN_BY, "self-made"}]
    if len(kept) < 2:
        return []
    lines = []
    for place, rival in enumerate(("length", "TF-IDF"), 1):
        gaps = np.array([found.judges[place].gap for found in kept])
        drawn = np.random.default_rng(0).integers(len(gaps), size=(10_000, len(gaps)))
        means: FloatArray = gaps[drawn].mean(axis=1)
        ends = percentile_interval(means)
        ahead = sum(found.judges[place].gap_interval[0] > 0 for found in kept)
        behind = sum(found.judges[place].gap_interval[1] < 0 for found in kept)
        lines.append(
            f"Over {rival}, mean of {len(gaps)} real sets: {_with(float(gaps.mean()), ends, '+')}; "
            f"shown to be ahead on {ahead}, behind on {behind}."
        )
    return lines


def chosen(options: argparse.Namespace) -> Iterator[tuple[str, RatedPool]]:
    """The pairs that the command line asks for."""
    if options.file:
        yield options.file.stem, read_pool([str(options.file)]).pool
    elif options.quick:
        yield "self-made", self_made(QUICK)
    else:
        yield from (
            (name, one) for name, one in _all(options.data) if options.pool in name
        )


def _all(data: Path) -> Iterator[tuple[str, RatedPool]]:
    yield "self-made", self_made(600)
    for name, pool in chain(pools(data), summeval(data, articles=True)):
        if len({*pool.sources}) > 1:
            yield name, made(pool)
    for kind in ("random_negative_responses", "adversarial_negative_responses"):
        yield f"DailyDialog++ {kind.partition('_')[0]}", good_and_bad(data, kind)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table and what it says; progress goes to standard error."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--pool", default="", help="only sets whose name holds this")
    parser.add_argument("--file", type=Path, help="your own pairs instead")
    parser.add_argument("--quick", action="store_true", help="a few self-made pairs")
    options = parser.parse_args(arguments)
    rows = []
    try:
        for name, pool in chosen(options):
            rows.append((name, row_of(pool)))
            print(table(rows[-1:])[-1], file=sys.stderr, flush=True)
    except (OSError, RefLessError) as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 2
    print("\n".join([*table(rows), "", *summary(rows)] if rows else ["no such pairs"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
