"""Ratings until a decision: planned looks beside one look at the end, and beside any look.

Every pair of systems of a pool is a study: items come in a drawn order, and after each tenth of at
most 100 items the study looks at the difference that `refless compare` would tell. It ends once a
difference is shown. `best` races all systems of a pool. Items like these are drawn with
replacement, these items without it; there the truth is the mean of all.

    python benchmarks/decisions.py decided --data ../shared/data --runs 20
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from refless.commands.next.racing import race_plan
from refless.evaluation.planned_look import at_planned_look
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.answers import Answer
from refless.stats.contrast import contrast
from refless.stats.group_sequential import LookPlan, Spending
from refless.stats.intervals import Interval
from refless.stats.samples import Sample

MOST = 100  # items of a study
FEWEST = 40  # items that both systems answered
LOOKS = 10
FILES = (
    "edits/grammar",
    "llm/explain-csqa",
    "llm/faithbench",
    "llm/medical-answer",
    "llm/wmt23-zh-en",
)
SURE = 0.05
WAYS = ("one look", "any look", "obrien-fleming", "pocock")
QUESTIONS = {False: "items like these", True: "these items"}
ALARMS = 1_000  # studies of a pool without a difference
FEWEST_PAIRS = 3  # of a pool that counts in the mean over pools
Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end of one study: items rated, whether a difference was shown, and the wrong way."""

    items: int
    shown: bool
    wrong: bool


