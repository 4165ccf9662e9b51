"""Means and differences of human ratings, with an interval that holds wherever few are rated.

A number is a weighted sum of entries: texts, or a system's answers to an item. What is drawn as a
whole is a unit, and what a unit adds to the number is its influence. The variance is the sum of
squares of influences, each over 1 - its share of the arm (CR2; Bell & McCaffrey 2002). What these
cannot know is added:

- equal values, which are no proof of certainty: a usual difference, by how many are equal; if all
  of an arm alone are, as far as others may be that are too rare to be seen (the rule of three);
- verdicts: a made-up success and failure in each arm (Agresti & Caffo 2000), two and two in one arm
  (Agresti & Coull 1998), a pair of either sign if items are rated in both (Bonett & Price 2012);
- a small arm: its variance is drawn up, never down, to that of both arms;
- estimates of all outputs (prediction-powered inference: Angelopoulos et al. 2023; in surveys the
  regression estimator of double sampling, Cochran 1977, chapter 12), see `stats.proxies`;
- raters, whose severity crosses the units.

`docs/evidence/intervals.md` shows in how many simulated studies these intervals cover the truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from refless.registry.arrays import BoolArray, FloatArray, IntArray, codes_of
from refless.stats.answers import ANYWHERE, Answer, Powered, Untold
from refless.stats.intervals import (
    LEVEL,
    USUAL,
    VERDICTS,
    Interval,
    hidden_distance,
    quantile,
    student,
)
from refless.stats.proxies import Gain, by_estimates, by_pairs
from refless.stats.raters import Severity, with_severity
from refless.stats.samples import Arm, Sample, Strangers, arms_of, strangers

PRIOR_UNITS = 4.0  # of both arms, by which a small arm's variance is drawn up
PRIOR_FREEDOM = 2.0  # degrees of freedom that a small arm borrows from the other
MADE_UP = quantile(LEVEL) ** 2 / 2  # successes, and failures, of Agresti and Coull
NORMAL = 1e9  # degrees of freedom of a normal distribution
EXTRA = 4  # units that are made up: two in each arm
FEWEST_APART = 2  # degrees of freedom of severity, for raters who share no arm
ALIKE = 0.2  # intraclass correlation of rows of one unit, if none of them differ
DECIMALS = 12  # decimals to which two values are equal
ROUNDING = 1e-12  # of a variance: less is rounding
KINDS = (1, 2, 3)  # of units: with a rating in the first arm, in the second, in both


def mean_of(
    values: FloatArray,
    unit: IntArray,
    *,
    scale: Interval | None = None,
) -> Answer:
    """The mean of values [n], NaN among them left out, with its 95 % interval.

    Args:
        values: [n]; unit: [n] what was drawn as a whole.
        scale: lowest and highest value that there can be, if it is known.
    """
    return contrast(Sample.of(values, unit), scale=scale).alone


def contrast(
    sample: Sample,
    *,
    scale: Interval | None = None,
    these: bool = False,
    severity: Severity | None = None,
) -> Powered:
    """The mean of one arm, or the difference of two, by ratings alone and with estimates.

    Args:
        sample: the entries.
        scale: lowest and highest rating, if it is known.
        these: whether the question is about these entries, and not about entries like them.
        severity: of raters; None if nobody is told apart from the others.
    """
    arms = arms_of(sample, these=these)
    fewest = min(arm.units for arm in arms)
    rated = len(np.unique(sample.unit[sample.rated]))
    value = _value_of(arms)
    if not fewest:
        return _without_interval(math.nan, "nothing is rated", rated, fewest)
    if these and all(arm.whole for arm in arms):
        exact = Answer(value=value, error=0.0, freedom=NORMAL)
        return Powered(alone=exact, both=exact, rated=rated, fewest=fewest)
    if fewest < 2:
        return _without_interval(value, "one unit is rated", rated, fewest)
    plain = _plain_answer(sample, arms, scale, value)
    if plain is None:
        return _without_interval(value, "all are equal", rated, fewest)
    powered = _with_proxies(sample, arms, plain, severity, rated, fewest)
    return replace(powered, asked=sample.units) if these else powered


def taught(
    guess: Answer, sample: Sample, severity: Severity | None
) -> tuple[Answer, bool]:
    """An answer by estimates that learn from a sample, and whether nobody rated in both arms.

    Estimates then learn who is strict as who is good, so severity is in their answer too.
    """
    crossed = strangers(sample, arms_of(sample, these=False))
    if not crossed.apart:
        return guess, False
    return _with_raters(guess, crossed, severity), True


def _value_of(arms: Sequence[Arm]) -> float:
    """The mean, or the difference; 0 if that is all but rounding, as of equal thirds."""
    value = math.fsum(arm.sign * arm.mean for arm in arms)
    size = math.fsum(abs(arm.mean) for arm in arms)
    return value if abs(value) > ROUNDING * size else 0.0


def _without_interval(value: float, why: Untold, rated: int, fewest: int) -> Powered:
    """The number alone, and why it has no interval."""
    answer = Answer(value=value, untold=why)
    return Powered(alone=answer, both=answer, rated=rated, fewest=fewest)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Influences:
    """The influence of each unit on the number.

    Attributes:
        by_arm: [2, units + 4] influence, the last four of made-up units.
        unit_weight: [2, units + 4] share of an arm that a unit has.
        kind: [units + 4] in which arms a unit has a rating: see KINDS.
        shift: how far the made-up units move the middle.
    """

    by_arm: FloatArray
    unit_weight: FloatArray
    kind: IntArray
    shift: float

    @property
    def real(self) -> FloatArray:
        """[units] influence of those that were drawn, of both arms together."""
        return np.asarray(self.by_arm[:, :-EXTRA].sum(axis=0))


def _plain_answer(
    sample: Sample, arms: Sequence[Arm], scale: Interval | None, value: float
) -> tuple[Answer, FloatArray] | None:
    """The value with its interval by ratings, and the influence [units] of each unit on it.

    As if each unit was rated by raters of its own; None if nothing varies and no scale is known.
    """
    ratings = np.unique(sample.rating[sample.rated])
    verdicts = _are_verdicts(ratings, scale)
    scale = VERDICTS if verdicts else scale
    reach = scale[1] - scale[0] if scale else float(np.ptp(ratings))
    unknown = max(1 - arm.known for arm in arms)
    usual = USUAL * reach * math.sqrt(unknown)
    influences = _influences(sample, arms, scale, verdicts=verdicts)
    variances, freedoms = _by_kind(influences, usual, verdicts=verdicts)
    variance = float(variances.sum())
    if not variance > 0:
        return None
    freedom = variance**2 / float((np.square(variances) / freedoms).sum())
    if verdicts and sample.units == len(np.unique(sample.item)):
        freedom = NORMAL  # a share tells its variance itself
    error = math.sqrt(variance)
    if scale and len(ratings) == len(arms) == 1 and not verdicts:
        units = equal_units(influences.unit_weight[0])
        hidden = hidden_distance(arms[0].mean, units, scale) * math.sqrt(unknown)
        error = max(error, hidden / student(freedom))
    answer = Answer(
        value=value,
        error=error,
        freedom=freedom,
        centre=value + influences.shift,
        bounds=_bounds(scale, arms),
    )
    return answer, influences.real


def _are_verdicts(ratings: FloatArray, scale: Interval | None) -> bool:
    """Whether different ratings are 0 and 1; without a scale both have to be there."""
    values = {*ratings.tolist()}
    if scale is None:
        return values == {*VERDICTS}
    return scale == VERDICTS and values <= {*VERDICTS}


def _bounds(scale: Interval | None, arms: Sequence[Arm]) -> Interval:
    """The lowest and the highest mean, or difference, that there can be."""
    if scale is None:
        return ANYWHERE
    if len(arms) == 1:
        return scale
    reach = scale[1] - scale[0]
    return -reach, reach


def _influences(
    sample: Sample, arms: Sequence[Arm], scale: Interval | None, *, verdicts: bool
) -> _Influences:
    """The influence of each unit on each arm's mean, signed, and of what is made up."""
    units = sample.units
    kind = np.zeros(units + EXTRA, dtype=np.int64)
    for place, arm in enumerate(arms):
        kind[np.unique(arm.unit)] |= 1 << place
    paired = bool((kind == KINDS[-1]).any())
    by_arm = np.zeros((2, units + EXTRA))
    unit_weight = np.zeros((2, units + EXTRA))
    shift = 0.0
    for place, arm in enumerate(arms):
        unit_weight[place] = np.bincount(arm.unit, arm.weight, units + EXTRA)
        mass, wide = _made_up(arm, scale, verdicts=verdicts, alone=len(arms) == 1)
        middle = arm.mean
        if mass and scale is not None:
            middle = (arm.mean * arm.size + mass * sum(scale)) / (arm.size + 2 * mass)
            shift += arm.sign * (middle - arm.mean) * (1 - arm.known)
            first = units if paired else units + 2 * place
            rows = slice(first, first + 2)
            ends = np.array(scale) - middle
            if arm.sign < 0:  # made-up pairs differ all they can
                ends = ends[::-1]
            by_arm[place, rows] = math.sqrt(mass * wide) * ends / arm.size
            kind[rows] |= 1 << place
        # a unit draws the mean to itself
        lost = 1.0 if verdicts else np.sqrt(1 - unit_weight[place])
        off = arm.weight * arm.open * (arm.rating - middle)
        by_arm[place] *= math.sqrt(1 - arm.known)
        by_arm[place] += np.bincount(arm.unit, off, units + EXTRA) / lost
        by_arm[place] *= arm.sign * arm.size / (arm.size + 2 * mass)
    return _Influences(by_arm=by_arm, unit_weight=unit_weight, kind=kind, shift=shift)


