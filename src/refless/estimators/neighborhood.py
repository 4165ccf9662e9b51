"""The rule of BLEU Neighbors on rated texts that a kernel has read: pure functions.

N(x) = {s in S : k(x, s) >= tau}; the estimate is the mean rating over N, defined if and only if
a <= |N| <= b |S| (definition 3.2 and equation 3). Else it is NaN with a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from refless.data.human import ExactRatings, exact_ratings, scaled
from refless.data.records import Neighbor, Outputs, RatedPool, Reason, Residuals
from refless.estimators.cross_validated import Within
from refless.estimators.explanation import evidence
from refless.estimators.intervals import bad_rows, reasons_of
from refless.loops import Loops
from refless.metrics.kernels.dense import Dense
from refless.metrics.matching import Exclusions, Work
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.registry.progress import Progress

loops = Loops("matching")

ROUNDING = 1e-9  # b |S| is real-valued: 0.57 * 100 admits 57


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The rule for neighbours: their likeness, the fewest and the most.

    Attributes:
        tau: least similarity; least, most: a and b.
        threads: of the matching; no result depends on it.
    """

    tau: float
    least: int
    most: float
    threads: int | None = None

    def admits(self, support: IntArray, sizes: IntArray) -> BoolArray:
        """[n] whether so many neighbours out of so many rated texts give an estimate."""
        enough = support >= max(1, self.least)
        return enough & (support <= self.most * sizes + ROUNDING)


@dataclass(frozen=True, slots=True, eq=False)
class Neighborhood:
    """Rated texts that a kernel has read.

    Attributes:
        rated: in canonical order (S).
        fingerprint: of the pool's content.
        held_out: [ways, texts] held-out errors of some, and what intervals make of them, by the
            rules that were asked for.
    """

    rated: RatedPool
    prepared: Dense
    fingerprint: str
    human: ExactRatings
    held_out: dict[Rule, tuple[FloatArray, Residuals]] = field(default_factory=dict)

    @classmethod
    def of(cls, rated: RatedPool, prepared: Dense, fingerprint: str) -> Neighborhood:
        """The rated texts with their exact human ratings."""
        human = exact_ratings(rated.ratings, len(rated))
        return cls(rated, prepared, fingerprint, human)

    def means(
        self,
        texts: Sequence[str],
        rule: Rule,
        exclusions: Exclusions | None,
        progress: Progress | None = None,
    ) -> tuple[FloatArray, IntArray]:
        """[texts] mean human rating of the neighbours, and how many there are."""
        human = self.human
        work = Work(held=exclusions, threads=rule.threads, progress=progress)
        counts, sums = self.prepared.neighbor_sums(
            texts, human.numerators, rule.tau, work
        )
        return scaled(human.means(sums, counts), self.rated.scale), counts

    def reasons(
        self, outputs: Outputs, rule: Rule, support: IntArray, sizes: IntArray
    ) -> tuple[Reason, ...]:
        """[n] why there is no estimate out of so many neighbours among so many rated texts."""
        lengths = self.prepared.lengths(outputs.texts)
        return reasons_of(
            [
                ("bad-row", bad_rows(outputs)),
                ("empty", lengths == 0),
                ("too-short", lengths < self.prepared.least),
                ("too-few", support < max(1, rule.least)),
                ("too-many", ~rule.admits(support, sizes)),
            ]
        )

    def neighbors(
        self, text: str, row: FloatArray, rule: Rule, most: int | None
    ) -> tuple[Neighbor, ...]:
        """The neighbours of a text with these similarities, most similar first, with shares."""
        rated = self.rated
        inside = np.flatnonzero(row >= max(rule.tau - loops.SLACK, 0.0))
        ids = np.array([rated.ids[i] for i in inside], dtype=object)
        rows = inside[np.lexsort((ids.astype(str), -row[inside]))][:most]
        shared = partial(self.prepared.shared, text)
        share = np.full(len(rows), 1.0 / max(1, len(inside)))
        return evidence(rated, rows, row[rows], share, shared)

    def among_themselves(self, rule: Rule) -> Within:
        """Rows of the rated texts -> held-out estimates, out of one table of similarities."""
        texts = self.rated.texts
        exact = self.human
        similar = self.prepared.similarities(texts, Work(threads=rule.threads))
        near = similar >= rule.tau - loops.SLACK
        near &= ~(self.prepared.lengths(texts) < self.prepared.least)[:, None]

        def among(rows: IntArray) -> Callable[[IntArray], FloatArray]:
            close = near[np.ix_(rows, rows)]
            # Whole numbers below 2**53, so that no order of summing matters.
            ratings = exact.numerators[rows].astype(np.float64)

            def predict(groups: IntArray) -> FloatArray:
                outside = close & (groups[:, None] != groups)
                support = outside.sum(axis=1)
                _, codes, counts = np.unique(
                    groups, return_inverse=True, return_counts=True
                )
                sizes = len(rows) - counts[codes]
                denominators = support * float(exact.denominator)
                with np.errstate(invalid="ignore", divide="ignore"):
                    means = outside @ ratings / denominators
                admitted = rule.admits(support, sizes)
                return np.where(admitted, scaled(means, self.rated.scale), np.nan)

            return predict

        return among
