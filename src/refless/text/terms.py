"""Words of many texts at once, by compiled loops: their terms as keys, counted text by text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING
from unicodedata import category

import numpy as np
import numpy.typing as npt

from refless.loops import Loops
from refless.registry.arrays import FloatArray, IntArray
from refless.text.tokenize import tokenizer
from refless.text.words import AS_ASCII, JOINERS, LAST_MARK, UNBROKEN, folded

if TYPE_CHECKING:
    from scipy.sparse import csr_array

loops = Loops("terms")
lookups = Loops("lookups")

N_ASCII = 128
RUNS = (3, 5)  # letters of a word that are read together
ORDERS = (2, 4)  # of n-grams of characters
_UNBROKEN = re.compile(f"[{UNBROKEN}]")

PointArray = npt.NDArray[np.uint32]
KindArray = npt.NDArray[np.uint16]


def joined(texts: Sequence[str]) -> tuple[PointArray, IntArray]:
    """Code points of all texts, lone surrogates too, and [texts + 1] where each text's begin."""
    raw = "".join(texts).encode("utf-32-le", "surrogatepass")
    starts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return np.frombuffer(raw, dtype="<u4"), starts


def kinds_of(points: PointArray) -> KindArray:
    """[all code points] classes of those characters that occur, as bits of `loops.terms`."""
    kinds = _kinds()
    rare = points[points >= N_ASCII]
    for point in np.unique(rare[kinds[rare] == 0]).tolist():
        kinds[point] = _kind(chr(point))
    return kinds


@cache
def _kinds() -> KindArray:
    """The classes that are known so far, those of ASCII at first; 0 for others."""
    kinds = np.zeros(0x110000, dtype=np.uint16)
    kinds[:N_ASCII] = [_kind(chr(point)) for point in range(N_ASCII)]
    return kinds


def _kind(character: str) -> int:
    """The class of a character."""
    mark = AS_ASCII.get(character, character)
    is_mark = category(character)[0] == "M" and ord(character) <= LAST_MARK
    bits = {
        loops.WORD: character.isalnum() or character == "_",
        loops.SPACE: character.isspace(),
        loops.MARK: is_mark or character in JOINERS,
        loops.UNBROKEN: _UNBROKEN.match(character) is not None,
        loops.ALNUM: character.isalnum(),
        loops.CAPITAL: character.isupper(),
        loops.DIGIT: character.isdigit(),
        loops.FULL_STOP: mark == ".",
        loops.SENTENCE_END: mark in ".!?",
        loops.QUESTION: mark == "?",
        loops.COMMA: mark == ",",
        loops.KNOWN: True,
    }
    return sum(bit for bit, holds in bits.items() if holds)


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The tokens of texts, or other terms, one after the other, each time that a text has one.

    Attributes:
        keys: [all tokens] equal ones of equal tokens.
        starts: [texts + 1] text i has the tokens `keys[starts[i]:starts[i + 1]]`.
    """

    keys: IntArray | PointArray
    starts: IntArray

    @property
    def lengths(self) -> IntArray:
        """[texts] number of tokens."""
        return np.diff(self.starts)

    def counted(self) -> Terms:
        """The different ones of each text."""
        return Terms(*lookups.counts_loop(self.keys, self.starts))


def tokens_of(texts: Sequence[str], tokenize: str) -> Tokens:
    """The tokens that a tokenizer makes of texts; see `tokenizer`."""
    if tokenize not in ("char", "words"):
        split = tokenizer(tokenize)
        texts = [" ".join(split(text)) for text in texts]
    points, starts = joined(texts)
    if tokenize == "char":
        return Tokens(points, starts)
    return Tokens(*loops.split_loop(points, starts, kinds_of(points)))


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """The different terms of each of some texts.

    Attributes:
        keys: [terms] 63-bit keys; equal terms have equal ones.
        counts: [terms] how often the text has it.
        starts: [texts + 1] text i has the terms `starts[i]:starts[i + 1]`.
    """

    keys: IntArray
    counts: IntArray
    starts: IntArray


@dataclass(frozen=True, eq=False)
class KnownTerms:
    """The terms of some texts, to be looked up."""

    keys: IntArray  # [terms] ascending

    @cached_property
    def table(self) -> IntArray:
        """The table for loops; see `loops.lookups.table_loop`."""
        return lookups.table_loop(self.keys)  # type: ignore[no-any-return]

    def places(self, keys: IntArray) -> IntArray:
        """[keys] the place of each term, one more than the last for one that is not known."""
        places: IntArray = lookups.find_loop(keys, self.table, len(self.keys))
        return places


class KnownGrams(KnownTerms):
    """N-grams of characters of some texts; one that a text has again is another one."""

    @classmethod
    def of(cls, texts: Sequence[str]) -> KnownGrams:
        """Those of these texts."""
        keys, starts = _gram_keys(texts)
        lookups.occurrences_loop(keys, starts)
        return cls(np.unique(keys))

    def vectors(self, texts: Sequence[str]) -> csr_array:
        """[texts, n-grams + 1] each text's n-grams; those of each order have the same length.

        A text without a known one has the last column, as 0, unless it is shorter than the highest
        order.
        """
        from scipy.sparse import csr_array

        keys, begins = _gram_keys(texts)
        lengths = np.array([*map(len, texts)], dtype=np.int64)
        size = len(self.keys)
        laid = (keys, begins, lengths, *ORDERS, self.table, size)
        places, values, starts = lookups.known_grams_loop(*laid)
        return csr_array((values, places, starts), shape=(len(texts), size + 1))


def _gram_keys(texts: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Keys of n-grams of characters, and where each text's begin."""
    return loops.grams_loop(*joined(texts), *ORDERS)  # type: ignore[no-any-return]


