"""Intervals that hold however often one looks while data arrive: confidence sequences."""

import math

from refless.stats.intervals import UNDEFINED, Interval, quantile, student

AIMED = 60  # values at which the interval is to be narrowest
FEWEST = 10  # values, below which it tells nothing


def always_interval(
    value: float, error: float, n: int, freedom: float, questions: int = 1
) -> Interval:
    """95 % for all n at once, asymptotically (Waudby-Smith et al. 2021, theorem 2.2).

    Student's t stands for the normal distribution, so that small n are not too sure.

    Args:
        value: a mean, or a difference of means.
        error: its standard error.
        n: independent values behind it.
        freedom: degrees of freedom of the error.
        questions: intervals that are to hold together (Bonferroni).
    """
    if n < FEWEST or not error >= 0 or math.isnan(value):
        return UNDEFINED
    alpha = 0.05 / questions
    tuned = (2 * math.log(1 / alpha) + math.log(2 * math.log(1 / alpha) + 1)) / AIMED
    spread = n * tuned + 1
    wide = math.sqrt(2 * spread / (n * tuned) * math.log(math.sqrt(spread) / alpha))
    half = wide * error * student(freedom) / quantile(0.95)
    return value - half, value + half
