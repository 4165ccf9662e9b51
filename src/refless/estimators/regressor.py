"""Estimators that give numbers alone, and anything that fits and predicts as one of them."""

import inspect
import re
from abc import abstractmethod
from copy import deepcopy
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated, Any, ClassVar

import numpy as np

from refless.data.records import (
    Estimates,
    Outputs,
    RatedPool,
    Residuals,
    Scale,
    Texts,
    as_outputs,
    ends_of,
)
from refless.estimators.folds import folds_in, group_numbers
from refless.estimators.inputs import Given, outputs_in
from refless.estimators.intervals import (
    estimates_of,
    half_widths,
    held_out_ways,
    residuals_in,
)
from refless.estimators.protocol import Estimator
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.errors import RefLessError, UsageError
from refless.registry.from_file import line_in
from refless.registry.signature import Signature
from refless.registry.spec import About
from refless.registry.version import __version__

FOLDS = 5
# of the scale: a regression may miss its ends, other units lie farther off
OVERSHOT = 0.5


@dataclass(frozen=True)
class LearnedTexts:
    """The rated texts, what an estimator needs of them, and held-out errors once computed."""

    rated: RatedPool
    model: Any
    errors: list[Residuals] = field(default_factory=list)


class PointEstimator(Estimator):
    """An estimator that gives a number for each output; NaN if it has none.

    Held-out estimates come from copies that are fitted to the other folds, and intervals from the
    errors of these.
    """

    @abstractmethod
    def _model(self, rated: RatedPool) -> Any:  # noqa: ANN401 - the subclass's own
        """The model of rated texts."""

    @abstractmethod
    def _values(self, model: Any, outputs: Outputs) -> FloatArray:  # noqa: ANN401 - as above
        """[n] estimates by what `_model` gave; they are checked by `_predicted`."""

    def _predicted(
        self,
        model: Any,  # noqa: ANN401 - as above
        outputs: Outputs,
        scale: Scale | None,
    ) -> FloatArray:
        """[n] the same, checked and within the scale, which is from 0 to 1; NaN abstains.

        Raises:
            UsageError: another answer, or one in other units; it names the class.
        """
        values = np.asarray(self._values(model, outputs))
        shape = (len(outputs),)
        is_numeric = values.dtype.kind in "biuf"
        is_infinite = is_numeric and bool(np.isinf(values).any())
        if values.shape != shape or not is_numeric or is_infinite:
            kind = "infinite numbers" if is_infinite else str(values.dtype)
            raise UsageError(
                f"{type(self).__name__} ({self.title}) gives {kind} of shape {values.shape}; it "
                f"must give one finite number for each text, or NaN, in an array of shape {shape}"
            )
        ends = ends_of(scale)
        self._check_units(values, *ends)
        return np.asarray(np.clip(values, *ends), dtype=np.float64)

    def _check_units(self, values: FloatArray, low: float, high: float) -> None:
        """Raises UsageError for a value so far outside of both that its units must be others."""
        outside = values[(values < low - OVERSHOT) | (values > high + OVERSHOT)]
        if len(outside):
            raise UsageError(
                f"{type(self).__name__} ({self.title}) estimates {outside[0]:.4g}, far outside 0 "
                "to 1; fit gets ratings from 0, the lowest, to 1, the highest: predict must answer "
                "on that scale, not in the raters' units"
            )

    def _learn(self, pool: RatedPool) -> LearnedTexts:
        rated = self.drawn(pool)
        return LearnedTexts(rated, self._model(rated))

    def estimate(self, X: Outputs | Given) -> Estimates:  # noqa: N803 - scikit-learn's name
        """The values on the scale, with intervals of held-out errors."""
        outputs = outputs_in(X)
        learned = self._state()
        scale = learned.rated.scale
        values = self._predicted(learned.model, outputs, scale)
        widths = half_widths(outputs, self._units_of(outputs), self.residuals())
        return estimates_of(outputs, values, scale, widths=widths)

    def held_out(self, pool: RatedPool, groups: IntArray | None = None) -> Estimates:
        """Each text by a copy that was fitted without its fold."""
        values = self._crossed(pool, group_numbers(pool, groups))
        return estimates_of(pool, values, pool.scale)

    def _crossed(self, rated: RatedPool, groups: IntArray) -> FloatArray:
        """[n] each text by what is learned without its fold."""
        fold = folds_in(rated, groups, FOLDS)
        values = np.full(len(rated), np.nan)
        for number in range(int(fold.max(initial=0)) + 1):
            inside = np.flatnonzero(fold == number)
            outside = np.flatnonzero(fold != number)
            if len(outside):
                model = self._model(rated.take(outside))
                judged = as_outputs(rated.take(inside))
                values[inside] = self._predicted(model, judged, rated.scale)
        return values

    def residuals(self) -> Residuals:
        """Human rating minus held-out estimate of the rated texts; see `held_out_ways`."""
        learned: LearnedTexts = self._state()
        if not learned.errors:
            rated = learned.rated
            labels = self._labels(rated)
            errors = {
                way: rated.human - self._crossed(rated, groups)
                for way, groups in held_out_ways(rated, labels).items()
            }
            learned.errors.append(residuals_in(rated, labels, **errors))
        return learned.errors[0]