def _made_up(
    arm: Arm, scale: Interval | None, *, verdicts: bool, alone: bool
) -> tuple[float, float]:
    """The successes, and failures, that an arm is given, and the rows that a unit counts for.

    One if there are two arms (Agresti and Caffo), 1.92 if there is one (Agresti and Coull), each
    for as many rows as the design effect says; of ratings on a scale fewer, as they vary less than
    all or nothing, and none if there are two arms.
    """
    if scale is None or not (verdicts or alone):
        return 0.0, 1.0
    off = arm.weight * arm.size * (arm.rating - arm.mean)
    sums = np.bincount(codes_of(arm.unit), off)
    single = float(off @ off)
    widest = max(arm.size / len(sums), 1.0)
    wide = 1 + ALIKE * (widest - 1)  # equal values do not tell how far rows go together
    if single > 0:
        wide = min(max(float(sums @ sums) / single, 1.0), widest)
    spread = 1.0 if verdicts else _spread(arm, scale)
    return wide * spread * (MADE_UP if alone else 1.0), wide


def _spread(arm: Arm, scale: Interval) -> float:
    """The variance of an arm's ratings, in that of verdicts at the ends of the scale; at most 1."""
    low, high = scale
    middle = (arm.mean * arm.size + (low + high) / 2) / (arm.size + 1)
    largest = arm.size * (middle - low) * (high - middle)
    if not largest > 0:
        return 1.0
    off = arm.rating - arm.mean
    counts = arm.weight * arm.size
    squares = float(counts @ np.square(off))
    return min((squares + _of_equal(off, USUAL * (high - low))) / largest, 1.0)


