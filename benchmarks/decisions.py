"""How often the intervals of `refless compare` hold, and how wide they are beside others'.

Five parts. `simulated`: systems whose true difference is known; few items are rated, estimates are
learned from these ratings alone (ten folds of items) or come from a judge. `people`: equal systems,
each rated by people of its own. `replayed`: pools with
several systems of which all texts are rated; a part of the ratings is kept, and the answer is
compared with that of the whole. `alone`: the same with systems none of whose texts is rated.
`decided`: how many items are rated until a difference is shown, see `until_decided.py`.
Beside `compare` stand the ratings alone, and with --beside ppi-python, cje-eval and glide-py on the
same labels and estimates.

    python benchmarks/decisions.py simulated --runs 1000 --beside ppi,glide,cje
    python benchmarks/decisions.py replayed --data ../shared/data --runs 40
    python benchmarks/decisions.py decided --data ../shared/data --runs 1000
"""

from __future__ import annotations

import argparse
import csv
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from until_decided import further_pools, printed

from refless.data.design import Design
from refless.data.records import Outputs, RatedPool, Ratings, Residuals
from refless.evaluation.comparing import Pair, compared
from refless.evaluation.entries import Field
from refless.evaluation.raters import Raters, severity_in
from refless.registry.arrays import FloatArray
from refless.stats.answers import Answer

OTHERS = 300  # rated texts of other systems
REPLAYED = (20, 60)  # rated items
WHO = (*"abcdefgh",)
PANELS: list[tuple[str, str, int]] = [("abcd", "abcd", 4), ("abcd", "efgh", 4)]
PANELS += [("abcd", "efgh", 1), ("abc", "bcd", 2), ("ab", "cd", 2), ("ab", "cd", 1)]
PANELS += [("a", "bcd", 1), ("a", "b", 1)]
NONE = Residuals(values=np.zeros(0))
Found = tuple[float, float, float]  # a value and its interval
Peer = Callable[[Field], Found]


def peers(wanted: str) -> dict[str, Peer]:
    """Other packages, where they are installed, on the same labels and estimates."""
    found: dict[str, Peer] = {}
    if "ppi" in wanted:
        from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

        def by_ppi(field: Field) -> Found:
            d, f, known = _differences(field)
            value = np.ravel(ppi_mean_pointestimate(d[known], f[known], f[~known]))[0]
            ends = ppi_mean_ci(d[known], f[known], f[~known], alpha=0.05)
            low, high = (float(np.ravel(end)[0]) for end in ends)
            return float(value), low, high

        found["ppi-python"] = by_ppi
    if "glide" in wanted:
        from glide.estimators import PPIMeanEstimator

        def by_glide(field: Field) -> Found:
            d, f, _ = _differences(field)
            made = PPIMeanEstimator().estimate(d, f)
            low = made.confidence_interval.lower_bound
            high = made.confidence_interval.upper_bound
            return float(made.mean), float(low), float(high)

        found["glide-py"] = by_glide
    if "cje" in wanted:
        import cje

        def by_cje(field: Field) -> Found:
            draws: dict[str, list[dict[str, Any]]] = defaultdict(list)
            outputs = field.outputs
            for i, (item, name) in enumerate(
                zip(outputs.items, outputs.systems, strict=True)
            ):
                human = None if np.isnan(field.human[i]) else float(field.human[i])
                judged = {
                    "judge_score": float(field.estimates[i]),
                    "oracle_label": human,
                }
                draws[name].append({"prompt_id": item, **judged})
            first, second = sorted(draws)
            made = cje.analyze_dataset(fresh_draws_data=dict(draws)).compare_policies(
                second, first
            )
            return (
                float(made["difference"]),
                float(made["ci_lower"]),
                float(made["ci_upper"]),
            )

        found["cje-eval"] = by_cje
    return found


class Tally:
    """Coverage, width and squared error of several ways, run after run."""

    def __init__(self) -> None:
        self.rows: dict[str, list[tuple[bool, float, float, bool, float]]] = (
            defaultdict(list)
        )

    def add(
        self,
        name: str,
        value: float,
        ends: tuple[float, float],
        true: float,
        worth: float = math.nan,
    ) -> None:
        """One answer."""
        low, high = ends
        sure = (low > 0 and value > 0) or (high < 0 and value < 0)
        self.rows[name].append(
            (low <= true <= high, high - low, (value - true) ** 2, sure, worth)
        )

    def lines(self, beside: str = "ratings alone") -> Iterator[str]:
        """A line a way: coverage, width and squared error beside the ratings alone, n_eff."""
        first = np.array([row[:3] for row in self.rows[beside]], dtype=float)
        for name, rows in self.rows.items():
            held, width, error, sure, worth = np.array(rows, dtype=float).T.tolist()
            shown = (
                f"  {name:24s} holds {np.mean(held):.3f}",
                f"width {np.mean(width) / first[:, 1].mean():.3f}",
                f"squared error {np.mean(error) / first[:, 2].mean():.3f}",
                f"shown {np.mean(sure):.3f}",
                *(
                    [f"worth {np.nanmedian(worth):.0f}"]
                    if np.isfinite(worth).any()
                    else []
                ),
            )
            yield "  ".join(shown)