def products_of(points: csr_array, anchors: csr_array) -> FloatArray:
    """[points, anchors] product of sparse matrices; quicker than SciPy's."""
    first, second = (
        (matrix.indices, matrix.data, matrix.indptr) for matrix in (points, anchors)
    )
    products: FloatArray = lookups.matches_loop(*first, *second, anchors.shape[1])
    return products


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words and marks of texts, in lower case.

    Attributes:
        points: code points of all texts; starts: [texts + 1] where each text's begin.
        begins: [texts + 1] text i has the words `begins[i]:begins[i + 1]`.
        places, sizes: [words] where each word lies in the points.
        keys: [words] 63-bit keys.
    """

    points: PointArray
    starts: IntArray
    begins: IntArray
    places: IntArray
    sizes: IntArray
    keys: IntArray

    @classmethod
    def of(cls, texts: Sequence[str]) -> Words:
        """The words as `refless.text.words.words` splits them."""
        points, starts = joined([*map(folded, texts)])
        laid = loops.words_loop(points, starts, kinds_of(points), whole=False)
        return cls(points, starts, *laid)

    def whole(self) -> Words:
        """The same where what has no blanks in it is one word."""
        kinds = kinds_of(self.points)
        if not (kinds[self.points] & loops.UNBROKEN).any():
            return self
        laid = loops.words_loop(self.points, self.starts, kinds, whole=True)
        return Words(self.points, self.starts, *laid)

    def plain(self) -> Words:
        """Those that begin with a letter or digit."""
        kinds = kinds_of(self.points)[self.points[self.places]]
        rows = np.flatnonzero(kinds & loops.ALNUM)
        begins = np.searchsorted(rows, self.begins)
        return Words(
            self.points,
            self.starts,
            begins,
            self.places[rows],
            self.sizes[rows],
            self.keys[rows],
        )

    def runs(self, length: int, most: int) -> Terms:
        """Runs of so many words, out of the first ones of each text."""
        return Tokens(*loops.runs_loop(self.keys, self.begins, length, most)).counted()


def word_terms(words: Words) -> Tokens:
    """Words, and pairs of neighbouring words."""
    return Tokens(*loops.pairs_loop(words.keys, words.begins))


def letter_terms(words: Words) -> Tokens:
    """Runs of letters of what stands between blanks and marks, its ends marked by blanks."""
    whole = words.whole()
    laid = (whole.points, whole.begins, whole.places, whole.sizes)
    return Tokens(*loops.letters_loop(*laid, *RUNS))
