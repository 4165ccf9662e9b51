"""The human yardstick: each annotator against the human rating (BLEU Neighbors, section 5.1).

As published, the rating includes the annotator who is compared with it, which flatters people. With
`leave_out` it is the others' ratings only.

An estimator is compared with annotators on equal terms. The mean of k ratings is a better rating
than that of the k - 1 which leave an annotator out: an estimator held against the first beats an
annotator held against the second by that alone. So both are held against the second, annotator by
annotator, each on the texts that this annotator rated.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from refless.data.human import cells_of, human_ratings
from refless.data.records import RatedPool, Ratings
from refless.evaluation.jackknife import (
    WITHOUT_BLOCK,
    WITHOUT_GROUP,
    Replicates,
    error_of,
)
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.stats.correlation import spearman
from refless.stats.intervals import UNDEFINED, Interval, percentile_interval, student
from refless.stats.measures import CORRELATIONS, ERRORS, MEASURES
from refless.stats.resampling import RESAMPLES
from refless.stats.within_group import positions

FEWEST = 10  # texts by which an annotator is judged: of two or three any order comes by chance


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Annotators:
    """All annotators of a pool against its human rating.

    Attributes:
        names: [n] of the annotators, sorted.
        values: [n] of each on the texts that this one rated, by measure; NaN if undefined.
        average: mean over annotators, by measure; undefined correlations are left out.
        best: the best value of any annotator, for each measure by itself.
        n_few: annotators who are none of these, as they rated fewer than `FEWEST` texts.
    """

    names: tuple[str, ...]
    values: dict[str, FloatArray]
    average: dict[str, float]
    best: dict[str, float]
    n_few: int = 0

    @property
    def n(self) -> int:
        """The number of annotators."""
        return len(self.names)


def annotators(pool: RatedPool, *, leave_out: bool = False) -> Annotators | None:
    """The yardstick of a pool, or None where it does not name two annotators who rated.

    Several ratings of one text by one annotator count as their mean. Scores and ratings are exact,
    so that ties stay ties; both are scaled by the pool's scale. Annotators of fewer than `FEWEST`
    texts are left out where two others are left.

    Args:
        pool: the rated texts.
        leave_out: compare each annotator with the rating of the others' ratings, on the texts that
            others rated too; else with the human rating of all, as published.
    """
    everyone = columns_of(pool, leave_out=leave_out)
    if len(everyone) < 2:
        return None
    columns = _enough(everyone)
    values: dict[str, FloatArray] = {}
    average: dict[str, float] = {}
    best: dict[str, float] = {}
    for name in (*ERRORS, *CORRELATIONS):
        of = MEASURES[name].value
        numbers = np.array([of(column.human, column.scores) for column in columns])
        values[name] = numbers
        defined = numbers[~np.isnan(numbers)]
        extreme = defined.min if name in ERRORS else defined.max
        average[name] = float(defined.mean()) if len(defined) else math.nan
        best[name] = float(extreme()) if len(defined) else math.nan
    return Annotators(
        names=tuple(column.name for column in columns),
        values=values,
        average=average,
        best=best,
        n_few=len(everyone) - len(columns),
    )


class Column(NamedTuple):
    """One annotator's texts: their rows in the pool, their human rating, what this one gave."""

    name: str
    rows: IntArray
    human: FloatArray
    scores: FloatArray


def columns_of(pool: RatedPool, *, leave_out: bool) -> list[Column]:
    """The column of each annotator who rated, in the order of names."""
    if len(pool.ratings.annotators) < 2:
        return []
    cells, who, text = cells_of(pool.ratings, len(pool))
    scores = human_ratings(cells, len(who), scale=pool.scale)
    human = _without_own(pool, who, text) if leave_out else pool.human[text]
    starts = np.searchsorted(who, np.arange(len(pool.ratings.annotators) + 1))
    columns = []
    for number, name in enumerate(pool.ratings.annotators):
        cell = np.arange(starts[number], starts[number + 1])
        cell = cell[~np.isnan(human[cell])]
        if len(cell):
            columns.append(Column(name, text[cell], human[cell], scores[cell]))
    return columns


def _without_own(pool: RatedPool, who: IntArray, text: IntArray) -> FloatArray:
    """[cells] rating of each cell's text without its annotator; NaN where nobody else rated it."""
    ratings = pool.ratings
    order = np.argsort(ratings.text, kind="stable")
    counts = np.bincount(ratings.text, minlength=len(pool))
    starts = np.cumsum(counts) - counts
    repeats = counts[text]
    cell = np.repeat(np.arange(len(who)), repeats)
    firsts = np.cumsum(repeats) - repeats
    place = np.arange(len(cell)) - np.repeat(firsts, repeats)
    rating = order[starts[text[cell]] + place]
    foreign = ratings.annotator[rating] != who[cell]
    rated, number = np.unique(cell[foreign], return_inverse=True)
    human = np.full(len(who), np.nan)
    if len(rated):
        values = ratings.values[rating[foreign]]
        regrouped = Ratings(text=number, annotator=np.zeros_like(number), values=values)
        human[rated] = human_ratings(regrouped, len(rated), scale=pool.scale)
    return human


