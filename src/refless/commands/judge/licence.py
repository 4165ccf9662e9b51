"""The texts that a judge may pass or fail alone, and those that people decide.

The promise: of the texts that it passes at most a given share would be failed by people, and of
those that it fails at most as many would be passed. Both hold together, for all judges that are
looked at, with the chance that is asked for (`stats.learn_then_test`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from refless.evaluation.decisions import JudgeInputs, Thresholds
from refless.evaluation.judge_shift import ScoreSample
from refless.evaluation.labels import Labels, mean_answer, passing_raters
from refless.evaluation.raters import Raters
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.stats.answers import Answer
from refless.stats.clusters import effective_size_of_share
from refless.stats.intervals import VERDICTS, student
from refless.stats.learn_then_test import (
    Candidates,
    EffectiveSize,
    Risk,
    ThresholdStep,
    labels_needed,
    shown_nowhere,
    tested,
)

RISKS = (0.01, 0.02, 0.05, 0.1, 0.2)  # shares of wrong texts that the curve shows
SELECTED = "the rated rows do not look drawn at random"
SHIFTED = "rows without a rating have scores beyond those of rated rows"
UNSHOWN = "these ratings do not show that so few are wrong"
UNSHOWN_ANYWHERE = f"{UNSHOWN}, whatever the threshold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """The promise that is asked for.

    Attributes:
        at_most_wrong: share of wrong texts among those that a judge passes, and among those that it
            fails; sure: chance that it holds; judges: for how many at once.
    """

    at_most_wrong: float
    sure: float
    judges: int = 1

    @property
    def risk(self) -> Risk:
        """The promise of each side of each judge."""
        return Risk(
            at_most_wrong=self.at_most_wrong,
            error=1 - self.sure,
            promises=2 * self.judges,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LicensedSide:
    """The texts that a judge passes alone, or fails alone.

    Attributes:
        chosen: the threshold, or None; scores from there on pass, or up to there fail.
        share: of all rows that it decides.
        steps: thresholds that were tried, those of the clearest scores first.
    """

    chosen: ThresholdStep | None
    share: float
    steps: tuple[ThresholdStep, ...]

    @property
    def threshold(self) -> float:
        """The threshold, NaN without one."""
        return math.nan if self.chosen is None else self.chosen.threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskPoint:
    """A point of the curve of the share decided against the error that is allowed.

    Attributes:
        at_most_wrong: as promised at this point alone; decided: share of all rows.
        pass_from, fail_to: thresholds, NaN if there is none.
    """

    at_most_wrong: float
    decided: float
    pass_from: float
    fail_to: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Licence:
    """The texts that a judge may decide alone.

    Attributes:
        passing: from where on people's mean rating is a pass.
        promise: that is kept; inputs: of the judge.
        scores: of all rows, as far as there are any; other scores have no licence.
        n: rated rows with a score; rows: all that are asked about.
        passes, fails: the two sides.
        people: share of all rows that people decide; rows without a score are among them.
        trivial: whether the promise would be kept if all texts passed, or all failed.
        curve: the share decided for other promises.
        needed: rated texts with which some text should be decided alone, if none is; None if more
            may not help.
        undefined: why nothing may be decided alone, or "".
    """

    passing: float
    promise: Promise
    inputs: JudgeInputs
    scores: ScoreSample
    n: int
    rows: int
    passes: LicensedSide
    fails: LicensedSide
    people: float
    trivial: bool
    curve: tuple[RiskPoint, ...]
    needed: int | None = None
    undefined: str = ""

    @property
    def within_reach(self) -> RiskPoint | None:
        """The strictest promise by which it decides some texts; None if there is none."""
        return next((point for point in self.curve if point.decided > 0), None)

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds of both sides."""
        return Thresholds(pass_from=self.passes.threshold, fail_to=self.fails.threshold)


def licensed(
    labels: Labels,
    passing: float,
    promise: Promise,
    inputs: JudgeInputs | None = None,
) -> Licence:
    """The licence of one judge.

    Args:
        labels: its scores as they are, higher ones being better, and people's ratings.
        passing: from where on a rating is a pass; promise: that is asked for.
        inputs: of the judge; None for a column.
    """
    undefined = SELECTED if labels.selected else ""
    if labels.shifted:
        undefined = undefined or SHIFTED
    passes, fails = _candidates(labels, passing)
    every = labels.every.judge
    sides = _sides(every, passes, fails, promise.risk)
    shares = () if undefined else sorted({*RISKS, promise.at_most_wrong})
    points = []
    for share in shares:
        risk = replace(promise, at_most_wrong=share).risk
        points.append(_point(share, *_sides(every, passes, fails, risk)))
    if undefined:
        sides = (_refused(sides[0]), _refused(sides[1]))
    decided = sum(side.share for side in sides)
    needed = None
    if decided == 0 and not undefined:
        nowhere = all(shown_nowhere(side, promise.risk) for side in (passes, fails))
        undefined = UNSHOWN_ANYWHERE if nowhere else UNSHOWN
        needed = _needed(passes, fails, promise.risk)
    last_steps = [side.steps[-1] for side in sides if side.steps]
    return Licence(
        passing=passing,
        promise=promise,
        inputs=inputs or JudgeInputs(columns=(labels.name,)),
        scores=ScoreSample.of(every, [*map(str, labels.every.unit)]),
        n=len(labels),
        rows=len(every),
        passes=sides[0],
        fails=sides[1],
        people=1 - decided,
        trivial=decided > 0 and any(step.certified for step in last_steps),
        curve=tuple(points),
        needed=needed,
        undefined=undefined,
    )


