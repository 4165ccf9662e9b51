"""What held-out estimates are worth on new texts: one rule for every number and its interval.

Each number is computed again without each twentieth of the pool, groups whole, and how far it then
scatters is its error (the delete-a-group jackknife). That is done twice: once the twentieth only
tests no more, once nothing is learned from it either. The first knows nothing of the pool that
taught the estimator and is too narrow, the second is too wide where there is little to learn
(Efron & Stein 1981): the variance is that of the first and half of what the second adds, and of
errors, whose few large ones make it small by chance, all of it. What an estimator tunes in folds
stays in both as it was; how far the number scatters with what each fold leaves to be tuned is added
(the jackknife over folds).

A fold whose estimates are all equal has a correlation of 0 without any scatter, so the variance of
the first is at least that of ratings which nothing explains; of the logarithm of an error at least
that of normal errors. Others are stricter or milder than these raters: what that may add to errors
widens their intervals upwards.
`benchmarks/promises.py` tells how often the intervals then hold what the fitted estimator does on
new texts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from refless.data.human import human_ratings
from refless.data.records import RatedPool
from refless.estimators.gp.data import folds_in
from refless.estimators.scorer import Held, Tried
from refless.evaluation.annotators import ERRORS, cells_of
from refless.evaluation.differences import Difference
from refless.evaluation.held_out import Agreement, counted_reasons, why_undefined
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.stats.intervals import UNDEFINED, Interval, student
from refless.stats.measures import MEASURES, Measure
from refless.stats.raters import severity
from refless.stats.within_group import WITHIN

PARTS = 20  # of the pool, each left out once
FOLDS = 5  # and multiples of it, which estimators' own folds then hold whole
BLOCK = 12  # groups in a block, at least, where there are more than five blocks
MOST_BLOCKS = 20
MOST_REFITTED = 1_500  # texts; of more, what was learned moves less than the texts that test it

UNEXPLAINED = {"pearson": 1.0, "spearman": 1.0, "kendall": 4 / 9}  # variance times rows
POWERS = {"mse": 2, "mae": 1}  # of a single error
NORMAL = {"mse": 2.0, "mae": math.pi / 2 - 1}  # the same, of the logarithm of normal errors

FEWEST = 20  # texts that tell two correlations apart
FEWEST_RATERS = 3  # two say nothing of how far a third may lie from them
NOT_TUNED = np.zeros(0)
PERFECT = 1 - 1e-12  # a correlation of 1 is infinite in Fisher's z

Of = Callable[[int, bool], float]  # part that is left out, 0 for none; learned anew -> a number
Transform = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Deal:
    """How a pool is dealt.

    Attributes:
        human: [n] human ratings; groups: [n] what is held out together.
        blocks: [n] folds of whole groups, within which texts are ranked by one model.
        part: [n] part from 1 that each text leaves with; parts: how many.
        severity: what other raters, as unlike these as these are unlike each other, may add to the
            mean squared error: no more in 95 %; 0 where ratings do not tell.
    """

    human: FloatArray
    groups: IntArray
    blocks: IntArray
    part: IntArray
    parts: int
    severity: float = 0.0


def dealt(pool: RatedPool, groups: IntArray, seed: int = 0) -> Deal:
    """Blocks and parts of a pool, by its content: the order of rows changes nothing."""
    times = min(MOST_BLOCKS, len(np.unique(groups)) // BLOCK) // FOLDS
    blocks = folds_in(pool, groups, FOLDS * max(times, 1))
    parts, part = np.unique(folds_in(pool, groups, PARTS, (3, seed)), return_inverse=True)
    return Deal(
        human=pool.human,
        groups=groups,
        blocks=blocks,
        part=part + 1,
        parts=len(parts),
        severity=_severity(pool),
    )


def _severity(pool: RatedPool) -> float:
    """Square of how far the mean of as many others may lie from that of these: 95 % quantile.

    Each mean scatters by the variance between raters. So few raters tell it that Student's t has
    one degree of freedom less than there are.
    """
    if len(pool.ratings.annotators) < FEWEST_RATERS:
        return 0.0
    cells, who, text = cells_of(pool.ratings, len(pool))
    ratings = human_ratings(cells, len(who), scale=pool.scale)
    share = 1 / np.bincount(text)[text]  # of each rating in its text's mean
    order = np.lexsort((share, who))
    shares = np.bincount(who[order], share[order]) / len(pool)
    shares = np.sort(shares[shares > 0])
    freedom = max(len(shares) - 1, 1)
    told = severity(text, who, ratings)
    variance = told.variance if told.freedom else 0.0
    return student(freedom) ** 2 * 2 * float(np.square(shares).sum()) * variance


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What one method says in the whole pool and without each part of it.

    Attributes:
        deal: the parts.
        held: of the whole pool, then of the pool without each part where the method learned anew.
        tuned: of the whole pool, as of `Tried`.
    """

    deal: Deal
    held: tuple[Held, ...]
    tuned: tuple[Held, ...] = ()

    @property
    def method(self) -> str:
        """How intervals are made, for signatures.

        fixed: what was learned stays as it was; tuned: they allow for what may be tuned otherwise;
        raters: those of errors for other raters.
        """
        said = {
            "-fixed": len(self.held) == 1,
            "-tuned": bool(self.tuned),
            "-raters": self.deal.severity > 0,
        }
        return f"jack-{self.deal.parts}{''.join(one for one, there in said.items() if there)}"

    @property
    def tunings(self) -> tuple[Held, ...]:
        """As `tuned`; where nothing is tuned, what it says of the whole pool, once."""
        return self.tuned or self.held[:1]

    @property
    def whole(self) -> bool:
        """Whether it has an estimate of every text that is not left out."""
        parts = (np.isnan(held.alone + held.apart) for held in self.held)
        left = (self.deal.part == part for part in range(len(self.held)))
        return all((missing == gone).all() for missing, gone in zip(parts, left, strict=True))

    def at(self, part: int = 0, anew: bool = False) -> Held:
        """[n] estimates without that part, 0 for none; NaN for its texts.

        Args:
            part: which one; anew: whether it taught nothing either.
        """
        found = self.held[part if anew and len(self.held) > 1 else 0]
        return found if part == 0 else _without(found, self.deal.part == part)

    def on(self, rows: BoolArray) -> Trial:
        """The same on these texts alone."""
        held, tuned = ([_without(one, ~rows) for one in each] for each in (self.held, self.tuned))
        return Trial(self.deal, tuple(held), tuple(tuned))


