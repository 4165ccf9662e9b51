"""Intervals that hold however often one looks while data arrive: confidence sequences.

The first look is at FEWEST values, and nothing is spent on looks before it. A Brownian motion S
reaches |S(t)| = sqrt(t (a² + log(t / m))) at some t >= m with the chance 2 (1 - Phi(a) + a phi(a)),
exactly (Robbins 1970, "Statistical methods related to the law of the iterated logarithm"). By hand:
M(t) = exp(S² / 2t) / sqrt(t) is a martingale from m on that ends at 0, so it reaches b with the
chance P(M(m) >= b) + E(M(m); M(m) < b) / b; b is exp(a² / 2) / sqrt(m).
"""

import math
from functools import cache

from refless.stats.intervals import LEVEL, UNDEFINED, Interval, quantile, student

FEWEST = 10  # values, below which it tells nothing
MADE_UP = 2.0  # of how far values can lie apart: so much the sum of values is unsure beside them


def always_interval(
    value: float,
    error: float,
    n: int,
    freedom: float,
    questions: int = 1,
    reach: float = 0.0,
) -> Interval:
    """95 % for all n from FEWEST on at once, asymptotically.

    Student's t stands for the normal distribution, so that small n are not too sure. If few values
    lie far off on one side, small n have none of them: as if one was made up there.

    Args:
        value: a mean, or a difference of means.
        error: its standard error.
        n: independent values behind it.
        freedom: degrees of freedom of the error.
        questions: intervals that are to hold together (Bonferroni).
        reach: how far values can lie apart, or 0 if none is to be made up.
    """
    if n < FEWEST or not error >= 0 or math.isnan(value):
        return UNDEFINED
    start = first_quantile((1 - LEVEL) / questions)
    errors = math.sqrt(start**2 + math.log(n / FEWEST))
    sampled = errors * error * student(freedom) / quantile(LEVEL)
    half = math.hypot(sampled, MADE_UP * reach / n)
    return value - half, value + half


@cache
def first_quantile(chance: float) -> float:
    """Robbins' a: standard errors of the first look, so that any look errs with this chance."""
    from scipy.optimize import brentq
    from scipy.special import ndtr

    def excess(a: float) -> float:
        density = math.exp(-a * a / 2) / math.sqrt(2 * math.pi)
        return 2 * (float(ndtr(-a)) + a * density) - chance

    return float(brentq(excess, 0.0, 40.0))