def _needed(passes: Candidates, fails: Candidates, risk: Risk) -> int | None:
    """Rated texts with which some could be decided alone; None if more may not help."""
    counts = [labels_needed(side, risk) for side in (passes, fails)]
    return min((count for count in counts if count is not None), default=None)


def _point(share: float, passes: LicensedSide, fails: LicensedSide) -> RiskPoint:
    """The point of the curve with these sides."""
    return RiskPoint(
        at_most_wrong=share,
        decided=passes.share + fails.share,
        pass_from=passes.threshold,
        fail_to=fails.threshold,
    )


def _refused(side: LicensedSide) -> LicensedSide:
    """The side without any text that is decided alone."""
    return replace(side, chosen=None, share=0.0)


def _candidates(labels: Labels, passing: float) -> tuple[Candidates, Candidates]:
    """The texts that may pass, the highest scores first, and that may fail, the lowest first."""
    good = labels.human >= passing
    passed_by = passing_raters(labels.raters, passing)
    failed_by = passed_by and replace(passed_by, rating=1 - passed_by.rating)
    passes = Candidates(
        scores=labels.judge,
        wrong=~good,
        unit=labels.unit,
        effective=_sizes(labels, ~good, failed_by),
    )
    fails = Candidates(
        scores=-labels.judge,
        wrong=good,
        unit=labels.unit,
        effective=_sizes(labels, good, passed_by),
    )
    return passes, fails


def _sides(
    every: FloatArray, passes: Candidates, fails: Candidates, risk: Risk
) -> tuple[LicensedSide, LicensedSide]:
    """The texts that it passes and those that it fails: of certified thresholds, the most."""
    of_passes = tested(passes, risk)
    of_fails = tuple(
        replace(step, threshold=0.0 - step.threshold) for step in tested(fails, risk)
    )
    upper, lower = _most(every, of_passes, of_fails)
    return (
        LicensedSide(chosen=upper, share=_share(every, upper, None), steps=of_passes),
        LicensedSide(chosen=lower, share=_share(every, None, lower), steps=of_fails),
    )


def _most(
    scores: FloatArray,
    of_passes: Sequence[ThresholdStep],
    of_fails: Sequence[ThresholdStep],
) -> tuple[ThresholdStep | None, ThresholdStep | None]:
    """The certified thresholds that together decide most; no score passes and fails.

    Args:
        scores: [N] of all rows, NaN where there is none; of_passes, of_fails: steps of both sides.
    """
    uppers = [step for step in of_passes if step.certified]
    lowers = [step for step in of_fails if step.certified]
    best = (0.0, 0.0)
    chosen: tuple[ThresholdStep | None, ThresholdStep | None] = (None, None)
    for upper, lower in product([None, *uppers], [None, *lowers]):
        if upper and lower and lower.threshold >= upper.threshold:
            continue
        passes = _share(scores, upper, None)
        decided = _share(scores, upper, lower)
        if (decided, passes) > best:
            best = (decided, passes)
            chosen = (upper, lower)
    return chosen


def _share(
    scores: FloatArray, upper: ThresholdStep | None, lower: ThresholdStep | None
) -> float:
    """The share of all rows from the one threshold on, or up to the other."""
    top = math.inf if upper is None else upper.threshold
    bottom = -math.inf if lower is None else lower.threshold
    return float(((scores >= top) | (scores <= bottom)).mean())


def _sizes(labels: Labels, wrong: BoolArray, single: Raters | None) -> EffectiveSize:
    """A function that gives the independent rows that some rows are worth.

    Args:
        labels: the rows; wrong: [n] whether deciding a row is an error; single: the same by each
            rater, if they are known.
    """
    errors = wrong.astype(np.float64)

    def effective(rows: IntArray) -> float:
        values = errors[rows]
        unit = labels.unit[rows]
        size = effective_size_of_share(values, unit)
        if single is None:
            return size
        raters = single.among(rows, len(labels))
        plain = mean_answer(values, unit, VERDICTS)
        by_raters = mean_answer(values, unit, VERDICTS, raters, raters.rating)
        if not plain.error > 0 or not by_raters.error > 0:
            return size
        return size * min(1.0, (_half(plain) / _half(by_raters)) ** 2)

    return effective


def _half(answer: Answer) -> float:
    """Half the width of an interval without bounds."""
    return student(answer.freedom) * answer.error
