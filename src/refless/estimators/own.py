"""An estimator of a user's own file, whose signature has a digest of that file."""

from __future__ import annotations

from typing import Any

from refless.data.records import RatedPool
from refless.estimators.protocol import Estimator
from refless.estimators.regressor import Regressor
from refless.registry.errors import UsageError
from refless.registry.from_file import OwnThing
from refless.registry.signature import Signature
from refless.registry.spec import parse


def own_estimator(own: OwnThing) -> Estimator:
    """The estimator: of a class of ours with its parameters, or of what fits and predicts.

    Raises:
        UsageError: a class that is neither, or that cannot be made.
    """
    if isinstance(own.thing, type) and issubclass(own.thing, Estimator):
        kind = _signed(own.thing, own)
        made: Estimator = parse(
            f"{own.name}{own.parameters}", {own.name: kind}, "estimator"
        )
        return made
    if own.parameters:
        raise UsageError(
            f"{own.path}: {own.name} is no Estimator of refless, so it takes no parameters here: "
            "set them in the file"
        )
    model = own.thing
    try:
        model = model() if isinstance(model, type) else model
    except Exception as fault:
        raise UsageError(
            f"{own.path}: {own.name}() cannot be made ({fault}); give all parameters a default"
        ) from fault
    if not (hasattr(model, "fit") and hasattr(model, "predict")):
        raise UsageError(
            f"{own.path}: {own.name} is no estimator: give it fit(texts, ratings) and "
            "predict(texts), or make it a subclass of refless's Estimator"
        )
    title = property(lambda _: own.name)
    kind = _signed(Regressor, own, title=title, path=own.path)
    regressor: Estimator = kind(model=model)
    return regressor


def _signed(kind: type[Estimator], own: OwnThing, **more: Any) -> Any:  # noqa: ANN401 - a subclass of the class
    """The class with a signature that has the digest of the file, and further members."""

    def signature(self: Estimator, pool: RatedPool | None = None) -> Signature:
        return kind.signature(self, pool).plus(file=own.digest)

    members = {"signature": signature, "__module__": kind.__module__, **more}
    return type(f"{own.path}:{own.name}", (kind,), members)
