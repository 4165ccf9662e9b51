"""The kernels whose weighted sum says how far two texts should be rated alike.

Each is positive semi-definite, and 1 for a text with itself unless it grows with a number. A
component has learned from the rated texts how to place any text; points are what it compares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Protocol, Self

import numpy as np

from refless.estimators.gp.inputs import Inputs
from refless.estimators.gp.tfidf import BAGS, Bag
from refless.metrics.kernels.bleu import PreparedBleu
from refless.metrics.matching import Work
from refless.registry.arrays import FloatArray
from refless.stats.scaling import NormalRanks, Standardized
from refless.text.ngrams import Shape
from refless.text.surface import LEXIS, SHAPE
from refless.text.tokenize import token_counts

TEXT = ("grams", "words", "letters", "shape", "lexis", "marks", "surface", "trend")
SOURCE = ("source", "masked", "relation")
ACTS, SYSTEM = ("acts",), ("system",)
MEANING, SOURCE_MEANING = ("meaning",), ("asked", "relevance")
KINDS = {
    **dict.fromkeys(("grams", "letters", "words", "masked", "acts"), "wording"),
    "meaning": "topic",
    "shape": "length and shape",
    "lexis": "repetition and choice of words",
    "marks": "punctuation and capitals",
    **dict.fromkeys(("surface", "trend"), "surface together"),
    **dict.fromkeys(("relation", "relevance"), "use of the source"),
    **dict.fromkeys(("source", "asked"), "the source itself"),
    "scores": "scores together",
    "system": "the system",
}  # what people call kernels; those of one score are called as it is
WIDTH = 2.0  # of the bell over numbers, in their standard deviations: smooth, not wiggly

Numbers = Callable[[Inputs], FloatArray]  # -> [texts, numbers]

Points = Any  # [texts, ...] an array, a sparse one, or the texts themselves
Bound = Callable[[Points], FloatArray]  # points -> [points, anchors]


class Component(Protocol):
    """One kernel, as it was learned."""

    def points(self, inputs: Inputs) -> Points:
        """[texts, ...] where texts lie."""
        ...

    def bound(self, anchors: Points) -> Bound:
        """What compares points with these."""
        ...

    def diagonal(self, points: Points) -> FloatArray:
        """[points] kernel value of each with itself."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class _Grams:
    """The cosine of clipped counts of n-grams: the matches of BLEU*, made definite."""

    shape: Shape
    threads: int | None

    def points(self, inputs: Inputs) -> Points:
        return np.array(inputs.texts, dtype=object)

    def bound(self, anchors: Points) -> Bound:
        return partial(self._between, PreparedBleu.build(tuple(anchors), self.shape))

    def _between(self, prepared: PreparedBleu, points: Points) -> FloatArray:
        return prepared.cosine(tuple(points), Work(threads=self.threads))

    def diagonal(self, points: Points) -> FloatArray:
        lengths = token_counts(tuple(points), self.shape.tokenize)
        return (lengths >= self.shape.high).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Bell:
    """exp(-d**2 / 2) of the root mean square distance d of some numbers, in `WIDTH`."""

    read: Numbers
    scale: NormalRanks | Standardized

    @classmethod
    def of(cls, read: Numbers, statistics: Inputs) -> Self:
        """Learned from these texts."""
        return cls(read, NormalRanks.of(read(statistics)))

    def points(self, inputs: Inputs) -> FloatArray:
        spread = WIDTH * np.sqrt(max(1, len(self.scale)))
        return np.asarray(self.scale.mapped(self.read(inputs)) / spread)

    def bound(self, anchors: Points) -> Bound:
        return partial(_near, anchors)

    def diagonal(self, points: Points) -> FloatArray:
        return np.ones(len(points))


def _near(anchors: FloatArray, points: FloatArray) -> FloatArray:
    """[points, anchors] exp(-d**2 / 2) of the distances."""
    squares = np.square(points).sum(axis=1)[:, None] + np.square(anchors).sum(axis=1)
    squares -= 2.0 * points @ anchors.T
    np.maximum(squares, 0.0, out=squares)
    squares *= -0.5
    return np.asarray(np.exp(squares, out=squares))


@dataclass(frozen=True, slots=True, eq=False)
class _Trend(_Bell):
    """Product of the numbers of two texts: what rises and falls with each of them."""

    def points(self, inputs: Inputs) -> FloatArray:
        return np.asarray(self.scale.mapped(self.read(inputs)) / np.sqrt(max(1, len(self.scale))))

    def bound(self, anchors: Points) -> Bound:
        return partial(_along, anchors)

    def diagonal(self, points: Points) -> FloatArray:
        return np.asarray(np.square(points).sum(axis=1))


def _along(anchors: FloatArray, points: FloatArray) -> FloatArray:
    return np.asarray(points @ anchors.T)


class _Plain(_Bell):
    """The same of the numbers themselves, not of their ranks."""

    @classmethod
    def of(cls, read: Numbers, statistics: Inputs) -> Self:
        """Learned from these texts."""
        return cls(read, Standardized.of(read(statistics)))


def _numbers(inputs: Inputs) -> FloatArray:
    relation = inputs.relation if len(inputs.sources) else np.zeros((len(inputs), 0))
    return np.hstack([inputs.surface, relation])


def _part(begin: int, end: int | None, inputs: Inputs) -> FloatArray:
    return inputs.surface[:, begin:end]


