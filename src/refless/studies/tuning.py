"""Settings chosen by ratings, and what choosing them is worth on texts that took no part in it.

Each fifth of the texts, groups whole, is judged with the settings that the other four fifths ask
for: every candidate's held-out estimates are made of those texts alone, and the best candidate is
taken. What the mixture of the five choices is worth is the outer number: it knows of the act of
choosing. What the best candidate achieves on the very texts that chose it is the inner one, which
is too good, as the best of many is partly the luckiest.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from refless.estimators import ESTIMATORS, Estimator
from refless.estimators.scorer import Held
from refless.matching import Progress
from refless.records import BoolArray, FloatArray, IntArray, RatedPool
from refless.signature import digest_of
from refless.spec import spec_of
from refless.stats.measures import MEASURES
from refless.studies.side_by_side import SideBySide, side_by_side
from refless.studies.trials import FOLDS, Deal, Trial, dealt, trial, value_of

THRESHOLDS = {"tau": None, "min_neighbors": 5, "max_fraction": 0.66}  # a pass serves all of each
TUNED = "tuned"
ROUNDING = 1e-9  # a share of 0.4 of 5 texts is 2 of them


@dataclass(frozen=True, slots=True)
class Candidate:
    """Settings, and what they achieve on the texts that choose among them.

    Attributes:
        estimator: as a specification.
        value: of the objective; NaN where it is undefined.
        coverage: share of the texts with an estimate.
    """

    estimator: str
    value: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Fold:
    """What four fifths of the texts choose, and what that achieves on the last one.

    Attributes:
        estimator: the choice, as a specification.
        n: texts of the last fifth.
        inner: the objective on those that chose; outer: on those that did not.
    """

    estimator: str
    n: int
    inner: float
    outer: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """Settings that ratings chose, and what choosing is worth.

    Attributes:
        objective: `spearman` or `mse`.
        min_coverage: the least share of texts with an estimate.
        candidates: all that were tried, best first, on all texts: these are the inner numbers.
        folds: what is chosen without each fifth.
        side_by_side: the choices, each judged where it was not made, under the name `tuned`, and
            the standards they are held against: the outer numbers.
        method: how intervals are made, for signatures.
    """

    objective: str
    min_coverage: float
    candidates: tuple[Candidate, ...]
    folds: tuple[Fold, ...]
    side_by_side: SideBySide
    method: str

    @property
    def chosen(self) -> Candidate:
        """What all texts choose."""
        return self.candidates[0]


@dataclass(frozen=True, slots=True, eq=False)
class _Course:
    """Held-out estimates of every candidate, made of some texts alone.

    Attributes:
        deal: of the whole pool; rows: [n] which of its texts these are.
        estimates: [candidates, n] NaN for the others.
        objective, min_coverage: as of `Tuning`.
    """

    deal: Deal
    rows: BoolArray
    estimates: FloatArray
    objective: str
    min_coverage: float

    def judged(self, which: int, part: int = 0) -> tuple[float, float]:
        """Objective and coverage of a candidate, without the texts of a part."""
        values, rows = self.estimates[which], self.rows & (self.deal.part != part)
        value = value_of(self.objective, self.deal, Held(values, values), rows)
        return value, float((~np.isnan(values[rows])).mean())

    def ranked(self, among: Sequence[int], part: int = 0) -> list[tuple[int, float, float]]:
        """Candidates with objective and coverage, best first; of equal ones as they are given."""
        known: dict[bytes, tuple[float, float]] = {}  # many settings give the same estimates
        found = []
        for which in among:
            same = self.estimates[which].tobytes()
            if same not in known:
                known[same] = self.judged(which, part)
            found.append((which, *known[same]))
        return sorted(found, key=lambda one: self._order(one[1], one[2]))

    def _order(self, value: float, coverage: float) -> tuple[float, float]:
        """Those with enough estimates by the objective, then the others by their coverage."""
        if math.isnan(value) or coverage < self.min_coverage - ROUNDING:
            return 1.0, -coverage
        return 0.0, value if MEASURES[self.objective].low >= 0 else -value


def tuning(
    candidates: Mapping[str, Estimator],
    standards: Mapping[str, Estimator],
    pool: RatedPool,
    groups: IntArray,
    *,
    objective: str = "spearman",
    min_coverage: float = 0.4,
    seed: int = 0,
    progress: Progress | None = None,
) -> Tuning:
    """The best of some candidates, and what choosing it is worth.

    Args:
        candidates: estimators by specification, not fitted; of equally good ones the first one
            is taken.
        standards: those that the choice is held against, likewise.
        pool: the rated texts; groups: [n] what is held out together, by number.
        objective: Spearman's rho, or the mean squared error, of held-out estimates.
        min_coverage: candidates with fewer estimates are taken only where all have fewer.
        seed: of the parts that intervals are made of.
        progress: called with the share of the work that is done.
    """
    deal = dealt(pool, groups, seed)
    fold, names, each = deal.blocks % FOLDS, [*candidates], [*candidates.values()]
    courses = []
    for number in range(FOLDS + 1):  # the last one is of all texts
        told = None if progress is None else _part_of(progress, number, FOLDS + 2)
        rows = fold != number
        some, blocks = pool.take(np.flatnonzero(rows)), deal.blocks[rows]
        found = _spread(inner_estimates(each, some, blocks, told), rows)
        courses.append(_Course(deal, rows, found, objective, min_coverage))
    ranked = [one.ranked(range(len(each))) for one in courses]
    firsts = [one[0][0] for one in ranked]
    trials = {which: _trial(each[which], pool, deal) for which in sorted({*firsts})}
    tuned = _mixed(courses[:FOLDS], firsts[:FOLDS], trials, fold)
    known = {names[which]: one for which, one in trials.items()}
    others = {name: known.get(name) or _trial(one, pool, deal) for name, one in standards.items()}
    tried = [[Candidate(names[which], *judged) for which, *judged in one] for one in ranked]
    outer = [value_of(objective, deal, tuned.at(), fold == number) for number in range(FOLDS)]
    return Tuning(
        objective=objective,
        min_coverage=min_coverage,
        candidates=tuple(tried[-1]),
        folds=tuple(
            Fold(one[0].estimator, int((fold == number).sum()), one[0].value, outer[number])
            for number, one in enumerate(tried[:FOLDS])
        ),
        side_by_side=side_by_side({TUNED: tuned, **others}, reference=TUNED),
        method=tuned.method,
    )


def _spread(found: Sequence[FloatArray], rows: BoolArray) -> FloatArray:
    """[candidates, n] estimates of some texts, NaN for the others."""
    whole = np.full((len(found), len(rows)), np.nan)
    whole[:, rows] = found
    return whole


def inner_estimates(
    candidates: Sequence[Estimator],
    pool: RatedPool,
    groups: IntArray,
    progress: Progress | None = None,
) -> list[FloatArray]:
    """[n] estimates by each candidate, each text held out with its group.

    Those that differ in tau, a and b only come out of one matching pass. The slow twin is
    `held_out` of one after the other.
    """
    found: dict[int, FloatArray] = {}
    families = _families(candidates)
    for number, family in enumerate(families):
        found |= zip(family, _of_family([candidates[i] for i in family], pool, groups), strict=True)
        if progress is not None:
            progress((number + 1) / len(families))
    return [found[place] for place in range(len(candidates))]


def _families(candidates: Sequence[Estimator]) -> list[list[int]]:
    """Places of the candidates that differ in thresholds of neighbours only."""
    found: dict[str, list[int]] = {}
    for place, one in enumerate(candidates):
        alike = one if math.isnan(one.threshold) else one.clone().set_params(**THRESHOLDS)
        found.setdefault(spec_of(alike, ESTIMATORS), []).append(place)
    return list(found.values())


def _of_family(family: Sequence[Estimator], pool: RatedPool, groups: IntArray) -> list[FloatArray]:
    """[n] estimates by each."""
    if math.isnan(family[0].threshold):
        return [one.held_out(pool, groups).values for one in family]
    names = [name for name in THRESHOLDS if name != "tau"]
    places = [(one.threshold, *(one.get_params()[name] for name in names)) for one in family]
    axes = [sorted({*column}) for column in zip(*places, strict=True)]
    sweep = family[0].sweep(pool, groups, *axes)
    return [sweep.at(*map(list.index, axes, place)) for place in places]


def _trial(one: Estimator, pool: RatedPool, deal: Deal) -> Trial:
    return trial(one.tried(pool, deal.groups, deal.blocks)[1], deal)


def _mixed(
    courses: Sequence[_Course], firsts: Sequence[int], trials: Mapping[int, Trial], fold: IntArray
) -> Trial:
    """Each fifth judged by what the others choose; without a part they choose anew.

    Anew among the candidates that have been chosen at all: the others were worse with it, too.

    Args:
        courses: of each fifth's others; firsts: what they choose, of all candidates.
        trials: of those that are chosen, by place; fold: [n] fifth of each text.
    """
    deal, chosen = courses[0].deal, [trials[which] for which in firsts]
    count = min(len(one.held) for one in trials.values())

    def mixed(parts: Sequence[Held]) -> Held:
        return Held(*(np.choose(fold, columns) for columns in zip(*parts, strict=True)))

    def held(part: int) -> Held:
        picks = firsts if part == 0 else [one.ranked([*trials], part)[0][0] for one in courses]
        return mixed([trials[which].held[part] for which in picks])

    def tuned(number: int) -> Held:
        return mixed([one.tunings[number % len(one.tunings)] for one in chosen])

    tunings = range(max(len(one.tuned) for one in chosen))
    return Trial(deal, tuple(held(part) for part in range(count)), tuple(map(tuned, tunings)))


def _part_of(progress: Progress, number: int, parts: int) -> Progress:
    """Progress of one of so many parts as progress of the whole."""
    return lambda share: progress((number + share) / parts)


def ratings_digest(pool: RatedPool) -> str:
    """Twelve hexadecimal digits of texts and ratings, whatever their order, scale and columns."""
    texts = [pool.texts[i] for i in pool.ratings.text.tolist()]
    return digest_of([texts, pool.ratings.values.tolist()])
