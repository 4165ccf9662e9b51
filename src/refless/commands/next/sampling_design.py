"""Outputs or items drawn to be rated, so that a mean or a difference is told by few ratings."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from refless.commands.next.active_learning import (
    Choice,
    Goal,
    Step,
    sizes_of,
)
from refless.commands.parameters import Names, names_in
from refless.data.records import Estimates, Outputs
from refless.estimators import Estimator
from refless.evaluation.comparing import Pair
from refless.registry.arrays import FloatArray, codes
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.stats.clusters import intraclass
from refless.stats.forecast import Forecast, Prospect, Today

# of the range of ratings: half width that settles it, if none is asked for
WITHIN = 0.05
FURTHER = 16  # times what is asked for the curve goes
FEWEST = 2  # ratings that have an interval
_Sides = tuple[list[int], list[int]]  # answers of two systems to one item


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Units:
    """Units of a draw: outputs, or items with the answers of two systems.

    Attributes:
        goal: `mean` or `compare`.
        members: [N] places of the outputs of each unit.
        spread: standard deviation of what estimates miss, NaN if that is unknown.
        variance: of ratings, or of their differences, over units; NaN if unknown.
        freedom: degrees of freedom behind these two.
        systems: the two that are compared.
        already: units of the same kind that were drawn at random and rated before.
        today: the difference by the ratings that there are; None without any.
        most: half width of the interval by estimates alone, which ratings do not widen.
        these: whether the question is about these units, and not about others like them.
    """

    goal: Goal
    members: tuple[tuple[int, ...], ...]
    spread: float
    variance: float = math.nan
    freedom: float = 1.0
    systems: tuple[str, ...] = ()
    already: int = 0
    today: Today | None = None
    most: float = math.inf
    these: bool = False

    def forecast(self, n: int) -> Forecast | None:
        """The interval expected by n more of them; None by fewer than two ratings."""
        if self.today is not None:
            return self.today.after(n / len(self.members))
        rated = n + self.already
        if rated < FEWEST:
            return None
        prospect = Prospect(
            every=len(self.members) + self.already,
            residual=self.spread**2,
            total=self.variance,
            freedom=self.freedom,
            these=self.these,
        )
        return prospect.after(rated)

    def half_width(self, n: int) -> float:
        """Expected half width of the 95 % interval by n more of them; NaN if that is unknown."""
        return self.step(n).width

    def step(self, n: int) -> Step:
        """The same with the range in which it will lie in nine of ten cases."""
        forecast = self.forecast(n)
        if forecast is None:
            return Step(n, self.most, self.most, self.most)
        low, high = forecast.range
        width = min(forecast.half_width, self.most)
        return Step(n, width, min(low, self.most), min(high, self.most))

    def needed(self, width: float) -> int | None:
        """Least number whose half width is no larger than this width; None if none is."""
        sizes = range(2, len(self.members) + 1)
        place = bisect_left(sizes, 1, key=lambda n: self.half_width(n) <= width)
        return sizes[place] if place < len(sizes) else None


def outputs_to_draw(estimator: Estimator | None, outputs: Outputs) -> Units:
    """Each output as a unit, for their mean.

    Args:
        estimator: fitted, or None without rated texts.
        outputs: what there is to choose from.
    """
    members = tuple((row,) for row in range(len(outputs)))
    units = Units(goal="mean", members=members, spread=math.nan)
    if estimator is None:
        return units
    estimates = estimator.estimate(outputs)
    spread, _ = typical_error(estimator, estimates)
    variance = _variance(estimates.values[estimates.defined]) + spread**2
    freedom = max(len(estimator.residuals().values) - 1, 1)
    return replace(units, spread=spread, variance=variance, freedom=freedom)


def typical_error(
    estimator: Estimator, estimates: Estimates, *, of_differences: bool = False
) -> tuple[float, float]:
    """Root mean square of ratings minus estimates, and how alike errors of one source are.

    NaN without errors. An output without an estimate is missed by the spread of the ratings. A
    difference of two systems varies less: that one of them is estimated too high or too low as a
    whole is the same for all items, and left out.
    """
    errors = estimator.residuals()
    values = errors.values
    if not len(values):
        return math.nan, 0.0
    if of_differences and values.any():
        values = _within(values, errors.systems)
    square = float(np.square(values).mean())
    covered = float(estimates.defined.mean())
    if covered < 1:
        square = covered * square + (1 - covered) * _variance(errors.human)
    return math.sqrt(square), intraclass(values, errors.sources)


def _within(values: FloatArray, systems: tuple[str, ...]) -> FloatArray:
    """Errors less the mean of their system, as large as those of texts that make no mean."""
    number = codes(systems or ("",) * len(values))
    sizes = np.bincount(number).astype(np.float64)
    means = np.bincount(number, values) / sizes
    freedom = max(len(values) - len(sizes), 1)
    return np.asarray((values - means[number]) * math.sqrt(len(values) / freedom))


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
    one item go together as held-out errors of one source do. If both answers are the same text
    there is no difference.

    Args:
        estimator: fitted, or None without rated texts.
        outputs: those without a rating; rated: those with one.
        systems: the two.

    Raises:
        UsageError: no such item.
    """
    new = _sides(outputs, systems)
    old = {} if rated is None else _sides(rated, systems)
    items, already = _unrated(new, old)
    if not items and not already:
        raise UsageError(
            f"no item was answered by both '{systems[0]}' and '{systems[1]}': items are told by "
            "the column item, else by the source"
        )
    if not items:
        raise UsageError("both answers to every item have a rating already")
    members = [(*a, *b) for a, b in items]
    units = Units(
        goal="compare",
        members=tuple(members),
        spread=math.nan,
        systems=systems,
        already=already,
    )
    if estimator is None:
        return units
    return _with_spread(units, items, estimator, outputs)


