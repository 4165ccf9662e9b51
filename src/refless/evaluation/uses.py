"""The uses that a judge's scores are fit for, and what is not claimed of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from refless.evaluation.further import needed_if_steady
from refless.evaluation.labels import (
    ALARM,
    OTHER_UNITS,
    Labels,
    mean_answer,
    rate_gap,
    verdicts,
)
from refless.evaluation.rater_agreement import TENTATIVE
from refless.registry.arrays import FloatArray
from refless.registry.dialect import called
from refless.registry.plural import counted
from refless.stats.answers import NOTHING_MORE, Estimate, Extra
from refless.stats.correlation import is_constant
from refless.stats.permutation import exchange_p
from refless.stats.raters import alpha
from refless.stats.samples import FEWEST_RATERS

Answered = Literal["yes", "no", "correct", "unknown"]
# kappa (or Spearman) from which single outputs may be filtered: "substantial"
AGREES = 0.6
# share of pairs of systems in people's order from which systems may be ranked
IN_ORDER = 0.8
SMALL = 0.05  # share of the scale by which a mean may be off
FEWEST = 10  # labels, to say anything
TOO_FEW = "too few labels"
APART = f"annotators agree too little with each other (alpha below {TENTATIVE:g})"
NOT_DRAWN = "the ratings do not look drawn at random"


@dataclass(frozen=True, slots=True)
class Purpose:
    """A use of a judge, declared once.

    Attributes:
        short: a word or two for tables.
        within: whether the number must lie within the bar, and not reach it.
    """

    short: str
    within: bool = False


RANK = "rank systems"
MEAN = "estimate a mean"
RATE = "estimate a pass rate"
FILTER = "filter single outputs"
REPLACE = "replace an annotator"
PURPOSES = {
    RANK: Purpose("compare versions"),
    MEAN: Purpose("estimate a mean", within=True),
    RATE: Purpose("estimate a rate", within=True),
    FILTER: Purpose("judge single outputs"),
    REPLACE: Purpose("replace a rater"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Whether a judge may be used for something.

    Attributes:
        purpose: what for, a name in PURPOSES.
        answer: yes, no, `correct` (with labels beside it) or unknown.
        measure: what the answer rests on; estimate: its value; bar: what it is held against.
        needed: labels that should tell, where it is unknown; None if it is not known either.
    """

    purpose: str
    answer: Answered
    measure: str
    estimate: Estimate
    bar: float
    needed: int | None = None


def may_rank(ranked: Estimate, labels: Labels, measures: Mapping[str, Estimate]) -> Use:
    """Whether enough pairs of systems are in people's order; of few systems ratings correct it."""
    use = _held_against(RANK, "pairs of systems in people's order", ranked, IN_ORDER)
    if not ranked.undefined or "system" not in labels.within:
        return use
    answer = _with_labels(measures)
    if answer == "no":
        return replace(use, answer=answer)
    column = called("score_column", labels.name)
    remedy = f"{ranked.undefined}: 'refless compare' with {column} corrects it"
    return replace(use, answer=answer, estimate=replace(ranked, undefined=remedy))


def _with_labels(measures: Mapping[str, Estimate]) -> Answered:
    """Whether labels beside it make it of use: they gain nothing if it disagrees with people."""
    _, agreement = _agreement(measures)
    return "no" if agreement.interval[0] <= 0 else "correct"


def may_filter(labels: Labels, measures: Mapping[str, Estimate]) -> Use:
    """Whether it agrees with people on single outputs."""
    use = _held_against(FILTER, *_agreement(measures), AGREES)
    return _forecast(use, labels)


def _agreement(measures: Mapping[str, Estimate]) -> tuple[str, Estimate]:
    """The number by which a judge agrees with people: kappa of verdicts, else Spearman."""
    name = "kappa" if "kappa" in measures else "spearman"
    return name, measures[name]


def may_replace(labels: Labels, advantage: Estimate) -> Use:
    """Whether it lies as near to the other annotators as an annotator does.

    Nobody knows if these do not agree: anything in the middle is then near to all.
    """
    measure = "nearness to the other annotators, minus an annotator's"
    use = _held_against(REPLACE, measure, advantage, 0.0)
    votes = labels.votes
    if use.answer == "yes" and alpha(votes.text, votes.rating, "ordinal") < TENTATIVE:
        apart = replace(advantage, undefined=APART)
        return replace(use, answer="unknown", estimate=apart)
    return _forecast(use, labels)


