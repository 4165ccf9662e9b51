"""An estimator beside single annotators, on equal terms: both against the mean of the others.

The mean of k ratings is a better rating than that of the k - 1 which leave an annotator out. An
estimator held against the first beats an annotator held against the second by that alone, so here
both are held against the second, annotator by annotator, each on the texts that this one rated.
"""

import math
from dataclasses import dataclass

import numpy as np

from refless.data.records import RatedPool
from refless.evaluation.annotators import FEWEST, Column, columns_of
from refless.evaluation.jackknife import Trial, error_of
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.stats.intervals import UNDEFINED, Interval, student
from refless.stats.ties import settled
from refless.stats.within_group import positions


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BesideAnnotators:
    """Annotators and the estimator against the mean of the other annotators.

    Attributes:
        spearman, mse: [annotators, 2] the annotator's and the estimator's, on the annotator's
            texts that have an estimate; NaN where undefined.
        annotator, estimator: mean Spearman of each, over annotators with both.
        difference_interval: 95 %, of estimator - annotator: texts and annotators are drawn.
    """

    spearman: FloatArray
    mse: FloatArray
    annotator: float
    estimator: float
    difference_interval: Interval


def beside_annotators(pool: RatedPool, one: Trial) -> BesideAnnotators | None:
    """The comparison, or None where no two annotators rated a text that has an estimate.

    Estimates are ranked within blocks, as everywhere; what ranking among few costs is given back.
    The interval is over texts, whose parts leave estimator and annotators together, and over
    annotators: what annotators differ by beyond the texts that each of them rated.

    Args:
        pool: the rated texts; one: the estimator.
    """
    used = _used(pool, ~np.isnan(one.at().alone))
    if len(used) < 2:
        return None
    rows = np.concatenate([column.rows for column in used])
    who = np.repeat(np.arange(len(used)), [len(column.rows) for column in used])
    human = np.concatenate([column.human for column in used])
    scores = np.concatenate([column.scores for column in used])

    def compared(part: int, anew: bool) -> FloatArray:
        apart = one.at(part, anew).apart
        ranked, factor = _ranked(apart, one.deal.blocks)
        known = ~np.isnan(apart[rows])
        both = [scores[known], ranked[rows][known]]
        found = [_spearman_by(who[known], human[known], other, len(used)) for other in both]
        return np.stack([found[0], np.clip(factor * found[1], -1.0, 1.0)], axis=1)

    spearman = compared(0, False)  # noqa: FBT003
    parts = range(one.deal.parts + 1)
    every = np.array([[compared(part, anew) for part in parts] for anew in (False, True)])
    average = _averages(spearman)
    errors = [np.square(human - other) for other in (scores, one.at().alone[rows])]
    order = np.lexsort((*errors, who))  # sums do not depend on the order of rows
    counts = np.bincount(who)
    mse = np.stack([np.bincount(who[order], error[order]) / counts for error in errors], axis=1)
    return BesideAnnotators(
        spearman=spearman,
        mse=mse,
        annotator=float(average[0]),
        estimator=float(average[1]),
        difference_interval=_interval(every[..., 1] - every[..., 0]),
    )


def _used(pool: RatedPool, scored: BoolArray) -> list[Column]:
    """The columns of annotators with enough texts that have an estimate."""
    several = []
    for column in columns_of(pool, leave_out=True):
        kept = scored[column.rows]
        if kept.sum() >= 2:
            rows, human, scores = column.rows, column.human, column.scores
            several.append(Column(column.name, rows[kept], human[kept], scores[kept]))
    enough = [column for column in several if len(column.rows) >= FEWEST]
    return enough if len(enough) >= 2 else several


def _ranked(column: FloatArray, blocks: IntArray) -> tuple[FloatArray, float]:
    """[n] places within blocks, and what a correlation with them has to be multiplied by.

    A place among m is nearer to chance than one among all: it correlates with that by the root of
    (m - 1) / (m + 1).
    """
    known = ~np.isnan(column)
    found = np.full(len(column), np.nan)
    found[known] = positions(column[known], blocks[known])
    m = known.sum() / max(len(np.unique(blocks[known])), 1)
    return found, math.sqrt((m + 1) / (m - 1)) if m > 1 else math.nan


def _spearman_by(who: IntArray, x: FloatArray, y: FloatArray, count: int) -> FloatArray:
    """[count] Spearman of the rows of each; NaN where it is undefined."""
    a, b = _ranks_by(who, settled(x), count), _ranks_by(who, settled(y), count)
    order = np.lexsort((a, b, who))
    who, a, b = who[order], a[order], b[order]
    sums = [np.bincount(who, product, count) for product in (a * b, a * a, b * b)]
    with np.errstate(invalid="ignore", divide="ignore"):
        below = np.sqrt(sums[1] * sums[2])
        return np.where(below > 0, sums[0] / below, np.nan)


def _ranks_by(who: IntArray, values: FloatArray, count: int) -> FloatArray:
    """[rows] mid-rank of each among those of its own, less their mean; whole numbers and halves."""
    order = np.lexsort((values, who))
    codes = np.empty(len(who), dtype=np.int64)
    changes = (np.diff(values[order]) != 0) | (np.diff(who[order]) != 0)
    codes[order] = np.concatenate([[0], np.cumsum(changes)])[: len(who)]
    sizes = np.bincount(codes)
    middle = np.cumsum(sizes) - (sizes - 1) / 2
    of_each = np.bincount(who, minlength=count)
    starts = np.cumsum(of_each) - of_each
    return np.asarray(middle[codes] - starts[who] - (of_each[who] + 1) / 2)


def _averages(spearman: FloatArray) -> FloatArray:
    """[2] means over the annotators for which both are defined; NaN without any."""
    both = spearman[~np.isnan(spearman).any(axis=1)]
    return np.asarray(both.mean(axis=0)) if len(both) else np.full(2, np.nan)


def _interval(gaps: FloatArray) -> Interval:
    """95 % interval of the mean gap, from [2, 1 + parts, annotators]."""
    known = ~np.isnan(gaps[0, 0])
    if not known.any():
        return UNDEFINED
    gaps = gaps[..., known]
    own = gaps[0, 0]
    left = ~np.isnan(gaps)
    means = np.where(left, gaps, 0.0).sum(axis=2) / np.maximum(left.sum(axis=2), 1)
    errors = np.array([error_of(gaps[..., i]) for i in range(len(own))])
    drawn = float(np.square(errors[~np.isnan(errors)]).sum()) / len(own)  # of texts, in `between`
    between = float(own.var(ddof=1)) - drawn if len(own) > 1 else 0.0
    error = math.sqrt(error_of(means) ** 2 + max(between, 0.0) / len(own))
    half = student(gaps.shape[1] - 2) * error
    return max(float(means[0, 0]) - half, -2.0), min(float(means[0, 0]) + half, 2.0)
