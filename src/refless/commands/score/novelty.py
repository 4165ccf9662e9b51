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
from refless.metrics.kernels.bleu import PreparedBleu
from refless.metrics.matching import Work, hold_out
from refless.registry.arrays import BoolArray, FloatArray, IntArray, numbered
from refless.stats.clusters import independent
from refless.stats.corrections import holm
from refless.stats.fisher import Marked, gap
from refless.text.ngrams import Shape
from refless.text.surface import surface
from refless.text.words import words

FEWEST = 20  # rated texts that say what is usual
OWN, KIN, OTHER = (
    0.25,
    0.5,
    0.75,
)  # distance of one rated system, of texts of no name, of a new one
AGAIN = 0.2  # the same of how often texts occur again
SEVERAL, LEVEL = (
    5,
    0.01,
)  # texts of a system that may show something; of a test, as in `guards`
MOST_RATED, MOST_OUTPUTS = 1_000, 5_000  # texts compared
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
        own = [self.systems[i] for i in rows]
        return _Numbers(self.values[rows], [self.groups[i] for i in rows], own)

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
    mine, theirs = _numbers(outputs, rated)
    apart = _apart(theirs)
    overall, which = _shift(mine, theirs, apart)
    names = mine.named(SEVERAL)
    each = [_shift(mine.of({name}), theirs, apart) for name in names]
    corrected = holm(np.array([shift.p for shift, _ in each])).tolist()
    for name, (_, beyond), p in zip(names, each, corrected, strict=True):
        if p < LEVEL:
            which[np.array([own == name for own in mine.systems])] = beyond
    near = mine.values[:, -FALLING]
    far = [i for i in np.argsort(near, kind="stable").tolist() if which[i]]
    systems = zip(names, each, corrected, strict=True)
    return Unlike(
        n=len(outputs),
        overall=overall,
        systems={name: replace(shift, p=p) for name, (shift, _), p in systems},
        which=tuple(
            Far(id=outputs.ids[i], system=mine.systems[i], nearest=float(near[i]))
            for i in far
        ),
    )


def _shift(
    mine: _Numbers, theirs: _Numbers, apart: FloatArray
) -> tuple[Shift, BoolArray]:
    """The number that separates outputs best from the rated texts, and [n] the separated ones.

    These are the texts of the same systems, if they are rated; else all, from which other systems
    may be as far `apart` as rated ones are from each other.
    """
    names = {*mine.systems}
    k = len(KINDS)
    own = theirs.of(names - {""}) if "" not in names else theirs
    if own is not theirs and names <= {*own.named(SEVERAL)}:
        theirs = own
        apart = _least(OWN if len(names) == 1 else KIN)
    gaps = [
        gap(a, b, falling=j >= k - FALLING)
        for j, (a, b) in enumerate(zip(mine.values.T, theirs.values.T, strict=True))
    ]
    p = [
        min(1.0, k * shift.p(mine.worth(j), theirs.worth(j)))
        for j, shift in enumerate(gaps)
    ]
    more = [shift.distance - least for shift, least in zip(gaps, apart, strict=True)]
    j = max(range(k), key=lambda j: (p[j] < LEVEL, more[j]))
    beyond, usual = (gaps[j].beyond(chosen.values[:, j]) for chosen in (mine, theirs))
    return Shift(
        n=len(beyond),
        count=int(beyond.sum()),
        usual=float(usual.mean()),
        p=p[j],
        least=float(apart[j]),
        by=KINDS[j],
    ), beyond


def _apart(rated: _Numbers) -> FloatArray:
    """[k] how far rated systems are apart, each from the others, or what is usual at least."""
    names = rated.named(SEVERAL)
    least = _least(OTHER if names else KIN)
    for name in names if len(names) > 1 else ():
        chosen = rated.of({name})
        rest = rated.of({*rated.systems} - {name})
        gaps = map(gap, chosen.values.T, rest.values.T)
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
    pool = PreparedBleu.build(rated.texts, Shape())
    known = _known(rated.texts, rated_groups)

    def of(texts: tuple[str, ...], own: IntArray, systems: Sequence[str]) -> _Numbers:
        names = systems or ("",) * len(texts)
        columns = (
            surface(texts),
            _again(texts, own, names),
            _nearest(pool, texts, own, rated_groups),
            _order(texts, own, known),
        )
        return _Numbers(np.column_stack(columns), [*map(str, own.tolist())], names)

    return of(outputs.texts, groups, outputs.systems), of(
        rated.texts, rated_groups, rated.systems
    )


def _again(texts: Sequence[str], groups: IntArray, names: Sequence[str]) -> FloatArray:
    """[n] share of the system's texts on other sources that are this text, in quarters."""
    rows = [*zip(names, texts, groups.tolist(), strict=True)]
    same = Counter(row[:2] for row in rows)
    same_here = Counter(rows)
    every = Counter(names)
    here = Counter((name, group) for name, _, group in rows)
    found = [
        (same[row[:2]] - same_here[row]) / max(1, every[row[0]] - here[row[0], row[2]])
        for row in rows
    ]
    return np.array([int(4 * share) / 4 for share in found])


def _nearest(
    pool: PreparedBleu, texts: tuple[str, ...], groups: IntArray, rated_groups: IntArray
) -> FloatArray:
    """[n] cosine of the nearest rated text of another group; -1 where there is none."""
    work = Work(held=hold_out(groups, rated_groups))
    return np.asarray(pool.cosine(texts, work).max(axis=1, initial=-1.0))


Known = dict[tuple[str, ...], int]


def _known(texts: Sequence[str], groups: IntArray) -> Known:
    """The group of each word and of each pair of words of the rated texts; -1 for several."""
    found: Known = {}
    for text, group in zip(texts, groups.tolist(), strict=True):
        for run in _runs(text):
            found[run] = group if found.get(run, group) == group else -1
    return found


def _runs(text: str) -> list[tuple[str, ...]]:
    tokens = words(text)
    return [*((word,) for word in tokens), *pairwise(tokens)]


def _order(texts: Sequence[str], groups: IntArray, known: Known) -> FloatArray:
    """[n] share of the pairs of known words that are known too, from texts of other groups."""
    found = np.zeros(len(texts))
    for i, (text, group) in enumerate(zip(texts, groups.tolist(), strict=True)):
        pairs = [run for run in _runs(text) if len(run) == 2]
        asked = [
            pair
            for pair in pairs
            if all(known.get((word,), group) != group for word in pair)
        ]
        there = sum(known.get(pair, group) != group for pair in asked)
        found[i] = there / len(asked) if asked else 0.0
    return found
