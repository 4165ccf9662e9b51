"""Whether scores of others mean the same for outputs as for rated texts.

An estimate reads a judge's score as the rated texts taught it to. A judge on another scale, one
that failed, or another model under the same name moves every estimate. Scores of texts of one
source go together, so they count as fewer independent ones (Kish).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from refless.data.design import units_of
from refless.data.records import RatedPool, picked
from refless.registry.arrays import FloatArray, codes_of
from refless.stats.clusters import independent
from refless.stats.fisher import at_most, gap
from refless.stats.intervals import Interval

SURE = 0.001  # a p-value below this shows that scores differ
LIKELY = 0.01  # the same, if the share outside the rated range is large
LARGE_SHARE = 0.1
LEAST = 0.01  # of the outputs: a smaller share outside changes no mean
FEWEST = 10  # texts that show that scores are all equal, or the ratings themselves


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSample:
    """Scores of one judge.

    Attributes:
        values: different scores, rising; counts: how often each occurs.
        effective_n: independent scores that all are worth.
    """

    values: tuple[float, ...]
    counts: tuple[int, ...]
    effective_n: float

    @classmethod
    def of(cls, column: FloatArray, labels: Sequence[str]) -> ScoreSample:
        """The scores [n] that are no NaN; labels: [n] what they belong to, or ()."""
        rows = np.flatnonzero(~np.isnan(column))
        scores = column[rows]
        values, counts = np.unique(scores, return_counts=True)
        return cls(
            values=tuple(values.tolist()),
            counts=tuple(counts.tolist()),
            effective_n=independent(scores, picked(tuple(labels), rows)),
        )

    @property
    def scores(self) -> FloatArray:
        """[n] rising."""
        return np.repeat(np.array(self.values), self.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeShift:
    """The scores of one judge for outputs beside those for rated texts.

    Attributes:
        name: the column.
        n: outputs with a score; n_outside: those outside `rated_range`, which the scores of the
            rated texts span.
        equal: the score that all outputs have, NaN if they differ or are
            few.
        medians: of the rated texts' scores, and of the outputs'.
        p: of the same distribution (Kolmogorov-Smirnov); p_outside: of so many outside; p_equal:
            of none but this one score.
        leaks: whether the scores order the rated texts just as their ratings do.
        shifted: whether the scores are shown to differ.
    """

    name: str
    n: int
    n_outside: int
    rated_range: Interval
    medians: Interval
    equal: float
    p: float
    p_outside: float
    p_equal: float
    leaks: bool
    shifted: bool = field(init=False)

    def __post_init__(self) -> None:
        shifted = self.p < SURE or self.p_equal < SURE or self.outside
        object.__setattr__(self, "shifted", shifted)

    @property
    def outside(self) -> bool:
        """Whether more scores lie outside the rated range than chance puts there."""
        share = self.n_outside / max(self.n, 1)
        level = LIKELY if share >= LARGE_SHARE else SURE
        return share >= LEAST and self.p_outside < level


def judge_shifts(
    scores: FloatArray, labels: Sequence[str], rated: RatedPool
) -> tuple[JudgeShift, ...]:
    """Each judge of the rated texts, with its scores for some outputs.

    Args:
        scores: [n, k] of the outputs, NaN where there is none.
        labels: [n] what the outputs belong to, or ().
        rated: what estimates rest on, with the same columns of scores.
    """
    shifts = []
    for i, name in enumerate(rated.score_names):
        of_rated = rated.score(name)
        known = ScoreSample.of(of_rated, units_of(rated))
        shift = shift_between(name, known, ScoreSample.of(scores[:, i], labels))
        shifts.append(replace(shift, leaks=leaks(of_rated, rated.human)))
    return tuple(shifts)


def shift_between(name: str, rated: ScoreSample, new: ScoreSample) -> JudgeShift:
    """The scores of one judge beside earlier ones."""
    rated_scores = rated.scores
    n = rated.effective_n
    new_scores = new.scores
    m = new.effective_n
    equal = math.nan
    if len(new_scores) >= FEWEST and new_scores[0] == new_scores[-1]:
        equal = float(new_scores[0])
    ends = (math.nan, math.nan)
    unequal = 0.0
    if len(rated_scores):
        ends = (float(rated_scores[0]), float(rated_scores[-1]))
        unequal = float((rated_scores != equal).mean())
    below = int((new_scores < ends[0]).sum())
    above = int((new_scores > ends[1]).sum())
    shares = [count / max(len(new_scores), 1) for count in (below, above)]
    p_outside = min(at_most(0, share * m, n, m) for share in shares)
    p = math.nan
    if len(rated_scores) and len(new_scores):
        p = gap(rated_scores, new_scores).p(n, m)
    return JudgeShift(
        name=name,
        n=len(new_scores),
        n_outside=below + above,
        rated_range=ends,
        medians=(_median(rated_scores), _median(new_scores)),
        equal=equal,
        p=p,
        p_outside=min(1.0, 2 * p_outside),
        p_equal=math.nan if math.isnan(equal) else at_most(0, unequal * n, m, n),
        leaks=False,
    )


def leaks(scores: FloatArray, human: FloatArray) -> bool:
    """Whether scores order the rated texts, either way, just as their ratings do."""
    rows = np.flatnonzero(~np.isnan(scores))
    scores = scores[rows]
    if len(scores) < FEWEST or np.ptp(scores) == 0:
        return False
    places = codes_of(human[rows])
    either_way = (scores, -scores)
    return any(np.array_equal(places, codes_of(column)) for column in either_way)


def _median(values: FloatArray) -> float:
    return float(np.median(values)) if len(values) else np.nan
