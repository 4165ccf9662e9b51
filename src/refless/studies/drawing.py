"""Outputs or items drawn to be rated, so that a mean or a difference is told by few ratings."""

import math
from dataclasses import dataclass, replace

import numpy as np

from refless.errors import UsageError
from refless.estimators import Estimator
from refless.records import FloatArray, Outputs
from refless.stats.inclusion import drawn, error_of_mean, probabilities
from refless.stats.intervals import student
from refless.studies.choosing import Choice, Goal, Step, canonical, sizes_of
from refless.studies.spreads import errors_of

WITHIN = 0.05  # of the range of ratings: half width that settles it, where none is asked for
UNEVEN = 0.1  # of their mean: spreads that differ by less tell nothing apart
FURTHER = 16  # times what is asked for the curve goes
POWER = 1.43  # half widths of a difference that is shown 4 times in 5: (1.96 + 0.84) / 1.96


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Units:
    """What is drawn: outputs, or items with the answers of two systems.

    Attributes:
        goal: `mean` or `compare`.
        members: [N] places of the outputs of each unit.
        spread: [N] standard deviations of what estimates miss, NaN where that is unknown.
        variance: of ratings, or of their differences, over units; NaN where unknown.
        systems: the two that are compared.
        difference: mean difference of their estimates, that of the second less the first.
        already: units of the same kind that were drawn by lot and rated before.
    """

    goal: Goal
    members: tuple[tuple[int, ...], ...]
    spread: FloatArray
    variance: float = math.nan
    systems: tuple[str, ...] = ()
    difference: float = math.nan
    already: int = 0

    @property
    def even(self) -> bool:
        """Whether the spreads tell (next to) nothing apart."""
        usual = float(self.spread.mean())
        return not float(np.ptp(self.spread)) > UNEVEN * usual

    def chances(self, n: int, *, even: bool = False) -> FloatArray:
        """[N] chance of each to be among n that are drawn."""
        if even or self.even:
            return np.full(len(self.members), n / len(self.members))
        return probabilities(self.spread, n)

    def half_width(self, n: int, *, even: bool = False) -> float:
        """Expected half width of the 95 % interval by n more of them; NaN where that is unknown."""
        rated, every = n + self.already, len(self.members) + self.already
        if self.already:  # these were drawn by lot too, and miss as much on average
            spread = np.full(every, math.sqrt(float(np.square(self.spread).mean())))
            chances = np.full(every, rated / every)
        else:
            spread, chances = self.spread, self.chances(n, even=even)
        return student(rated - 1) * error_of_mean(spread, chances, self.variance)

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
        return Units(goal="mean", members=members, spread=np.full(len(order), np.nan))
    found = estimator.estimate(outputs.take(order))
    spread, _ = errors_of(estimator, found)
    variance = _variance(found.values[found.defined]) + float(np.square(spread).mean())
    return Units(goal="mean", members=members, spread=spread, variance=variance)


def _variance(values: FloatArray) -> float:
    return float(values.var()) if len(values) else 0.0


def items_to_draw(estimator: Estimator | None, outputs: Outputs, systems: tuple[str, str]) -> Units:
    """Each item that both systems answered as a unit, for their mean difference.

    Errors of two answers to one item go together as held-out errors of one source do. Where both
    answers are the same text there is no difference; all other items have one spread, as chances
    by spreads of their own need no fewer ratings (`benchmarks/next.py`).

    Raises:
        UsageError: no such item.
    """
    order = canonical(outputs)
    pairs = _pairs(outputs, order.tolist(), systems)
    members = tuple(tuple(order[[*first, *second]].tolist()) for first, second in pairs)
    if estimator is None:
        nothing = np.full(len(pairs), np.nan)
        return Units(goal="compare", members=members, spread=nothing, systems=systems)
    some = outputs.take(order)
    found = estimator.estimate(some)
    spread, alike = errors_of(estimator, found, of_differences=True)
    gaps, apart = np.zeros(len(pairs)), np.zeros(len(pairs))
    for k, (first, second) in enumerate(pairs):
        gaps[k] = found.values[second].mean() - found.values[first].mean()
        one, other = (math.sqrt(np.square(spread[side]).sum()) / len(side) for side in pairs[k])
        if {some.texts[i] for i in first} != {some.texts[i] for i in second}:
            apart[k] = math.sqrt(one**2 + other**2 - 2 * alike * one * other)
    gaps, differ = gaps[~np.isnan(gaps)], apart > 0
    apart[differ] = math.sqrt(float(np.square(apart[differ]).mean())) if differ.any() else 0.0
    return Units(
        goal="compare",
        members=members,
        spread=apart,
        variance=_variance(gaps) + float(np.square(apart).mean()),
        systems=systems,
        difference=float(gaps.mean()) if len(gaps) else math.nan,
    )


