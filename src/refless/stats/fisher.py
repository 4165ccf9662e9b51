"""Are rows marked more often than others (Fisher), do numbers differ (Kolmogorov-Smirnov)?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from refless.registry.arrays import BoolArray, FloatArray, IntArray, rows_by_name
from refless.stats.corrections import corrected


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Marks on some of n rows.

    Attributes:
        on: [n] the marks; groups: [n] number of what goes together.
        names: [n] what wrote each row, blank where that is not known, or ().
    """

    on: BoolArray
    groups: IntArray
    names: Sequence[str] = ()

    def take(self, rows: IntArray | BoolArray) -> Marks:
        """Some rows, whatever wrote them."""
        return Marks(self.on[rows], self.groups[rows])


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """The share of n rows that are marked.

    Attributes:
        n, count: rows, and those that are marked.
        usual: share of the others that are; p: one-sided, of being marked no more often than they.
        least: by how much the share must exceed what is usual to be worth a word.
    """

    n: int
    count: int
    share: float = field(init=False)
    usual: float = math.nan
    p: float = math.nan
    least: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", self.count / self.n if self.n else math.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The widest gap between the distributions of some numbers and of others.

    Attributes:
        distance: of the two, Kolmogorov-Smirnov's D; at: the number; below: whether more of the
            first lie up to it, else beyond.
    """

    distance: float
    at: float
    below: bool

    def beyond(self, values: FloatArray) -> BoolArray:
        """[n] which numbers are on the side of the first."""
        return np.asarray((values <= self.at) == self.below)

    def p(self, n: float, m: float) -> float:
        """Chance of such a gap between n and m numbers of one distribution, or a wider one."""
        from scipy.special import kolmogorov

        return float(kolmogorov(math.sqrt(n * m / (n + m)) * self.distance))


def gap(first: FloatArray, second: FloatArray, *, falling: bool = False) -> Gap:
    """The widest gap; `falling`: among those where more of the first are low."""
    both = np.unique(np.concatenate([first, second]))
    first_shares = np.searchsorted(np.sort(first), both, "right") / len(first)
    second_shares = np.searchsorted(np.sort(second), both, "right") / len(second)
    apart = first_shares - second_shares
    apart = apart if falling else np.abs(apart)
    place = int(np.argmax(apart))
    below = bool(first_shares[place] >= second_shares[place])
    distance = max(0.0, float(apart[place]))
    return Gap(distance=distance, at=float(both[place]), below=below)


def marked(mine: Marks, reference: Marks, rng: np.random.Generator) -> Marked:
    """The marks of some rows beside those of others.

    Rows of one group go together, so one of each, drawn at random, enters the test. Where marked
    means beyond one of the others' own numbers of order, the test is exact too.

    Args:
        mine, reference: the rows.
        rng: where chance comes from; what is drawn depends on the order of rows.
    """
    a = int(mine.on[one_each(mine.groups, rng)].sum())
    b = int(reference.on[one_each(reference.groups, rng)].sum())
    m = len(np.unique(mine.groups))
    n = len(np.unique(reference.groups))
    usual = float(reference.on.mean()) if n else math.nan
    count = int(mine.on.sum())
    return Marked(n=len(mine.on), count=count, usual=usual, p=at_most(b, a + b, n, m))


def by_name(
    mine: Marks, reference: Marks, rng: np.random.Generator
) -> dict[str, Marked]:
    """The same for the rows of each name, p-values corrected after Holm.

    Each is compared with the reference rows of its own name if there are any, else with all.
    """
    result = {}
    rows_of = rows_by_name(reference.names)
    for name, rows in rows_by_name(mine.names).items():
        against = reference.take(rows_of[name]) if name in rows_of else reference
        result[name] = marked(mine.take(rows), against, rng)
    p_values = corrected(entry.p for entry in result.values())
    return {
        name: replace(entry, p=p)
        for (name, entry), p in zip(result.items(), p_values, strict=True)
    }


def one_each(groups: IntArray, rng: np.random.Generator) -> IntArray:
    """A row of each group, drawn at random."""
    order = rng.permutation(len(groups))
    return order[np.unique(groups[order], return_index=True)[1]]


def at_most(k: int, marked_in_all: float, n: float, m: float) -> float:
    """Chance that of n + m rows, so many of them marked at random, at most k of the n are marked.

    NaN where there are no rows of one kind.
    """
    from scipy.special import gammaln

    if not n or not m:
        return math.nan
    i = np.arange(max(0, marked_in_all - m), k + 1)

    def ways(total: float, chosen: FloatArray | float) -> FloatArray:
        ordered = gammaln(total + 1) - gammaln(chosen + 1)
        return np.asarray(ordered - gammaln(total - chosen + 1))

    logs = ways(n, i) + ways(m, marked_in_all - i) - ways(n + m, marked_in_all)
    return min(1.0, float(np.exp(logs).sum()))
