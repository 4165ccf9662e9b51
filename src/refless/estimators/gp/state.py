"""The learned state of the Gaussian process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refless.data.design import units_of
from refless.data.records import RatedPool, Residuals, picked
from refless.estimators.gp.data import Data
from refless.estimators.gp.features import KernelInputs
from refless.estimators.gp.likelihood import (
    FEWEST_GROUPS,
    Amplitudes,
)
from refless.estimators.gp.model import Posterior, conditioned
from refless.estimators.intervals import held_out_ways, residuals_in
from refless.loops.threads import single_threaded_blas
from refless.registry.arrays import BoolArray, FloatArray, IntArray, codes, numbered


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """The state that `fit` learns."""

    data: Data
    model: Posterior | None  # none of fewer than five rated texts
    # for outputs of units that are rated already; None if no output is known to
    near: Posterior | None
    # [2, ways, drawn] human rating minus held-out estimate, and the same in standard deviations,
    # by each way to hold out
    held_out: FloatArray
    errors: Residuals  # of the rated texts, or of some
    standardized: Residuals

    @classmethod
    def of(
        cls, data: Data, amplitudes: Sequence[Amplitudes], labels: tuple[str, ...]
    ) -> Learned:
        """Conditions on the ratings.

        Args:
            data: the rated texts; amplitudes: one for each of `weight_ways`, or none.
            labels: [n] what belongs together.
        """
        if not amplitudes:
            nothing = Residuals(values=np.zeros(0))
            return cls(data, None, None, np.zeros((2, 0, 0)), nothing, nothing)
        models = [
            conditioned(data, chosen, is_near=i > 0)
            for i, chosen in enumerate(amplitudes)
        ]
        with single_threaded_blas():
            held_out = _errors(data, labels, models)
        return cls.joined(data, models, labels, held_out)

    @classmethod
    def joined(
        cls,
        data: Data,
        models: Sequence[Posterior],
        labels: tuple[str, ...],
        held_out: FloatArray,
    ) -> Learned:
        """Models, one for each of `weight_ways`, with their errors."""
        model = models[0]
        near = models[-1] if is_own(data, labels) else None
        rated = data.rated.take(model.drawn)
        labels = picked(labels, model.drawn)
        ways = [*held_out_ways(rated, labels)]
        errors, standardized = (
            residuals_in(rated, labels, **dict(zip(ways, values, strict=True)))
            for values in held_out
        )
        return cls(data, model, near, held_out, errors, standardized)

    @property
    def rated(self) -> RatedPool:
        """The rated texts."""
        return self.data.rated

    def parts(self, inputs: KernelInputs) -> list[tuple[Posterior, IntArray]]:
        """The models, and the rows of the outputs that each of them estimates."""
        if self.model is None:
            return []
        if self.near is None or self.near is self.model:
            return [(self.model, np.arange(len(inputs)))]
        units = {*self.data.inputs.units}
        rated = np.array([unit in units for unit in inputs.units], dtype=np.bool_)
        parts = (
            (self.model, np.flatnonzero(~rated)),
            (self.near, np.flatnonzero(rated)),
        )
        return [(model, rows) for model, rows in parts if len(rows)]


def is_own(data: Data, labels: tuple[str, ...]) -> bool:
    """Whether labels are the texts' own source or item, by which outputs are known too."""
    return labels == units_of(data.rated)


def weight_ways(data: Data, labels: tuple[str, ...]) -> list[IntArray]:
    """The groups left out together to choose amplitudes: of outputs of new units, of rated ones.

    The second, single texts, is only there if it is another, and outputs' units are known.
    """
    n = len(data.rated)
    together = numbered(labels, n)
    several = FEWEST_GROUPS <= len(np.unique(together)) < n
    return [together, np.arange(n)] if several and is_own(data, labels) else [together]


def _errors(
    data: Data, labels: tuple[str, ...], models: Sequence[Posterior]
) -> FloatArray:
    """[2, ways, drawn] see `Learned.held_out` and `held_out_ways`.

    A text with others of its unit left is estimated as an output of a rated unit is. Of many rated
    texts only those drawn are estimated, by each other: all together, they would err less.
    """
    model = models[0]
    drawn = model.drawn
    y = data.y[drawn]
    units = codes(data.inputs.units)[drawn]
    precision = model.posterior.precision()
    near_precision = None
    if is_own(data, labels) and len(models) > 1:
        near_precision = models[-1].posterior.precision()
    errors = []
    ratios = []
    ways = held_out_ways(data.rated.take(drawn), picked(labels, drawn))
    for groups in ways.values():
        means, variances = precision.held_out(groups)
        rows = np.flatnonzero(_has_remaining(units, groups))
        if near_precision is not None and len(rows):
            means[rows], variances[rows] = near_precision.held_out(groups, rows)
        errors.append((y - means) * data.unit)
        ratios.append((y - means) / np.sqrt(variances))
    return np.array([errors, ratios])


def _has_remaining(units: IntArray, groups: IntArray) -> BoolArray:
    """[n] whether a text of the same unit is left where each text's group is left out."""
    pairs = np.unique(np.stack([units, groups]), axis=1, return_inverse=True)[1].ravel()
    return np.bincount(units)[units] > np.bincount(pairs)[pairs]
