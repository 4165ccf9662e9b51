"""Are forecasts kept on real ratings? Plans, widths, and the chance to show a difference.

plans: `next --plan` promises that four of five studies reach a goal. Here studies draw single
ratings of a real pool: how many reach half a width of 5 % of the scale, and show a difference of
10 %? The plan knows nothing of the pool, or 40 of its ratings.

widths: of two systems on the same items some ratings are known, drawn at random, so that most items
have one of two. How wide does `next` say that the interval will be when all are rated, how wide is
it, how often is it within the range that is told, and what chance to show a difference is told?

alike: how far do the ratings of two answers to one item go together?

    python benchmarks/plans.py plans --data ../shared/data [--pool NAME] [--repetitions 30]
    python benchmarks/plans.py widths --data ../shared/data --repetitions 10
    python benchmarks/plans.py alike --data ../shared/data
    python benchmarks/plans.py plans --quick  # self-made ratings: does it run?
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
from simulate import simulate

from estimators import newer, pools, summeval
from refless.commands.next.planning import (
    Goal,
    Pilot,
    interval_of,
    pilot_of,
    ratings_for,
)
from refless.data.design import Design
from refless.data.records import Outputs, RatedPool, Residuals
from refless.data.tables import Reading, read_pool
from refless.evaluation.comparing import Pair, compared
from refless.evaluation.entries import Field
from refless.registry.arrays import BoolArray, FloatArray
from refless.stats.correlation import pearson

MEAN = Goal(aim="mean rating", within=0.05, passing=0.8, agreement=0.6, scale=True)
DIFFERENCE = replace(MEAN, aim="difference", within=0.1)
PILOT = 40  # texts of a pilot
STUDIES = 200  # of each plan
KNOWN = 0.2  # of the ratings of two systems
FEWEST = 40  # items that two systems share
NEAR = 0.25  # of the true width
PAIRS = 30  # of systems, at most
SCALES = {"conture": (0, 2), "faithbench": (0, 3), "roscoe-overall": (1, 5),
          "satisfaction-MWOZ": (1, 5)}  # fmt: skip
PLANNED = (
    "HUSE summarization", "GRADE dailydialog", "GRADE convai2", "ASAP-SAS 1", "ASAP-SAS 7",
    "NLG BAGEL", "NLG SFRES", "SummEval coherence", "SummEval consistency", "SummEval fluency",
    "SummEval relevance", *SCALES,
)  # fmt: skip


def every_pool(data: Path) -> Iterator[tuple[str, RatedPool]]:
    """Pools of ratings on a scale, by name."""
    yield from pools(data)
    yield from summeval(data, articles=False)
    for name, scale in SCALES.items():
        file = data / "llm" / f"{name}.jsonl"
        rows = [
            json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()
        ]
        yield name, read_pool(_single(rows), Reading(scale=scale)).pool
    for name, pool in newer(data):
        if name == "grammar":
            yield name, replace(pool, human=pool.human / 100)


def _single(rows: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """A row for each rating."""
    kept = ("id", "text", "source", "item", "system")
    return [
        {key: row[key] for key in kept if row.get(key)} | {"rating": rating}
        for row in rows
        for rating in row["ratings"]  # type: ignore[attr-defined]
    ]


def drawn(pool: Pilot, texts: int, rng: np.random.Generator) -> Pilot:
    """One rating of each of some texts, drawn without putting back as far as there are so many."""
    again = texts > pool.texts
    chosen = rng.choice(pool.texts, texts, replace=again)
    starts = np.searchsorted(pool.text, np.arange(pool.texts))
    sizes = np.bincount(pool.text)
    places = starts[chosen] + rng.integers(0, sizes[chosen])
    return Pilot(values=pool.values[places], text=np.arange(texts))


def reached(
    pool: Pilot, goal: Goal, ratings: int, studies: int, rng: np.random.Generator
) -> float:
    """The share of studies on a real pool that reach the goal; 0 ratings reach nothing."""
    n = ratings // goal.arms
    kept = 0
    for _ in range(studies if n else 0):
        human = np.stack([drawn(pool, n, rng).values for _ in range(goal.arms)])
        low, high = interval_of(human + goal.within * np.arange(goal.arms)[:, None])
        kept += (
            low > 0 or high < 0 if goal.arms > 1 else (high - low) / 2 <= goal.within
        )
    return kept / studies


def planning(pool: RatedPool, repetitions: int) -> list[str]:
    """The spread, and of each goal: ratings by default and kept; by a pilot, and kept."""
    every = pilot_of(pool)
    cells = [f"{every.spread:.2f}"]
    for goal in (MEAN, DIFFERENCE):
        rng = np.random.default_rng(1)
        usual, _ = ratings_for(goal)
        kept = reached(every, goal, usual, STUDIES, rng)
        sizes = []
        shares = []
        for _ in range(repetitions):
            pilot = drawn(every, PILOT, rng)
            pilot = replace(pilot, values=np.sort(pilot.values))
            if not pilot.spread > 0:
                continue
            ratings, _ = ratings_for(replace(goal, pilot=pilot, spread=pilot.spread))
            sizes.append(ratings)
            shares.append(reached(every, goal, ratings, STUDIES // 5, rng))
        cells += [
            f"{usual}",
            f"{kept:.2f}",
            f"{np.median(sizes):.0f}",
            f"{np.mean(shares):.2f}",
        ]
    return cells


def widths(pool: RatedPool, repetitions: int) -> list[str]:
    """Forecasts of the width when all is rated, beside it; chances told, and how many come true."""
    rng = np.random.default_rng(2)
    pairs = pairs_of(pool)
    found = []
    for place in rng.permutation(len(pairs))[:PAIRS].tolist():
        human = pairs[place]
        low, high = compare(human).difference.interval
        true = (high - low) / 2
        for _ in range(repetitions):
            pair = compare(np.where(known_of(human.shape, rng), human, np.nan))
            today = pair.today(these=False)
            if today is None or not true > 0:
                continue
            then = today.after(1.0)
            inside = then.range[0] <= true <= then.range[1]
            found.append(
                (then.half_width / true, inside, pair.chance, low > 0 or high < 0)
            )
    if not found:
        return ["0", *["-"] * 5]
    ratio, within, chance, shown = np.array(found, dtype=np.float64).T
    near = np.abs(ratio - 1) <= NEAR
    numbers = (
        np.median(ratio),
        near.mean(),
        within.mean(),
        np.nanmean(chance),
        shown.mean(),
    )
    return [str(len(found)), *(f"{number:.2f}" for number in numbers)]


def likeness(pool: RatedPool, repetitions: int) -> list[str]:  # noqa: ARG001 - of other studies
    """Pairs of systems, and the mean correlation of their ratings of one item."""
    found = [pearson(*human) for human in pairs_of(pool) if human.std(axis=1).all()]
    return [str(len(found)), f"{np.mean(found):.2f}" if found else "-"]


def known_of(shape: tuple[int, ...], rng: np.random.Generator) -> BoolArray:
    """[2, n] which ratings are known: a share of all, drawn at random."""
    every = math.prod(shape)
    known = np.zeros(every, dtype=np.bool_)
    known[rng.choice(every, round(KNOWN * every), replace=False)] = True
    return known.reshape(shape)


def pairs_of(pool: RatedPool) -> list[FloatArray]:
    """[2, n] one rating of each item that two systems answered, of all pairs that share enough."""
    every = single(pool)
    answers: dict[str, dict[str, float]] = {}
    items = pool.items or pool.sources
    if not items or not pool.systems:
        return []
    for system, item, value in zip(pool.systems, items, every, strict=True):
        answers.setdefault(system, {}).setdefault(item, value)
    found = []
    for first, second in combinations(sorted(answers), 2):
        common = sorted(answers[first].keys() & answers[second].keys())
        if len(common) >= FEWEST:
            sides = (answers[first], answers[second])
            found.append(np.array([[side[item] for item in common] for side in sides]))
    return found


def single(pool: RatedPool) -> list[float]:
    """[n] one of each text's ratings, drawn at random."""
    order = np.lexsort((pool.ratings.values, pool.ratings.text))
    first = np.unique(pool.ratings.text[order], return_index=True)[1]
    sizes = np.bincount(pool.ratings.text)
    drawn_places = first + np.random.default_rng(0).integers(0, sizes)
    return [float(value) for value in pool.ratings.values[order][drawn_places]]


