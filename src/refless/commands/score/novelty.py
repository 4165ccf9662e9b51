"""Outputs that are not like the rated texts: what is rated tells little of them.

Each text has some numbers: its surface, how near the nearest rated text is, how many of its pairs
of words are known, how often it occurs again. Each number's distribution among the outputs stands
beside that among the rated texts, both without texts of the same source (Kolmogorov-Smirnov,
corrected after Bonferroni; texts of one source count as fewer independent ones). An honest system
differs from others too, so the distance has to exceed what systems differ by.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from refless.commands.score.copies import groups_of
from refless.data.design import units_of
from refless.data.records import Outputs, RatedPool
from refless.metrics.matching import hold_out
from refless.registry.arrays import BoolArray, FloatArray, IntArray, numbered
from refless.stats.clusters import independent
from refless.stats.corrections import holm
from refless.stats.fisher import Marked, gap
from refless.text.surface import surface
from refless.text.terms import KnownGrams, products_of
from refless.text.words import words

FEWEST = 20  # rated texts that say what is usual
OWN = 0.25  # distance of one rated system
KIN = 0.5  # of texts of no name
OTHER = 0.75  # of a new system
AGAIN = 0.2  # the same of how often texts occur again
SEVERAL = 5  # texts of a system that may show something
LEVEL = 0.01  # of a test, as in `guards`
MOST_RATED = 1_000  # texts compared
MOST_OUTPUTS = 5_000
KINDS = (
    "length", "length", "length of words", "number of sentences", "variety of words", "repetition",
    "repetition", "repetition", "marks", "capitals", "digits", "first letter", "last mark",
    "questions", "commas", "one text again and again", "nearest rated text", "order of words",
)  # fmt: skip
FALLING = 2  # of them, the last, are odd only where they are low


@dataclass(frozen=True, slots=True, kw_only=True)
class Far:
    """One output, its system if it has one, and the cosine of its nearest rated text."""

    id: str
    system: str
    nearest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift(Marked):
    """Outputs beyond the value that separates them best from rated texts; `by`: of what."""

    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlike:
    """Outputs that are unlike the rated texts.

    Attributes:
        n: outputs that were looked at; of very many, so many are drawn.
        overall: how many are unlike; systems: of each, p-values corrected.
        which: the outputs that are unlike, those least near to any rated text first.
    """

    n: int
    overall: Shift
    systems: dict[str, Shift]
    which: tuple[Far, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Numbers:
    """[n, k] numbers of texts, with the labels of their sources and their systems."""

    values: FloatArray
    groups: Sequence[str]
    systems: Sequence[str]

    def of(self, names: set[str]) -> "_Numbers":
        """The texts of some systems."""
        rows = [i for i, name in enumerate(self.systems) if name in names]
        groups = [self.groups[i] for i in rows]
        systems = [self.systems[i] for i in rows]
        return _Numbers(self.values[rows], groups, systems)

    def named(self, least: int) -> list[str]:
        """The systems with so many texts, sorted."""
        counts = Counter(self.systems)
        return sorted(name for name, n in counts.items() if name and n >= least)

    def worth(self, j: int) -> float:
        """The effective number of independent texts, by the j-th number (Kish)."""
        return independent(self.values[:, j], self.groups)


def unlike(outputs: Outputs, rated: RatedPool, seed: int = 0) -> Unlike | None:
    """Outputs that are unlike the rated texts; None if too few say what is usual.

    Args:
        outputs: what is judged; rated: what judges; both in an order of their own.
        seed: of what is drawn.
    """
    rng = np.random.default_rng(seed)
    if len(outputs) > MOST_OUTPUTS:
        outputs = outputs.take(np.sort(rng.permutation(len(outputs))[:MOST_OUTPUTS]))
    rated = rated.take(np.sort(rng.permutation(len(rated))[:MOST_RATED]))
    if len(rated) < FEWEST or not len(outputs):
        return None
    numbers, rated_numbers = _numbers(outputs, rated)
    apart = _apart(rated_numbers)
    overall, is_odd = _shift(numbers, rated_numbers, apart)
    names = numbers.named(SEVERAL)
    shifts = [_shift(numbers.of({name}), rated_numbers, apart) for name in names]
    corrected = holm(np.array([shift.p for shift, _ in shifts])).tolist()
    systems = {}
    for name, (shift, beyond), p in zip(names, shifts, corrected, strict=True):
        systems[name] = replace(shift, p=p)
        if p < LEVEL:
            is_odd[[system == name for system in numbers.systems]] = beyond
    near = numbers.values[:, -FALLING]
    far = [
        Far(id=outputs.ids[i], system=numbers.systems[i], nearest=float(near[i]))
        for i in np.argsort(near, kind="stable").tolist()
        if is_odd[i]
    ]
    return Unlike(n=len(outputs), overall=overall, systems=systems, which=tuple(far))


def _shift(
    outputs: _Numbers, rated: _Numbers, apart: FloatArray
) -> tuple[Shift, BoolArray]:
    """The number that separates outputs best from the rated texts, and [n] the separated ones.

    These are the texts of the same systems, if they are rated; else all, from which other systems
    may be as far `apart` as rated ones are from each other.
    """
    names = {*outputs.systems}
    if names <= {*rated.named(SEVERAL)}:
        rated = rated.of(names)
        apart = _least(OWN if len(names) == 1 else KIN)
    k = len(KINDS)
    gaps = []
    p = []
    for j in range(k):
        falling = j >= k - FALLING
        shift = gap(outputs.values[:, j], rated.values[:, j], falling=falling)
        gaps.append(shift)
        p.append(min(1.0, k * shift.p(outputs.worth(j), rated.worth(j))))
    more = [shift.distance - least for shift, least in zip(gaps, apart, strict=True)]
    best = max(range(k), key=lambda j: (p[j] < LEVEL, more[j]))
    beyond = gaps[best].beyond(outputs.values[:, best])
    usual = gaps[best].beyond(rated.values[:, best])
    result = Shift(
        n=len(beyond),
        count=int(beyond.sum()),
        usual=float(usual.mean()),
        p=p[best],
        least=float(apart[best]),
        by=KINDS[best],
    )
    return result, beyond


def _apart(rated: _Numbers) -> FloatArray:
    """[k] how far rated systems are apart, each from the others, or what is usual at least."""
    names = rated.named(SEVERAL)
    least = _least(OTHER if names else KIN)
    for name in names if len(names) > 1 else ():
        system = rated.of({name})
        remaining = rated.of({*rated.systems} - {name})
        gaps = map(gap, system.values.T, remaining.values.T)
        least = np.maximum(least, [shift.distance for shift in gaps])
    return least


def _least(distance: float) -> FloatArray:
    """[k] the distance, but for texts that occur again and again, as no honest system's do."""
    return np.array(
        [AGAIN if kind == KINDS[-FALLING - 1] else distance for kind in KINDS]
    )