def tallied(tally: Tally, field: Field, true: float, others: dict[str, Peer]) -> None:
    """Adds what every way says of two systems."""
    (pair,) = compared(field, NONE, sorted({*field.outputs.systems})).pairs
    add = tally.add
    alone: Answer = pair.powered.alone
    if math.isnan(alone.error):
        return
    add("ratings alone", alone.value, alone.interval, true)
    answer = pair.difference
    add("refless compare", answer.value, answer.interval, true, pair.powered.worth)
    for name, peer in others.items():
        value, low, high = peer(field)
        add(name, value, (low, high), true)


def _differences(field: Field) -> tuple[FloatArray, FloatArray, Any]:
    """Differences of ratings and of estimates over items that both answered."""
    first, second = sorted({*field.outputs.systems})
    rows: dict[str, dict[str, int]] = defaultdict(dict)
    for i, (item, name) in enumerate(
        zip(field.outputs.items, field.outputs.systems, strict=True)
    ):
        rows[item][name] = i
    both = [(one[first], one[second]) for one in rows.values() if len(one) == 2]
    a, b = (np.array(column) for column in zip(*both, strict=True))
    d = field.human[b] - field.human[a]
    f = field.estimates[b] - field.estimates[a]
    return d, f, ~np.isnan(d)


def simulated(runs: int, seed: int, others: dict[str, Peer]) -> None:
    """Known truth: ratings 1 to 5, estimates learned from those that are kept, or a judge's."""
    for gap in (0.0, 0.4):
        for n in (15, 20, 30, 60, 100):
            for kind in ("learned", "judge", "noise"):
                rng = np.random.default_rng(seed)
                tally = Tally()
                true = _true_gap(gap)
                for _ in range(runs):
                    tallied(tally, _drawn(rng, gap, n, kind), true, others)
                print(
                    f"gap {gap}, {n} rated items of 300, estimates: {kind}", flush=True
                )
                print("\n".join(tally.lines()), flush=True)


def _quality(rng: np.random.Generator, n: int, gap: float) -> tuple[Any, Any]:
    """Features of the texts of two systems, and their ratings, 1 to 5."""
    item = rng.normal(size=(n, 1))
    features = rng.normal(size=(2, n, 4))
    quality = 3.4 + 0.5 * item.T + features @ np.array([0.5, 0.35, 0.0, 0.0])
    quality[1] += gap
    return features, np.clip(np.round(quality + 0.6 * rng.normal(size=(2, n))), 1, 5)


def _true_gap(gap: float) -> float:
    rng = np.random.default_rng(12345)
    _, ratings = _quality(rng, 2_000_000, gap)
    return float(ratings[1].mean() - ratings[0].mean()) if gap else 0.0


def _drawn(rng: np.random.Generator, gap: float, n: int, kind: str) -> Field:
    size = 300
    features, ratings = _quality(rng, size, gap)
    rated = rng.permutation(size)[:n]
    human = np.full((2, size), np.nan)
    human[:, rated] = ratings[:, rated]
    if kind == "judge":
        estimates = 0.5 * ratings + rng.normal(size=ratings.shape) * 0.5
    elif kind == "noise":
        estimates = rng.normal(size=ratings.shape)
    else:
        estimates = _learned(rng, features, human)
    names = [f"i{i}" for i in range(size)]
    outputs = Outputs(
        ids=tuple(f"{s}{name}" for s in "ab" for name in names),
        texts=("",) * (2 * size),
        systems=tuple("a" * size + "b" * size),
        items=tuple(names * 2),
    )
    nothing = np.full(2 * size, np.nan)
    return Field(
        outputs=outputs,
        design=Design.of(outputs),
        human=human.ravel(),
        estimates=estimates.ravel(),
        probability=nothing,
    )