def compare(human: FloatArray) -> Pair:
    """Two systems by ratings [2, n] of the same items alone, NaN if there is none."""
    n = human.shape[1]
    outputs = Outputs(
        ids=tuple(map(str, range(2 * n))),
        texts=("",) * (2 * n),
        systems=("a",) * n + ("b",) * n,
        items=tuple(f"i{i:04}" for i in range(n)) * 2,
    )
    nothing = np.full(2 * n, np.nan)
    field = Field(
        outputs=outputs,
        human=human.ravel(),
        estimates=nothing,
        probability=nothing,
        design=Design.of(outputs),
    )
    return compared(field, Residuals(values=np.zeros(0)), ["a", "b"]).pairs[0]


HEADS = {
    "plans": "spread | mean: ratings | kept | with a pilot | kept "
    "| difference: ratings | kept | with a pilot | kept",
    "alike": "pairs | mean correlation",
    "widths": "draws | forecast / true | within a quarter | in the range | chance told | shown",
}
STUDIES_OF = {"plans": planning, "widths": widths, "alike": likeness}


def chosen(options: argparse.Namespace) -> Iterator[tuple[str, RatedPool]]:
    """The pools that the command line asks for."""
    if options.quick:
        yield "self-made", simulate(120).pool
        return
    for name, pool in every_pool(options.data):
        if options.what != "plans" or name in PLANNED:
            yield name, pool


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a row a pool, as each is done."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("what", choices=list(STUDIES_OF))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--pool", default="", help="only pools whose name holds this")
    parser.add_argument("--repetitions", type=int, default=30)
    parser.add_argument("--quick", action="store_true", help="self-made ratings")
    options = parser.parse_args(arguments)
    head = f"| pool | {HEADS[options.what]} |"
    print(head, "|---" * (head.count("|") - 1) + "|", sep="\n")
    for name, pool in chosen(options):
        if options.pool in name:
            cells = STUDIES_OF[options.what](pool, options.repetitions)
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
