"""What texts add to judges where ratings are few: the summaries of a few articles of SummEval.

The summaries of drawn articles are rated, so many in all; those of thirty others are estimated. R²
with people, the mean over draws: of a line on each judge, of one on the mean of several, of all of
them in a ridge, of the texts alone, of texts and judges together, and of texts and the first judge
with its scores shuffled. `short`: how far both are behind the best of line, mean and texts.

    python benchmarks/few.py --data ../shared/data [--judge gpt4 ...] [--draws 20] [--quick]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
from rivals import r2, rated_first

from estimators import summeval
from refless.commands.validate.versus_judges import line, linear
from refless.data.records import RatedPool, as_outputs
from refless.estimators.gp import GaussianProcess
from refless.registry.arrays import IntArray, codes

RATINGS = (30, 36, 60, 120)
OTHERS = 30
Lines = dict[str, float]


def drawn(
    pool: RatedPool, ratings: int, draws: int
) -> Iterator[tuple[IntArray, IntArray]]:
    """Rows to rate, of articles one after the other, and rows to estimate, of other articles."""
    article = codes(pool.sources)
    rng = np.random.default_rng([ratings, 7])
    for _ in range(draws):
        place, fit = rated_first(article, ratings, rng)
        first = place[fit].max() + 1
        yield fit, np.flatnonzero((first <= place) & (place < first + OTHERS))


def tried(pool: RatedPool, fit: IntArray, asked: IntArray) -> Lines:
    """R² of every line on the rows that are asked for."""
    known = pool.take(fit)
    new = pool.take(asked)
    found = {
        f"line on {judge}": line(known.scores[:, [i]], known.human, new.scores[:, [i]])
        for i, judge in enumerate(pool.score_names)
    }
    if len(found) > 1:
        found["mean of judges"] = line(known.scores, known.human, new.scores)
        found["ridge"] = linear(known.scores, known.human, new.scores)
    first = pool.scores[:, :1]
    shuffled = np.random.default_rng(int(fit.sum())).permutation(first)
    bad = replace(pool, scores=shuffled, score_names=pool.score_names[:1])
    for name, read, reads in (
        ("texts", pool, False),
        ("both", pool, True),
        ("bad", bad, True),
    ):
        gp = GaussianProcess(use_scores=reads).fit(read.take(fit))
        found[name] = gp.estimate(as_outputs(read.take(asked))).values
    return {name: r2(new.human, values) for name, values in found.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a line for each dimension and number of ratings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--judge", nargs="+", default=["gpt4"])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument(
        "--quick", action="store_true", help="one draw of one dimension"
    )
    options = parser.parse_args(arguments)
    if not (options.data / "summeval-judges").is_dir():
        print(f"no summeval-judges in {options.data}: nothing is measured")
        return 0
    pools = summeval(options.data, articles=True, judges=options.judge)
    for name, pool in islice(pools, 1 if options.quick else None):
        for ratings in RATINGS[:1] if options.quick else RATINGS:
            some = drawn(pool, ratings, 1 if options.quick else options.draws)
            rows = [tried(pool, *both) for both in some]
            means = {
                line: float(np.mean([row[line] for row in rows])) for line in rows[0]
            }
            simple = "mean of judges" if len(options.judge) > 1 else next(iter(means))
            means["short"] = means["both"] - max(means[simple], means["texts"])
            cells = ", ".join(f"{line} {value:.3f}" for line, value in means.items())
            print(
                f"{name.removeprefix('SummEval ')}, {ratings} ratings: {cells}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
