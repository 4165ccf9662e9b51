"""A test of whether some rows were drawn at random from all: do they differ in any column?

The null hypothesis is about the draw alone, not about the data: branches of equal shape, such as
items with an answer of each system, were as likely to be drawn as one another. That is true if
rows were drawn, whole items, or rows within items that were drawn, and if the share that is drawn
differs between systems. So the test exchanges branches of equal shape, and its level is exact
whatever the data are, however much rows of one item have in common (Lehmann & Romano 2005, 15.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from refless.registry.arrays import BoolArray, FloatArray, IntArray, codes_of, numbered

LEVEL = 0.001
DRAWS = 1_999  # so that LEVEL is two of the draws with the observed one
BLOCK = 200  # draws at once; the first block gives each statistic's mean and spread
ENOUGH = 10  # draws as extreme as the data: p is far above LEVEL, and no more are drawn
MOST_ROWS = 4_000  # of more, whole branches are left out at random
TIE = 1e-9
PLACE = "place"
KIND = "kind"

Column = BoolArray | FloatArray | IntArray
Statistic = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DrawnRows:
    """Rows of which some were drawn, and the columns that may tell how.

    Attributes:
        drawn: [n] whether a row was drawn.
        strata: [n] parts of which another share may be drawn on purpose, such as systems.
        levels: [n] each, what belongs together; the outermost first.
        numbers: [n] columns by name, NaN if there is no value.
        place: [n] place in the file, or empty if that tells nothing.
        kinds: [n] number of each row's kind, or empty.
    """

    drawn: BoolArray
    strata: IntArray
    levels: Sequence[IntArray] = ()
    numbers: Mapping[str, FloatArray]
    place: IntArray
    kinds: IntArray

    def take(self, rows: IntArray) -> DrawnRows:
        """These rows, in this order."""
        levels = [level[rows] for level in self.levels]
        numbers = {name: column[rows] for name, column in self.numbers.items()}
        place = self.place[rows] if len(self.place) else self.place
        kinds = self.kinds[rows] if len(self.kinds) else self.kinds
        return DrawnRows(
            drawn=self.drawn[rows],
            strata=self.strata[rows],
            levels=levels,
            numbers=numbers,
            place=place,
            kinds=kinds,
        )


def draw_p(rows: DrawnRows) -> dict[str, float]:
    """The p-value of each column, by name, corrected for their number.

    By the largest of all standardised statistics (Westfall & Young 1993), so the smallest of these
    p-values is that of all columns together. Nothing is returned if every row was drawn, or none,
    or if no exchange changes a statistic.

    Args:
        rows: in any order; columns in any order; levels with any numbers.
    """
    rows = _canonical(rows)
    rng = np.random.default_rng(0)
    if len(rows.drawn) > MOST_ROWS:
        rows = _thinned(rows, rng)
    observed = rows.drawn[None, :].astype(np.float64)
    if observed.min(initial=1.0) == observed.max(initial=1.0):
        return {}
    exchange = _Exchange(rows)
    statistics = _statistics(rows)
    usual = _values(statistics, exchange.masks(BLOCK, rng))
    spread = usual.std(axis=0)
    telling = spread > TIE
    if not telling.any():
        return {}
    centre = usual.mean(axis=0)[telling]
    spread = spread[telling]
    statistics = [*compress(statistics, telling)]
    extremes = (_values(statistics, observed)[0] - centre) / spread
    reached = np.zeros(len(extremes), dtype=np.int64)
    draws = 0
    while draws < DRAWS and reached[extremes.argmax()] < ENOUGH:
        size = min(BLOCK, DRAWS - draws)
        values = _values(statistics, exchange.masks(size, rng))
        largest = ((values - centre) / spread).max(axis=1)
        reached += (largest[:, None] - extremes >= -TIE).sum(axis=0)
        draws += size
    p_values = (reached + 1) / (draws + 1)
    result: dict[str, float] = {}
    for (name, _), p in zip(statistics, p_values.tolist(), strict=True):
        result[name] = min(p, result.get(name, 1.0))
    return result


class _Exchange:
    """Draws masks: branches of equal shape change places, at each level, and then rows.

    Which masks are drawn depends on what is drawn of each branch, and not of which one, so that
    each mask that may have been seen is held against the same draws.
    """

    def __init__(self, rows: DrawnRows) -> None:
        # branches alike in both are alike
        leaves = 2 * codes_of(rows.strata) + rows.drawn
        rows = rows.take(_tree_order(rows.levels, rows.strata, leaves))
        self.drawn = rows.drawn.astype(np.float64)
        self.strata = codes_of(rows.strata)
        self.nodes: list[IntArray] = []  # [n] branch of each row, by level
        self.shapes: list[IntArray] = []  # [branches] code of each shape, by level
        shapes = _branch_codes(rows.levels, self.strata)
        for level, shape in zip(rows.levels, shapes, strict=True):
            _, first = np.unique(level, return_index=True)
            first.sort()
            self.nodes.append(numbered(level.tolist(), len(level)))
            self.shapes.append(shape[first])

    def masks(self, size: int, rng: np.random.Generator) -> FloatArray:
        """[size, n] masks in the order of `_tree_order`, all of them as likely."""
        place = np.zeros((size, len(self.drawn)))
        for node, shape in zip(self.nodes, self.shapes, strict=True):
            keys = shape + rng.random((size, len(shape)))
            ranks = keys.argsort(axis=1).argsort(axis=1)
            place = place * len(shape) + ranks[:, node]
        strata = int(self.strata.max()) + 1
        place = place * strata + self.strata + rng.random(place.shape)
        return self.drawn[place.argsort(axis=1)]


def distance(values: FloatArray, strata: IntArray) -> Statistic:
    """Kolmogorov-Smirnov's distance of drawn rows from the others, within strata.

    It is the largest sum, over rows up to a value, of what was drawn less the share drawn in the
    stratum; values count as shares of their stratum that are no larger. In one stratum of n rows, m
    of them drawn, that is m (n - m) / n times D.
    """
    rows = np.flatnonzero(~np.isnan(values))
    codes = codes_of(strata[rows])
    up_to = np.zeros(len(rows))
    for code in range(int(codes.max(initial=-1)) + 1):
        inside = codes == code
        mine = np.sort(values[rows][inside])
        up_to[inside] = np.searchsorted(mine, values[rows][inside], "right") / len(mine)
    order = np.argsort(up_to, kind="stable")
    ends = np.flatnonzero(np.diff(up_to[order], append=2.0) > 0)
    rows = rows[order]
    codes = codes[order]

    def largest(masks: FloatArray) -> FloatArray:
        surplus = _less_share(masks[:, rows], codes)
        sums = np.cumsum(surplus, axis=1)[:, ends]
        return np.asarray(np.abs(sums).max(axis=1, initial=0.0))

    return largest


def few_runs(place: IntArray, strata: IntArray) -> Statistic:
    """Minus the number of times that drawn rows and others alternate in a stratum.

    Regular draws, such as each fifth row, change often, and are not what is looked for.
    """
    order = np.lexsort((place, strata))
    together = strata[order][1:] == strata[order][:-1]

    def changes(masks: FloatArray) -> FloatArray:
        ordered = masks[:, order]
        changed = ordered[:, 1:] != ordered[:, :-1]
        return np.asarray(-(changed & together).sum(axis=1), dtype=np.float64)

    return changes


def uneven(kinds: IntArray, strata: IntArray) -> Statistic:
    """The distance of the shares of kinds: the root of squared surpluses, each over its rows.

    As the root of Pearson's chi squared it has no long tail, which would outweigh other columns.
    """
    codes = codes_of(kinds)
    of_kind = np.eye(int(codes.max()) + 1)[codes]
    sizes = of_kind.sum(axis=0)

    def root(masks: FloatArray) -> FloatArray:
        surplus = _less_share(masks, strata) @ of_kind
        return np.asarray(np.sqrt((np.square(surplus) / sizes).sum(axis=1)))

    return root


def _less_share(masks: FloatArray, strata: IntArray) -> FloatArray:
    """[b, n] masks less the share that each draws in a row's stratum."""
    codes = codes_of(strata)
    inside = np.eye(int(codes.max(initial=-1)) + 1)[codes]
    shares = masks @ inside / inside.sum(axis=0)
    return np.asarray(masks - shares[:, codes])


