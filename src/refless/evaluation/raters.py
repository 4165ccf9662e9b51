"""Who rated what, and how strict each is: raters as a sample of people."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from refless.data.human import cells_of, human_ratings
from refless.data.records import RatedPool
from refless.evaluation.groups import codes
from refless.loops.threads import single_threaded_blas
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.raters import Severity, severity
from refless.stats.samples import Shares


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Raters:
    """Ratings of texts by raters who are known, each pair of rater and text once.

    Attributes:
        text, rater: [k] numbers; rating: [k] in the raters' units.
    """

    text: IntArray
    rater: IntArray
    rating: FloatArray

    @classmethod
    def of(cls, pool: RatedPool) -> Raters | None:
        """The raters of a pool's texts; None if its ratings do not name them."""
        if not pool.ratings.annotators:
            return None
        cells, rater, text = cells_of(pool.ratings, len(pool))
        return cls(text=text, rater=rater, rating=human_ratings(cells, len(rater)))

    def among(self, rows: IntArray, n: int) -> Raters:
        """The raters of some of n texts, which are numbered anew in the order given."""
        place = np.full(n, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        at = place[self.text]
        kept = np.flatnonzero(at >= 0)
        order = kept[np.lexsort((self.rating[kept], self.rater[kept], at[kept]))]
        return Raters(text=at[order], rater=self.rater[order], rating=self.rating[order])

    def placed(self, place: IntArray) -> Raters:
        """The same with texts numbered by their place among others."""
        return replace(self, text=place[self.text])

    @property
    def shares(self) -> Shares:
        """The part of each rater in the mean rating of each text."""
        return Shares.equal(self.text, self.rater)

    def severity(self, values: FloatArray, blocks: IntArray | None = None) -> Severity:
        """How much higher one rater's values are than another's.

        By texts that raters share, or by larger blocks if these link more of the raters. The latter
        takes the texts of a block as dealt to its raters at random.

        Args:
            values: [k] of each rating; blocks: [k] labels, by default one for all.
        """
        larger = np.zeros(len(values), dtype=np.int64) if blocks is None else blocks
        with single_threaded_blas():
            found = [severity(block, self.rater, values) for block in (self.text, larger)]
        return max(found, key=lambda each: each.freedom)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Votes:
    """Single ratings of texts, whoever gave them.

    Attributes:
        text: [k] numbers; rating: [k] in the raters' units.
    """

    text: IntArray
    rating: FloatArray

    def placed(self, place: IntArray) -> Votes:
        """The same with texts numbered by their place among others."""
        return replace(self, text=place[self.text])

    def passing(self, n: int, bar: float) -> FloatArray:
        """[n] share of each text's single ratings from the bar on; NaN without a rating."""
        counts = np.bincount(self.text, minlength=n)
        passed = np.bincount(self.text, self.rating >= bar, n)
        with np.errstate(invalid="ignore"):
            return np.asarray(passed / counts)


def votes_of(pool: RatedPool, rows: IntArray) -> Votes:
    """The single ratings of some rows of a pool, which are numbered anew in the order given."""
    ratings = pool.ratings.of(rows, len(pool))
    return Votes(text=ratings.text, rating=ratings.values)


def severity_in(pool: RatedPool) -> Severity:
    """How strict a pool's raters are, by texts that they share or by the texts of a system."""
    raters = Raters.of(pool)
    if raters is None:
        return Severity()
    systems = codes(pool.systems or ("",) * len(pool))
    return raters.severity(raters.rating, systems[raters.text])