def may_estimate(labels: Labels, measures: Mapping[str, Estimate]) -> Use:
    """By how much a mean is off: small for certain, off for certain, or unknown.

    It is unknown if rated rows were chosen: of rows that the judge disliked, it disliked more by
    mistake than of all, so that it looks too strict whoever it is.
    """
    if labels.passing is None:
        purpose = MEAN
        bar = SMALL * labels.span
        name = "bias"
        estimate = measures.get(name)
    else:
        purpose = RATE
        bar = SMALL
        name = "judge's pass rate minus people's"
        estimate = Estimate.of(rate_gap(labels), len(labels))
    if estimate is None:
        estimate = Estimate(undefined=TOO_FEW)
    use = Use(
        purpose=purpose, answer="unknown", measure=name, estimate=estimate, bar=bar
    )
    low, high = estimate.interval
    if math.isnan(low) or len(labels) < FEWEST:
        is_correct = estimate.undefined == OTHER_UNITS and not labels.selected
        return replace(use, answer="correct") if is_correct else use
    if labels.selected:
        return replace(use, estimate=replace(estimate, undefined=NOT_DRAWN))
    inside = -bar <= low and high <= bar
    if inside and _is_constant(labels):
        constant = replace(estimate, undefined="it says the same of every row")
        use = replace(use, estimate=constant)
    elif inside:
        use = replace(use, answer="yes")
    elif low > 0 or high < 0:
        use = replace(use, answer=_with_labels(measures))
    size = abs(estimate.value)
    return _forecast(use, labels, distance=max(bar - size, size))


def _is_constant(labels: Labels) -> bool:
    """Whether all scores, or all verdicts, of a judge are the same."""
    scores = (
        (labels.judge, labels.unlabelled)
        if labels.passing is None
        else verdicts(labels)[1:]
    )
    return is_constant(np.concatenate(scores).astype(np.float64))


def _held_against(purpose: str, measure: str, estimate: Estimate, bar: float) -> Use:
    """Yes where the whole interval reaches the bar, no where none of it does."""
    low, high = estimate.interval
    answer: Answered = "unknown"
    if estimate.n >= FEWEST or estimate.undefined:
        if low >= bar:
            answer = "yes"
        elif high < bar:
            answer = "no"
    return Use(
        purpose=purpose, answer=answer, measure=measure, estimate=estimate, bar=bar
    )


def _forecast(use: Use, labels: Labels, distance: float | None = None) -> Use:
    """With the labels that should tell.

    No number is told if raters are known, as more labels by the same raters tell no more of others.
    """
    if labels.raters is not None or use.answer != "unknown":
        return use
    low, high = use.estimate.interval
    value = use.estimate.value
    distance = abs(value - use.bar) if distance is None else distance
    half = value - low if value > use.bar else high - value
    return replace(use, needed=needed_if_steady(len(labels), half, distance))


def refusals(labels: Labels) -> tuple[str, ...]:
    """The limits of these data, a sentence each."""
    sentences = [
        (
            "That the judge does as well on other texts, with another prompt, rubric or model: ask "
            f"again after each change, with {called('before')}."
        ),
        (
            "That the ratings stand for all rows: they do not look drawn at random."
            if labels.selected
            else "That the ratings stand for all rows, unless they were drawn at random."
        ),
        *_of_few_raters(labels),
    ]
    if labels.passing is not None:
        human = verdicts(labels)[0]
        for name, count in (
            ("passes", int(human.sum())),
            ("fails", int((~human).sum())),
        ):
            if count < FEWEST:
                sentences.append(
                    f"How the judge treats what people call {name}: of {counted(count, 'label')}."
                )
    return tuple(sentences)


