"""Scores before and after a change, on the same outputs, with intervals on the same resamples."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from refless.extensions.papers.stress.plan import Plan
from refless.extensions.papers.stress.rows import NAN, Row
from refless.metrics.references.protocol import Scores
from refless.registry.arrays import BoolArray, FloatArray
from refless.stats.intervals import UNDEFINED, percentile_interval
from refless.stats.resampling import weights_of


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Rounds:
    """Several scores of the same items whose mean counts, such as one a left-out reference."""

    scores: tuple[Scores, ...]

    @property
    def corpora(self) -> FloatArray:
        """[rounds] the corpus scores."""
        return np.array([one.corpus for one in self.scores])

    @property
    def known(self) -> BoolArray:
        """[items] which have a score in every round."""
        return np.asarray(~np.isnan([one.segments for one in self.scores]).any(axis=0))

    def resampled(self, weights: FloatArray) -> FloatArray:
        """[resamples] mean over the rounds of corpus scores of weighted items."""
        found = []
        for one in self.scores:
            if one.statistics is None or one.combine is None:
                return np.full(len(weights), np.nan)
            clean = np.where(np.isnan(one.statistics), 0.0, one.statistics)
            found.append(one.combine(weights @ clean))
        return np.asarray(np.mean(found, axis=0))


def rounds(*scores: Scores) -> Rounds:
    """Rounds of these scores."""
    return Rounds(scores=scores)


def rows_of(
    first: tuple[Row, Rounds], rest: Sequence[tuple[Row, Rounds]], plan: Plan
) -> tuple[Row, ...]:
    """Rows filled in: scores, intervals, changes from the first on items that both could score.

    Items are drawn with replacement, the same for all rows. The order of items must be canonical.
    """
    pairs = (first, *rest)
    base = first[1]
    n = len(base.known)
    own: list[list[FloatArray]] = [[] for _ in pairs]
    apart: list[list[FloatArray]] = [[] for _ in pairs]
    rng = np.random.default_rng(plan.seed)
    for weights in weights_of(n, resamples=plan.resamples, rng=rng) if n > 1 else ():
        for place, (_, scores) in enumerate(pairs):
            own[place].append(scores.resampled(weights))
            both = weights * (scores.known & base.known)
            apart[place].append(scores.resampled(both) - base.resampled(both))
    return tuple(
        _filled(row, scores, base, own[place], apart[place], first=place == 0)
        for place, (row, scores) in enumerate(pairs)
    )


def _filled(
    row: Row,
    scores: Rounds,
    base: Rounds,
    own: list[FloatArray],
    apart: list[FloatArray],
    *,
    first: bool,
) -> Row:
    corpora = scores.corpora
    known = scores.known
    filled = replace(
        row,
        score=float(corpora.mean()),
        sd=float(corpora.std()) if len(corpora) > 1 else NAN,
        score_interval=percentile_interval(np.concatenate(own)) if own else UNDEFINED,
        coverage=float(known.mean()) if len(known) else NAN,
    )
    if first:
        return filled
    change = float(corpora.mean() - base.corpora.mean())
    both = known & base.known
    if not (known.all() and base.known.all()):
        ones = both.astype(np.float64)[None, :]
        change = float(scores.resampled(ones)[0] - base.resampled(ones)[0])
    interval = percentile_interval(np.concatenate(apart)) if apart else UNDEFINED
    return replace(filled, change=change, change_interval=interval)