def _learned(
    rng: np.random.Generator, features: FloatArray, human: FloatArray
) -> FloatArray:
    """A ridge on features and the system, in ten folds of items."""
    fold = rng.permutation(features.shape[1]) % 10
    system = np.broadcast_to(
        np.array([0.0, 1.0])[:, None, None], (*features.shape[:2], 1)
    )
    inputs = np.concatenate([features, system], axis=2)
    estimates = np.zeros(human.shape)
    for number in range(10):
        known = ~np.isnan(human) & (fold != number)
        x = inputs[known]
        y = human[known]
        mean = y.mean()
        middle = x.mean(axis=0)
        x = x - middle
        weights = np.linalg.solve(x.T @ x + np.eye(x.shape[1]), x.T @ (y - mean))
        inside = fold == number
        estimates[:, inside] = mean + (inputs[:, inside] - middle) @ weights
    return estimates


def people(runs: int, seed: int) -> None:
    """Equal systems, rated by people whose strictness has a standard deviation of .4."""
    for first, second, each in PANELS:
        rng = np.random.default_rng(seed)
        tally = Tally()
        for _ in range(runs):
            field = _by_people(rng, first, second, each)
            (pair,) = compared(field, NONE, ("a", "b")).pairs
            (plain,) = compared(
                replace(field, raters=None, severity=None), NONE, ("a", "b")
            ).pairs
            tally.add(
                "without names", plain.difference.value, plain.difference.interval, 0.0
            )
            if not pair.difference.untold:
                tally.add(
                    "refless compare",
                    pair.difference.value,
                    pair.difference.interval,
                    0.0,
                )
        told = len(tally.rows.get("refless compare", ()))
        print(
            f"{first} and {second}, ratings a text: {each}; told in {told} of {runs} runs"
        )
        print("\n".join(tally.lines("without names")), flush=True)


def _by_people(rng: np.random.Generator, first: str, second: str, each: int) -> Field:
    """Forty items that two equal systems answered, each answer rated by so many of its people."""
    n = 40
    strict = dict(zip("abcdefgh", 0.4 * rng.normal(size=8), strict=True))
    item = 0.6 * rng.normal(size=n)
    output = []
    who = []
    values = []
    for row in range(2 * n):
        drawn = rng.choice([*(first if row < n else second)], each, replace=False)
        quality = 3.3 + item[row % n] + 0.5 * rng.normal()
        output += [row] * each
        who += [ord(name) for name in drawn]
        values += [
            np.clip(np.round(quality + strict[k] + rng.normal() / 2), 1, 5)
            for k in drawn
        ]
    names = [f"i{i}" for i in range(n)]
    text = np.array(output)
    rater = np.array(who)
    outputs = Outputs(
        ids=tuple(map(str, range(2 * n))),
        texts=("",) * (2 * n),
        systems=tuple("a" * n + "b" * n),
        items=tuple(names * 2),
    )
    pool = RatedPool(
        ids=outputs.ids,
        texts=outputs.texts,
        systems=outputs.systems,
        human=np.bincount(text, values) / each,
        ratings=Ratings(
            text=text, annotator=rater - 97, values=np.array(values), annotators=WHO
        ),
    )
    nothing = np.full(2 * n, np.nan)
    return Field(
        outputs=outputs,
        design=Design.of(outputs),
        human=pool.human,
        estimates=nothing,
        probability=nothing,
        raters=Raters.of(pool),
        severity=severity_in(pool),
    )


