"""Boundaries for a planned number of looks at accumulating data, with the error spent among them.

The score S(I), a z-value times the root of its information I, is a Brownian motion: S(I) is normal
with mean drift * I and variance I, and its increments are independent. The chance that it crosses a
boundary first at look k follows from look to look by integration (Armitage, McPherson & Rowe 1969).
A boundary is such that each side spends what its spending function allows by then (Lan & DeMets
1983), so looks may come early, late, or not at all. Jennison & Turnbull 2000, "Group Sequential
Methods with Applications to Clinical Trials", has all that is here: recursion (chapter 19),
repeated confidence intervals (9), orders of outcomes after a stop (8.4), Student's t (11.4).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Literal

import numpy as np

from refless.registry.arrays import FloatArray
from refless.stats.intervals import LEVEL, Interval

Spending = Literal["pocock", "obrien-fleming"]

ALPHA = 1 - LEVEL  # error of both sides, of all looks together
# logarithms, in a table
P_VALUES = (*range(-60, -12, 4), *np.linspace(-12, 0, 49).tolist())
FARTHEST = 38.0  # a z-value beyond which a normal tail is 0 in double precision
TAIL = 9.0  # standard deviations beyond which a normal density counts as 0
# width of a panel of quadrature, in standard deviations of the smallest step
PANEL = 2.0
NODE, WEIGHT = np.polynomial.legendre.leggauss(8)  # of one panel, in [-1, 1]


def spent(share: float, alpha: float, spending: Spending) -> float:
    """The error that one side may have spent at a share of the plan (Lan & DeMets 1983).

    Args:
        share: of the planned information, in [0, 1]; beyond 1 nothing is left to spend.
        alpha: error of this side.
        spending: "pocock" allows about the same at each look, "obrien-fleming" hardly any at first.
    """
    from scipy.special import ndtr, ndtri

    if share >= 1:
        return alpha
    if not share > 0:
        return 0.0
    if spending == "pocock":
        return alpha * math.log1p((math.e - 1) * share)
    return 2 * float(ndtr(ndtri(alpha / 2) / math.sqrt(share)))


def information_of(units: float, population: float = math.inf) -> float:
    """The information of a mean of so many units, in that of one: 1 / (1 / n - 1 / N).

    Args:
        units: that are rated, drawn at random without replacement.
        population: units that the question is about; infinite for units like these. Once all of
            them are rated the mean is known, and the information infinite.
    """
    missing = 1 - units / population
    return units / missing if missing > 0 else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """Looks that were taken, up to the last one.

    Attributes:
        information: [k] of each look, in any unit, ascending and finite.
        shares: [k] of the plan at each look, by which error is spent; beyond 1 if the last look
            came late.
        spending: the spending function.
        alpha: error of both sides together.
    """

    information: tuple[float, ...]
    shares: tuple[float, ...]
    spending: Spending
    alpha: float = ALPHA

    @classmethod
    def at(
        cls,
        units: tuple[float, ...],
        planned: float,
        spending: Spending,
        *,
        population: float = math.inf,
        alpha: float = ALPHA,
    ) -> Looks:
        """The looks after so many rated units each, of so many that are planned.

        Args:
            units: [k] rated at each look, ascending, fewer than the population.
            planned: units at the end of the plan.
            spending, alpha: as above.
            population: units that the question is about, or infinity.
        """
        return cls(
            information=tuple(information_of(n, population) for n in units),
            shares=tuple(n / planned for n in units),
            spending=spending,
            alpha=alpha,
        )

    @property
    def spent(self) -> tuple[float, ...]:
        """[k] error that both sides have spent after each look."""
        half = self.alpha / 2
        return tuple(2 * spent(share, half, self.spending) for share in self.shares)

    @property
    def boundaries(self) -> tuple[float, ...]:
        """[k] z-value at and beyond which each look shows a difference; infinite if none can."""
        return _boundaries(self)

    @property
    def last(self) -> float:
        """The boundary of the last look."""
        return self.boundaries[-1]

    def repeated_p(self, z: float) -> float:
        """The smallest error of both sides at which a z-value of the last look is shown.

        The repeated p-value of Jennison & Turnbull (section 9.4). It holds at every look together,
        so it can be corrected for several questions as the p-value of one look is.
        """
        boundaries, logarithm = _repeated(self)
        size = min(max(abs(z), boundaries[0]), boundaries[-1])
        return math.exp(float(logarithm(size)))


@dataclass(frozen=True, slots=True, kw_only=True)
class LookPlan:
    """The looks that a study plans at its ratings, and its latest end.

    Attributes:
        at: [k] units that are rated at each look, ascending.
        planned: units at the end of the plan.
        spending: the spending function; alpha: error of both sides together.
    """

    at: tuple[int, ...]
    planned: int
    spending: Spending
    alpha: float = ALPHA

    @classmethod
    def equal(cls, count: int, planned: int, spending: Spending) -> LookPlan:
        """So many looks after as many further units each, or one a unit if there are fewer."""
        counts = sorted({math.ceil(planned * (i + 1) / count) for i in range(count)})
        return cls(at=tuple(counts), planned=planned, spending=spending)

    def number(self, units: int) -> int:
        """The number of the look after so many units, from 1: the last one due, or the first."""
        return max(bisect_right(self.at, units), 1)

    def looks(self, units: int, population: float = math.inf) -> Looks:
        """The looks by now: the earlier ones when they were due, and this one as it came.

        Args:
            units: that are rated, fewer than the population; population: as in `Looks.at`.
        """
        earlier = self.at[: self.number(units) - 1]
        return self._looks((*earlier, units), population)

    def looks_to_the_end(self, units: int, population: float = math.inf) -> Looks:
        """The looks by now, and those to come; none at which all of a population is rated."""
        number = self.number(units)
        earlier = self.at[: number - 1]
        due = {*self.at[number:], self.planned}
        later = sorted(n for n in due if units < n < population)
        return self._looks((*earlier, units, *later), population)

    def _looks(self, units: tuple[float, ...], population: float) -> Looks:
        planned = min(self.planned, population)
        return Looks.at(
            units, planned, self.spending, population=population, alpha=self.alpha
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Walk:
    """A score that has crossed no boundary yet, as a sum over places.

    Attributes:
        information: of the last look; place: [m] of the score; chance: [m] that it lies there.
    """

    information: float
    place: FloatArray
    chance: FloatArray

    def above(self, information: float, drift: float, z: float) -> float:
        """The chance that a z-value lies above z at the next look."""
        from scipy.special import ndtr

        step = information - self.information
        beyond = z * math.sqrt(information) - self.place - drift * step
        return float(self.chance @ ndtr(-beyond / math.sqrt(step)))

    def inside(
        self, information: float, drift: float, z: float, finest: float
    ) -> _Walk:
        """The same after the next look, without what lies beyond z on either side.

        Args:
            information: of the next look; drift: of the score; z: the boundary, above 0.
            finest: standard deviation of the smallest step of all.
        """
        step = information - self.information
        spread = math.sqrt(information)
        low = max(-z * spread, drift * information - TAIL * spread)
        high = min(z * spread, drift * information + TAIL * spread)
        place, weight = _quadrature(low, high, PANEL * finest)
        off = (place[:, None] - self.place - drift * step) / math.sqrt(step)
        density = np.exp(-np.square(off) / 2)
        density /= math.sqrt(2 * math.pi * step)
        return _Walk(information, place, weight * (density @ self.chance))


START = _Walk(0.0, np.zeros(1), np.ones(1))


def _quadrature(low: float, high: float, panel: float) -> tuple[FloatArray, FloatArray]:
    """Places and weights of Gauss and Legendre's rule in panels at most so wide."""
    if not high > low:
        return np.zeros(1), np.zeros(1)
    count = math.ceil((high - low) / panel)
    half = (high - low) / (2 * count)
    middles = low + half * (2 * np.arange(count) + 1)
    place = middles[:, None] + half * NODE
    return place.ravel(), np.tile(half * WEIGHT, count)


