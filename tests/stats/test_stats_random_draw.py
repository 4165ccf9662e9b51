"""Were rows drawn at random? Exact on small cases against every mask that could have been drawn."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy.stats import ks_2samp

from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.stats.random_draw import (
    KIND,
    LEVEL,
    PLACE,
    DrawnRows,
    _canonical,
    _Exchange,
    distance,
    draw_p,
    few_runs,
    uneven,
)
from rows import digits

NONE = np.zeros(0, dtype=np.int64)


def rows_of(drawn: BoolArray, **columns: object) -> DrawnRows:
    """Rows of one stratum without anything, but for what is given."""
    n = len(drawn)
    plain = DrawnRows(
        drawn=drawn,
        strata=np.zeros(n, dtype=np.int64),
        numbers={},
        place=NONE,
        kinds=NONE,
    )
    return replace(plain, **columns)  # type: ignore[arg-type]


def masks_of(n: int, m: int) -> Iterator[BoolArray]:
    """Each way to draw m of n rows."""
    for chosen in combinations(range(n), m):
        mask = np.zeros(n, dtype=np.bool_)
        mask[list(chosen)] = True
        yield mask


def test_the_first_rows_and_no_others() -> None:
    """Six of twelve: the first six are one of 924 draws, and the last six are as far off.

    As two of 924 draws reach the largest distance (by hand: 6 * 6 / 12 = 3 rows too many), p is
    about 2 / 924, which is no alarm; with nine of eighteen it is 2 / 48,620, which is one.
    """
    values = np.arange(12.0)
    p = draw_p(rows_of(values < 6, numbers={"score": values}))["score"]
    assert p == pytest.approx(2 / 924, abs=0.003)
    assert p > LEVEL
    assert (
        distance(values, np.zeros(12, dtype=np.int64))((values < 6)[None].astype(float))
        == 3
    )
    values = np.arange(18.0)
    assert draw_p(rows_of(values < 9, numbers={"score": values}))["score"] <= LEVEL


@given(st.lists(st.integers(0, 5), min_size=6, max_size=30), st.data())
def test_one_stratum_is_kolmogorov_and_smirnov(
    values: list[int], data: st.DataObject
) -> None:
    """The statistic is m (n - m) / n times SciPy's D, with ties."""
    numbers = np.array(values, dtype=np.float64)
    n = len(numbers)
    drawn = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    m = int(drawn.sum())
    if 0 < m < n:
        statistic = distance(numbers, np.zeros(n, dtype=np.int64))(
            drawn[None].astype(np.float64)
        )
        expected = ks_2samp(numbers[drawn], numbers[~drawn], method="asymp").statistic
        assert statistic[0] == pytest.approx(m * (n - m) / n * expected)


def slow_distance(values: FloatArray, strata: IntArray, drawn: BoolArray) -> float:
    """Threshold by threshold, row by row; rows without a value do not count."""
    there = ~np.isnan(values)
    shares: dict[int, float] = {}
    up_to = np.full(len(values), np.nan)
    for stratum in {*strata[there].tolist()}:
        inside = there & (strata == stratum)
        shares[stratum] = float(drawn[inside].mean())
        for row in np.flatnonzero(inside):
            up_to[row] = (values[inside] <= values[row]).mean()
    sums = [0.0]
    for bar in {*up_to[there].tolist()}:
        reached = [row for row in np.flatnonzero(there) if up_to[row] <= bar]
        sums.append(abs(sum(drawn[row] - shares[strata[row]] for row in reached)))
    return max(sums)


