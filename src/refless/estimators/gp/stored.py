"""What the Gaussian process has learned as arrays of a saved folder, and back, checked.

Texts are not read again: their vectors, numbers and the factor of their covariance are there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

import msgspec
import numpy as np

from refless.data.human import fingerprint
from refless.data.records import RatedPool
from refless.estimators.gp.components import MEANING, SOURCE_MEANING, Points
from refless.estimators.gp.data import Data, Reads, data_of, few
from refless.estimators.gp.exact import Exact, Left
from refless.estimators.gp.inducing import Inducing, Seen, kept_whole
from refless.estimators.gp.inputs import Inputs, relevance_of
from refless.estimators.gp.likelihood import Amplitudes
from refless.estimators.gp.model import Method, Model, anchored, seen
from refless.estimators.gp.tfidf import BAGS, PAIRED, Bag, Known
from refless.files.arrays import (
    Array,
    Arrays,
    array_of,
    check_offsets,
    check_sorted,
    check_within,
    json_array,
    json_of,
    require,
)
from refless.text.surface import relation, surface

VECTORS = {"meaning.vectors": MEANING[0], "asked.vectors": SOURCE_MEANING[0]}
EXACT, ROOT = ("factor", "ones", "alpha"), ("root", "told")  # of the process given the ratings
SEEN = ("phi", "d")  # beside the latter where they are kept
LARGEST, SMALLEST = 1e12, 1e-9  # beyond what there is: ratings are standardised


class Facts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The constant mean, where all ratings settle it at once, and what belongs to single texts."""

    mean: float | None
    nugget: float


def stored(
    data: Data, model: Model | None, left: Mapping[str, Left]
) -> tuple[dict[str, object], Arrays]:
    """Facts for JSON, and arrays; nothing where there is no model."""
    if model is None:
        return {}, {}
    inputs, posterior = data.inputs, model.posterior
    arrays: Arrays = {"weights": model.amplitudes.weights}
    arrays |= {"numbers.surface": inputs.surface, "numbers.relation": inputs.relation}
    arrays |= {
        file: getattr(inputs, name) for file, name in VECTORS.items() if name in data.components
    }
    for name in _bags(data.components):
        bag, points = cast("Bag", data.components[name]), (data.points or {}).get(name)
        arrays[f"{name}.words"] = json_array(tuple(bag.known))
        if points is None:
            arrays[f"{name}.idf"] = np.append(bag.idf, bag.unknown)
            continue
        arrays[f"{name}.rows"] = points.indptr.astype("<i8")
        arrays[f"{name}.columns"] = points.indices.astype("<i4")
        arrays[f"{name}.values"] = points.data
    arrays |= {f"posterior.{name}": part for name, part in _parts(posterior).items()}
    for way, both in left.items():
        arrays |= {f"{way}.means": both[0], f"{way}.variances": both[1]}
    mean = posterior.mean if isinstance(posterior, Exact) else None
    facts: dict[str, object] = {"mean": mean, "nugget": model.amplitudes.nugget}
    return facts, arrays


def _parts(posterior: Exact | Inducing) -> Arrays:
    if isinstance(posterior, Exact):
        parts = posterior.factor[0].T, posterior.ones, posterior.alpha
        return dict(zip(EXACT, parts, strict=True))
    found: Arrays = {"root": posterior.root.T, "told": posterior.told}
    kept = posterior.kept
    return found if kept is None else found | {name: getattr(kept, name) for name in SEEN}


def restored(
    pool: RatedPool,
    rated: RatedPool,
    reads: Reads,
    method: Method,
    ways: Sequence[str],
    given: Mapping[str, Any],
    arrays: Mapping[str, Array],
) -> tuple[Data, Model, dict[str, Left]]:
    """What `stored` was given, of rated texts (of them those drawn) that are enough for a model.

    Args:
        pool, rated: in canonical order; reads: what is read beside the texts.
        method: how a model is learned.
        ways: what is left out together.
        given, arrays: what `stored` gave; whatever they hold is checked.

    Raises:
        ValueError: anything that `stored` cannot have given.
    """
    facts = msgspec.convert(given, Facts)
    names = reads.kernels_of(rated)
    n = len(rated)
    _check_names(names, n, method, ways, arrays)
    for name, array in arrays.items():
        undefined = name.endswith((".means", ".variances"))  # where nothing is left to judge by
        require(array.dtype.kind != "f" or _within(array, undefined), f"{name} has no such number")
    inputs = _inputs(rated, reads, names, arrays)
    bags = {name: _bag(name, n, arrays) for name in _bags(names)}
    known = {name: bag for name, (bag, _) in bags.items()}
    components = dict(zip(names, reads.components(names, inputs, known), strict=True))
    points: dict[str, Points] = {name: one for name, (_, one) in bags.items()}
    if few(n):
        points |= {name: components[name].points(inputs) for name in {*names} - {*bags}}
    data = data_of(
        pool=pool,
        rated=rated,
        inputs=inputs,
        components=components,
        points=points if few(n) else None,
        fingerprint=fingerprint(pool),
        reads=reads,
    )
    model = _model(data, facts, method, arrays)
    left = {
        way: (array_of(arrays, f"{way}.means", (n,)), array_of(arrays, f"{way}.variances", (n,)))
        for way in ways
    }
    return data, model, left


def _within(array: Array, undefined: bool = False) -> bool:
    known = np.nan_to_num(array, posinf=np.inf, neginf=-np.inf) if undefined else array
    return bool((np.abs(known) <= LARGEST).all())


