"""Entries of one or two arms, some of them rated: what a mean or a difference is told from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from refless.registry.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    numbers_of,
    places_of,
)

ALIKE = 1e-9  # squared shares of raters: less is rounding
FEWEST_RATERS = 4  # from which on raters are a sample of people


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shares:
    """The part of each rater in the mean rating of each entry.

    Attributes:
        entry, rater: [k] numbers; share: [k] which sum to 1 over the raters of an entry.
    """

    entry: IntArray
    rater: IntArray
    share: FloatArray

    @classmethod
    def equal(cls, entry: IntArray, rater: IntArray) -> Shares:
        """Raters of an entry who count alike."""
        share = 1.0 / np.bincount(entry)[entry] if len(entry) else np.zeros(0)
        return cls(entry=entry, rater=rater, share=share)

    def among(self, rows: IntArray, n: int) -> Shares:
        """The shares in some of n entries, which are numbered anew in the order given."""
        at = places_of(rows, n)[self.entry]
        inside = at >= 0
        return Shares(
            entry=at[inside], rater=self.rater[inside], share=self.share[inside]
        )


NOBODY = Shares(
    entry=np.zeros(0, dtype=np.int64),
    rater=np.zeros(0, dtype=np.int64),
    share=np.zeros(0),
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sample:
    """Texts, or a system's answers to an item each: one entry for each.

    Attributes:
        rating: [n] mean human rating of what was rated of the entry, NaN if nothing was.
        unit: [n] number of what was drawn as a whole, from 0.
        arm: [n] +1 or -1: a difference is the mean of the first less that of the second.
        item: [n] what pairs entries of two arms.
        proxy: [n] mean estimate of all of the entry; proxy_labelled: [n] of what was rated of it.
        chance: [n] with which the entry was drawn to be rated; NaN if all of an arm have the same.
        mass: [n] how much of all that is asked about an entry stands for.
        shares: who rated the entries; NOBODY if raters are not known.
        has_proxy: whether there are estimates.
        weighted: whether chances or masses differ.
    """

    rating: FloatArray
    unit: IntArray
    arm: IntArray
    item: IntArray
    proxy: FloatArray
    proxy_labelled: FloatArray
    chance: FloatArray
    mass: FloatArray
    shares: Shares
    has_proxy: bool
    weighted: bool

    @classmethod
    def of(
        cls,
        rating: FloatArray,
        unit: IntArray,
        *,
        arm: IntArray | None = None,
        item: IntArray | None = None,
        proxy: FloatArray | None = None,
        proxy_labelled: FloatArray | None = None,
        chance: FloatArray | None = None,
        mass: FloatArray | None = None,
        shares: Shares = NOBODY,
    ) -> Sample:
        """The entries; units are numbered anew, and what is not given is alike for all.

        Without `item` no entries are pairs; without `proxy_labelled` all of an entry was rated.
        """
        n = len(rating)
        has_proxy = proxy is not None
        has_mass = mass is not None
        if arm is None:
            arm = np.ones(n, dtype=np.int64)
        if proxy is None:
            proxy = np.zeros(n)
        if proxy_labelled is None:
            proxy_labelled = proxy
        if chance is None:
            chance = np.full(n, math.nan)
        if mass is None:
            mass = np.ones(n)
        return cls(
            rating=rating,
            unit=numbers_of(unit),
            arm=arm,
            item=np.arange(n) if item is None else numbers_of(item),
            proxy=proxy,
            proxy_labelled=np.nan_to_num(proxy_labelled),
            chance=chance,
            mass=mass,
            shares=shares,
            has_proxy=has_proxy,
            weighted=has_mass or not np.isnan(chance).all(),
        )

    @property
    def rated(self) -> BoolArray:
        """[n] whether an entry has a rating."""
        return ~np.isnan(self.rating)

    @property
    def units(self) -> int:
        """The number of units, rated or not."""
        return int(self.unit.max(initial=-1)) + 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Arm:
    """The rated entries of one side.

    Attributes:
        sign: +1 or -1; every: places of all its entries; rows: places of the rated ones.
        unit, rating: [rows]; weight: [rows], which sum to 1; mean: of the ratings.
        open: [rows] root of the share of what an entry stands for that is still unknown.
        known: share of the arm that is rated, if these entries are the question, else 0.
        size: as how many entries of one weight the rated ones count.
        units: how many units have a rating; whole: whether all entries are rated.
    """

    sign: float
    every: IntArray
    rows: IntArray
    unit: IntArray
    rating: FloatArray
    weight: FloatArray
    mean: float
    open: FloatArray
    known: float
    size: float
    units: int
    whole: bool


def arms_of(sample: Sample, *, these: bool) -> tuple[Arm, ...]:
    """The sides, that of sign -1 first; `these`: whether these entries are the question."""
    signs = np.unique(sample.arm).tolist()
    return tuple(_arm_of(sample, sign, these=these) for sign in signs)


def _arm_of(sample: Sample, sign: int, *, these: bool) -> Arm:
    every = np.flatnonzero(sample.arm == sign)
    rows = every[sample.rated[every]]
    unit = sample.unit[rows]
    rating = sample.rating[rows]
    n = len(rows)
    chance = sample.chance[rows]
    unknown = np.isnan(chance)
    chance = np.where(unknown, n / len(every), chance)
    counts = sample.mass[rows] / (1.0 if unknown.all() else chance)
    total = float(counts.sum())
    weight = np.zeros(n)
    mean = math.nan
    if total > 0:
        weight = counts / total
        least = float(rating.min())
        # equal ratings are their mean, to the last bit
        mean = least + float(counts @ (rating - least)) / total
    known = np.minimum(chance, 1.0) if these else np.zeros(n)
    if these and n < len(every) and known.min(initial=1.0) >= 1:
        known = np.full(n, n / len(every))  # not all that is asked
    squares = float(weight @ weight)
    return Arm(
        sign=float(sign),
        every=every,
        rows=rows,
        unit=unit,
        rating=rating,
        weight=weight,
        mean=mean,
        open=np.sqrt(1 - known),
        known=min(float(weight @ known), 1.0),
        size=1 / squares if squares > 0 else 0.0,
        units=len(np.unique(unit[weight > 0])),
        whole=n == len(every),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Strangers:
    """The effect of raters on a number, beyond what changes from unit to unit.

    Attributes:
        strange: what severity counts for, in units of its variance; 0 if raters cancel out.
        raters: how many there are.
        apart: whether raters are known in both arms, and nobody rated in both.
        one_arm: whether the number is a mean, and no difference.
    """

    strange: float = 0.0
    raters: int = 0
    apart: bool = False
    one_arm: bool = False

    @property
    def few(self) -> int:
        """The number of raters, if they are too few to stand for others and yet matter; else 0."""
        return self.raters if self.strange and self.raters < FEWEST_RATERS else 0


def strangers(sample: Sample, arms: Sequence[Arm]) -> Strangers:
    """The weight of raters' severity.

    A rater's severity is in an arm by this rater's share of it. Differences of shares add the sum
    of their squares times the variance of severities, less what changes from unit to unit, which
    the variance over units knows already. One unit in an arm tells nothing of that.
    """
    if not len(sample.shares.rater) or min(arm.units for arm in arms) < 2:
        return Strangers()
    rater = numbers_of(sample.shares.rater)
    raters = int(rater.max()) + 1
    sides = [_side(sample, arm, rater) for arm in arms]
    net = np.zeros(raters)
    for arm, side in zip(arms, sides, strict=True):
        net += arm.sign * side.usual
    inside = _inside(sample, sides, rater)
    strange = float(net @ net) - inside
    present = np.array([side.usual > 0 for side in sides])
    in_every_arm = bool(present.any(axis=1).all())
    shared = bool(present.all(axis=0).any())
    return Strangers(
        strange=strange if strange > ALIKE else 0.0,
        raters=int(present.any(axis=0).sum()),
        apart=len(arms) > 1 and in_every_arm and not shared,
        one_arm=len(arms) == 1,
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Side:
    """Raters in one arm.

    Attributes:
        usual: [r] share of each rater.
        signed: [k] by how much each share of the sample moves the influence of its unit.
        units: [units] the sum of that over raters.
    """

    usual: FloatArray
    signed: FloatArray
    units: FloatArray


def _side(sample: Sample, arm: Arm, rater: IntArray) -> _Side:
    weight = np.zeros(len(sample.rating))
    weight[arm.rows] = arm.weight
    parts = np.bincount(arm.unit, arm.weight, sample.units)
    lost = np.sqrt(1 - parts[arm.unit])
    moves = np.zeros(len(sample.rating))
    moves[arm.rows] = arm.sign * arm.weight * arm.open / lost
    entry = sample.shares.entry
    usual = np.bincount(rater, weight[entry] * sample.shares.share)
    return _Side(
        usual=np.asarray(usual, dtype=np.float64),
        signed=moves[entry] * sample.shares.share,
        units=np.asarray(np.bincount(arm.unit, moves[arm.rows], sample.units)),
    )


def _inside(sample: Sample, sides: Sequence[_Side], rater: IntArray) -> float:
    """The sum of squares of what raters' shares change by from unit to unit.

    Over units u and raters r it is that of S - D, where S is what a rater has of a unit and D what
    it would be by the rater's share of the arm; D is never written out.
    """
    raters = len(sides[0].usual)
    unit = sample.unit[sample.shares.entry]
    pair, place = np.unique(unit * raters + rater, return_inverse=True)
    real = np.zeros(len(pair))
    usual = np.zeros(len(pair))
    for side in sides:
        real += np.bincount(place, side.signed, len(pair))
        usual += side.units[pair // raters] * side.usual[pair % raters]
    squares = []
    for first, second in product(sides, repeat=2):
        of_units = float(first.units @ second.units)
        squares.append(of_units * float(first.usual @ second.usual))
    return float(real @ real) - 2 * float(real @ usual) + math.fsum(squares)