def _pairs(
    outputs: Outputs, order: list[int], systems: tuple[str, str]
) -> list[tuple[list[int], list[int]]]:
    """Of each item both systems' answers, as places in the order.

    Raises:
        UsageError: none that both answered.
    """
    found = _both(outputs, order, systems)
    if not found:
        raise UsageError(
            f"no item was answered by both '{systems[0]}' and '{systems[1]}': items are told by "
            "the column item, else by the source"
        )
    return found


def _both(
    outputs: Outputs, order: list[int], systems: tuple[str, str]
) -> list[tuple[list[int], list[int]]]:
    """The same; empty where no item was answered by both."""
    labels = outputs.items or outputs.sources or outputs.ids
    sides: dict[str, tuple[list[int], list[int]]] = {}
    for place, row in enumerate(order):
        if outputs.systems[row] in systems:
            both = sides.setdefault(labels[row], ([], []))
            both[systems.index(outputs.systems[row])].append(place)
    return [both for _, both in sorted(sides.items()) if all(both)]


def beside_rated(units: Units, rated: Outputs) -> Units:
    """The units beside outputs, or items, of the same kind that are rated already."""
    if units.goal == "mean" or not len(rated):
        return replace(units, already=len(rated))
    systems = (units.systems[0], units.systems[1])
    return replace(units, already=len(_both(rated, [*range(len(rated))], systems)))


def draw(units: Units, n: int, seed: int, within: float, *, beside: bool = False) -> Choice:
    """Some of the units, with chances in proportion to what estimates miss of them.

    Where the spreads tell nothing apart, chances are equal.

    Args:
        units: outputs or items.
        n: how many.
        seed: of the draw.
        within: half width that settles it, in units of the human rating.
        beside: whether other outputs of the same kind have ratings whose chances are not known:
            all chances are then equal, and not told, so that all ratings count as drawn by lot.
    """
    size = len(units.members)
    n, rng = min(n, size), np.random.default_rng(seed)
    even = beside or units.even
    chances = units.chances(n, even=even)
    chosen = rng.permutation(drawn(chances, rng)).tolist()
    asked = [(row, k) for k in chosen for row in rng.permutation(units.members[k]).tolist()]
    known = units.variance > 0
    needed = units.needed(within) if known else 0
    sizes = sizes_of(n, size, max(FURTHER * n, needed)) if known else []
    sizes = [0, *sizes] if units.already > 1 and known else sizes
    return Choice(
        units.goal,
        np.array([row for row, _ in asked], dtype=np.int64),
        np.where(beside, np.nan, chances[[k for _, k in asked]]),
        size,
        n,
        "random" if even else "unequal",
        curve=tuple(
            Step(k, units.half_width(k, even=even), units.half_width(k, even=True)) for k in sizes
        ),
        within=within,
        needed=needed,
        difference=units.difference,
        shows=units.needed(abs(units.difference) / POWER) if known else 0,
        systems=units.systems,
        already=units.already,
    )


def wanted(estimator: Estimator | None) -> float:
    """A half width that settles most questions: 5 % of the range of the ratings; NaN without."""
    if estimator is None or not len(estimator.rated):
        return math.nan
    whole = estimator.rated.scale is not None
    return WITHIN * (1.0 if whole else float(np.ptp(estimator.rated.human)))
