"""Raters who do not seem to read: the same answer, too fast, gold failed, at random."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean, median
from typing import Any

import numpy as np

from refless.registry.plural import counted
from refless.stats.correlation import spearman

FEWEST = 10  # answers before a rater is judged, and items in common with others
SAME = 0.9  # share of one answer at the least, of a careless rater
USUAL = 0.6  # and at the most, of the others
HASTE = 4  # times as fast as the others
BLINK = 0.7  # seconds in which nobody reads
FIELLER = 1.06  # variance of Fisher's z of ranks, of 1 / (n - 3)
LEVEL = 0.004  # of a test that careful raters fail so seldom
PASSED = 0.8  # share of gold that a careful rater passes at the least


@dataclass(frozen=True, slots=True)
class FirstAnswer:
    """One first answer: to which item, where on the screen or scale, worth what, how fast."""

    rater: str
    item: int
    shown: float
    value: float
    seconds: float


def careless(
    answers: Sequence[FirstAnswer], gold: Mapping[int, float], reach: float
) -> dict[str, list[str]]:
    """Raters who seem careless, each with reasons.

    Args:
        answers: of all raters; gold: right values by item; reach: how far values can lie apart.
    """
    by_rater: dict[str, list[FirstAnswer]] = defaultdict(list)
    for answer in answers:
        by_rater[answer.rater].append(answer)
    agreement = _agreements(by_rater)
    reasons = {}
    for rater, ratings in by_rater.items():
        peers = {name: rows for name, rows in by_rater.items() if name != rater}
        lines = [
            *_constant(ratings, [*chain(*peers.values())]),
            *_hasty(ratings, peers.values()),
            *_failing(ratings, gold, reach),
            *_random(rater, agreement),
        ]
        if lines and len(ratings) >= FEWEST:
            reasons[rater] = lines
    return reasons


def _constant(
    answers: Sequence[FirstAnswer], peers: Sequence[FirstAnswer]
) -> list[str]:
    """The same answer nearly always, where the others give another one often enough."""
    value, count = Counter(answer.shown for answer in answers).most_common(1)[0]
    usual = fmean(answer.shown == value for answer in peers) if peers else 0.0
    share = count / len(answers)
    if share < SAME or usual > USUAL:
        return []
    return [f"gives the same answer {share:.0%} of the time"]


def _hasty(
    answers: Sequence[FirstAnswer], peers: Iterable[Sequence[FirstAnswer]]
) -> list[str]:
    """Median seconds below what anybody needs, or a part of what the others need."""
    pace = _pace(answers)
    paces = [_pace(rows) for rows in peers if len(rows) >= FEWEST]
    needs = f"needs {pace:.1f} seconds an item"
    if pace < BLINK:
        return [f"{needs}, in which nobody reads it"]
    if paces and pace < median(paces) / HASTE:
        return [f"{needs}, the others {median(paces):.1f}"]
    return []


def _pace(answers: Iterable[FirstAnswer]) -> float:
    return median(answer.seconds for answer in answers)


def _failing(
    answers: Sequence[FirstAnswer], gold: Mapping[int, float], reach: float
) -> list[str]:
    """Fewer gold items passed than careful raters would: binomial, one-sided."""
    judged = [answer for answer in answers if answer.item in gold]
    errors = [abs(answer.value - gold[answer.item]) for answer in judged]
    passed = sum(error <= reach / 4 for error in errors)
    n = len(errors)
    chance = sum(_binomial(k, n) for k in range(passed + 1))  # of passing no more
    failed = f"fails {n - passed} of {counted(n, 'gold item')}"
    return [failed] if n and chance < 2 * LEVEL else []


def _binomial(k: int, n: int) -> float:
    """The probability that a careful rater passes k of n gold items."""
    return float(math.comb(n, k) * PASSED**k * (1 - PASSED) ** (n - k))


def _agreements(
    by_rater: Mapping[str, Sequence[FirstAnswer]],
) -> dict[str, tuple[float, int]]:
    """Each rater's rank correlation with the mean of others who agree at all, and by how many."""
    values: dict[int, dict[str, float]] = defaultdict(dict)
    for rater, answers in by_rater.items():
        for answer in answers:
            values[answer.item][rater] = answer.value
    first = {rater: _agreement(rater, values, {*by_rater}) for rater in by_rater}
    sound = {
        rater for rater, (value, n) in first.items() if n and _above(value, n) < 0.05
    }
    agreements = {
        rater: _agreement(rater, values, sound or {*by_rater}) for rater in by_rater
    }
    return {rater: pair for rater, pair in agreements.items() if pair[1]}


def _agreement(
    rater: str, values: Mapping[int, Mapping[str, float]], peers: set[str]
) -> tuple[float, int]:
    """Rank correlation of a rater with the mean of peers; of 0 items if there are too few."""
    pairs = []
    for ratings in values.values():
        level = [
            value for name, value in ratings.items() if name != rater and name in peers
        ]
        if rater in ratings and level:
            pairs.append((ratings[rater], fmean(level)))
    return (_spearman(pairs), len(pairs)) if len(pairs) >= FEWEST else (0.0, 0)


def _spearman(pairs: Sequence[tuple[float, float]]) -> float:
    """Rank correlation; 0 where one side never changes."""
    value = spearman(*(np.array(side) for side in zip(*pairs, strict=True)))
    return 0.0 if math.isnan(value) else value


def _random(rater: str, agreements: Mapping[str, tuple[float, int]]) -> list[str]:
    """No sign of agreement, and far less than the others': Fisher's z, one-sided, both."""
    peers = [value for name, (value, _) in agreements.items() if name != rater]
    if rater not in agreements or len(peers) < 2:
        return []
    value, n = agreements[rater]
    usual = median(peers)
    wide = math.sqrt((n - 3) / FIELLER)
    below = _tail((_z(usual) - _z(value)) * wide)
    if below >= LEVEL or _above(value, n) < 0.01:
        return []
    return [
        f"agrees with the others by {value:.2f} (Spearman, {n} items), they by {usual:.2f}"
    ]


def _above(value: float, n: int) -> float:
    """The probability that noise gives such a rank correlation, or a higher one."""
    return _tail(_z(value) * math.sqrt((n - 3) / FIELLER))


def _z(value: float) -> float:
    return math.atanh(max(-0.99, min(0.99, value)))


def _tail(z: float) -> float:
    return math.erfc(z / math.sqrt(2)) / 2


def answers_of(rows: Iterable[Any], dimension: str, ask: str) -> list[FirstAnswer]:
    """First answers to one question, out of the rows that hold now; choices as places.

    Of a pair a tie lies between the texts; what was chosen counts by its side on the screen.
    """
    answers = []
    for row in rows:
        if row.kind == "skipped" or row.round or row.dimension != dimension:
            continue
        sides = json.loads(row.sides)
        value = row.value
        side = value if ask == "rating" or value < 0 else sides.index(int(value))
        worth = 0.5 if ask == "pair" and value < 0 else value
        seconds = json.loads(row.shown)["latency"] / 1000
        answers.append(
            FirstAnswer(row.rater_name, row.item, float(side), float(worth), seconds)
        )
    return answers
