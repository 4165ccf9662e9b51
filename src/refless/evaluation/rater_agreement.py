"""How far the annotators of a pool agree with each other: what any estimator can hope for."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from refless.data.human import cells_of, human_ratings
from refless.data.records import RatedPool
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.intervals import UNDEFINED, Interval
from refless.stats.raters import Intraclass, Level, intraclass, krippendorff, krippendorff_interval

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
RESAMPLES = 1_000


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RaterAgreement:
    """Agreement among annotators.

    Attributes:
        n_annotators: annotators who rated; 0 where the pool does not name them.
        n: texts with two ratings or more; the others say nothing.
        n_ratings: their ratings, several by one annotator counted as one.
        alpha_nominal, alpha_ordinal, alpha_interval: Krippendorff's, by level of measurement, each
            with its 95 % interval over texts.
        intraclass: Shrout and Fleiss's coefficients; see `stats.raters`.
        undefined: why there is no number, or "".
    """

    n_annotators: int
    n: int
    n_ratings: int
    alpha_nominal: float
    alpha_nominal_interval: Interval
    alpha_ordinal: float
    alpha_ordinal_interval: Interval
    alpha_interval: float
    alpha_interval_interval: Interval
    intraclass: Intraclass
    undefined: str


def rater_agreement(
    pool: RatedPool, *, seed: int = 0, resamples: int = RESAMPLES
) -> RaterAgreement:
    """The agreement of a pool's annotators; the order of rows does not matter."""
    ratings, by_rater = _tables(pool)
    n = ratings.shape[1]
    alphas: dict[str, Any] = {}
    for level in LEVELS:
        alphas[f"alpha_{level}"] = krippendorff(ratings, level)
        alphas[f"alpha_{level}_interval"] = UNDEFINED
        if n:
            rng = np.random.default_rng(seed)
            ends = krippendorff_interval(ratings, level, rng=rng, resamples=resamples)
            alphas[f"alpha_{level}_interval"] = ends
    same_raters = by_rater is not None
    undefined = "all ratings are equal" if math.isnan(alphas["alpha_nominal"]) else ""
    return RaterAgreement(
        n_annotators=len(pool.ratings.annotators),
        n=n,
        n_ratings=int((~np.isnan(ratings)).sum()),
        **alphas,
        intraclass=intraclass(ratings if by_rater is None else by_rater, same_raters=same_raters),
        undefined=undefined if n else "no text has two ratings",
    )


def _tables(pool: RatedPool) -> tuple[FloatArray, FloatArray | None]:
    """[ratings, texts] with NaN, of texts with two ratings or more in canonical order.

    Who gave a rating matters to some intraclass correlations only, and those need full tables: the
    second table has a row for each annotator if all rated all, and is else None. Ratings are in the
    raters' units; unnamed ones are an annotator each.
    """
    named = bool(pool.ratings.annotators)
    text, values = pool.ratings.text, pool.ratings.values
    who = np.arange(len(text))
    if named:
        cells, who, text = cells_of(pool.ratings, len(pool))
        values = human_ratings(cells, len(who))
    several = np.bincount(text, minlength=len(pool))[text] >= 2
    who, text, values = who[several], text[several], values[several]
    slots = _table(_rank_within(text, values), text, values)
    order = np.lexsort(slots[::-1]) if slots.size else np.zeros(0, dtype=np.int64)
    if not named or len(np.unique(who)) * slots.shape[1] != len(values):
        return slots[:, order], None
    return slots[:, order], _table(who, text, values)[:, order]


def _rank_within(text: IntArray, values: FloatArray) -> IntArray:
    """[m] place of each rating among those of its text, by size."""
    order = np.lexsort((values, text))
    counts = np.bincount(text)
    place = np.empty(len(text), dtype=np.int64)
    place[order] = np.arange(len(text)) - (np.cumsum(counts) - counts)[text[order]]
    return place


def _table(row: IntArray, text: IntArray, values: FloatArray) -> FloatArray:
    rows, texts = (np.unique(column, return_inverse=True) for column in (row, text))
    table = np.full((len(rows[0]), len(texts[0])), np.nan)
    table[rows[1], texts[1]] = values
    return table
