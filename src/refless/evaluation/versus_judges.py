"""Scores of others as predictions of ratings, and what reading the texts adds to them.

Each is fitted in the other blocks of a deal, so that it owes nothing to a text's own rating.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from refless.data.records import RatedPool
from refless.estimators.scorer import Held, Tried
from refless.evaluation.differences import Difference
from refless.evaluation.jackknife import Trial, difference
from refless.evaluation.leaderboard import SideBySide
from refless.loops.threads import calm
from refless.registry.arrays import FloatArray, IntArray
from refless.stats.correlation import spearman
from refless.stats.scaling import NormalRanks

RIDGE = 1.0  # as much as one more text
TOGETHER = "all scores together"

Fit = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideScores:
    """What texts add to scores of others, and these to texts, for one estimator.

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


def tried_scores(pool: RatedPool, blocks: IntArray) -> dict[str, Tried]:
    """Each score alone and, of several, all together, by name.

    Args:
        pool: the rated texts with their scores; blocks: [n] folds of whole groups.
    """
    columns = {f"{name} alone": pool.scores[:, [i]] for i, name in enumerate(pool.score_names)}
    found = {name: _tried(isotonic, one, pool.human, blocks) for name, one in columns.items()}
    if len(found) > 1:
        found[TOGETHER] = _tried(linear, pool.scores, pool.human, blocks)
    return found


def _tried(fit: Fit, scores: FloatArray, human: FloatArray, blocks: IntArray) -> Tried:
    def among(rows: IntArray) -> Held:
        values = np.full(len(human), np.nan)
        for block in np.unique(blocks[rows]):
            inside = blocks[rows] == block
            known, asked = rows[~inside], rows[inside]
            if len(known):
                values[asked] = fit(scores[known], human[known], scores[asked])
        return Held(values, values)

    return Tried(among(np.arange(len(human))), among)


def isotonic(scores: FloatArray, human: FloatArray, asked: FloatArray) -> FloatArray:
    """[new] ratings that rise with one score, or fall where it and ratings disagree.

    Args:
        scores: [n, 1] NaN where there is none; human: [n] ratings.
        asked: [new, 1]; a new value lies between its neighbours, a missing one has the mean rating.
    """
    from scipy.optimize import isotonic_regression

    column, new = scores[:, 0], asked[:, 0]
    found = np.full(len(new), np.sort(human).mean())
    there = ~np.isnan(column)
    if not there.any():
        return found
    order = np.lexsort((human[there], column[there]))  # sums do not depend on the order of rows
    x, y = column[there][order], human[there][order]
    values, codes, counts = np.unique(x, return_inverse=True, return_counts=True)
    falls = spearman(y, x) < 0
    means = np.bincount(codes, y) / counts
    fitted = isotonic_regression(means, weights=counts.astype(np.float64), increasing=not falls).x
    return np.where(np.isnan(new), found, np.interp(np.nan_to_num(new), values, fitted))


def linear(scores: FloatArray, human: FloatArray, asked: FloatArray) -> FloatArray:
    """[new] ratings by a ridge on mapped scores and on which are there.

    Args:
        scores: [n, k] NaN where there is none; human: [n] ratings; asked: [new, k].
    """
    ranks = NormalRanks.of(scores)
    x, new = (np.hstack([ranks.mapped(part), np.isnan(part)]) for part in (scores, asked))
    order = np.lexsort((human, *x.T))
    x, y = x[order], human[order]
    middle, level = x.mean(axis=0), y.mean()
    with calm():
        inner = (x - middle).T @ (x - middle) + RIDGE * np.eye(x.shape[1])
        weights = np.linalg.solve(inner, (x - middle).T @ (y - level))
    return np.asarray(level + ((new - middle) * weights).sum(axis=1))


def beside_scores(
    table: SideBySide,
    trials: Mapping[str, Trial],
    twins: Mapping[str, str],
    columns: tuple[str, ...],
) -> BesideScores | None:
    """The comparison for the estimator to use, or for the first that reads scores; None without.

    Args:
        table: all side by side; trials: the same by name.
        twins: estimators that read scores, and each one's name where it does not.
        columns: the scores.
    """
    if not twins:
        return None
    pairs = list(twins.items())
    both, texts = next((pair for pair in pairs if table.reference in pair), pairs[0])
    gaps = {name: difference("spearman", trials[both], trials[name]) for name in table.scores}
    defined = {name: gap for name, gap in gaps.items() if gap.value == gap.value}
    scores = min(defined or gaps, key=lambda name: gaps[name].value)
    return BesideScores(
        columns=columns,
        both=both,
        texts=texts,
        scores=scores,
        texts_add=gaps[scores],
        scores_add=difference("spearman", trials[both], trials[texts]),
    )
