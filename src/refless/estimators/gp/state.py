"""What the Gaussian process has learned; with more ratings; as arrays of a saved file, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from refless.data.records import RatedPool, Residuals
from refless.estimators.gp.data import Data, FeatureConfig, read
from refless.estimators.gp.likelihood import LEAST_NUGGET, MOST, Amplitudes
from refless.estimators.gp.model import Method, Model, conditioned
from refless.estimators.gp.posterior import HeldOut
from refless.estimators.intervals import residuals_in
from refless.files.arrays import Array, Arrays, array_of, require
from refless.loops.threads import single_threaded_blas
from refless.registry.progress import Progress
from refless.text.embed import Encoder, VectorArray

VECTORS = "meaning", "source_meaning"
LARGEST = 1e12  # beyond any number of standardized ratings


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What `fit` learns; no model of fewer than five rated texts.

    Attributes:
        held_out: means and variances of the rated texts, by what is left out together.
        errors: human rating minus held-out estimate of the rated texts; standardized: the same in
            standard deviations.
    """

    data: Data
    model: Model | None
    held_out: Mapping[str, HeldOut]
    errors: Residuals
    standardized: Residuals

    @classmethod
    def of(
        cls,
        data: Data,
        model: Model | None,
        held_out: Mapping[str, HeldOut],
        labels: tuple[str, ...],
    ) -> Learned:
        """With the errors; labels: [n] what texts of one group have in common."""
        if model is None:
            nothing = Residuals(values=np.zeros(0))
            return cls(data, None, {}, nothing, nothing)
        gaps = {way: data.y - means for way, (means, _) in held_out.items()}
        errors = {way: gap * data.unit for way, gap in gaps.items()}
        ratios = {way: gap / np.sqrt(held_out[way][1]) for way, gap in gaps.items()}
        residuals = (residuals_in(data.rated, labels, **by_way) for by_way in (errors, ratios))
        return cls(data, model, held_out, *residuals)

    @property
    def rated(self) -> RatedPool:
        """The rated texts in use."""
        return self.data.rated


def stored(state: Learned) -> Arrays:
    """What takes long to learn: amplitudes, held-out estimates, vectors; nothing without a model.

    The process is conditioned on the ratings anew when it is opened.
    """
    if state.model is None:
        return {}
    amplitudes, columns = state.model.amplitudes, state.data.inputs.columns
    arrays: Arrays = {"amplitudes": np.append(amplitudes.weights, amplitudes.nugget)}
    for way, pair in state.held_out.items():
        arrays |= {f"{way}.means": pair[0], f"{way}.variances": pair[1]}
    return arrays | {name: columns[name] for name in VECTORS if name in columns}


def restored(
    pool: RatedPool,
    labels: tuple[str, ...],
    config: FeatureConfig,
    method: Method,
    ways: Sequence[str],
    arrays: Mapping[str, Array],
    *,
    subsample: float,
    seed: int,
) -> Learned:
    """What `stored` was given, from rated texts that are enough for a model.

    Args:
        pool: in canonical order; labels: [n] what texts of one group have in common.
        config, method: as it was learned; ways: what is left out together.
        arrays: what `stored` gave, which is checked; subsample, seed: as it was learned.

    Raises:
        ValueError: anything that `stored` cannot have given.
    """
    encoder = cast("Encoder | None", config.encoder and _Vectors(arrays))
    data = read(pool, replace(config, encoder=encoder), subsample=subsample, seed=seed)
    data = replace(data, config=config)
    n, count = len(data.y), len(data.kernels)
    names = {"amplitudes", *(name for name in VECTORS if name in data.kernels)}
    names |= {f"{way}.{part}" for way in ways for part in ("means", "variances")}
    require(names == {*arrays}, "the arrays are not those of its kernels")
    amplitudes = array_of(arrays, "amplitudes", (count + 1,))
    require(bool(((amplitudes >= 0) & (amplitudes <= MOST)).all()), "an amplitude is out of range")
    require(bool(amplitudes[-1] >= LEAST_NUGGET), "the nugget is too small")
    held_out = {
        way: (
            _numbers(array_of(arrays, f"{way}.means", (n,)), -LARGEST),
            _numbers(array_of(arrays, f"{way}.variances", (n,)), 0.0),
        )
        for way in ways
    }
    with single_threaded_blas():
        model = conditioned(data, Amplitudes(amplitudes[:-1], float(amplitudes[-1])), method)
    return Learned.of(data, model, held_out, labels)


def _numbers(array: Array, least: float) -> Array:
    """The array, which has NaN if nothing remained to judge by; ValueError for other numbers."""
    defined = array[~np.isnan(array)]
    inside = bool(((defined >= least) & (defined <= LARGEST)).all())
    require(inside, "a held-out estimate is out of range")
    return array


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
