"""Correlations over system pairs and units of M items (Galley et al. 2015, section 5).

A unit holds M items that two systems answered; what is correlated is the difference of the two
systems' ratings with the difference of their scores. Which items make a unit is drawn many times,
the same way for all metrics, and the coefficients are averaged.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from refless.metrics.protocol import Scores
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import UsageError
from refless.stats.correlation import kendall, spearman
from refless.stats.intervals import UNDEFINED, Interval, around, fisher_interval

UNIT = 100
ASSIGNMENTS = 1_000
Key = TypeVar("Key", bound=Hashable)
# the first and the second system's scores of the same items
Sides = tuple[Scores, Scores]


@dataclass(frozen=True, slots=True, kw_only=True)
class InUnits:
    """A metric's correlation with people over units; NaN with fewer than two units.

    Attributes:
        spearman, kendall: averaged over the assignments.
        spearman_interval, kendall_interval: 95 %, for that many units: Fisher's z, with Bonett and
            Wright's error for Spearman and Fieller's for Kendall.
        n_units: units of one assignment.
        unit: items a unit.
    """

    spearman: float
    spearman_interval: Interval
    kendall: float
    kendall_interval: Interval
    n_units: int
    unit: int


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
        means = [
            column[rows].mean(axis=1)
            for column, rows in zip(differences, drawn, strict=True)
        ]
        human = _even(sign * np.concatenate(means))
        for key, pairs in scores.items():
            gaps = [
                _gaps(sides, rows) for sides, rows in zip(pairs, drawn, strict=True)
            ]
            metric = _even(sign * np.concatenate(gaps))
            values[key].append((spearman(metric, human), kendall(metric, human)))
    return {key: _in_units(column, n_units, unit) for key, column in values.items()}


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


def _in_units(
    values: Sequence[tuple[float, float]], n_units: int, unit: int
) -> InUnits:
    """Means over assignments, with the intervals of so many units."""
    rho, tau = (
        np.array(values).mean(axis=0).tolist() if values else (math.nan, math.nan)
    )
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
