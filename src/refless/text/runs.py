"""Runs of three words, by which texts that copy rated ones are found.

Words are in small letters and without marks; a letter of a script without blanks is a word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from unicodedata import normalize

import numpy as np

from refless.files.arrays import Array, Arrays, check_within, require
from refless.loops import Loops
from refless.registry.arrays import IntArray
from refless.text.stored import line_of, starts_of, terms_in
from refless.text.terms import KnownTerms, joined, kinds_of

loops = Loops("terms")
lookups = Loops("lookups")

RUN = 3  # words


@dataclass(frozen=True, slots=True, eq=False)
class WordRuns:
    """Runs of texts, by their places among those of rated texts.

    Attributes:
        ids: each run, each time that a text has it; the last place is that of unknown ones.
        starts: [texts + 1] text i has `ids[starts[i]:starts[i + 1]]`.
    """

    ids: IntArray
    starts: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class RatedRuns:
    """The runs of rated texts: what they are, and which of them each text has."""

    known: KnownTerms
    runs: WordRuns

    @classmethod
    def of(cls, texts: Sequence[str]) -> "RatedRuns":
        """Those of these texts."""
        every, starts = _read(texts)
        keys, ids = np.unique(every, return_inverse=True)
        return cls(KnownTerms(keys), WordRuns(ids.astype(np.int32), starts))

    def looked_up(self, texts: Sequence[str]) -> WordRuns:
        """The runs of other texts."""
        keys, starts = _read(texts)
        return WordRuns(self.known.places(keys), starts)

    def arrays(self) -> Arrays:
        """The same for a saved file."""
        runs = self.runs
        return {"keys": self.known.keys, "ids": runs.ids, "starts": runs.starts}


def runs_in(n: int, arrays: Mapping[str, Array]) -> RatedRuns:
    """The saved runs of n rated texts; raises ValueError for arrays that lead elsewhere."""
    known = terms_in(arrays, "keys")
    ids = line_of(arrays, "ids", "<i4")
    check_within("ids", ids, len(known.keys))
    starts = starts_of(arrays, "starts", n)
    require(int(starts[-1]) == len(ids), "starts end elsewhere")
    return RatedRuns(known, WordRuns(ids, starts))


def _read(texts: Sequence[str]) -> tuple[IntArray, IntArray]:
    """A key for each time that a text has a run; [texts + 1] where each text's begin."""
    points, starts = joined([*map(_folded, texts)])
    kinds = kinds_of(points)
    plain_kinds = np.full_like(kinds, loops.SPACE)
    plain_kinds[kinds & loops.ALNUM > 0] = loops.WORD
    plain_kinds[kinds & loops.UNBROKEN > 0] = loops.UNBROKEN | loops.WORD
    begins, _, _, words = loops.words_loop(points, starts, plain_kinds, whole=False)
    runs, run_starts = loops.runs_loop(words, begins, RUN, len(words))
    lookups.occurrences_loop(runs, run_starts)
    return runs, run_starts


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else normalize("NFKC", text).casefold()
