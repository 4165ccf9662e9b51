"""What more ratings should show: the predictive power of a study that goes on (assurance).

A difference as it looks is no difference as it is: what few ratings showed is drawn towards 0 by
what differences usually are (Spiegelhalter, Freedman & Blackburn 1986; O'Hagan, Stevens & Campbell
2005). Powers for the difference as it looks were reached in .54 to .72 where .8 was promised.
"""

import numpy as np

from refless.registry.arrays import FloatArray
from refless.stats.intervals import LEVEL

SURE = 0.8  # chance with which enough ratings show a difference
USUAL = 0.3  # standard deviation of differences of systems, in those of their items' differences


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