def _numbers(outputs: Outputs, rated: RatedPool) -> tuple[_Numbers, _Numbers]:
    """The numbers of outputs and of rated texts; none is compared with those of its own unit."""
    groups, rated_groups = groups_of(outputs, rated)
    labels = units_of(rated)
    if labels and not units_of(outputs, like=rated):
        rated_groups = numbered(labels, len(rated))
        groups = np.arange(len(outputs)) + len(rated)
    if len(np.unique(rated_groups)) < 2:
        rated_groups = np.arange(len(rated))
        groups = np.arange(len(outputs)) + len(rated)
    grams = KnownGrams.of(rated.texts)
    anchors = grams.vectors(rated.texts).T.tocsr()
    vocabulary = _vocabulary(rated.texts, rated_groups)

    def of(texts: tuple[str, ...], units: IntArray, systems: Sequence[str]) -> _Numbers:
        names = systems or ("",) * len(texts)
        columns = (
            surface(texts),
            _again(texts, units, names),
            _nearest(products_of(grams.vectors(texts), anchors), units, rated_groups),
            _order(texts, units, vocabulary),
        )
        return _Numbers(np.column_stack(columns), [*map(str, units.tolist())], names)

    numbers = of(outputs.texts, groups, outputs.systems)
    return numbers, of(rated.texts, rated_groups, rated.systems)


def _again(texts: Sequence[str], groups: IntArray, names: Sequence[str]) -> FloatArray:
    """[n] share of the system's texts on other sources that are this text, in quarters."""
    rows = [*zip(names, texts, groups.tolist(), strict=True)]
    copies = Counter(zip(names, texts, strict=True))
    copies_in_group = Counter(rows)
    every = Counter(names)
    every_in_group = Counter((name, group) for name, _, group in rows)
    quarters = []
    for name, text, group in rows:
        again = copies[name, text] - copies_in_group[name, text, group]
        remaining = every[name] - every_in_group[name, group]
        quarters.append(int(4 * (again / max(1, remaining))) / 4)
    return np.array(quarters)


def _nearest(
    cosines: FloatArray, groups: IntArray, rated_groups: IntArray
) -> FloatArray:
    """[n] cosine of the nearest rated text of another group; -1 where there is none."""
    hold_out(groups, rated_groups).hide(cosines)
    return np.asarray(cosines.max(axis=1, initial=-1.0))


Vocabulary = dict[tuple[str, ...], int]


def _vocabulary(texts: Sequence[str], groups: IntArray) -> Vocabulary:
    """The group of each word and of each pair of words of the rated texts; -1 for several."""
    vocabulary: Vocabulary = {}
    for text, group in zip(texts, groups.tolist(), strict=True):
        for run in _runs(text):
            vocabulary[run] = group if vocabulary.get(run, group) == group else -1
    return vocabulary


def _runs(text: str) -> list[tuple[str, ...]]:
    tokens = words(text)
    return [*((word,) for word in tokens), *pairwise(tokens)]


def _order(
    texts: Sequence[str], groups: IntArray, vocabulary: Vocabulary
) -> FloatArray:
    """[n] share of the pairs of known words that are known too, from texts of other groups."""
    shares = []
    for text, group in zip(texts, groups.tolist(), strict=True):
        count = 0  # of pairs of known words
        count_shared = 0
        for pair in pairwise(words(text)):
            if all(vocabulary.get((word,), group) != group for word in pair):
                count += 1
                count_shared += vocabulary.get(pair, group) != group
        shares.append(count_shared / count if count else 0.0)
    return np.array(shares)