def trial(tried: Tried, deal: Deal) -> Trial:
    """A method learning anew without each part, where it can and the pool is small enough."""
    held = [tried.held]
    if tried.without is not None and len(deal.human) <= MOST_REFITTED:
        held += [tried.without(np.flatnonzero(deal.part != p + 1)) for p in range(deal.parts)]
    return Trial(deal, tuple(held), tried.tuned)


def _without(held: Held, rows: BoolArray) -> Held:
    return Held(*(np.where(rows, np.nan, column) for column in held))


def value_of(measure: str, deal: Deal, held: Held, some: BoolArray | None = None) -> float:
    """A measure of the texts that have an estimate, or of some of these.

    Errors are of each text without its group. Correlations are within blocks, whose texts one
    model has judged that knows none of them.
    """
    column = held.apart if measure in WITHIN else held.alone
    known = ~np.isnan(column) & (True if some is None else some)
    rows = np.flatnonzero(known)
    rows = rows[np.lexsort((column[rows], deal.human[rows]))]  # sums do not depend on their order
    if measure in WITHIN:
        return WITHIN[measure](deal.human[rows], column[rows], deal.blocks[rows])
    return MEASURES[measure].value(deal.human[rows], column[rows])


def over(deal: Deal, number: Of) -> FloatArray:
    """[2, 1 + parts] a number of the whole pool, and without each part: as a test; learned anew."""
    parts = range(deal.parts + 1)
    return np.array([[number(part, anew) for part in parts] for anew in (False, True)])


@lru_cache(maxsize=64)
def values_of(measure: str, one: Trial) -> FloatArray:
    """[2, 1 + parts] a measure, as of `over`."""
    return of_parts(one, lambda held: value_of(measure, one.deal, held))


@lru_cache(maxsize=64)
def tuned_of(measure: str, one: Trial) -> FloatArray:
    """[tunings] a measure by what was tuned without each fold; to say one thing of all is 0."""
    found = np.array([value_of(measure, one.deal, each) for each in one.tunings])
    return np.nan_to_num(found) if measure in WITHIN else found


