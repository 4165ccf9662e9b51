"""The kernels whose weighted sum says how far two texts should be rated alike.

Each is positive semi-definite, and 1 for a text with itself unless it grows with a number. A
kernel has learned from the rated texts how to place any text; points are what it compares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array

from refless.estimators.gp.features import (
    TERMS,
    FeatureTable,
    GramsKernel,
    KernelInputs,
    Tfidf,
)
from refless.loops.threads import single_threaded_blas
from refless.registry.arrays import FloatArray, IntArray, codes
from refless.stats.scaling import Composite, NormalRanks, Standardized
from refless.text.terms import KnownGrams, products_of

TOGETHER = ("trend", "near", "joint")  # what these sum up, the others see in part
TEXT = ("grams", "words", "letters", "shape", "lexis", "marks", *TOGETHER)
SOURCE = ("source", "masked", "relation")
SYSTEM = ("system",)
DETAILS = frozenset({*TEXT, *SOURCE}.difference(TOGETHER))
JUDGES = ("scores", "judges")  # a bell over all scores, and a line on their mean
MEANING = ("meaning",)
SOURCE_MEANING = ("source_meaning", "relevance")
LABELS = {  # what people call kernels; those of one score are called as it is
    **dict.fromkeys(("grams", "letters", "words", "masked"), "wording"),
    "meaning": "topic",
    "shape": "length and shape",
    "lexis": "repetition and choice of words",
    "marks": "punctuation and capitals",
    **dict.fromkeys(TOGETHER, "surface together"),
    **dict.fromkeys(("relation", "relevance"), "use of the source"),
    **dict.fromkeys(("source", "source_meaning"), "the source itself"),
    **dict.fromkeys(JUDGES, "scores together"),
    "system": "the system",
}
WIDTH = 2.0  # of bells over numbers, in their standard deviations: smooth, not wiggly
NEAR = 1.0  # of narrower bells
COMPONENTS = 50  # of the words
MOST_ROWS = 1_000  # texts whose words have components
LEAST_SIZE = 1e-6  # of a component
BLOCK = 2_048  # texts compared with the anchors at a time

Points = Any  # [texts, ...] an array, or a sparse one


class LearnedKernel(Protocol):
    """One kernel, as it was learned."""

    def points(self, inputs: KernelInputs) -> Points:
        """[texts, ...] where texts lie."""

    def anchors(self, points: Points) -> Any:  # noqa: ANN401 - the kernel's own
        """These points, prepared for comparing others with them."""

    def between(self, points: Points, anchors: Any) -> FloatArray:  # noqa: ANN401 - as above
        """[points, anchors] kernel values."""

    def diagonal(self, points: Points) -> FloatArray:
        """[points] kernel value of each with itself."""


class LinearKernel(LearnedKernel, Protocol):
    """A kernel that is a product of features."""

    def features(self, points: Points) -> csr_array:
        """[texts, features] the features of texts."""


@dataclass(frozen=True, slots=True, eq=False)
class _Dense:
    """A kernel of the numbers in the column of `KernelInputs` that has its name."""

    name: str

    def points(self, inputs: KernelInputs) -> Points:
        return inputs.columns[self.name]

    def anchors(self, points: Points) -> Points:
        return points

    def diagonal(self, points: Points) -> FloatArray:
        return np.ones(len(points))


class _Equality(_Dense):
    """1 for texts of one system, 0 for others: what a system adds to all of its texts."""

    def between(self, points: Points, anchors: Points) -> FloatArray:
        return np.asarray(points[:, None] == anchors, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Scaled(_Dense):
    """A kernel of numbers that are scaled first, in `width`."""

    scale: NormalRanks | Standardized | Composite
    width: float

    def points(self, inputs: KernelInputs) -> FloatArray:
        spread = self.width * np.sqrt(max(1, len(self.scale)))
        return np.asarray(self._mapped(inputs) / spread)

    def _mapped(self, inputs: KernelInputs) -> FloatArray:
        """[texts, k] the scaled numbers, once for all kernels of one scale."""
        column = inputs.columns[self.name]
        return inputs.once(self.scale, lambda: self.scale.mapped(column))


class BellKernel:
    """exp of a product of two sides, at most 1."""

    __slots__ = ()

    def left(self, points: Points) -> FloatArray:
        """[points, k + 1] the side of points; the last column is 1."""
        raise NotImplementedError

    def right(self, anchors: Points) -> FloatArray:
        """[k + 1, anchors] the side of rated texts."""
        raise NotImplementedError

    def between(self, points: Points, anchors: Points) -> FloatArray:
        exponents = self.left(points) @ self.right(anchors)
        np.minimum(exponents, 0.0, out=exponents)
        return np.asarray(np.exp(exponents, out=exponents))


class _Bell(BellKernel, _Scaled):
    """exp(-d**2 / 2) of the root mean square distance d of numbers."""

    def left(self, points: FloatArray) -> FloatArray:
        squares = np.square(points).sum(axis=1, keepdims=True)
        return np.hstack([points, -0.5 * squares, np.ones_like(squares)])

    def right(self, anchors: FloatArray) -> FloatArray:
        squares = np.square(anchors).sum(axis=1)
        return np.vstack([anchors.T, np.ones_like(squares), -0.5 * squares])


@dataclass(frozen=True, slots=True, eq=False)
class _Components:
    """Main components of the words, of what texts of different units share.

    A text of a unit that taught some of them lies where it would without its unit's texts, whether
    it is rated itself or not.
    """

    sample: csr_array  # [rows, terms] TF-IDF of the texts that taught them
    directions: FloatArray  # [rows, k] what each of these adds to each component
    terms: FeatureTable  # [terms, k] the same of each term
    units: Mapping[str, int]  # number of each unit of the sample
    rows: IntArray  # [rows] these numbers

    @classmethod
    def of(cls, sample: csr_array, units: Sequence[str]) -> _Components:
        """The largest components of these texts; units: [rows] labels."""
        numbers = codes(units)
        alike = products_of(sample, sample.T.tocsr()) * (numbers[:, None] != numbers)
        with single_threaded_blas():
            sizes, directions = np.linalg.eigh(alike)
        largest = sizes[::-1][:COMPONENTS] > LEAST_SIZE
        directions = directions[:, ::-1][:, :COMPONENTS][:, largest]
        # laid out as in a file: how a product is summed may depend on it
        return cls.along(np.ascontiguousarray(directions), sample, units)

    @classmethod
    def along(
        cls, directions: FloatArray, sample: csr_array, units: Sequence[str]
    ) -> _Components:
        """Components along these [rows, k] directions."""
        names = {name: i for i, name in enumerate(dict.fromkeys(units))}
        rows = np.array([names[name] for name in units], dtype=np.int64)
        return cls(sample, directions, FeatureTable(sample, directions), names, rows)

    def parts(self, vectors: csr_array, units: Sequence[str]) -> FloatArray:
        """[n, k] components of texts with these TF-IDF vectors, without what their units taught."""
        parts = self.terms.times(vectors)
        numbers = np.array([self.units.get(name, -1) for name in units], dtype=np.int64)
        familiar = np.flatnonzero(numbers >= 0)
        for begin in range(0, len(familiar), BLOCK):
            texts = familiar[begin : begin + BLOCK]
            parts[texts] -= self._unit_part(vectors[texts], numbers[texts])
        size = len(self.rows)
        counts = np.bincount(self.rows, minlength=1)[numbers[familiar]]
        parts[familiar] *= (size / np.maximum(1, size - counts))[:, None]
        return parts

    def _unit_part(self, vectors: csr_array, numbers: IntArray) -> FloatArray:
        """[n, k] what the sample's texts of each one's unit add to it, to the last digit."""
        alike = (vectors @ self.sample.T).tocoo()
        within = numbers[alike.row] == self.rows[alike.col]
        entries = (alike.data[within], (alike.row[within], alike.col[within]))
        return np.asarray(csr_array(entries, shape=alike.shape) @ self.directions)


def _taught(n: int) -> IntArray:
    """Rows of the rated texts whose words have components."""
    return np.sort(np.random.default_rng(5).permutation(n)[:MOST_ROWS])


@dataclass(frozen=True, slots=True, eq=False)
class JointKernel(_Bell):
    """`_Bell` over the surface and, equally, the main components of the words.

    A text whose words nobody has learned from lies among its likes, and a copy of a rated text
    where that one lies; see `_Components`.
    """

    words: Tfidf
    components: _Components
    size: float  # of a component
    middle: FloatArray  # [k]

    @classmethod
    def learned(cls, inputs: KernelInputs) -> tuple[JointKernel, FloatArray]:
        """The components of at most `MOST_ROWS` of these texts, and where the texts lie."""
        words = _tfidf("words", inputs)
        vectors = words.points(inputs)
        rows = _taught(len(inputs))
        components = _Components.of(vectors[rows], inputs.take(rows).units)
        parts = components.parts(vectors, inputs.units)
        total = parts.var(axis=0).sum()
        size = float(np.sqrt(parts.shape[1] / total)) if total > LEAST_SIZE else 0.0
        scale = _ranks("joint", inputs)
        middle = size * parts.mean(axis=0)
        kernel = cls("joint", scale, NEAR, words, components, size, middle)
        return kernel, kernel._placed(size * parts, inputs)

    @classmethod
    def known(
        cls,
        inputs: KernelInputs,
        words: Tfidf,
        directions: FloatArray,
        size: float,
        middle: FloatArray,
    ) -> JointKernel:
        """The kernel that was learned from these texts before."""
        taught = inputs.take(_taught(len(inputs)))
        sample = words.points(taught)
        components = _Components.along(directions, sample, taught.units)
        scale = _ranks("joint", inputs)
        return cls("joint", scale, NEAR, words, components, size, middle)

    def points(self, inputs: KernelInputs) -> FloatArray:
        parts = self.components.parts(self.words.points(inputs), inputs.units)
        return self._placed(self.size * parts, inputs)

    def _placed(self, parts: FloatArray, inputs: KernelInputs) -> FloatArray:
        numbers = self._mapped(inputs)
        columns = max(1, len(self.scale) + parts.shape[1])
        joined = np.hstack([numbers, parts - self.middle])
        return np.asarray(joined / (self.width * np.sqrt(columns)))


class _Line(_Scaled):
    """Mean product of the numbers of two texts: what rises and falls with each of them."""

    def between(self, points: FloatArray, anchors: FloatArray) -> FloatArray:
        return points @ anchors.T

    def diagonal(self, points: FloatArray) -> FloatArray:
        return np.asarray(np.square(points).sum(axis=1))

    def features(self, points: FloatArray) -> csr_array:
        # row by row: how a dense product is summed depends on its shape
        return csr_array(points)


@dataclass(frozen=True, slots=True, eq=False)
class _Vectors(BellKernel, _Dense):
    """exp(-d**2 / 2) of the distance of vectors, in root mean squares of the pool's distances."""

    center: FloatArray  # mean vector of the rated texts
    square: float  # mean over all pairs of rated texts of the squared distance

    @classmethod
    def of(cls, name: str, inputs: KernelInputs) -> _Vectors:
        """Learned from the vectors of these texts."""
        center = inputs.columns[name].mean(axis=0, dtype=np.float64)
        square = 2.0 - 2.0 * float(center @ center)
        return cls(name, center, square if square > 1e-6 else 1.0)

    def left(self, points: Points) -> FloatArray:
        centered, rest = self._sides(points)
        return np.column_stack([centered / self.square, rest, np.ones_like(rest)])

    def right(self, anchors: Points) -> FloatArray:
        centered, rest = self._sides(anchors)
        return np.vstack([centered.T, np.ones_like(rest), rest])

    def _sides(self, points: Points) -> tuple[FloatArray, FloatArray]:
        """Two parts whose products add up to (cosine - 1) / square.

        Alike vectors differ in few digits, which a product of centered ones has in any precision.
        """
        centered = points - self.center
        size = self.center @ self.center
        # row by row, as in `_Line`
        rest = (centered * self.center).sum(axis=1) + 0.5 * (size - 1.0)
        return centered, rest / self.square

    def diagonal(self, points: Points) -> FloatArray:
        cosines = np.einsum("ij,ij->i", points, points, dtype=np.float64)
        return np.asarray(np.exp(np.minimum((cosines - 1.0) / self.square, 0.0)))