@given(st.integers(2, 20), st.integers(0, 10_000))
def test_statistics_are_their_slow_twins(n: int, seed: int) -> None:
    """With strata, ties and missing values."""
    rng = default_rng(seed)
    strata = rng.integers(0, 3, n)
    values = np.where(
        rng.random(n) < 0.2, np.nan, rng.integers(0, 5, n).astype(np.float64)
    )
    drawn = rng.random(n) < 0.5
    mask = drawn[None].astype(np.float64)
    assert distance(values, strata)(mask)[0] == pytest.approx(
        slow_distance(values, strata, drawn)
    )
    place = rng.permutation(n)
    changes = 0
    for stratum in {*strata.tolist()}:
        mine = sorted(np.flatnonzero(strata == stratum), key=place.__getitem__)
        changes += sum(drawn[a] != drawn[b] for a, b in pairwise(mine))
    assert few_runs(place, strata)(mask)[0] == -changes
    kinds = rng.integers(0, 3, n)
    squares = 0.0
    for kind in {*kinds.tolist()}:
        mine_ = kinds == kind
        squares += float(
            (drawn[mine_].sum() - drawn.mean() * mine_.sum()) ** 2 / mine_.sum()
        )
    assert uneven(kinds, np.zeros(n, dtype=np.int64))(mask)[0] == pytest.approx(
        squares**0.5
    )


ROWS = 12
ITEMS = np.repeat(np.arange(4), 3)
SYSTEMS = np.tile(np.arange(3), 4)


def whole_items() -> Iterator[BoolArray]:
    """Two of four items, all rows of each."""
    for mask in masks_of(4, 2):
        yield mask[ITEMS]


def single_rows() -> Iterator[BoolArray]:
    """One row of each item."""
    for chosen in product(range(3), repeat=4):
        yield np.array(chosen)[ITEMS] == SYSTEMS


def by_system() -> Iterator[BoolArray]:
    """Three of four rows of the first system, one of each other."""
    for counts in product(masks_of(4, 3), masks_of(4, 1), masks_of(4, 1)):
        yield np.array([counts[SYSTEMS[row]][ITEMS[row]] for row in range(ROWS)])


