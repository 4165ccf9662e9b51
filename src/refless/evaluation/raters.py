"""Raters as a sample of people: their texts, and how strict each is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from refless.data.human import cells_of, human_ratings
from refless.data.records import RatedPool
from refless.loops.threads import single_threaded_blas
from refless.registry.arrays import FloatArray, IntArray, codes, codes_of, places_of
from refless.stats.answers import NOTHING_MORE, Estimate, Extra
from refless.stats.left_out import COEFFICIENTS, correlated
from refless.stats.raters import MOST_RATERS, Severity, severity
from refless.stats.samples import FEWEST_RATERS, Shares

PARTS = 50  # of single ratings, that are left out in turn


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Raters:
    """Ratings of texts by raters who are known, each pair of rater and text once.

    Attributes:
        text, rater: [k] numbers; rating: [k] in the raters' units.
        names: of the raters, by number, where they are asked for.
    """

    text: IntArray
    rater: IntArray
    rating: FloatArray
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, pool: RatedPool) -> Raters | None:
        """The raters of a pool's texts; None if its ratings do not name them."""
        if not pool.ratings.annotators:
            return None
        cells, rater, text = cells_of(pool.ratings, len(pool))
        rating = human_ratings(cells, len(rater))
        return cls(text=text, rater=rater, rating=rating, names=pool.ratings.annotators)

    def among(self, rows: IntArray, n: int) -> Raters:
        """The raters of some of n texts, which are numbered anew in the order given."""
        at = places_of(rows, n)[self.text]
        kept = at >= 0
        return Raters(text=at[kept], rater=self.rater[kept], rating=self.rating[kept])

    @property
    def shares(self) -> Shares:
        """The part of each rater in the mean rating of each text."""
        return Shares.equal(self.text, self.rater)

    def severity(self, values: FloatArray, blocks: IntArray | None = None) -> Severity:
        """The variance of raters' severities.

        By texts that raters share, or by larger blocks if these link more of the raters. The latter
        takes the texts of a block as dealt to its raters at random.

        Args:
            values: [k] of each rating; blocks: [k] labels, by default one for all.
        """
        larger = np.zeros(len(values), dtype=np.int64) if blocks is None else blocks
        with single_threaded_blas():
            by_text = severity(self.text, self.rater, values)
            by_block = severity(larger, self.rater, values)
        return by_block if by_block.freedom > by_text.freedom else by_text


def extra_of(
    raters: Raters | None,
    judge: FloatArray,
    number: Callable[[FloatArray, FloatArray], float],
) -> Extra:
    """The variance that raters add to a number that is no mean, beyond what units know.

    The number is computed again without each rater (the jackknife); what it scatters then, beyond
    what as large a part of single ratings does that are left out whoever gave them, is the raters'.

    Args:
        raters: with ratings as the number reads them; None, or fewer than four, add nothing.
        judge: [n] scores.
        number: of the mean ratings [k] of rows and their scores, on a scale on which it is normal.
    """
    if raters is None:
        return NOTHING_MORE
    rater = _by_content(raters) % MOST_RATERS
    count = int(rater.max(initial=-1)) + 1
    if count < FEWEST_RATERS or np.bincount(raters.rater).max() < 2:
        return NOTHING_MORE
    order = np.lexsort((raters.rating, judge[raters.text]))  # whoever rated
    part = np.empty(len(rater), dtype=np.int64)
    part[order] = np.arange(len(rater)) % min(PARTS, len(rater))
    variance = _left_out(raters, judge, number, rater)
    variance -= _left_out(raters, judge, number, part)
    if not variance > 0:
        return NOTHING_MORE
    return Extra(variance=variance, freedom=max(count - 1.5, 1.0))


def _by_content(raters: Raters) -> IntArray:
    """[k] number of each rating's rater, by how many ratings there are of whom, and their sum."""
    rater = codes_of(raters.rater)
    sums = np.bincount(rater, raters.rating)
    place = np.empty(len(sums), dtype=np.int64)
    place[np.lexsort((sums, np.bincount(rater)))] = np.arange(len(sums))
    return place[rater]


def rated_coefficient(
    name: str,
    human: FloatArray,
    judge: FloatArray,
    unit: IntArray | None,
    raters: Raters | None,
) -> Estimate:
    """A coefficient of scores and ratings, with units and raters as what was drawn.

    Args:
        name: one of COEFFICIENTS; human, judge: [n]; unit: [n] what was drawn as a whole.
        raters: who gave the ratings, None if that is not known.
    """
    value_of = COEFFICIENTS[name].value

    def number(human: FloatArray, judge: FloatArray) -> float:
        value = value_of(human, judge)
        return math.atanh(value) if abs(value) < 1 else math.nan

    return correlated(name, human, judge, unit, extra_of(raters, judge, number))


def _left_out(
    raters: Raters,
    judge: FloatArray,
    number: Callable[[FloatArray, FloatArray], float],
    part: IntArray,
) -> float:
    """The jackknife's variance of a number without each part of the ratings; NaN if undefined."""
    n = len(judge)
    values = []
    for left_out in np.unique(part):
        inside = part != left_out
        text = raters.text[inside]
        counts = np.bincount(text, minlength=n)
        sums = np.bincount(text, raters.rating[inside], n)
        rows = np.flatnonzero(counts)
        values.append(number(sums[rows] / counts[rows], judge[rows]))
    scatter = np.array(values)
    return (len(scatter) - 1) * float(scatter.var())


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Votes:
    """Single ratings of texts, whoever gave them.

    Attributes:
        text: [k] numbers; rating: [k] in the raters' units.
    """

    text: IntArray
    rating: FloatArray

    def passing(self, n: int, bar: float) -> FloatArray:
        """[n] share of each text's single ratings from the bar on; NaN without a rating."""
        counts = np.bincount(self.text, minlength=n)
        passed = np.bincount(self.text, self.rating >= bar, n)
        with np.errstate(invalid="ignore"):
            return passed / counts


def votes_of(pool: RatedPool, rows: IntArray) -> Votes:
    """The single ratings of some rows of a pool, which are numbered anew in the order given."""
    ratings = pool.ratings.of(rows, len(pool))
    return Votes(text=ratings.text, rating=ratings.values)


def severity_in(pool: RatedPool) -> Severity:
    """The severity of a pool's raters, by texts that they share or by the texts of a system."""
    raters = Raters.of(pool)
    if raters is None:
        return Severity()
    systems = codes(pool.systems or ("",) * len(pool))
    return raters.severity(raters.rating, systems[raters.text])
