"""The audit of one judge: agreement, uses, corrected means, and where it errs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from refless.commands.judge.calibration import Calibration
from refless.commands.judge.licence import SHIFTED, Licence
from refless.commands.judge.numbers import measured, of_annotators
from refless.data.records import picked
from refless.evaluation.labels import (
    ALARM,
    Labels,
    errors_of,
    extreme_errors,
    single_errors,
    verdicts,
)
from refless.evaluation.uses import (
    FILTER,
    Use,
    as_annotator,
    may_estimate,
    may_filter,
    may_rank,
    may_replace,
    refusals,
)
from refless.registry.arrays import BoolArray, FloatArray
from refless.stats.answers import Answer, Estimate
from refless.stats.contrast import contrast
from refless.stats.corrections import corrected
from refless.stats.intervals import VERDICTS, Interval
from refless.stats.samples import NOBODY, Sample
from refless.stats.verdicts import Confusion

FEWEST_IN_SLICE = 10
WORST = 20
BOTH = "ratings and scores"
RATINGS = "ratings alone"
SCORES = "scores alone"
FIRST = (BOTH, RATINGS)  # chosen before the data are seen
UNCORRECTED = "its errors are in no interval"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """The judge's mean error in a part of the rows, less that in all others.

    Attributes:
        column, value: which rows; n: labels there.
        error: mean of score less rating in the slice; gap: the same less that elsewhere.
        p_holm: of no gap, after Holm over all slices; NaN where there are too few labels.
    """

    column: str
    value: str
    n: int
    error: float
    gap: Estimate
    p_holm: float = math.nan

    @property
    def name(self) -> str:
        """The column and its value."""
        return f"{self.column} {self.value}"

    @property
    def significant(self) -> bool:
        """Whether the gap is significant."""
        return self.p_holm < ALARM


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Audit:
    """One judge against people.

    Attributes:
        name: of the judge; n: labels with a score; unlabelled: scores without a label.
        rows: all rows that are asked about, without a label or a score too.
        passing: from where on is passed, or None; table: the verdicts, or None.
        same_units: whether scores are in the units of the ratings.
        measures: agreement and errors, by name; annotator: those of one annotator, or empty.
        usual: the judge's most frequent score; usual_share: the share of its scores that it has.
        uses: what the judge may be used for.
        means: the mean rating (or share of passes) of all rows by each method; first: the one to
            print, chosen by what is known before the labels are, "" for none.
        slices: parts of the rows; few: slices that had too few labels.
        worst: ids of the texts on which judge and people are farthest apart, and `errors` there.
        refusals: what is not claimed.
        licence: the texts that it may decide alone, if that is asked for.
        calibration: of scores that are probabilities, beside verdicts; else None.
        to_rate: what to rate if rated rows do not look drawn at random, as an order; else "".
    """

    name: str
    n: int
    unlabelled: int
    rows: int
    passing: float | None
    table: Confusion | None
    same_units: bool
    measures: Mapping[str, Estimate]
    annotator: Mapping[str, Estimate]
    usual: float
    usual_share: float
    uses: tuple[Use, ...]
    means: Mapping[str, Estimate]
    first: str
    slices: tuple[Slice, ...]
    few: tuple[str, ...]
    worst: tuple[str, ...]
    errors: tuple[float, ...]
    refusals: tuple[str, ...]
    licence: Licence | None = None
    calibration: Calibration | None = None
    to_rate: str = ""

    @property
    def alone(self) -> Use:
        """The answer on its use for single outputs."""
        return next(use for use in self.uses if use.purpose == FILTER)


def audit(labels: Labels, scores: FloatArray, ranked: Estimate, seed: int) -> Audit:
    """The whole audit of one judge.

    Args:
        labels: what it said beside what people said.
        scores: of all rows as they are, NaN where there is none.
        ranked: share of pairs of systems in people's order; NaN with a reason otherwise.
        seed: of what is drawn.
    """
    measures = measured(labels, seed)
    means = corrected_means(labels)
    usual, usual_share = _usual(scores[~np.isnan(scores)])
    slices, few = sliced(labels)
    worst, errors = worst_of(labels)
    table = None
    if labels.passing is not None:
        human, judge, _ = verdicts(labels)
        table = Confusion.of(human, judge)
    uses = (
        may_rank(ranked, labels, measures),
        may_estimate(labels, measures),
        may_filter(labels, measures),
        may_replace(labels, as_annotator(labels)),
    )
    return Audit(
        name=labels.name,
        n=len(labels),
        unlabelled=len(labels.unlabelled),
        rows=len(labels.every.human),
        passing=labels.passing,
        table=table,
        same_units=labels.same_units,
        measures=measures,
        annotator=of_annotators(labels, seed),
        usual=usual,
        usual_share=usual_share,
        uses=uses,
        means=means,
        first=_first(labels, means),
        slices=slices,
        few=few,
        worst=worst,
        errors=errors,
        refusals=refusals(labels),
    )


def _usual(scores: FloatArray) -> tuple[float, float]:
    """The judge's most frequent score and its share; NaN without a score."""
    if not len(scores):
        return math.nan, math.nan
    values, counts = np.unique(scores, return_counts=True)
    usual = counts.argmax()
    return float(values[usual]), float(counts[usual] / len(scores))


