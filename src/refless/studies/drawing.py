"""Outputs or items drawn to be rated, so that a mean or a difference is told by few ratings."""

import math
from dataclasses import dataclass, replace

import numpy as np

from refless.errors import UsageError
from refless.estimators import Estimator
from refless.records import FloatArray, Outputs
from refless.stats.intervals import student
from refless.studies.choosing import Choice, Goal, Step, canonical, sizes_of
from refless.studies.spreads import errors_of

WITHIN = 0.05  # of the range of ratings: half width that settles it, where none is asked for
FURTHER = 16  # times what is asked for the curve goes
POWER = 1.43  # half widths of a difference that is shown 4 times in 5: (1.96 + 0.84) / 1.96


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Units:
    """What is drawn: outputs, or items with the answers of two systems.

    Attributes:
        goal: `mean` or `compare`.
        members: [N] places of the outputs of each unit.
        spread: standard deviation of what estimates miss, NaN where that is unknown.
        variance: of ratings, or of their differences, over units; NaN where unknown.
        systems: the two that are compared.
        difference: mean difference of their estimates, that of the second less the first.
        already: units of the same kind that are rated already.
    """

    goal: Goal
    members: tuple[tuple[int, ...], ...]
    spread: float
    variance: float = math.nan
    systems: tuple[str, ...] = ()
    difference: float = math.nan
    already: int = 0

    def half_width(self, n: int) -> float:
        """Expected half width of the 95 % interval by n more of them; NaN where that is unknown.

        The variance of the mean is that of what is not rated, and that the units are themselves a
        sample (Zrnic and Candes 2024, section 2).
        """
        rated, every = n + self.already, len(self.members) + self.already
        missed = self.spread**2 * (every / rated - 1.0)
        return student(rated - 1) * math.sqrt((missed + self.variance) / every)

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


def items_to_draw(estimator: Estimator | None, outputs: Outputs, systems: tuple[str, str]) -> Units:
    """Each item that both systems answered as a unit, for their mean difference.

    Errors of two answers to one item go together as held-out errors of one source do. Where both
    answers are the same text there is no difference.

    Raises:
        UsageError: no such item.
    """
    order = canonical(outputs)
    pairs = _pairs(outputs, order.tolist(), systems)
    members = tuple(tuple(order[[*first, *second]].tolist()) for first, second in pairs)
    if estimator is None:
        return Units(goal="compare", members=members, spread=math.nan, systems=systems)
    some = outputs.take(order)
    found = estimator.estimate(some)
    spread, alike = errors_of(estimator, found, of_differences=True)
    gaps, apart = np.zeros(len(pairs)), np.zeros(len(pairs))
    for k, (first, second) in enumerate(pairs):
        gaps[k] = found.values[second].mean() - found.values[first].mean()
        one, other = (math.sqrt(np.square(spread[side]).sum()) / len(side) for side in pairs[k])
        if {some.texts[i] for i in first} != {some.texts[i] for i in second}:
            apart[k] = math.sqrt(one**2 + other**2 - 2 * alike * one * other)
    gaps, missed = gaps[~np.isnan(gaps)], _typical(apart)
    return Units(
        goal="compare",
        members=members,
        spread=missed,
        variance=_variance(gaps) + missed**2,
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
    sizes = [0, *sizes] if units.already > 1 and known else sizes
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