DESIGNS: dict[str, tuple[Callable[[], Iterator[BoolArray]], bool]] = {
    "rows": (lambda: masks_of(ROWS, 3), False),
    "whole items": (whole_items, False),
    "one row of each item": (single_rows, False),
    "by system": (by_system, True),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_of_all_masks_few_have_a_small_p_value(name: str) -> None:
    """At each level no larger a share of the masks that could be drawn is below it.

    Levels from a tenth on, as so small a file has no smaller ones; a p-value of 2,000 draws may be
    a little off.
    """
    masks, stratified = DESIGNS[name]
    rng = default_rng(1)
    score = rng.normal(size=4)[ITEMS] + rng.normal(size=3)[SYSTEMS]
    rows = rows_of(
        np.zeros(ROWS, dtype=np.bool_),
        levels=[ITEMS],
        numbers={"grade": np.round(score), "fine": score},
        place=np.argsort(score),
        strata=SYSTEMS if stratified else np.zeros(ROWS, dtype=np.int64),
        kinds=NONE if stratified else SYSTEMS,
    )
    found = [draw_p(replace(rows, drawn=mask)) for mask in masks()]
    smallest = np.array([min(p_values.values(), default=1.0) for p_values in found])
    for level in (0.1, 0.2, 0.5):
        assert (smallest <= level).mean() <= level + 0.03


def orbit(rows: DrawnRows) -> set[tuple[bool, ...]]:
    """Every mask that exchanges lead to: items of equal shape, then rows of one system in each."""
    item = rows.levels[0]
    system = rows.strata
    masks: set[tuple[bool, ...]] = set()
    n = len(item)
    for order in permutations(range(n)):
        partner: dict[int, set[int]] = {}
        for a, b in enumerate(order):
            partner.setdefault(int(item[a]), set()).add(int(item[b]))
        alike = all(system[a] == system[b] for a, b in enumerate(order))
        if alike and all(len(items) == 1 for items in partner.values()):
            masks.add(tuple(rows.drawn[list(order)].tolist()))
    return masks


@pytest.mark.parametrize(
    ("items", "systems", "drawn"),
    [
        digits("001122 010101 101100"),
        digits("0001112 0010010 1000110"),
        digits("0112223 0000000 1010010"),
    ],
)
def test_exchanges_reach_each_mask_equally_often(
    items: tuple[int, ...], systems: tuple[int, ...], drawn: tuple[int, ...]
) -> None:
    """The masks are those of a search through all permutations, each as often as another."""
    rows = _canonical(
        rows_of(np.array(drawn) > 0, levels=[np.array(items)], strata=np.array(systems))
    )
    masks = _Exchange(rows).masks(20_000, default_rng(0))
    different, counts = np.unique(masks, axis=0, return_counts=True)
    assert {tuple(row) for row in (different > 0).tolist()} == orbit(rows)
    expected = 20_000 / len(different)
    assert np.abs(counts - expected).max() < 6 * np.sqrt(expected)


def test_items_within_sources() -> None:
    """Whole sources of two items are exchanged, and whole items in them; rows never leave them."""
    source = np.repeat(np.arange(3), 4)
    item = np.repeat(np.arange(6), 2)
    drawn = np.array([1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0]) > 0
    rows = _canonical(rows_of(drawn, levels=[source, item]))
    masks = _Exchange(rows).masks(2_000, default_rng(0))
    pairs = masks.reshape(-1, 6, 2)
    assert (pairs[:, :, 0] == pairs[:, :, 1]).all()
    per_source = pairs[:, :, 0].reshape(-1, 3, 2).sum(axis=2)
    assert (np.sort(per_source, axis=1) == [0, 1, 2]).all()
    assert (
        len(np.unique(masks, axis=0)) == 6 * 2
    )  # orders of sources, places of the half one


@settings(max_examples=30)
@given(st.integers(0, 10_000))
@example(100)  # sources alike in what is drawn and in strata, but not in both at once
def test_no_order_or_name_changes_a_number(seed: int) -> None:
    """Rows in another order, columns in another, items and systems under other numbers."""
    rng = default_rng(seed)
    n = 30
    item = rng.integers(0, 10, n)
    rows = rows_of(
        rng.random(n) < 0.4,
        levels=[item // 3, item],
        numbers={
            "a": rng.integers(0, 3, n).astype(np.float64),
            "b": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
        },
        place=np.arange(n),
        strata=rng.integers(0, 2, n),
        kinds=rng.integers(0, 3, n),
    )
    names = rng.permutation(10)
    other = replace(
        rows,
        levels=[names[rows.levels[0]], names[item]],
        numbers={"b": rows.numbers["b"], "a": rows.numbers["a"]},
    )
    assert draw_p(other.take(rng.permutation(n))) == draw_p(rows)


def test_what_is_not_asked() -> None:
    """Everything is drawn, nothing is, or all that is drawn is a whole stratum."""
    values = np.arange(8.0)
    numbers = {"score": values}
    assert draw_p(rows_of(values > 9, numbers=numbers)) == {}
    assert draw_p(rows_of(values < 9, numbers=numbers)) == {}
    strata = (values > 3).astype(np.int64)
    assert draw_p(rows_of(values > 3, numbers=numbers, strata=strata)) == {}
    assert draw_p(rows_of(values > 3, numbers={"score": np.ones(8)})) == {}


def test_blocks_are_seen_and_regular_draws_are_not() -> None:
    """Rows 0 to 19, 40 to 59, ...: few runs. Every fifth row: as good as random."""
    place = np.arange(400)
    blocks = draw_p(rows_of(place // 20 % 2 == 0, place=place))
    assert blocks[PLACE] <= LEVEL
    regular = draw_p(rows_of(place % 5 == 0, place=place))
    assert regular[PLACE] > 0.5


def test_systems_may_be_drawn_unlike_only_if_they_are_strata() -> None:
    """All of one system and a fifth of the other."""
    rng = default_rng(0)
    kinds = np.repeat([0, 1], 100)
    drawn = (kinds == 0) | (rng.random(200) < 0.2)
    score = rng.normal(size=200) + 3 * kinds
    rows = rows_of(drawn, numbers={"score": score})
    alone = draw_p(replace(rows, kinds=kinds))
    assert alone[KIND] <= LEVEL
    assert alone["score"] <= LEVEL
    assert min(draw_p(replace(rows, strata=kinds)).values()) > LEVEL


def test_large_files_are_looked_at_in_part() -> None:
    """A draw from 20,000 rows that is not random is seen among 4,000 of them, whole items each."""
    place = np.arange(20_000)
    rows = rows_of(place < 6_000, place=place, levels=[place // 2])
    assert draw_p(rows)[PLACE] <= LEVEL
