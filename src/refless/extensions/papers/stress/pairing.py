"""Scores before and after a change, on the same outputs, with intervals on the same resamples."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from refless.extensions.papers.stress.plan import StressPlan
from refless.extensions.papers.stress.rows import NAN, Row
from refless.metrics.protocol import Scores
from refless.registry.arrays import BoolArray, FloatArray
from refless.stats.intervals import UNDEFINED, Interval, percentile_interval
from refless.stats.resampling import weights_of


@dataclass(frozen=True, slots=True, eq=False)
class Rounds:
    """Several scores of the same items whose mean counts, such as one a left-out reference."""

    scores: tuple[Scores, ...]

    @property
    def corpora(self) -> FloatArray:
        """[rounds] the corpus scores."""
        return np.array([scores.corpus for scores in self.scores])

    @property
    def defined(self) -> BoolArray:
        """[items] which have a score in every round."""
        return np.asarray(
            ~np.isnan([scores.segments for scores in self.scores]).any(axis=0)
        )

    def resampled(self, weights: FloatArray) -> FloatArray:
        """[resamples] mean over the rounds of corpus scores of weighted items."""
        corpora = []
        for scores in self.scores:
            clean = np.where(np.isnan(scores.statistics), 0.0, scores.statistics)
            corpora.append(scores.combine(weights @ clean))
        return np.asarray(np.mean(corpora, axis=0))


def rounds(*scores: Scores) -> Rounds:
    """Rounds of these scores."""
    return Rounds(scores)


def rows_of(
    first: tuple[Row, Rounds], changed: Sequence[tuple[Row, Rounds]], plan: StressPlan
) -> tuple[Row, ...]:
    """Rows filled in: scores, intervals, changes from the first on items that both could score.

    Items are drawn with replacement, the same for all rows. The order of items must be canonical.
    """
    row, base = first
    return (
        _filled(row, base, plan),
        *(_changed(*pair, base, plan) for pair in changed),
    )


def _filled(row: Row, scores: Rounds, plan: StressPlan) -> Row:
    corpora = scores.corpora
    defined = scores.defined
    blocks = _weights(len(defined), plan)
    sd = float(corpora.std()) if len(corpora) > 1 else NAN
    coverage = float(defined.mean()) if len(defined) else NAN
    return replace(
        row,
        score=float(corpora.mean()),
        sd=sd,
        score_interval=_interval(map(scores.resampled, blocks)),
        coverage=coverage,
    )


def _interval(blocks: Iterable[FloatArray]) -> Interval:
    """The percentile interval of draws, which come in blocks; NaN if there are none."""
    draws = [*blocks]
    return percentile_interval(np.concatenate(draws)) if draws else UNDEFINED


def _changed(row: Row, scores: Rounds, base: Rounds, plan: StressPlan) -> Row:
    both = scores.defined & base.defined
    change = float(scores.corpora.mean() - base.corpora.mean())
    if not both.all():
        weights = both.astype(np.float64)[None, :]
        change = float(scores.resampled(weights)[0] - base.resampled(weights)[0])
    shared = (weights * both for weights in _weights(len(both), plan))
    interval = _interval(scores.resampled(w) - base.resampled(w) for w in shared)
    return replace(_filled(row, scores, plan), change=change, change_interval=interval)


def _weights(n: int, plan: StressPlan) -> Iterable[FloatArray]:
    """The number of times each item is drawn, in blocks; none for a single item."""
    rng = np.random.default_rng(plan.seed)
    return weights_of(n, resamples=plan.resamples, rng=rng) if n > 1 else ()
