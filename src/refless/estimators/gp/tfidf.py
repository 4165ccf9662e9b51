"""Bags of what texts hold: words and pairs of words, runs of letters, what a source's acts ask for.

Most of what a text holds was seen before, so each different word is spelled and looked up once.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from refless.estimators.gp.dialogue_acts import features
from refless.estimators.gp.inputs import Inputs
from refless.loops import Loops
from refless.registry.arrays import FloatArray, IntArray
from refless.text.meaning import each_word, masked
from refless.text.tokenize import IdArray

loops = Loops("sparse")

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SPELLED = (3, 5)  # letters of a word that are read together
LONG = 24  # letters of a word whose runs are not remembered
ROWS = 4_096  # texts at a time
BITS = 32  # a pair is two numbers in one
NONE, NEVER = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)


class Held(NamedTuple):
    """What each of some texts holds, in its order.

    Attributes:
        names: the different things; ids: text i holds those numbered ids[starts[i]:starts[i + 1]].
        starts: [texts + 1]; times: [ids] how often each is held there; empty: once.
        pairs: further things, two names each: the number of the first times all names, and that of
            the second.
    """

    names: list[str]
    ids: IdArray
    starts: IntArray
    times: IdArray = NEVER
    pairs: IntArray = NONE

    @classmethod
    def of(cls, rows: Iterable[Iterable[str]]) -> Held:
        """The same from strings."""
        place: defaultdict[str, int] = defaultdict()
        place.default_factory = place.__len__
        ids = array("i")
        starts = [0]
        for row in rows:
            ids.extend(map(place.__getitem__, row))
            starts.append(len(ids))
        return cls([*place], np.frombuffer(ids, dtype=np.int32), np.array(starts, dtype=np.int64))

    def with_pairs(self) -> Held:
        """Words; after each but the first, itself with the one before it."""
        size, second = len(self.names), np.ones(len(self.ids), dtype=np.bool_)
        second[self.starts[:-1][np.diff(self.starts) > 0]] = False
        later = np.flatnonzero(second)
        keys = self.ids[later - 1] * np.int64(size) + self.ids[later]
        del later  # of a long text each of these is large
        pairs, number = np.unique(keys, return_inverse=True)
        del keys
        times = second.astype(np.int32) + 1
        ids, ends = np.repeat(self.ids, times), np.cumsum(times, dtype=np.int64)
        ids[ends[second] - 1] = size + number
        return Held(self.names, ids, np.append(0, ends)[self.starts], pairs=pairs)

    @property
    def size(self) -> int:
        """How many different things there are."""
        return len(self.names) + len(self.pairs)

    def keys(self, number: IntArray) -> IntArray:
        """[things] each as one number, out of one of each name; -1 where a name has none (-1)."""
        first, second = np.divmod(self.pairs, max(len(self.names), 1))
        alone, pairs = number << BITS, (number[first] << BITS) + number[second] + 1
        alone[number < 0] = pairs[np.minimum(number[first], number[second]) < 0] = -1
        return np.concatenate([alone, pairs])

    def spelled(self) -> Held:
        """Words as their runs of letters; those of a word that comes again are held so often."""
        once, times = self.counted()
        runs = Held.of(map(_runs, self.names))
        sizes = np.diff(runs.starts)[once.ids]
        ends = np.concatenate([[0], np.cumsum(sizes)])
        index = np.arange(ends[-1]) + np.repeat(runs.starts[once.ids] - ends[:-1], sizes)
        return Held(runs.names, runs.ids[index], ends[once.starts], np.repeat(times, sizes))

    def counted(self) -> tuple[Held, IdArray]:
        """Each thing that a text holds once, at its first place, and how often it holds it."""
        ids, starts, counts = loops.counted(self.ids, self.starts, self.times, self.size)
        return self._replace(ids=ids, starts=starts, times=NEVER), counts


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
PAIRED = ("words", "source", "masked")  # of which pairs of words too


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Things in the order of their names; as a pair is no string, those of a long text are small.

    A blank is below all letters, so the order of pairs of words is that of their strings.

    Attributes:
        numbers: names in their order, and the place of each.
        keys: [things] as `Held.keys` has them, ascending.
    """

    numbers: dict[str, int]
    keys: IntArray

    @classmethod
    def of(cls, names: Sequence[str], *, paired: bool) -> Known:
        """Those of these names, in their order; whether one with a blank is a pair.

        Raises:
            ValueError: a pair of what is no name, or names in another order.
        """
        parts = [name.partition(" ") if paired else (name, "", "") for name in names]
        alone = (first for first, blank, _ in parts if not blank)
        numbers = {name: i for i, name in enumerate(alone)}
        first, second = (
            np.fromiter((numbers.get(part[i], -1) for part in parts), np.int64, len(parts))
            for i in (0, 2)
        )
        pair = np.fromiter((bool(blank) for _, blank, _ in parts), np.bool_, len(parts))
        keys = (first << BITS) + np.where(pair, second + 1, 0)
        known = (first >= 0) & (~pair | (second >= 0))
        if not known.all() or (np.diff(keys) <= 0).any():
            raise ValueError("pairs of what is no word")
        return cls(numbers, keys)

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[str]:
        names = [*self.numbers]
        for key in self.keys.tolist():
            first, second = divmod(key, 1 << BITS)
            yield f"{names[first]} {names[second - 1]}" if second else names[first]

    def places(self, held: Held) -> IntArray:
        """[things] where each is here; -1 for those that are not."""
        numbers = (self.numbers.get(name, -1) for name in held.names)
        keys = held.keys(np.fromiter(numbers, np.int64, len(held.names)))
        found = np.searchsorted(self.keys, keys)
        return np.where(np.append(self.keys, -2)[found] == keys, found, -1)


