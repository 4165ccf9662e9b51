"""How far raters agree with each other: Krippendorff's alpha, severity.

Ratings are [raters, texts] with NaN where a rater did not rate a text, unless they are listed.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from refless.registry.arrays import FloatArray, IntArray
from refless.stats.intervals import UNDEFINED, Interval, percentile_interval

NAN = float("nan")
Level = Literal["ordinal", "interval"]
MOST_RATERS = 200  # by whom severity is told
LINKED = 1e-9  # of the largest root of the design: less is rounding


def krippendorff(ratings: FloatArray, level: Level = "interval") -> float:
    """Krippendorff's alpha: 1 is agreement, 0 what chance gives (Krippendorff 2011).

    Texts with fewer than two ratings say nothing and are left out. NaN where nothing is left or
    all ratings are equal.
    """
    paired = _paired(ratings)
    return _alpha(paired, level, np.ones(paired.n))


def krippendorff_interval(
    ratings: FloatArray,
    level: Level = "interval",
    *,
    rng: np.random.Generator,
    resamples: int = 1_000,
) -> Interval:
    """95 % interval of alpha, from resampled texts; sort these canonically first."""
    paired = _paired(ratings)
    if paired.n < 2:
        return UNDEFINED
    n = paired.n
    drawn = (np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(resamples))
    alphas = [_alpha(paired, level, weights.astype(np.float64)) for weights in drawn]
    return percentile_interval(np.array(alphas))


@dataclass(frozen=True, slots=True, kw_only=True)
class Severity:
    """How much higher one rater rates than another; NaN where nothing tells it.

    Attributes:
        variance: of raters' severities, at least 0; square: the same with what chance adds.
        freedom: raters whose severities could be told apart, less one for each part of the design.
    """

    variance: float = NAN
    square: float = NAN
    freedom: int = 0


def severity(block: IntArray, rater: IntArray, values: FloatArray) -> Severity:
    """Variance of raters' severities, from how far they lie apart within blocks.

    Henderson's third method (Searle et al. 1992, chapter 5): the sum of squares of raters beside
    blocks, less what chance adds to it. Of a full table of texts that is the component of raters in
    the analysis of variance. Of many raters the `MOST_RATERS` with most ratings tell it.

    Args:
        block: [m] what was rated alike but for its raters: a text, or the texts of a system.
        rater, values: [m] single ratings.
    """
    busy = np.lexsort((_sums(values, rater), -np.bincount(rater)))[:MOST_RATERS]
    usable = np.isin(rater, busy) & (np.bincount(block)[block] > 1)
    block, rater = (np.unique(labels[usable], return_inverse=True)[1] for labels in (block, rater))
    values = values[usable]
    if not len(values):
        return Severity()
    table = np.zeros((int(block.max()) + 1, int(rater.max()) + 1))
    np.add.at(table, (block, rater), 1)
    rows, often = np.unique(table, axis=0, return_counts=True)  # sums in an order of their own
    shared = (rows * (often / rows.sum(axis=1))[:, None]).T @ rows
    sizes, vectors = np.linalg.eigh(np.diag(table.sum(axis=0)) - shared)
    linked = sizes > LINKED * max(1.0, float(sizes.max()))
    if not linked.any():
        return Severity()
    off = values - _sums(values, block)[block] / np.bincount(block)[block]
    explained = np.square(vectors.T @ _sums(off, rater))[linked] / sizes[linked]
    freedom = int(linked.sum())
    excess = float(np.sort(np.square(off)).sum() - explained.sum())
    spare = len(values) - len(table)
    noise = freedom * excess / (spare - freedom) if spare > freedom else 0.0
    square, counts = float(explained.sum()), float(sizes[linked].sum())
    return Severity(
        variance=max(0.0, square - noise) / counts, square=square / counts, freedom=freedom
    )


def with_severity(
    error: float, freedom: float, strange: float, severity: Severity
) -> tuple[float, float]:
    """A standard error and its degrees of freedom with what raters add, after Satterthwaite.

    Few raters tell their severity so badly that they count as half a degree of freedom less.

    Args:
        error, freedom: as if each unit had raters of its own.
        strange: what severity counts for, in units of its variance.
        severity: with one degree of freedom or more.
    """
    variance = error**2
    of_raters = strange * severity.square
    spare = max(severity.freedom - 0.5, 1.0)
    below = variance**2 / freedom + of_raters**2 / spare
    variance += strange * severity.variance
    if below > 0:
        freedom = max(variance**2 / below, min(freedom, spare))
    return math.sqrt(variance), freedom


def _sums(values: FloatArray, groups: IntArray) -> FloatArray:
    """The sum of each group, in no order."""
    order = np.lexsort((values, groups))
    return np.asarray(np.bincount(groups[order], values[order]), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Paired:
    """The ratings of the texts that have two or more, as [m] text and value by its number.

    Attributes:
        n: texts; values: [k] different ratings, ascending.
    """

    n: int
    text: IntArray
    code: IntArray
    values: FloatArray

    def sums(self, of_ratings: FloatArray) -> FloatArray:
        """[n] a number of each rating, summed over each text's."""
        return np.asarray(np.bincount(self.text, of_ratings, self.n), dtype=np.float64)


def _paired(ratings: FloatArray) -> _Paired:
    defined = ~np.isnan(ratings)
    paired = defined.sum(axis=0) >= 2
    text, rater = np.nonzero(defined[:, paired].T)
    values, code = np.unique(ratings[:, paired][rater, text], return_inverse=True)
    return _Paired(int(paired.sum()), text, code, values)


def _alpha(paired: _Paired, level: Level, weights: FloatArray) -> float:
    """One minus observed over expected disagreement, each text standing `weights` times.

    Squared differences of all pairs are summed by way of the mean, so the time is linear.
    """
    sizes = paired.sums(np.ones(len(paired.text)))
    totals = np.bincount(paired.code, weights[paired.text], len(paired.values))
    n = float(totals.sum())
    if np.count_nonzero(totals) < 2:
        return NAN
    # ordinal: the mean ranks, whose differences are that level's distance
    places = paired.values if level == "interval" else np.cumsum(totals) - totals / 2
    given = places[paired.code]
    off = np.square(given - (paired.sums(given) / sizes)[paired.text])
    inside = 2 * sizes * paired.sums(off)
    middle = float((totals * places).sum()) / n
    overall = 2 * n * float((totals * np.square(places - middle)).sum())
    observed = float((weights * inside / (sizes - 1)).sum())
    return 1.0 - observed * (n - 1) / overall
