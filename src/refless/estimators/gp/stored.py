"""The learned state of the Gaussian process as arrays of a saved file, and back, checked.

A file has the kernels, and the numbers that tables are made of. What only explanations need, the
matrix of the rated texts, is computed again when it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from refless.data.records import RatedPool, picked
from refless.estimators.gp.all_ratings import PosteriorMean, landmarks_of
from refless.estimators.gp.compiled import COMPACT, Solved, standing
from refless.estimators.gp.data import Known, Parameters, kernel_names, read
from refless.estimators.gp.features import TERMS, GramsKernel, KernelInputs, Tfidf
from refless.estimators.gp.kernels import (
    COMPONENTS,
    MOST_ROWS,
    SOURCE,
    JointKernel,
    LearnedKernel,
    column_kernel,
)
from refless.estimators.gp.likelihood import (
    LARGEST_WEIGHT,
    LEAST_NUGGET,
    Amplitudes,
)
from refless.estimators.gp.model import Posterior, conditioned
from refless.estimators.gp.state import Learned, weight_ways
from refless.estimators.intervals import held_out_ways
from refless.files.arrays import (
    Array,
    Arrays,
    array_of,
    named,
    part_of,
    require,
)
from refless.loops.threads import single_threaded_blas
from refless.text.embed import VectorArray
from refless.text.stored import line_of, terms_in
from refless.text.surface import LEXIS, MARKS, RELATION, SHAPE
from refless.text.terms import KnownGrams

VECTORS = "meaning", "source_meaning"
LARGEST = 1e50  # of saved numbers: their products are finite
LARGEST_IDF = 100.0
UNIT = 1e-4  # by which single precision may miss the length 1


def stored(state: Learned) -> Arrays:
    """The arrays that take long to learn; nothing without a model."""
    if state.model is None:
        return {}
    models = dict.fromkeys((state.model, state.near or state.model))
    columns = state.data.inputs.columns
    rows = [model.amplitudes.parameters for model in models]
    arrays: Arrays = {
        "amplitudes": np.stack(rows),
        "held_out": state.held_out,
        "numbers": columns["joint"],
    }
    arrays |= {name: columns[name] for name in VECTORS if name in columns}
    for name, kernel in state.data.kernels.items():
        if isinstance(kernel, Tfidf):
            arrays |= {f"{name} keys": kernel.known.keys, f"{name} idf": kernel.idf}
        elif isinstance(kernel, GramsKernel):
            arrays["grams keys"] = kernel.known.keys
        elif isinstance(kernel, JointKernel):
            arrays["components"] = kernel.components.directions
            arrays["joint"] = np.append(kernel.middle, kernel.size)
    with single_threaded_blas():
        for i, model in enumerate(models):
            arrays |= named(f"{i} ", _model_arrays(model))
    return arrays


def _model_arrays(model: Posterior) -> Arrays:
    """The numbers that tables are made of."""
    solved = model.solved
    average = solved.average
    arrays: Arrays = {
        "constants": np.array([average.mean, solved.rest]),
        "alpha": average.alpha,
        "beta": average.beta,
        "ones": solved.ones,
        "directions": solved.directions,
        **named("first ", solved.firsts),
    }
    if solved.compact is not None:
        arrays["compact"] = solved.compact
    return arrays


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
    data = read(pool, parameters, known=_known(pool, parameters, arrays))
    shape = (len(weight_ways(data, labels)), len(data.kernels) + 1)
    numbers = array_of(arrays, "amplitudes", shape)
    is_valid = ((numbers >= 0) & (numbers <= LARGEST_WEIGHT)).all()
    require(bool(is_valid), "an amplitude is out of range")
    require(bool((numbers[:, -1] >= LEAST_NUGGET).all()), "the nugget is too small")
    models = []
    for i, row in enumerate(numbers):
        chosen = Amplitudes(row[:-1], float(row[-1]))
        model = conditioned(data, chosen, is_near=i > 0)
        saved = _solved(model, part_of(arrays, f"{i} "))
        models.append(replace(model, saved=saved))
    drawn = models[0].drawn
    ways = held_out_ways(data.rated.take(drawn), picked(labels, drawn))
    held_out = array_of(arrays, "held_out", (2, len(ways), len(drawn)))
    require(not bool(np.isinf(held_out).any()), "held_out has an infinite number")
    return Learned.joined(data, models, labels, held_out)


def _known(
    pool: RatedPool, parameters: Parameters, arrays: Mapping[str, Array]
) -> Known:
    """The part of the arrays that tells of rated texts."""
    names = kernel_names(pool, parameters)
    vectors = [name for name in VECTORS if name in names]
    require(
        vectors == [name for name in VECTORS if name in arrays],
        "the arrays are not those of its kernels",
    )
    width = len(SHAPE + LEXIS + MARKS)
    if SOURCE[0] in names:
        width += len(RELATION)
    return Known(
        partial(_saved_vectors, arrays) if vectors else None,
        _finite(arrays, "numbers", (len(pool), width)),
        lambda name, inputs: _kernel(name, inputs, arrays),
    )


def _kernel(
    name: str, inputs: KernelInputs, arrays: Mapping[str, Array]
) -> LearnedKernel:
    """A kernel as it was learned."""
    if name in TERMS:
        return _tfidf(name, inputs, arrays)
    if name == "grams":
        return GramsKernel(KnownGrams(terms_in(arrays, "grams keys").keys))
    if name != "joint":
        return column_kernel(name, inputs)
    middle = _finite(arrays, "joint", line_of(arrays, "joint", "<f8").shape)
    k = len(middle) - 1
    require(0 <= k <= COMPONENTS, "components are too many")
    directions = _finite(arrays, "components", (min(len(inputs), MOST_ROWS), k))
    words = _tfidf("words", inputs, arrays)
    return JointKernel.known(inputs, words, directions, float(middle[-1]), middle[:-1])


def _tfidf(name: str, inputs: KernelInputs, arrays: Mapping[str, Array]) -> Tfidf:
    return inputs.once((name, Tfidf), lambda: _saved_tfidf(name, arrays))


def _saved_tfidf(name: str, arrays: Mapping[str, Array]) -> Tfidf:
    known = terms_in(arrays, f"{name} keys")
    idf = array_of(arrays, f"{name} idf", (len(known.keys) + 1,))
    is_valid = ((idf >= 1.0) & (idf <= LARGEST_IDF)).all()
    require(bool(is_valid), f"{name} idf is out of range")
    return Tfidf(name, known, idf)


def _solved(model: Posterior, arrays: Mapping[str, Array]) -> Solved:
    """The numbers that a file has of a model."""
    n = len(model.data.y)
    landmarks = landmarks_of(n, model.drawn)
    drawn = len(model.drawn)
    mean, rest = _finite(arrays, "constants", (2,)).tolist()
    ones = _finite(arrays, "ones", (drawn,))
    require(float(ones.sum()) > 0, "ones have no sum")
    width = (0, *arrays.get("directions", ones).shape)[-1]
    average = PosteriorMean(
        mean,
        _finite(arrays, "alpha", (n,)),
        landmarks,
        _finite(arrays, "beta", (len(landmarks),)),
        model.drawn,
    )
    firsts = {}
    points = model.covariance.points(model.data.inputs.take([0]))
    for name, kernel in model.covariance.kernels.items():
        if hasattr(kernel, "features"):
            size = kernel.features(points[name]).shape[1]
            firsts[name] = _finite(arrays, f"first {name}", (size,))
    directions = _finite(arrays, "directions", (drawn, width))
    compact = None
    if model.data.parameters.compact and len(landmarks) > COMPACT:
        compact = _finite(arrays, "compact", (len(standing(landmarks)), 2 + width))
    return Solved(average, firsts, ones, directions, rest, compact)


def _finite(arrays: Mapping[str, Array], name: str, shape: tuple[int, ...]) -> Array:
    """An array of this shape; raises ValueError for a number that nothing can be counted with."""
    array = array_of(arrays, name, shape)
    require(bool((np.abs(array) <= LARGEST).all()), f"{name} has a number out of range")
    return array


def _saved_vectors(arrays: Mapping[str, Array], texts: Sequence[str]) -> VectorArray:
    """The vectors of the rated texts, in place of their encoder's."""
    names = [name for name in VECTORS if name in arrays]
    n = len(texts) // len(names)
    width = (0, *arrays[names[0]].shape)[-1]
    require(
        width > 0 and n * len(names) == len(texts), "the vectors are of other texts"
    )
    parts = [array_of(arrays, name, (n, width), "<f4") for name in names]
    for vectors in parts:
        squares = np.einsum("ij,ij->i", vectors, vectors)
        is_near = np.abs(squares - 1) < 2 * UNIT
        is_valid = is_near | (squares == 0)  # NaN is neither
        require(bool(is_valid.all()), "a vector is neither of length 1 nor 0")
    return np.concatenate(parts)
