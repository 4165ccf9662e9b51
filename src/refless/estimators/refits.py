"""Held-out estimates by refitting: for estimators without a closed form."""

from __future__ import annotations

import numpy as np

from refless.estimators.gp.data import folds_of
from refless.estimators.protocol import Estimator, group_numbers
from refless.human import canonical_order
from refless.matching import Progress
from refless.records import Estimates, IntArray, RatedPool, as_outputs, take


def grouped_refits(
    estimator: Estimator, pool: RatedPool, groups: IntArray | None, folds: int
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

    def refitted(number: int) -> tuple[IntArray, Estimates]:
        inside, outside = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        one = estimator.clone()
        one.progress = _share(estimator.progress, number, folds)
        one.fit(take(pool, outside))
        return inside, one.estimate(as_outputs(take(pool, inside)))

    return Estimates.joined(pool.ids, map(refitted, range(folds if folds > 1 else 0)))


def _share(progress: Progress | None, number: int, folds: int) -> Progress | None:
    """A fold's progress as progress of the whole."""
    if progress is None:
        return None
    return lambda share: progress((number + share) / folds)
