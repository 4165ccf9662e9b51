"""What texts add to judges where ratings are few: the summaries of a few articles of SummEval.

All summaries of so many drawn articles are rated, those of thirty others are estimated. R² with
people, the mean over draws: of each judge's own line (isotonic regression), of all of them in a
ridge, of the texts alone, and of texts and judges together.

    python benchmarks/few.py --data ../shared/data [--judge gpt4 ...] [--draws 20] [--quick]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from estimators import summeval
from rivals import r_squared

from refless.data.records import RatedPool, as_outputs
from refless.estimators.gp import GaussianProcess
from refless.evaluation.judges import isotonic, linear
from refless.evaluation.validation import codes
from refless.registry.arrays import FloatArray, IntArray

ARTICLES, OTHERS = (3, 5, 10, 20), 30
Lines = dict[str, float]


def drawn(pool: RatedPool, articles: int, draws: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Rows to rate and rows to estimate, of different articles."""
    article = codes(pool.sources)
    rng = np.random.default_rng(articles)
    for _ in range(draws):
        order = rng.permutation(article.max() + 1)
        parts = (order[:articles], order[articles : articles + OTHERS])
        fit, asked = (np.flatnonzero(np.isin(article, part)) for part in parts)
        yield fit, asked


def tried(pool: RatedPool, fit: IntArray, asked: IntArray) -> Lines:
    """R² of every line on the rows that are asked for."""
    known, new = pool.take(fit), pool.take(asked)
    found = {
        f"{judge} alone": isotonic(known.scores[:, [i]], known.human, new.scores[:, [i]])
        for i, judge in enumerate(pool.score_names)
    }
    if len(found) > 1:
        found["all judges"] = linear(known.scores, known.human, new.scores)
    for name, heard in (("texts", False), ("both", True)):
        gp = GaussianProcess(use_scores=heard).fit(known)
        found[name] = gp.estimate(as_outputs(new)).values
    return {name: r2(new.human, values) for name, values in found.items()}


def r2(human: FloatArray, values: FloatArray) -> float:
    """Of one set of estimates."""
    return float(r_squared(human, values, np.ones((1, len(human))))[0])


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a line for each dimension and number of ratings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--judge", nargs="+", default=["gpt4"])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="one draw of one dimension")
    options = parser.parse_args(arguments)
    if not (options.data / "summeval-judges").is_dir():
        print(f"no summeval-judges in {options.data}: nothing is measured")
        return 0
    pools = summeval(options.data, articles=True, judges=options.judge)
    for name, pool in islice(pools, 1 if options.quick else None):
        for articles in ARTICLES[:1] if options.quick else ARTICLES:
            some = drawn(pool, articles, 1 if options.quick else options.draws)
            rows = [tried(pool, *both) for both in some]
            means = (f"{line} {np.mean([row[line] for row in rows]):.3f}" for line in rows[0])
            size = articles * len(pool) // len({*pool.sources})
            print(
                f"{name.removeprefix('SummEval ')}, {size} ratings: {', '.join(means)}", flush=True
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