def _first(labels: Labels, means: Mapping[str, Estimate]) -> str:
    """The method whose mean is to be printed; "" for none."""
    if labels.selected:
        return ""
    for name in FIRST:
        if name in means and means[name].interval[0] > -math.inf:
            return name
    return ""


def corrected_means(labels: Labels) -> dict[str, Estimate]:
    """The mean rating, or the share of passes, of all rows by each method, by its name.

    A row without a score counts with the mean score: a judge that is blank where outputs are bad
    takes none of them away.
    """
    every = labels.every
    scored = ~np.isnan(every.judge)
    rated = ~np.isnan(every.human)
    complete = rated.all() and scored.all() and every.mass is None
    proxy = None
    mean_score = _mean_score(every.judge, scored, every.mass)
    usable = not math.isnan(mean_score) and not labels.shifted
    if usable and not complete:
        proxy = np.where(scored, every.judge, mean_score)
    raters = every.raters
    sample = Sample.of(
        every.human,
        every.unit,
        proxy=proxy,
        mass=every.mass,
        shares=NOBODY if raters is None else raters.shares,
    )
    scale = labels.scale if labels.passing is None else VERDICTS
    severity = None if raters is None else raters.severity(raters.rating)
    answers = contrast(sample, scale=scale, severity=severity)
    n = int(rated.sum())
    means = {RATINGS: Estimate.of(answers.alone, n)}
    if complete:
        return means
    means[BOTH] = Estimate.of(answers.both, n)
    if labels.shifted:
        means[BOTH] = Estimate(undefined=SHIFTED)
    if usable and labels.same_units:
        n = int(scored.sum())
        means[SCORES] = Estimate(value=mean_score, n=n, undefined=UNCORRECTED)
    return means


def _mean_score(judge: FloatArray, scored: BoolArray, mass: FloatArray | None) -> float:
    """The mean score by the mass of rows; NaN if no row with a score has any."""
    if mass is None:
        return float(judge[scored].mean()) if scored.any() else math.nan
    if not mass[scored].any():
        return math.nan
    return float(np.average(judge[scored], weights=mass[scored]))


def sliced(labels: Labels) -> tuple[tuple[Slice, ...], tuple[str, ...]]:
    """The slices, those where the judge errs most clearly first, and slices with too few labels."""
    error = errors_of(labels)
    extremes = extreme_errors(labels)
    slices: list[Slice] = []
    p_values: list[float] = []
    few: list[str] = []
    for column, values in labels.slices.items():
        strings = np.array(values, dtype=object).astype(str)
        names, codes, counts = np.unique(
            strings, return_inverse=True, return_counts=True
        )
        for code, (value, n) in enumerate(
            zip(names.tolist(), counts.tolist(), strict=True)
        ):
            if value and n < FEWEST_IN_SLICE:
                few.append(f"{column} {value}")
            elif value and len(error) - n >= FEWEST_IN_SLICE:
                inside = codes == code
                mean = float(error[inside].mean())
                gap = Estimate.of(_gap(labels, error, inside), n)
                at_ends = [_gap(labels, errors, inside) for errors in extremes]
                gap = replace(gap, interval=_around(at_ends))
                p_values.append(_least_sure(at_ends))
                slices.append(
                    Slice(column=column, value=value, n=n, error=mean, gap=gap)
                )
    with_p = zip(slices, corrected(p_values), strict=True)
    slices = [replace(part, p_holm=p) for part, p in with_p]
    slices.sort(key=lambda part: (part.p_holm, part.column, part.value))
    return tuple(slices), tuple(few)


def _around(answers: Sequence[Answer]) -> Interval:
    """The interval that has those of all answers in it."""
    lows, highs = zip(*(answer.interval for answer in answers), strict=True)
    return min(lows), max(highs)


def _least_sure(answers: Sequence[Answer]) -> float:
    """The largest p-value; 1 if the answers do not point one way."""
    signs = {math.copysign(1, answer.value) for answer in answers}
    return max(answer.p for answer in answers) if len(signs) == 1 else 1.0


def _gap(labels: Labels, error: FloatArray, inside: BoolArray) -> Answer:
    """The mean error inside less that outside."""
    raters = labels.raters
    shares = NOBODY
    severity = None
    if raters is not None:
        shares = raters.shares
        severity = raters.severity(single_errors(labels, error))
    arm = np.where(inside, 1, -1)
    sample = Sample.of(error, labels.unit, arm=arm, shares=shares)
    reach = labels.reach
    scale = None
    if reach is not None and (labels.same_units or labels.passing is not None):
        scale = (-reach, reach)
    return contrast(sample, scale=scale, severity=severity).alone


def worst_of(labels: Labels) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Ids of the largest disagreements, and score less rating there; ties as the labels are."""
    error = errors_of(labels)
    order = np.argsort(-np.abs(error), kind="stable")[:WORST]
    order = order[error[order] != 0]
    return picked(labels.ids, order), tuple(error[order].tolist())
