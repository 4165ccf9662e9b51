"""What more ratings should show: the predictive power of a study that goes on (assurance).

A difference as it looks is no difference as it is: what few ratings showed is drawn towards 0 by
what differences usually are (Spiegelhalter, Freedman & Blackburn 1986; O'Hagan, Stevens & Campbell
2005). Powers for the difference as it looks were reached in .54 to .72 where .8 was promised.
"""

from typing import TypeVar

import numpy as np

from refless.registry.arrays import FloatArray
from refless.stats.intervals import LEVEL

SURE = 0.8  # chance with which enough ratings show a difference
N = TypeVar("N", float, FloatArray)
USUAL = 0.3  # standard deviation of differences of systems, in those of their items' differences


def variance_after(n: N, every: int, left: float, whole: float) -> N:
    """Variance of a mean, or a difference, by ratings of n units out of so many.

    That of the units that are not rated, and that all units are a sample themselves (Zrnic and
    Candes 2024, section 2).

    Args:
        n: a number of units, or an array of them.
        every: units that there are, rated or not.
        left: variance of what estimates miss of a unit; whole: of units, 0 if these are all.
    """
    return (1 - n / every) * left / n + whole / every


def chance_shown(
    value: float,
    now: float,
    then: FloatArray,
    prior: float,
    freedom: FloatArray,
    *,
    more: bool,
    wide: float = 1.0,
) -> FloatArray:
    """[k] chance that ratings will show a difference, on either side.

    Args:
        value: the difference as it looks; now: its variance.
        then: [k] its variance after further ratings, no more than now if `more`.
        prior: variance of differences, around 0.
        freedom: [k] degrees of freedom of the test.
        more: whether these ratings come on top of those behind the value, or are all new.
        wide: by what intervals are wider than those of one look.
    """
    from scipy.special import ndtr, stdtrit

    shared = prior + (then if more else 0.0)
    mean = value * shared / (prior + now)
    spread = np.sqrt(np.maximum(prior + then - shared**2 / (prior + now), 1e-12 * (prior + now)))
    ends = wide * stdtrit(freedom, (1 + LEVEL) / 2) * np.sqrt(then)
    return np.asarray(ndtr((mean - ends) / spread) + ndtr((-mean - ends) / spread))
