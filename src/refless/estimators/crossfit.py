"""Held-out estimates by fitting anew in folds: for estimators without a closed form."""

from collections.abc import Callable, Sequence

import numpy as np

from refless.data.records import Estimates, Outputs, RatedPool, as_outputs
from refless.estimators.folds import folds_in, group_numbers
from refless.estimators.protocol import Estimator
from refless.registry.arrays import IntArray

FOLDS = 10
FEWER_FOLDS = 5
MANY_TEXTS = 300  # rated texts, from which on fewer folds will do


def grouped_refits(
    estimator: Estimator, pool: RatedPool, groups: IntArray | None, folds: int
) -> Estimates:
    """Each text judged by an estimator fitted to the folds without its group, in the pool's order.

    Groups and copies of a text stay whole; see `folds_in`.

    Args:
        estimator: its parameters are used, it is not fitted itself.
        pool: the rated texts.
        groups: [n] group numbers from 0; by default each text is a group of its own.
        folds: how many; fewer if there are fewer groups.
    """
    fold = folds_in(pool, group_numbers(pool, groups), folds)
    if fold.max(initial=0) == 0:
        return Estimates.joined(pool.ids, ())
    return _crossed(estimator, pool, fold, as_outputs(pool), fold)


def folds_for(pool: RatedPool) -> int:
    """Into how many folds groups are drawn."""
    return FOLDS if len(pool) < MANY_TEXTS else FEWER_FOLDS


def crossed(
    estimator: Estimator,
    pool: RatedPool,
    rated_labels: Sequence[str],
    outputs: Outputs,
    labels: Sequence[str],
    seed: int,
) -> Estimates:
    """An estimate for each output from the ratings of other groups, whether it is rated or not.

    Groups are put into ten folds at random (five with 300 rated texts or more), those with ratings
    and the others each evenly. So an estimate knows no rating of its group, and those of rated and
    of other outputs are alike.

    Args:
        estimator: its parameters are used, it is not fitted itself.
        pool: rated texts, these outputs among them.
        rated_labels: [m] group of each.
        outputs: what is to be estimated.
        labels: [n] group of each.
        seed: of the folds.
    """
    rng = np.random.default_rng(seed)
    folds = folds_for(pool)
    rated = {*labels}.intersection(rated_labels)
    fold = dict[str, int]()
    unrated = {*labels} - rated
    for groups in (sorted(rated), sorted(unrated)):  # whatever the order of rows
        numbers = rng.permutation(len(groups)) % folds
        fold |= dict(zip(groups, numbers.tolist(), strict=True))
    judged = np.array([fold[label] for label in labels], dtype=np.int64)
    of_rated = [fold.get(label, -1) for label in rated_labels]
    rated_folds = np.array(of_rated, dtype=np.int64)
    return _crossed(estimator, pool, rated_folds, outputs, judged)


def _crossed(
    estimator: Estimator,
    pool: RatedPool,
    rated_folds: IntArray,
    outputs: Outputs,
    judged: IntArray,
) -> Estimates:
    """Outputs of each fold by a copy that is fitted to the rated texts of the others."""
    count = int(judged.max(initial=-1)) + 1
    show = estimator.progress

    def part(number: int) -> Callable[[float], None] | None:
        return None if show is None else lambda share: show((number + share) / count)

    def estimated(number: int) -> tuple[IntArray, Estimates]:
        copy = estimator.clone()
        inside = np.flatnonzero(judged == number)
        copy.progress = part(number)
        copy.fit(pool.take(np.flatnonzero(rated_folds != number)))
        return inside, copy.estimate(outputs.take(inside))

    return Estimates.joined(outputs.ids, map(estimated, range(count)))