def _finest(information: tuple[float, ...]) -> float:
    """Standard deviation of the smallest step from look to look."""
    steps = [after - before for before, after in pairwise((0.0, *information))]
    return math.sqrt(min(steps))


def _walks(
    information: tuple[float, ...], boundaries: tuple[float, ...], drift: float
) -> Iterator[_Walk]:
    """[k + 1] the score before each look, and after the last one that has a boundary."""
    finest = _finest(information)
    walk = START
    yield walk
    for at, boundary in zip(information, boundaries, strict=False):
        walk = walk.inside(at, drift, boundary, finest)
        yield walk


@cache
def _boundaries(looks: Looks) -> tuple[float, ...]:
    """[k] see `Looks.boundaries`."""
    finest = _finest(looks.information)
    walk = START
    boundaries: list[float] = []
    before = 0.0
    for information, after in zip(looks.information, looks.spent, strict=True):
        boundary = _boundary(walk, information, (after - before) / 2)
        walk = walk.inside(information, 0.0, boundary, finest)
        boundaries.append(boundary)
        before = after
    return tuple(boundaries)


@cache
def _repeated(looks: Looks) -> tuple[FloatArray, Callable[[float], float]]:
    """Boundaries of the last look, ascending, and the logarithm of the error that has each.

    Between those of a table a monotone cubic is near enough; at the error of the looks it is exact.
    """
    from scipy.interpolate import PchipInterpolator

    logarithms = sorted({*P_VALUES, math.log(looks.alpha)}, reverse=True)
    table: dict[float, float] = {}
    for logarithm in logarithms:
        boundary = replace(looks, alpha=math.exp(logarithm)).last
        if math.isfinite(boundary) and boundary > max(table, default=-1.0):
            table[boundary] = logarithm
    boundaries = np.array([*table])
    return boundaries, PchipInterpolator(boundaries, np.array([*table.values()]))


