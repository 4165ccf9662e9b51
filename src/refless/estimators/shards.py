"""Rated texts in random order, of which an output reads as many as its estimate needs.

The neighbours among the first n of them are a sample, without replacement, of all its neighbours.
After each shard, the mean of their ratings has an interval for the mean of all: the empirical
Bernstein-Serfling inequality of Bardenet and Maillard (2015, theorem 4.3), which holds for any
ratings and any number of neighbours. The error of 5 % is shared out among all shards, so that the
interval holds at whichever of them an output stops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log

import numpy as np

from refless.estimators.neighborhood import Rule
from refless.human import ExactRatings
from refless.kernels import Kernel, Prepared
from refless.matching import Held, Sums, WeightedSums, Work, hide_nothing
from refless.packed import Packed
from refless.records import BoolArray, FloatArray, IntArray, RatedPool
from refless.stored import hashed

FIRST = 1 << 13  # texts in the first shard; each next one is half of all before it
ALPHA = 0.045, 0.005  # chance to err about a mean, and about how many neighbours there are
KAPPA = 7 / 3 + 3 / 2**0.5
UNIT = 1 << 16  # ratings as whole numbers, whose squares are summed exactly
PLAIN = Work()


@dataclass(frozen=True, slots=True, eq=False)
class Shards:
    """A kernel against rated texts, of which it reads those that it is asked for.

    Attributes:
        kernel: the similarity; texts: [n] rated texts.
        order: [n] rows in random order.
        whole: all of them as one, where that is there already.
        parts: shards that were read.
    """

    kernel: Kernel
    texts: Sequence[str]
    order: IntArray
    whole: Prepared | None = None
    parts: dict[int, Prepared] = field(default_factory=dict)

    @classmethod
    def of(cls, kernel: Kernel, rated: RatedPool, seed: int, whole: Prepared | None) -> Shards:
        """Rated texts in canonical order, shuffled by a hash of what they are: id, text, source...

        Of copies all but one get a place by chance, so that they do not come together: the order
        is a sample, and no rating has a say in it.
        """
        columns = (*(rated.ids,) * rated.named, rated.texts, rated.sources, rated.systems)
        found = hashed([Packed.of(one) for one in columns if len(one)] or [Packed.of(())], seed)
        rng = np.random.default_rng(seed)
        alike = np.lexsort((rng.permutation(len(rated)), found))
        again = alike[1:][found[alike[1:]] == found[alike[:-1]]]
        found[again] = rng.integers(2**64, size=len(again), dtype=np.uint64)
        return cls(kernel, rated.texts, np.argsort(found, kind="stable"), whole)

    def ends(self) -> list[int]:
        """How many texts are read after each shard."""
        ends, n = [FIRST], len(self.texts)
        while ends[-1] * 3 // 2 < n:
            ends.append(ends[-1] * 3 // 2)
        return [*ends[:-1], n]

    def part(self, number: int) -> tuple[IntArray, Prepared]:
        """The rows of a shard, and the kernel against them."""
        ends = [0, *self.ends()]
        rows = np.sort(self.order[ends[number] : ends[number + 1]])
        if number not in self.parts:
            self.parts[number] = self.kernel.prepare([self.texts[row] for row in rows.tolist()])
        return rows, self.parts[number]

    def everything(self) -> Prepared:
        """The kernel against all rated texts."""
        if self.whole is not None:
            return self.whole
        if -1 not in self.parts:
            self.parts[-1] = self.kernel.prepare(self.texts)
        return self.parts[-1]

    def lengths(self, texts: Sequence[str]) -> IntArray:
        """[texts] number of tokens."""
        return self.part(0)[1].lengths(texts)

    def shortest(self) -> int:
        """Fewest tokens with which a text can resemble another."""
        return self.part(0)[1].shortest()

    def neighbor_sums(
        self, texts: Sequence[str], values: IntArray, taus: FloatArray, work: Work = PLAIN
    ) -> Sums:
        """Of all rated texts."""
        return self.everything().neighbor_sums(texts, values, taus, work)

    def weighted_sums(
        self, texts: Sequence[str], values: FloatArray, tau: float, power: float, work: Work = PLAIN
    ) -> WeightedSums:
        """Of all rated texts."""
        return self.everything().weighted_sums(texts, values, tau, power, work)

    def similarities(self, texts: Sequence[str], work: Work = PLAIN) -> FloatArray:
        """[texts, rated texts], all of them."""
        return self.everything().similarities(texts, work)

    def shared(self, text: str, rated: str) -> tuple[str, ...]:
        """What an output and a rated text have in common, longest first."""
        return self.part(0)[1].shared(text, rated)


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """What was found where reading stopped.

    Attributes:
        counts: [outputs] neighbours; sums: [outputs] of their ratings' numerators.
        seen: [outputs] rated texts that were read, of those that it may see.
        half: [outputs] how far the mean may lie from that of all neighbours, in the raters' units;
            0 where all texts were read.
    """

    counts: IntArray
    sums: IntArray
    seen: IntArray
    half: FloatArray


def read(
    shards: Shards,
    human: ExactRatings,
    texts: Sequence[str],
    rule: Rule,
    precision: float,
    held: Held | None = None,
) -> Read:
    """Reads shards until each output's interval is narrow and its neighbours are not too many.

    Args:
        shards: the rated texts; human: their ratings.
        texts: [outputs]; held: the rated texts that they must not see.
        rule: who is a neighbour, and how many are enough and not too many.
        precision: half the width that is narrow enough, in the raters' units.
    """
    n, size = len(texts), len(shards.texts)
    held = held or hide_nothing(n)
    visible = size - held.sizes()
    counts, seen = np.zeros(n, dtype=np.int64), visible.copy()
    sums, half = np.zeros((n, 2), dtype=np.int64), np.zeros(n)
    values, taus = _values(human), np.full(2, rule.tau)
    left = np.flatnonzero(shards.lengths(texts) >= shards.shortest())
    seen[left] = 0
    looks = len(shards.ends())
    for look in range(looks):
        some, last = [texts[row] for row in left.tolist()], look == looks - 1
        if last and shards.whole is not None:
            rows, part = np.arange(size), shards.whole
            counts[left], sums[left], seen[left] = 0, 0, 0
        else:
            rows, part = shards.part(look)
        own = held.of(left).among(rows, size)
        found = part.neighbor_sums(
            some, values[:, rows], taus, Work(held=own, threads=rule.threads)
        )
        counts[left] += found.counts[:, 0]
        sums[left] += found.sums
        seen[left] += len(rows) - own.sizes()
        if last:
            half[left] = 0.0
            break
        bounds = _bounds(counts[left], sums[left], seen[left], visible[left], human, looks)
        half[left] = bounds[0]
        left = left[~_settled(counts[left], seen[left], bounds, rule, precision)]
        if not len(left):
            break
    return Read(counts, sums[:, 0], seen, half)


def _values(human: ExactRatings) -> IntArray:
    """[2, rated texts] numerators, and squares of the ratings as whole numbers from 0 to UNIT."""
    low, span = _range(human)
    whole = np.rint((human.numerators - low) / span * UNIT).astype(np.int64)
    return np.stack([human.numerators, whole * whole])


def _range(human: ExactRatings) -> tuple[int, int]:
    """The lowest numerator, and how far the highest lies above it."""
    if not len(human.numerators):
        return 0, 1
    low, high = int(human.numerators.min()), int(human.numerators.max())
    return low, max(high - low, 1)


def _bounds(
    counts: IntArray,
    sums: IntArray,
    seen: IntArray,
    visible: IntArray,
    human: ExactRatings,
    looks: int,
) -> tuple[FloatArray, FloatArray]:
    """[outputs] half the widths of the intervals of the mean, and of the share of neighbours.

    Both hold together, at all looks, with 95 %. The share is that of an ordinary sample without
    replacement (Serfling 1974); it tells how many neighbours there can be at most.
    """
    level = log(2 * looks / ALPHA[1])
    known = np.maximum(seen, 1)
    share = np.sqrt((1 - (known - 1) / np.maximum(visible, 1)) * level / (2 * known))
    k = np.maximum(counts, 1).astype(np.float64)
    most = np.maximum(np.minimum((counts / known + share) * visible, visible - seen + counts), k)
    left = np.where(2 * k <= most, 1 - (k - 1) / most, (1 - k / most) * (1 + 1 / k))
    low, span = _range(human)
    mean = (sums[:, 0] / k - low) / span
    variance = np.maximum(sums[:, 1] / k / UNIT**2 - mean**2, 0.0) + 2 / UNIT
    level = log(10 * looks / ALPHA[0])
    half = np.sqrt(2 * variance * left * level / k) + KAPPA * level / k
    return np.where(counts > 0, half * span / human.denominator, np.inf), share


def _settled(
    counts: IntArray,
    seen: IntArray,
    bounds: tuple[FloatArray, FloatArray],
    rule: Rule,
    precision: float,
) -> BoolArray:
    """[outputs] whether the estimate is known, or that there is none as neighbours are too many."""
    half, error = bounds
    share = counts / np.maximum(seen, 1)
    few = (share + error <= rule.most) | (rule.most >= 1)
    enough = counts >= max(1, rule.least)
    return np.asarray((share - error > rule.most) | (few & enough & (half <= precision)))
