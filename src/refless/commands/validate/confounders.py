"""Parts of a correlation: systems, sources, lengths, or what is left within them.

An estimator may agree with people because it tells one system from another, or long texts from
short ones, and still say nothing of two texts of one system. All correlations are Spearman's within
folds, so they can be held against each other.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from refless.data.design import unit_name, units_of
from refless.data.records import RatedPool
from refless.evaluation.baselines import lengths_of
from refless.evaluation.jackknife import (
    WITHOUT_BLOCK,
    Replicates,
    Split,
    interval_of,
    measured,
)
from refless.registry.arrays import FloatArray, IntArray, codes
from refless.stats.intervals import Interval
from refless.stats.measures import MEASURES
from refless.stats.within_group import WITHIN

TRIPLE = 3  # texts of a cell that Spearman's correlation takes
FEWEST = 20  # texts that have two others in their cells, less one a cell
SPEARMAN = WITHIN["spearman"]
RHO = MEASURES["spearman"]
Number = Callable[[FloatArray], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """Spearman's correlation with a confounder held fixed.

    Attributes:
        value: the correlation that is left; interval: 95 %.
        lost_interval: 95 %, of the whole correlation less what is left.
    """

    value: float
    interval: Interval
    lost_interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Confounders:
    """A correlation and what is left of it.

    Attributes:
        whole: Spearman's, of all texts with an estimate; whole_interval: 95 %.
        within: by `system`, `source` (or `item`) and `length`, if texts have them and they differ.
    """

    whole: float
    whole_interval: Interval
    within: dict[str, Left]


def confounders(pool: RatedPool, method: Replicates) -> Confounders:
    """The parts of the correlation of a method's held-out estimates of a pool."""
    split = method.split
    whole = method.table(_within(split, split.blocks))
    within = {}
    for name, labels in (("system", pool.systems), (unit_name(pool), units_of(pool))):
        if 1 < len({*labels}) < len(pool):
            cell = cells(split, labels)
            defined = ~np.isnan(method.at()[WITHOUT_BLOCK])
            freedom = _freedom(cell[defined])
            if freedom >= FEWEST:
                values = method.table(_within(split, cell))
                within[name] = _part(whole, values, 1 / math.sqrt(freedom))
    lengths = lengths_of(pool)
    if len({*lengths.tolist()}) > 1:
        values = method.table(_partial(split, np.log1p(lengths)))
        within["length"] = _part(whole, values)
    value, ends = measured("spearman", method)
    defined = {
        name: part for name, part in within.items() if not math.isnan(part.value)
    }
    return Confounders(whole=value, whole_interval=ends, within=defined)


def cells(split: Split, labels: Sequence[str]) -> IntArray:
    """[n] cells of texts that one model has judged and that have one label."""
    numbers = codes(labels)
    return np.asarray(split.blocks * (int(numbers.max(initial=0)) + 1) + numbers)


def _freedom(cell: IntArray) -> int:
    """Texts that have two others in their cells, less one a cell."""
    sizes = np.unique(cell, return_counts=True)[1]
    return int((sizes - 1)[sizes >= TRIPLE].sum())


def _within(split: Split, cell: IntArray) -> Number:
    """Spearman within cells of the texts that have an estimate."""

    def rho(estimates: FloatArray) -> float:
        rows, values = _scored(estimates)
        return SPEARMAN(split.human[rows], values, cell[rows])

    return rho


def _partial(split: Split, third: FloatArray) -> Number:
    """Spearman with a third column held fixed: the partial rank correlation."""

    def rho(estimates: FloatArray) -> float:
        rows, values = _scored(estimates)
        x = split.human[rows]
        z = third[rows]
        blocks = split.blocks[rows]
        xy = SPEARMAN(x, values, blocks)
        xz = SPEARMAN(x, z, blocks)
        yz = SPEARMAN(values, z, blocks)
        below = (1 - xz * xz) * (1 - yz * yz)
        if not below > 0:
            return math.nan
        partial = (xy - xz * yz) / math.sqrt(below)
        return min(1.0, max(-1.0, partial))

    return rho


def _scored(estimates: FloatArray) -> tuple[IntArray, FloatArray]:
    """Rows with an estimate, and their estimates."""
    values = estimates[WITHOUT_BLOCK]
    rows = np.flatnonzero(~np.isnan(values))
    return rows, values[rows]


def _part(whole: FloatArray, values: FloatArray, least: float = 0.0) -> Left:
    return Left(
        value=float(values[0, 0]),
        interval=interval_of(values, RHO, least=least),
        lost_interval=interval_of(whole - values),
    )
