"""Does the Gaussian process pick the text that people preferred, on sources that it has not seen?

Pairs are made of rated texts: of two for one source the one with the higher mean rating was
preferred. Ties are left out, and at most five pairs a source are drawn. Beside it stand the length
(which way, the other folds say), logistic regression on the difference of the two texts' TF-IDF,
and the Gaussian process that takes the choices for ratings, 1 and 0. All are fitted on four folds
of whole sources and judge the fifth.

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
from estimators import pools, summeval

from refless.data.preferences import Pairs, Votes, pairs_of, pool_in, votes_of
from refless.data.records import RatedPool
from refless.data.simulate import simulate
from refless.data.tables import read_pairs
from refless.estimators import GaussianProcess
from refless.evaluation.preferences import Judged, Opinion, dealt, held_out, judged, length, words
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import RefLessError
from refless.stats.intervals import percentile_interval

OURS, RATINGS = "gp", "gp on 1 and 0"
CHOSEN_BY = ("GRADE convai2", "SummEval coherence")  # what settings were chosen on
MOST = 5  # pairs of a source
QUICK = 120  # self-made texts
STEEP = 8.0  # logits by which a text that is perfect is preferred to one that is worthless


def made(pool: RatedPool, seed: int = 0) -> Pairs:
    """Pairs of a rated pool: of two texts for one source the better rated one was preferred."""
    rng = np.random.default_rng(seed)
    human, sides = pool.human, []
    for rows in _by_source(pool).values():
        both = [
            (a, b) if human[a] > human[b] else (b, a)
            for a, b in combinations(rows, 2)
            if abs(human[a] - human[b]) > 1e-9 and pool.texts[a] != pool.texts[b]
        ]
        sides += [both[i] for i in np.sort(rng.permutation(len(both))[:MOST])]
    named = [[(pool.sources[i], pool.texts[i]) for i in side] for side in sides]
    return pairs_of([(a, b) for a, b in named], [1.0] * len(sides))


def _by_source(pool: RatedPool) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for i, source in enumerate(pool.sources):
        found.setdefault(source, []).append(i)
    return found


def self_made(n: int, seed: int = 0) -> Pairs:
    """Simulated texts, between which simulated people choose by their true quality."""
    found, rng = simulate(n, seed=seed), np.random.default_rng(seed)
    sides, won = [], []
    for rows in _by_source(found.pool).values():
        for a, b in combinations(rows, 2):
            named = tuple((found.pool.sources[i], found.pool.texts[i]) for i in (a, b))
            sides.append((named[0], named[1]))
            ahead = STEEP * (found.quality[a] - found.quality[b])
            won.append(float(rng.random() < 1.0 / (1.0 + np.exp(-ahead))))
    return pairs_of(sides, won)


def good_and_bad(data: Path, kind: str) -> Pairs:
    """DailyDialog++: a response that people wrote as good, and one written, or drawn, as bad."""
    sides = []
    with (data / "dailydialog-plusplus/dev.json").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            source = "\n".join(row["context"])
            good, bad = row["positive_responses"][0], row[kind][0]
            if good != bad:
                sides.append(((source, good), (source, bad)))
    return pairs_of(sides, [1.0] * len(sides))


def as_ratings(pairs: Pairs, votes: Votes, fold: IntArray) -> Opinion:
    """The Gaussian process of ratings: 1 of the text that was preferred, 0 of the other."""
    sides = np.zeros(len(fold))
    for number in np.unique(fold):
        asked = fold == number
        known = pairs.take(np.flatnonzero(~asked[votes.of]))
        values = GaussianProcess().fit(pool_in(known)).predict(pairs.texts)
        sides[asked] = (values[votes.first] - values[votes.second])[asked]
    return Opinion(sides, np.zeros(0))


def row_of(pairs: Pairs) -> Judged:
    """All of them on one set of pairs."""
    gp, votes = GaussianProcess(), votes_of(pairs)
    fold = dealt(gp, pairs, votes)
    opinions = {
        OURS: held_out(gp, pairs, fold),
        "length": length(pairs, votes, fold),
        "TF-IDF": words(pairs, votes, fold),
        RATINGS: as_ratings(pairs, votes, fold),
    }
    return judged(pairs, opinions, seed=0, resamples=4_000)


def table(rows: Sequence[tuple[str, Judged]]) -> list[str]:
    """A line a set of pairs."""
    names = ("pairs of", "sources", "pairs", "gp [95 %]", "length", "TF-IDF", RATINGS)
    more = ("over length [95 %]", "over TF-IDF [95 %]", "log loss")
    lines = [f"| {' | '.join([*names, *more])} |", "|---|" + "---:|" * 9]
    for name, found in rows:
        first, *others = found.lines
        cells = [name, f"{found.groups}", f"{found.pairs}", _with(first.accuracy, first.interval)]
        cells += [f"{line.accuracy:.3f}" for line in others]
        cells += [_with(line.gap, line.gap_interval, "+") for line in others[:2]]
        lines.append(f"| {' | '.join([*cells, f'{first.log_loss:.3f}'])} |")
    return lines


def _with(value: float, ends: Sequence[float], sign: str = "") -> str:
    return f"{value:{sign}.3f} [{ends[0]:{sign}.3f}, {ends[1]:{sign}.3f}]"


def summary(rows: Sequence[tuple[str, Judged]]) -> list[str]:
    """Means over the real sets on which nothing was chosen; their intervals draw the sets."""
    kept = [found for name, found in rows if name not in {*CHOSEN_BY, "self-made"}]
    if len(kept) < 2:
        return []
    lines = []
    for place, rival in enumerate(("length", "TF-IDF", RATINGS), 1):
        gaps = np.array([found.lines[place].gap for found in kept])
        drawn = np.random.default_rng(0).integers(len(gaps), size=(10_000, len(gaps)))
        means: FloatArray = gaps[drawn].mean(axis=1)
        ends = percentile_interval(means)
        ahead = sum(found.lines[place].gap_interval[0] > 0 for found in kept)
        behind = sum(found.lines[place].gap_interval[1] < 0 for found in kept)
        lines.append(
            f"Over {rival}, mean of {len(gaps)} real sets: {_with(float(gaps.mean()), ends, '+')}; "
            f"shown to be ahead on {ahead}, behind on {behind}."
        )
    return lines


def chosen(options: argparse.Namespace) -> Iterator[tuple[str, Pairs]]:
    """The pairs that the command line asks for."""
    if options.file:
        yield options.file.stem, read_pairs([str(options.file)]).pairs
    elif options.quick:
        yield "self-made", self_made(QUICK)
    else:
        yield from ((name, one) for name, one in _all(options.data) if options.pool in name)


def _all(data: Path) -> Iterator[tuple[str, Pairs]]:
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
        for name, pairs in chosen(options):
            rows.append((name, row_of(pairs)))
            print(table(rows[-1:])[-1], file=sys.stderr, flush=True)
    except (OSError, RefLessError) as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 2
    print("\n".join([*table(rows), "", *summary(rows)] if rows else ["no such pairs"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
