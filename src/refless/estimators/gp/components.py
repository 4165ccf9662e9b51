"""The kernels whose weighted sum says how far two texts should be rated alike.

Each compares any texts with a fixed list of anchors (the rated texts, or inducing points) and is 1
for a text with itself, or 0 where it cannot say anything of the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from refless.embed import Encoder, VectorArray
from refless.estimators.gp.acts import features
from refless.estimators.gp.scores import Linear, score_kernels
from refless.kernels.bleu import PreparedBleu
from refless.matching import Progress, Work
from refless.meaning import masked, overlap, words
from refless.ngrams import Shape
from refless.records import NO_SCORES, FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TEXT = ("bleu*", "tfidf", "length")
SOURCE = ("source", "masked", "overlap")
ACTS = ("acts",)
MEANING, SOURCE_MEANING = ("meaning",), ("asked", "relevance")
SCALARS = ("length", "overlap", "relevance")
WIDTH = 2.0  # of the bell over a scalar, in its standard deviations: smooth, not wiggly
BLOCK = 2_048  # texts compared with the anchors at a time


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """Texts and what the kernels read of them; source columns are empty without sources.

    Attributes:
        acts: features of each text and its dialogue acts; empty where sources are something else.
        meaning, asked: [n, dimensions] vectors of the texts, of the sources, of length 1; empty
            without an encoder.
        relevance: [n] cosine of the two.
        scores: [n, k] what others said of the texts, NaN where nothing; empty without scores.
        score_names: [k].
    """

    texts: tuple[str, ...]
    sources: tuple[str, ...]
    masked: tuple[str, ...]
    acts: tuple[tuple[str, ...], ...]
    length: FloatArray
    overlap: FloatArray
    meaning: VectorArray
    asked: VectorArray
    relevance: FloatArray
    scores: FloatArray
    score_names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: Iterable[int] | IntArray) -> Inputs:
        """The given rows."""
        which = np.fromiter(rows, dtype=np.int64)

        def picked(column: Any) -> Any:  # noqa: ANN401 - a tuple or an array of any kind
            if len(column) != len(self):
                return column
            return tuple(column[i] for i in which) if isinstance(column, tuple) else column[which]

        columns = {f.name: picked(getattr(self, f.name)) for f in fields(self)}
        return Inputs(**columns | {"score_names": self.score_names})


def inputs_of(
    texts: Sequence[str],
    sources: Sequence[str],
    *,
    acts: bool = False,
    encoder: Encoder | None = None,
    scores: FloatArray = NO_SCORES,
    score_names: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> Inputs:
    """Texts, with their sources or with ().

    Args:
        texts: [n]; sources: [n] or ().
        acts: read the sources as dialogue acts too.
        encoder: what gives texts and sources their vectors.
        scores: [n, k]; score_names: [k].
        progress: called with the share of the vectors that is there.
    """
    pairs = list(zip(texts, sources, strict=True)) if sources else []
    meaning = asked = np.zeros((0, 0), dtype=np.float32)
    if encoder is not None:
        vectors = encoder.sentences([*texts, *sources], progress)
        meaning, asked = vectors[: len(texts)], vectors[len(texts) :]
    relevant = np.einsum("ij,ij->i", meaning, asked, dtype=np.float64) if len(asked) else []
    return Inputs(
        texts=tuple(texts),
        sources=tuple(sources),
        masked=tuple(masked(text, source) for text, source in pairs),
        acts=tuple(features(text, source) for text, source in pairs) if acts else (),
        length=np.log1p(np.array([len(text) for text in texts], dtype=np.float64)),
        overlap=np.array([overlap(text, source) for text, source in pairs], dtype=np.float64),
        meaning=meaning,
        asked=asked,
        relevance=np.array(relevant, dtype=np.float64),
        scores=scores,
        score_names=score_names,
    )


class Component(Protocol):
    """One kernel, bound to its anchors."""

    def against(self, inputs: Inputs) -> FloatArray:
        """[texts, anchors] kernel values."""
        ...

    def diagonal(self, inputs: Inputs) -> FloatArray:
        """[texts] kernel value of each text with itself."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class _Bleu:
    """BLEU* both ways, of the texts or of the masked texts."""

    prepared: PreparedBleu
    of_masked: bool
    threads: int | None

    def _texts(self, inputs: Inputs) -> tuple[str, ...]:
        return inputs.masked if self.of_masked else inputs.texts

    def against(self, inputs: Inputs) -> FloatArray:
        return self.prepared.symmetric(self._texts(inputs), Work(threads=self.threads))

    def diagonal(self, inputs: Inputs) -> FloatArray:
        lengths = self.prepared.lengths(self._texts(inputs))
        return (lengths >= self.prepared.shortest()).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _TfIdf:
    """Cosine of vectors, (1 + log count) idf, idf = 1 + log((1 + n) / (1 + df)), of what is read.

    That is words or features, by name in `READ`.
    """

    name: str
    places: dict[str, int]
    idf: FloatArray
    anchors: csr_array

    def _vectors(self, inputs: Inputs) -> csr_array:
        return _vectors(READ[self.name](inputs), self.places, self.idf)

    def against(self, inputs: Inputs) -> FloatArray:
        product = self._vectors(inputs) @ self.anchors.T
        return np.asarray(product.todense(), dtype=np.float64)

    def diagonal(self, inputs: Inputs) -> FloatArray:
        vectors = self._vectors(inputs)
        return np.asarray(vectors.multiply(vectors).sum(axis=1), dtype=np.float64).ravel()