def _statistics(rows: DrawnRows) -> list[tuple[str, Statistic]]:
    """Each column's statistics by its name; a place in the file has two."""
    statistics = [
        (name, distance(rows.numbers[name], rows.strata))
        for name in sorted(rows.numbers)
    ]
    if len(rows.place):
        statistics.append((PLACE, distance(rows.place.astype(np.float64), rows.strata)))
        statistics.append((PLACE, few_runs(rows.place, rows.strata)))
    if len(rows.kinds):
        statistics.append((KIND, uneven(rows.kinds, rows.strata)))
    return statistics


def _values(
    statistics: Sequence[tuple[str, Statistic]], masks: FloatArray
) -> FloatArray:
    """[b, k] each statistic of each mask."""
    return np.stack([statistic(masks) for _, statistic in statistics], axis=1)


def _branch_codes(levels: Sequence[IntArray], leaves: IntArray) -> list[IntArray]:
    """[n] a code of each row's branch, by level: equal if its leaves are, however they are ordered.

    Codes are sorted as what they stand for.
    """
    codes: list[IntArray] = []
    parts = leaves
    below = np.arange(len(leaves))
    for level in reversed(levels):
        children: dict[int, dict[int, int]] = {}
        rows = zip(level.tolist(), below.tolist(), parts.tolist(), strict=True)
        for branch, child, code in rows:
            children.setdefault(branch, {})[child] = code
        shapes = {
            branch: tuple(sorted(inner.values())) for branch, inner in children.items()
        }
        numbers = {shape: code for code, shape in enumerate(sorted({*shapes.values()}))}
        of_rows = [numbers[shapes[branch]] for branch in level.tolist()]
        parts = np.array(of_rows, dtype=np.int64)
        below = level
        codes.insert(0, parts)
    return codes


