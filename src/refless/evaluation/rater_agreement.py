"""How far the annotators of a pool agree with each other: what any estimator can hope for."""

import math
from dataclasses import dataclass

import numpy as np

from refless.data.human import cells_of, human_ratings
from refless.data.records import RatedPool
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.intervals import UNDEFINED, Interval
from refless.stats.raters import krippendorff, krippendorff_interval

RESAMPLES = 1_000


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RaterAgreement:
    """Agreement among annotators.

    Attributes:
        n_annotators: annotators who rated; 0 where the pool does not name them.
        n: texts with two ratings or more; the others say nothing.
        n_ratings: their ratings, several by one annotator counted as one.
        alpha_ordinal, alpha_interval: Krippendorff's, by level of measurement; the first with its
            95 % interval over texts.
        undefined: why there is no number, or "".
    """

    n_annotators: int
    n: int
    n_ratings: int
    alpha_ordinal: float
    alpha_ordinal_interval: Interval
    alpha_interval: float
    undefined: str


def rater_agreement(
    pool: RatedPool, *, seed: int = 0, resamples: int = RESAMPLES
) -> RaterAgreement:
    """The agreement of a pool's annotators; the order of rows does not matter."""
    ratings = _table(pool)
    n = ratings.shape[1]
    ends, alpha = UNDEFINED, krippendorff(ratings, "interval")
    if n:
        rng = np.random.default_rng(seed)
        ends = krippendorff_interval(ratings, "ordinal", rng=rng, resamples=resamples)
    undefined = "all ratings are equal" if math.isnan(alpha) else ""
    return RaterAgreement(
        n_annotators=len(pool.ratings.annotators),
        n=n,
        n_ratings=int((~np.isnan(ratings)).sum()),
        alpha_ordinal=krippendorff(ratings, "ordinal"),
        alpha_ordinal_interval=ends,
        alpha_interval=alpha,
        undefined=undefined if n else "no text has two ratings",
    )


def _table(pool: RatedPool) -> FloatArray:
    """[ratings, texts] in raters' units with NaN, of texts with two or more, in canonical order."""
    text, values = pool.ratings.text, pool.ratings.values
    if pool.ratings.annotators:
        cells, who, text = cells_of(pool.ratings, len(pool))
        values = human_ratings(cells, len(who))
    several = np.bincount(text, minlength=len(pool))[text] >= 2
    texts, column = np.unique(text[several], return_inverse=True)
    row = _rank_within(text[several], values[several])
    table = np.full((int(row.max(initial=-1)) + 1, len(texts)), np.nan)
    table[row, column] = values[several]
    return table[:, np.lexsort(table[::-1])] if table.size else table


def _rank_within(text: IntArray, values: FloatArray) -> IntArray:
    """[m] place of each rating among those of its text, by size."""
    order = np.lexsort((values, text))
    counts = np.bincount(text)
    place = np.empty(len(text), dtype=np.int64)
    place[order] = np.arange(len(text)) - (np.cumsum(counts) - counts)[text[order]]
    return place