def _enough(columns: list[Column]) -> list[Column]:
    """Those with enough texts; all if fewer than two have."""
    enough = [column for column in columns if len(column.rows) >= FEWEST]
    return enough if len(enough) >= 2 else columns


def over_annotators(values: FloatArray, seed: int = 0) -> Interval:
    """95 % interval of the mean of one number an annotator; undefined ones (NaN) are left out."""
    values = np.sort(values[~np.isnan(values)])
    if len(values) < 2:
        return UNDEFINED
    n = len(values)
    drawn = np.random.default_rng(seed).integers(n, size=(RESAMPLES, n))
    return percentile_interval(values[drawn].mean(axis=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class VersusAnnotators:
    """The average annotator and the estimator against the mean of the other annotators.

    Attributes:
        annotator, estimator: mean Spearman of each over annotators, on this one's texts that have
            an estimate.
        annotator_interval: 95 %, by a bootstrap over annotators; NaN with fewer than three, as each
            of two has the same correlation, that with the other one.
        difference_interval: 95 %, of estimator - annotator: texts and annotators are drawn.
    """

    annotator: float
    annotator_interval: Interval
    estimator: float
    difference_interval: Interval


def versus_annotators(
    pool: RatedPool, method: Replicates, seed: int = 0
) -> VersusAnnotators | None:
    """The comparison, or None if no two annotators rated a text that has an estimate.

    Estimates are ranked within blocks, as everywhere; what ranking among few costs is given back.
    The interval is over texts, whose parts leave estimator and annotators together, and over
    annotators: what annotators differ by beyond the texts that each of them rated.

    Args:
        pool: the rated texts; method: the estimates; seed: of the bootstrap over annotators.
    """
    values = method.at()[WITHOUT_GROUP]
    blocks = method.split.blocks
    columns = _estimated(columns_of(pool, leave_out=True), ~np.isnan(values))
    if len(columns) < 2:
        return None

    def spearman_of(estimates: FloatArray) -> FloatArray:
        ranked, factor = _ranked(estimates[WITHOUT_BLOCK], blocks)
        pairs = np.array([_both(column, ranked) for column in columns])
        return np.stack([pairs[:, 0], np.clip(factor * pairs[:, 1], -1.0, 1.0)], axis=1)

    table = method.table(spearman_of)
    spearman = table[0, 0]
    both = spearman[~np.isnan(spearman).any(axis=1)]
    average = both.mean(axis=0) if len(both) else np.full(2, np.nan)
    annotator_interval = UNDEFINED
    if len(both) > 2:
        annotator_interval = over_annotators(both[:, 0], seed)
    return VersusAnnotators(
        annotator=float(average[0]),
        annotator_interval=annotator_interval,
        estimator=float(average[1]),
        difference_interval=_gap_interval(table[..., 1] - table[..., 0]),
    )


def _estimated(columns: list[Column], scored: BoolArray) -> list[Column]:
    """The columns of annotators with enough texts that have an estimate."""
    estimated = []
    for name, rows, human, scores in columns:
        mask = scored[rows]
        if mask.sum() >= 2:
            estimated.append(Column(name, rows[mask], human[mask], scores[mask]))
    return _enough(estimated)


def _ranked(column: FloatArray, blocks: IntArray) -> tuple[FloatArray, float]:
    """[n] places within blocks, and what a correlation with them has to be multiplied by.

    A place among m is nearer to chance than one among all: it correlates with that by the root of
    (m - 1) / (m + 1).
    """
    rows = np.flatnonzero(~np.isnan(column))
    places = np.full(len(column), np.nan)
    places[rows] = positions(column[rows], blocks[rows])
    m = len(rows) / max(len(np.unique(blocks[rows])), 1)
    return places, math.sqrt((m + 1) / (m - 1)) if m > 1 else math.nan


def _both(column: Column, ranked: FloatArray) -> tuple[float, float]:
    """Spearman of an annotator and of estimates with the others' mean, on this one's texts."""
    values = ranked[column.rows]
    rows = np.flatnonzero(~np.isnan(values))
    human = column.human[rows]
    return spearman(human, column.scores[rows]), spearman(human, values[rows])


def _gap_interval(gaps: FloatArray) -> Interval:
    """95 % interval of the mean gap, from [2, 1 + parts, annotators]."""
    gaps = gaps[..., ~np.isnan(gaps[0, 0])]
    n = gaps.shape[2]
    if not n:
        return UNDEFINED
    defined = ~np.isnan(gaps)
    sums = np.where(defined, gaps, 0.0).sum(axis=2)
    means = sums / np.maximum(defined.sum(axis=2), 1)
    errors = np.array([error_of(gaps[..., i]) for i in range(n)])
    of_texts = float(np.square(errors[~np.isnan(errors)]).sum()) / n
    between = float(gaps[0, 0].var(ddof=1)) - of_texts if n > 1 else 0.0
    variance = error_of(means) ** 2 + max(between, 0.0) / n
    half = student(gaps.shape[1] - 2) * math.sqrt(variance)
    mean = float(means[0, 0])
    return max(mean - half, -2.0), min(mean + half, 2.0)
