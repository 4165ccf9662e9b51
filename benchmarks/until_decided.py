"""Ratings until a decision: planned looks beside one look at the end, and beside any look.

Every pair of systems of a pool is a study in turn: items come in a drawn order, and after each
tenth of at most 100 items the study looks at the difference that `refless compare` would tell. It
ends once a difference is shown; "ended as told" also once the page says that it may, since the
chance to show one by the end is small. `best` races all systems of a pool. Items like these are
drawn with replacement, these items without it; there the truth is the mean of all.

Two plans of one look stand beside it, by the items of each system that they take to show as much:
the unpaired plan rates other items for each system (Welch's test), and ppi-python, where it is
installed, adds a judge's scores of all items.

    python benchmarks/decisions.py decided --data ../shared/data --runs 1000
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from refless.evaluation.planned_look import (
    HARDLY,
    at_planned_look,
    chance_by_end,
    planned_look,
)
from refless.evaluation.racing import race_plan
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
WAYS = ("one look", "any look", "planned", "ended as told")
SPENDING: dict[bool, Spending] = {False: "obrien-fleming", True: "pocock"}
QUESTIONS = {False: "items like these", True: "these items"}
FEWEST_PAIRS = 3  # of a pool that counts in the mean over pools
JUDGES = ("gpt_4o", "nll")  # of scores in files, the first that there is
SIZES = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)  # items of a plan of one look
UNPAIRED_SIZES = (*SIZES, 130, 170, 220, 290, 380, 500, 700, 1000, 1500)
RACES = 100  # studies for which one race is run
STOPS = 20  # studies of which one has its estimate after the stop, which is slow
Rows = list[dict[str, Any]]
Shows = Callable[[np.random.Generator, int], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end of one study.

    Attributes:
        items: rated; shown: whether a difference was shown; wrong: and the wrong way.
        held: whether the intervals of all its looks hold the truth.
        after: whether the interval after the stop does; above: whether the estimate after the stop
            lies above the truth, in its own direction. None if it has no look to end at.
    """

    items: int
    shown: bool
    wrong: bool
    held: bool
    after: bool | None
    above: bool | None


