"""Does what `refless next` chooses bring more than random choice? Replays on rated pools.

Goal learn: twenty texts are rated at random, then more in batches, chosen or at random; both ways
are judged on the same held-out sources, and on all texts that there were to choose from, of which
the rated ones have their ratings. Goals mean and compare: a quarter of the sources teaches the
estimator, and of all others it is computed how wide the interval is that was promised, beside what
the true errors of estimates make it.

    python benchmarks/next.py learn --data ../shared/data [--pool NAME] [--repetitions 20]
    python benchmarks/next.py draw --data ../shared/data [--pool NAME] [--repetitions 20]
    python benchmarks/next.py learn --quick  # self-made ratings: does it run?
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
from simulate import simulate

from estimators import pools, summeval
from refless.commands.next.active_learning import DOUBT
from refless.commands.next.d_optimal import most_telling
from refless.commands.next.sampling_design import Units, items_to_draw, outputs_to_draw
from refless.data.records import RatedPool, as_outputs
from refless.estimators.gp import GaussianProcess
from refless.registry.arrays import FloatArray, IntArray, codes
from refless.stats.correlation import spearman
from refless.stats.intervals import student

SIZES = (20, 40, 80, 160)
MOST = 500  # texts to choose from
JUDGED = 400  # held-out texts
SHARE = 0.4  # of the sources is held out
TAUGHT = 0.25  # of the sources teaches the estimator whose errors are drawn
DRAWN = 0.25  # of the others is rated
PAIRS = 4  # of systems, at most, in each repetition
QUICK = 120  # self-made texts


def parts(
    pool: RatedPool, rng: np.random.Generator, share: float
) -> tuple[IntArray, IntArray]:
    """Texts of a share of the sources (texts, where there are none), and all others, shuffled."""
    groups = codes(pool.sources) if len({*pool.sources}) > 1 else np.arange(len(pool))
    count = int(groups.max()) + 1
    inside = np.isin(groups, rng.permutation(count)[: round(share * count)])
    rows = rng.permutation(len(pool))
    return rows[inside[rows]], rows[~inside[rows]]


def course(pool: RatedPool, seed: int, *, chosen: bool) -> FloatArray:
    """[4] mean over sizes: Spearman and MSE over variance, of held-out texts and of all others."""
    test, train = parts(pool, np.random.default_rng(seed), SHARE)
    pool = pool.take(np.concatenate([test[:JUDGED], train[:MOST]]))
    test, train = np.split(np.arange(len(pool)), [min(len(test), JUDGED)])
    rng = np.random.default_rng((seed, 1))
    known = train[: SIZES[0]]
    rows = []
    for size in SIZES[1:]:
        left = np.setdiff1d(train, known)
        more = size - len(known)
        if more >= len(left):
            break
        picked = rng.choice(left, more, replace=False)
        if chosen:
            model = GaussianProcess(threads=1).fit(pool.take(np.sort(known)))
            found = model.together(as_outputs(pool.take(left)), DOUBT)
            assert found is not None
            picked = left[most_telling(found.covariance, found.noise, more)]
        known = np.concatenate([known, picked])
        model = GaussianProcess(threads=1).fit(pool.take(np.sort(known)))
        values = model.predict(as_outputs(pool))
        own = values.copy()
        own[known] = pool.human[known]
        rows.append([*_judged(pool, test, values), *_judged(pool, train, own)])
    return np.asarray(np.mean(rows, axis=0))


def _judged(pool: RatedPool, rows: IntArray, values: FloatArray) -> tuple[float, float]:
    human = pool.human[rows]
    guess = values[rows]
    r = spearman(human, guess)
    return 0.0 if math.isnan(r) else r, float(
        np.square(human - guess).mean() / pool.human.var()
    )


def learning(pool: RatedPool, repetitions: int) -> list[str]:
    """What random choice reaches, and by how much the other is better (MSE: lower is better)."""
    both = [
        [course(pool, seed, chosen=way) for way in (True, False)]
        for seed in range(repetitions)
    ]
    ours, theirs = np.array(both).transpose(1, 0, 2)
    cells = []
    for k in range(ours.shape[1]):
        cells += [
            f"{theirs[:, k].mean():.3f}",
            with_interval(ours[:, k] - theirs[:, k], "+"),
        ]
    return cells


def with_interval(values: FloatArray, sign: str = "") -> str:
    """A mean over repetitions with its 95 % interval by Student's t."""
    half = student(len(values) - 1) * float(values.std(ddof=1)) / math.sqrt(len(values))
    ends = (values.mean(), values.mean() - half, values.mean() + half)
    return "{:{s}.3f} [{:{s}.3f}, {:{s}.3f}]".format(*ends, s=sign)


