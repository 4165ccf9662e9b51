"""Corrections of p-values for the number of questions that were asked."""

import numpy as np

from refless.registry.arrays import FloatArray


def holm(p_values: FloatArray) -> FloatArray:
    """[m] p-values after Holm (1979): the chance of any false alarm stays below the level.

    Undefined ones (NaN) stay so and are not counted.
    """
    factors = np.arange(int((~np.isnan(p_values)).sum()), 0, -1, dtype=np.float64)
    return _stepped(p_values, factors, upwards=True)


def benjamini_yekutieli(p_values: FloatArray) -> FloatArray:
    """[m] p-values after Benjamini and Yekutieli (2001): bounds the share of false alarms.

    It holds whatever the dependence among the tests. Undefined ones stay so, uncounted.
    """
    m = int((~np.isnan(p_values)).sum())
    places = np.arange(1, m + 1, dtype=np.float64)
    return _stepped(p_values, m * (1 / places).sum() / places, upwards=False)


def _stepped(p_values: FloatArray, factors: FloatArray, *, upwards: bool) -> FloatArray:
    """The sorted p-values times their factors, kept monotone from below or from above."""
    corrected = np.full(len(p_values), np.nan)
    known = np.flatnonzero(~np.isnan(p_values))
    order = known[np.argsort(p_values[known], kind="stable")]
    steps = p_values[order] * factors
    raised, lowered = np.maximum.accumulate(steps), np.minimum.accumulate(steps[::-1])[::-1]
    steps = raised if upwards else lowered
    corrected[order] = np.minimum(steps, 1.0)
    return corrected