NUMBERS: dict[str, tuple[type[_Bell], Numbers]] = {
    "shape": (_Bell, partial(_part, 0, len(SHAPE))),
    "lexis": (_Bell, partial(_part, len(SHAPE), len(SHAPE + LEXIS))),
    "marks": (_Bell, partial(_part, len(SHAPE + LEXIS), None)),
    "relation": (_Bell, attrgetter("relation")),
    "surface": (_Bell, _numbers),
    "trend": (_Trend, _numbers),
    "relevance": (_Bell, attrgetter("relevance")),
}  # the numbers that each of these kernels compares


@dataclass(frozen=True, slots=True, eq=False)
class _Meaning:
    """exp(-d**2 / 2) of the distance of vectors, in root mean squares of the pool's distances."""

    name: str
    square: float

    @classmethod
    def of(cls, name: str, statistics: Inputs) -> _Meaning:
        """Learned from the vectors of these texts."""
        middle = getattr(statistics, name).mean(axis=0, dtype=np.float64)
        square = 2.0 - 2.0 * float(middle @ middle)  # mean over all pairs of the squared distance
        return cls(name, square if square > 1e-6 else 1.0)

    def points(self, inputs: Inputs) -> Points:
        return getattr(inputs, self.name)

    def bound(self, anchors: Points) -> Bound:
        return partial(self._between, np.asarray(anchors, dtype=np.float64))

    def _between(self, anchors: FloatArray, points: Points) -> FloatArray:
        squares = 2.0 - 2.0 * (np.asarray(points, dtype=np.float64) @ anchors.T)
        return np.asarray(np.exp(-0.5 / self.square * np.maximum(squares, 0.0)))

    def diagonal(self, points: Points) -> FloatArray:
        lengths = np.einsum("ij,ij->i", points, points, dtype=np.float64)  # 0: nothing known
        return np.asarray(np.exp(-0.5 / self.square * np.maximum(2.0 - 2.0 * lengths, 0.0)))


@dataclass(frozen=True, slots=True, eq=False)
class _Same:
    """1 for texts of one system, 0 for others: what a system adds to all of its texts.

    A text without a system is of one of its own, which its copies share. Points are digests.
    """

    def points(self, inputs: Inputs) -> Points:
        both = zip(inputs.systems, inputs.texts, strict=True)
        return np.array([_number(name or f"\0{text}") for name, text in both], dtype=np.int64)

    def bound(self, anchors: Points) -> Bound:
        return partial(self._between, anchors)

    def _between(self, anchors: Points, points: Points) -> FloatArray:
        return np.asarray(points[:, None] == anchors, dtype=np.float64)

    def diagonal(self, points: Points) -> FloatArray:
        return np.ones(len(points))


def _number(name: str) -> int:
    raw = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(raw, "big", signed=True)


def components_of(
    names: Sequence[str],
    statistics: Inputs,
    shape: Shape,
    threads: int | None = None,
    bags: Mapping[str, Bag] = MappingProxyType({}),
) -> tuple[Component, ...]:
    """The kernels of these names.

    Args:
        names: out of `TEXT`, `SOURCE`, `ACTS`, `MEANING`, `SOURCE_MEANING`, `SYSTEM` and
            `score_numbers`.
        statistics: the texts whose word frequencies and spreads count.
        shape: tokens and orders of the n-grams.
        threads: for these.
        bags: those that are known already, by name.
    """
    numbers = NUMBERS | score_numbers(statistics.score_names)
    makers: dict[str, Callable[[], Component]] = {
        "grams": lambda: _Grams(shape, threads),
        "system": _Same,
        **{name: partial(Bag.of, read, statistics) for name, read in BAGS.items()},
        **{name: partial(_Meaning.of, name, statistics) for name in ("meaning", "asked")},
        **{name: partial(kind.of, read, statistics) for name, (kind, read) in numbers.items()},
    }
    return tuple(bags.get(name) or makers[name]() for name in names)


def kind_of(name: str) -> str:
    """What people call a kernel."""
    return KINDS.get(name) or name.rpartition(" ")[0]


def is_judge(name: str) -> bool:
    """Whether a kernel is the line of a score that others gave."""
    return name.startswith("score ") and name.endswith(" linear")


def is_said(name: str) -> bool:
    """Whether a kernel compares scores that others gave."""
    return name == "scores" or name.startswith("score ")


def score_numbers(names: Sequence[str]) -> dict[str, tuple[type[_Bell], Numbers]]:
    """The kernels of scores that others gave, by name."""
    found: dict[str, tuple[type[_Bell], Numbers]] = {}
    for i, name in enumerate(names):
        found[f"score {name} linear"] = (_Trend, partial(_score, i))
        found[f"score {name} bell"] = (_Bell, partial(_score_or_none, i))
    return found | {"scores": (_Plain, _scores)} if names else found


def _scores(inputs: Inputs) -> FloatArray:
    """[n, scores] NaN where one is missing."""
    return inputs.scores


def _score(column: int, inputs: Inputs) -> FloatArray:
    """[n, 1] a score, NaN where it is missing."""
    return inputs.scores[:, [column]]


def _score_or_none(column: int, inputs: Inputs) -> FloatArray:
    """[n, 2] a score, and whether it is missing."""
    values = _score(column, inputs)
    return np.hstack([values, np.isnan(values)])
