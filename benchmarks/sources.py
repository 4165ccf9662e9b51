"""How well does the Gaussian process do on sources that are rated already, and on new ones?

Four ways to leave ratings out, in five folds; in each, ours is fitted to the other folds and
estimates the fold. *texts*: single texts, whose source has other rated texts. *systems*: whole
systems, on sources that the other systems' rated texts answer. *sources*: whole sources. *items*:
whole sources too, but their text is not read, and they are named as items alone.

    python benchmarks/sources.py --data ../shared/data [--pool NAME] [--most 400]
    python benchmarks/sources.py --quick  # self-made ratings: does it run?
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from rivals import some_of
from simulate import simulate

from estimators import newer, pools, summeval
from refless.data.records import RatedPool, as_outputs
from refless.data.tables import Reading, read_pool
from refless.estimators.folds import folds_of
from refless.estimators.gp import GaussianProcess
from refless.registry.arrays import FloatArray, IntArray, codes
from refless.stats.correlation import spearman

FOLDS = 5
SEVERAL = 1.5  # texts a source, on average
FEWEST = 40  # estimates, for a number
MODELS = (
    "explain-csqa",
    "faithbench",
    "medical-answer",
    "wmt23-zh-en",
    "satisfaction-MWOZ",
)
WAYS = ("texts", "systems", "sources", "items")


def several(data: Path) -> Iterator[tuple[str, RatedPool]]:
    """The pools with several texts a source, or an item if they have no sources."""
    for name, pool in (
        *pools(data),
        *summeval(data, articles=True),
        *newer(data),
        *models(data),
    ):
        count = len({*(pool.items or pool.sources)})
        if FOLDS <= count <= len(pool) / SEVERAL:
            yield name, pool


def models(data: Path) -> Iterator[tuple[str, RatedPool]]:
    """Outputs of language models, of items with several."""
    for name in MODELS:
        lines = (
            (data / "llm" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        )
        texts = [json.loads(line) for line in lines]
        kept = ("id", "text", "source", "item", "system")
        rows = [
            {key: text[key] for key in kept if key in text} | {"rating": rating}
            for text in texts
            for rating in text["ratings"]
        ]
        yield name, read_pool(rows, Reading()).pool


def folds_by(way: str, pool: RatedPool) -> IntArray | None:
    """[n] fold of each text; None if the pool cannot be held out that way."""
    systems = len({*pool.systems} - {""})
    if way == "texts":
        return folds_of(np.arange(len(pool)), FOLDS) if pool.sources else None
    if way == "systems":
        return (
            folds_of(codes(pool.systems), FOLDS)
            if pool.sources and systems > 1
            else None
        )
    if way == "sources":
        return folds_of(codes(pool.sources), FOLDS) if pool.sources else None
    return folds_of(codes(pool.items or pool.sources), FOLDS)


def judged(way: str, pool: RatedPool, fold: IntArray) -> FloatArray:
    """[n] estimates from the other folds; NaN for texts that are not of the kind that is asked."""
    if way == "items":
        pool = replace(pool, sources=(), items=pool.items or pool.sources)
    values = np.full(len(pool), np.nan)
    for number in range(int(fold.max()) + 1):
        inside = np.flatnonzero(fold == number)
        outside = np.flatnonzero(fold != number)
        rated = pool.take(outside)
        if way in {"texts", "systems"}:
            known = {*rated.sources}
            inside = inside[[pool.sources[i] in known for i in inside]]
        if len(inside) and len(outside):
            gp = GaussianProcess(threads=1).fit(rated)
            values[inside] = gp.estimate(as_outputs(pool.take(inside))).values
    return values


def cell(way: str, pool: RatedPool) -> str:
    """Spearman / R² of one way, beside the mean of the texts that are estimated."""
    fold = folds_by(way, pool)
    values = np.full(len(pool), np.nan) if fold is None else judged(way, pool, fold)
    rows = np.flatnonzero(~np.isnan(values))
    if len(rows) < FEWEST:
        return "-"
    human = pool.human[rows]
    estimates = values[rows]
    r2 = 1.0 - float(np.square(human - estimates).mean() / human.var())
    return f"{spearman(human, estimates):.3f}/{r2:.3f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a row a pool."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument(
        "--pool", default="", help="only pools whose names have this in them"
    )
    parser.add_argument("--most", type=int, help="texts a pool, of whole sources")
    parser.add_argument(
        "--quick", action="store_true", help="self-made ratings, for tests"
    )
    options = parser.parse_args(arguments)
    made = [("self-made ratings", simulate(90, seed=1).pool)]
    print(
        f"| pool | texts | sources | {' | '.join(WAYS)} |\n|---|---:|---:|{'---:|' * len(WAYS)}"
    )
    for name, pool in made if options.quick else several(options.data):
        if options.pool in name:
            part = some_of(pool, options.most)
            count = len({*(part.items or part.sources)})
            cells = " | ".join(cell(way, part) for way in WAYS)
            print(f"| {name} | {len(part)} | {count} | {cells} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