def further_pools(data: Path) -> Iterator[tuple[str, Rows]]:
    """Pools of one file each, with systems and items: corrections, answers, translations."""
    for name in FILES:
        lines = (data / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        yield name, [rated_row(json.loads(line)) for line in lines]


def rated_row(row: dict[str, Any]) -> dict[str, Any]:
    """The system, the item (or the source) and the mean rating of a row."""
    ratings = row["ratings"] if "ratings" in row else [row["rating"]]
    return {
        "system": row["system"],
        "item": row.get("item") or row["source"],
        "rating": float(np.mean(ratings)),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Numbers of one way of studying a pool.

    Attributes:
        pool, question, way: what was studied, and how; numbers: means over studies, by name.
        counts: whether the pool has pairs enough for the mean over pools.
    """

    pool: str
    question: str
    way: str
    numbers: dict[str, float]
    counts: bool

    def __str__(self) -> str:
        numbers = "; ".join(
            f"{name} {number:.4g}" for name, number in self.numbers.items()
        )
        return f"{self.pool}; {self.question}; {self.way}; {numbers}"


def over_pools(lines: Sequence[Line]) -> Iterator[Line]:
    """The mean of each number over the pools that count, by question and way."""
    groups: dict[tuple[str, str], list[dict[str, float]]] = defaultdict(list)
    for line in lines:
        if line.counts:
            groups[line.question, line.way].append(line.numbers)
    for (question, way), numbers in groups.items():
        means = {
            name: float(np.mean([each[name] for each in numbers]))
            for name in numbers[0]
        }
        median = float(np.median([next(iter(each.values())) for each in numbers]))
        summary = {**means, "median of the first": median}
        pool = f"mean over {len(numbers)} pools"
        yield Line(pool=pool, question=question, way=way, numbers=summary, counts=False)


def scale_of(rows: Rows) -> Interval:
    """The lowest and the highest rating."""
    ratings = [row["rating"] for row in rows]
    return min(ratings), max(ratings)


def ratings_of(rows: Rows) -> tuple[list[str], dict[str, dict[str, float]]]:
    """The systems, and the mean rating of each by item."""
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        values[row["system"]][row["item"]].append(row["rating"])
    means = {
        system: {item: float(np.mean(ratings)) for item, ratings in items.items()}
        for system, items in values.items()
    }
    return sorted(means), means


def both_rated(
    means: dict[str, dict[str, float]], first: str, second: str
) -> FloatArray:
    """[2, n] ratings of two systems on the items that both answered."""
    common = sorted(means[first].keys() & means[second].keys())
    return np.array(
        [[means[system][item] for item in common] for system in (first, second)]
    )


def gap(ratings: FloatArray) -> float:
    """The mean rating of the second system less that of the first."""
    return float(ratings[1].mean() - ratings[0].mean())


def answer_at(
    ratings: FloatArray, rated: int, scale: Interval, *, these: bool
) -> Answer:
    """The difference by ratings of the first items: of these items, or of others like them."""
    items = ratings.shape[1]
    kept = np.where(np.arange(items) < rated, ratings, np.nan)
    known = kept if these else kept[:, :rated]
    item = np.tile(np.arange(known.shape[1]), 2)
    arm = np.repeat([-1, 1], known.shape[1])
    sample = Sample.of(known.ravel(), item, arm=arm, item=item)
    return contrast(sample, scale=scale, these=these).alone


def way_at(
    answer: Answer, way: str, plans: dict[Spending, LookPlan], n: int, size: float
) -> Answer:
    """The answer as a way of looking has it.

    Args:
        answer: of one look; way: of `WAYS`; plans: by spending function.
        n: items; size: items that the question is about, or infinity.
    """
    if way == "any look":
        return answer.at_any_look(n, answer.bounds[1])
    if way == "one look":
        return answer
    plan = plans["pocock" if way == "pocock" else "obrien-fleming"]
    return at_planned_look(answer, plan.looks(n, size if size > n else math.inf))


def study(
    ratings: FloatArray, truth: float, scale: Interval, *, these: bool
) -> dict[str, Ended]:
    """The end of one study by each way of looking.

    Args:
        ratings: [2, n] in the order of their items; truth: the difference that there is.
        scale: of the ratings; these: whether these items are the question.
    """
    end = ratings.shape[1]
    size = end if these else math.inf
    spendings: tuple[Spending, ...] = ("obrien-fleming", "pocock")
    plans = {spending: LookPlan.equal(LOOKS, end, spending) for spending in spendings}
    ended: dict[str, Ended] = {}
    for n in plans["pocock"].at:
        plain = answer_at(ratings, n, scale, these=these)
        for way in WAYS:
            if way in ended or (way == "one look" and n != end):
                continue
            answer = way_at(plain, way, plans, n, size)
            shown = answer.p < SURE
            if shown or n == end:
                wrong = shown and answer.value * truth < 0
                ended[way] = Ended(items=n, shown=shown, wrong=wrong)
    return ended


def decided(
    name: str, rows: Rows, runs: int, rng: np.random.Generator
) -> Iterator[Line]:
    """A line a question and a way: share of items rated, shown, wrong way."""
    systems, means = ratings_of(rows)
    scale = scale_of(rows)
    for these, question in QUESTIONS.items():
        tally: dict[str, list[tuple[float, bool, bool]]] = defaultdict(list)
        for first, second in combinations(systems, 2):
            ratings = both_rated(means, first, second)
            if ratings.shape[1] < FEWEST or not gap(ratings):
                continue
            size = min(ratings.shape[1], MOST)
            for _ in range(runs):
                mine = ratings[:, _order(rng, ratings.shape[1], size, these=these)]
                truth = gap(mine if these else ratings)
                for way, end in study(mine, truth, scale, these=these).items():
                    tally[way].append((end.items / size, end.shown, end.wrong))
        for way, ends in sorted(tally.items()):
            items, shown, wrong = np.mean(np.array(ends, dtype=float), axis=0)
            numbers = {
                "items": items,
                "shown": shown,
                "wrong": wrong,
                "studies": len(ends),
            }
            counts = len(ends) >= FEWEST_PAIRS * runs
            yield Line(
                pool=name, question=question, way=way, numbers=numbers, counts=counts
            )


def false_alarms(name: str, rows: Rows, runs: int, rng: np.random.Generator) -> str:
    """The share of studies that show a difference if ratings of an item change places at random."""
    systems, means = ratings_of(rows)
    scale = scale_of(rows)
    pairs = [both_rated(means, *pair) for pair in combinations(systems, 2)]
    pairs = [
        ratings for ratings in pairs if ratings.shape[1] >= FEWEST and gap(ratings)
    ]
    tally: dict[str, list[bool]] = defaultdict(list)
    for _ in range(runs if pairs else 0):
        ratings = pairs[int(rng.integers(len(pairs)))]
        size = min(ratings.shape[1], MOST)
        mine = ratings[:, rng.integers(0, ratings.shape[1], size)]
        swapped = np.where(rng.random(size) < 0.5, mine, mine[::-1])
        for way, end in study(swapped, 0.0, scale, these=False).items():
            tally[way].append(end.shown)
    shares = "; ".join(
        f"{way} {np.mean(shown):.3f}" for way, shown in sorted(tally.items())
    )
    return f"{name}; false alarms in {runs} studies; {shares}"


def race(
    ratings: FloatArray, scale: Interval, *, these: bool, at_the_end: bool
) -> tuple[int, list[int]]:
    """Ratings that a race takes, and the systems that are left.

    Args:
        ratings: [systems, items] in the order in which items are rated.
        scale: of the ratings; these: whether these items are the question.
        at_the_end: whether all is rated before the one look.
    """
    count, items = ratings.shape
    plan = race_plan(LookPlan.equal(1 if at_the_end else LOOKS, items, "pocock"), count)
    left = [*range(count)]
    used = 0
    before = 0
    for n in plan.at:
        used += len(left) * (n - before)
        before = n
        size = items if these and n < items else math.inf
        looks = plan.looks(n, size)
        leaders = sorted(left, key=lambda i: -float(ratings[i, :n].mean()))
        dropped = set()
        for system in left:
            for other in leaders:
                two = ratings[[system, other]]
                if other == system or not gap(two[:, :n]) > 0:
                    continue
                answer = at_planned_look(answer_at(two, n, scale, these=these), looks)
                if answer.p < plan.alpha:
                    dropped.add(system)
                    break
        left = [system for system in left if system not in dropped]
        if len(left) < 2:
            break
    return used, left


def complete(rows: Rows) -> FloatArray:
    """[systems, items] ratings of systems with most items, on the items that all of them have."""
    systems, means = ratings_of(rows)
    most = max(len(means[system]) for system in systems)
    systems = [system for system in systems if len(means[system]) >= 0.8 * most]
    items = sorted(set.intersection(*(set(means[system]) for system in systems)))
    return np.array([[means[system][item] for item in items] for system in systems])


def best(name: str, rows: Rows, runs: int, rng: np.random.Generator) -> Iterator[Line]:
    """A line a question: ratings of a race beside all ratings, systems left, best kept."""
    ratings = complete(rows)
    if len(ratings) < 5 or ratings.shape[1] < FEWEST:
        return
    scale = float(ratings.min()), float(ratings.max())
    truth = int(ratings.mean(axis=1).argmax())
    size = min(ratings.shape[1], MOST)
    for these, question in QUESTIONS.items():
        tally = []
        for _ in range(runs):
            order = _order(rng, ratings.shape[1], size, these=these)
            mine = ratings[:, order]
            winner = int(mine.mean(axis=1).argmax()) if these else truth
            raced, left = race(mine, scale, these=these, at_the_end=False)
            every, left_of_all = race(mine, scale, these=these, at_the_end=True)
            kept = (winner in left, winner in left_of_all)
            tally.append((raced / every, len(left), len(left_of_all), *kept))
        names = (
            "ratings",
            "left",
            "left of all rated",
            "best kept",
            "best kept of all rated",
        )
        means = np.mean(np.array(tally, dtype=float), axis=0).tolist()
        numbers = dict(zip(names, means, strict=True)) | {
            "systems": float(len(ratings))
        }
        yield Line(
            pool=name, question=question, way="race", numbers=numbers, counts=True
        )


def _order(rng: np.random.Generator, items: int, size: int, *, these: bool) -> IntArray:
    """The items of one race: without replacement if they are the question."""
    return rng.permutation(items)[:size] if these else rng.integers(0, items, size)


def printed(named: Sequence[tuple[str, Rows]], runs: int, seed: int) -> None:
    """All lines of all pools, and their means."""
    lines: list[Line] = []
    for name, rows in named:
        rng = np.random.default_rng(seed)
        for line in decided(name, rows, runs, rng):
            print(line, flush=True)
            lines.append(line)
        print(false_alarms(name, rows, ALARMS, rng), flush=True)
        for line in best(name, rows, runs, rng):
            print(line, flush=True)
            lines.append(line)
    for line in over_pools(lines):
        print(line)
