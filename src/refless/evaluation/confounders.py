"""What a correlation is made of: systems, sources, lengths, copies, or what is left within them.

An estimator may agree with people because it tells one system from another, or long texts from
short ones, and still say nothing of two texts of one system. All correlations are Spearman's within
folds, so they can be held against each other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from refless.data.records import RatedPool
from refless.estimators.scorer import Held
from refless.evaluation.baselines import lengths_of, tried_labels, tried_plain
from refless.evaluation.copies import holding
from refless.evaluation.jackknife import Trial, interval_of, measured, of_parts, trial
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.stats.intervals import Interval
from refless.stats.measures import MEASURES
from refless.stats.within_group import WITHIN

TRIPLE = 3  # texts of a cell that Spearman's correlation takes
FEWEST = 20  # texts that have two others in their cells, less one a cell
SPEARMAN, RHO = WITHIN["spearman"], MEASURES["spearman"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """Spearman's correlation with its 95 % interval; NaN where it is undefined."""

    value: float
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What is left of the correlation when something is held fixed.

    Attributes:
        left: the correlation that is left; alone: that of what is held fixed alone.
        lost_interval: 95 %, of the whole correlation less what is left.
        mostly_interval: the same less twice what is left: above 0, most of it is gone.
    """

    left: Correlation
    alone: Correlation
    lost_interval: Interval
    mostly_interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutCopies:
    """The correlation without texts that hold most of a text of another group.

    Attributes:
        n, count: texts, and those with such a copy; left: the correlation of the others.
        lost_interval: 95 %, of the whole correlation less what is left.
    """

    n: int
    count: int
    left: Correlation
    lost_interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeOf:
    """A correlation and what is left of it.

    Attributes:
        whole: of all texts with an estimate.
        within: by `system`, `source` and `length`, where texts have them and they differ.
        copies: None where no text holds most of another group's.
    """

    whole: Correlation
    within: dict[str, Left]
    copies: WithoutCopies | None


def made_of(pool: RatedPool, one: Trial) -> MadeOf:
    """What the correlation of a method's held-out estimates is made of.

    Args:
        pool: the rated texts; one: the method in the whole pool and without parts of it.
    """
    whole = of_parts(one, partial(_rho, one, one.deal.blocks))
    within = {}
    for name, labels in (("system", pool.systems), ("source", pool.sources)):
        if 1 < len({*labels}) < len(pool):
            tried = tried_labels(labels, pool.human, one.deal.groups, one.deal.blocks)
            alone = trial(tried, one.deal)
            within[name] = _within(one, whole, cells(one, labels), alone)
    lengths = lengths_of(pool)
    if len({*lengths.tolist()}) > 1:
        alone = trial(tried_plain(pool, one.deal.groups, one.deal.blocks)["length"], one.deal)
        within["length"] = _left(
            whole, of_parts(one, partial(_given, one, np.log1p(lengths))), alone
        )
    value, ends = measured("spearman", one)
    return MadeOf(
        whole=Correlation(value=value, interval=ends),
        within={name: left for name, left in within.items() if not math.isnan(left.left.value)},
        copies=_without_copies(pool, one, whole),
    )


def cells(one: Trial, labels: Sequence[str]) -> IntArray:
    """[n] cells of texts that one model has judged and that have one label."""
    codes = np.unique(np.array(labels, dtype=object).astype(str), return_inverse=True)[1]
    return np.asarray(one.deal.blocks * (int(codes.max(initial=0)) + 1) + codes)


def _rho(one: Trial, blocks: IntArray, held: Held) -> float:
    """Spearman within blocks of the texts that have an estimate."""
    rows = _known(one, held)
    return SPEARMAN(one.deal.human[rows], held.apart[rows], blocks[rows])


def _given(one: Trial, third: FloatArray, held: Held) -> float:
    """The same with a third column held fixed: the partial rank correlation."""
    rows = _known(one, held)
    blocks, columns = one.deal.blocks[rows], (one.deal.human[rows], held.apart[rows], third[rows])
    xy, xz, yz = (SPEARMAN(columns[i], columns[j], blocks) for i, j in ((0, 1), (0, 2), (1, 2)))
    below = (1 - xz * xz) * (1 - yz * yz)
    return min(1.0, max(-1.0, (xy - xz * yz) / math.sqrt(below))) if below > 0 else math.nan


def _known(one: Trial, held: Held) -> IntArray:
    """Rows with an estimate, in an order of their own."""
    rows = np.flatnonzero(~np.isnan(held.apart))
    return np.asarray(rows[np.lexsort((held.apart[rows], one.deal.human[rows]))])


def _within(one: Trial, whole: FloatArray, cell: IntArray, alone: Trial) -> Left:
    """Of texts of one cell; undefined where too few have two others in theirs."""
    known = ~np.isnan(one.at().apart)
    sizes = np.unique(cell[known], return_counts=True)[1]
    freedom = int((sizes - 1)[sizes >= TRIPLE].sum())
    values = of_parts(one, partial(_rho, one, cell))
    if freedom < FEWEST:
        values = np.full_like(values, math.nan)
    return _left(whole, values, alone, 1 / math.sqrt(max(freedom, 1)))


def _left(whole: FloatArray, values: FloatArray, alone: Trial, least: float = 0.0) -> Left:
    value, ends = measured("spearman", alone)
    return Left(
        left=_correlation(values, least),
        alone=Correlation(value=value, interval=ends),
        lost_interval=interval_of(whole - values),
        mostly_interval=interval_of(whole - 2 * values, least=least),
    )


def _correlation(values: FloatArray, least: float = 0.0) -> Correlation:
    ends = interval_of(values, RHO, least=least)
    return Correlation(value=float(values[0, 0]), interval=ends)


def _without_copies(pool: RatedPool, one: Trial, whole: FloatArray) -> WithoutCopies | None:
    """None where no text has a copy, or nothing is left."""
    copied = _copied(pool, one)
    if not copied.any() or copied.all():
        return None
    values = of_parts(one.on(~copied), partial(_rho, one, one.deal.blocks))
    return WithoutCopies(
        n=len(pool),
        count=int(copied.sum()),
        left=_correlation(values),
        lost_interval=interval_of(whole - values),
    )


def _copied(pool: RatedPool, one: Trial) -> BoolArray:
    """[n] whether most of a text is in one of another group; of a source where each is alone."""
    groups = one.deal.groups
    if len(np.unique(groups)) == len(pool) and pool.sources:
        groups = np.unique(np.array(pool.sources, dtype=object).astype(str), return_inverse=True)[1]
    return holding(pool.texts, groups)
