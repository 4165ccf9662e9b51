"""The bias-corrected and accelerated bootstrap interval (Efron 1987)."""

import math
from statistics import NormalDist

import numpy as np

from refless.registry.arrays import FloatArray
from refless.stats.intervals import LEVEL, UNDEFINED, Interval, percentile_interval


def bca_interval(drawn: FloatArray, value: float, left_out: FloatArray) -> Interval:
    """The middle 95 % of resampled values, moved for bias and skewness.

    Better than plain percentiles where there are few units, such as annotators.

    Args:
        drawn: [b] resampled values; undefined ones (NaN) are left out.
        value: the value itself.
        left_out: [n] the value without each unit (the jackknife).

    Undefined as the percentile interval is; that interval itself where nothing varies.
    """
    defined = drawn[~np.isnan(drawn)]
    if len(defined) == 0 or 2 * len(defined) < len(drawn) or math.isnan(value):
        return UNDEFINED
    below = (float((defined < value).mean()) + float((defined <= value).mean())) / 2
    spread = left_out.mean() - left_out
    squares = float(np.square(spread).sum())
    if not 0 < below < 1 or not squares > 0:
        return percentile_interval(drawn)
    acceleration = float((spread**3).sum()) / (6 * squares**1.5)
    normal = NormalDist()
    bias = normal.inv_cdf(below)

    def moved(share: float) -> float:
        z = bias + normal.inv_cdf(share)
        return normal.cdf(bias + z / (1 - acceleration * z))

    low, high = np.quantile(defined, [moved((1 - LEVEL) / 2), moved((1 + LEVEL) / 2)])
    return float(low), float(high)