def learned(name: str, inputs: KernelInputs) -> tuple[LearnedKernel, Points]:
    """The kernel of this name, learned from texts, and where these lie."""
    if name == "joint":
        return JointKernel.learned(inputs)
    kernel: LearnedKernel
    if name in TERMS:
        kernel = _tfidf(name, inputs)
    elif name == "grams":
        kernel = GramsKernel(KnownGrams.of(inputs.texts))
    else:
        kernel = column_kernel(name, inputs)
    return kernel, kernel.points(inputs)


def _tfidf(name: str, inputs: KernelInputs) -> Tfidf:
    """The kernel of a kind of terms, learned from these texts once."""
    return inputs.once((name, Tfidf), lambda: Tfidf.learned(name, inputs))


def _ranks(name: str, inputs: KernelInputs) -> NormalRanks:
    """The ranks of the numbers of a kernel; they are one for kernels that see all."""
    what = TOGETHER if name in TOGETHER else (name, NormalRanks)
    return inputs.once(what, lambda: NormalRanks.of(inputs.columns[name]))


def column_kernel(name: str, inputs: KernelInputs) -> LearnedKernel:
    """The kernel of a column of `inputs`."""
    if name == "system":
        return _Equality(name)
    if name in {"meaning", "source_meaning"}:
        return _Vectors.of(name, inputs)
    numbers = inputs.columns[name]
    if name == "judges":
        return _Line(name, Composite.of(numbers), 1.0)
    if name == "trend" or name.startswith("score "):
        return _Line(name, _ranks(name, inputs), 1.0)
    is_score = name == "scores"
    scale = Standardized.of(numbers) if is_score else _ranks(name, inputs)
    return _Bell(name, scale, NEAR if name == "near" else WIDTH)


