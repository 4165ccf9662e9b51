"""Anything that fits and predicts, as scikit-learn's regressors do, as an estimator."""

import re
from copy import deepcopy
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated, Any

import numpy as np

from refless.data.records import Estimates, Outputs, RatedPool, Residuals
from refless.estimators.explanation import Explanation
from refless.estimators.gp.data import folds_in
from refless.estimators.inputs import Given, outputs_in
from refless.estimators.intervals import half_widths, held_out_ways, residuals_in
from refless.estimators.protocol import SEED, SUBSAMPLE, Estimator, group_numbers, one_output
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import UsageError
from refless.registry.signature import Signature
from refless.registry.spec import About, check
from refless.registry.version import __version__

FOLDS = 5


@dataclass(frozen=True)
class Learned:
    """The rated texts, the fitted model, and held-out errors once they were asked for."""

    rated: RatedPool
    model: Any
    errors: list[Residuals] = field(default_factory=list)


@dataclass(kw_only=True, repr=False)
class Regressor(Estimator):
    """Estimates by a model with `fit(texts, ratings)` and `predict(texts)`.

    A Pipeline of scikit-learn that begins with a vectorizer is one. It reads texts alone. Held-out
    estimates come from copies of the model that were fitted to the other folds, and intervals from
    the errors of these.

    Attributes:
        model: is copied before it is fitted.
        called: its name in results; that of its class, or of a Pipeline's last step, by default.
    """

    model: Any
    called: Annotated[str, About("name in results")] = ""
    subsample: Annotated[float, SUBSAMPLE] = 1.0
    seed: Annotated[int, SEED] = 0

    def __post_init__(self) -> None:
        """Checks the parameters."""
        check(self)
        if not (hasattr(self.model, "fit") and hasattr(self.model, "predict")):
            raise UsageError(f"{self.model!r} has no fit and predict")
        steps = getattr(self.model, "steps", ())
        last = steps[-1][1] if steps else self.model
        self.called = self.called or type(last).__name__

    @property
    def title(self) -> str:
        """What people call it."""
        return self.called

    def _learn(self, given: RatedPool) -> Learned:
        rated = self.drawn(given)
        return Learned(rated, self._fitted_model(rated, np.arange(len(rated))))

    def _fitted_model(self, rated: RatedPool, rows: IntArray) -> Any:  # noqa: ANN401 - a copy
        model = deepcopy(self.model)
        model.fit([rated.texts[i] for i in rows], rated.human[rows])
        return model

    def _crossed(self, rated: RatedPool, groups: IntArray) -> FloatArray:
        """[n] each text by a copy of the model that was fitted without its fold."""
        fold, values = folds_in(rated, groups, FOLDS), np.full(len(rated), np.nan)
        for number in range(int(fold.max(initial=0)) + 1):
            inside, outside = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
            if len(outside):
                model = self._fitted_model(rated, outside)
                values[inside] = model.predict([rated.texts[i] for i in inside])
        return values

    def estimate(self, X: Outputs | Given) -> Estimates:  # noqa: N803 - scikit-learn's name
        """What the model predicts, with an interval of held-out errors."""
        outputs, learned = outputs_in(X), self._state()
        values = np.asarray(learned.model.predict([*outputs.texts]), dtype=np.float64)
        reach = half_widths(outputs, self.residuals())
        return _estimates(outputs.ids, values, reach, learned.rated.scale)

    def held_out(self, pool: RatedPool, groups: IntArray | None = None) -> Estimates:
        """Each text by a copy that was fitted without its fold."""
        values = self._crossed(pool, group_numbers(pool, groups))
        return _estimates(pool.ids, values, np.full(len(pool), np.nan), pool.scale)

    def residuals(self) -> Residuals:
        """Human rating minus held-out estimate of the rated texts; sources are held out whole."""
        learned: Learned = self._state()
        if not learned.errors:
            rated = learned.rated
            ways = held_out_ways(rated, labels := self._labels(rated))
            errors = {way: rated.human - self._crossed(rated, ways[way]) for way in ways}
            learned.errors.append(residuals_in(rated, labels, **errors))
        return learned.errors[0]

    def explain(
        self,
        output: str | Outputs,
        *,
        hide: str | None = None,
        most: int | None = None,  # noqa: ARG002 - of those that show rated texts
    ) -> Explanation:
        """The estimate alone: the model does not say what it rests on."""
        found = (self if hide is None else self._without(hide)).estimate(one_output(output))
        return Explanation.of(found, len(self.rated))

    def signature(self, pool: RatedPool | None = None) -> Signature:
        """The model as it prints itself, and the rated texts."""
        model = sha256(repr(self.model).encode()).hexdigest()[:12]
        signed = Signature(re.sub("[|:]", " ", self.called)).plus(model=model)
        if pool is not None or self._fitted is not None:
            signed = self._with_pool(signed, self.rated if pool is None else pool)
        return signed.plus(v=__version__)


def _estimates(
    ids: tuple[str, ...], values: FloatArray, reach: FloatArray, scale: tuple[float, float] | None
) -> Estimates:
    low, high = (0.0, 1.0) if scale is not None else (-np.inf, np.inf)
    values = np.clip(values, low, high)
    return Estimates(
        ids=ids,
        values=values,
        reasons=tuple("too-few" if one else "" for one in np.isnan(values)),
        support=np.zeros(len(ids), dtype=np.int64),
        low=np.maximum(values - reach, low),
        high=np.minimum(values + reach, high),
    )
