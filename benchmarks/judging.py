"""Do the intervals and the sentences of `judge` hold what they promise? Verdicts of known truth.

Drawn are people's verdicts, a judge's of known TPR and TNR, a second run of it, and three
annotators who are right as often; rows of one cluster share their rates. Counted is how often each
95 % interval holds the truth, how often a sentence on uses is wrong, and how often a slice, a
change, or a judge unlike its equals is shown where there is none.

    python benchmarks/judging.py [--runs 60] [--quick]
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np

from refless.evaluation.audit import corrected_means, sliced
from refless.evaluation.labels import Labels, measured, shift_of
from refless.evaluation.repeated import drift_of
from refless.evaluation.uses import (
    AGREES,
    SMALL,
    as_annotator,
    may_estimate,
    may_filter,
    may_replace,
)
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.stats.verdicts import Estimate, ac1, alpha, kappa

BASES = (0.05, 0.5, 0.8, 0.95)
RATES = (*product((0.6, 0.9, 0.95), repeat=2), (0.79, 0.79))  # the last is near the bar of kappa
LABELS, SIZES, OTHERS = (20, 40, 100, 500), (1, 10), 1_000
ALIKE = 0.2  # intraclass correlation of rows of one cluster
MEANS = ("labels alone", "Rogan-Gladen", "by verdict", "PPI++", "as compare does")
ANNOTATORS = 3
POINTS = 4  # the first is the verdict, their sum a rating
LARGE = 1e9  # rows of which the true alpha is one
Setting = tuple[int, int, float, float, float]  # rows a cluster, labels, base rate, TPR, TNR
Counts = dict[str, tuple[int, int]]  # hits of intervals, alarms of claims; and of how many


def drawn(setting: Setting, rng: np.random.Generator) -> tuple[BoolArray, FloatArray, IntArray]:
    """People's verdicts [4, n] on four points, of two runs and annotators [5, 4, n], clusters."""
    size, labels, *rates = setting
    clusters = np.arange(labels + OTHERS) // size
    spread = 1 / ALIKE - 1

    def each(rate: float) -> FloatArray:
        several = rng.beta(rate * spread, (1 - rate) * spread, clusters.max() + 1)
        return np.asarray(several[clusters]) if size > 1 else np.full(len(clusters), rate)

    base, tpr, tnr = (each(rate) for rate in rates)
    human = rng.random((POINTS, len(clusters))) < base
    judge = rng.random((2 + ANNOTATORS, *human.shape)) < np.where(human, tpr, 1 - tnr)
    return human, judge.astype(np.float64), clusters


def beside_others(
    people: Sequence[FloatArray], n: int
) -> list[tuple[IntArray, FloatArray, FloatArray]]:
    """Of each annotator the first n rows, the others' mean rating there, and the own ratings."""
    total, rows = np.sum(people, axis=0)[:n], np.arange(n)
    return [(rows, (total - mine[:n]) / (len(people) - 1), mine[:n]) for mine in people]


def truths(setting: Setting) -> dict[str, float]:
    """What each number is without chance."""
    _, _, base, tpr, tnr = setting
    shares = np.array([base * tpr, (1 - base) * (1 - tnr), base * (1 - tpr), (1 - base) * tnr])
    rate, same, gap = shares[0] + shares[1], shares[0] + shares[3], shares[1] - shares[2]
    return {
        **dict.fromkeys(("base_rate", *MEANS), base),
        "bias": POINTS * float(gap), "gap": float(gap),
        "judge_rate": rate, "accuracy": same, "tpr": tpr, "tnr": tnr, "precision": shares[0] / rate,
        "kappa": kappa(shares), "ac1": ac1(shares), "alpha": alpha(shares, LARGE),
    }  # fmt: skip


