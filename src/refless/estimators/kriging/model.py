"""Kernels with their amplitudes, conditioned on the ratings; what each rating has for a share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refless.estimators.kriging.components import (
    Component,
    Inputs,
    components_of,
    diagonal,
    weighted,
)
from refless.estimators.kriging.data import Data
from refless.estimators.kriging.exact import Exact, exact
from refless.estimators.kriging.inducing import Inducing, inducing
from refless.estimators.kriging.likelihood import Amplitudes
from refless.kernels.bleu import PreparedBleu
from refless.ngrams import Shape
from refless.records import FloatArray, Neighbor


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Kernels with their amplitudes, conditioned on the ratings."""

    amplitudes: Amplitudes
    components: tuple[Component, ...]
    posterior: Exact | Inducing


def conditioned(
    data: Data,
    amplitudes: Amplitudes,
    shape: Shape,
    *,
    exact_up_to: int,
    points: int,
    threads: int | None = None,
) -> Model:
    """The process given all ratings, through inducing points where there are too many."""
    n, anchors = len(data.y), data.inputs
    if n > exact_up_to:
        rows = np.sort(np.random.default_rng(1).choice(n, min(points, n), replace=False))
        anchors = data.inputs.take(rows)
    components = components_of(data.names, data.inputs, anchors, shape, threads)
    cross = weighted(components, amplitudes.weights, data.inputs)
    noise = data.noise + amplitudes.nugget
    if n > exact_up_to:
        prior = diagonal(components, amplitudes.weights, data.inputs)
        posterior: Exact | Inducing = inducing(cross[rows], cross, prior, noise, data.y)
    else:
        posterior = _exact_or_shifted(cross, noise, data.y)
    return Model(amplitudes, components, posterior)


def _exact_or_shifted(kernel: FloatArray, noise: FloatArray, y: FloatArray) -> Exact:
    """Exact kriging; a kernel that is indefinite beyond its noise gets the shift it lacks."""
    from scipy.linalg import LinAlgError, eigvalsh

    try:
        return exact(kernel.copy(), noise, y)
    except LinAlgError:
        lowest = float(eigvalsh(kernel, subset_by_index=[0, 0])[0])
        return exact(kernel, noise - 1.01 * lowest, y)


def shares(
    data: Data, model: Model, inputs: Inputs, shape: Shape, most: int | None
) -> tuple[Neighbor, ...]:
    """The rated texts with the largest shares in the estimate of one output, with their signs."""
    weights = model.amplitudes.weights
    share = model.posterior.shares(weighted(model.components, weights, inputs))[0]
    best = np.lexsort((np.array(data.rated.ids), -np.abs(share)))[:most]
    chosen = data.inputs.take(best)
    near = components_of(data.names, data.inputs, chosen, shape)
    prior = diagonal(near, weights, inputs)[0] * diagonal(near, weights, chosen)
    alike = weighted(near, weights, inputs)[0] / np.sqrt(np.maximum(prior, 1e-300))
    prepared = PreparedBleu.build(chosen.texts, shape)
    counts = np.bincount(data.rated.ratings.text, minlength=len(data.rated))
    return tuple(
        Neighbor(
            id=data.rated.ids[i],
            text=data.rated.texts[i],
            rating=float(data.rated.truth[i]),
            similarity=float(similarity),
            share=float(share[i]),
            shared=prepared.shared(inputs.texts[0], data.rated.texts[i]),
            n_ratings=int(counts[i]),
        )
        for i, similarity in zip(best.tolist(), alike, strict=True)
    )