def _bags(names: Sequence[str] | Mapping[str, object]) -> list[str]:
    return [name for name in BAGS if name in names]


def _files(n: int, method: Method) -> tuple[str, ...]:
    """The parts of the process given n ratings."""
    if not method.many(n):
        return EXACT
    return (*ROOT, *SEEN) if kept_whole(n, min(method.inducing, n)) else ROOT


def _check_names(
    names: Sequence[str], n: int, method: Method, ways: Sequence[str], arrays: Mapping[str, Array]
) -> None:
    parts = ("words", *(("rows", "columns", "values") if few(n) else ("idf",)))
    wanted = {"weights", "numbers.surface", "numbers.relation"}
    wanted |= {file for file, name in VECTORS.items() if name in names}
    wanted |= {f"{name}.{part}" for name in _bags(names) for part in parts}
    wanted |= {f"posterior.{name}" for name in _files(n, method)}
    wanted |= {f"{way}.{part}" for way in ways for part in ("means", "variances")}
    require(wanted == set(arrays), "the arrays are not those of its kernels")


def _inputs(
    rated: RatedPool, reads: Reads, names: Sequence[str], arrays: Mapping[str, Array]
) -> Inputs:
    """What is needed of the rated texts once their points are known."""
    n, beside = len(rated), reads.beside(rated, names)
    columns = surface(()).shape[1], relation((), ()).shape[1]
    vectors: list[Array] = [np.zeros((0, 0), dtype=np.float32)] * 2
    for i, (file, name) in enumerate(VECTORS.items()):
        if name in names:
            require(file in arrays and arrays[file].ndim == 2, f"{file} is no table")
            vectors[i] = array_of(arrays, file, (n, arrays[file].shape[1]), "<f4")
            require(vectors[i].size > 0, f"{file} is empty")
    meaning, asked = vectors
    require(not len(asked) or asked.shape == meaning.shape, "asked.vectors has another length")
    return Inputs(
        texts=rated.texts,
        **beside,
        surface=array_of(arrays, "numbers.surface", (n, columns[0])),
        relation=array_of(arrays, "numbers.relation", (n if beside["sources"] else 0, columns[1])),
        meaning=meaning,
        asked=asked,
        relevance=relevance_of(meaning, asked),
    )


def _bag(name: str, n: int, arrays: Mapping[str, Array]) -> tuple[Bag, Points]:
    """What vectors count, and those of the rated texts, where they are kept."""
    words = json_of(arrays, f"{name}.words", tuple[str, ...])
    check_sorted(name, words)
    known = Known.of(words, paired=name in PAIRED)
    if few(n):
        return _kept_bag(name, n, known, arrays)
    idf = array_of(arrays, f"{name}.idf", (len(words) + 1,))
    require(bool((idf > 0).all()), f"{name}.idf is of no word")
    return Bag(BAGS[name], known, idf[:-1], float(idf[-1])), None


def _kept_bag(name: str, n: int, known: Known, arrays: Mapping[str, Array]) -> tuple[Bag, Points]:
    """The same with the vectors: compiled loops rely on their places."""
    from scipy.sparse import csr_array

    rows = array_of(arrays, f"{name}.rows", (n + 1,), "<i8")
    size = (int(rows[-1]),)
    columns = array_of(arrays, f"{name}.columns", size, "<i4")
    values = array_of(arrays, f"{name}.values", size)
    check_offsets(f"{name}.rows", rows, len(columns))
    check_within(f"{name}.columns", columns, len(known))
    frequency = np.bincount(columns, minlength=len(known)).astype(np.float64)
    require(bool((frequency > 0).all()), f"{name} holds what no text does")
    points = csr_array((values, columns, rows), shape=(n, len(known)))
    return Bag.counted(BAGS[name], known, frequency, n), points


def _model(data: Data, facts: Facts, method: Method, arrays: Mapping[str, Array]) -> Model:
    n, weights = len(data.y), array_of(arrays, "weights", (len(data.components),))
    require(bool((weights >= 0).all()) and facts.nugget >= SMALLEST, "an amplitude is below 0")
    require(_within(np.array([facts.nugget, facts.mean or 0.0])), "a fact is no number")
    require((facts.mean is None) == method.many(n), "the mean is not that of its process")
    amplitudes = Amplitudes(weights, facts.nugget)
    rows, covariance = anchored(data, amplitudes, method)
    m = len(rows)
    shapes = {"factor": (n, n), "root": (m, m), "told": (m + 2, m + 2), "phi": (n, m)}
    parts = {
        name: array_of(arrays, f"posterior.{name}", shapes.get(name, (n,)))
        for name in _files(n, method)
    }
    for name in parts.keys() & {"factor", "root", "d"}:
        positive = parts[name] if name == "d" else np.diag(parts[name])
        require(bool((positive >= SMALLEST).all()), f"posterior.{name} is of no covariance")
    posterior: Exact | Inducing
    if facts.mean is not None:
        require(parts["ones"].sum() > 0, "posterior.ones sum to nothing")
        factor = parts["factor"].T, True
        posterior = Exact(factor, data.y, parts["ones"], facts.mean, parts["alpha"])
    else:
        find = partial(seen, data, facts.nugget, covariance, parts["root"].T)
        kept = Seen(parts["phi"], parts["d"], data.y) if "phi" in parts else None
        posterior = Inducing(parts["root"].T, parts["told"], n, find, kept, data.reads.threads)
        require(posterior.sound(), "posterior.told is of no ratings")
    return Model(amplitudes, covariance, posterior)