def once(setting: Setting, seed: int) -> tuple[dict[str, Estimate], dict[str, bool]]:
    """Every estimate of one draw, and which claims are wrong."""
    rng = np.random.default_rng([seed, *(round(100 * number) for number in setting)])
    (points, judged, clusters), n, true = drawn(setting, rng), setting[1], truths(setting)
    human, (judge, again, *people) = points[0], judged[:, 0]
    labels = Labels(
        name="judge", human=human[:n].astype(np.float64), judge=judge[:n], clusters=clusters[:n],
        unlabelled=judge[n:], later=clusters[n:], passing=0.5, people=beside_others(people, n),
        slices={
            name: [str(row % 4) for row in column]
            for name, column in (("system", range(n)), ("topic", clusters[:n].tolist()))
        },
    )  # fmt: skip
    measures = measured(labels, seed)
    estimate, choose = may_estimate(labels, measures), may_filter(labels, measures)
    found = {**measures, **corrected_means(labels, seed), "gap": estimate.estimate}
    found["bias"] = shift_of((judged[0].sum(axis=0) - points.sum(axis=0))[:n], clusters[:n])
    low, high = drift_of(again[:n], judge[:n], clusters[:n], 0.5).change.interval
    now, before = judged[1::-1, :, :n].sum(axis=1)
    graded = drift_of(now, before, clusters[:n], None).change.interval
    return found, {
        "filter: yes, wrongly": choose.answer == "yes" and true["kappa"] < AGREES,
        "filter: no, wrongly": choose.answer == "no" and true["kappa"] >= AGREES,
        "estimate: yes, wrongly": estimate.answer == "yes" and abs(true["gap"]) > SMALL,
        "estimate: off, to the wrong side": estimate.answer == "correct"
        and not estimate.estimate.value * true["gap"] > 1e-9,
        "a slice": any(part.shown for part in sliced(labels)[0]),
        "a judge unlike its equals": may_replace(labels, as_annotator(labels)).answer != "unknown",
        "a change of verdicts": low > 0 or high < 0,
        "a change of scores": graded[0] > 0 or graded[1] < 0,
    }


def tried(work: tuple[Setting, int]) -> tuple[Setting, Counts]:
    """A setting, many times."""
    setting, runs = work
    counts, true = dict[str, tuple[int, int]](), truths(setting)
    for seed in range(runs):
        found, claims = once(setting, seed)
        ends = {name: found[name].interval for name in true if found[name].interval[0] > -math.inf}
        holds = {name: low <= true[name] <= high for name, (low, high) in ends.items()}
        for name, hit in (holds | claims).items():
            hits, of = counts.get(name, (0, 0))
            counts[name] = hits + bool(hit), of + 1
    return setting, counts


def lines(found: Sequence[tuple[Setting, Counts]], runs: int, claims: bool) -> Iterator[str]:
    """A row for each number and size of clusters: means by labels, and the worst setting."""
    pick = max if claims else min
    for name, size in product(dict.fromkeys(name for _, each in found for name in each), SIZES):
        if ("wrong" in name or name.startswith("a ")) != claims:
            continue
        every = [(s, *each[name]) for s, each in found if s[0] == size and name in each]
        cells = []
        for n in LABELS:
            mine = [(hits, of) for setting, hits, of in every if setting[1] == n]
            hits, of = sum(each[0] for each in mine), sum(each[1] for each in mine)
            cells.append(f"{hits / of:.3f}" if of else "-")
        shares = [(round(hits / of, 3), s[1:]) for s, hits, of in every if of >= runs / 2]
        mean, worst = np.mean([share for share, _ in shares] or [math.nan]), pick(shares, default=0)
        yield f"| {name} | {size} | {' | '.join(cells)} | {mean:.3f} | {worst} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints two tables: coverage, and false alarms."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=60, help="draws of each setting")
    parser.add_argument("--quick", action="store_true", help="two draws of a few settings")
    options = parser.parse_args(arguments)
    settings = [(s, n, b, *r) for s, n, b, r in product(SIZES, LABELS, BASES, RATES)]
    runs, settings = (2, settings[::45]) if options.quick else (options.runs, settings)
    with ProcessPoolExecutor(2) as pool:
        found = list(pool.map(tried, [(setting, runs) for setting in settings]))
    for claims, head in ((False, "interval"), (True, "false alarm")):
        print(
            f"| {head} | rows a cluster | {' | '.join(map(str, LABELS))} | mean | worst setting |"
        )
        print(f"|---|{'---:|' * (2 + len(LABELS))}---|")
        print("\n".join(lines(found, runs, claims)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
