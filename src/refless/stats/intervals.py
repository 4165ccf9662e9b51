"""Intervals: percentiles, analytic ones for correlations, for a mean of ratings, for one rating."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np

from refless.registry.arrays import FloatArray

Interval = tuple[float, float]
LEVEL = 0.95
CELLS = 2**20  # numbers held at once while resampling: 8 MB a matrix
DRAWN_ROWS = 50_000  # beyond this a mean is normal to any digit that is shown
VERDICTS: Interval = (0.0, 1.0)  # lowest and highest of passes and fails
UNDEFINED: Interval = (float("nan"), float("nan"))
USUAL = 0.3  # of the scale: how far ratings differ if those that there are do not vary


def percentile_interval(values: FloatArray, level: float = LEVEL) -> Interval:
    """The middle `level` of resampled values; undefined ones (NaN) are left out.

    Undefined when more than half of the values are, or when there are none.
    """
    defined = values[~np.isnan(values)]
    if len(defined) == 0 or 2 * len(defined) < len(values):
        return UNDEFINED
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def fisher_interval(r: float, n: int, *, ranked: bool = False) -> Interval:
    """Interval of a correlation of n independent rows by Fisher's z.

    Args:
        r: Pearson's r, or Spearman's rho with `ranked`.
        ranked: widens by the factor 1 + rho^2 / 2 (Bonett & Wright 2000).

    Undefined where r is NaN or n < 4.
    """
    if math.isnan(r) or n < 4:
        return UNDEFINED
    factor = 1 + r * r / 2 if ranked else 1.0
    return around(r, math.sqrt(factor / (n - 3)))


def quantile(level: float) -> float:
    """Standard errors that an interval of this level reaches to each side: 1.96 at 0.95."""
    return NormalDist().inv_cdf((1 + level) / 2)


@cache
def student(freedom: float, level: float = LEVEL) -> float:
    """The same by Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))


def of_best(value: float, ends: Interval, count: int, units: int) -> Interval:
    """The 95 % interval of a number that was chosen as the highest of several.

    Each end moves away by what Sidak's inequality asks for, which holds however the numbers depend
    on each other; Student's t, as few units scatter more than a bootstrap of them says.

    Args:
        value: the number; ends: its own interval; count: of how many it is the highest.
        units: texts, or what is drawn together.
    """
    if count < 2 or units < 2:
        return ends
    wider = student(units - 1, LEVEL ** (1 / count)) / quantile(LEVEL)
    low = value + wider * (ends[0] - value)
    high = value + wider * (ends[1] - value)
    return low, high


def around(r: float, error: float) -> Interval:
    """The 95 % interval of r, its error given in Fisher's z; a perfect correlation stays alone."""
    if abs(r) >= 1:
        return r, r
    half = quantile(LEVEL) * error
    z = math.atanh(r)
    return math.tanh(z - half), math.tanh(z + half)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering:
    """The effect of rows that belong together on a mean of n outputs; by default none.

    Attributes:
        estimates, residuals, held_out: design effects: variance of the mean of the n estimates, of
            the n errors, of the m held-out errors, over that of independent rows.
        shift: how far the outputs' errors lie from those of the rated texts; error: of the shift.
        wide: by what all but that error is widened, as few groups tell what lies between groups.
    """

    estimates: float = 1.0
    residuals: float = 1.0
    held_out: float = 1.0
    shift: float = 0.0
    error: float = 0.0
    wide: float = 1.0


APART = Clustering()


