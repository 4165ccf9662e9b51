"""Agreement of raters with each other: Krippendorff's alpha, severity.

Ratings are [raters, texts] with NaN where a rater did not rate a text, unless they are listed.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from refless.registry.arrays import FloatArray, IntArray, codes_of

NAN = float("nan")
Level = Literal["ordinal", "interval"]
MOST_RATERS = 200  # by whom severity is told
LINKED = 1e-9  # of the largest root of the design: less is rounding


def alpha(text: IntArray, values: FloatArray, level: Level = "interval") -> float:
    """Krippendorff's alpha: 1 is agreement, 0 what chance gives (Krippendorff 2011).

    Texts with fewer than two ratings say nothing and are left out. NaN if nothing is left or all
    ratings are equal. Squared differences of all pairs are summed by way of the mean, so the time
    is linear.

    Args:
        text: [m] number of the text of each rating; values: [m] ratings.
    """
    several = np.bincount(text)[text] > 1
    text = codes_of(text[several])
    values = values[several]
    different, code, totals = np.unique(values, return_inverse=True, return_counts=True)
    if len(different) < 2:
        return NAN
    # ordinal: the mean ranks, whose differences are that level's distance
    places = different if level == "interval" else np.cumsum(totals) - totals / 2
    place = places[code]
    sizes = np.bincount(text)
    means = np.bincount(text, place) / sizes
    within = np.bincount(text, np.square(place - means[text]))
    observed = 2 * float((sizes * within / (sizes - 1)).sum())
    n = len(values)
    middle = float((totals * places).sum()) / n
    overall = 2 * n * float((totals * np.square(places - middle)).sum())
    return 1.0 - observed * (n - 1) / overall


def icc(text: IntArray, rater: IntArray, values: FloatArray) -> float:
    """Intraclass correlation ICC(2,1): the share of a single rating's variance that texts explain.

    Texts and raters are random, and severity counts as disagreement (Shrout & Fleiss 1979, case 2).
    Tables may have gaps: variances of raters and of the rest are those of `severity`, and that of
    texts follows from the sum of squares between texts. NaN if ratings do not tell them.

    Args:
        text, rater: [m] numbers; values: [m] ratings, each pair of text and rater once.
    """
    several = np.bincount(text)[text] > 1
    text = codes_of(text[several])
    rater = rater[several]
    values = values[several]
    between = severity(text, rater, values)
    if not between.freedom:
        return NAN
    m = len(values)
    sizes = np.bincount(text)
    means = np.bincount(text, values) / sizes
    middle = float(values.mean())
    squares = float((sizes * np.square(means - middle)).sum())
    n = len(sizes)
    shared = float(np.square(np.bincount(rater)).sum()) / m
    squares -= between.variance * (n - shared) + between.residual * (n - 1)
    counts = m - float(np.square(sizes).sum()) / m
    of_texts = squares / counts if counts > 0 else NAN
    total = of_texts + between.variance + between.residual
    return of_texts / total if total > 0 else NAN


def of_mean(single: float, k: float) -> float:
    """Reliability of the mean of k ratings, by that of a single one (Spearman & Brown 1910)."""
    return k * single / (1 + (k - 1) * single)


@dataclass(frozen=True, slots=True, kw_only=True)
class Severity:
    """The variance of raters' severities; NaN where nothing tells it.

    Attributes:
        variance: of raters' severities, at least 0; square: the same with what chance adds.
        residual: variance of single ratings that neither texts nor raters explain.
        freedom: raters whose severities could be told apart, less one for each part of the design.
    """

    variance: float = NAN
    square: float = NAN
    residual: float = NAN
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
    block = codes_of(block[usable])
    rater = codes_of(rater[usable])
    values = values[usable]
    if not len(values):
        return Severity()
    table = np.zeros((int(block.max()) + 1, int(rater.max()) + 1))
    np.add.at(table, (block, rater), 1)
    # sums in an order of their own
    rows, often = np.unique(table, axis=0, return_counts=True)
    shared = (rows * (often / rows.sum(axis=1))[:, None]).T @ rows
    sizes, vectors = np.linalg.eigh(np.diag(table.sum(axis=0)) - shared)
    linked = sizes > LINKED * max(1.0, float(sizes.max()))
    if not linked.any():
        return Severity()
    off = values - _sums(values, block)[block] / np.bincount(block)[block]
    explained = np.square(vectors.T @ _sums(off, rater))[linked] / sizes[linked]
    freedom = int(linked.sum())
    excess = float(np.square(off).sum() - explained.sum())
    spare = len(values) - len(table)
    residual = excess / (spare - freedom) if spare > freedom else 0.0
    square = float(explained.sum())
    counts = float(sizes[linked].sum())
    return Severity(
        variance=max(0.0, square - freedom * residual) / counts,
        square=square / counts,
        residual=residual,
        freedom=freedom,
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
    """The sum of each group."""
    return np.asarray(np.bincount(groups, values), dtype=np.float64)
