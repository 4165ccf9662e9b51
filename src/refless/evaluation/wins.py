"""Which system wins how often, where people chose between the outputs of two."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from refless.data.choices import choices_in
from refless.data.records import RatedPool
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.corrections import holm
from refless.stats.intervals import UNDEFINED, Interval, student

LEVEL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A win rate, ties half.

    Attributes:
        rate: in [0, 1]; interval: 95 %; p: of 0.5.
        choices: behind it; clusters: what they belong to, which is drawn as a whole.
    """

    rate: float
    interval: Interval
    p: float
    choices: int
    clusters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Wins:
    """How often the second of two systems is preferred to the first.

    Attributes:
        first, second: their names.
        by_item: over items as they were drawn (sources); ties: choices of neither.
        p_holm: by item, corrected for the number of pairs of systems; shown: whether below 0.05.
    """

    first: str
    second: str
    by_item: Rate
    ties: int
    p_holm: float
    shown: bool


def wins(pool: RatedPool, systems: Sequence[str]) -> tuple[Wins, ...]:
    """Every two of the systems that people chose between.

    Args:
        pool: the choices, with systems.
        systems: the old one first; the second of two is the later one.
    """
    choices = choices_in(pool)
    group = np.zeros(len(pool), dtype=np.int64)
    group[choices.first] = group[choices.second] = choices.groups
    rival = [""] * len(pool)
    for a, b in zip(choices.first.tolist(), choices.second.tolist(), strict=True):
        rival[a], rival[b] = pool.systems[b], pool.systems[a]
    sides = [*zip(rival, pool.systems, strict=True)]  # of each text: who it is up against
    pairs = []
    for pair in combinations(systems, 2):
        votes = np.flatnonzero([sides[i] == pair for i in pool.ratings.text.tolist()])
        if len(votes):
            won, items = pool.ratings.values[votes], group[pool.ratings.text[votes]]
            pairs.append((pair, int((won == 0.5).sum()), rate(won, items)))
    corrected = holm(np.array([by_item.p for *_, by_item in pairs])).tolist()
    return tuple(
        Wins(first=first, second=second, by_item=by_item, ties=ties, p_holm=p, shown=p < LEVEL)
        for ((first, second), ties, by_item), p in zip(pairs, corrected, strict=True)
    )


def rate(won: FloatArray, clusters: IntArray) -> Rate:
    """Mean of outcomes with an interval by clusters.

    Wilson's interval with Student's t and as many choices as would be as exact were they alone
    (Korn and Graubard 1998, on the design effect); where all clusters agree that is the number of
    clusters. Undefined with fewer than two.

    Args:
        won: [n] 1, 0.5 or 0; clusters: [n] labels.
    """
    from scipy.special import stdtr

    _, code = np.unique(clusters, return_inverse=True)
    count, mean = int(code.max(initial=-1)) + 1, float(np.sort(won).mean())
    if count < 2:
        return Rate(rate=mean, interval=UNDEFINED, p=math.nan, choices=len(won), clusters=count)
    sums = np.bincount(code, weights=won - mean)
    variance = count / (count - 1) * float(np.square(sums).sum()) / len(won) ** 2
    alone = min(mean * (1.0 - mean) / variance, 4.0 * len(won)) if variance > 0 else float(count)
    t = student(count - 1.0)
    middle = (mean + t * t / (2.0 * alone)) / (1.0 + t * t / alone)
    half = (
        t / (1.0 + t * t / alone) * math.sqrt(mean * (1.0 - mean) / alone + (t / alone / 2.0) ** 2)
    )
    away = 2.0 * abs(mean - 0.5) * math.sqrt(alone)
    return Rate(
        rate=mean,
        interval=(max(0.0, middle - half), min(1.0, middle + half)),
        p=float(2.0 * stdtr(count - 1.0, -away)),
        choices=len(won),
        clusters=count,
    )