def of_parts(one: Trial, number: Callable[[Held], float]) -> FloatArray:
    """[2, 1 + parts] a number of a method's estimates, as of `over`; once where it is fixed."""
    if len(one.held) > 1:
        return over(one.deal, lambda part, anew: number(one.at(part, anew)))
    plain = [number(one.at(part)) for part in range(one.deal.parts + 1)]
    return np.array([plain, plain])


def measured(measure: str, one: Trial) -> tuple[float, Interval]:
    """A measure with its 95 % interval."""
    values = values_of(measure, one)
    larger, least = measure not in WITHIN, least_error(measure, one)
    tuned = tuned_of(measure, one)
    low, high = interval_of(values, MEASURES[measure], larger=larger, least=least, tuned=tuned)
    value, severity = float(values[0, 0]), one.deal.severity
    if measure in ERRORS and severity and not math.isnan(high):
        high = _raised(value, high, severity if measure == "mse" else _absolute(value, severity))
    return value, (low, _possible(measure, value, high, one.deal.human))


def _possible(measure: str, value: float, high: float, human: FloatArray) -> float:
    """The upper end, no higher than an error of the whole range of the ratings makes it."""
    if measure not in ERRORS or math.isnan(high):
        return high
    return min(high, max(float(np.ptp(human)) ** POWERS[measure], value))


def _absolute(value: float, severity: float) -> float:
    """What a squared gap adds to a mean absolute error, by what it adds to that of normal ones."""
    return math.hypot(value, math.sqrt(2 / math.pi * severity)) - value


def _raised(value: float, high: float, added: float) -> float:
    """The upper end of an error that other raters may raise by so much; both are independent."""
    if value == 0:
        return math.hypot(high, added)
    return value * math.exp(math.hypot(math.log(high / value), math.log1p(added / value)))


def least_error(measure: str, one: Trial) -> float:
    """Standard error that a measure has at least, on the scale of its interval; 0 of others.

    Of Fisher's z where nothing explains the ratings: shuffled within a fold of m rows, Pearson's
    and Spearman's r have the variance 1 / (m - 1), and Kendall's tau about 4/9 of that. Of the
    logarithm of an error where errors are normal; 0 where a part has none at all.
    """
    held = one.at()
    if measure in ERRORS:
        there = np.nanmin(values_of(measure, one), initial=np.inf) > 0
        rows, variance = int((~np.isnan(held.alone)).sum()), NORMAL[measure] if there else 0.0
    else:
        blocks = one.deal.blocks[~np.isnan(held.apart)]
        rows, variance = len(blocks) - len(np.unique(blocks)), UNEXPLAINED.get(measure, 0.0)
    return math.sqrt(variance / rows) if rows else 0.0


def difference(measure: str, first: Trial, second: Trial) -> Difference:
    """How far a measure of one lies above another's, on the texts that both have an estimate for.

    Both lose the same parts. Of correlations of fewer than `FEWEST` texts it is undefined: their
    intervals hold too seldom.
    """
    both = ~np.isnan(first.at().alone + second.at().alone)
    if measure in WITHIN and both.sum() < FEWEST:
        return Difference(measure=measure, value=math.nan, interval=UNDEFINED)
    if first.whole and second.whole:
        values = values_of(measure, first) - values_of(measure, second)
        one, other = tuned_of(measure, first), tuned_of(measure, second)
        tuned = one - np.resize(other, len(one)) if len(one) > 1 else one - other
    else:
        values = over(first.deal, partial(_gap, measure, first, second))
        tuned = _tuned_gap(measure, first, second)
    ends = interval_of(values, larger=measure not in WITHIN, tuned=tuned)
    return Difference(measure=measure, value=float(values[0, 0]), interval=ends)


def _gap(measure: str, first: Trial, second: Trial, part: int, anew: bool) -> float:
    return _apart(measure, first.deal, first.at(part, anew), second.at(part, anew))


def _tuned_gap(measure: str, first: Trial, second: Trial) -> FloatArray:
    """[tunings] the same by what was tuned without each fold."""
    sides = (first.tunings, second.tunings)
    pairs = [[side[i % len(side)] for side in sides] for i in range(max(map(len, sides)))]
    found = np.array([_apart(measure, first.deal, *pair) for pair in pairs])
    return np.nan_to_num(found) if measure in WITHIN else found


