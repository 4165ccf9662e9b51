"""Each rater beside the others, and the texts that raters dispute."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from refless.data.design import Design
from refless.data.human import unscaled
from refless.data.records import RatedPool
from refless.evaluation.annotators import columns_of
from refless.registry.arrays import BoolArray, FloatArray
from refless.stats.answers import Estimate
from refless.stats.contrast import mean_of
from refless.stats.left_out import correlated
from refless.stats.verdicts import proportion

FAR = 0.5  # of the scale: ratings of one text that lie so far apart dispute it
FEWEST_APART = 6  # texts: that one of two is higher on all of them, luck gives in 3 %


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterProfile:
    """One rater beside the mean of the others, on the texts that both rated.

    Attributes:
        name: of the rater; n: texts.
        bias: mean rating less that of the others, in the raters' units.
        spearman: correlation with the mean of the others.
    """

    name: str
    n: int
    bias: Estimate
    spearman: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputedText:
    """A text on which raters are far apart.

    Attributes:
        id, system, item: which one; "" if that is not known.
        ratings: sorted.
    """

    id: str
    system: str
    item: str
    ratings: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Disputes:
    """Texts with two ratings or more on which raters are far apart.

    Attributes:
        least: how far apart the ratings of a disputed text are, at least; NaN if all are equal.
        share: of these texts.
        texts: the disputed ones, those with ratings farthest apart first.
    """

    least: float
    share: Estimate
    texts: tuple[DisputedText, ...]


def rater_profiles(pool: RatedPool, design: Design) -> tuple[RaterProfile, ...]:
    """Each rater beside the others, the strictest first; () if raters are not known."""
    ends = None
    if pool.scale is not None:
        low, high = pool.scale
        ends = (low - high, high - low)
    profiles = []
    for column in columns_of(pool, leave_out=True):
        means = unscaled(column.human, pool.scale)
        ratings = unscaled(column.scores, pool.scale)
        units = design.unit[column.rows]
        n = len(ratings)
        bias = Estimate.of(mean_of(ratings - means, units, scale=ends), n)
        spearman = correlated("spearman", means, ratings, units)
        profiles.append(
            RaterProfile(name=column.name, n=n, bias=bias, spearman=spearman)
        )
    profiles.sort(key=lambda profile: (profile.bias.value, profile.name))
    return tuple(profiles)


def always_higher(pool: RatedPool) -> str:
    """The one of two raters who rates higher wherever they differ; "" if there is none."""
    if len(pool.ratings.annotators) != 2:
        return ""
    for column in columns_of(pool, leave_out=True):
        above = column.scores - column.human
        if above.min() >= 0 and np.count_nonzero(above) >= FEWEST_APART:
            return column.name
    return ""


def disputes(pool: RatedPool, design: Design) -> Disputes:
    """The texts whose lowest and highest rating lie half the scale apart, or more.

    Without a scale its ends are the lowest and the highest rating of all.
    """
    ratings = _ratings_of(pool)
    least = _least_apart(pool)
    sizes = np.array([len(values) for values in ratings])
    several = np.flatnonzero(sizes > 1)
    if not least or not len(several):
        return Disputes(least=math.nan, share=Estimate(), texts=())
    ranges = _ranges(ratings)
    spread = np.array([float(values.var()) for values in ratings])
    disputed = ranges[several] >= least
    rows = several[disputed]
    farthest = rows[np.lexsort((-spread[rows], -ranges[rows]))].tolist()
    return Disputes(
        least=least,
        share=proportion(disputed, design.unit[several]),
        texts=tuple(_disputed(pool, row, ratings[row]) for row in farthest),
    )


def disputed_texts(pool: RatedPool) -> BoolArray:
    """[n] whether the ratings of a text lie as far apart."""
    least = _least_apart(pool)
    return _ranges(_ratings_of(pool)) >= (least or math.inf)


def _least_apart(pool: RatedPool) -> float:
    """The least distance of ratings that dispute a text; 0 if all ratings are equal."""
    values = pool.ratings.values
    low, high = pool.scale or (values.min(), values.max())
    return FAR * float(high - low)


def _ranges(ratings: list[FloatArray]) -> FloatArray:
    """[n] the highest rating of each text less the lowest."""
    return np.array([float(values[-1] - values[0]) for values in ratings])


def _ratings_of(pool: RatedPool) -> list[FloatArray]:
    """[n] the ratings of each text, sorted."""
    ratings = pool.ratings
    order = np.lexsort((ratings.values, ratings.text))
    ends = np.cumsum(np.bincount(ratings.text, minlength=len(pool)))
    return np.split(ratings.values[order], ends[:-1])


def _disputed(pool: RatedPool, row: int, ratings: FloatArray) -> DisputedText:
    return DisputedText(
        id=pool.ids[row] if pool.named else "",
        system=pool.systems[row] if pool.systems else "",
        item=pool.items[row] if pool.items else "",
        ratings=tuple(ratings.tolist()),
    )
