"""Assurance: the predictive power of a study that goes on, by more ratings.

A difference as it looks is no difference as it is: what few ratings showed is drawn towards 0 by
what differences usually are (Spiegelhalter, Freedman & Blackburn 1986; O'Hagan, Stevens & Campbell
2005). Powers for the difference as it looks were reached in .54 to .72 where .8 was promised.
"""

import math
from bisect import bisect_left
from collections.abc import Callable

from refless.stats.forecast import Forecast

SURE = 0.8  # chance with which enough ratings show a difference
USUAL = 0.3  # standard deviation of differences of systems, in those of their items' differences


def chance_shown(
    value: float,
    now: float,
    then: float,
    prior: float,
    half_width: float,
    *,
    more: bool,
    bar: float = 0.0,
) -> float:
    """The chance that ratings will show a difference, on either side of a bar.

    Args:
        value: the difference as it looks; now: its variance.
        then: its variance after further ratings, no more than now if `more`.
        prior: variance of differences, around 0.
        half_width: of the interval after further ratings.
        more: whether these ratings come on top of those behind the value, or are all new.
        bar: from which the difference is to differ.
    """
    from scipy.special import ndtr

    shared = prior + (then if more else 0.0)
    mean = value * shared / (prior + now) - bar
    left = prior + then - shared**2 / (prior + now)
    spread = math.sqrt(max(left, 1e-12 * (prior + now)))
    above = float(ndtr((mean - half_width) / spread))
    return above + float(ndtr((-mean - half_width) / spread))


def fewest_shown(
    value: float,
    error: float,
    sizes: range,
    forecast: Callable[[int], Forecast],
    half_width: Callable[[Forecast], float],
    prior: float,
    *,
    more: bool = True,
    bar: float = 0.0,
) -> tuple[int | None, float]:
    """The fewest ratings that should show a difference, and the chance that all show one.

    Args:
        value: the difference as it looks; error: its standard error.
        sizes: numbers of ratings, not empty; forecast: of the interval after so many.
        half_width: of an interval by its forecast.
        prior: variance of differences, around 0.
        more, bar: as of `chance_shown`.

    Returns:
        The first of the sizes with a chance of SURE, None if none has it; the chance of the last.
    """

    def chance(size: int) -> float:
        then = forecast(size)
        half = half_width(then)
        if math.isnan(half):
            return 0.0
        before = error**2
        after = then.error**2
        return chance_shown(value, before, after, prior, half, more=more, bar=bar)

    place = bisect_left(sizes, SURE, key=chance)
    return sizes[place] if place < len(sizes) else None, chance(sizes[-1])
