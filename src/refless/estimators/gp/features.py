"""Features that kernels read of texts: their numbers, vectors and terms, and the terms' TF-IDF."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, count, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from refless.data.records import NO_SCORES, picked
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.progress import Progress
from refless.text.embed import Encoder
from refless.text.masking import masked
from refless.text.surface import LEXIS, SHAPE, relation, surface
from refless.text.words import words

if TYPE_CHECKING:
    from scipy.sparse import csr_array

RUNS = (3, 5)  # letters of a word that are read together
LONG = 24  # letters of a word whose runs are not remembered


@dataclass(frozen=True, slots=True, eq=False)
class KernelInputs:
    """Texts and what the kernels read of them."""

    texts: tuple[str, ...]
    sources: tuple[str, ...]  # () if they are not read
    units: tuple[str, ...]  # labels of what belongs together
    # [n, ...] numbers or vectors, by the kernel that compares them
    columns: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: IntArray | Sequence[int]) -> KernelInputs:
        """These rows."""
        index = np.asarray(rows, dtype=np.int64)
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
    encoder: Encoder | None = None,
    scores: FloatArray = NO_SCORES,
    score_names: Sequence[str] = (),
    progress: Progress | None = None,
) -> KernelInputs:
    """The kernels' inputs of [n] texts, their sources, systems, and [n, k] scores of judges.

    Args:
        texts, sources, systems, encoder, scores, score_names: what is read.
        units: [n] what belongs together; by default texts of one source, or equal texts.
        progress: called with the share of the encoder's vectors that is computed.
    """
    numbers = surface(texts)
    shape, lexis, marks = np.split(numbers, [len(SHAPE), len(SHAPE + LEXIS)], axis=1)
    columns: dict[str, Any] = {"shape": shape, "lexis": lexis, "marks": marks}
    if sources:
        columns["relation"] = relation(texts, sources)
        numbers = np.hstack([numbers, columns["relation"]])
    columns |= dict.fromkeys(("trend", "near", "joint"), numbers)
    if encoder is not None:
        vectors = encoder.sentences([*texts, *sources], progress)
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


def _digest(name: str) -> int:
    raw = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(raw, "big", signed=True)


def _word_terms(text: str) -> Iterator[str]:
    """Words, and pairs of neighbouring words."""
    tokens = words(text)
    return chain(tokens, map(" ".join, pairwise(tokens)))


def _letter_terms(text: str) -> Iterator[str]:
    """Runs of letters of what stands between blanks and marks, its ends marked by blanks."""
    return chain.from_iterable(
        _cached_runs(word) if len(word) < LONG else _runs(word)
        for word in words(text, whole=True)
    )


def _runs(word: str) -> tuple[str, ...]:
    low, high = RUNS
    marked = f" {word} "
    lengths = range(low, min(high, len(marked)) + 1)
    runs: list[str] = []
    for n in lengths:
        runs += [marked[i : i + n] for i in range(len(marked) - n + 1)]
    return tuple(runs)


_cached_runs = lru_cache(maxsize=20_000)(_runs)

# the terms of a text and its source, by the kernel that counts them
TERMS: dict[str, Callable[[str, str], Iterable[str]]] = {
    "words": lambda text, _: _word_terms(text),
    "letters": lambda text, _: _letter_terms(text),
    "source": lambda _, source: _word_terms(source),
    "masked": lambda text, source: _word_terms(masked(text, source)),
}


@dataclass(frozen=True, slots=True, eq=False)
class Tfidf:
    """Cosine of vectors (1 + log count) idf, idf = 1 + log((1 + n) / (1 + df)), of terms.

    A term that no rated text has counts in a text's length alone, as if one of them had it.
    """

    name: str
    terms: Mapping[str, int]  # the column of each
    idf: FloatArray  # [terms + 1], the last of new terms

    @classmethod
    def learned(cls, name: str, inputs: KernelInputs) -> tuple[Tfidf, csr_array]:
        """The terms of these texts, and the texts' vectors: terms are counted once for both."""
        columns: defaultdict[str, int] = defaultdict(count().__next__)
        counted = _counts(name, inputs, columns.__getitem__)
        frequency = np.append(np.bincount(counted[0], minlength=len(columns)), 1)
        idf = 1.0 + np.log((1 + len(inputs)) / (1 + frequency))
        kernel = cls(name, dict(columns), idf)
        return kernel, kernel._vectors(*counted)

    def points(self, inputs: KernelInputs) -> csr_array:
        """[texts, terms] vectors; each is of its text alone, to the last digit."""
        size = len(self.terms)
        counts = _counts(self.name, inputs, lambda term: self.terms.get(term, size))
        return self._vectors(*counts)

    def _vectors(
        self, index: IntArray, counts: IntArray, starts: IntArray
    ) -> csr_array:
        from scipy.sparse import csr_array

        n = len(starts) - 1
        size = len(self.terms)
        values = (1.0 + np.log(counts)) * self.idf[index]
        rows = np.repeat(np.arange(n), np.diff(starts))
        values /= np.sqrt(np.bincount(rows, values**2, n))[rows]
        return csr_array((values, index, starts), shape=(n, size + 1))[:, :size]

    def anchors(self, points: csr_array) -> csr_array:
        """See `Kernel`."""
        return points.T.tocsr()

    def between(self, points: csr_array, anchors: csr_array) -> FloatArray:
        """See `Kernel`."""
        return np.asarray((points @ anchors).toarray())

    def diagonal(self, points: csr_array) -> FloatArray:
        """See `Kernel`; it is 1 for a text of new terms, too."""
        return np.ones(points.shape[0])


def _counts(
    name: str, inputs: KernelInputs, column: Callable[[str], int]
) -> tuple[IntArray, IntArray, IntArray]:
    """Columns of the terms of each text, their counts, and where each text's begin."""
    index = array("q")
    counts = array("q")
    starts = array("q", [0])
    for pair in zip(inputs.texts, inputs.sources or inputs.texts, strict=True):
        tally = Counter(TERMS[name](*pair))
        index.extend(map(column, tally))
        counts.extend(tally.values())
        starts.append(len(index))
    return np.array(index), np.array(counts), np.array(starts)
