"""The human yardstick: each annotator against the human rating (BLEU Neighbors, section 5.1).

As published, the rating includes the annotator who is compared with it, which flatters people. With
`leave_out` it is the others' ratings only, which is how an estimator is compared with them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from refless.data.human import human_ratings
from refless.data.records import RatedPool, Ratings
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.intervals import UNDEFINED, Interval, percentile_interval
from refless.stats.measures import MEASURES
from refless.stats.resampling import RESAMPLES

ERRORS = ("mse", "mae")  # the lowest is best
CORRELATIONS = ("pearson", "spearman", "kendall")  # the highest is best
FEWEST = 10  # texts by which an annotator is judged: of two or three any order comes by chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotator:
    """One annotator against the human rating of the n texts that this one rated."""

    name: str
    n: int
    mse: float
    mae: float
    pearson: float
    spearman: float
    kendall: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Annotators:
    """All annotators of a pool against its human rating.

    Attributes:
        n: number of annotators.
        average: mean over annotators, by measure; undefined correlations are left out.
        best: the best value of any annotator, for each measure by itself.
        n_undefined: annotators whose Spearman is undefined.
        spearman_undefined_as_zero: average Spearman with these counted as 0.
        per_annotator: [n] in the order of their names.
        left_out: whether each was compared with the ratings of the others only.
        n_few: annotators who are none of these, as they rated fewer than `FEWEST` texts.
    """

    n: int
    average: dict[str, float]
    best: dict[str, float]
    n_undefined: int
    spearman_undefined_as_zero: float
    per_annotator: tuple[Annotator, ...]
    left_out: bool = False
    n_few: int = 0


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
    if len(pool.ratings.annotators) < 2:
        return None
    everyone = tuple(_annotator(column) for column in columns_of(pool, leave_out=leave_out))
    if len(everyone) < 2:
        return None
    known = tuple(one for one in everyone if one.n >= FEWEST)
    each = known if len(known) >= 2 else everyone
    columns = {name: _column(each, name) for name in (*ERRORS, *CORRELATIONS)}
    defined = {name: column[~np.isnan(column)] for name, column in columns.items()}
    return Annotators(
        n=len(each),
        average={name: _mean(column) for name, column in defined.items()},
        best={name: _best(name, column) for name, column in defined.items()},
        n_undefined=len(each) - len(defined["spearman"]),
        spearman_undefined_as_zero=float(defined["spearman"].sum()) / len(each),
        per_annotator=each,
        left_out=leave_out,
        n_few=len(everyone) - len(each),
    )


class Column(NamedTuple):
    """One annotator's texts: their rows in the pool, their human rating, what this one gave."""

    name: str
    rows: IntArray
    human: FloatArray
    scores: FloatArray


def columns_of(pool: RatedPool, *, leave_out: bool) -> Iterator[Column]:
    """The column of each annotator who rated, in the order of names."""
    cells, who, text = cells_of(pool.ratings, len(pool))
    scores = human_ratings(cells, len(who), scale=pool.scale)
    human = _without_own(pool, who, text) if leave_out else pool.human[text]
    starts = np.searchsorted(who, np.arange(len(pool.ratings.annotators) + 1))
    for number, name in enumerate(pool.ratings.annotators):
        rated = slice(starts[number], starts[number + 1])
        known = ~np.isnan(human[rated])
        if known.any():
            yield Column(name, text[rated][known], human[rated][known], scores[rated][known])


def _without_own(pool: RatedPool, who: IntArray, text: IntArray) -> FloatArray:
    """[cells] rating of each cell's text without its annotator; NaN where nobody else rated it."""
    ratings = pool.ratings
    order = np.argsort(ratings.text, kind="stable")
    counts = np.bincount(ratings.text, minlength=len(pool))
    starts = np.cumsum(counts) - counts
    cell = np.repeat(np.arange(len(who)), counts[text])
    place = np.arange(len(cell)) - np.repeat(np.cumsum(counts[text]) - counts[text], counts[text])
    rating = order[starts[text[cell]] + place]
    others = ratings.annotator[rating] != who[cell]
    left, number = np.unique(cell[others], return_inverse=True)
    human = np.full(len(who), np.nan)
    if len(left):
        mine = Ratings(
            text=number, annotator=np.zeros_like(number), values=ratings.values[rating[others]]
        )
        human[left] = human_ratings(mine, len(left), scale=pool.scale, aggregate=pool.aggregate)
    return human


def cells_of(ratings: Ratings, n: int) -> tuple[Ratings, IntArray, IntArray]:
    """Ratings regrouped so that each pair of annotator and text is one; who and which, sorted."""
    pair = ratings.annotator * n + ratings.text
    pairs, cell = np.unique(pair, return_inverse=True)
    regrouped = Ratings(text=cell, annotator=ratings.annotator, values=ratings.values)
    return regrouped, pairs // n, pairs % n


def _annotator(column: Column) -> Annotator:
    who, _, human, scores = column
    order = np.lexsort((scores, human))  # sums then do not depend on the order of texts
    human, scores = human[order], scores[order]
    return Annotator(
        name=who,
        n=len(human),
        **{name: MEASURES[name].value(human, scores) for name in (*ERRORS, *CORRELATIONS)},
    )


def annotator_interval(people: Annotators | None, measure: str, seed: int = 0) -> Interval:
    """95 % interval of the average annotator's measure: a bootstrap over annotators."""
    if people is None:
        return UNDEFINED
    return over_annotators(_column(people.per_annotator, measure), seed)


def over_annotators(values: FloatArray, seed: int = 0) -> Interval:
    """95 % interval of the mean of one number an annotator; undefined ones (NaN) are left out."""
    values = np.sort(values[~np.isnan(values)])
    if len(values) < 2:
        return UNDEFINED
    drawn = np.random.default_rng(seed).integers(len(values), size=(RESAMPLES, len(values)))
    return percentile_interval(values[drawn].mean(axis=1))


def _column(each: tuple[Annotator, ...], name: str) -> FloatArray:
    return np.array([getattr(one, name) for one in each], dtype=np.float64)


def _mean(column: FloatArray) -> float:
    return float(column.mean()) if len(column) else float("nan")


def _best(name: str, column: FloatArray) -> float:
    if len(column) == 0:
        return float("nan")
    return float(column.min() if name in ERRORS else column.max())
