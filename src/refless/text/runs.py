"""Runs of three words, by which texts that copy rated ones are found."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from unicodedata import normalize

import numpy as np

from refless.files.arrays import Array, Arrays, array_of, check_within
from refless.loops import Loops
from refless.registry.arrays import IntArray
from refless.text.ngrams import Features, Shape, Vocabulary, learn, look_up_tokens
from refless.text.stored import (
    line_of,
    starts_of,
    vocabulary_arrays,
    vocabulary_in,
)
from refless.text.terms import joined, kinds_of
from refless.text.tokenize import TokenIds
from refless.text.words import UNBROKEN, pieces

loops = Loops("terms")

RUNS = Shape(tokenize="words", low=3, high=3)
_WORD = re.compile(rf"[{UNBROKEN}]|[^\W_{UNBROKEN}]+")


def plain(text: str) -> str:
    """Words in small letters without marks; a letter of a script without blanks is a word."""
    return " ".join(filter(None, map(_plain, pieces(text))))


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(_folded(text)))


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else normalize("NFKC", text).casefold()


def _words(texts: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Keys of the words in folded texts, as `plain` has them; [texts + 1] where each begins."""
    points, starts = joined(texts)
    kinds = kinds_of(points)
    plain_kinds = np.full_like(kinds, loops.SPACE)
    plain_kinds[kinds & loops.ALNUM > 0] = loops.WORD
    plain_kinds[kinds & loops.UNBROKEN > 0] = loops.UNBROKEN | loops.WORD
    begins, _, _, keys = loops.words_loop(points, starts, plain_kinds, whole=False)
    return keys, begins


@dataclass(frozen=True, slots=True, eq=False)
class RatedRuns:
    """The runs of rated texts: what they are, and which of them each text has."""

    vocabulary: Vocabulary
    features: Features

    @classmethod
    def of(cls, texts: Sequence[str]) -> "RatedRuns":
        """Those of these texts."""
        return cls(*learn([plain(text) for text in texts], RUNS))

    def looked_up(self, texts: Sequence[str]) -> Features:
        """The runs of other texts that a rated text has too."""
        tokens, _ = _words(self.vocabulary.tokens)
        keys, starts = _words([*map(_folded, texts)])
        ids = loops.find_loop(keys, *loops.table_loop(tokens), -1)
        return look_up_tokens(TokenIds(ids, starts), self.vocabulary)

    def arrays(self) -> Arrays:
        """The same for a saved file."""
        features = self.features
        return {
            **vocabulary_arrays(self.vocabulary),
            "ids": features.ids,
            "starts": features.starts[0],
            "lengths": features.lengths,
        }


def runs_in(n: int, arrays: Mapping[str, Array]) -> RatedRuns:
    """The saved runs of n rated texts; raises ValueError for arrays that lead elsewhere."""
    vocabulary = vocabulary_in(RUNS, arrays)
    ids = line_of(arrays, "ids", "<i4")
    check_within("ids", ids, vocabulary.features)
    lengths = array_of(arrays, "lengths", (n,), "<i8")
    check_within("lengths", lengths, 2**31)
    starts = starts_of(arrays, "starts", n)
    check_within("starts", starts, len(ids) + 1)
    features = Features(lengths=lengths, starts=starts[None], ids=ids, weights=ids[:0])
    return RatedRuns(vocabulary, features)
