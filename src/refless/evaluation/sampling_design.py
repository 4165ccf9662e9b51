"""Outputs or items drawn to be rated, so that a mean or a difference is told by few ratings."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from refless.data.records import Outputs
from refless.estimators import Estimator
from refless.evaluation.active_learning import Choice, Goal, Step, canonical, sizes_of
from refless.evaluation.comparing import Pair
from refless.evaluation.error_model import errors_of
from refless.registry.arrays import BoolArray, FloatArray
from refless.registry.errors import UsageError
from refless.stats.intervals import student

WITHIN = 0.05  # of the range of ratings: half width that settles it, where none is asked for
FURTHER = 16  # times what is asked for the curve goes
_Sides = tuple[list[int], list[int]]  # answers of two systems to one item
MOST_ALIKE = 0.95  # correlation of the ratings of two answers to one item, at most


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Today:
    """A difference as `compare` has it today, and what further items change about it.

    Attributes:
        error, freedom: of the difference with estimates.
        rated: items with a rating of the first system, of the second, and of both.
        fresh: share of the units that have no rating of the first, of the second, and of either.
        items: all of them; alike: correlation of the ratings of two answers to one item.
        left: variance with estimates over that without, among items that nobody rated.
        these: whether the question is about these items, and not about items like them.
    """

    error: float
    freedom: float
    rated: tuple[int, int, int]
    fresh: FloatArray
    items: int
    alike: float
    left: float
    these: bool = False

    def half_width(self, n: int) -> float:
        """Expected half width of the 95 % interval by n more units; that of today for none."""
        error = self.error * math.sqrt(self._variance(n) / self._variance(0))
        return student(self.freedom + n) * error

    def _variance(self, n: int) -> float:
        """Of the difference, in that of one rating."""
        first, second = self.rated[0] + self.fresh[0] * n, self.rated[1] + self.fresh[1] * n
        both, known = self.rated[2] + n, sum(self.rated[:2]) - self.rated[2] + self.fresh[2] * n
        share = min(known / self.items, 1.0)
        alone = 1 / first + 1 / second - 2 * self.alike * both / (first * second)
        return float(alone * (self.left * (1 - share) + (0.0 if self.these else share)))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Units:
    """What is drawn: outputs, or items with the answers of two systems.

    Attributes:
        goal: `mean` or `compare`.
        members: [N] places of the outputs of each unit.
        spread: standard deviation of what estimates miss, NaN where that is unknown.
        variance: of ratings, or of their differences, over units; NaN where unknown.
        systems: the two that are compared.
        already: units of the same kind that were drawn by lot and rated before.
        today: the difference by the ratings that there are; None without any.
        rated: items that both answered with a rating of the first, of the second, and of both.
        fresh: [N, 2] whether a unit has no rating of the first, and of the second, as yet.
        alike: correlation of the ratings of two answers to one item, by what is estimated.
        most: half width of the interval by estimates alone, which ratings do not widen.
        these: whether the question is about these units, and not about others like them.
    """

    goal: Goal
    members: tuple[tuple[int, ...], ...]
    spread: float
    variance: float = math.nan
    systems: tuple[str, ...] = ()
    already: int = 0
    today: Today | None = None
    rated: tuple[int, int, int] = (0, 0, 0)
    fresh: BoolArray = field(default_factory=lambda: np.ones((0, 2), dtype=np.bool_))
    alike: float = 0.0
    most: float = math.inf
    these: bool = False

    def half_width(self, n: int) -> float:
        """Expected half width of the 95 % interval by n more of them; NaN where that is unknown.

        The variance of the mean is that of what is not rated, and that the units are themselves a
        sample (Zrnic and Candes 2024, section 2).
        """
        if self.today is not None:
            return self.today.half_width(n)
        if n + self.already < 2:
            return self.most
        rated, every = n + self.already, len(self.members) + self.already
        missed = self.spread**2 * (every / rated - 1.0)
        again = 0.0 if self.these else self.variance
        half = student(rated - 1) * math.sqrt((missed + again) / every)
        return min(half, self.most)

    def needed(self, wanted: float) -> int:
        """Least number whose half width is no larger than wanted; 0 where none is."""
        low, high = 1, len(self.members)
        if high < 2 or not self.half_width(high) <= wanted:
            return 0
        while high - low > 1:
            middle = (low + high) // 2
            fits = self.half_width(middle) <= wanted
            low, high = (low, middle) if fits else (middle, high)
        return high


def outputs_to_draw(estimator: Estimator | None, outputs: Outputs) -> Units:
    """Each output as a unit, for their mean.

    Args:
        estimator: fitted, or None without rated texts.
        outputs: what there is to choose from.
    """
    order = canonical(outputs)
    members = tuple((row,) for row in order.tolist())
    if estimator is None:
        return Units(goal="mean", members=members, spread=math.nan)
    found = estimator.estimate(outputs.take(order))
    spread = _typical(errors_of(estimator, found)[0])
    variance = _variance(found.values[found.defined]) + spread**2
    return Units(goal="mean", members=members, spread=spread, variance=variance)


def _typical(spreads: FloatArray) -> float:
    return math.sqrt(float(np.square(spreads).mean()))


def _variance(values: FloatArray) -> float:
    return float(values.var()) if len(values) else 0.0


def items_to_draw(
    estimator: Estimator | None,
    outputs: Outputs,
    systems: tuple[str, str],
    rated: Outputs | None = None,
) -> Units:
    """Each item that both systems answered as a unit, for their mean difference.

    Of an item with a rating for one of them the other's answer is asked. Errors of two answers to
    one item go together as held-out errors of one source do. Where both answers are the same text
    there is no difference.

    Args:
        estimator: fitted, or None without rated texts.
        outputs: those without a rating; rated: those with one.
        systems: the two.

    Raises:
        UsageError: no such item.
    """
    order = canonical(outputs)
    known = _sides(rated, [*range(len(rated))], systems) if rated is not None else {}
    items, counts = _to_ask(_sides(outputs, order.tolist(), systems), known, systems)
    if not items:
        raise UsageError("both answers to every item have a rating already")
    found = Units(
        goal="compare",
        members=tuple(tuple(order[[*first, *second]].tolist()) for first, second in items),
        spread=math.nan,
        systems=systems,
        already=counts[2],
        rated=counts,
        fresh=np.array([[bool(first), bool(second)] for first, second in items]),
    )
    return (
        found if estimator is None else _with_spread(found, items, estimator, outputs.take(order))
    )


def _with_spread(
    units: Units, items: Sequence[_Sides], estimator: Estimator, some: Outputs
) -> Units:
    """The units with what estimates should miss of their differences."""
    found = estimator.estimate(some)
    spread, alike = errors_of(estimator, found, of_differences=True)
    gaps, apart = np.zeros(len(items)), np.zeros(len(items))
    whole = np.flatnonzero(units.fresh.all(axis=1))
    for k in whole.tolist():
        first, second = items[k]
        gaps[k] = found.values[second].mean() - found.values[first].mean()
        one, other = (math.sqrt(np.square(spread[side]).sum()) / len(side) for side in items[k])
        if {some.texts[i] for i in first} != {some.texts[i] for i in second}:
            apart[k] = math.sqrt(one**2 + other**2 - 2 * alike * one * other)
    single = _variance(found.values[found.defined]) + _typical(spread) ** 2
    if not len(whole):  # no item with both answers to ask
        return replace(units, variance=2 * single)
    missed = _typical(apart[whole])
    variance = _variance(gaps[whole][~np.isnan(gaps[whole])]) + missed**2
    related = 1 - variance / (2 * single) if single > 0 else 0.0
    return replace(units, spread=missed, variance=variance, alike=min(related, MOST_ALIKE))


def _to_ask(
    asked: Mapping[str, _Sides], known: Mapping[str, _Sides], systems: tuple[str, str]
) -> tuple[list[_Sides], tuple[int, int, int]]:
    """Of each item the answers of systems that have no rating, and how many items have one.

    Raises:
        UsageError: no item that both answered.
    """
    none: _Sides = ([], [])
    items, counts, common = [], [0, 0, 0], 0
    for name in sorted({*asked} | {*known}):
        mine, theirs = asked.get(name, none), known.get(name, none)
        if not all(a or b for a, b in zip(mine, theirs, strict=True)):
            continue
        common += 1
        there = [bool(side) for side in theirs]
        counts = [a + b for a, b in zip(counts, (*there, all(there)), strict=True)]
        if not all(there):
            first, second = ([] if b else a for a, b in zip(mine, there, strict=True))
            items.append((first, second))
    if not common:
        raise UsageError(
            f"no item was answered by both '{systems[0]}' and '{systems[1]}': items are told by "
            "the column item, else by the source"
        )
    return items, (counts[0], counts[1], counts[2])


def _sides(outputs: Outputs, order: list[int], systems: tuple[str, str]) -> dict[str, _Sides]:
    """Of each item both systems' answers, as places in the order."""
    labels = outputs.items or outputs.sources or outputs.ids
    sides: dict[str, _Sides] = {}
    for place, row in enumerate(order):
        if outputs.systems[row] in systems:
            both = sides.setdefault(labels[row], ([], []))
            both[systems.index(outputs.systems[row])].append(place)
    return sides


