"""Estimators of quality that need no reference. ESTIMATORS is the registry, by name."""

from functools import partial
from typing import Any, cast

from refless.data.records import Estimates, RatedPool
from refless.estimators.explanation import Explanation
from refless.estimators.protocol import Estimator
from refless.estimators.regressor import Regressor
from refless.registry.arrays import IntArray
from refless.registry.errors import UsageError
from refless.registry.offered import Registry, check_class
from refless.registry.spec import made

ESTIMATORS: Registry[type[Estimator]] = Registry(
    "estimators",
    {
        "bleu-neighbors": "refless.estimators.neighbors:BLEUNeighbors",
        "gp": "refless.estimators.gp:GaussianProcess",
    },
    partial(check_class, kind=Estimator),
)


def estimator_of(estimator: Any) -> Estimator:  # noqa: ANN401 - what fits and predicts
    """The estimator that a specification names (`gp:max_sd=0.2`).

    An estimator passes through, of whatever class; what only has `fit` and `predict`, as a Pipeline
    of scikit-learn, becomes a `Regressor`.

    Raises:
        UsageError: an unknown estimator or parameter, a value that cannot be honoured, a class.
    """
    if isinstance(estimator, type):
        name = estimator.__name__
        raise UsageError(f"{name} is a class: give an instance of it, {name}()")
    if isinstance(estimator, str | Estimator):
        return cast("Estimator", made(estimator, ESTIMATORS, "estimator"))
    return Regressor(model=estimator)


def held_out(
    estimator: str | Estimator, pool: RatedPool, groups: IntArray | None = None
) -> Estimates:
    """Each text of a pool judged by the others outside its group; the estimator stays as it is.

    Args:
        estimator: its parameters are used; it need not be fitted, and is not fitted here.
        pool: the rated texts.
        groups: [n] group numbers from 0; by default each text is a group of its own.

    Raises:
        UsageError: groups that are not one number from 0 a text, or a trained model.
    """
    scorer = estimator_of(estimator) if isinstance(estimator, str) else estimator
    return scorer.held_out(pool, groups)


__all__ = [
    "ESTIMATORS",
    "Estimator",
    "Explanation",
    "estimator_of",
    "held_out",
]
