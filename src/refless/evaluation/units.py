"""Correlations over system pairs and units of M items (Galley et al. 2015, section 5).

A unit holds M items that two systems answered; what is correlated is the difference of the two
systems' ratings with the difference of their scores. Which items make a unit is drawn many times,
the same way for all metrics, and the coefficients are averaged.
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeVar

import numpy as np

from refless.data.records import Predictions
from refless.metrics.protocol import Scores
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.registry.errors import UsageError
from refless.stats.correlation import kendall, spearman
from refless.stats.intervals import UNDEFINED, Interval, around, fisher_interval

UNIT, ASSIGNMENTS = 100, 1_000
Key = TypeVar("Key", bound=Hashable)
Sides = tuple[Scores, Scores]  # the first and the second system's scores of the same items


@dataclass(frozen=True, slots=True, kw_only=True)
class InUnits:
    """A metric's correlation with people over units; NaN with fewer than two units.

    Attributes:
        spearman, kendall: averaged over the assignments.
        spearman_interval, kendall_interval: 95 %, for that many units: Fisher's z, with Bonett and
            Wright's error for Spearman and Fieller's for Kendall.
        n_units: units of one assignment.
        unit: items a unit.
        n_dropped: pairs of answers left out, as one of them had no score.
    """

    spearman: float
    spearman_interval: Interval
    kendall: float
    kendall_interval: Interval
    n_units: int
    unit: int
    n_dropped: int = 0


def in_units(
    differences: Sequence[FloatArray],
    scores: Mapping[Key, Sequence[Sides]],
    *,
    unit: int = UNIT,
    assignments: int = ASSIGNMENTS,
    seed: int = 0,
) -> dict[Key, InUnits]:
    """Every metric's correlation over units, on the same assignments of items to units.

    Args:
        differences: for each system pair, [n] rating of the first system minus the second's.
        scores: by metric, for each system pair, both systems' scores with their statistics.
        unit: items a unit, all of one pair; what is left over is left out.
        assignments: how often units are drawn.
        seed: of the assignments, and of which system comes first.

    Raises:
        UsageError: sizes below 1.
    """
    if unit < 1 or assignments < 1:
        raise UsageError("units and assignments must be 1 or more")
    values: dict[Key, list[tuple[float, float]]] = {key: [] for key in scores}
    rng = np.random.default_rng(seed)
    n_units = sum(len(column) // unit for column in differences)
    for _ in range(assignments if n_units > 1 else 0):
        drawn = [_drawn(len(column), unit, rng) for column in differences]
        sign = rng.choice([-1.0, 1.0], size=n_units)  # which system comes first
        means = [column[rows].mean(axis=1) for column, rows in zip(differences, drawn, strict=True)]
        human = _even(sign * np.concatenate(means))
        for key, pairs in scores.items():
            gaps = [_gaps(sides, rows) for sides, rows in zip(pairs, drawn, strict=True)]
            metric = _even(sign * np.concatenate(gaps))
            values[key].append((spearman(metric, human), kendall(metric, human)))
    return {key: _in_units(column, n_units, unit) for key, column in values.items()}


def units_of(
    human: Predictions,
    scores: Mapping[str, Scores],
    *,
    unit: int = UNIT,
    assignments: int = ASSIGNMENTS,
    seed: int = 0,
) -> dict[str, InUnits]:
    """The study over all pairs of the systems of rated segments.

    Args:
        human: ratings, systems and items; its predictions are not read.
        scores: by name, [n] segments with their statistics. Each pair of systems is compared on
            the items that both answered once and that all metrics have a score for.
        unit, assignments, seed: as in `in_units`.

    Raises:
        UsageError: segments without systems or items.
    """
    if not human.system or not human.item:
        raise UsageError("units of M need a system and an item (or source) column")
    complete = ~np.isnan(sum(metric.segments for metric in scores.values()))
    pairs, dropped = _pairs(human, complete)
    sides = {
        name: [(metric.take(a), metric.take(b)) for a, b in pairs]
        for name, metric in scores.items()
    }
    differences = [human.human[a] - human.human[b] for a, b in pairs]
    results = in_units(differences, sides, unit=unit, assignments=assignments, seed=seed)
    return {name: replace(result, n_dropped=dropped) for name, result in results.items()}


def _pairs(human: Predictions, complete: BoolArray) -> tuple[list[tuple[IntArray, IntArray]], int]:
    """For each pair of systems the rows of both, item by item, and how many lacked a score."""
    answers: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for i, (system, item) in enumerate(zip(human.system, human.item, strict=True)):
        answers[system][item].append(i)
    once = {  # two answers to one item pair with nothing
        system: {item: rows[0] for item, rows in items.items() if len(rows) == 1}
        for system, items in answers.items()
    }
    pairs, dropped = [], 0
    for a, b in combinations(sorted(once), 2):
        items = sorted({*once[a]} & {*once[b]})
        rows = np.array([[once[a][item], once[b][item]] for item in items], dtype=np.int64)
        scored = complete[rows].all(axis=1) if items else np.zeros(0, dtype=np.bool_)
        dropped += int((~scored).sum())
        if scored.any():
            first, second = rows[scored].T
            pairs.append((first, second))
    return pairs, dropped


def _drawn(n: int, size: int, rng: np.random.Generator) -> IntArray:
    """[units, size] rows assigned at random; what is left over is left out."""
    return rng.permutation(n)[: n // size * size].reshape(-1, size).astype(np.int64)


def _even(column: FloatArray) -> FloatArray:
    """The column without the rounding of its sums, which would break ties."""
    peak = float(np.abs(column).max(initial=0.0))
    return np.asarray(np.round(column / peak, 12)) if peak > 0 else column


def _gaps(sides: Sides, rows: IntArray) -> FloatArray:
    """[units] the first system's score of each unit less the second's."""
    first, second = (side.combine(side.statistics[rows].sum(axis=1)) for side in sides)
    return first - second


def _in_units(values: Sequence[tuple[float, float]], n_units: int, unit: int) -> InUnits:
    """Means over assignments, with the intervals of so many units."""
    rho, tau = np.array(values).mean(axis=0).tolist() if values else (math.nan, math.nan)
    ends = UNDEFINED
    if n_units >= 5 and not math.isnan(tau):  # Fieller, Hartley and Pearson (1957)
        ends = around(tau, math.sqrt(0.437 / (n_units - 4)))
    return InUnits(
        spearman=rho,
        spearman_interval=fisher_interval(rho, n_units, ranked=True),
        kendall=tau,
        kendall_interval=ends,
        n_units=n_units,
        unit=unit,
    )