def beside_pair(units: Units, pair: Pair, size: float) -> Units:
    """The units beside the difference by the ratings that there are, in units of so many."""
    powered = pair.powered
    if not powered.both.error > 0 or not all(units.rated[:2]):
        return units
    share = min((pair.both_rated + pair.one_rated) / pair.items, 1.0)
    ratio = (powered.both.error / powered.alone.error) ** 2
    left = (ratio - share) / (1 - share) if share < 1 else 1.0
    left = ratio if units.these else left
    today = Today(
        error=powered.both.error / size,
        freedom=powered.both.freedom,
        rated=units.rated,
        fresh=np.array([*units.fresh.mean(axis=0), units.fresh.all(axis=1).mean()]),
        items=pair.items,
        alike=units.alike,
        left=max(left, 0.0),
        these=units.these,
    )
    return replace(units, today=today, already=pair.both_rated + pair.one_rated)


def with_pair(choice: Choice, pair: Pair, size: float) -> Choice:
    """The choice beside what `compare` says today, in units of so many."""
    rated = pair.both_rated + pair.one_rated
    return replace(
        choice,
        difference=pair.answer.value / size,
        interval=(pair.answer.interval[0] / size, pair.answer.interval[1] / size),
        by=pair.method,
        shows=max(pair.needed - rated, 0) if pair.needed else 0,
        chance=pair.chance,
    )


