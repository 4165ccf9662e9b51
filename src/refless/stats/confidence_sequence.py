"""Intervals that hold however often one looks while data arrive: confidence sequences."""

import math

from refless.stats.intervals import UNDEFINED, Interval, quantile, student

AIMED = 60  # values at which the interval is to be narrowest
FEWEST = 10  # values, below which it tells nothing
MADE_UP = 2 / 3  # of how far values can lie apart: so far off two made-up ones lie, on each side


def always_interval(
    value: float, error: float, n: int, freedom: float, questions: int = 1, reach: float = 0.0
) -> Interval:
    """95 % for all n at once, asymptotically (Waudby-Smith et al. 2021, theorem 2.2).

    Student's t stands for the normal distribution, so that small n are not too sure. Where few
    values lie far off on one side, small n have none of them: two are made up, one a side.

    Args:
        value: a mean, or a difference of means.
        error: its standard error.
        n: independent values behind it.
        freedom: degrees of freedom of the error.
        questions: intervals that are to hold together (Bonferroni).
        reach: how far values can lie apart, or 0 if none are to be made up.
    """
    if n < FEWEST or not error >= 0 or math.isnan(value):
        return UNDEFINED
    alpha = 0.05 / questions
    tuned = (2 * math.log(1 / alpha) + math.log(2 * math.log(1 / alpha) + 1)) / AIMED
    spread = n * tuned + 1
    wide = math.sqrt(2 * spread / (n * tuned) * math.log(math.sqrt(spread) / alpha))
    error = math.sqrt(error**2 + 2 * (MADE_UP * reach) ** 2 / (n * (n + 1)))
    half = wide * error * student(freedom) / quantile(0.95)
    return value - half, value + half
