"""Estimates of outputs by ratings of other items alone."""

from collections.abc import Sequence

import numpy as np

from refless.data.records import Estimates, Outputs, RatedPool
from refless.estimators.protocol import Estimator
from refless.registry.arrays import IntArray

FOLDS, FEWER_FOLDS = 10, 5
MANY = 300  # rated texts, from which on fewer folds will do


def folds_for(pool: RatedPool) -> int:
    """Into how many folds groups are dealt."""
    return FOLDS if len(pool) < MANY else FEWER_FOLDS


def crossed(
    estimator: Estimator,
    pool: RatedPool,
    rated_labels: Sequence[str],
    outputs: Outputs,
    labels: Sequence[str],
    seed: int,
) -> Estimates:
    """An estimate for each output from the ratings of other groups, whether it is rated or not.

    Groups are dealt to ten folds at random (to five with 300 rated texts or more), those with
    ratings and the others each evenly. So an estimate knows no rating of its group, and those of
    rated and of other outputs are alike.

    Args:
        estimator: its parameters are used, it is not fitted itself.
        pool: rated texts, these outputs among them.
        rated_labels: [m] group of each.
        outputs: what is to be estimated.
        labels: [n] group of each.
        seed: of the folds.
    """
    of_outputs = {*labels}
    fold = _dealt(of_outputs.intersection(rated_labels), of_outputs, folds_for(pool), seed)
    mine = np.array([fold[label] for label in labels], dtype=np.int64)
    theirs = np.array([fold.get(label, -1) for label in rated_labels], dtype=np.int64)
    count = int(mine.max(initial=-1)) + 1

    def estimated(number: int) -> tuple[IntArray, Estimates]:
        one = estimator.clone()
        if (show := estimator.progress) is not None:
            one.progress = lambda share: show((number + share) / count)
        one.fit(pool.take(np.flatnonzero(theirs != number)))
        inside = np.flatnonzero(mine == number)
        return inside, one.estimate(outputs.take(inside))

    return Estimates.joined(outputs.ids, map(estimated, range(count)))


def _dealt(rated: set[str], every: set[str], folds: int, seed: int) -> dict[str, int]:
    """The fold of each group, whatever the order of rows."""
    rng = np.random.default_rng(seed)
    dealt: dict[str, int] = {}
    for groups in (sorted(rated), sorted(every - rated)):
        places = rng.permutation(len(groups)) % folds
        dealt |= dict(zip(groups, places.tolist(), strict=True))
    return dealt