def mean_interval(
    estimates: FloatArray,
    residuals: FloatArray,
    rng: np.random.Generator,
    resamples: int = 1_000,
    together: Clustering = APART,
) -> Interval:
    """Interval of the mean rating that people would give to n outputs.

    A resample draws n of the estimates and adds to them n residuals, both with replacement. The
    residuals come from a resample of the m held-out ones, so that the interval also knows how few
    they are: its variance is var(estimates)/n + var(residuals) (1/n + 1/m), each term times its
    design effect. Beyond 50,000 rows of either it is normal with that variance. The mean of the
    residuals moves the end on its side, a shift both. The order of either array does not matter.

    Args:
        estimates: [n] estimates, finite.
        residuals: [m] human rating minus held-out estimate of rated texts, finite.
        together: what rows that belong together do.

    Undefined without estimates or with fewer than two residuals.
    """
    n = len(estimates)
    m = len(residuals)
    if n == 0 or m < 2:
        return UNDEFINED
    estimates = np.sort(estimates)
    if max(n, m) > DRAWN_ROWS:
        mean = float(estimates.mean())
        variance = float(estimates.var())
        return normal_mean_interval(n, mean, variance, residuals, together)
    ordered = np.sort(residuals)
    bias = float(ordered.mean())
    residuals = ordered - bias
    block = max(1, CELLS // max(n, m))
    sizes = [min(block, resamples - done) for done in range(0, resamples, block)]
    drawn = [_drawn(estimates, residuals, size, rng, together) for size in sizes]
    means = np.concatenate(drawn)
    if together.error:
        means = means + together.error * rng.standard_normal(len(means))
    low, high = percentile_interval(means + together.shift)
    return low + min(bias, 0.0), high + max(bias, 0.0)


def normal_mean_interval(
    n: int,
    mean: float,
    variance: float,
    residuals: FloatArray,
    together: Clustering = APART,
) -> Interval:
    """The interval of `mean_interval` as a normal one with the same variance.

    Args:
        n, mean, variance: of the estimates.
        residuals, together: as of `mean_interval`; undefined as there.
    """
    m = len(residuals)
    if n == 0 or m < 2:
        return UNDEFINED
    ordered = np.sort(residuals)
    bias = float(ordered.mean())
    noise = together.residuals / n + together.held_out / m
    noise *= float((ordered - bias).var())
    total = together.estimates * variance / n + noise
    error = math.hypot(together.wide * math.sqrt(total), together.error)
    half = quantile(LEVEL) * error
    centre = mean + together.shift
    return centre - half + min(bias, 0.0), centre + half + max(bias, 0.0)


def hidden_distance(value: float, units: float, scale: Interval) -> float:
    """The distance of a mean, at most, from a value that all units have: rare others are not seen.

    A larger share of others would be among this many units with a chance of 95 %; they lie at the
    end of the scale that is further off.
    """
    low, high = scale
    return (1 - math.pow(1 - LEVEL, 1 / units)) * max(value - low, high - value)


def equal_interval(mean: float, n: int, units: int, scale: Interval) -> Interval:
    """Interval of the mean of n outputs if all ratings are equal, which is no proof of certainty.

    As in `contrast`: one of the m units may lie a usual difference off, and rare others are not
    seen; with n outputs that is the variance of a mean, times 1 + m/n. Undefined of one unit, and
    without a scale.
    """
    reach = scale[1] - scale[0]
    if units < 2 or math.isinf(reach):
        return UNDEFINED
    half = student(units - 1) * USUAL * reach / units
    half = max(half, hidden_distance(mean, units, scale))
    half *= math.sqrt(1 + units / n)
    return mean - half, mean + half


def conformal_radius(residuals: FloatArray, level: float = LEVEL) -> float:
    """Half-width of a split-conformal interval: it holds a new text's rating with chance `level`.

    The ceil((m + 1) level)-th smallest of m absolute held-out residuals, finite, in any order;
    NaN where m is too small for the level (below 19 for 0.95).
    """
    place = math.ceil(round((len(residuals) + 1) * level, 9))
    if place > len(residuals):
        return float("nan")
    return float(np.sort(np.abs(residuals))[place - 1])


def _drawn(
    estimates: FloatArray,
    residuals: FloatArray,
    size: int,
    rng: np.random.Generator,
    together: Clustering,
) -> FloatArray:
    """[size] means, each part's deviation widened by the root of its design effect."""
    n = len(estimates)
    m = len(residuals)
    centre = float(estimates.mean())
    drawn = estimates[rng.integers(n, size=(size, n))].mean(axis=1) - centre
    held_out = residuals[rng.integers(m, size=(size, m))]
    means = held_out.mean(axis=1)
    places = rng.integers(m, size=(size, n))
    added = np.take_along_axis(held_out, places, axis=1).mean(axis=1)
    of_estimates = math.sqrt(together.estimates) * drawn
    of_held_out = math.sqrt(together.held_out) * means
    of_residuals = math.sqrt(together.residuals) * (added - means)
    deviations = of_estimates + of_held_out + of_residuals
    return np.asarray(centre + together.wide * deviations)