READ: dict[str, Callable[[Inputs], Iterable[Sequence[str]]]] = {
    "tfidf": lambda inputs: map(words, inputs.texts),
    "source": lambda inputs: map(words, inputs.sources),
    "acts": lambda inputs: inputs.acts,
}  # what the vectors of each of these kernels count


def _tfidf(name: str, statistics: Inputs, anchors: Inputs) -> _TfIdf:
    read = READ[name]
    counts = Counter(word for found in read(statistics) for word in set(found))
    places = {word: i for i, word in enumerate(sorted(counts))}
    frequency = np.array([counts[word] for word in places], dtype=np.float64)
    idf = 1.0 + np.log((1.0 + len(statistics)) / (1.0 + frequency))
    return _TfIdf(name, places, idf, _vectors(read(anchors), places, idf))


def _vectors(texts: Iterable[Sequence[str]], places: dict[str, int], idf: FloatArray) -> csr_array:
    """[texts, words] unit vectors; a text without a known word is zero."""
    from scipy.sparse import csr_array

    starts, columns, counts = [0], [], []
    for text in texts:
        found = Counter(text)
        for word in sorted(found.keys() & places.keys()):
            columns.append(places[word])
            counts.append(found[word])
        starts.append(len(columns))
    size = len(starts) - 1
    column = np.array(columns, dtype=np.int64)
    values = (1.0 + np.log(np.array(counts, dtype=np.float64))) * idf[column]
    rows = np.repeat(np.arange(size), np.diff(starts))
    norms = np.sqrt(np.bincount(rows, values**2, minlength=size))
    values /= norms[rows]
    return csr_array((values, column, np.array(starts)), shape=(size, len(places)))


@dataclass(frozen=True, slots=True, eq=False)
class _Bell:
    """exp(-d**2 / 2) of a scalar, d in `WIDTH` standard deviations of the pool."""

    name: str
    mean: float
    width: float
    anchors: FloatArray

    def _values(self, inputs: Inputs) -> FloatArray:
        values: FloatArray = (getattr(inputs, self.name) - self.mean) / self.width
        return values

    def against(self, inputs: Inputs) -> FloatArray:
        gaps = self._values(inputs)[:, None] - self.anchors[None, :]
        return np.exp(-0.5 * gaps**2)

    def diagonal(self, inputs: Inputs) -> FloatArray:
        return np.ones(len(inputs))


