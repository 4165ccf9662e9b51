"""Agreement of a pool's annotators with each other: the most that any estimator can hope for.

Numbers have intervals in which units are left out in turn, and raters beside them: both were drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from refless.data.design import Design
from refless.data.human import cells_of, human_ratings
from refless.data.records import RatedPool
from refless.evaluation.raters import PARTS
from refless.loops.threads import single_threaded_blas
from refless.registry.arrays import BoolArray, FloatArray, IntArray, numbered
from refless.registry.plural import counted
from refless.report.document import State
from refless.report.result import reaches
from refless.report.wording import UNKNOWN, number, one_rating
from refless.stats.answers import NOTHING_MORE, Estimate, Extra
from refless.stats.left_out import FEWEST, TOO_EVEN, around
from refless.stats.raters import MOST_RATERS, Level, alpha, icc, of_mean
from refless.stats.samples import FEWEST_RATERS

Number = Callable[[BoolArray], float]  # of the ratings that are kept
RELIABLE = 0.8  # Krippendorff's own bars (2004, page 241)
TENTATIVE = 0.667
AGREE: dict[State, str] = {
    "yes": "Raters agree",
    "no": "Raters agree only weakly",
    "open": "Raters may agree",
}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RaterAgreement:
    """Agreement among annotators.

    Attributes:
        n_annotators: annotators who rated; 0 if the pool does not name them.
        n: texts with two ratings or more; the others say nothing.
        n_ratings: their ratings, several by one annotator counted as one.
        k: ratings of such a text, on average.
        alpha_ordinal, alpha_interval: Krippendorff's, by level of measurement.
        icc: ICC(2,1), the reliability of a single rating; needs the names of annotators.
        icc_mean: ICC(2,k), that of the mean of k ratings.
    """

    n_annotators: int
    n: int
    n_ratings: int
    k: float
    alpha_ordinal: Estimate
    alpha_interval: Estimate
    icc: Estimate
    icc_mean: Estimate


@dataclass(frozen=True, slots=True, eq=False)
class _RatedCells:
    """Ratings of texts that have two or more.

    Attributes:
        text, rater: [m] numbers; values: [m] in the raters' units.
        unit: [m] number of what each rating's text was drawn with.
    """

    text: IntArray
    rater: IntArray
    values: FloatArray
    unit: IntArray


def rater_agreement(pool: RatedPool, design: Design | None = None) -> RaterAgreement:
    """The agreement of a pool's annotators.

    Args:
        pool: the rated texts, sorted by content.
        design: what belongs together among them, by default as their columns say.
    """
    design = Design.of(pool) if design is None else design
    cells = _cells(pool, design)
    n = len(np.unique(cells.text))
    k = len(cells.text) / n if n else math.nan
    single = Estimate(n=n, undefined="nobody says who rated")
    if pool.ratings.annotators:
        single = _estimate(cells, partial(_icc, cells), n)
    return RaterAgreement(
        n_annotators=len(pool.ratings.annotators),
        n=n,
        n_ratings=len(cells.text),
        k=k,
        alpha_ordinal=_estimate(cells, partial(_alpha, cells, "ordinal"), n),
        alpha_interval=_estimate(cells, partial(_alpha, cells, "interval"), n),
        icc=single,
        icc_mean=_of_mean(single, k),
    )


def agreement_said(pool: RatedPool, design: Design) -> str:
    """The agreement of the people who rate in a sentence, as cards say it beside other answers."""
    cells = _cells(pool, design)
    n = len(np.unique(cells.text))
    if not n:
        return UNKNOWN.format(one_rating(pool.ratings.annotators))
    estimate = _estimate(cells, partial(_alpha, cells, "ordinal"), n)
    low, high = estimate.interval
    if low != low:
        return UNKNOWN.format(estimate.undefined)
    state = reaches((low, high), TENTATIVE)
    agree = AGREE[state]
    if low <= 0 and state == "open":
        rated = f"several people rated {counted(n, 'text')}"
        return f"Not known yet whether raters agree: {rated}, too few to tell."
    if low <= 0:
        agree = "Raters are not shown to agree better than luck"
    ends = f"{number(low, 2)} to {number(high, 2)}"
    on = f"on {counted(n, 'text')} that several rated"
    alpha = f"alpha {number(estimate.value, 2)} ({ends}) {on}"
    return f"{agree}: {alpha}, where {TENTATIVE:g} is needed."


def _cells(pool: RatedPool, design: Design) -> _RatedCells:
    """The ratings, several of one text by one annotator as one."""
    ratings = pool.ratings
    text = ratings.text
    rater = np.zeros_like(text)
    values = ratings.values
    if ratings.annotators:
        cells, rater, text = cells_of(ratings, len(pool))
        values = human_ratings(cells, len(rater))
    counts = np.bincount(text, minlength=len(pool))
    several = counts[text] > 1
    return _RatedCells(
        text=text[several],
        rater=rater[several],
        values=values[several],
        unit=design.unit[text[several]],
    )


def _icc(cells: _RatedCells, mask: BoolArray) -> float:
    return icc(cells.text[mask], cells.rater[mask], cells.values[mask])


def _alpha(cells: _RatedCells, level: Level, mask: BoolArray) -> float:
    return alpha(cells.text[mask], cells.values[mask], level)


def _estimate(cells: _RatedCells, number: Number, n: int) -> Estimate:
    """A number of the ratings with its 95 % interval."""
    if not n:
        return Estimate(undefined="no text has two ratings")
    with single_threaded_blas():
        value = number(np.ones(len(cells.text), dtype=np.bool_))
        if math.isnan(value):
            return Estimate(value=value, n=n, undefined="all ratings are equal")
        unit = numbered(cells.unit.tolist(), len(cells.unit))
        if abs(value) >= 1 or unit.max() + 1 < FEWEST:
            return Estimate(value=value, n=n, undefined=TOO_EVEN)
        if unit.max() >= 2 * PARTS:
            unit = unit % PARTS
        deviations = _left_out(number, unit)
        if np.isnan(deviations).any():
            return Estimate(value=value, n=n, undefined=TOO_EVEN)
        return around(value, deviations, _of_raters(cells, number), n)


def _left_out(number: Number, part: IntArray) -> FloatArray:
    """[parts] the change if each part is left out, in Fisher's z; NaN if that is undefined."""
    values = np.array([number(part != left_out) for left_out in np.unique(part)])
    values[np.abs(values) >= 1] = math.nan
    moved = np.arctanh(values)
    return np.asarray(moved - moved.mean())


def _of_raters(cells: _RatedCells, number: Number) -> Extra:
    """The variance that raters add beyond that of as large a part of single ratings."""
    count = len(np.unique(cells.rater))
    if count < FEWEST_RATERS:
        return NOTHING_MORE
    rater = numbered(cells.rater.tolist(), len(cells.rater)) % MOST_RATERS
    part = np.arange(len(rater)) % min(PARTS, len(rater))
    added = _variance(_left_out(number, rater)) - _variance(_left_out(number, part))
    if not added > 0:
        return NOTHING_MORE
    return Extra(variance=added, freedom=max(count - 1.5, 1.0))


def _variance(deviations: FloatArray) -> float:
    """The jackknife's variance, from the changes if each part is left out."""
    return (len(deviations) - 1) * float(np.square(deviations).mean())


def _of_mean(single: Estimate, k: float) -> Estimate:
    """The reliability of a mean of k ratings, whose ends are those of a single one."""
    low, high = single.interval
    return Estimate(
        value=of_mean(single.value, k),
        interval=(of_mean(low, k), of_mean(high, k)),
        n=single.n,
        undefined=single.undefined,
    )