def _apart(measure: str, deal: Deal, ours: Held, theirs: Held) -> float:
    both = ~np.isnan(ours.alone + theirs.alone + ours.apart + theirs.apart)
    return value_of(measure, deal, ours, both) - value_of(measure, deal, theirs, both)


def error_of(
    values: FloatArray,
    *,
    larger: bool = False,
    least: float = 0.0,
    tuned: FloatArray = NOT_TUNED,
) -> float:
    """Standard error of a number from [2, 1 + parts] as of `over`.

    Its variance is that of the first row, and at least `least` squared; half of what the second
    adds, or with `larger` all of it; and that of `tuned`, the number by what was tuned without each
    fold, in a jackknife over folds. NaN where it is undefined, or undefined without more
    than half of the parts.
    """
    test, anew = (_variance(row) for row in values)
    known = [one for one in (test, anew) if not math.isnan(one)]
    if not known:
        return math.nan
    learned = max(0.0, anew - test) if len(known) > 1 else 0.0
    otherwise = np.nan_to_num(_variance(np.append(0.0, tuned))) if len(tuned) > 1 else 0.0
    return math.sqrt(max(least**2, known[0]) + (learned if larger else learned / 2) + otherwise)


def _variance(values: FloatArray) -> float:
    left = values[1:][~np.isnan(values[1:])]
    if math.isnan(values[0]) or len(left) < 2 or 2 * len(left) < len(values) - 1:
        return math.nan
    return (len(left) - 1) / len(left) * float(np.square(left - left.mean()).sum())


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
        values: [2, 1 + parts] as of `over`.
        measure: what they are values of; a difference without it.
        larger: as of `error_of`, for errors and their differences; least, tuned: as there.
    """
    there, back = _scale(np.append(values, tuned), measure)
    error = error_of(there(values), larger=larger, least=least, tuned=there(tuned))
    if math.isnan(error):
        return UNDEFINED
    half = student(values.shape[1] - 2) * error
    centre = there(values[0, :1])
    low, high = back(centre - half), back(centre + half)
    if there is np.log:
        return float(low[0]), float(values[0, 0]) / (1 - half) if half < 1 else math.inf
    return float(low[0]), float(high[0])


def p_value(name: str, one: Trial) -> float:
    """Two-sided, of a correlation of 0; NaN where its interval is undefined."""
    from scipy.special import stdtr

    values = values_of(name, one)
    tuned = tuned_of(name, one)
    there, _ = _scale(np.append(values, tuned), MEASURES[name])
    error = error_of(there(values), least=least_error(name, one), tuned=there(tuned))
    if not error > 0:
        return math.nan if math.isnan(error) else 0.0
    z = float(there(values)[0, 0])
    return 2.0 * float(stdtr(values.shape[1] - 2, -abs(z) / error))


def _scale(values: FloatArray, measure: Measure | None) -> tuple[Transform, Transform]:
    """Where a measure scatters evenly, and the way back."""
    if measure is None:
        return (lambda x: x), (lambda x: x)
    if measure.low < 0:
        return (lambda r: np.arctanh(np.clip(r, -PERFECT, PERFECT))), np.tanh
    if math.isinf(measure.high) and np.nanmin(values, initial=np.inf) > 0:
        return np.log, np.exp
    return (lambda x: x), (lambda x: np.clip(x, measure.low, measure.high))


def agreement_of(one: Trial, reasons: Sequence[str]) -> Agreement:
    """All measures of a method; see `refless.evaluation.held_out.Agreement`.

    Args:
        one: the method; reasons: [n] why a text has no estimate.
    """
    deal, held = one.deal, one.at()
    values = {name: values_of(name, one) for name in MEASURES}
    measures = {name: float(column[0, 0]) for name, column in values.items()}
    found: dict[str, Any] = {**measures}
    known = ~np.isnan(held.alone)
    for name in values:
        found[f"{name}_interval"] = measured(name, one)[1]
    for name in UNEXPLAINED:
        found[f"{name}_p"] = p_value(name, one)
    return Agreement(
        n=len(known),
        n_scored=int(known.sum()),
        coverage=float(known.mean()) if len(known) else math.nan,
        **found,
        reasons=counted_reasons(held.alone, reasons),
        undefined=why_undefined(measures, deal.human[known], held.apart[known], deal.human),
        interval_method=one.method,
    )
