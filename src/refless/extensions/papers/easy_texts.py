"""Does an estimator answer the easy questions only? (BLEU Neighbors, section 5.3)."""

import math
from dataclasses import dataclass

import numpy as np

from refless.data.human import cells_of, human_ratings
from refless.data.records import RatedPool
from refless.extensions.papers.bca import bca_interval
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.registry.signature import Signature
from refless.stats.intervals import UNDEFINED, Interval
from refless.stats.resampling import RESAMPLES, weights_of


@dataclass(frozen=True, slots=True, kw_only=True)
class EasyTexts:
    """Annotators' errors on all texts beside those on the texts with an estimate.

    Attributes:
        n_annotators: annotators who rated texts of both kinds.
        n, n_scored: texts, and those with an estimate.
        all_texts: mean over annotators of their MSE on all texts that they rated.
        all_texts_interval: 95 %, over annotators.
        estimated: the same on the texts with an estimate.
        estimated_interval: 95 %.
        difference: estimated minus all_texts; below 0, people find the estimated texts easier.
        difference_interval: 95 %, paired over annotators.
        difference_p: two-sided, of no difference.
        undefined: why there is no number, or "".
        signature: everything that can change these numbers.
    """

    n_annotators: int
    n: int
    n_scored: int
    all_texts: float
    all_texts_interval: Interval
    estimated: float
    estimated_interval: Interval
    difference: float
    difference_interval: Interval
    difference_p: float
    undefined: str
    signature: Signature


def easy_texts(
    pool: RatedPool,
    estimated: BoolArray,
    signature: Signature,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> EasyTexts:
    """Annotators' errors on the texts that have an estimate, against their errors on all.

    The paper names no test; this is a paired bootstrap over the annotators who rated texts with an
    estimate (BCa intervals: they may be few). Were the estimator to answer the easy questions only,
    `difference` would lie clearly below 0.

    Args:
        pool: the rated texts, with named annotators; the human rating includes each, as published.
        estimated: [n] where there is an estimate.
        signature: of what made the estimates.
        seed, resamples: of the bootstrap.
    """
    everywhere, inside, n = _errors(pool, estimated)
    gap = inside - everywhere
    rng = np.random.default_rng(seed)
    order = np.lexsort((everywhere, gap))
    columns = [column[order] for column in (everywhere, inside, gap)]
    intervals, p = [UNDEFINED] * 3, math.nan
    if n > 1:
        weights = np.concatenate([*weights_of(n, resamples=resamples, rng=rng)]) / n
        drawn = [np.asarray((weights * column).sum(axis=1)) for column in columns]
        intervals = [_interval(d, column) for d, column in zip(drawn, columns, strict=True)]
        p = _two_sided(drawn[2])
    means = [float(column.mean()) if n else math.nan for column in columns]
    return EasyTexts(
        n_annotators=n,
        n=len(pool),
        n_scored=int(estimated.sum()),
        all_texts=means[0],
        all_texts_interval=intervals[0],
        estimated=means[1],
        estimated_interval=intervals[1],
        difference=means[2],
        difference_interval=intervals[2],
        difference_p=p,
        undefined=_why(pool, n),
        signature=signature.plus(easy_texts=f"boot-{resamples}", seed=seed),
    )


def _errors(pool: RatedPool, estimated: BoolArray) -> tuple[FloatArray, FloatArray, int]:
    """Each annotator's MSE on all texts and on those with an estimate; how many have both."""
    if not pool.ratings.annotators:
        return np.zeros(0), np.zeros(0), 0
    cells, who, text = cells_of(pool.ratings, len(pool))
    off = np.square(human_ratings(cells, len(who), scale=pool.scale) - pool.human[text])
    order = np.lexsort((off, who))  # sums then do not depend on the order of texts
    who, text, off = who[order], text[order], off[order]
    everywhere, inside = _means(who, off), _means(who[estimated[text]], off[estimated[text]])
    inside = np.concatenate([inside, np.full(max(0, len(everywhere) - len(inside)), np.nan)])
    both = ~np.isnan(everywhere) & ~np.isnan(inside)
    return everywhere[both], inside[both], int(both.sum())


def _means(who: IntArray, off: FloatArray) -> FloatArray:
    counts = np.bincount(who)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.bincount(who, weights=off) / counts)


def _interval(drawn: FloatArray, column: FloatArray) -> Interval:
    n, total = len(column), column.sum()
    return bca_interval(drawn, float(column.mean()), (total - column) / (n - 1))


def _two_sided(drawn: FloatArray) -> float:
    """Twice the smaller share of resampled differences on either side of 0."""
    below, above = int((drawn <= 0).sum()), int((drawn >= 0).sum())
    return min(1.0, 2 * (1 + min(below, above)) / (1 + len(drawn)))


def _why(pool: RatedPool, n: int) -> str:
    if not pool.ratings.annotators:
        return "the ratings do not name their annotators"
    return "" if n > 1 else "fewer than two annotators rated a text with an estimate"
