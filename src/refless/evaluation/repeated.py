"""A judge asked again: does it say the same twice, and the same as before a change?"""

import math
from dataclasses import dataclass

import numpy as np

from refless.evaluation.labels import CORRELATED, correlated, shift_of, unless_by_chance
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.intervals import Interval
from refless.stats.permutation import flip_p
from refless.stats.verdicts import Estimate, cells_of, kappa, of_table, proportion


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
class Drift:
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
    """How far runs agree with each other, and what several together bring.

    Args:
        human: [n] ratings; scores: [n, k] of each run, NaN where there is none; clusters: [n].
        bars: from where on a rating, and a score, is a pass, or None.
    """
    whole = ~np.isnan(scores).any(axis=1)
    human, scores, clusters = human[whole], scores[whole], clusters[whole]
    judged = scores
    if bars is not None:
        human, judged = (human >= bars[0]).astype(float), (scores >= bars[1]).astype(float)
    k = scores.shape[1]
    value_of, influence_of = CORRELATED["spearman"] if bars is None else (_kappa, _kappa_influence)

    def mean_value(human: FloatArray, columns: FloatArray) -> float:
        return float(np.mean([value_of(human, column) for column in columns.T]))

    def mean_influence(human: FloatArray, columns: FloatArray) -> FloatArray:
        return np.asarray(np.mean([influence_of(human, column) for column in columns.T], axis=0))

    majority = judged.mean(axis=1) if bars is None else (judged.mean(axis=1) > 0.5).astype(float)
    return Runs(
        runs=k,
        n=len(human),
        flips=proportion(np.ptp(judged, axis=1) > 0, clusters),
        sd=math.sqrt(float(scores.var(axis=1, ddof=1).mean())) if len(human) else math.nan,
        measure="spearman" if bars is None else "kappa",
        single=correlated(mean_value, mean_influence, human, judged, clusters),
        together=correlated(value_of, influence_of, human, majority, clusters),
    )


def _kappa(human: FloatArray, judge: FloatArray) -> float:
    """Cohen's kappa of two columns [n] of 1 and 0; NaN without rows."""
    counts = np.bincount(cells_of(human > 0, judge > 0), minlength=4)
    return float(kappa(counts / counts.sum())) if len(human) else math.nan


def _kappa_influence(human: FloatArray, judge: FloatArray) -> FloatArray:
    """[n] what kappa loses without each row, by the jackknife; they sum to 0."""
    cells, n = cells_of(human > 0, judge > 0), len(human)
    counts = np.bincount(cells, minlength=4)
    without = kappa((counts - np.eye(4)) / (n - 1))[cells]
    return np.asarray((without.mean() - without) * (n - 1) / n)


def drift_of(
    now: FloatArray, before: FloatArray, clusters: IntArray, passing: float | None
) -> Drift:
    """What changed on the texts that both score.

    Args:
        now, before: [n] scores, NaN where there is none; clusters: [n].
        passing: from where on is passed; None compares the scores themselves.
    """
    both = ~np.isnan(now + before)
    now, before, clusters = now[both], before[both], clusters[both]
    if not len(now):
        none = Estimate(value=math.nan, undefined="no text is scored in both files")
        return Drift(n=0, change=none, flips=none)
    changed = now != before if passing is None else (now >= passing) != (before >= passing)
    moved = now - before
    change = unless_by_chance(_change(now, before, clusters), flip_p(moved, clusters))
    if change.undefined and float(np.ptp(moved)) == 0:  # not one score moved otherwise
        change = Estimate(value=change.value, interval=(change.value, change.value), n=len(now))
    return Drift(n=len(now), change=change, flips=proportion(changed, clusters))


def _change(now: FloatArray, before: FloatArray, clusters: IntArray) -> Estimate:
    """Of the mean score; of scores with two values as of a table, as few of them change."""
    values = np.unique([now, before])
    if len(values) != 2:
        return shift_of(now - before, clusters)
    low, high = values.tolist()
    cells = cells_of(before == high, now == high)
    return of_table(
        lambda shares: (high - low) * (shares[..., 1] - shares[..., 2]), cells, clusters
    )