def _bell(name: str, statistics: Inputs, anchors: Inputs) -> _Bell:
    values = np.sort(getattr(statistics, name))
    mean, spread = float(values.mean()), float(values.std())
    width = WIDTH * spread if spread > 1e-9 else 1.0  # less is rounding
    return _Bell(name, mean, width, (getattr(anchors, name) - mean) / width)


@dataclass(frozen=True, slots=True, eq=False)
class _Near:
    """exp(-d**2 / 2) of the distance of vectors, in root mean squares of the pool's distances."""

    name: str
    square: float
    anchors: VectorArray

    def against(self, inputs: Inputs) -> FloatArray:
        vectors: VectorArray = getattr(inputs, self.name)
        squares = 2.0 - 2.0 * (vectors @ self.anchors.T).astype(np.float64)
        return np.asarray(np.exp(-0.5 / self.square * np.maximum(squares, 0.0)))

    def diagonal(self, inputs: Inputs) -> FloatArray:
        return np.ones(len(inputs))


def _near(name: str, statistics: Inputs, anchors: Inputs) -> _Near:
    middle = getattr(statistics, name).mean(axis=0, dtype=np.float64)
    square = 2.0 - 2.0 * float(middle @ middle)  # mean over all pairs of the squared distance
    return _Near(name, square if square > 1e-6 else 1.0, getattr(anchors, name))


def components_of(
    names: Sequence[str],
    statistics: Inputs,
    anchors: Inputs,
    shape: Shape,
    threads: int | None = None,
) -> tuple[Component, ...]:
    """The kernels of these names.

    Args:
        names: out of `TEXT`, `SOURCE`, `ACTS`, `MEANING`, `SOURCE_MEANING` and `kernel_names`.
        statistics: the texts whose word frequencies and spreads count.
        anchors: the texts that any others are compared with.
        shape: tokens and orders of BLEU*.
        threads: for BLEU*.
    """
    makers: dict[str, Callable[[], Component]] = {
        "bleu*": lambda: _Bleu(PreparedBleu.build(anchors.texts, shape), False, threads),  # noqa: FBT003
        "masked": lambda: _Bleu(PreparedBleu.build(anchors.masked, shape), True, threads),  # noqa: FBT003
        **{name: partial(_tfidf, name, statistics, anchors) for name in READ},
        **{name: partial(_bell, name, statistics, anchors) for name in SCALARS},
        **{name: partial(_near, name, statistics, anchors) for name in ("meaning", "asked")},
        **score_kernels(statistics, anchors),
    }
    return tuple(makers[name]() for name in names)


def weighted(components: Sequence[Component], weights: FloatArray, inputs: Inputs) -> FloatArray:
    """[texts, anchors] weighted sum of the kernels; those of weight 0 are not computed."""
    used = [(c, w) for c, w in zip(components, weights, strict=True) if w > 0]
    used = used or [(components[0], 0.0)]
    blocks = []
    for begin in range(0, len(inputs), BLOCK):
        part = inputs.take(range(begin, min(begin + BLOCK, len(inputs))))
        block = used[0][1] * used[0][0].against(part)
        for component, weight in used[1:]:
            block += weight * component.against(part)
        blocks.append(block)
    return np.concatenate(blocks) if blocks else np.zeros((0, 0))


def diagonal(components: Sequence[Component], weights: FloatArray, inputs: Inputs) -> FloatArray:
    """[texts] weighted sum of the kernels of each text with itself."""
    total = np.zeros(len(inputs))
    for component, weight in zip(components, weights, strict=True):
        if weight > 0:
            total += weight * component.diagonal(inputs)
    return total


def prior_of(components: Sequence[Component], weights: FloatArray, inputs: Inputs) -> FloatArray:
    """[texts] prior variances, of a text without any known word too.

    All kernels are 1 for a text with itself, but for those that grow with a score.
    """
    total = np.full(len(inputs), weights.sum())
    for component, weight in zip(components, weights, strict=True):
        if isinstance(component, Linear) and weight > 0:
            total += weight * (component.diagonal(inputs) - 1.0)
    return total
