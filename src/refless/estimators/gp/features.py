"""Features that kernels read of texts: their numbers, vectors and terms, and the terms' TF-IDF."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from refless.data.records import NO_SCORES, picked
from refless.loops import Loops
from refless.registry.arrays import FloatArray, IntArray, aligned
from refless.text.embed import VectorArray
from refless.text.masking import masked
from refless.text.surface import LEXIS, MARKS, SHAPE, relation, surface
from refless.text.terms import (
    KnownGrams,
    KnownTerms,
    Tokens,
    Words,
    letter_terms,
    products_of,
    word_terms,
)
from refless.text.tokenize import distinct

if TYPE_CHECKING:
    from scipy.sparse import csr_array

loops = Loops("lookups")

T = TypeVar("T")
Encode = Callable[[Sequence[str]], VectorArray]  # see `Encoder.sentences`
# texts whose words are counted at a time, within a processor's near memory
BLOCK = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class KernelInputs:
    """Texts and what the kernels read of them."""

    texts: tuple[str, ...]
    sources: tuple[str, ...]  # () if they are not read
    units: tuple[str, ...]  # labels of what belongs together
    # [n, ...] numbers or vectors, by the kernel that compares them
    columns: Mapping[str, Any]
    # what several kernels read of them or learn from them, by what it is
    found: dict[Hashable, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.texts)

    def once(self, what: Hashable, find: Callable[[], T]) -> T:
        """The result of `find`, which is asked the first time alone."""
        if what not in self.found:
            self.found[what] = find()
        return self.found[what]  # type: ignore[no-any-return]

    def take(self, rows: IntArray | Sequence[int]) -> KernelInputs:
        """These rows."""
        index = np.asarray(rows, dtype=np.int64)
        if np.array_equal(index, np.arange(len(self))):
            return self
        columns = {name: column[index] for name, column in self.columns.items()}
        return KernelInputs(
            picked(self.texts, index),
            picked(self.sources, index),
            picked(self.units, index),
            columns,
        )


def inputs_of(
    texts: Sequence[str],
    sources: Sequence[str] = (),
    *,
    units: Sequence[str] = (),
    systems: Sequence[str] = (),
    encode: Encode | None = None,
    scores: FloatArray = NO_SCORES,
    score_names: Sequence[str] = (),
    numbers: FloatArray | None = None,
) -> KernelInputs:
    """The kernels' inputs of [n] texts, their sources, systems, and [n, k] scores of judges.

    Args:
        texts, sources, systems, scores, score_names: what is read.
        encode: gives vectors of length 1, those of the sources last.
        units: [n] what belongs together; by default texts of one source, or equal texts.
        numbers: what `numbers_of` gives, where it is known.
    """
    if numbers is None:
        numbers = numbers_of(texts, sources)
    ends = np.cumsum([len(SHAPE), len(LEXIS), len(MARKS)])
    shape, lexis, marks, related = np.split(numbers, ends, axis=1)
    columns: dict[str, Any] = {"shape": shape, "lexis": lexis, "marks": marks}
    if sources:
        columns["relation"] = related
    columns |= dict.fromkeys(("trend", "near", "joint"), numbers)
    if encode is not None:
        vectors = encode([*texts, *sources])
        columns["meaning"] = vectors[: len(texts)]
        if sources:
            columns["source_meaning"] = vectors[len(texts) :]
            cosine = np.einsum("ij,ij->i", *np.split(vectors, 2), dtype=np.float64)
            columns["relevance"] = cosine[:, None]
    if systems:
        named = (name or f"\0{text}" for name, text in zip(systems, texts, strict=True))
        columns["system"] = np.array([_digest(name) for name in named], dtype=np.int64)
    columns |= {f"score {name}": scores[:, [i]] for i, name in enumerate(score_names)}
    if score_names:
        columns |= dict.fromkeys(("scores", "judges"), scores)
    labels = tuple(units or sources or texts)
    return KernelInputs(tuple(texts), tuple(sources), labels, columns)


def numbers_of(texts: Sequence[str], sources: Sequence[str]) -> FloatArray:
    """[n, k] numbers about the surface of texts, and about what they take from their sources."""
    begins = range(0, max(1, len(texts)), BLOCK)
    numbers = np.vstack([surface(texts[begin : begin + BLOCK]) for begin in begins])
    return np.hstack([numbers, relation(texts, sources)]) if sources else numbers


def _digest(name: str) -> int:
    raw = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(raw, "big", signed=True)


def _text(text: str, _: str) -> str:
    return text


def _source(_: str, source: str) -> str:
    return source


# the string that a kernel reads of a text and its source, and the terms of its words
TERMS: dict[str, tuple[Callable[[str, str], str], Callable[[Words], Tokens]]] = {
    "words": (_text, word_terms),
    "letters": (_text, letter_terms),
    "source": (_source, word_terms),
    "masked": (masked, word_terms),
}


def terms_of(name: str, inputs: KernelInputs) -> tuple[Tokens, IntArray]:
    """The terms of each different string that a kernel counts, and the string of each text."""
    string_of, read = TERMS[name]

    def words() -> tuple[Words, IntArray]:
        sources = inputs.sources or inputs.texts
        once, rows = distinct(map(string_of, inputs.texts, sources))
        return Words.of(once), rows

    laid, rows = inputs.once(string_of, words)
    return inputs.once(name, lambda: read(laid)), rows


class SparseKernel:
    """A kernel that is a product of the few features of a text, which are where it lies."""

    __slots__ = ()

    def anchors(self, points: csr_array) -> csr_array:
        """See `LearnedKernel`."""
        return points.T.tocsr()

    def between(self, points: csr_array, anchors: csr_array) -> FloatArray:
        """See `LearnedKernel`."""
        return products_of(points, anchors)

    def features(self, points: csr_array) -> csr_array:
        """See `LinearKernel`."""
        return points


@dataclass(frozen=True, slots=True, eq=False)
class Tfidf(SparseKernel):
    """Cosine of vectors (1 + log count) idf, idf = 1 + log((1 + n) / (1 + df)), of terms.

    A term that no rated text has counts in a text's length alone, as if one of them had it.
    """

    name: str
    known: KnownTerms  # of the rated texts
    idf: FloatArray  # [terms + 1], the last of new terms

    @classmethod
    def learned(cls, name: str, inputs: KernelInputs) -> Tfidf:
        """The terms of these texts."""
        tokens, rows = terms_of(name, inputs)
        terms = tokens.counted()
        keys, index = np.unique(terms.keys, return_inverse=True)
        copies = np.repeat(np.bincount(rows), np.diff(terms.starts))
        frequency = np.bincount(index, copies)
        idf = 1.0 + np.log((1 + len(inputs)) / (1 + np.append(frequency, 1)))
        return cls(name, KnownTerms(keys), idf)

    def points(self, inputs: KernelInputs) -> csr_array:
        """[texts, terms] vectors; each is of its text alone, to the last digit."""
        return inputs.once(self, lambda: self._vectors(inputs))

    def _vectors(self, inputs: KernelInputs) -> csr_array:
        from scipy.sparse import csr_array

        tokens, rows = terms_of(self.name, inputs)
        laid = (tokens.keys, tokens.starts, self.known.table, self.idf)
        found, values, starts = loops.tfidf_loop(*laid)
        shape = (len(starts) - 1, len(self.known.keys))
        vectors = csr_array((values, found, starts), shape=shape)
        return vectors if shape[0] == len(rows) else vectors[rows]

    def diagonal(self, points: csr_array) -> FloatArray:
        """See `LearnedKernel`; it is 1 for a text of new terms, too."""
        return np.ones(points.shape[0])


@dataclass(frozen=True, slots=True, eq=False)
class GramsKernel(SparseKernel):
    """The mean cosine of clipped counts of n-grams, over their orders: BLEU*'s matches.

    It is definite: 1 of equal texts, 0 where one is shorter than the highest order.
    """

    known: KnownGrams  # of the rated texts

    def points(self, inputs: KernelInputs) -> csr_array:
        """See `LearnedKernel`."""
        return self.known.vectors(inputs.texts)

    def diagonal(self, points: csr_array) -> FloatArray:
        """See `LearnedKernel`."""
        return np.asarray(np.diff(points.indptr) > 0, dtype=np.float64)


_MAKING = Lock()  # one for all tables, which are pickled with an estimator


class FeatureTable:
    """[features, k] product of texts' features and columns.

    Texts have few of many sparse features: a row is made when it is first asked for, and kept.
    """

    def __init__(
        self,
        features: csr_array,  # [texts, features]
        columns: FloatArray,
        first: FloatArray | None = None,
        precision: type = np.float64,
    ) -> None:
        """The product with [texts, k] columns; first: [features] the first column, if another."""
        self._columns = columns
        self._first = first
        n = features.shape[1]
        # those that are made stand first, and only they take memory
        self._rows: FloatArray = aligned((n, columns.shape[1]), precision)
        # of each feature's row, -1 for one that is not made
        self._place = np.full(n, -1, dtype=np.int32)
        self._features = features.T.tocsr()

    def times(self, texts: csr_array) -> FloatArray:
        """[texts, k] the product, each text alone, in its precision; quicker than SciPy's."""
        index = texts.indices
        lacking = index[self._place[index] < 0]
        if len(lacking):
            with _MAKING:
                self._make(lacking)
        laid = (index, texts.data, texts.indptr)
        products: FloatArray = loops.products_loop(*laid, self._place, self._rows)
        return products

    def _make(self, features: IntArray) -> None:
        """Makes the rows of these features; others read those that are made meanwhile."""
        lacking = features[self._place[features] < 0]
        # usual ones come first, and lie together
        new = np.array([*dict.fromkeys(lacking.tolist())], np.int64)
        made = self._features[new] @ self._columns
        if self._first is not None:
            made[:, 0] = self._first[new]
        begin = np.count_nonzero(self._place >= 0)
        end = begin + len(made)
        self._rows[begin:end] = made
        self._place[new] = np.arange(begin, end)