def drawing(pool: RatedPool, repetitions: int) -> list[str]:
    """Of means and of differences: promised over true width.

    Differences are those of pairs of systems, whose variances are added up.
    """
    found = np.array([drawn(pool, seed) for seed in range(repetitions)])
    return [with_interval(one) if not np.isnan(one).any() else "-" for one in found.T]


def drawn(pool: RatedPool, seed: int) -> list[float]:
    """The two numbers of one repetition."""
    taught, rest = parts(pool, np.random.default_rng(seed), TAUGHT)
    estimator = GaussianProcess(threads=1).fit(pool.take(np.sort(taught)))
    some = pool.take(np.sort(rest))
    outputs = as_outputs(some)
    pairs = [*combinations(sorted({*some.systems}), 2)]
    pairs = [
        pairs[k] for k in np.random.default_rng(seed).permutation(len(pairs))[:PAIRS]
    ]
    units = [items_to_draw(estimator, outputs, pair) for pair in pairs]
    errors = some.human - estimator.predict(outputs)
    return [
        _promised(some, errors, [outputs_to_draw(estimator, outputs)]),
        _promised(some, errors, units),
    ]


def _promised(some: RatedPool, errors: FloatArray, several: Sequence[Units]) -> float:
    """Promised over true width."""
    promised = true = 0.0
    for units in several:
        n = max(2, round(DRAWN * len(units.members)))
        missed = np.array(
            [_mean(some, one, units.systems, errors) for one in units.members]
        )
        human = np.array(
            [_mean(some, one, units.systems, some.human) for one in units.members]
        )
        rest = 1 / n - 1 / len(units.members)
        true += missed.var() * rest + human.var() / len(units.members)
        promised += (units.half_width(n) / student(n - 1)) ** 2
    return math.sqrt(promised / true) if several else math.nan


def _mean(
    some: RatedPool, rows: Sequence[int], systems: Sequence[str], values: FloatArray
) -> float:
    """The value of an output, or the difference of two systems' means."""
    if not systems:
        return float(values[list(rows)].mean())
    first, second = (
        values[[i for i in rows if some.systems[i] == name]].mean() for name in systems
    )
    return float(first - second)


HEADS = {
    "learn": "Spearman, held out | gain | MSE, held out | gain "
    "| Spearman, all | gain | MSE, all | gain",
    "draw": "mean: promised / true width | difference: promised / true width",
}
STUDIES = {"learn": learning, "draw": drawing}


def chosen(options: argparse.Namespace) -> Iterator[tuple[str, RatedPool]]:
    """The pools that the command line asks for."""
    if options.quick:
        yield "self-made", simulate(QUICK).pool
        return
    yield from pools(options.data)
    yield from summeval(options.data, articles=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a row a pool, as each is done."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("what", choices=list(STUDIES))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--pool", default="", help="only pools whose name holds this")
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="self-made ratings")
    options = parser.parse_args(arguments)
    head = f"| pool | {HEADS[options.what]} |"
    print(head, "|---" * (head.count("|") - 1) + "|", sep="\n")
    for name, pool in chosen(options):
        if options.pool in name:
            cells = STUDIES[options.what](pool, options.repetitions)
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
