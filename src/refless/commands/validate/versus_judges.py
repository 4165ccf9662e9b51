"""Judges' scores as predictions of ratings, and what reading the texts adds to them.

Each is calibrated on the other blocks of a split, so that it owes nothing to a text's own rating.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from refless.commands.validate.leaderboard import Leaderboard
from refless.data.records import RatedPool
from refless.estimators.cross_validated import CrossValidated
from refless.evaluation.differences import Difference
from refless.evaluation.jackknife import Replicates, difference
from refless.loops.threads import single_threaded_blas
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.scaling import Composite, NormalRanks

RIDGE = 1.0  # as much as one more text
MEAN = "the mean of all judges"
ALL_SCORES = "all scores together"

Fit = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersusJudges:
    """Gains of texts over judges' scores, and of these over texts, for one estimator.

    Attributes:
        columns: the scores.
        both, texts, scores: names of the lines side by side: the estimator with the scores, the
            same of the texts alone, and what comes nearest to the first of the scores alone.
        texts_add: Spearman of both minus that of the scores alone; scores_add: of both minus that
            of the texts alone.
    """

    columns: tuple[str, ...]
    both: str
    texts: str
    scores: str
    texts_add: Difference
    scores_add: Difference


def judges(pool: RatedPool, blocks: IntArray) -> dict[str, CrossValidated]:
    """Ratings by a line on each score and, of several, by one on their mean and by a ridge on all.

    Args:
        pool: the rated texts with their scores; blocks: [n] folds of whole groups.
    """
    human = pool.human
    n = len(pool)
    fits: dict[str, Callable[[IntArray], FloatArray]] = {
        f"a line on {name}": partial(
            _calibrated, line, pool.scores[:, [i]], human, blocks
        )
        for i, name in enumerate(pool.score_names)
    }
    if len(fits) > 1:
        fits[MEAN] = partial(_calibrated, line, pool.scores, human, blocks)
        fits[ALL_SCORES] = partial(_calibrated, linear, pool.scores, human, blocks)
    return {name: CrossValidated(fit(np.arange(n)), fit) for name, fit in fits.items()}


def _calibrated(
    fit: Fit, scores: FloatArray, human: FloatArray, blocks: IntArray, rows: IntArray
) -> FloatArray:
    """[2, n] ratings read off scores among some rows; a group is held out with its block."""
    values = np.full(len(human), np.nan)
    for block in np.unique(blocks[rows]):
        inside = blocks[rows] == block
        train = rows[~inside]
        test = rows[inside]
        if len(train):
            values[test] = fit(scores[train], human[train], scores[test])
    return np.stack([values, values])


def line(scores: FloatArray, human: FloatArray, new: FloatArray) -> FloatArray:
    """[new] ratings by least squares on the score, or on the mean of standardised scores.

    Args:
        scores: [n, k] NaN if there is none, which counts as the mean; human: [n] ratings.
        new: [new, k]; see `Composite`.
    """
    mean = Composite.of(scores)
    x = mean.mapped(scores)[:, 0]
    at = mean.mapped(new)[:, 0]
    deviations = x - x.mean()
    spread = float(deviations @ deviations)
    slope = float(deviations @ human) / spread if spread > 0 else 0.0
    return np.asarray(human.mean() + slope * (at - x.mean()))


def linear(scores: FloatArray, human: FloatArray, new: FloatArray) -> FloatArray:
    """[new] ratings by a ridge on mapped scores and on which are there.

    Args:
        scores: [n, k] NaN if there is none; human: [n] ratings; new: [new, k].
    """
    ranks = NormalRanks.of(scores)
    x, new = (np.hstack([ranks.mapped(part), np.isnan(part)]) for part in (scores, new))
    middle = x.mean(axis=0)
    level = human.mean()
    with single_threaded_blas():
        inner = (x - middle).T @ (x - middle) + RIDGE * np.eye(x.shape[1])
        weights = np.linalg.solve(inner, (x - middle).T @ (human - level))
    return np.asarray(level + ((new - middle) * weights).sum(axis=1))


def versus_judges(
    table: Leaderboard,
    methods: Mapping[str, Replicates],
    twins: Mapping[str, str],
    columns: tuple[str, ...],
) -> VersusJudges | None:
    """The comparison for the estimator to use, or for the first that reads scores; None without.

    Args:
        table: all side by side; methods: the same by name.
        twins: estimators that read scores, and each one's name if it does not.
        columns: the scores.
    """
    if not twins:
        return None
    pairs = list(twins.items())
    both, texts = next((pair for pair in pairs if table.reference in pair), pairs[0])
    gaps = {
        name: difference("spearman", methods[both], methods[name])
        for name in table.scores
    }
    defined = {name: gap for name, gap in gaps.items() if gap.value == gap.value}
    scores = min(defined or gaps, key=lambda name: gaps[name].value)
    return VersusJudges(
        columns=columns,
        both=both,
        texts=texts,
        scores=scores,
        texts_add=gaps[scores],
        scores_add=difference("spearman", methods[both], methods[texts]),
    )