@dataclass(kw_only=True, repr=False)
class Regressor(PointEstimator):
    """Estimates by a model with `fit(texts, ratings)` and `predict(texts)`.

    A Pipeline of scikit-learn that begins with a vectorizer is one. It reads texts, and what they
    answer where the method has a parameter `sources`.

    Attributes:
        model: is copied before it is fitted.
        label: its name in results; that of its class, or of a Pipeline's last step, by default.
        path: of the file that it comes from, or "".
    """

    path: ClassVar[str] = ""

    model: Any
    label: Annotated[str, About("name in results")] = ""

    def __post_init__(self) -> None:
        """Checks the parameters."""
        super().__post_init__()
        if not (hasattr(self.model, "fit") and hasattr(self.model, "predict")):
            raise UsageError(f"{self.model!r} has no fit and predict")

    @property
    def title(self) -> str:
        """The name for people."""
        steps = getattr(self.model, "steps", ())
        last = steps[-1][1] if steps else self.model
        return self.label or type(last).__name__

    def _model(self, rated: RatedPool) -> Any:  # noqa: ANN401 - a copy
        model = deepcopy(self.model)
        self._asked(model.fit, rated, rated.human)
        return model

    def _values(self, model: Any, outputs: Outputs) -> FloatArray:  # noqa: ANN401 - as above
        predicted: FloatArray = self._asked(model.predict, outputs)
        return predicted

    def _asked(self, method: Any, texts: Texts, *ratings: FloatArray) -> Any:  # noqa: ANN401 - of the model
        """The answer of the model's method; UsageError with its place if it fails."""
        about = {}
        if texts.sources and "sources" in inspect.signature(method).parameters:
            about["sources"] = [*texts.sources]
        try:
            return method([*texts.texts], *ratings, **about)
        except RefLessError:
            raise
        except Exception as fault:
            place = f"{self.path or self.title}{line_in(self.path, fault)}"
            raise UsageError(
                f"{place}: {self.title}.{method.__name__} {type(fault).__name__}: {fault}"
            ) from fault

    def signature(self, pool: RatedPool | None = None) -> Signature:
        """The model as it prints itself, or its attributes, and the rated texts."""
        model: object = self.model
        if type(model).__repr__ is object.__repr__:  # which has an address
            model = vars(model)
        model = sha256(repr(model).encode()).hexdigest()[:12]
        signed = Signature(re.sub("[|:]", " ", self.title)).plus(model=model)
        if pool is not None or self._fitted is not None:
            signed = self._with_pool(signed, self.rated if pool is None else pool)
        return signed.plus(v=__version__)