def draw(units: Units, n: int, seed: int, within: float) -> Choice:
    """Some of the units, by lot.

    Args:
        units: outputs or items.
        n: how many.
        seed: of the draw.
        within: half width that settles it, in units of the human rating.
    """
    size = len(units.members)
    n, rng = min(n, size), np.random.default_rng(seed)
    chosen = rng.permutation(size)[:n].tolist()
    asked = [row for k in chosen for row in rng.permutation(units.members[k]).tolist()]
    known = units.variance > 0
    needed = units.needed(within) if known else 0
    sizes = sizes_of(n, size, max(FURTHER * n, needed)) if known else []
    now = units.today is not None or units.most < math.inf
    sizes = [0, *sizes] if now and known else sizes
    widths = [units.half_width(k) for k in sizes]
    return Choice(
        units.goal,
        np.array(asked, dtype=np.int64),
        size,
        n,
        "random",
        curve=tuple(Step(k, width, width) for k, width in zip(sizes, widths, strict=True)),
        within=within,
        needed=needed,
        systems=units.systems,
        already=units.already,
    )


def wanted(estimator: Estimator | None) -> float:
    """A half width that settles most questions: 5 % of the range of the ratings; NaN without."""
    if estimator is None or not len(estimator.rated):
        return math.nan
    whole = estimator.rated.scale is not None
    return WITHIN * (1.0 if whole else float(np.ptp(estimator.rated.human)))
