"""The learned state of the Gaussian process; as arrays of a saved file, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from refless.data.design import units_of
from refless.data.records import RatedPool, Residuals, picked
from refless.estimators.gp.all_ratings import PosteriorMean, landmarks_of
from refless.estimators.gp.compiled import Solved, n_directions
from refless.estimators.gp.data import Data, Known, Parameters, kernel_names, read
from refless.estimators.gp.features import KernelInputs
from refless.estimators.gp.kernels import COMPONENTS, MOST_ROWS, SOURCE, JointKernel
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
from refless.text.surface import LEXIS, MARKS, RELATION, SHAPE

VECTORS = "meaning", "source_meaning"
SAVED = (
    "amplitudes",
    "constants",
    "alpha",
    "beta",
    "ones",
    "directions",
    "held_out",
    "numbers",
    "components",
)
LARGEST = 1e50  # of saved numbers: their products are finite
UNIT = 1e-4  # by which single precision may miss the length 1


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


def stored(state: Learned) -> Arrays:
    """The arrays that take long to learn; nothing without a model.

    So an opened file has no kernel matrix to compute and to factor before it estimates.
    """
    if state.model is None:
        return {}
    models = dict.fromkeys((state.model, state.near or state.model))
    chosen = [model.amplitudes for model in models]
    columns = state.data.inputs.columns
    rows = [np.append(amplitudes.weights, amplitudes.nugget) for amplitudes in chosen]
    with single_threaded_blas():
        solved = [model.solved for model in models]
    components = cast("JointKernel", state.data.kernels["joint"]).components
    arrays: Arrays = {
        "amplitudes": np.stack(rows),
        "constants": np.array([[each.average.mean, each.rest] for each in solved]),
        "alpha": np.stack([each.average.alpha for each in solved]),
        "beta": np.stack([each.average.beta for each in solved]),
        "ones": np.stack([each.ones for each in solved]),
        "directions": np.stack([each.directions for each in solved]),
        "held_out": state.held_out,
        "numbers": columns["joint"],
        "components": components.directions,
    }
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
    names = kernel_names(pool, parameters)
    expected = {*SAVED, *(name for name in VECTORS if name in names)}
    require(expected == {*arrays}, "the arrays are not those of its kernels")
    data = read(pool, parameters, known=_known(len(pool), names, arrays))
    shape = (len(weight_ways(data, labels)), len(data.kernels) + 1)
    numbers = array_of(arrays, "amplitudes", shape)
    require(
        bool(((numbers >= 0) & (numbers <= LARGEST_WEIGHT)).all()),
        "an amplitude is out of range",
    )
    require(bool((numbers[:, -1] >= LEAST_NUGGET).all()), "the nugget is too small")
    models = [
        conditioned(
            data,
            Amplitudes(row[:-1], float(row[-1])),
            _solved(data, arrays, i),
            is_near=i > 0,
        )
        for i, row in enumerate(numbers)
    ]
    drawn = models[0].drawn
    ways = held_out_ways(data.rated.take(drawn), picked(labels, drawn))
    held_out = array_of(arrays, "held_out", (2, len(ways), len(drawn)))
    require(not bool(np.isinf(held_out).any()), "held_out has an infinite number")
    return Learned.joined(data, models, labels, held_out)


def _known(n: int, names: Sequence[str], arrays: Mapping[str, Array]) -> Known:
    """The saved features of n rated texts for kernels of these names, checked."""
    encoder = None
    if VECTORS[0] in names:
        encoder = cast("Encoder", _SavedVectors(arrays))
    width = len(SHAPE + LEXIS + MARKS)
    if SOURCE[0] in names:
        width += len(RELATION)
    numbers = _finite(arrays, "numbers", (n, width))
    size = arrays["components"].shape[-1] if arrays["components"].ndim else 0
    require(size <= COMPONENTS, "components are too many")
    directions = _finite(arrays, "components", (min(n, MOST_ROWS), size))
    return Known(encoder, numbers, directions)


def _solved(data: Data, arrays: Mapping[str, Array], model: int) -> Solved:
    """The saved numbers of a model, checked."""
    models = len(arrays["amplitudes"])
    rows = data.drawn()
    landmarks = landmarks_of(len(data.y), rows)
    drawn = (models, len(rows))
    mean, rest = _finite(arrays, "constants", (models, 2))[model].tolist()
    ones = _finite(arrays, "ones", drawn)[model]
    require(float(ones.sum()) > 0, "ones have no sum")
    average = PosteriorMean(
        mean,
        _finite(arrays, "alpha", (models, len(data.y)))[model],
        landmarks,
        _finite(arrays, "beta", (models, len(landmarks)))[model],
        rows,
    )
    shape = (*drawn, n_directions(len(rows)))
    return Solved(average, ones, _finite(arrays, "directions", shape)[model], rest)


def _finite(arrays: Mapping[str, Array], name: str, shape: tuple[int, ...]) -> Array:
    """An array of this shape; raises ValueError for a number that nothing can be counted with."""
    array = array_of(arrays, name, shape)
    require(bool((np.abs(array) <= LARGEST).all()), f"{name} has a number out of range")
    return array


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
