"""Means and differences of few ratings: against tests that are known, by hand, and a slow twin."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy.stats import ttest_1samp, ttest_ind, ttest_rel

from refless.registry.arrays import FloatArray, IntArray
from refless.stats.answers import Answer, Powered
from refless.stats.contrast import contrast, mean_of
from refless.stats.intervals import Interval, student
from refless.stats.raters import Severity, severity
from refless.stats.samples import Sample, Shares

STARS: Interval = (1.0, 5.0)
VERDICTS: Interval = (0.0, 1.0)
Z = 1.959963984540054  # of a normal distribution, two-sided 5 %
RNG = default_rng(11)


def arms(
    first: FloatArray, second: FloatArray, *, paired: bool = False, **columns
) -> Sample:
    """Old and new ratings, NaN for none, of the same items or of others."""
    n = len(first)
    m = len(second)
    items = np.arange(n + m)
    if paired:
        items[n:] = items[:n]
    return Sample.of(
        np.concatenate([first, second]),
        items,
        arm=np.repeat([-1, 1], [n, m]),
        item=items,
        **columns,
    )


def one(ratings: FloatArray, unit: IntArray | None = None, **columns) -> Sample:
    """One arm; each row is a unit unless others are given."""
    return Sample.of(
        ratings, np.arange(len(ratings)) if unit is None else unit, **columns
    )


def rated(values: FloatArray, rows: IntArray) -> FloatArray:
    """The values of these rows, NaN elsewhere."""
    known = np.full(len(values), np.nan)
    known[rows] = values[rows]
    return known


# The slow twin: loops over rows and units, straight from the docstrings.


@dataclass
class Side:
    """One arm: its rated rows as (unit, rating, weight, share that is known)."""

    sign: int
    rows: list[tuple[int, float, float, float]]

    def __post_init__(self) -> None:
        least = min(rating for _, rating, _, _ in self.rows)
        self.mean = least + sum(weight * (y - least) for _, y, weight, _ in self.rows)
        self.size = 1 / sum(weight**2 for _, _, weight, _ in self.rows)
        self.known = min(sum(weight * known for _, _, weight, known in self.rows), 1.0)
        self.held: Counter[object] = Counter()  # share of each unit
        self.of: Counter[object] = Counter()  # influence of each unit
        for unit, _, weight, _ in self.rows:
            self.held[unit] += weight
        self.units = 1 / sum(
            held**2 for held in self.held.values()
        )  # as many of one weight


def sides_of(sample: Sample, *, these: bool) -> list[Side]:
    """The arms; the chance of a row whose own is not known is the rated share of its arm."""
    sides = []
    for sign in sorted({*sample.arm.tolist()}):
        every = [row for row, arm in enumerate(sample.arm) if arm == sign]
        marked = [row for row in every if not math.isnan(sample.rating[row])]
        usual = len(marked) / len(every)
        chances = [sample.chance[row] for row in marked]
        chances = [usual if math.isnan(chance) else chance for chance in chances]
        counts = [
            sample.mass[row] / chance
            for row, chance in zip(marked, chances, strict=True)
        ]
        known = [these * min(chance, 1.0) for chance in chances]
        if (
            len(marked) < len(every) and min(known, default=0.0) >= 1
        ):  # yet some are not rated
            known = [usual] * len(marked)
        rows = [
            (sample.unit[row], sample.rating[row], count / sum(counts), share)
            for row, count, share in zip(marked, counts, known, strict=True)
        ]
        sides.append(Side(sign, rows))
    return sides


def of_equal(values: list[float], least: float) -> float:
    """The share that is equal to the commonest, times a usual square of the others."""
    if len(values) < 2:
        return 0.0
    counts = Counter(round(float(value), 12) for value in values)
    most = max(counts.values())
    commonest = min(
        (value for value, count in counts.items() if count == most), key=abs
    )
    others = [value for value in values if abs(value - commonest) > 1e-11]
    square = sum(value**2 for value in others) / len(others) if others else least**2
    return (most - 1) / (len(values) - 1) * square


def made_up(
    side: Side, scale: Interval | None, *, verdicts: bool, alone: bool
) -> Interval:
    """Made-up successes (and failures), and for how many rows a unit counts."""
    if scale is None or not (verdicts or alone):
        return 0.0, 1.0
    low, high = scale
    off = [
        side.size * weight * (rating - side.mean) for _, rating, weight, _ in side.rows
    ]
    sums: Counter[int] = Counter()
    for (unit, *_), each in zip(side.rows, off, strict=True):
        sums[unit] += each
    most = max(side.size / len(sums), 1.0)
    wide = 1 + 0.2 * (most - 1)
    if any(off):
        wide = sum(each**2 for each in sums.values()) / sum(each**2 for each in off)
        wide = min(max(wide, 1.0), most)
    spread = 1.0
    if not verdicts:
        ratings = [rating - side.mean for _, rating, _, _ in side.rows]
        squares = sum(
            side.size * weight * (y - side.mean) ** 2 for _, y, weight, _ in side.rows
        )
        squares += of_equal(ratings, 0.3 * (high - low))
        middle = (side.mean * side.size + (low + high) / 2) / (side.size + 1)
        spread = min(squares / (side.size * (middle - low) * (high - middle)), 1.0)
    return wide * spread * (Z**2 / 2 if alone else 1.0), wide


def fill(
    side: Side, scale: Interval | None, made: Interval, *, verdicts: bool, place: str
) -> float:
    """Adds up the influences of a side's units, and returns how far its middle moves."""
    mass, wide = made
    low, high = scale or (0.0, 0.0)
    total = side.size + 2 * mass
    middle = (side.mean * side.size + mass * (low + high)) / total
    part = side.sign * side.size / total
    for unit, rating, weight, known in side.rows:
        lost = 1.0 if verdicts else math.sqrt(1 - side.held[unit])
        side.of[unit] += part * weight * math.sqrt(1 - known) * (rating - middle) / lost
    ends = [("worst", low), ("best", high)]
    for number, (_, end) in enumerate(ends[:: side.sign] if mass else ()):
        root = math.sqrt(mass * wide * (1 - side.known))
        side.of[f"made up {place} {number}"] = part * root * (end - middle) / side.size
    return side.sign * (middle - side.mean) * (1 - side.known)


