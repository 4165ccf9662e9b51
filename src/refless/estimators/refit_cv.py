"""Held-out estimates by refitting: for estimators without a closed form."""

import numpy as np

from refless.data.records import Estimates, RatedPool, as_outputs
from refless.estimators.gp.data import folds_in
from refless.estimators.protocol import Estimator, group_numbers
from refless.registry.arrays import IntArray
from refless.registry.progress import Progress


def grouped_refits(
    estimator: Estimator, pool: RatedPool, groups: IntArray | None, folds: int
) -> Estimates:
    """Each text judged by an estimator fitted to the folds without its group, in the pool's order.

    Groups and copies of a text stay whole; see `folds_in`.

    Args:
        estimator: its parameters are used, it is not fitted itself.
        pool: the rated texts.
        groups: [n] group numbers from 0; by default each text is a group of its own.
        folds: how many; fewer where there are fewer groups.
    """
    numbers = group_numbers(pool, groups)
    fold = folds_in(pool, numbers, folds)
    folds = int(fold.max(initial=0)) + 1

    def refitted(number: int) -> tuple[IntArray, Estimates]:
        inside, outside = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        one = estimator.clone()
        one.progress = _share(estimator.progress, number, folds)
        one.fit(pool.take(outside))
        return inside, one.estimate(as_outputs(pool.take(inside)))

    return Estimates.joined(pool.ids, map(refitted, range(folds if folds > 1 else 0)))


def _share(progress: Progress | None, number: int, folds: int) -> Progress | None:
    """A fold's progress as progress of the whole."""
    if progress is None:
        return None
    return lambda share: progress((number + share) / folds)
