"""Runs of three words, by which texts that copy rated ones are found."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from unicodedata import normalize

from refless.files.arrays import Array, Arrays, array_of, check_within
from refless.text.ngrams import Features, Shape, Vocabulary, learn, look_up
from refless.text.stored import (
    line_of,
    starts_of,
    vocabulary_arrays,
    vocabulary_in,
)
from refless.text.words import UNBROKEN, pieces

RUNS = Shape(tokenize="words", low=3, high=3)
_WORD = re.compile(rf"[{UNBROKEN}]|[^\W_{UNBROKEN}]+")


def plain(text: str) -> str:
    """Words in small letters without marks; a letter of a script without blanks is a word."""
    return " ".join(filter(None, map(_plain, pieces(text))))


def _plain(text: str) -> str:
    normal = text if text.isascii() else normalize("NFKC", text)
    return " ".join(_WORD.findall(normal.casefold()))


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
        return look_up([plain(text) for text in texts], self.vocabulary)

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
