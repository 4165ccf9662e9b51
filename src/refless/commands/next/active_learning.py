"""Outputs to have rated next, for one of three goals, and the width their ratings should bring."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from refless.commands.next.d_optimal import most_telling
from refless.data.records import Outputs, sortable
from refless.estimators import Estimator
from refless.evaluation.comparing import Pair
from refless.evaluation.planned_look import PlannedLook
from refless.evaluation.racing import Race
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import UsageError

Goal = Literal["learn", "mean", "compare", "best"]
GOALS = {
    "learn": "the ratings that teach the estimator most about all these outputs",
    "mean": "ratings to tell the mean of these outputs",
    "compare": "ratings to tell how far two systems differ, item by item",
    "best": "ratings to tell which of several systems is the best, item by item",
}
STEPS = (10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120)
MOST = 2_000  # different outputs that are looked at for the goal learn
DOUBT = 50  # rated texts; chosen on HUSE, GRADE convai2 and ASAP-SAS 1, 4, 7


@dataclass(frozen=True, slots=True)
class Step:
    """The interval that n more ratings are expected to bring.

    Attributes:
        n: outputs that are rated; with goal compare items, both answers of each.
        width: half the width of a 95 % interval.
        low, high: between which that will lie in nine of ten cases.
    """

    n: int
    width: float
    low: float
    high: float

    def times(self, size: float) -> Step:
        """The same in units of which one of these is so many."""
        return Step(self.n, size * self.width, size * self.low, size * self.high)


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Outputs to have rated.

    Attributes:
        goal: what for.
        rows: [m] places among the outputs, in the order for raters.
        units: outputs, or items that both systems answered, that there are to choose from.
        n: how many of them are chosen.
        way: `telling` (the estimator chose), or `random`.
        curve: what ratings are expected to bring, from few to many; empty with goal learn, and
            without rated texts.
        within: the half width that settles it, NaN for goal learn.
        needed: ratings (items) to get there; None where all are too few, or unknown.
        systems: the two of goal compare.
        already: units that are rated already, on which the curve goes on.
        pair: these two as `compare` has them today; None for other goals, or without ratings.
        race: of the systems of goal best; None for other goals.
    """

    goal: Goal
    rows: IntArray
    units: int
    n: int
    way: Literal["telling", "random"]
    curve: tuple[Step, ...] = ()
    within: float = math.nan
    needed: int | None = None
    systems: tuple[str, ...] = ()
    already: int = 0
    pair: Pair | None = None
    race: Race | None = None

    @property
    def look(self) -> PlannedLook | None:
        """The planned look at these two; None without a plan."""
        return None if self.pair is None else self.pair.look

    @property
    def every(self) -> int:
        """Units in all, those that lack no rating too."""
        return self.already + self.units if self.pair is None else self.pair.items

    @property
    def decided(self) -> Pair | None:
        """The pair of which today's ratings show the better one; None with a plan, too."""
        pair = self.pair
        is_open = pair is None or pair.look is not None or not pair.decided
        return None if is_open else pair

    def times(self, size: float) -> Choice:
        """The same with widths in units of which one of these is so many."""
        curve = tuple(step.times(size) for step in self.curve)
        return replace(self, curve=curve, within=size * self.within)


def learn(estimator: Estimator | None, outputs: Outputs, n: int, seed: int) -> Choice:
    """The outputs whose ratings tell most of all of them; at random where that is unknown.

    Each different output is asked once, an empty one never. Of more than 2,000 different ones as
    many are drawn.

    Args:
        estimator: fitted, or None without rated texts.
        outputs: what there is to choose from.
        n: how many.
        seed: of what is drawn.

    Raises:
        UsageError: every output is empty.
    """
    rng = np.random.default_rng(seed)
    rows, counts = _different(outputs)
    units = len(rows)
    n = min(n, len(rows))
    drawn = np.sort(rng.permutation(units)[: max(MOST, n)])
    rows = rows[drawn]
    counts = counts[drawn]
    candidates = outputs.take(rows)
    cautious = None if estimator is None else estimator.together(candidates, DOUBT)
    if cautious is None:
        best = rng.permutation(len(rows))[:n]
        return Choice("learn", rows[best], units, n, "random")
    best = most_telling(cautious.covariance, cautious.noise, n, counts)
    return Choice("learn", rows[best], units, n, "telling")


def _different(outputs: Outputs) -> tuple[IntArray, FloatArray]:
    """Places of the different outputs, and how often each is there."""
    scores = sortable(outputs.scores, len(outputs))
    keys = [*zip(outputs.texts, outputs.sources or outputs.texts, scores, strict=True)]
    first: dict[object, int] = {}
    counts: dict[object, int] = {}
    for row in range(len(outputs)):
        if not outputs.texts[row].strip():
            continue
        first.setdefault(keys[row], row)
        counts[keys[row]] = counts.get(keys[row], 0) + 1
    if not first:
        raise UsageError("there is nothing to rate: every output is empty")
    rows = np.array([*first.values()], dtype=np.int64)
    return rows, np.array([*counts.values()], np.float64)


def sizes_of(n: int, most: int, end: int) -> list[int]:
    """Numbers of ratings that a curve shows: round ones and the one that was asked for."""
    return sorted({k for k in (*STEPS, n, most) if k <= min(most, end)})
