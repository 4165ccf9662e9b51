"""What the Gaussian process has learned; as arrays of a saved file, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from refless.data.records import RatedPool, Residuals
from refless.estimators.gp.data import Config, Data, read
from refless.estimators.gp.likelihood import LEAST_NUGGET, MOST, Amplitudes
from refless.estimators.gp.model import Model, conditioned
from refless.estimators.intervals import held_out_ways, residuals_in
from refless.files.arrays import Array, Arrays, array_of, require
from refless.loops.threads import single_threaded_blas
from refless.registry.progress import Progress
from refless.text.embed import Encoder, VectorArray

VECTORS = "meaning", "source_meaning"


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What `fit` learns."""

    data: Data
    model: Model | None  # none of fewer than five rated texts
    errors: Residuals  # human rating minus held-out estimate of the rated texts
    standardized: Residuals  # the same in standard deviations

    @classmethod
    def of(cls, data: Data, amplitudes: Amplitudes | None, labels: tuple[str, ...]) -> Learned:
        """Conditions on the ratings; labels: [n] what texts of one group have in common."""
        if amplitudes is None:
            nothing = Residuals(values=np.zeros(0))
            return cls(data, None, nothing, nothing)
        errors, ratios = {}, {}
        with single_threaded_blas():
            model = conditioned(data, amplitudes)
            precision = model.posterior.precision()
            for way, groups in held_out_ways(data.rated, labels).items():
                means, variances = precision.held_out(groups)
                errors[way] = (data.y - means) * data.unit
                ratios[way] = (data.y - means) / np.sqrt(variances)
        residuals = (residuals_in(data.rated, labels, **by_way) for by_way in (errors, ratios))
        return cls(data, model, *residuals)

    @property
    def rated(self) -> RatedPool:
        """The rated texts in use."""
        return self.data.rated


def stored(state: Learned) -> Arrays:
    """What takes long to learn: amplitudes and vectors; nothing without a model."""
    if state.model is None:
        return {}
    amplitudes, columns = state.model.amplitudes, state.data.inputs.columns
    arrays: Arrays = {"amplitudes": np.append(amplitudes.weights, amplitudes.nugget)}
    return arrays | {name: columns[name] for name in VECTORS if name in columns}


def restored(
    pool: RatedPool, labels: tuple[str, ...], config: Config, arrays: Mapping[str, Array]
) -> Learned:
    """What `stored` was given, from rated texts that are enough for a model.

    Raises:
        ValueError: arrays that `stored` cannot have given.
    """
    encoder = cast("Encoder | None", config.encoder and _Vectors(arrays))
    data = replace(read(pool, replace(config, encoder=encoder)), config=config)
    names = {"amplitudes", *(name for name in VECTORS if name in data.kernels)}
    require(names == {*arrays}, "the arrays are not those of its kernels")
    amplitudes = array_of(arrays, "amplitudes", (len(data.kernels) + 1,))
    require(bool(((amplitudes >= 0) & (amplitudes <= MOST)).all()), "an amplitude is out of range")
    require(bool(amplitudes[-1] >= LEAST_NUGGET), "the nugget is too small")
    return Learned.of(data, Amplitudes(amplitudes[:-1], float(amplitudes[-1])), labels)


@dataclass(frozen=True)
class _Vectors:
    """Stands for the encoder when its vectors of the rated texts are saved."""

    arrays: Mapping[str, Array]

    def sentences(self, texts: Sequence[str], progress: Progress | None = None) -> VectorArray:  # noqa: ARG002
        names = [name for name in VECTORS if name in self.arrays]
        require(bool(names), "the vectors are missing")
        n, width = len(texts) // len(names), (0, *self.arrays[names[0]].shape)[-1]
        require(width > 0 and n * len(names) == len(texts), "the vectors are of other texts")
        return np.concatenate([array_of(self.arrays, name, (n, width), "<f4") for name in names])