def further_pools(data: Path) -> Iterator[tuple[str, Rows]]:
    """Pools of one file each, with systems and items: corrections, answers, translations."""
    for name in FILES:
        lines = (data / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        yield name, [rated_row(json.loads(line)) for line in lines]


def rated_row(row: dict[str, Any]) -> dict[str, Any]:
    """The system, the item (or the source), the mean rating and a judge's score of a row."""
    ratings = row["ratings"] if "ratings" in row else [row["rating"]]
    scores = row.get("scores") or {}
    return {
        "system": row["system"],
        "item": row.get("item") or row["source"],
        "rating": float(np.mean(ratings)),
        "judge": next((scores[name] for name in JUDGES if name in scores), None),
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
            name: float(np.nanmean([each[name] for each in numbers]))
            for name in numbers[0]
        }
        median = float(np.nanmedian([next(iter(each.values())) for each in numbers]))
        summary = {**means, "median of the first": median}
        pool = f"mean over {len(numbers)} pools"
        yield Line(pool=pool, question=question, way=way, numbers=summary, counts=False)


def scale_of(rows: Rows) -> Interval:
    """The lowest and the highest rating."""
    ratings = [row["rating"] for row in rows]
    return min(ratings), max(ratings)


def ratings_of(
    rows: Rows, column: str = "rating"
) -> tuple[list[str], dict[str, dict[str, float]]]:
    """The systems, and the mean rating (or the judge's score) of each by item."""
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.get(column) is not None:
            values[row["system"]][row["item"]].append(row[column])
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


def study(
    ratings: FloatArray,
    truth: float,
    scale: Interval,
    *,
    these: bool,
    stops: bool = False,
) -> dict[str, Ended]:
    """The end of one study by each way of looking.

    Args:
        ratings: [2, n] in the order of their items; truth: the difference that there is.
        scale: of the ratings; these: whether these items are the question.
        stops: whether to estimate after the stop.
    """
    end = ratings.shape[1]
    size = end if these else math.inf
    plan = LookPlan.equal(LOOKS, end, SPENDING[these])
    ended: dict[str, Ended] = {}
    held = dict.fromkeys(WAYS, True)
    for n in plan.at:
        plain = answer_at(ratings, n, scale, these=these)
        planned = at_planned_look(plain, plan.looks(n, size if size > n else math.inf))
        answers = {"any look": plain.at_any_look(n, plain.bounds[1]), "one look": plain}
        for way in WAYS:
            if way in ended or (way == "one look" and n != end):
                continue
            answer = answers.get(way, planned)
            held[way] &= not answer.error > 0 or _holds(answer.interval, truth)
            shown = answer.p < SURE
            told = way == "ended as told" and _hardly(answer, plan, n, size)
            if shown or told or n == end:
                wrong = shown and answer.value * truth < 0
                after, above = None, None
                if stops and way == "planned":
                    after, above = _after(answer, plan, n, size, truth)
                ended[way] = Ended(
                    items=n,
                    shown=shown,
                    wrong=wrong,
                    held=held[way],
                    after=after,
                    above=above,
                )
    return ended


def _holds(interval: Interval, truth: float) -> bool:
    """Whether the truth lies in an interval, up to rounding; an undefined one holds all."""
    return not (truth < interval[0] - 1e-9 or truth > interval[1] + 1e-9)


def _hardly(answer: Answer, plan: LookPlan, n: int, size: float) -> bool:
    """Whether the page says that the study may end, as its chance is small."""
    if n >= plan.planned:
        return False
    chance = chance_by_end(answer, plan.looks(n, size), plan.looks_to_the_end(n, size))
    return chance < HARDLY


def _after(
    answer: Answer, plan: LookPlan, n: int, size: float, truth: float
) -> tuple[bool | None, bool | None]:
    """Whether the interval after the stop holds the truth, and the estimate is above it."""
    if n >= size:  # all is known
        return True, None
    estimate = planned_look(answer, plan, plan.looks(n, size), n, math.nan).unbiased
    if estimate is None:
        return None, None
    above = (estimate.value - truth) * math.copysign(1.0, answer.value) > 0
    return _holds(estimate.interval, truth), above


def decided(
    name: str, rows: Rows, runs: int, rng: np.random.Generator
) -> Iterator[Line]:
    """A line a question and a way: share of items rated, shown, wrong way, what intervals hold.

    Args:
        name, rows: of the pool; runs: studies, of one pair of systems after the other.
    """
    pairs = pairs_of(rows)
    scale = scale_of(rows)
    for these, question in QUESTIONS.items():
        tally: dict[str, list[Ended]] = defaultdict(list)
        sizes = []
        for run in range(runs if pairs else 0):
            ratings = pairs[run % len(pairs)]
            size = min(ratings.shape[1], MOST)
            mine = ratings[:, _order(rng, ratings.shape[1], size, these=these)]
            truth = gap(mine if these else ratings)
            sizes.append(size)
            stops = run % STOPS == 0
            ends = study(mine, truth, scale, these=these, stops=stops)
            for way, end in ends.items():
                tally[way].append(end)
        for way, every in tally.items():
            yield Line(
                pool=name,
                question=question,
                way=way,
                numbers=_numbers(every, sizes),
                counts=len(pairs) >= FEWEST_PAIRS,
            )


def _numbers(ends: Sequence[Ended], sizes: Sequence[int]) -> dict[str, float]:
    """Means over studies, by name."""
    shares = [end.items / size for end, size in zip(ends, sizes, strict=True)]
    after = [end.after for end in ends if end.after is not None]
    above = [end.above for end in ends if end.above is not None]
    numbers = {
        "items": float(np.mean(shares)),
        "shown": float(np.mean([end.shown for end in ends])),
        "wrong": float(np.mean([end.wrong for end in ends])),
        "all looks hold": float(np.mean([end.held for end in ends])),
        "studies": float(len(ends)),
    }
    if after:
        numbers["holds after the stop"] = float(np.mean(after))
        numbers["above the truth"] = float(np.mean(above))
    return numbers


def pairs_of(rows: Rows) -> list[FloatArray]:
    """[2, n] ratings of every two systems that differ, on the items that both answered."""
    systems, means = ratings_of(rows)
    pairs = [both_rated(means, *names) for names in combinations(systems, 2)]
    return [ratings for ratings in pairs if ratings.shape[1] >= FEWEST and gap(ratings)]


def judged_pairs_of(rows: Rows) -> list[FloatArray]:
    """[2, n] differences of ratings and of a judge's scores, of the same pairs."""
    systems, means = ratings_of(rows)
    _, scores = ratings_of(rows, "judge")
    pairs = []
    for first, second in combinations(systems, 2):
        every = (means[first], means[second], scores.get(first), scores.get(second))
        if any(column is None for column in every):
            continue
        items = sorted(set.intersection(*(set(column or ()) for column in every)))
        of = np.array([[(column or {})[item] for item in items] for column in every])
        if len(items) >= FEWEST and gap(of[:2]):
            pairs.append(np.array([of[1] - of[0], of[3] - of[2]]))
    return pairs


def items_needed(shares: Sequence[float], sizes: Sequence[int], wanted: float) -> float:
    """Items at which a plan of one look shows a share of the differences; NaN beyond the sizes."""
    rising = np.maximum.accumulate(shares)
    if not rising[-1] >= wanted:
        return math.nan
    return float(np.interp(wanted, [0.0, *rising], [0.0, *sizes]))


def unpaired_shows(ratings: FloatArray) -> Shows:
    """One study of the unpaired plan: other items for each system, Welch's test."""
    from scipy.special import stdtrit

    def shows(rng: np.random.Generator, n: int) -> bool:
        items = ratings.shape[1]
        arms = [arm[rng.integers(0, items, n)] for arm in ratings]
        squares = np.array([arm.var(ddof=1) / n for arm in arms])
        if not squares.sum() > 0:
            return False
        freedom = squares.sum() ** 2 / (np.square(squares).sum() / (n - 1))
        lead = abs(arms[0].mean() - arms[1].mean()) / math.sqrt(squares.sum())
        return bool(lead > stdtrit(freedom, 1 - SURE / 2))

    return shows


def ppi_shows(differences: FloatArray) -> Shows:
    """One study of ppi-python: n items are rated, a judge scored all of them."""
    from ppi_py import ppi_mean_ci

    def shows(rng: np.random.Generator, n: int) -> bool:
        items = differences.shape[1]
        rated, judged = differences[:, rng.integers(0, items, min(items, MOST))]
        n = min(n, items - 1, MOST - 1)
        low, high = ppi_mean_ci(rated[:n], judged[:n], judged[n:], alpha=SURE)
        return bool(np.ravel(low)[0] > 0 or np.ravel(high)[0] < 0)

    return shows


def one_look_plans(
    name: str, rows: Rows, lines: Sequence[Line], runs: int, rng: np.random.Generator
) -> Iterator[Line]:
    """A line a plan of one look: items that it takes to show what planned looks show.

    Args:
        name, rows: of the pool; lines: of its studies; runs: studies at each number of items.
    """
    found = [
        line.numbers
        for line in lines
        if line.question == QUESTIONS[False] and line.way == "ended as told"
    ]
    plans: dict[str, tuple[list[Shows], tuple[int, ...]]] = {
        "unpaired plan": ([*map(unpaired_shows, pairs_of(rows))], UNPAIRED_SIZES)
    }
    if find_spec("ppi_py"):
        plans["ppi-python"] = ([*map(ppi_shows, judged_pairs_of(rows))], SIZES)
    for way, (pairs, sizes) in plans.items():
        if not pairs or not found:
            continue
        shares = [
            float(np.mean([pairs[run % len(pairs)](rng, n) for run in range(runs)]))
            for n in sizes
        ]
        most = min(MOST, *(ratings.shape[1] for ratings in pairs_of(rows)))
        needed = items_needed(shares, sizes, found[0]["shown"]) / most
        numbers = {
            "items": needed,
            "shown": found[0]["shown"],
            "ended as told takes of it": found[0]["items"] / needed,
        }
        counts = len(pairs) >= FEWEST_PAIRS
        question = QUESTIONS[False]
        yield Line(
            pool=name, question=question, way=way, numbers=numbers, counts=counts
        )


def false_alarms(name: str, rows: Rows, runs: int, rng: np.random.Generator) -> str:
    """The share of studies that show a difference if ratings of an item change places at random."""
    scale = scale_of(rows)
    pairs = pairs_of(rows)
    tally: dict[str, list[bool]] = defaultdict(list)
    for _ in range(runs if pairs else 0):
        ratings = pairs[int(rng.integers(len(pairs)))]
        size = min(ratings.shape[1], MOST)
        mine = ratings[:, rng.integers(0, ratings.shape[1], size)]
        swapped = np.where(rng.random(size) < 0.5, mine, mine[::-1])
        for way, end in study(swapped, 0.0, scale, these=False).items():
            tally[way].append(end.shown)
    shares = "; ".join(f"{way} {np.mean(tally[way]):.3f}" for way in WAYS if pairs)
    return f"{name}; false alarms in {runs} studies; {shares}"


def race(
    ratings: FloatArray, scale: Interval, *, these: bool, at_the_end: bool
) -> tuple[int, list[int]]:
    """Ratings that a race takes, and the systems that are left.

    It ends once one is left, or no pair has more than a small chance to be told apart.

    Args:
        ratings: [systems, items] in the order in which items are rated.
        scale: of the ratings; these: whether these items are the question.
        at_the_end: whether all is rated before the one look.
    """
    count, items = ratings.shape
    plan = LookPlan.equal(1 if at_the_end else LOOKS, items, "pocock")
    size = items if these else math.inf
    left = [*range(count)]
    used = 0
    before = 0
    for n in plan.at:
        used += len(left) * (n - before)
        before = n
        while True:
            answers = _answers(ratings, left, n, scale, plan, these=these)
            alpha = race_plan(plan, len(left)).alpha
            dropped = {system for (system, _), a in answers.items() if a.p < alpha}
            left = [system for system in left if system not in dropped]
            if not dropped or len(left) < 2:
                break
        pairs = race_plan(plan, max(len(left), 2))
        if len(left) < 2 or all(_hardly(a, pairs, n, size) for a in answers.values()):
            break
    return used, left


def _answers(
    ratings: FloatArray,
    left: Sequence[int],
    n: int,
    scale: Interval,
    plan: LookPlan,
    *,
    these: bool,
) -> dict[tuple[int, int], Answer]:
    """The lead of each system over every one without a higher mean, by (lower, higher)."""
    items = ratings.shape[1]
    looks = race_plan(plan, len(left)).looks(
        n, items if these and n < items else math.inf
    )
    answers = {}
    for lower in left:
        for higher in left:
            two = ratings[[lower, higher]]
            if lower != higher and gap(two[:, :n]) >= 0:
                answer = answer_at(two, n, scale, these=these)
                answers[lower, higher] = at_planned_look(answer, looks)
    return answers


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
        studied = list(decided(name, rows, runs, rng))
        studied += one_look_plans(name, rows, studied, runs, rng)
        print(*studied, sep="\n", flush=True)
        print(false_alarms(name, rows, runs, rng), flush=True)
        raced = list(best(name, rows, max(runs // RACES, 1), rng))
        print(*raced, sep="\n", flush=True)
        lines += [*studied, *raced]
    for line in over_pools(lines):
        print(line)
