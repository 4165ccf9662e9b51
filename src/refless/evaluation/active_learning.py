"""Which outputs to have rated next, for one of three goals, and what the ratings should bring."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from refless.data.human import copies_of
from refless.data.records import Outputs, Residuals, picked, sortable
from refless.estimators import Estimator
from refless.estimators.folds import whole
from refless.estimators.scorer import Together
from refless.evaluation.comparing import Pair
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import UsageError
from refless.stats.clusters import numbered
from refless.stats.d_optimal import left_after, most_telling
from refless.stats.intervals import student

Goal = Literal["learn", "mean", "compare"]
GOALS = {
    "learn": "the ratings that teach the estimator most about all these outputs",
    "mean": "ratings to tell the mean of these outputs",
    "compare": "ratings to tell how far two systems differ, item by item",
}
STEPS = (10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120)
MOST = 2_000  # different outputs that are looked at for the goal learn
DOUBT = 50  # rated texts; chosen on HUSE, GRADE convai2 and ASAP-SAS 1, 4, 7
ORDERS = 20  # random ones, for what random choice is expected to bring
HELD_OUT = 1_000  # rated texts, at most, that are held out
FEWEST = 20  # of them, and of their sources, that say anything


@dataclass(frozen=True, slots=True)
class Step:
    """What n more ratings are expected to bring, chosen so and at random.

    Attributes:
        n: outputs that are rated; with goal compare items, both answers of each.
        chosen, random: with goal learn the standard deviation of a rating from its estimate, over
            the outputs not yet rated; else half the width of a 95 % interval.
    """

    n: int
    chosen: float
    random: float


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What to have rated.

    Attributes:
        goal: what for.
        rows: [m] places among the outputs, in the order for raters.
        units: outputs, or items that both systems answered, that there are to choose from.
        n: how many of them are chosen.
        way: `telling` (the estimator chose), or `random`.
        curve: what ratings are expected to bring, from few to many; empty where that is unknown:
            without rated texts, and with goal learn where held-out estimates are not surely nearer
            to the ratings than their mean is.
        within: the half width that settles it, NaN for goal learn.
        needed: ratings (items) to get there; 0 where all that there are are too few, or unknown.
        systems: the two of goal compare.
        already: units that are rated already, on which the curve goes on.
        pair: these two as `compare` has them today; None for other goals, or without ratings.
    """

    goal: Goal
    rows: IntArray
    units: int
    n: int
    way: Literal["telling", "random"]
    curve: tuple[Step, ...] = ()
    within: float = math.nan
    needed: int = 0
    systems: tuple[str, ...] = ()
    already: int = 0
    pair: Pair | None = None

    def times(self, size: float) -> Choice:
        """The same with widths in units of which one of these is so many."""
        curve = tuple(Step(step.n, size * step.chosen, size * step.random) for step in self.curve)
        return replace(self, curve=curve, within=size * self.within)


def canonical(outputs: Outputs) -> IntArray:
    """Places of the outputs in an order of their own, whatever the order of rows."""
    scores = sortable(outputs.scores, len(outputs))
    blank = ("",) * len(outputs)
    columns = (outputs.texts, outputs.sources or blank, outputs.systems or blank, outputs.ids)
    keys = [*zip(*columns, scores, strict=True)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


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
    units, n = len(rows), min(n, len(rows))
    drawn = np.sort(rng.permutation(units)[: max(MOST, n)])
    rows, counts = rows[drawn], counts[drawn]
    candidates = outputs.take(rows)
    cautious = None if estimator is None else estimator.together(candidates, DOUBT)
    if estimator is None or cautious is None:
        best = rng.permutation(len(rows))[:n]
        return Choice("learn", rows[best], units, n, "random")
    best = most_telling(cautious.covariance, cautious.noise, n, counts)
    together = estimator.together(candidates)
    if together is None or not beat_the_mean(held_out_errors(estimator)):
        curve: tuple[Step, ...] = ()
    else:
        curve = _learning(together, counts, cautious, n, rng)
    return Choice("learn", rows[best], units, n, "telling", curve=curve)


def _different(outputs: Outputs) -> tuple[IntArray, FloatArray]:
    """Places of the different outputs in an order of their own, and how often each is there."""
    scores = sortable(outputs.scores, len(outputs))
    keys = [*zip(outputs.texts, outputs.sources or outputs.texts, scores, strict=True)]
    first: dict[object, int] = {}
    counts: dict[object, int] = {}
    for row in canonical(outputs).tolist():
        if not outputs.texts[row].strip():
            continue
        first.setdefault(keys[row], row)
        counts[keys[row]] = counts.get(keys[row], 0) + 1
    if not first:
        raise UsageError("there is nothing to rate: every output is empty")
    return np.array([*first.values()], dtype=np.int64), np.array([*counts.values()], np.float64)


def _learning(
    together: Together, counts: FloatArray, cautious: Together, n: int, rng: np.random.Generator
) -> tuple[Step, ...]:
    """What ratings should bring if the model is right, chosen by the cautious one or at random."""
    m = len(counts)
    sizes = sorted({0, *sizes_of(n, m - 1, max(n, STEPS[4]))})
    order = most_telling(cautious.covariance, cautious.noise, sizes[-1], counts)
    whole, noise = together.covariance + np.diag(together.apart), together.noise
    chosen = left_after(whole, noise, order, counts)
    orders = (rng.permutation(m)[: sizes[-1]] for _ in range(ORDERS))
    random = np.mean([left_after(whole, noise, order, counts) for order in orders], axis=0)
    return tuple(Step(k, math.sqrt(chosen[k] + noise), math.sqrt(random[k] + noise)) for k in sizes)


def sizes_of(n: int, most: int, end: int) -> list[int]:
    """Numbers of ratings that a curve shows: round ones and the one that was asked for."""
    return sorted({k for k in (*STEPS, n, most) if k <= min(most, end)})


def held_out_errors(estimator: Estimator) -> Residuals:
    """Errors of its rated texts, of which nothing was chosen with their own source.

    Those that intervals are made of if so few texts are rated that none can be set apart.
    """
    pool = estimator.rated
    if len(pool) < FEWEST:
        return estimator.residuals()
    pool = pool.take(whole(copies_of(pool), HELD_OUT, np.random.default_rng(0)))
    sources = pool.sources if len({*pool.sources}) > 1 else ()
    groups = numbered(sources, len(pool))
    estimates = estimator.clone().set_params(subsample=1.0).held_out(pool, groups)
    rows = np.flatnonzero(estimates.defined)
    if len(rows) < FEWEST:
        return estimator.residuals()
    return Residuals(
        values=(pool.human - estimates.values)[rows],
        sources=picked(sources, rows),
        systems=picked(pool.systems, rows),
        human=pool.human[rows],
    )


def beat_the_mean(errors: Residuals) -> bool:
    """Whether estimates are surely nearer to the ratings than their mean is.

    By Student's t over sources, 2.5 % to be wrong.
    """
    human, n = errors.human, len(errors.human)
    group = numbered(errors.sources, n)
    count = int(group.max(initial=-1)) + 1
    if count < FEWEST:
        return False
    sizes = np.bincount(group)[group]
    mean_elsewhere = (human.sum() - np.bincount(group, human)[group]) / (n - sizes)
    gain = np.square(human - mean_elsewhere) - np.square(errors.values)
    gains = np.bincount(group, gain)
    error = float(gains.std(ddof=1)) / math.sqrt(count)
    return float(gains.mean()) > student(count - 1) * error