def _boundary(walk: _Walk, information: float, chance: float) -> float:
    """The z-value that the next look exceeds first with this chance; infinite for hardly any."""
    from scipy.optimize import brentq

    def excess(z: float) -> float:
        return walk.above(information, 0.0, z) - chance

    if not chance > 0 or excess(FARTHEST) >= 0:
        return math.inf
    if excess(0.0) <= 0:
        return 0.0
    return float(brentq(excess, 0.0, FARTHEST, xtol=1e-10))


def crossing_chances(
    information: tuple[float, ...], boundaries: tuple[float, ...], drift: float
) -> FloatArray:
    """[k] the chance that each look is the first above its boundary.

    Args:
        information: [k] of the looks; boundaries: [k] of both sides.
        drift: of the score: a difference in units in which one unit of information has error 1.
    """
    walks = _walks(information, boundaries[:-1], drift)
    looks = zip(walks, information, boundaries, strict=True)
    return np.array([walk.above(at, drift, boundary) for walk, at, boundary in looks])


def inflation(looks: Looks, power: float) -> float:
    """The information that a plan with these looks takes, in that of one look of the same power.

    Args:
        looks: all of a plan; power: the chance to show a difference, above the error.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    fixed = float(ndtri(1 - looks.alpha / 2) + ndtri(power))

    def excess(factor: float) -> float:
        return float(ended_by(looks, fixed * math.sqrt(factor))[-1]) - power

    return float(brentq(excess, 0.5, 4.0, xtol=1e-6))


def ended_by(looks: Looks, errors: float) -> FloatArray:
    """[k] the chance that a study has ended by each look, with a difference shown.

    Args:
        looks: all of a plan; errors: the true difference, in standard errors of the last look.
    """
    drift = errors / math.sqrt(looks.information[-1])
    above = crossing_chances(looks.information, looks.boundaries, drift)
    below = crossing_chances(looks.information, looks.boundaries, -drift)
    return np.cumsum(above + below)


def critical_value(boundary: float, freedom: float) -> float:
    """The boundary as a value of Student's t, by the chance that lies beyond it."""
    from scipy.special import ndtr, stdtrit

    beyond = float(ndtr(-boundary))
    return -float(stdtrit(freedom, beyond)) if beyond > 0 else math.inf


def normal_value(t: float, freedom: float) -> float:
    """A value of Student's t as the z-value with the same chance beyond it."""
    from scipy.special import ndtri, stdtr

    beyond = float(stdtr(freedom, -abs(t)))
    return math.copysign(min(-float(ndtri(beyond)), FARTHEST), t)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedEstimate:
    """A difference after a stop, in standard errors of the look at which it came.

    Attributes:
        median: it lies above the truth as often as below; interval: 95 %; p: two-sided.
    """

    median: float
    interval: Interval
    p: float


def after_stopping(looks: Looks, z: float) -> StoppedEstimate:
    """The estimate for a study that stopped at the last of these looks, with its z-value.

    Outcomes are ordered by stages (Tsiatis, Rosner & Mehta 1984): the earlier a boundary is
    crossed, the larger the difference. So looks that never came do not matter.

    Args:
        looks: that were taken; those before the last crossed no boundary.
        z: of the last look.
    """
    from scipy.optimize import brentq

    size = abs(z)
    spread = math.sqrt(looks.information[-1])
    boundaries = (*looks.boundaries[:-1], size)

    farthest = size + TAIL

    def as_large(errors: float) -> float:
        drift = errors / spread
        return float(crossing_chances(looks.information, boundaries, drift).sum())

    def excess(errors: float, chance: float) -> float:
        return as_large(errors) - chance

    def solved(chance: float) -> float:
        return float(brentq(excess, -farthest, farthest, args=(chance,)))

    low = solved((1 - LEVEL) / 2)
    median = solved(0.5)
    high = solved((1 + LEVEL) / 2)
    interval = (low, high) if z >= 0 else (-high, -low)
    p = min(2 * as_large(0.0), 1.0)
    return StoppedEstimate(median=math.copysign(median, z), interval=interval, p=p)