@dataclass(frozen=True, slots=True, eq=False)
class Bag:
    """Cosine of vectors, (1 + log count) idf, idf = 1 + log((1 + n) / (1 + df)), of what is read.

    What no rated text has counts in a text's length, as what one alone of them has does.
    """

    read: Read
    known: Known
    idf: FloatArray
    unknown: float

    @classmethod
    def of(cls, read: Read, statistics: Inputs) -> Bag:
        """Learned from what is read of these texts."""
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__
        parts, counts = [NONE], [NONE]
        for held in _blocks(read, statistics):
            own = np.fromiter(map(numbers.__getitem__, held.names), np.int64, len(held.names))
            parts.append(held.keys(own))
            counts.append(np.bincount(held.counted()[0].ids, minlength=held.size))
        names, keys = sorted(numbers), np.concatenate(parts)
        place = np.empty(len(names), dtype=np.int64)
        place[[numbers[name] for name in names]] = np.arange(len(names))
        first, second = keys >> BITS, keys & ((1 << BITS) - 1)
        keys = (place[first] << BITS) + np.where(second > 0, place[second - 1] + 1, 0)
        keys, which = np.unique(keys, return_inverse=True)
        frequency = np.bincount(which, np.concatenate(counts), len(keys)).astype(np.float64)
        known = Known({name: i for i, name in enumerate(names)}, keys)
        return cls.counted(read, known, frequency, len(statistics))

    @classmethod
    def counted(cls, read: Read, known: Known, frequency: FloatArray, n: int) -> Bag:
        """Of what so many out of n texts hold each."""
        rarity = np.log(1.0 + n)
        return cls(read, known, 1.0 + rarity - np.log1p(frequency), 1.0 + rarity - np.log(2.0))

    def points(self, inputs: Inputs) -> csr_array:
        """[texts, things] vectors, sparse."""
        from scipy.sparse import csr_array

        parts = [self._vectors(held) for held in _blocks(self.read, inputs)]
        columns, values, sizes = (np.concatenate(part) for part in zip(*parts, strict=True))
        starts = np.concatenate([[0], np.cumsum(sizes)])
        found = csr_array((values, columns, starts), shape=(len(inputs), len(self.known)))
        found.sort_indices()
        return found

    def _vectors(self, held: Held) -> tuple[IntArray, FloatArray, IntArray]:
        """Columns and values of what is known, and how many each text has."""
        once, counts = held.counted()
        n, sizes = len(once.starts) - 1, np.diff(once.starts)
        column, rows = self.known.places(once)[once.ids], np.repeat(np.arange(n), sizes)
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
