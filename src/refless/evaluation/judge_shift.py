"""Whether scores of others mean the same for outputs as for rated texts.

An estimate reads a judge's score as the rated texts taught it to. A judge on another scale, one
that failed, or another model under the same name moves every estimate. Scores of texts of one
source go together, so they count as fewer independent ones (Kish).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from refless.data.design import units_of
from refless.data.records import RatedPool, picked
from refless.registry.arrays import FloatArray
from refless.stats.clusters import independent
from refless.stats.fisher import at_most, gap
from refless.stats.intervals import Interval

SURE = 0.001  # a p-value below this shows that scores differ
LIKELY, MANY = (
    0.01,
    0.1,
)  # the same, where so large a share lies outside the rated range
LEAST = 0.01  # of the outputs: a smaller share outside changes no mean
FEWEST = 10  # texts that show that scores are all equal, or the ratings themselves


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
        return share >= LEAST and self.p_outside < (LIKELY if share >= MANY else SURE)


def judge_shifts(
    scores: FloatArray, labels: Sequence[str], rated: RatedPool
) -> tuple[JudgeShift, ...]:
    """Each judge of the rated texts, with its scores for some outputs.

    Args:
        scores: [n, k] of the outputs, NaN where there is none.
        labels: [n] what the outputs belong to, or ().
        rated: what estimates rest on, with the same columns of scores.
    """
    return tuple(
        _shift(name, scores[:, i], labels, rated)
        for i, name in enumerate(rated.score_names)
    )


def _shift(
    name: str, column: FloatArray, labels: Sequence[str], rated: RatedPool
) -> JudgeShift:
    theirs = rated.score(name)
    (mine, m) = _counted(column, labels)
    (known, n) = _counted(theirs, units_of(rated))
    equal = float(mine[0]) if len(mine) >= FEWEST and mine[0] == mine[-1] else np.nan
    ends = (float(known[0]), float(known[-1])) if len(known) else (np.nan, np.nan)
    outside = (mine < ends[0], mine > ends[1])
    shares = [float(mask.mean()) if len(mine) else 0.0 for mask in outside]
    other = float((known != equal).mean()) if len(known) else 0.0
    return JudgeShift(
        name=name,
        n=len(mine),
        n_outside=int(sum(mask.sum() for mask in outside)),
        rated_range=ends,
        medians=(_median(known), _median(mine)),
        equal=equal,
        p=gap(known, mine).p(n, m) if len(known) and len(mine) else np.nan,
        p_outside=min(1.0, 2 * min(at_most(0, share * m, n, m) for share in shares)),
        p_equal=np.nan if np.isnan(equal) else at_most(0, other * n, m, n),
        leaks=leaks(theirs, rated.human),
    )


def leaks(scores: FloatArray, human: FloatArray) -> bool:
    """Whether scores order the rated texts, either way, just as their ratings do."""
    there = ~np.isnan(scores)
    mine = scores[there]
    ratings = human[there]
    if len(mine) < FEWEST or np.ptp(mine) == 0:
        return False
    ranks, *both = (
        np.unique(column, return_inverse=True)[1] for column in (ratings, mine, -mine)
    )
    return any(np.array_equal(ranks, column) for column in both)


def _counted(column: FloatArray, labels: Sequence[str]) -> tuple[FloatArray, float]:
    """The scores that are there, sorted, and how many independent ones they are worth."""
    rows = np.flatnonzero(~np.isnan(column))
    groups = picked(tuple(labels), rows)
    return np.sort(column[rows]), independent(column[rows], groups)


def _median(values: FloatArray) -> float:
    return float(np.median(values)) if len(values) else np.nan