def _of_few_raters(labels: Labels) -> tuple[str, ...]:
    """That few raters do not speak for others; nothing if their number is not known."""
    if labels.raters is None:
        return ()
    count = len(np.unique(labels.raters.rater))
    if count >= FEWEST_RATERS:
        return ()
    raters = "this rater rates" if count == 1 else f"these {count} raters rate"
    why = f"fewer than {FEWEST_RATERS} do not tell how strict others are"
    return (f"That other people would rate as {raters}: {why}.",)


def as_annotator(labels: Labels) -> Estimate:
    """The judge's gain over an annotator in nearness to the others' mean rating.

    The mean over annotators of the mean absolute error of each, less that of the judge on the same
    rows. It judges a text, and is weighed, as often as the text was rated.
    """
    if not labels.same_units:
        return Estimate(undefined=OTHER_UNITS)
    parts = [part for part in labels.people if len(part[0]) >= FEWEST]
    if len(parts) < 2:
        why = f"no two annotators rated {FEWEST} texts that others rated too"
        return Estimate(undefined=why)
    judge = labels.judge
    rows, means, ratings = map(np.concatenate, zip(*parts, strict=True))
    gains = np.abs(ratings - means) - np.abs(judge[rows] - means)
    scale = (-labels.span, labels.span)
    answer = mean_answer(gains, labels.unit[rows], scale)
    answer = answer.with_extra(_extra_of_annotators(_ratings_of(labels), judge))
    estimate = Estimate.of(answer, len(gains))
    low, high = estimate.interval
    if _p_of_equals(labels) < ALARM:
        return estimate
    return replace(estimate, interval=(min(low, -low), max(high, -high)))  # 0 is in it


def _ratings_of(labels: Labels) -> FloatArray:
    """[n, annotators] ratings by those who rated enough, NaN where there is none."""
    parts = [part for part in labels.people if len(part[0]) >= FEWEST]
    ratings = np.full((len(labels), len(parts)), math.nan)
    for place, (rows, _, marks) in enumerate(parts):
        ratings[rows, place] = marks
    return ratings


def _extra_of_annotators(ratings: FloatArray, judge: FloatArray) -> Extra:
    """The variance of the gain by the draw of annotators: the jackknife over them.

    Args:
        ratings: [n, annotators], NaN where there is none; judge: [n].
    """
    count = ratings.shape[1]
    if count < FEWEST_RATERS:
        return NOTHING_MORE
    total, pairs = _gains(ratings, judge)
    means = []
    for place in range(count):
        rows = np.flatnonzero(~np.isnan(ratings[:, place]))  # no other row changes
        with_all = _gains(ratings[rows], judge[rows])
        without = _gains(np.delete(ratings[rows], place, axis=1), judge[rows])
        remaining = pairs - with_all[1] + without[1]
        if remaining:
            means.append((total - with_all[0] + without[0]) / remaining)
    return Extra(variance=(count - 1) * float(np.var(means)), freedom=count - 1.5)


def _gains(ratings: FloatArray, judge: FloatArray) -> tuple[float, int]:
    """The judge's gains over annotators in nearness to the others' mean, summed; how many."""
    rated = ~np.isnan(ratings)
    counts = rated.sum(axis=1, keepdims=True)
    total = np.where(rated, ratings, 0.0).sum(axis=1, keepdims=True)
    means = (total - ratings) / np.maximum(counts - 1, 1)
    gains = np.abs(ratings - means) - np.abs(judge[:, None] - means)
    usable = rated & (counts > 1)
    return float(gains[usable].sum()), int(usable.sum())


def _p_of_equals(labels: Labels) -> float:
    """The p-value of a judge who is one of the annotators: any of them may have its place."""
    ratings = np.column_stack([_ratings_of(labels), labels.judge])
    counts = (~np.isnan(ratings)).sum(axis=1)
    several = np.flatnonzero(counts > 2)
    turns = np.zeros((len(several), int(counts[several].max(initial=1))))
    for turn, row in zip(turns, several.tolist(), strict=True):
        marks = ratings[row][~np.isnan(ratings[row])]
        means = (marks.sum() - marks[:, None] - marks) / (len(marks) - 2)
        gains = np.abs(marks[:, None] - means) - np.abs(marks - means)
        turn[-len(marks) :] = gains.sum(axis=0)
    return exchange_p(turns, counts[several], labels.unit[several])