def _by_kind(
    influences: _Influences, usual: float, *, verdicts: bool
) -> tuple[FloatArray, FloatArray]:
    """[kinds] variance of the units of each kind that is there, and its degrees of freedom.

    Args:
        influences: of units; usual: how far ratings differ where they do not vary.
        verdicts: whether ratings are 0 and 1, whose made-up units do what else is added here.
    """
    masks = [influences.kind == kind for kind in KINDS]
    arm_variances = _squares(influences.by_arm, masks)
    products = influences.by_arm[0] * influences.by_arm[1]
    cross = np.array([2 * float(products[mask].sum()) for mask in masks])
    parts = _squares(influences.unit_weight, masks)
    weight = np.maximum(parts.sum(axis=0), 1e-300)
    units_apart = [masks[1].sum(), masks[0].sum()]  # of the other arm alone
    borrowed = np.minimum(PRIOR_UNITS, units_apart)
    if borrowed.any() and not verdicts:
        unit_variances = arm_variances.sum(axis=0) / weight
        added = _drawn_up(unit_variances, 1 / weight - 1, borrowed)
        arm_variances = arm_variances + parts * added
    variances = arm_variances.sum(axis=1) + cross
    variances[variances < ROUNDING * arm_variances.sum(axis=1)] = 0.0
    unit_weight = influences.unit_weight.sum(axis=0)
    freedoms = np.array([equal_units(unit_weight[mask]) - 1 for mask in masks])
    freedoms += (variances > 0) * _lent(arm_variances, borrowed)
    if not verdicts:
        total = influences.by_arm.sum(axis=0)
        deviations = [total[mask] for mask in masks]
        least = usual * np.array([*weight, weight.max()])
        variances = variances + np.array([*map(_of_equal, deviations, least)])
    present = np.array([bool(mask.any()) for mask in masks])
    return variances[present], np.maximum(freedoms[present], 1.0)


def _squares(of_units: FloatArray, masks: Sequence[BoolArray]) -> FloatArray:
    """[kinds, 2] sum of squares of [2, units], over the units of each mask."""
    return np.array([np.square(of_units[:, mask]).sum(axis=1) for mask in masks])