def twin(
    sample: Sample, scale: Interval | None, *, these: bool
) -> tuple[float, float, float]:
    """Error, degrees of freedom and centre of the answer by ratings alone."""
    sides = sides_of(sample, these=these)
    rows = chain.from_iterable(side.rows for side in sides)
    values = {rating for _, rating, _, _ in rows}
    verdicts = (
        values == {0.0, 1.0}
        if scale is None
        else scale == VERDICTS and values <= {0.0, 1.0}
    )
    scale = VERDICTS if verdicts else scale
    reach = scale[1] - scale[0] if scale else max(values) - min(values)
    alone = len(sides) == 1
    paired = not alone and bool(sides[0].held.keys() & sides[1].held.keys())
    centre = 0.0
    for side in sides:
        made = made_up(side, scale, verdicts=verdicts, alone=alone)
        place = "pair" if paired else str(side.sign)
        centre += side.sign * side.mean
        centre += fill(side, scale, made, verdicts=verdicts, place=place)
    kinds: defaultdict[tuple[int, ...], list[object]] = defaultdict(list)
    for unit in {*chain.from_iterable(side.of for side in sides)}:
        kinds[tuple(k for k, side in enumerate(sides) if unit in side.of)].append(unit)
    borrowed = [min(4, len(kinds.get((1 - k,), []))) for k in range(len(sides))]
    more = _drawn_up(sides, borrowed)
    asked = max(1 - side.known for side in sides)
    variances = []
    below = []
    for where, units in kinds.items():
        of = np.array([[*map(side.of.__getitem__, units)] for side in sides])
        held_by = np.array([[*map(side.held.__getitem__, units)] for side in sides])
        squares = (of**2).sum(axis=1)
        own = squares if verdicts else squares + (held_by**2).sum(axis=1) * more
        total = of.sum(axis=0)
        cross = (total**2).sum() - squares.sum()
        held = held_by.sum(axis=0)
        variance = sum(own) + cross
        freedom = sum(held) ** 2 / max(sum(h**2 for h in held), 1e-300) - 1
        if variance > 1e-12 * sum(own):
            most = [
                lent
                for lent, v in zip(borrowed, own, strict=True)
                if v > 0.999999 * max(own)
            ]
            freedom += min(*most, 2)
        if not verdicts:
            usual = 0.3 * reach * math.sqrt(asked)
            variance += of_equal(total, usual / min(sides[k].units for k in where))
        variances.append(variance)
        below.append(variance**2 / max(freedom, 1.0))
    freedom = sum(variances) ** 2 / sum(below) if any(below) else math.nan
    if verdicts and len({*sample.unit.tolist()}) == len({*sample.item.tolist()}):
        freedom = 1e9
    error = math.sqrt(sum(variances))
    if scale and alone and len(values) == 1 and not verdicts:
        units = 1 / sum_of_squares(sides[0].held)
        furthest = max(abs(end - sides[0].mean) for end in scale)
        hidden = (1 - 0.05 ** (1 / units)) * furthest * math.sqrt(asked)
        error = max(error, hidden / student(freedom))
    return error, freedom, centre


def sum_of_squares(parts: Mapping[object, float]) -> float:
    """The sum over units."""
    return sum(part**2 for part in parts.values())


