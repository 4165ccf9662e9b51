"""How far raters agree with each other: Krippendorff's alpha and intraclass correlations.

Ratings are [raters, texts] with NaN where a rater did not rate a text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from refless.records import FloatArray
from refless.stats.intervals import UNDEFINED, Interval, percentile_interval

NAN = float("nan")
Level = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Intraclass:
    """Intraclass correlations of Shrout and Fleiss (1979); NaN where undefined.

    Attributes:
        single_1, single_2, single_3: ICC(1,1), ICC(2,1), ICC(3,1): of one rater.
        mean_1, mean_2, mean_3: ICC(1,k), ICC(2,k), ICC(3,k): of the mean of k raters.
        k: raters a text; their effective number where it varies (then the first form only).
    """

    single_1: float = NAN
    single_2: float = NAN
    single_3: float = NAN
    mean_1: float = NAN
    mean_2: float = NAN
    mean_3: float = NAN
    k: float = NAN


def krippendorff(ratings: FloatArray, level: Level = "interval") -> float:
    """Krippendorff's alpha: 1 is agreement, 0 what chance gives (Krippendorff 2011).

    Texts with fewer than two ratings say nothing and are left out. NaN where nothing is left or
    all ratings are equal.
    """
    counts, values = _counts(ratings)
    return _alpha(counts, values, level, np.ones(len(counts)))


def krippendorff_interval(
    ratings: FloatArray,
    level: Level = "interval",
    *,
    rng: np.random.Generator,
    resamples: int = 1_000,
) -> Interval:
    """95 % interval of alpha, from resampled texts; sort these canonically first."""
    counts, values = _counts(ratings)
    if len(counts) < 2:
        return UNDEFINED
    n = len(counts)
    drawn = (np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(resamples))
    alphas = [_alpha(counts, values, level, weights.astype(np.float64)) for weights in drawn]
    return percentile_interval(np.array(alphas))


def intraclass(ratings: FloatArray, *, same_raters: bool = True) -> Intraclass:
    """Intraclass correlations, from the mean squares of an analysis of variance.

    Where not every rater rated every text, only the one-way form is defined, with the effective
    number of raters of an unbalanced design.

    Args:
        ratings: [raters, texts] with NaN.
        same_raters: whether a row is one rater throughout; else it is the one-way form only.
    """
    known = ~np.isnan(ratings)
    used = known.any(axis=0)
    ratings, known = ratings[:, used], known[:, used]
    k = known.sum(axis=0)
    n, total = len(k), int(k.sum())
    if n < 2 or total - n < 1:
        return Intraclass()
    filled = np.where(known, ratings, 0.0)
    means = filled.sum(axis=0) / k
    grand = filled.sum() / total
    between = float((k * np.square(means - grand)).sum()) / (n - 1)
    inside = float((np.square(filled - means) * known).sum())
    each = (total - float(np.square(k).sum()) / total) / (n - 1)
    within = inside / (total - n)
    above = between - within
    one = (_share(above, between + (each - 1) * within), _share(above, between))
    two, three = (NAN, NAN), (NAN, NAN)
    if same_raters and known.all() and len(ratings) > 1:
        two, three = _two_way(ratings, between, inside)
    return Intraclass(
        single_1=one[0],
        single_2=two[0],
        single_3=three[0],
        mean_1=one[1],
        mean_2=two[1],
        mean_3=three[1],
        k=each,
    )


def _two_way(
    ratings: FloatArray, between: float, inside: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """ICC(2,1) and (2,k), ICC(3,1) and (3,k) of a full table."""
    k, n = ratings.shape
    of_raters = n * float(np.square(ratings.mean(axis=1) - ratings.mean()).sum())
    raters = of_raters / (k - 1)
    error = (inside - of_raters) / ((k - 1) * (n - 1))
    above = between - error
    two = (
        _share(above, between + (k - 1) * error + k * (raters - error) / n),
        _share(above, between + (raters - error) / n),
    )
    return two, (_share(above, between + (k - 1) * error), _share(above, between))


def _share(above: float, below: float) -> float:
    return above / below if below > 0 else NAN


def _counts(ratings: FloatArray) -> tuple[FloatArray, FloatArray]:
    """[texts, values] how often each value was given to each text that has two or more ratings."""
    known = ~np.isnan(ratings)
    paired = known.sum(axis=0) >= 2
    kept, known = ratings[:, paired], known[:, paired]
    values, codes = np.unique(kept[known], return_inverse=True)
    counts = np.zeros((kept.shape[1], len(values)))
    np.add.at(counts, (np.nonzero(known)[1], codes), 1.0)
    return counts, values


def _alpha(counts: FloatArray, values: FloatArray, level: Level, weights: FloatArray) -> float:
    """Alpha out of the coincidences of values, each text standing `weights` times."""
    if not len(counts):
        return NAN
    scaled = counts * (weights / (counts.sum(axis=1) - 1))[:, None]
    coincidences = scaled.T @ counts - np.diag(scaled.sum(axis=0))
    totals = coincidences.sum(axis=1)
    n = totals.sum()
    apart = _apart(values, totals, level)
    expected = float((np.outer(totals, totals) * apart).sum())
    if not expected > 0:
        return NAN
    return 1.0 - float((coincidences * apart).sum()) * float(n - 1) / expected


def _apart(values: FloatArray, totals: FloatArray, level: Level) -> FloatArray:
    """[values, values] squared distance of two ratings."""
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    if level == "interval":
        return np.asarray(np.square(values[:, None] - values))
    middle = np.cumsum(totals) - totals / 2  # ranks; their differences are the ordinal distance
    return np.asarray(np.square(middle[:, None] - middle))
