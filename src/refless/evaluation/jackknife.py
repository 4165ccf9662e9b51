"""Held-out estimates on new texts: one rule for every number and its interval.

Each number is computed again without each twentieth of the pool, groups whole, and how far it then
scatters is its error (the delete-a-group jackknife). That is done twice: once the twentieth only
tests no more, once nothing is learned from it either. The first knows nothing of the pool that
taught the estimator and is too narrow, the second is too wide if there is little to learn (Efron &
Stein 1981): the variance is that of the first and half of what the second adds, and of errors,
whose few large ones make it small by chance, all of it. What an estimator tunes in folds stays in
both as it was; how far the number scatters with what each fold leaves to be tuned is added (the
jackknife over folds).

A fold whose estimates are all equal has a correlation of 0 without any scatter, so the variance of
the first is at least that of ratings which nothing explains; of the logarithm of an error at least
that of normal errors. Raters may be stricter or milder than these: what that may add to errors
widens their intervals upwards. `benchmarks/promises.py` measures how often the intervals then
cover what the fitted estimator does on new texts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from refless.data.human import cells_of, human_ratings
from refless.data.records import RatedPool
from refless.estimators.cross_validated import CrossValidated
from refless.estimators.folds import folds_in
from refless.evaluation.differences import Difference
from refless.evaluation.held_out import Agreement, counted_reasons, why_undefined
from refless.registry.arrays import BoolArray, FloatArray, IntArray, codes_of
from refless.stats.intervals import UNDEFINED, Interval, student
from refless.stats.measures import ERRORS, MEASURES, Measure
from refless.stats.raters import severity
from refless.stats.within_group import WITHIN

PARTS = 20  # of the pool, each left out once
FOLDS = 5  # and multiples of it, which estimators' folds are made of
BLOCK = 12  # groups in a block, at least, if there are more than five blocks
MOST_BLOCKS = 20
# texts; of more, what was learned moves less than the texts that test it
MOST_REFITTED = 1_500
WITHOUT_GROUP = 0  # rows of estimates
WITHOUT_BLOCK = 1

UNEXPLAINED = {"pearson": 1.0, "spearman": 1.0, "kendall": 4 / 9}  # variance times rows
POWERS = {"mse": 2, "mae": 1}  # of a single error
# the same, of the logarithm of normal errors
NORMAL = {"mse": 2.0, "mae": math.pi / 2 - 1}

FEWEST = 20  # texts that tell two correlations apart
FEWEST_RATERS = 3  # two say nothing of how far a third may lie from them
NOT_TUNED = np.zeros(0)
PERFECT = 1 - 1e-12  # a correlation of 1 is infinite in Fisher's z

Transform = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Split:
    """The split of a pool.

    Attributes:
        human: [n] human ratings; groups: [n] what is held out together.
        blocks: [n] folds of whole groups, within which texts are ranked by one model.
        part: [n] part from 1 that each text leaves with; parts: how many.
        severity: what raters as unlike these as these are unlike each other may add to the mean
            squared error: no more in 95 %; 0 if ratings do not tell.
    """

    human: FloatArray
    groups: IntArray
    blocks: IntArray
    part: IntArray
    parts: int
    severity: float = 0.0


def split(pool: RatedPool, groups: IntArray, seed: int = 0) -> Split:
    """Blocks and parts of a pool, by its content."""
    times = min(MOST_BLOCKS, len(np.unique(groups)) // BLOCK) // FOLDS
    part = codes_of(folds_in(pool, groups, PARTS, (3, seed)))
    return Split(
        human=pool.human,
        groups=groups,
        blocks=folds_in(pool, groups, FOLDS * max(times, 1)),
        part=part + 1,
        parts=int(part.max(initial=-1)) + 1,
        severity=_severity(pool),
    )


def _severity(pool: RatedPool) -> float:
    """Square of how far the mean of as many other raters may lie from that of these: 95 %.

    Each mean scatters by the variance between raters. So few raters tell it that Student's t has
    one degree of freedom less than there are.
    """
    if len(pool.ratings.annotators) < FEWEST_RATERS:
        return 0.0
    cells, who, text = cells_of(pool.ratings, len(pool))
    ratings = human_ratings(cells, len(who), scale=pool.scale)
    share = 1 / np.bincount(text)[text]  # of each rating in its text's mean
    shares = np.bincount(who, share) / len(pool)
    shares = shares[shares > 0]
    between = severity(text, who, ratings)
    variance = between.variance if between.freedom else 0.0
    t = student(max(len(shares) - 1, 1))
    return t**2 * 2 * float(np.square(shares).sum()) * variance


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """Held-out estimates of one method of the whole pool, and of the pool without each part.

    Attributes:
        split: the parts.
        estimates: [1 + parts, 2, n] of the whole pool, then without each part, from which the
            method did not learn; [1, 2, n] of a method that stays as it is. The two rows are
            those of `CrossValidated`.
        tuned: [folds, 2, n] of the whole pool, as of `CrossValidated`.
    """

    split: Split
    estimates: FloatArray
    tuned: FloatArray

    @property
    def method(self) -> str:
        """The method of the intervals, for signatures.

        fixed: what was learned stays as it was; tuned: they allow for other tuning; raters: those
        of errors for other raters.
        """
        marks = {
            "-fixed": len(self.estimates) == 1,
            "-tuned": len(self.tuned) > 0,
            "-raters": self.split.severity > 0,
        }
        return f"jack-{self.split.parts}{''.join(mark for mark, true in marks.items() if true)}"

    @property
    def tunings(self) -> FloatArray:
        """`tuned`; the estimates of the whole pool, once, if nothing is tuned."""
        return self.tuned if len(self.tuned) else self.estimates[:1]

    @property
    def missing(self) -> BoolArray:
        """[1 + parts or 1, n] which texts have no estimate."""
        return np.asarray(np.isnan(self.estimates).any(axis=1))

    @property
    def complete(self) -> bool:
        """Whether it has an estimate of every text that is not left out."""
        left_out = self.split.part == np.arange(len(self.estimates))[:, None]
        return bool((self.missing == left_out).all())

    def at(self, part: int = 0, refitted: bool = False) -> FloatArray:
        """[2, n] estimates without that part, 0 for none; NaN for its texts.

        Args:
            part: its number; refitted: whether the method did not learn from it either.
        """
        estimates = self.estimates[part if refitted and len(self.estimates) > 1 else 0]
        if not part:
            return np.asarray(estimates)
        return np.where(self.split.part == part, np.nan, estimates)

    def on(self, rows: BoolArray) -> Replicates:
        """The same on these texts alone, [n] or for each part."""
        rows = np.atleast_2d(rows)
        estimates = np.where(rows[:, None], self.estimates, np.nan)
        return Replicates(self.split, estimates, np.where(rows[0], self.tuned, np.nan))

    def table(self, number: Callable[[FloatArray], Any]) -> FloatArray:
        """[2, 1 + parts, ...] a number of the estimates: of the whole pool and without each part.

        In the second row the method did not learn from the part either.

        Args:
            number: [2, n] estimates -> a number, or an array of them.
        """
        parts = range(self.split.parts + 1)
        fixed = [number(self.at(part)) for part in parts]
        if len(self.estimates) == 1:
            return np.array([fixed, fixed])
        refitted = [number(self.at(part, refitted=True)) for part in parts]
        return np.array([fixed, refitted])


def replicates(method: CrossValidated, split: Split) -> Replicates:
    """A method that learns without each part, if it can and the pool is small enough."""
    estimates = [method.estimates]
    if method.without is not None and len(split.human) <= MOST_REFITTED:
        for part in range(split.parts):
            rows = np.flatnonzero(split.part != part + 1)
            estimates.append(method.without(rows))
    tuned = method.tuned
    if not len(tuned):
        tuned = np.zeros((0, *method.estimates.shape))
    return Replicates(split, np.stack(estimates), tuned)


def value_of(measure: str, split: Split, estimates: FloatArray) -> float:
    """A measure of the texts that have an estimate.

    Errors are of each text without its group. Correlations are within blocks, whose texts one
    model has judged that knows none of them.
    """
    column = estimates[WITHOUT_BLOCK if measure in WITHIN else WITHOUT_GROUP]
    rows = np.flatnonzero(~np.isnan(column))
    human = split.human[rows]
    if measure in WITHIN:
        return WITHIN[measure](human, column[rows], split.blocks[rows])
    return MEASURES[measure].value(human, column[rows])


@lru_cache(maxsize=64)
def values_of(measure: str, method: Replicates) -> FloatArray:
    """[2, 1 + parts] a measure, as of `Replicates.table`."""
    return method.table(partial(value_of, measure, method.split))


@lru_cache(maxsize=64)
def tuned_of(measure: str, method: Replicates) -> FloatArray:
    """[tunings] a measure by what was tuned without each fold; equal estimates count as 0."""
    split = method.split
    values = np.array([value_of(measure, split, tuning) for tuning in method.tunings])
    return np.nan_to_num(values) if measure in WITHIN else values


def measured(measure: str, method: Replicates) -> tuple[float, Interval]:
    """A measure with its 95 % interval."""
    values = values_of(measure, method)
    larger = measure not in WITHIN
    least = least_error(measure, method)
    tuned = tuned_of(measure, method)
    low, high = interval_of(
        values, MEASURES[measure], larger=larger, least=least, tuned=tuned
    )
    value = float(values[0, 0])
    human = method.split.human
    if measure in ERRORS and not math.isnan(high):
        high = _for_other_raters(measure, value, high, method.split.severity)
        high = min(high, max(float(np.ptp(human)) ** POWERS[measure], value))
    return value, (low, high)


def _for_other_raters(
    measure: str, value: float, high: float, severity: float
) -> float:
    """The upper end of an error that other raters may raise too; both are independent.

    A squared gap adds to a mean absolute error what it adds to that of normal errors.
    """
    if not severity:
        return high
    added = severity
    if measure == "mae":
        added = math.hypot(value, math.sqrt(2 / math.pi * severity)) - value
    if value == 0:
        return math.hypot(high, added)
    raised = math.hypot(math.log(high / value), math.log1p(added / value))
    return value * math.exp(raised)


def least_error(measure: str, method: Replicates) -> float:
    """Standard error that a measure has at least, on the scale of its interval; 0 if none.

    Of Fisher's z if nothing explains the ratings: shuffled within a fold of m rows, Pearson's and
    Spearman's r have the variance 1 / (m - 1), and Kendall's tau about 4/9 of that. Of the
    logarithm of an error if errors are normal; 0 if a part has none at all.
    """
    scored = ~np.isnan(method.at())
    if measure in ERRORS:
        positive = np.nanmin(values_of(measure, method), initial=np.inf) > 0
        rows = int(scored[WITHOUT_GROUP].sum())
        variance = NORMAL[measure] if positive else 0.0
    else:
        blocks = method.split.blocks[scored[WITHOUT_BLOCK]]
        rows = len(blocks) - len(np.unique(blocks))
        variance = UNEXPLAINED.get(measure, 0.0)
    return math.sqrt(variance / rows) if rows else 0.0


def difference(measure: str, first: Replicates, second: Replicates) -> Difference:
    """A measure of one method less that of another, on the texts that both estimate.

    Both lose the same parts. The difference of correlations of fewer than `FEWEST` texts is
    undefined: such intervals hold too seldom.
    """
    both = ~np.isnan(first.at() + second.at())[WITHOUT_GROUP]
    if measure in WITHIN and both.sum() < FEWEST:
        return Difference(measure=measure, value=math.nan, interval=UNDEFINED)
    if not (first.complete and second.complete):
        scored = ~(first.missing | second.missing)
        first = first.on(scored)
        second = second.on(scored)
    values = values_of(measure, first) - values_of(measure, second)
    tunings = tuned_of(measure, first), tuned_of(measure, second)
    longest = max(map(len, tunings))
    tuned = np.resize(tunings[0], longest) - np.resize(tunings[1], longest)
    ends = interval_of(values, larger=measure not in WITHIN, tuned=tuned)
    return Difference(measure=measure, value=float(values[0, 0]), interval=ends)


def error_of(
    values: FloatArray,
    *,
    larger: bool = False,
    least: float = 0.0,
    tuned: FloatArray = NOT_TUNED,
) -> float:
    """Standard error of a number from [2, 1 + parts] as of `Replicates.table`.

    Its variance is that of the first row, and at least `least` squared; half of what the second
    adds, or with `larger` all of it; and that of `tuned`, the number by what was tuned without each
    fold, in a jackknife over folds. NaN if it is undefined, or undefined without more than half of
    the parts.
    """
    fixed, refitted = (_variance(row) for row in values)
    if math.isnan(fixed):
        fixed = refitted
    if math.isnan(fixed):
        return math.nan
    learned = max(0.0, np.nan_to_num(refitted) - fixed)
    if not larger:
        learned /= 2
    folds = np.nan_to_num(_variance(np.append(0.0, tuned))) if len(tuned) > 1 else 0.0
    return math.sqrt(max(least**2, fixed) + learned + folds)


def _variance(values: FloatArray) -> float:
    replicates = values[1:]
    defined = replicates[~np.isnan(replicates)]
    n = len(defined)
    if math.isnan(values[0]) or n < 2 or 2 * n < len(replicates):
        return math.nan
    return (n - 1) / n * float(np.square(defined - defined.mean()).sum())


def interval_of(
    values: FloatArray,
    measure: Measure | None = None,
    *,
    larger: bool = False,
    least: float = 0.0,
    tuned: FloatArray = NOT_TUNED,
) -> Interval:
    """95 % interval by Student's t: of correlations in Fisher's z, of errors in logarithms.

    The upper end of an error is that of its reciprocal, which lies higher: a pool that lacks large
    errors by chance has a small error and a small scatter of it at once.

    Args:
        values: [2, 1 + parts] as of `Replicates.table`.
        measure: what they are values of; a difference without it.
        larger: as of `error_of`, for errors and their differences; least, tuned: as there.
    """
    scaled, back = _scale(np.append(values, tuned), measure)
    error = error_of(scaled(values), larger=larger, least=least, tuned=scaled(tuned))
    if math.isnan(error):
        return UNDEFINED
    half = student(values.shape[1] - 2) * error
    centre = scaled(values[0, :1])
    low = back(centre - half)
    high = back(centre + half)
    if scaled is not np.log:
        return float(low[0]), float(high[0])
    reciprocal = float(values[0, 0]) / (1 - half) if half < 1 else math.inf
    return float(low[0]), reciprocal


def _scale(values: FloatArray, measure: Measure | None) -> tuple[Transform, Transform]:
    """The scale on which a measure scatters evenly, and the way back."""
    if measure is None:
        return (lambda x: x), (lambda x: x)
    if measure.low < 0:
        return (lambda r: np.arctanh(np.clip(r, -PERFECT, PERFECT))), np.tanh
    if math.isinf(measure.high) and np.nanmin(values, initial=np.inf) > 0:
        return np.log, np.exp
    return (lambda x: x), (lambda x: np.clip(x, measure.low, measure.high))


def agreement_of(method: Replicates, reasons: Sequence[str]) -> Agreement:
    """All measures of a method; see `refless.evaluation.held_out.Agreement`.

    Args:
        method: its estimates; reasons: [n] why a text has no estimate.
    """
    human = method.split.human
    (values, blocked) = method.at()
    results: dict[str, Any] = {}
    for name in MEASURES:
        results[name], results[f"{name}_interval"] = measured(name, method)
    undefined = {name: results[name] for name in MEASURES}
    scored = ~np.isnan(values)
    return Agreement(
        n=len(scored),
        n_scored=int(scored.sum()),
        coverage=float(scored.mean()) if len(scored) else math.nan,
        **results,
        reasons=counted_reasons(values, reasons),
        undefined=why_undefined(undefined, human[scored], blocked[scored], human),
        interval_method=method.method,
    )