def _drawn_up(sides: list[Side], borrowed: list[int]) -> list[float]:
    """The addition to the variance of a unit of each arm, if units of the other are lent to it."""
    if not any(borrowed):
        return [0.0] * len(sides)
    each = [sum_of_squares(side.of) * side.units for side in sides]
    spare = [side.units - 1 for side in sides]
    pooled = sum(v * f for v, f in zip(each, spare, strict=True)) / max(
        sum(spare), 1e-300
    )
    drawn = [
        (v * f + lent * pooled) / (f + lent) if f + lent else 0.0
        for v, f, lent in zip(each, spare, borrowed, strict=True)
    ]
    return [max(new - old, 0.0) for new, old in zip(drawn, each, strict=True)]


@st.composite
def samples(draw: st.DrawFn) -> tuple[Sample, Interval | None]:
    """Ratings of one arm or two, in units of one row or more, some not rated, some weighed."""
    n = draw(st.integers(2, 24))
    rng = default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["verdicts", "stars", "numbers", "equal", "shares"]))
    rating = {
        "verdicts": (rng.random(n) < 0.8).astype(float),
        "stars": rng.integers(1, 6, n).astype(float),
        "numbers": rng.normal(size=n),
        "equal": np.full(n, 4.0),
        "shares": rng.integers(0, 5, n) / 4,
    }[kind]
    scale = {"stars": STARS, "equal": STARS, "shares": VERDICTS}.get(kind)
    scale = draw(st.sampled_from([scale, None]))
    item = rng.integers(0, max(n // 2, 1), n)
    arm = rng.choice([-1, 1], n) if draw(st.booleans()) else np.ones(n, dtype=np.int64)
    unit = item // draw(st.integers(1, 3)) if draw(st.booleans()) else np.arange(n)
    rating[rng.random(n) < draw(st.sampled_from([0.0, 0.4]))] = math.nan
    chance = rng.choice([0.25, 0.5, 1.0], n) if draw(st.booleans()) else None
    mass = rng.choice([1.0, 2.0, 3.5], n) if draw(st.booleans()) else None
    sample = Sample.of(
        rating,
        unit,
        arm=arm,
        item=item if draw(st.booleans()) else None,
        chance=chance,
        mass=mass,
    )
    return sample, scale


def close(first: Answer, second: Answer) -> None:
    """Two answers are one, but for rounding."""
    for name in ("value", "error", "freedom", "centre", "interval", "p", "above"):
        left = getattr(first, name)
        assert left == pytest.approx(
            getattr(second, name), rel=1e-9, abs=1e-11, nan_ok=True
        ), name
    assert first.untold == second.untold


@settings(max_examples=400)
@given(samples(), st.booleans())
def test_the_slow_twin(drawn: tuple[Sample, Interval | None], these: bool) -> None:
    """Loops give what arrays give; without two units on a side there is no interval."""
    sample, scale = drawn
    answer = contrast(sample, scale=scale, these=these).alone
    marked = sample.rated
    arms_rated = [marked & (sample.arm == sign) for sign in np.unique(sample.arm)]
    fewest = min(len({*sample.unit[rows].tolist()}) for rows in arms_rated)
    if not fewest:
        assert math.isnan(answer.value)
        assert answer.untold == "nothing is rated"
        return
    sides = sides_of(sample, these=these)
    assert answer.value == pytest.approx(sum(side.sign * side.mean for side in sides))
    if these and marked.all():
        assert answer.interval == (answer.value, answer.value)
        return
    if fewest < 2:
        assert answer.untold == "one unit is rated"
        assert math.isnan(answer.p)
        return
    error, freedom, centre = twin(sample, scale, these=these)
    if not error:
        assert answer.untold == "all are equal"
        return
    assert (answer.error, answer.freedom, answer.centre) == pytest.approx(
        (error, freedom, centre)
    )
    half = student(answer.freedom) * error
    assert answer.interval[0] <= answer.value <= answer.interval[1]
    inside = max(centre - half, answer.bounds[0]), min(centre + half, answer.bounds[1])
    assert answer.interval[0] == pytest.approx(min(inside[0], answer.value))
    assert answer.interval[1] == pytest.approx(max(inside[1], answer.value))


@settings(max_examples=200)
@given(samples(), st.booleans(), st.randoms(use_true_random=False))
def test_neither_order_nor_names_nor_sides_count(
    drawn: tuple[Sample, Interval | None], these: bool, random
) -> None:
    """Rows shuffled, units renamed; arms that change places give the answer turned round."""
    sample, scale = drawn
    n = len(sample.rating)
    order = np.array(random.sample(range(n), n))
    names = np.array(random.sample(range(100), sample.units))
    shuffled = Sample.of(
        sample.rating[order],
        names[sample.unit][order],
        arm=sample.arm[order],
        item=sample.item[order],
        chance=sample.chance[order],
        mass=sample.mass[order] if sample.weighted else None,
    )
    answer = contrast(sample, scale=scale, these=these).alone
    close(contrast(shuffled, scale=scale, these=these).alone, answer)
    if len(np.unique(sample.arm)) == 2:
        opposed = contrast(
            replace(sample, arm=-sample.arm), scale=scale, these=these
        ).alone
        close(opposed.turned(), answer)
        close(answer.turned().turned(), answer)


def test_pairs_are_the_paired_t_test() -> None:
    """scipy's own, where no two differences are equal."""
    old, new = RNG.normal(size=(2, 12))
    answer = contrast(arms(old, new, paired=True)).alone
    true = ttest_rel(new, old)
    assert answer.value == pytest.approx((new - old).mean())
    assert answer.p == pytest.approx(true.pvalue)
    assert answer.interval == pytest.approx(tuple(true.confidence_interval()))
    assert answer.above == pytest.approx(ttest_rel(new, old, alternative="less").pvalue)


def test_a_mean_is_students_t() -> None:
    """scipy's own; as exact of twelve units of two equal rows."""
    ratings = RNG.normal(size=12)
    ends = tuple(ttest_1samp(ratings, 0.0).confidence_interval())
    assert mean_of(ratings, np.arange(12)).interval == pytest.approx(ends)
    assert mean_of(np.repeat(ratings, 2), np.repeat(np.arange(12), 2)).interval == (
        pytest.approx(ends)
    )


def test_arms_of_other_items_are_welchs_test() -> None:
    """scipy's own: two degrees of freedom more where arms vary alike, none to speak of if large."""
    old = RNG.normal(size=9)
    answer = contrast(arms(old, old[::-1] + 1.0)).alone
    true = ttest_ind(old + 1.0, old, equal_var=False)
    assert answer.value / answer.error == pytest.approx(true.statistic)
    assert (answer.freedom, true.df) == (pytest.approx(2 * 10), pytest.approx(2 * 8))
    old = RNG.normal(size=2000)
    new = 3 * RNG.normal(size=3000)
    true = ttest_ind(new, old, equal_var=False).confidence_interval()
    assert contrast(arms(old, new)).alone.interval == pytest.approx(
        tuple(true), abs=1e-3
    )


def test_a_small_arm_is_drawn_up_and_never_down() -> None:
    """By hand: ratings of variance 1/2 beside 3, with 1 and 8 degrees of freedom.

    Pooled (1/2 + 8 * 3) / 9 = 49 / 18; drawn up to (1/2 + 4 * 49 / 18) / 5. The larger one stays.
    """
    old = np.sqrt(3) * np.array([1.0, -1, 1.1, -1.1, 0.8, -0.8, 0.9, -0.9, 0])
    old *= math.sqrt(3 / old.var(ddof=1))
    answer = contrast(arms(old, np.array([0.0, 1.0]))).alone
    small = (1 / 2 + 4 * 49 / 18) / 5
    assert answer.error**2 == pytest.approx(small / 2 + 3 / 9)
    wider = contrast(arms(old, np.array([0.0, 10.0]))).alone
    assert wider.error**2 > 50 / 2 + 3 / 9  # the larger arm's variance is drawn up too


def test_verdicts_of_one_arm_are_agresti_and_coulls() -> None:
    """By hand: 1.92 successes and failures more, and the quantile of a normal distribution."""
    for passed, n in ((7, 10), (0, 12), (19, 20)):
        outcomes = (np.arange(n) < passed).astype(float)
        answer = mean_of(outcomes, np.arange(n), scale=VERDICTS)
        share = (passed + Z**2 / 2) / (n + Z**2)
        half = Z * math.sqrt(share * (1 - share) / (n + Z**2))
        assert answer.value == passed / n
        assert answer.centre == pytest.approx(share)
        assert answer.interval[0] == pytest.approx(max(share - half, 0.0))
        assert answer.interval[1] == pytest.approx(min(share + half, 1.0))


def test_verdicts_of_two_arms_are_agresti_and_caffos() -> None:
    """By hand: 5 of 6 beside 3 of 10; a success and a failure more in each arm."""
    old = (np.arange(10) < 3).astype(float)
    new = (np.arange(6) < 5).astype(float)
    answer = contrast(arms(old, new)).alone
    shares = 4 / 12, 6 / 8
    half = Z * math.sqrt(4 / 12 * 8 / 12 / 12 + 6 / 8 * 2 / 8 / 8)
    middle = shares[1] - shares[0]
    assert answer.value == pytest.approx(5 / 6 - 3 / 10)
    assert answer.interval == pytest.approx((middle - half, middle + half))


def test_verdicts_in_pairs_are_bonett_and_prices() -> None:
    """By hand: of 20 items new alone passes 9 and old alone 2; a pair of either sign more."""
    both = np.repeat([[0, 1], [1, 0], [1, 1], [0, 0]], [9, 2, 6, 3], axis=0).astype(
        float
    )
    answer = contrast(arms(*both.T, paired=True)).alone
    better = 10 / 22
    worse = 3 / 22
    half = Z * math.sqrt((better + worse - (better - worse) ** 2) / 22)
    assert answer.value == pytest.approx(7 / 20)
    assert answer.interval == pytest.approx(
        (better - worse - half, better - worse + half)
    )


def test_equal_values_add_a_usual_difference() -> None:
    """By hand: seven differences of 1, one of 3: 6 of 7 others are equal, off by 1.75 as usual.

    Each deviation is over 8 and over the root of 7 / 8. All equal: .3 of the scale, over 8.
    """
    d = np.array([1.0] * 7 + [3.0])
    plain = d.var(ddof=1) / 8
    equal = 6 / 7 * (1.75 / 8) ** 2 * 8 / 7
    answer = contrast(arms(np.zeros(8), d, paired=True)).alone
    assert answer.error**2 == pytest.approx(plain + equal)
    answer = contrast(
        arms(np.full(8, 3.0), np.full(8, 2.0), paired=True), scale=STARS
    ).alone
    assert (answer.value, answer.error) == (-1.0, pytest.approx(0.3 * 4 / 8))


def test_equal_ratings_hide_rare_others() -> None:
    """If a share of 3.7 % is the other end of the scale, 80 ratings are all equal with 5 %."""
    low, _ = mean_of(np.full(80, 5.0), np.arange(80), scale=STARS).interval
    assert low <= 5 - 4 * (1 - 0.05 ** (1 / 80))


def test_what_has_no_interval() -> None:
    """No rating in an arm; one value and no scale, whatever is lost by rounding."""
    nothing = contrast(arms(np.full(5, math.nan), np.arange(5.0)))
    assert (nothing.alone.untold, nothing.fewest) == ("nothing is rated", 0)
    assert math.isnan(nothing.alone.value)
    for value in (4.0, 3.3, 0.1):
        for sample in (
            one(np.full(7, value)),
            arms(np.full(3, value), np.full(6, value)),
        ):
            answer = contrast(sample).alone
            assert answer.untold == "all are equal"
            assert math.isnan(answer.interval[0])


def test_chances_weigh() -> None:
    """Hajek's estimator and its linearised variance, by hand: with chances 1/2 and 1/4.

    Shares of the mean 1/5, 2/5 and 2/5: each squared influence is over 1 less its share.
    """
    ratings = np.array([1.0, 2.0, 4.0, math.nan, math.nan, math.nan])
    chance = np.array([0.5, 0.25, 0.25, 0.5, 0.25, 0.25])
    answer = contrast(one(ratings, chance=chance)).alone
    assert answer.value == pytest.approx((2 * 1 + 4 * 2 + 4 * 4) / 10)  # 2.6
    squares = (0.2 * -1.6) ** 2 / 0.8 + (0.4 * -0.6) ** 2 / 0.6 + (0.4 * 1.4) ** 2 / 0.6
    assert answer.error**2 == pytest.approx(squares)
    assert answer.freedom == pytest.approx(1 / (0.2**2 + 2 * 0.4**2) - 1)


def test_units_are_drawn_whole() -> None:
    """By hand: three units of two with sums of -3, 5 and -2 off the mean; sizes 6, 2, 2, 2."""
    ratings = np.array([1.0, 2.0, 5.0, 6.0, 3.0, 1.0])
    answer = contrast(one(ratings, np.repeat(np.arange(3), 2)))
    assert answer.alone.error**2 == pytest.approx(3 / 2 * (9 + 25 + 4) / 36)
    assert answer.alone.freedom == pytest.approx(2)
    assert answer.rated == 3
    uneven = contrast(
        one(RNG.normal(size=12), np.repeat(np.arange(4), [6, 2, 2, 2]))
    ).alone
    assert uneven.freedom == pytest.approx(144 / 48 - 1)


def test_these_entries_are_the_question() -> None:
    """60 of 96 items rated: the root of 1 - 60 / 96 as wide; all: exact, with estimates too."""
    d = RNG.normal(0.2, 1.0, 96)
    sample = arms(
        rated(np.zeros(96), np.arange(60)), rated(d, np.arange(60)), paired=True
    )
    these, like = (contrast(sample, these=this).alone for this in (True, False))
    assert these.error / like.error == pytest.approx(math.sqrt(1 - 60 / 96))
    for whole in (arms(np.zeros(96), d, paired=True), one(np.ones(5)), one(np.ones(1))):
        answer = contrast(whole, these=True).both
        assert answer.interval == (answer.value, answer.value)
        assert answer.p == (0.0 if answer.value else 1.0)


def test_answers() -> None:
    """Student's t: its quantile, two-sided p, one-sided probability; by R, 2 * pt(-2, 10)."""
    answer = Answer(value=1.0, error=0.5, freedom=10)
    assert answer.interval == pytest.approx(
        (1 - 0.5 * student(10), 1 + 0.5 * student(10))
    )
    assert answer.p == pytest.approx(0.0733880, abs=1e-6)
    assert answer.above == pytest.approx(1 - 0.0733880 / 2, abs=1e-6)
    assert (
        replace(answer, error=0.01, centre=0.5).interval[1] == 1
    )  # the value is inside
    bounded = replace(answer, centre=0.5, bounds=(0.0, 1.2))
    assert bounded.interval == pytest.approx((0.0, 1.2))
    assert bounded.beyond(1.0).interval == pytest.approx((-1.0, 0.2))
    assert bounded.turned().interval == pytest.approx((-1.2, 0.0))


def half_rated(
    rng: np.random.Generator, n: int, both: int, rest: tuple[int, int]
) -> Sample:
    """Items of which some are rated for both systems, and others for one of them alone."""
    level = rng.normal(size=n)
    old, new = level + rng.normal(size=(2, n)) / 3
    old[both + rest[0] :] = math.nan
    new[both : n - rest[1]] = math.nan
    return arms(old, new, paired=True)


def test_items_rated_in_part_by_generalised_least_squares() -> None:
    """Four means, of pairs and of the rest in each arm, weighed by the inverse of their covariance.

    That of pairs is shrunk as `kept_of` says, with two opposed made-up pairs; by numpy alone.
    """
    both = 30
    rest = (20, 15)
    sample = half_rated(default_rng(1), both + sum(rest), both, rest)
    old, new = sample.rating.reshape(2, -1)
    parts = [old[:both], old[both : both + rest[0]], new[:both], new[-rest[1] :]]
    spread = [np.nanvar(column, ddof=1) for column in (old, new)]
    usual = 0.3 * (np.nanmax(sample.rating) - np.nanmin(sample.rating))
    ups = [
        np.append(
            mine, mine.mean() + sign * max(math.sqrt(var), usual) * np.array([1, -1])
        )
        for mine, sign, var in zip(
            (old[:both], new[:both]), (1, -1), spread, strict=True
        )
    ]
    r = np.corrcoef(*ups)[0, 1]
    t2 = r**2 * (both - 2) / (1 - r**2)
    kept = 1 - (1 + 20 / both) / t2
    covariance = np.diag([spread[k // 2] / len(part) for k, part in enumerate(parts)])
    covariance[0, 2] = covariance[2, 0] = kept * r * math.sqrt(math.prod(spread)) / both
    design = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    inverse = np.linalg.inv(covariance)
    means = np.linalg.solve(
        design.T @ inverse @ design,
        design.T @ inverse @ [part.mean() for part in parts],
    )
    best = np.linalg.inv(design.T @ inverse @ design)
    plain = np.array([[50, 0], [0, 45]])
    shares = np.array([[30, 20, 0, 0], [0, 0, 30, 15]]) / plain.sum(axis=1)[:, None]
    without = shares @ covariance @ shares.T
    turn = np.array([-1, 1])
    ratio = turn @ best @ turn / (turn @ without @ turn) * 29 / 28 * (1 + 1 / 27)
    answer = contrast(sample).alone
    assert answer.value == pytest.approx(means[1] - means[0])
    weighed = replace(sample, weighted=True)  # with chances, pairs are not looked for
    simple = contrast(weighed).alone
    assert simple.value == pytest.approx(np.nanmean(new) - np.nanmean(old))
    assert answer.error / simple.error == pytest.approx(math.sqrt(ratio))
    assert answer.freedom == pytest.approx(simple.freedom - 1)


def test_few_pairs_are_not_weighed() -> None:
    """Nine pairs, or no others beside them, change nothing."""
    for both, rest in ((9, (20, 20)), (40, (0, 0))):
        sample = half_rated(default_rng(2), both + sum(rest), both, rest)
        weighed = replace(sample, weighted=True)
        assert contrast(sample).alone == contrast(weighed).alone


def by_proxy(sample: Sample, *, these: bool) -> tuple[float, float]:
    """Correlation of influences with those of estimates, and the slope, by loops over rows."""
    sides = sides_of(sample, these=these)
    off: Counter[int] = Counter()
    of: Counter[int] = Counter()
    for side in sides:
        fill(side, None, (0.0, 1.0), verdicts=False, place="")
        of.update(side.of)
        every = [row for row, arm in enumerate(sample.arm) if arm == side.sign]
        marked = [row for row in every if not math.isnan(sample.rating[row])]
        masses = sum(sample.mass[row] for row in every)
        whole = sum(sample.mass[row] * sample.proxy[row] for row in every) / masses
        own = zip(marked, side.rows, strict=True)
        known = sum(
            weight * sample.proxy_labelled[row] for row, (_, _, weight, _) in own
        )
        centre = known if these else whole
        for row, (unit, _, weight, share) in zip(marked, side.rows, strict=True):
            mine = weight * math.sqrt(1 - share) * (sample.proxy_labelled[row] - centre)
            off[unit] += side.sign * mine
        for row in () if these else every:
            part = sample.mass[row] / masses
            off[sample.unit[row]] -= side.sign * part * (sample.proxy[row] - centre)
    product = sum(of[unit] * off[unit] for unit in off)
    squares = [sum_of_squares(each) for each in (of, off)]
    return product / math.sqrt(math.prod(squares)), product / squares[1]


@settings(max_examples=100)
@given(
    st.integers(10, 40),
    st.integers(0, 40),
    st.integers(0, 2**32 - 1),
    *[st.booleans()] * 2,
)
def test_estimates_by_regression(
    n: int, others: int, seed: int, these: bool, two: bool
) -> None:
    """theta = Y_L - lambda (f_L - f_all), by loops; what is left has n - 2 degrees of freedom."""
    rng = default_rng(seed)
    rows = (1 + two) * (n + others)
    ratings = rng.normal(size=rows)
    estimates = rng.choice([0.0, 0.7, 2.0]) * ratings + rng.normal(size=rows)
    item = np.arange(rows) % (n + others)
    human = np.where(item < n, ratings, math.nan)
    arm = np.repeat([-1, 1], n + others) if two else np.ones(rows, dtype=np.int64)
    sample = Sample.of(
        human,
        item,
        arm=arm,
        item=item,
        proxy=estimates,
        proxy_labelled=estimates + 0.1 * ratings,
    )
    answers = contrast(sample, these=these)
    if these and not others:
        assert answers.both == answers.alone
        return
    r, slope = by_proxy(sample, these=these)
    t2 = r**2 * (n - 2) / (1 - r**2)
    share = slope * max(0.0, 1 - (1 + 20 / n) / t2) if slope > 0 else 0.0
    assert answers.correlation == pytest.approx(r)
    assert answers.share == pytest.approx(share, abs=1e-12)
    if not share:
        assert answers.both == answers.alone
        return
    known = arm @ np.where(item < n, sample.proxy_labelled, 0.0) / n
    whole = arm @ estimates / (n + others)
    assert answers.both.value == pytest.approx(
        answers.alone.value - share * (known - whole)
    )
    left = (
        1 - 2 * share / slope * r**2 + (share / slope * r) ** 2
    )  # of (y - share f) to y, squared
    lost = (n - 1) / (n - 2) * (1 + 1 / (n - 3))
    assert answers.both.error**2 == pytest.approx(answers.alone.error**2 * left * lost)
    assert answers.both.freedom == pytest.approx(n - 2)
    of_these = (
        1 / (n + others) if these else 0.0
    )  # no number of ratings is worth more than all
    worth = 1 / (left * lost * (1 / n - of_these) + of_these)
    assert answers.worth == pytest.approx(worth)


def test_the_value_of_the_paper() -> None:
    """theta = lambda mean_U(f) + mean_L(Y - lambda f), with our lambda turned into theirs.

    Angelopoulos et al. 2023, equation 2: their lambda is ours times N / (N + n) of all estimates.
    """
    y = RNG.normal(size=25)
    f = np.concatenate([y + RNG.normal(size=25) / 2, RNG.normal(size=75)])
    answers = contrast(one(np.append(y, np.full(75, math.nan)), proxy=f))
    theirs = answers.share * 75 / 100
    assert theirs > 0
    value = theirs * f[25:].mean() + (y - theirs * f[:25]).mean()
    assert answers.both.value == pytest.approx(value)


def raters_twin(sample: Sample, *, these: bool) -> float:
    """The variance that severity makes, by a table of units and raters."""
    table: Counter[tuple[int, int]] = (
        Counter()
    )  # what severity does to a unit's influence
    net: Counter[int] = Counter()
    entry, rater, share = (
        getattr(sample.shares, name).tolist() for name in ("entry", "rater", "share")
    )
    parts = dict(zip(zip(entry, rater, strict=True), share, strict=True))
    for side in sides_of(sample, these=these):
        marked = np.flatnonzero(sample.rated & (sample.arm == side.sign)).tolist()
        rows = [*zip(marked, side.rows, strict=True)]
        for name in {rater for _, rater in parts}:
            usual = sum(
                weight * parts.get((row, name), 0.0) for row, (_, _, weight, _) in rows
            )
            net[name] += side.sign * usual
            for row, (unit, _, weight, known) in rows:
                move = (
                    side.sign * weight * math.sqrt((1 - known) / (1 - side.held[unit]))
                )
                table[unit, name] += move * (parts.get((row, name), 0.0) - usual)
    strange = sum(x**2 for x in net.values()) - sum(x**2 for x in table.values())
    return strange if strange > 1e-9 else 0.0


@settings(max_examples=100)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 7),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_raters_by_tables(
    seed: int, raters: int, two: bool, units: bool, these: bool
) -> None:
    """Shares of raters in units and arms; few who matter are told, and then nothing is added."""
    rng = default_rng(seed)
    n = 12
    item = np.tile(np.arange(n), 2) if two else np.arange(2 * n)
    entry, rater = np.nonzero(rng.random((2 * n, raters)) < 0.6)
    sample = Sample.of(
        np.where(np.isin(np.arange(2 * n), entry), rng.normal(size=2 * n), math.nan),
        item // 2 if units else item,
        arm=np.repeat([-1, 1], n) if two else None,
        item=item,
        shares=Shares.equal(entry, rater),
    )
    strict = Severity(variance=0.5, square=0.7, freedom=raters - 1)
    if these and sample.rated.all():
        return
    answers = contrast(sample, severity=strict, these=these)
    plain = contrast(sample, these=these)
    strange = raters_twin(sample, these=these)
    assert answers.strange == pytest.approx(strange, abs=1e-9)
    assert answers.alone.value == plain.alone.value
    few = raters if strange and raters < 4 else 0
    assert answers.raters == few
    apart = two and not ({*rater[entry < n].tolist()} & {*rater[entry >= n].tolist()})
    assert answers.apart == apart
    if apart or few or not strange:
        return
    variance = plain.alone.error**2
    assert answers.alone.error**2 == pytest.approx(variance + strange * 0.5)
    below = variance**2 / plain.alone.freedom + (strange * 0.7) ** 2 / max(
        raters - 1.5, 1
    )
    assert answers.alone.freedom >= (variance + strange * 0.5) ** 2 / below * (1 - 1e-9)


def test_raters_of_one_arm_each() -> None:
    """Two panels, each its own system's: the severity of four counts a quarter in each arm.

    Of one rater each nothing is told.
    """
    ratings = RNG.normal(size=(2, 30, 4))
    text, rater = np.indices((60, 4)).reshape(2, -1)
    rater = rater + 4 * (text >= 30)
    told = severity(text, rater, ratings.reshape(-1))
    sample = arms(*ratings.mean(axis=2), shares=Shares.equal(text, rater))
    answers = contrast(sample, severity=told)
    assert (told.freedom, answers.strange, answers.apart) == (
        6,
        pytest.approx(0.5),
        True,
    )
    alone = Shares.equal(np.arange(60), np.arange(60) // 30)
    answer = contrast(
        arms(*ratings.mean(axis=2), shares=alone), severity=Severity()
    ).alone
    assert answer.untold == "raters are apart"
    assert math.isnan(answer.interval[0])


def test_severity_is_not_counted_twice() -> None:
    """If each text has a rater of its own, the scatter of texts is all there is."""
    y = RNG.normal(size=12)
    answers = contrast(
        one(y, shares=Shares.equal(np.arange(12), np.arange(12))), severity=Severity()
    )
    assert answers.strange == 0
    assert answers.alone.error == pytest.approx(y.std(ddof=1) / math.sqrt(12))


def shown_and_held(answers: list[Powered], truth: float) -> tuple[float, float]:
    """Share of intervals that hold the truth, and of those that show more than it."""
    ends = np.array([answer.both.interval for answer in answers])
    return float(np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))), float(
        np.mean(ends[:, 0] > truth)
    )


@pytest.mark.parametrize("n", [15, 60])
@pytest.mark.parametrize("strength", [0.0, 1.0])
def test_intervals_with_estimates_hold(n: int, strength: float) -> None:
    """No difference, 300 runs: held in 93 % or more; squared error is no worse than without."""
    rng = default_rng(n)
    answers = []
    for _ in range(300):
        d = np.clip(np.round(rng.normal(size=200) * 1.2), -3, 3)
        f = strength * d + rng.normal(size=200)
        new = rated(d, np.arange(n))
        proxy = np.append(np.zeros(200), f)
        answers.append(contrast(arms(0 * new, new, paired=True, proxy=proxy)))
    assert shown_and_held(answers, 0.0)[0] >= 0.93
    both = np.mean([answer.both.value**2 for answer in answers])
    alone = np.mean([answer.alone.value**2 for answer in answers])
    assert both <= (1.02 if strength == 0 else 0.9) * alone


def test_looking_again() -> None:
    """Nine looks at equal systems, after 20, 30 ... 100 items: false alarms in 150 runs."""
    rng = default_rng(5)
    once = always = 0
    for _ in range(150):
        d = np.clip(np.round(1.2 * rng.normal(size=100)), -4, 4)
        shown = []
        for n in range(20, 101, 10):
            answer = contrast(arms(np.zeros(n), d[:n], paired=True)).both
            shown.append([answer.p < 0.05, answer.at_any_look(n, 4.0).p < 0.05])
        once += np.any(shown, axis=0)[0]
        always += np.any(shown, axis=0)[1]
    assert once > 0.12 * 150
    assert always <= 0.05 * 150
    assert math.isnan(answer.at_any_look(9, 4.0).p)