def _lent(arm_variances: FloatArray, borrowed: FloatArray) -> FloatArray:
    """[kinds] degrees of freedom that the arm that varies most borrows; of two such the fewer.

    Args:
        arm_variances: [kinds, 2] variance; borrowed: [2] units of the other arm alone.
    """
    largest = arm_variances.max(axis=1, keepdims=True)
    varies_most = arm_variances >= largest * (1 - ROUNDING)
    lent = np.minimum(borrowed, PRIOR_FREEDOM)
    return np.asarray(np.where(varies_most, lent, PRIOR_FREEDOM).min(axis=1))


def _drawn_up(
    unit_variances: FloatArray, spare: FloatArray, borrowed: FloatArray
) -> FloatArray:
    """[2] what is added to the variance of one unit of each arm, at least 0.

    Args:
        unit_variances: [2] variance of a unit; spare: [2] degrees of freedom behind it.
        borrowed: [2] units of both arms that count for this one.
    """
    pooled = float(unit_variances @ spare) / max(float(spare.sum()), 1e-300)
    freedom = np.maximum(spare + borrowed, 1e-300)
    drawn = (unit_variances * spare + borrowed * pooled) / freedom
    return np.maximum(drawn - unit_variances, 0.0)


def equal_units(unit_weight: FloatArray) -> float:
    """The units of one weight worth these: (sum)² / sum of squares; 0 without weight."""
    squares = max(float(unit_weight @ unit_weight), 1e-300)
    return float(unit_weight.sum() ** 2 / squares)


def _of_equal(off: FloatArray, least: float) -> float:
    """Variance that equal deviations hide: the square of a usual one, by the share that are equal.

    Args:
        off: [n] deviations; least: the usual one if none differs from the commonest.
    """
    if len(off) < 2:
        return 0.0
    values, counts = np.unique(np.round(off, DECIMALS), return_counts=True)
    most_common = values[counts == counts.max()]
    # the same if the difference is turned round
    nearest = most_common[np.abs(most_common).argmin()]
    unequal = off[np.abs(off - nearest) > 10.0 ** (1 - DECIMALS)]
    square = float(np.square(unequal).mean()) if len(unequal) else least**2
    return float(counts.max() - 1) / (len(off) - 1) * square


def _with_proxies(
    sample: Sample,
    arms: Sequence[Arm],
    plain: tuple[Answer, FloatArray],
    severity: Severity | None,
    rated: int,
    fewest: int,
) -> Powered:
    """The answer with estimates of all outputs, with items rated in part, and with raters."""
    crossed = strangers(sample, arms)
    answer, influence = plain
    gain = by_estimates(sample, arms, influence, fewest)
    pairs = by_pairs(sample, arms, 0.0)
    alone = _with_raters(_gained(answer, Gain(), pairs), crossed, severity)
    both = alone
    if gain.slope:
        pairs = by_pairs(sample, arms, gain.slope)
        both = _with_raters(_gained(answer, gain, pairs), crossed, severity)
    return Powered(
        alone=alone,
        both=both,
        share=gain.slope,
        correlation=gain.correlation,
        rated=rated,
        fewest=fewest,
        strange=0.0 if severity is None else crossed.strange,
        raters=0 if severity is None else crossed.few,
        apart=crossed.apart,
    )


def _gained(answer: Answer, gain: Gain, pairs: Gain) -> Answer:
    """The answer with what estimates, and items that are rated in part, add to it."""
    value = answer.value - gain.moved - pairs.moved
    centre = answer.centre - gain.moved - pairs.moved
    error = answer.error * math.sqrt(gain.ratio * pairs.ratio)
    spare = answer.freedom - (gain.ratio != 1) - (pairs.ratio != 1)
    freedom = max(spare, 1.0)
    return replace(answer, value=value, centre=centre, error=error, freedom=freedom)


def _with_raters(
    answer: Answer, crossed: Strangers, severity: Severity | None
) -> Answer:
    """With what raters' severity adds; without an interval if nothing tells it.

    Few raters tell nothing of others: a mean is then about what these raters say. A difference is
    theirs too, as far as they have equal shares of both arms; the rest may be their severity.
    """
    if severity is None or not crossed.strange:
        return answer
    if crossed.few and crossed.one_arm:
        return answer
    least = FEWEST_APART if crossed.apart else 1
    if severity.freedom < least:
        return replace(answer, error=math.nan, untold="raters are apart")
    strange = crossed.strange
    error, freedom = with_severity(answer.error, answer.freedom, strange, severity)
    return replace(answer, error=error, freedom=freedom)
