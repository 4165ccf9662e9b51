"""What a correlation is made of: systems, sources, lengths, copies, or what is left within them.

An estimator may agree with people because it tells one system from another, or long texts from
short ones, and still say nothing of two texts of one system. All correlations are Spearman's within
folds, so they can be held against each other.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from refless.data.records import RatedPool
from refless.evaluation.baselines import CONSTANT, LENGTH, SOURCE, SYSTEM, lengths_of
from refless.evaluation.copies import holding
from refless.evaluation.groups import codes
from refless.evaluation.jackknife import WITHOUT_BLOCK, Replicates, Split, interval_of, measured
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.stats.intervals import UNDEFINED, Interval
from refless.stats.measures import MEASURES
from refless.stats.within_group import WITHIN

TRIPLE = 3  # texts of a cell that Spearman's correlation takes
FEWEST = 20  # texts that have two others in their cells, less one a cell
SPEARMAN, RHO = WITHIN["spearman"], MEASURES["spearman"]
Number = Callable[[FloatArray], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """Spearman's correlation with its 95 % interval; NaN if it is undefined."""

    value: float
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What is left of the correlation when something is held fixed.

    Attributes:
        left: the correlation that is left; alone: that of what is held fixed alone, NaN for copies.
        lost_interval: 95 %, of the whole correlation less what is left.
        mostly_interval: the same less twice what is left: above 0, most of it is gone.
    """

    left: Correlation
    alone: Correlation
    lost_interval: Interval
    mostly_interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Confounders:
    """A correlation and what is left of it.

    Attributes:
        whole: of all texts with an estimate.
        within: by `system`, `source` and `length`, if texts have them and they differ; by `copies`:
            without texts that hold most of a text of another group, if some do.
    """

    whole: Correlation
    within: dict[str, Left]


def confounders(
    pool: RatedPool, method: Replicates, baselines: Mapping[str, Replicates]
) -> Confounders:
    """What the correlation of a method's held-out estimates is made of.

    Args:
        pool: the rated texts; method: the estimates; baselines: those of labels and length, by
            name.
    """
    split = method.split
    whole = method.table(_within(split, split.blocks))
    within = {}
    for name, alone, labels in (("system", SYSTEM, pool.systems), ("source", SOURCE, pool.sources)):
        if 1 < len({*labels}) < len(pool):
            cell = cells(split, labels)
            freedom = _freedom(cell[~np.isnan(method.at()[WITHOUT_BLOCK])])
            values = method.table(_within(split, cell))
            if freedom < FEWEST:
                values = np.full_like(values, math.nan)
            baseline = baselines.get(alone, baselines[CONSTANT])
            within[name] = _left(whole, values, baseline, 1 / math.sqrt(max(freedom, 1)))
    lengths = lengths_of(pool)
    if len({*lengths.tolist()}) > 1:
        values = method.table(_partial(split, np.log1p(lengths)))
        within["length"] = _left(whole, values, baselines[LENGTH])
    copied = _copied(pool, split.groups)
    if copied.any() and not copied.all():
        values = method.on(~copied).table(_within(split, split.blocks))
        within["copies"] = _left(whole, values, None)
    value, ends = measured("spearman", method)
    return Confounders(
        whole=Correlation(value=value, interval=ends),
        within={name: left for name, left in within.items() if not math.isnan(left.left.value)},
    )


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
        rows, values = _scored(split, estimates)
        return SPEARMAN(split.human[rows], values, cell[rows])

    return rho


def _partial(split: Split, third: FloatArray) -> Number:
    """Spearman with a third column held fixed: the partial rank correlation."""

    def rho(estimates: FloatArray) -> float:
        rows, values = _scored(split, estimates)
        x, z, blocks = split.human[rows], third[rows], split.blocks[rows]
        xy, xz, yz = (
            SPEARMAN(x, values, blocks),
            SPEARMAN(x, z, blocks),
            SPEARMAN(values, z, blocks),
        )
        below = (1 - xz * xz) * (1 - yz * yz)
        return min(1.0, max(-1.0, (xy - xz * yz) / math.sqrt(below))) if below > 0 else math.nan

    return rho


def _scored(split: Split, estimates: FloatArray) -> tuple[IntArray, FloatArray]:
    """Rows with an estimate, sorted by it and the rating, and their estimates."""
    values = estimates[WITHOUT_BLOCK]
    rows = np.flatnonzero(~np.isnan(values))
    rows = rows[np.lexsort((values[rows], split.human[rows]))]
    return rows, values[rows]


def _left(
    whole: FloatArray, values: FloatArray, alone: Replicates | None, least: float = 0.0
) -> Left:
    of_alone = (math.nan, UNDEFINED) if alone is None else measured("spearman", alone)
    left = interval_of(values, RHO, least=least)
    return Left(
        left=Correlation(value=float(values[0, 0]), interval=left),
        alone=Correlation(value=of_alone[0], interval=of_alone[1]),
        lost_interval=interval_of(whole - values),
        mostly_interval=interval_of(whole - 2 * values, least=least),
    )


def _copied(pool: RatedPool, groups: IntArray) -> BoolArray:
    """[n] whether most of a text is in one of another group; of a source if each is alone."""
    if len(np.unique(groups)) == len(pool) and pool.sources:
        groups = codes(pool.sources)
    return holding(pool.texts, groups)
