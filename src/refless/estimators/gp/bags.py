"""Bags of what texts hold: words and pairs of words, runs of letters, what a source's acts ask for.

Most of what a text holds was seen before, so each different word is spelled and looked up once.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from refless.compiled import sparse as loops
from refless.estimators.gp.acts import features
from refless.estimators.gp.inputs import Inputs
from refless.meaning import each_word, masked
from refless.records import FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SPELLED = (3, 5)  # letters of a word that are read together
LONG = 24  # letters of a word whose runs are not remembered
ROWS = 4_096  # texts at a time
NONE = np.zeros(0, dtype=np.int64)


class Held(NamedTuple):
    """What each of some texts holds, in its order.

    Attributes:
        names: the different things; ids: text i holds those numbered ids[starts[i]:starts[i + 1]].
        starts: [texts + 1]; times: [ids] how often each is held there; empty: once.
    """

    names: list[str]
    ids: IntArray
    starts: IntArray
    times: IntArray = NONE

    @classmethod
    def of(cls, rows: Iterable[Iterable[str]]) -> Held:
        """The same from strings."""
        place: defaultdict[str, int] = defaultdict()
        place.default_factory = place.__len__
        ids = array("q")
        starts = [0]
        for row in rows:
            ids.extend(map(place.__getitem__, row))
            starts.append(len(ids))
        return cls([*place], np.frombuffer(ids, dtype=np.int64), np.array(starts, dtype=np.int64))

    def with_pairs(self) -> Held:
        """Words; after each but the first, itself with the one before it."""
        size, second = len(self.names), np.ones(len(self.ids), dtype=np.bool_)
        second[self.starts[:-1][np.diff(self.starts) > 0]] = False
        place = np.flatnonzero(second)
        keys = self.ids[place - 1] * size + self.ids[place]
        pairs, number = np.unique(keys, return_inverse=True)
        before = np.concatenate([[0], np.cumsum(second)])
        ids = np.empty(len(self.ids) + len(place), dtype=np.int64)
        own = np.arange(len(self.ids)) + before[:-1]
        ids[own], ids[own[place] + 1] = self.ids, size + number
        both = [f"{self.names[pair // size]} {self.names[pair % size]}" for pair in pairs.tolist()]
        return Held(self.names + both, ids, self.starts + before[self.starts])

    def spelled(self) -> Held:
        """Words as their runs of letters; those of a word that comes again are held so often."""
        once, times = self.counted()
        runs = Held.of(map(_runs, self.names))
        sizes = np.diff(runs.starts)[once.ids]
        ends = np.concatenate([[0], np.cumsum(sizes)])
        index = np.arange(ends[-1]) + np.repeat(runs.starts[once.ids] - ends[:-1], sizes)
        return Held(runs.names, runs.ids[index], ends[once.starts], np.repeat(times, sizes))

    def counted(self) -> tuple[Held, IntArray]:
        """Each thing that a text holds once, at its first place, and how often it holds it."""
        ids, starts, counts = loops.counted(self.ids, self.starts, self.times, len(self.names))
        return Held(self.names, ids, starts), counts


Read = Callable[[Sequence[str], Sequence[str]], Held]  # of texts and their sources


def _spelled(word: str) -> tuple[str, ...]:
    """The runs of letters of a word, its ends marked by blanks."""
    low, high = SPELLED
    marked = f" {word} "
    lengths = range(low, min(high, len(marked)) + 1)
    return tuple(marked[i : i + n] for n in lengths for i in range(len(marked) - n + 1))


_remembered = lru_cache(maxsize=20_000)(_spelled)


def _runs(word: str) -> tuple[str, ...]:
    """The same; long ones, and texts without blanks, seldom come twice."""
    return _remembered(word) if len(word) < LONG else _spelled(word)


def _words(texts: Sequence[str], _: Sequence[str]) -> Held:
    return Held.of(map(each_word, texts)).with_pairs()


def _letters(texts: Sequence[str], _: Sequence[str]) -> Held:
    return Held.of(map(each_word, texts)).spelled()


def _source(_: Sequence[str], sources: Sequence[str]) -> Held:
    return _words(sources, ())


def _masked(texts: Sequence[str], sources: Sequence[str]) -> Held:
    return _words([*map(masked, texts, sources)], ())


def _acts(texts: Sequence[str], sources: Sequence[str]) -> Held:
    return Held.of(map(features, texts, sources))


BAGS: dict[str, Read] = {
    "words": _words,
    "letters": _letters,
    "source": _source,
    "masked": _masked,
    "acts": _acts,
}  # what the vectors of each of these kernels count


@dataclass(frozen=True, slots=True, eq=False)
class Bag:
    """Cosine of vectors, (1 + log count) idf, idf = 1 + log((1 + n) / (1 + df)), of what is read.

    What no rated text has counts in a text's length, as what one alone of them has does.
    """

    read: Read
    places: dict[str, int]
    idf: FloatArray
    unknown: float

    @classmethod
    def of(cls, read: Read, statistics: Inputs) -> Bag:
        """Learned from what is read of these texts."""
        counts: Counter[str] = Counter()
        for held in _blocks(read, statistics):
            once = held.counted()[0]
            texts = np.bincount(once.ids, minlength=len(once.names)).tolist()
            for name, n in zip(once.names, texts, strict=True):
                counts[name] += n
        places = {one: i for i, one in enumerate(sorted(counts))}
        frequency = np.array([counts[one] for one in places], dtype=np.float64)
        return cls.counted(read, places, frequency, len(statistics))

    @classmethod
    def counted(cls, read: Read, places: dict[str, int], frequency: FloatArray, n: int) -> Bag:
        """Of what so many out of n texts hold each."""
        rarity = np.log(1.0 + n)
        return cls(read, places, 1.0 + rarity - np.log1p(frequency), 1.0 + rarity - np.log(2.0))

    def points(self, inputs: Inputs) -> csr_array:
        """[texts, things] vectors, sparse."""
        from scipy.sparse import csr_array

        parts = [self._vectors(held) for held in _blocks(self.read, inputs)]
        columns, values, sizes = (np.concatenate(part) for part in zip(*parts, strict=True))
        starts = np.concatenate([[0], np.cumsum(sizes)])
        found = csr_array((values, columns, starts), shape=(len(inputs), len(self.places)))
        found.sort_indices()
        return found

    def _vectors(self, held: Held) -> tuple[IntArray, FloatArray, IntArray]:
        """Columns and values of what is known, and how many each text has."""
        once, counts = held.counted()
        n, sizes = len(once.starts) - 1, np.diff(once.starts)
        place = np.array([self.places.get(name, -1) for name in once.names], dtype=np.int64)
        column, rows = place[once.ids], np.repeat(np.arange(n), sizes)
        values = (1.0 + np.log(counts)) * np.append(self.idf, self.unknown)[column]
        values /= np.sqrt(np.bincount(rows, values**2, n))[rows]
        known = column >= 0
        return column[known], values[known], np.bincount(rows[known], minlength=n)

    def bound(self, anchors: csr_array) -> Callable[[csr_array], FloatArray]:
        """See `Component`."""
        turned = anchors.tocsc()
        held = turned.indptr, turned.indices, turned.data
        return partial(_products, held, anchors.shape[0])

    def diagonal(self, points: csr_array) -> FloatArray:
        """See `Component`."""
        return np.ones(points.shape[0])  # of a text without any known word too


def _products(held: tuple[Any, ...], anchors: int, points: csr_array) -> FloatArray:
    """[points, anchors] products of sparse rows."""
    out = np.zeros((points.shape[0], anchors))
    loops.products(points.indptr, points.indices, points.data, *held, out)
    return out


def _blocks(read: Read, inputs: Inputs) -> Iterator[Held]:
    """What texts hold, some of them at a time; of no texts, nothing of none."""
    for begin in range(0, max(len(inputs), 1), ROWS):
        some = slice(begin, begin + ROWS)
        yield read(inputs.texts[some], inputs.sources[some])