def score_kernels(names: Sequence[str]) -> tuple[str, ...]:
    """Names of the kernels of judges' scores: one for each, two for all."""
    return (*(f"score {name}" for name in names), *JUDGES) if names else ()


def is_score(name: str) -> bool:
    """Whether a kernel compares scores of judges."""
    return name in JUDGES or name.startswith("score ")


@dataclass(frozen=True, eq=False)
class Covariance:
    """The weighted sum of kernels: how far the ratings of two texts go together."""

    kernels: Mapping[str, LearnedKernel]  # those of weight above 0
    weights: Mapping[str, float]
    lying: Mapping[str, Points]  # where the anchors lie, which texts are compared with
    size: int  # of these

    @classmethod
    def of(
        cls,
        kernels: Mapping[str, LearnedKernel],
        weights: FloatArray,
        anchors: Mapping[str, Points],
        size: int,
    ) -> Covariance:
        """The sum of all kernels with these weights, beside so many anchors."""
        pairs = zip(kernels, weights.tolist(), strict=True)
        positive = {name: weight for name, weight in pairs if weight > 0}
        return cls(
            {name: kernels[name] for name in positive},
            positive,
            anchors,
            size,
        )

    @cached_property
    def anchors(self) -> dict[str, Any]:
        """The anchors, prepared for comparing others with them."""
        return {name: k.anchors(self.lying[name]) for name, k in self.kernels.items()}

    def points(self, inputs: KernelInputs) -> dict[str, Points]:
        """The points of texts."""
        return {name: kernel.points(inputs) for name, kernel in self.kernels.items()}

    def between(self, points: Mapping[str, Points], n: int) -> FloatArray:
        """[n, anchors] covariance of n texts with the anchors."""
        total = np.zeros((n, self.size))
        for begin in range(0, n, BLOCK):
            rows = slice(begin, min(begin + BLOCK, n))
            for name, kernel in self.kernels.items():
                values = kernel.between(points[name][rows], self.anchors[name])
                total[rows] += self.weights[name] * values
        return total

    def parts(
        self, points: Mapping[str, Points], counted: FloatArray
    ) -> dict[str, FloatArray]:
        """[texts] what each kernel adds to `between` @ `counted`, by its name."""
        parts = {}
        for name, kernel in self.kernels.items():
            values = kernel.between(points[name], self.anchors[name])
            parts[name] = self.weights[name] * (values @ counted)
        return parts

    def diagonal(self, points: Mapping[str, Points], n: int) -> FloatArray:
        """[n] prior variances."""
        total = np.zeros(n)
        for name, kernel in self.kernels.items():
            total += self.weights[name] * kernel.diagonal(points[name])
        return total
