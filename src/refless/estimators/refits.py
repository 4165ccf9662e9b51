"""Held-out estimates by refitting: for estimators without a closed form."""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np

from refless.estimators.kriging.data import folds_of
from refless.estimators.protocol import group_numbers
from refless.matching import Progress
from refless.records import Estimates, IntArray, Outputs, RatedPool, Reason, as_outputs, take
from refless.truth import canonical_order


class Refitted(Protocol):
    """What is asked of an estimator that is fitted anew for each fold."""

    progress: Progress | None

    def clone(self) -> Self: ...
    def fit(self, pool: RatedPool) -> object: ...
    def predict(self, outputs: Outputs) -> Estimates: ...


def grouped_refits(
    estimator: Refitted, pool: RatedPool, groups: IntArray | None, folds: int
) -> Estimates:
    """Each text judged by an estimator fitted to the folds without its group, in the pool's order.

    Groups stay whole; how they are dealt out depends neither on the order of rows nor on labels.

    Args:
        estimator: its parameters are used, it is not fitted itself.
        pool: the rated texts.
        groups: [n] group numbers from 0; by default each text is a group of its own.
        folds: how many; fewer where there are fewer groups.
    """
    numbers = group_numbers(pool, groups)
    order = canonical_order(pool, numbers)
    folds = min(folds, len(np.unique(numbers)))
    fold = np.empty(len(pool), dtype=np.int64)
    fold[order] = folds_of(numbers[order], max(folds, 1))
    n = len(pool)
    values, low, high = (np.full(n, np.nan) for _ in range(3))
    support = np.zeros(n, dtype=np.int64)
    reasons: list[Reason] = ["too-few"] * n
    for number in range(folds if folds > 1 else 0):
        inside, outside = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        one = estimator.clone()
        one.progress = _share(estimator.progress, number, folds)
        one.fit(take(pool, outside))
        found = one.predict(as_outputs(take(pool, inside)))
        values[inside], support[inside] = found.values, found.support
        low[inside], high[inside] = found.low, found.high
        for row, reason in zip(inside, found.reasons, strict=True):
            reasons[int(row)] = reason
    return Estimates(
        ids=pool.ids,
        values=values,
        reasons=tuple(reasons),
        support=support,
        low=low,
        high=high,
    )


def _share(progress: Progress | None, number: int, folds: int) -> Progress | None:
    """A fold's progress as progress of the whole."""
    if progress is None:
        return None
    return lambda share: progress((number + share) / folds)
