"""Does `judge --at-most-wrong` keep its promise, and how much may a judge decide alone?

Half of the sources of a pool license its judge, many times, and the other half counts which share
of the texts that it passes, or fails, is wrong. More than was promised on either side is a broken
promise (a cautious count, as few texts break one by chance). Beside it: the most that thresholds
could decide which know the other half (an oracle); and the share of wrong texts, on the worse side,
if all are decided from the middle of the scale on.

    python benchmarks/licence.py --data ../shared/data [--splits 200] [--quick]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from simulate import simulate

from estimators import pools as rated_pools
from estimators import summeval
from refless.commands.judge.licence import Licence, Promise, licensed
from refless.evaluation.labels import AllRows, Labels
from refless.evaluation.raters import Votes
from refless.registry.arrays import BoolArray, FloatArray, IntArray, codes

PROMISES = (0.05, 0.1)  # shares of wrong texts, with 90 % confidence
JUDGED = (  # SummEval's dimensions and their judges
    ("coherence", "gpt4"),
    ("consistency", "gpt4"),
    ("consistency", "llama70"),
    ("fluency", "gpt4"),
    ("relevance", "gpt4"),
)
SIMULATED = ("HUSE summarization", "GRADE")
SLOPE = 3.0  # of the log odds in standard deviations of the ratings
NOISE = 0.6  # standard deviation of a simulated judge's error, in these


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Judged:
    """A pool with its judge.

    Attributes:
        name: of both; scores: [n]; human: [n] ratings; source: [n] what was drawn as a whole.
        passing, middle: from where on a rating passes, and a score if nobody looks further.
    """

    name: str
    scores: FloatArray
    human: FloatArray
    source: IntArray
    passing: float
    middle: float

    def labels(self, rows: IntArray) -> Labels:
        """The judge beside people on some rows."""
        human = self.human[rows]
        scores = self.scores[rows]
        unit = codes([*map(str, self.source[rows])])
        votes = Votes(text=np.arange(len(rows)), rating=human)
        every = AllRows(human=human, judge=scores, unit=unit, votes=votes)
        return Labels(
            name="judge", human=human, judge=scores, unit=unit, votes=votes, every=every
        )


def simulated(name: str, human: FloatArray, source: IntArray, passing: float) -> Judged:
    """A pool with the probabilities of a simulated judge, who knows the ratings with noise."""
    rng = np.random.default_rng(0)
    standard = (human - passing) / human.std() + NOISE * rng.normal(size=len(human))
    scores = 1 / (1 + np.exp(-SLOPE * standard))
    return Judged(
        name=f"{name}, simulated",
        scores=scores.round(3),
        human=human,
        source=source,
        passing=passing,
        middle=0.5,
    )


def pandalm(data: Path) -> Judged:
    """Pairs that the first answer wins by most annotators, and a simulated judge."""
    wins: Counter[str] = Counter()
    prompts = {}
    for line in (data / "pairs/pandalm.jsonl").read_text().strip().split("\n"):
        row = json.loads(line)
        prompts[row["id"]] = row["prompt"]
        wins[row["id"]] += {"a": 1, "b": -1}.get(row["winner"], 0)
    human = np.array([float(wins[name]) for name in prompts])
    source = codes([*prompts.values()])
    return simulated("PandaLM, first wins", human, source, 0.5)


def judged_pools(data: Path | None) -> Iterator[Judged]:
    """Every pool with its judge, or a small one of self-made ratings."""
    if data is None:
        pool = simulate(400, seed=1).pool
        yield simulated("self-made", pool.human, codes(pool.sources), 0.5)
        return
    names = sorted({judge for _, judge in JUDGED})
    for name, pool in summeval(data, articles=False, judges=names):
        dimension = name.split()[1]
        for judge in names:
            if (dimension, judge) not in JUDGED:
                continue
            scores = pool.score(judge)
            rows = np.flatnonzero(~np.isnan(scores))
            yield Judged(
                name=f"{name}, {judge}",
                scores=scores[rows],
                human=1 + 4 * pool.human[rows],
                source=codes([*pool.sources])[rows],
                passing=4.0,
                middle=4.0,
            )
    for name, pool in rated_pools(data):
        if name.startswith(SIMULATED):
            human = pool.human
            bar = float(np.median(human))
            yield simulated(name, human, codes(pool.sources or pool.ids), bar)
    yield pandalm(data)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Decided:
    """Rows that are passed and that are failed, and which of them people pass."""

    passes: BoolArray
    fails: BoolArray
    good: BoolArray

    @property
    def share(self) -> float:
        """Share of rows that are decided."""
        return float((self.passes | self.fails).mean())

    @property
    def wrong(self) -> float:
        """The larger share of wrong rows of the two sides; 0 if nothing is decided."""
        shares = [0.0]
        for rows, wrong in ((self.passes, ~self.good), (self.fails, self.good)):
            if rows.any():
                shares.append(float(wrong[rows].mean()))
        return max(shares)


def decided(judged: Judged, rows: IntArray, licence: Licence) -> Decided:
    """The other rows under a licence."""
    scores = judged.scores[rows]
    return Decided(
        passes=scores >= licence.passes.threshold,
        fails=scores <= licence.fails.threshold,
        good=judged.human[rows] >= judged.passing,
    )


def at_middle(judged: Judged) -> Decided:
    """All rows decided from the middle of the scale on."""
    passes = judged.scores >= judged.middle
    return Decided(passes=passes, fails=~passes, good=judged.human >= judged.passing)


def oracle(judged: Judged, rows: IntArray, most: float) -> float:
    """The largest share that thresholds with so few wrong rows on each side decide."""
    scores = judged.scores[rows]
    good = judged.human[rows] >= judged.passing
    values = np.unique(scores)
    uppers = [value for value in values if (~good[scores >= value]).mean() <= most]
    lowers = [value for value in values if good[scores <= value].mean() <= most]
    best = 0.0
    for upper in (np.inf, *uppers):
        below = [value for value in lowers if value < upper]
        lower = max(below, default=-np.inf)
        best = max(best, float(((scores >= upper) | (scores <= lower)).mean()))
    return best


def cells_of(judged: Judged, most: float, splits: int) -> tuple[str, ...]:
    """Of one promise: the share decided, how often it is broken, and the oracle's share."""
    shares = []
    bests = []
    broken = 0
    for seed in range(splits):
        first = np.random.default_rng(seed).permutation(judged.source.max() + 1) % 2
        mine = np.flatnonzero(first[judged.source] == 0)
        others = np.flatnonzero(first[judged.source] == 1)
        promise = Promise(at_most_wrong=most, sure=0.9)
        licence = licensed(judged.labels(mine), judged.passing, promise)
        found = decided(judged, others, licence)
        shares.append(found.share)
        broken += found.wrong > most
        bests.append(oracle(judged, others, most))
    return (
        f"{np.mean(shares):.2f}",
        f"{broken / splits:.3f}",
        f"{np.mean(bests):.2f}",
    )


def line(judged: Judged, splits: int) -> str:
    """A row of the table."""
    cells = [judged.name, f"{(judged.human >= judged.passing).mean():.2f}"]
    for most in PROMISES:
        cells += cells_of(judged, most, splits)
    cells.append(f"{at_middle(judged).wrong:.2f}")
    return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the real pools")
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument(
        "--quick", action="store_true", help="four splits of self-made ratings"
    )
    options = parser.parse_args(arguments)
    promises = [f"{most:.0%}: decided | broken | oracle" for most in PROMISES]
    print(f"| pool, judge | people pass | {' | '.join(promises)} | cut in the middle |")
    print("|---|" + "---:|" * (2 + 3 * len(PROMISES)))
    splits = 4 if options.quick else options.splits
    for judged in judged_pools(None if options.quick else options.data):
        print(line(judged, splits), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
