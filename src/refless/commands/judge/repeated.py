"""A judge asked again: does it say the same twice, and the same as before a change?"""

import math
from dataclasses import dataclass

import numpy as np

from refless.evaluation.scales import are_verdicts
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.answers import Estimate
from refless.stats.contrast import contrast
from refless.stats.intervals import VERDICTS, Interval
from refless.stats.left_out import correlated
from refless.stats.samples import Sample
from refless.stats.verdicts import proportion


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """Several runs of one judge over the same rows.

    Attributes:
        runs, n: how many, and the rows that all of them scored.
        flips: share of rows on which not all runs say the same.
        sd: standard deviation of a row's scores from run to run, root mean square over rows.
        measure: kappa or Spearman, with people; single: its mean over runs; together: of the
            majority's verdict or the mean score; both with intervals.
    """

    runs: int
    n: int
    flips: Estimate
    sd: float
    measure: str
    single: Estimate
    together: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreChange:
    """A judge's scores of the same texts, now less before.

    Attributes:
        n: texts that both files score; change: of the mean score; flips: share of texts whose
            verdict (or score) is another one.
    """

    n: int
    change: Estimate
    flips: Estimate


def runs_of(
    human: FloatArray,
    scores: FloatArray,
    clusters: IntArray,
    bars: Interval | None,
) -> Runs:
    """The agreement of runs with each other, and of one and of all with people.

    Args:
        human: [n] ratings; scores: [n, k] of each run, NaN where there is none; clusters: [n].
        bars: from where on a rating, and a score, is a pass, or None.
    """
    complete = ~np.isnan(scores).any(axis=1)
    human = human[complete]
    scores = scores[complete]
    clusters = clusters[complete]
    sd = math.nan
    if len(human):
        variances = scores.var(axis=1, ddof=1)
        sd = math.sqrt(float(variances.mean()))
    measure = coefficient = "spearman"
    judged = scores
    majority = scores.mean(axis=1)
    if bars is not None:
        measure = "kappa"
        coefficient = "quadratic_kappa"  # of verdicts it is kappa
        human = (human >= bars[0]).astype(float)
        judged = (scores >= bars[1]).astype(float)
        majority = (judged.mean(axis=1) > 0.5).astype(float)
    return Runs(
        runs=scores.shape[1],
        n=len(human),
        flips=proportion(np.ptp(judged, axis=1) > 0, clusters),
        sd=sd,
        measure=measure,
        single=correlated(coefficient, human, judged, clusters),
        together=correlated(coefficient, human, majority, clusters),
    )


def drift_of(
    now: FloatArray, before: FloatArray, clusters: IntArray, passing: float | None
) -> ScoreChange:
    """The change of a judge's scores on the texts that both files score.

    Args:
        now, before: [n] scores, NaN where there is none; clusters: [n].
        passing: from where on is passed; None compares the scores themselves.
    """
    both = ~np.isnan(now + before)
    now = now[both]
    before = before[both]
    clusters = clusters[both]
    if not len(now):
        none = Estimate(undefined="no text is scored in both files")
        return ScoreChange(n=0, change=none, flips=none)
    changed = now != before
    if passing is not None:
        changed = (now >= passing) != (before >= passing)
    scores = np.concatenate([before, now])
    scale: Interval | None = None
    if scores.min() < scores.max():
        scale = (float(scores.min()), float(scores.max()))
    if passing is not None and are_verdicts(scores):
        scale = VERDICTS  # also if all pass
    return ScoreChange(
        n=len(now),
        change=_change(scores, clusters, scale),
        flips=proportion(changed, clusters),
    )


def _change(both: FloatArray, clusters: IntArray, scale: Interval | None) -> Estimate:
    """Of the mean score: of two judges, as it were, on the same rows; [2n] scores, those before."""
    n = len(clusters)
    sample = Sample.of(
        both,
        np.tile(clusters, 2),
        arm=np.repeat(np.array([-1, 1]), n),
        item=np.tile(np.arange(n), 2),
    )
    return Estimate.of(contrast(sample, scale=scale).alone, n)