def _canonical(rows: DrawnRows) -> DrawnRows:
    """The rows in the order of `_tree_order`, by all columns."""
    nested = _nested(rows.levels)
    columns: list[Column] = [rows.strata]
    columns += [rows.numbers[name] for name in sorted(rows.numbers)]
    columns += [column for column in (rows.place, rows.kinds) if len(column)]
    table = np.stack([codes_of(column) for column in columns], axis=1)
    leaves = np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)
    return replace(rows, levels=nested).take(_tree_order(nested, rows.strata, leaves))


def _tree_order(
    levels: Sequence[IntArray], strata: IntArray, leaves: IntArray
) -> IntArray:
    """[n] rows, branch by branch: by the shape of a branch, and then by the codes of its rows.

    So the order depends on no number of a branch, and places have the same shape whatever the codes
    are.
    """
    keys: list[IntArray] = []
    shapes = _branch_codes(levels, codes_of(strata))
    contents = _branch_codes(levels, codes_of(leaves))
    for level, shape, content in zip(levels, shapes, contents, strict=True):
        keys += [shape, content, level]
    return np.lexsort([leaves, strata, *reversed(keys)])


def _nested(levels: Sequence[IntArray]) -> list[IntArray]:
    """Levels each of which divides the one before it; those that add nothing are left out."""
    nested: list[IntArray] = []
    for level in levels:
        above = nested[-1] if nested else np.zeros_like(level)
        pairs = np.stack([above, level], axis=1)
        inner = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)
        branches = len(np.unique(inner))
        if branches < len(level) and branches > len(np.unique(above)):
            nested.append(inner)
    return nested


def _thinned(rows: DrawnRows, rng: np.random.Generator) -> DrawnRows:
    """About the most rows that are looked at, in whole branches of the outermost level."""
    outermost = rows.levels[0].tolist() if rows.levels else ()
    branch = numbered(outermost, len(rows.drawn))
    order = rng.permutation(int(branch.max()) + 1)
    up_to = np.cumsum(np.bincount(branch)[order])
    branches = order[: max(1, int((up_to <= MOST_ROWS).sum()))]
    return rows.take(np.flatnonzero(np.isin(branch, branches)))
