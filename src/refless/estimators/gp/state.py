"""The learned state of the Gaussian process; as arrays of a saved file, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from refless.data.design import units_of
from refless.data.records import RatedPool, Residuals, picked
from refless.estimators.gp.data import Data, Parameters, read
from refless.estimators.gp.features import KernelInputs
from refless.estimators.gp.likelihood import (
    FEWEST_GROUPS,
    LARGEST_WEIGHT,
    LEAST_NUGGET,
    Amplitudes,
)
from refless.estimators.gp.model import Posterior, conditioned
from refless.estimators.intervals import held_out_ways, residuals_in
from refless.files.arrays import Array, Arrays, array_of, require
from refless.loops.threads import single_threaded_blas
from refless.registry.arrays import BoolArray, FloatArray, IntArray, codes, numbered
from refless.registry.progress import Progress
from refless.text.embed import Encoder, VectorArray

VECTORS = "meaning", "source_meaning"
UNIT = 1e-4  # by which single precision may miss the length 1


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """The state that `fit` learns."""

    data: Data
    model: Posterior | None  # none of fewer than five rated texts
    # for outputs of units that are rated already; None if no output is known to
    near: Posterior | None
    errors: (
        Residuals  # human rating minus held-out estimate of the rated texts, or of some
    )
    standardized: Residuals  # the same in standard deviations

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
            return cls(data, None, None, nothing, nothing)
        with single_threaded_blas():
            models = [
                conditioned(data, chosen, is_near=i > 0)
                for i, chosen in enumerate(amplitudes)
            ]
            model = models[0]
            near = models[-1] if is_own(data, labels) else None
            rated = data.rated.take(model.drawn)
            labels = picked(labels, model.drawn)
            errors, ratios = _errors(data, rated, labels, model, near)
        residuals = residuals_in(rated, labels, **errors)
        standardized = residuals_in(rated, labels, **ratios)
        return cls(data, model, near, residuals, standardized)

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
    data: Data,
    rated: RatedPool,
    labels: tuple[str, ...],
    model: Posterior,
    near: Posterior | None,
) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """Held-out errors, and these in standard deviations, of each way; see `held_out_ways`.

    A text with others of its unit left is estimated as an output of a rated unit is. Of many rated
    texts only those drawn are estimated, by each other: all together, they would err less.
    """
    y = model.posterior.y
    units = codes(data.inputs.units)[model.drawn]
    precision = model.posterior.precision()
    near_precision = None
    if near is not None and near is not model:
        near_precision = near.posterior.precision()
    errors = {}
    ratios = {}
    for way, groups in held_out_ways(rated, labels).items():
        means, variances = precision.held_out(groups)
        rows = np.flatnonzero(_has_remaining(units, groups))
        if near_precision is not None and len(rows):
            means[rows], variances[rows] = near_precision.held_out(groups, rows)
        errors[way] = (y - means) * data.unit
        ratios[way] = (y - means) / np.sqrt(variances)
    return errors, ratios


def _has_remaining(units: IntArray, groups: IntArray) -> BoolArray:
    """[n] whether a text of the same unit is left where each text's group is left out."""
    pairs = np.unique(np.stack([units, groups]), axis=1, return_inverse=True)[1].ravel()
    return np.bincount(units)[units] > np.bincount(pairs)[pairs]


def stored(state: Learned) -> Arrays:
    """The arrays that take long to learn: amplitudes and vectors; nothing without a model."""
    if state.model is None:
        return {}
    models = dict.fromkeys((state.model, state.near or state.model))
    chosen = [model.amplitudes for model in models]
    columns = state.data.inputs.columns
    rows = [np.append(amplitudes.weights, amplitudes.nugget) for amplitudes in chosen]
    arrays: Arrays = {"amplitudes": np.stack(rows)}
    return arrays | {name: columns[name] for name in VECTORS if name in columns}


def restored(
    pool: RatedPool,
    labels: tuple[str, ...],
    parameters: Parameters,
    arrays: Mapping[str, Array],
) -> Learned:
    """The state that `stored` was given, from rated texts that are enough for a model.

    Raises:
        ValueError: arrays that `stored` cannot have given.
    """
    encoder = None
    if parameters.encoder is not None:
        encoder = cast("Encoder", _SavedVectors(arrays))
    data = read(pool, parameters, encoder=encoder)
    names = {"amplitudes", *(name for name in VECTORS if name in data.kernels)}
    require(names == {*arrays}, "the arrays are not those of its kernels")
    shape = (len(weight_ways(data, labels)), len(data.kernels) + 1)
    numbers = array_of(arrays, "amplitudes", shape)
    require(
        bool(((numbers >= 0) & (numbers <= LARGEST_WEIGHT)).all()),
        "an amplitude is out of range",
    )
    require(bool((numbers[:, -1] >= LEAST_NUGGET).all()), "the nugget is too small")
    amplitudes = [Amplitudes(row[:-1], float(row[-1])) for row in numbers]
    return Learned.of(data, amplitudes, labels)


@dataclass(frozen=True)
class _SavedVectors:
    """Stands for the encoder when its vectors of the rated texts are saved."""

    arrays: Mapping[str, Array]

    def sentences(
        self,
        texts: Sequence[str],
        progress: Progress | None = None,  # noqa: ARG002
    ) -> VectorArray:
        names = [name for name in VECTORS if name in self.arrays]
        require(bool(names), "the vectors are missing")
        n = len(texts) // len(names)
        width = (0, *self.arrays[names[0]].shape)[-1]
        require(
            width > 0 and n * len(names) == len(texts), "the vectors are of other texts"
        )
        vectors = np.concatenate(
            [array_of(self.arrays, name, (n, width), "<f4") for name in names]
        )
        lengths = np.linalg.norm(vectors, axis=1)
        is_unit = (lengths == 0) | (np.abs(lengths - 1) < UNIT)  # NaN is neither
        require(bool(is_unit.all()), "a vector is neither of length 1 nor 0")
        return vectors