def pools(data: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Rows with system, item, source, text, rating, and a judge's score where there is one."""
    path = data / "summeval-judges" / "summaries.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for name in ("coherence", "consistency", "fluency", "relevance"):
        yield (
            f"SummEval {name}",
            [
                {
                    "system": row["system"],
                    "item": str(row["article"]),
                    "text": row["text"],
                    "rating": float(np.mean(row["experts"][name])),
                    "judge": row["judges"]["gpt4"].get(name),
                }
                for row in rows
            ],
        )
    yield from _grade(data / "grade" / "judgements.tsv")
    yield from _medians(data / "nlg-ratings" / "emnlp_data_medians.csv")


def _grade(path: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    found: dict[str, dict[str, Any]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            one = found.setdefault(
                row["id"],
                {
                    "task": row["task"],
                    "system": row["system"],
                    "item": row["source"],
                    "text": row["text"],
                    "ratings": [],
                },
            )
            one["ratings"].append(float(row["rating"]))
    for task in sorted({one["task"] for one in found.values()}):
        yield (
            f"GRADE {task}",
            [
                {**one, "rating": float(np.mean(one["ratings"]))}
                for one in found.values()
                if one["task"] == task
            ],
        )


def _medians(path: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for data in sorted({row["dataset"] for row in rows}):
        yield (
            f"{data} quality",
            [
                {
                    "system": row["system"],
                    "item": row["mr"],
                    "text": row["sys_ref"],
                    "rating": float(row["quality"]),
                }
                for row in rows
                if row["dataset"] == data
            ],
        )


def replayed(data: Path, runs: int, seed: int, judge: bool) -> None:
    """Pairs of systems on real pools: n items rated, the answer beside that of all of them."""
    every = {n: Tally() for n in REPLAYED}
    for pool, rows in pools(data):
        if judge and "judge" not in rows[0]:
            continue
        pairs = _pairs(rows)
        for n in REPLAYED:
            rng = np.random.default_rng(seed)
            tally = Tally()
            for _ in range(runs):
                mine, items = pairs[int(rng.integers(len(pairs)))]
                if n > 0.6 * len(items):
                    continue
                given, true = _kept(rng, mine, items, n)
                scores = ["judge"] if judge and "judge" in mine[0] else None
                pair = _compared(given, score_column=scores)
                alone = pair.powered.alone
                both = pair.powered.both
                for one in (tally, every[n]) if not math.isnan(alone.error) else ():
                    one.add("ratings alone", alone.value, alone.interval, true)
                    one.add(
                        "refless compare",
                        both.value,
                        both.interval,
                        true,
                        pair.powered.worth,
                    )
            if tally.rows:
                print(
                    f"{pool}, {n} rated items, {len(tally.rows['ratings alone'])} runs"
                )
                print("\n".join(tally.lines()), flush=True)
    for n, tally in every.items():
        print(f"all pools, {n} rated items, {len(tally.rows['ratings alone'])} runs")
        print("\n".join(tally.lines()), flush=True)


def _compared(given: Any, **more: Any) -> Pair:
    """What `refless compare` says of two systems."""
    from refless import compare

    return compare(given, **more).comparison.pairs[0]


def alone(data: Path, runs: int, seed: int) -> None:
    """Pairs of systems that nobody rated, by estimates alone; other systems' texts are rated."""
    for pool, rows in pools(data):
        pairs = _pairs(rows)
        rng = np.random.default_rng(seed)
        tally = Tally()
        for _ in range(runs):
            mine, items = pairs[int(rng.integers(len(pairs)))]
            names = {row["system"] for row in mine}
            others = [row for row in rows if row["system"] not in names]
            if len({row["system"] for row in others}) < 2:
                break
            kept = rng.permutation(len(others))[:OTHERS]
            given, true = _kept(rng, mine, items, 0)
            rated = [{**others[i], "judge": None} for i in kept.tolist()]
            pair = _compared(given, rated=rated)
            tally.add(
                "estimates alone", pair.difference.value, pair.difference.interval, true
            )
        if tally.rows:
            print(f"{pool}, {len(tally.rows['estimates alone'])} pairs")
            print("\n".join(tally.lines("estimates alone")), flush=True)


def _pairs(rows: list[dict[str, Any]]) -> list[tuple[list[dict[str, Any]], list[str]]]:
    """The rows of two systems each, and the items that both answered; of 30 items or more."""
    of: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        of[row["system"]].add(row["item"])
    names = sorted(of)
    found = []
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            common = sorted(of[first] & of[second])
            if len(common) >= 30:
                mine = [
                    row
                    for row in rows
                    if row["system"] in {first, second} and row["item"] in set(common)
                ]
                found.append((mine, common))
    return found


def _kept(
    rng: np.random.Generator, rows: list[dict[str, Any]], items: list[str], n: int
) -> tuple[list[dict[str, Any]], float]:
    """The rows with the ratings of n items, and the difference by all ratings."""
    kept = {*rng.permutation(items)[:n].tolist()}
    first, second = sorted({row["system"] for row in rows})
    means: dict[str, dict[str, list[float]]] = {
        name: defaultdict(list) for name in (first, second)
    }
    for row in rows:
        means[row["system"]][row["item"]].append(row["rating"])
    of = {
        name: float(np.mean([np.mean(one) for one in found.values()]))
        for name, found in means.items()
    }
    given = [
        {**row, "rating": row["rating"] if row["item"] in kept else None}
        for row in rows
    ]
    return given, of[second] - of[first]


def main() -> None:
    """Runs a part."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "part", choices=("simulated", "people", "replayed", "alone", "decided")
    )
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument(
        "--judge", action="store_true", help="with the judge's score, if any"
    )
    parser.add_argument("--beside", default="", help="of ppi, glide and cje, by commas")
    asked = parser.parse_args()
    if asked.part == "simulated":
        simulated(asked.runs, asked.seed, peers(asked.beside))
    elif asked.part == "people":
        people(asked.runs, asked.seed)
    elif asked.part == "decided":
        named = [*pools(asked.data), *further_pools(asked.data)]
        printed(named, asked.runs, asked.seed)
    elif asked.part == "alone":
        alone(asked.data, asked.runs, asked.seed)
    else:
        replayed(asked.data, asked.runs, asked.seed, asked.judge)


if __name__ == "__main__":
    main()