def _unrated(
    new: dict[str, _Sides], old: dict[str, _Sides]
) -> tuple[list[_Sides], int]:
    """Items with an answer to rate, and the number of items with ratings of both systems.

    Args:
        new, old: answers of both systems to each item, without and with a rating.
    """
    items: list[_Sides] = []
    already = 0
    for name in sorted({*new} | {*old}):
        a, b = new.get(name, ([], []))
        a_rated, b_rated = old.get(name, ([], []))
        answered = (a or a_rated) and (b or b_rated)
        if a_rated and b_rated:
            already += 1
        elif answered:
            items.append(([] if a_rated else a, [] if b_rated else b))
    return items, already


def _with_spread(
    units: Units, items: Sequence[_Sides], estimator: Estimator, outputs: Outputs
) -> Units:
    """The units with what estimates should miss of their differences."""
    estimates = estimator.estimate(outputs)
    values = estimates.values
    spread, alike = typical_error(estimator, estimates, of_differences=True)
    freedom = max(len(estimator.residuals().values) - 1, 1)
    gaps = []
    missed = []
    for a, b in items:
        if not (a and b):
            continue
        gaps.append(values[b].mean() - values[a].mean())
        equal = {outputs.texts[i] for i in a} == {outputs.texts[i] for i in b}
        unpaired = 1 / len(a) + 1 / len(b)
        shared = 2 * alike / math.sqrt(len(a) * len(b))
        missed.append(0.0 if equal else spread**2 * (unpaired - shared))
    if not gaps:  # no item with both answers to ask
        single = _variance(values[estimates.defined]) + spread**2
        return replace(units, variance=2 * single, freedom=freedom)
    differences = np.array(gaps)
    square = float(np.mean(missed))
    variance = _variance(differences[~np.isnan(differences)]) + square
    return replace(units, spread=math.sqrt(square), variance=variance, freedom=freedom)


def _sides(outputs: Outputs, systems: tuple[str, str]) -> dict[str, _Sides]:
    """Of each item the rows of both systems' answers."""
    labels = outputs.items or outputs.sources or outputs.ids
    sides: dict[str, _Sides] = {}
    for row, system in enumerate(outputs.systems):
        if system in systems:
            both = sides.setdefault(labels[row], ([], []))
            both[systems.index(system)].append(row)
    return sides


def beside_pair(units: Units, pair: Pair, size: float) -> Units:
    """The units beside the difference by the ratings that there are, in units of so many."""
    today = pair.today(these=units.these)
    if today is None:
        return units
    today = replace(today, error=today.error / size)
    return replace(units, today=today, already=pair.rated)


def draw(units: Units, n: int, seed: int, within: float) -> Choice:
    """Some of the units, at random.

    Args:
        units: outputs or items.
        n: how many.
        seed: of the draw.
        within: half width that settles it, in units of the human rating.
    """
    size = len(units.members)
    n = min(n, size)
    rng = np.random.default_rng(seed)
    rows: list[int] = []
    for k in rng.permutation(size)[:n].tolist():
        rows += rng.permutation(units.members[k]).tolist()
    needed = None
    sizes = []
    if units.variance > 0:
        needed = units.needed(within)
        sizes = sizes_of(n, size, max(FURTHER * n, needed or 0))
        if units.today is not None or units.most < math.inf:
            sizes = [0, *sizes]
    return Choice(
        units.goal,
        np.array(rows, dtype=np.int64),
        size,
        n,
        "random",
        curve=tuple(units.step(k) for k in sizes),
        within=within,
        needed=needed,
        systems=units.systems,
        already=units.already,
    )


def wanted(estimator: Estimator | None) -> float:
    """A half width that settles most questions: 5 % of the range of the ratings; NaN without."""
    if estimator is None or not len(estimator.rated):
        return math.nan
    if estimator.rated.scale is not None:
        return WITHIN
    return WITHIN * float(np.ptp(estimator.rated.human))


def chance_of(chances: FloatArray | None, choice: Choice) -> float | None:
    """The chance of the chosen items to be drawn; None if all ratings count.

    It is that of earlier draws, so that all count alike: two simple draws, the later one of what
    is left, are one. Without earlier ones, or if theirs differ, it is the share that is drawn.
    """
    if chances is None:
        return None
    if len(chances) and np.ptp(chances) == 0:
        return float(chances[0])
    return choice.n / choice.units


def systems_named(outputs: Outputs, done: Outputs, system: Names) -> tuple[str, str]:
    """The two systems: the only ones without all their ratings, or those that are named."""
    new = sorted({*outputs.systems} - {""})
    every = sorted({*outputs.systems, *done.systems} - {""})
    names = names_in(system) or tuple(new if len(new) == 2 else every)
    if len(names) != 2 or not {*names} <= {*every}:
        listed = ", ".join(f"'{name}'" for name in every[:10])
        raise UsageError(
            f"{called('goal', 'compare')} is about two systems: name them with "
            f"{called('system', ['A', 'B'])}; outputs "
            f"are of {listed}"
        )
    return names[0], names[1]
