"""The human rating of texts, against exact fractions."""

import math
import random
import statistics
from fractions import Fraction
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.data.human import (
    EXACT,
    canonical_order,
    check_scale,
    decimals_of,
    exact_ratings,
    fingerprint,
    human_ratings,
    pool_of,
    scaled,
    unscaled,
)
from refless.data.records import RatedPool, Ratings
from refless.registry.arrays import FloatArray
from refusals import bad_input, bad_usage

Rows = list[list[str]]  # the ratings of each text, as people write them


def decimal_numbers(decimals: int) -> st.SearchStrategy[str]:
    """Numbers from -9 to 99 with so many decimals."""
    unit = 10**decimals
    return st.integers(-9 * unit, 99 * unit).map(lambda i: f"{i / unit:.{decimals}f}")


def rated(least: int = 1) -> st.SearchStrategy[Rows]:
    """Ratings of some texts, all with the same number of decimals."""
    return st.integers(0, 4).flatmap(
        lambda decimals: st.lists(
            st.lists(decimal_numbers(decimals), min_size=1, max_size=6),
            min_size=least,
            max_size=9,
        )
    )


def flat(rows: Rows) -> Ratings:
    """The rows as parallel arrays."""
    text = np.repeat(np.arange(len(rows)), [len(row) for row in rows]).astype(np.int64)
    values = np.array([*map(float, chain.from_iterable(rows))], dtype=np.float64)
    return Ratings(text=text, annotator=np.zeros_like(text), values=values)


@given(rated())
def test_ratings_are_exact(rows: Rows) -> None:
    """The nearest float to the true mean, as the standard library's on fractions."""
    expected = [float(statistics.mean([*map(Fraction, row)])) for row in rows]
    assert human_ratings(flat(rows), len(rows)).tolist() == expected


@given(rated(least=2))
def test_order_of_truths_is_the_true_one(rows: Rows) -> None:
    """Ties stay ties and a larger rating is not smaller, after scaling too."""
    true = [statistics.mean(map(Fraction, row)) for row in rows]
    for scale in (None, (-9.0, 99.0), (-10.0, 107.3)):
        ours = human_ratings(flat(rows), len(rows), scale=scale)
        for i in range(len(rows)):
            for j in range(len(rows)):
                assert (ours[i] == ours[j]) == (true[i] == true[j])
                assert (ours[i] < ours[j]) == (true[i] < true[j])


def test_sums_over_texts_are_exact() -> None:
    """The mean over texts, by hand: ((1 + 2) / 2 + (1 + 1 + 2) / 3 + 4) / 3 = 41 / 18."""
    exact = exact_ratings(flat([["1", "2"], ["1", "1", "2"], ["4"]]), 3)
    sums = np.array([exact.numerators.sum(), 0], dtype=np.int64)
    mean, nothing = exact.means(sums, np.array([3, 0], dtype=np.int64))
    assert mean == 41 / 18
    assert np.isnan(nothing)


def of_many_sizes() -> Rows:
    """Texts with 1 to 60 ratings, whose least common multiple no float holds; all means are 2.5."""
    return [["2.4", "2.6"] * n if n % 2 else ["2.5"] * n for n in range(1, 61)]


def test_fixed_point_keeps_ties() -> None:
    """If one denominator will not do, ties are still ties, and near the true value."""
    rows = [*of_many_sizes(), ["2.4999"]]
    human = human_ratings(flat(rows), len(rows))
    assert len(set(human[:-1].tolist())) == 1
    assert human[0] == pytest.approx(2.5, abs=1e-12)
    assert human[-1] < human[0]


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20),
    st.randoms(use_true_random=False),
)
def test_fixed_point_of_any_floats(
    values: list[float], shuffler: random.Random
) -> None:
    """Ratings that are no decimals: true to 1e-9 of their size, and sums know no order."""
    values.append(1 / 3)
    exact = exact_ratings(flat([[repr(value)] for value in values]), len(values))
    ours = exact.means(exact.numerators, np.ones(len(values), dtype=np.int64))
    np.testing.assert_allclose(ours, values, atol=1e-9 * max(map(abs, values)))
    assert abs(int(exact.numerators.sum())) < EXACT
    assert sum(map(int, exact.numerators)) == int(exact.numerators.sum())


@given(
    st.lists(
        st.lists(st.integers(0, 50_000), min_size=1, max_size=4),
        min_size=1,
        max_size=20,
    ),
    st.sampled_from([1e12, -1e12, 1e9]),
)
def test_one_huge_rating_rounds_no_other(rows: list[list[int]], huge: float) -> None:
    """Each text's rating is the fraction nearest to its own ratings', whatever else is there."""
    decimal = [[*map("{:.4f}".format, np.array(row) / 10_000)] for row in rows]
    found = human_ratings(flat([*decimal, [repr(huge)]]), len(rows) + 1)
    wanted = [float(statistics.mean([*map(Fraction, row)])) for row in decimal]
    assert found.tolist() == [*wanted, huge]


def test_tiny_and_huge_ratings() -> None:
    """However small, no overflow; numbers too large to be summed exactly are refused."""
    for tiny in (1e-12, 1.23456789e-200, 5e-324, 0.0):
        human = human_ratings(flat([[repr(tiny)]]), 1)
        assert human[0] == pytest.approx(tiny, rel=1e-9, abs=1e-300)
    for huge in (1e16, 1e300, 1.7e308):
        with bad_usage("too large"):
            human_ratings(flat([[repr(huge)], [repr(huge)]]), 2)


@pytest.mark.parametrize(
    ("values", "decimals"),
    [
        ([], 0),
        ([1.0, 5.0], 0),
        ([4.8], 1),
        ([0.125, 3], 3),
        ([1e-6], 6),
        ([1e-7], None),
    ],
)
def test_decimals(values: list[float], decimals: int | None) -> None:
    """The number of decimals that people wrote; None beyond six."""
    assert decimals_of(np.array(values, dtype=np.float64)) == decimals


@given(st.floats(-5, 5), st.floats(0.1, 10), st.floats(0, 1))
def test_scale_goes_both_ways(low: float, width: float, share: float) -> None:
    """The ends become 0 and 1, and unscaled() undoes scaled()."""
    scale = (low, low + width)
    assert scaled(np.array(scale), scale).tolist() == [0.0, 1.0]
    value = np.array([share])
    np.testing.assert_allclose(scaled(unscaled(value, scale), scale), value, atol=1e-9)
    assert unscaled(value, None) is value
    assert scaled(value, None) is value


@pytest.mark.parametrize(
    "scale", [(5, 1), (1, 1), (1, np.inf), (-np.inf, 1), (np.nan, 1)]
)
def test_scales_that_are_none(scale: tuple[float, float]) -> None:
    """Turned round, empty or not finite."""
    with bad_usage("a scale needs two numbers"):
        check_scale(scale)


def test_pool_of_lists() -> None:
    """By hand: on 1 to 5, ratings 1 and 2 are 0.125, a 5 is 1."""
    pool = pool_of(["a", "b"], [[1, 2], [5]], scale=(1, 5), systems=["x", "y"])
    assert pool.ids == ("1", "2")
    assert pool.human.tolist() == [0.125, 1.0]
    assert pool.systems == ("x", "y")
    assert pool.ratings.text.tolist() == [0, 0, 1]
    assert not pool.named


def test_pool_of_arrays_and_single_ratings() -> None:
    """A column or a matrix of ratings, nothing, a pool; lists of the caller stay as they are."""
    matrix: FloatArray = np.array([[1.0, 3.0], [2.0, 2.0]])
    pool = pool_of(["a", "b"], matrix)
    assert pool.human.tolist() == [2.0, 2.0]
    assert pool_of(["a", "b"], [4.5, 1]).human.tolist() == [4.5, 1.0]
    assert matrix.tolist() == [[1.0, 3.0], [2.0, 2.0]]
    assert len(pool_of([], [])) == 0
    assert pool_of(pool) is pool


def build(**changes: object) -> RatedPool:
    """A sound pool of two texts but for the changes."""
    sound: dict[str, object] = {"texts": ["a", "b"], "ratings": [1.0, 2.0]}
    return pool_of(**{**sound, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"texts": "ab"}, "list of texts"),
        ({"ratings": None}, "list of ratings"),
        ({"ratings": [1.0]}, "2 texts but 1 ratings"),
        ({"ratings": []}, "2 texts but 0 ratings"),
        ({"ids": ["a", "a"]}, "unique"),
        ({"systems": ["x"]}, "2 texts but 1 systems"),
        ({"tasks": ["x"] * 3}, "2 texts but 3 tasks"),
        ({"scale": (5, 1)}, "a scale needs two numbers"),
        ({"texts": build()}, "own ratings"),
        ({"texts": {"text": ["a"]}}, "read_pool reads a whole table"),
        ({"ratings": {"a": 1, "b": 2}}, "a list of ratings"),
        ({"ratings": [[1, 2], [3]], "annotators": "xy"}, "each text needs 2 ratings"),
        (
            {"ratings": [[1, 2], [3, 4]], "annotators": "xx"},
            "annotators must be unique",
        ),
    ],
)
def test_pool_of_wrong_arguments(changes: dict[str, object], message: str) -> None:
    """A setting that cannot be honoured is said."""
    with bad_usage(message):
        build(**changes)


@pytest.mark.parametrize(
    "ratings",
    [
        [1.0, []],
        [1.0, float("nan")],
        [float("inf"), 1.0],
        [1, 6],
        [[1, 2], [None, math.nan]],
        [[1, 2], [3, math.inf]],
    ],
)
def test_pool_of_wrong_ratings(ratings: list[object]) -> None:
    """No rating, one that is no number, one outside the scale: the text is named."""
    with bad_input(r"text [12] has (no finite|a) rating"):
        build(ratings=ratings, scale=(1, 5))


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "ab", "\ud800"]),
        st.sampled_from("xy"),
        st.integers(1, 5),
    ),
    min_size=1,
    max_size=8,
)


@given(ROWS, st.randoms(use_true_random=False))
def test_canonical_order_forgets_the_order_of_rows(
    rows: list[tuple[str, str, int]], shuffler: random.Random
) -> None:
    """However the rows came: the same texts, human ratings and fingerprint."""
    mixed = shuffler.sample(rows, len(rows))
    one, two = (canonical(those) for those in (rows, mixed))
    assert (one.texts, one.systems) == (two.texts, two.systems)
    assert one.human.tolist() == two.human.tolist()
    assert fingerprint(one) == fingerprint(two)


def canonical(rows: list[tuple[str, str, int]]) -> RatedPool:
    """A pool of (text, system, rating), its rows in canonical order."""
    texts, systems, ratings = zip(*rows, strict=True)
    pool = pool_of(texts, ratings, systems=systems, scale=(1, 5))
    return pool.take(canonical_order(pool))


def test_fingerprint_sees_every_difference() -> None:
    """Texts, their borders, ratings, scale and columns all count."""
    pools = [
        build(),
        build(texts=["a", "c"]),
        build(texts=["ab", ""]),
        build(texts=["", "ab"]),
        build(ratings=[1.0, 2.5]),
        build(scale=(1, 5)),
        build(scale=(0, 5)),
        build(systems=["x", "y"]),
        build(items=["x", "y"]),
    ]
    assert len({fingerprint(pool) for pool in pools}) == len(pools)


def test_pool_of_named_annotators() -> None:
    """A table of texts by annotators; None and NaN were not rated; a data frame is its rows."""
    rows = [[1, None, 3], [math.nan, 2, 4]]
    pool = pool_of(["a", "b"], rows, annotators=["zoe", "ann", "bob"])
    assert pool.human.tolist() == [2.0, 3.0]
    assert pool.ratings.annotators == ("ann", "bob", "zoe")
    assert pool.ratings.annotator.tolist() == [2, 1, 0, 1]
    assert pool.ratings.values.tolist() == [1, 3, 2, 4]

    class Frame(list):  # what pandas' has: iterating gives labels, to_numpy the rows
        def to_numpy(self) -> np.ndarray:
            return np.array(rows, dtype=np.float64)

    framed = pool_of(["a", "b"], Frame(["x", "y"]), annotators=["zoe", "ann", "bob"])
    assert framed.human.tolist() == [2.0, 3.0]


def test_pool_of_the_columns_of_a_frame() -> None:
    """Arrays as pandas gives them: ids may be numbers, blank sources are NaN."""
    sources = np.array(["p", math.nan], dtype=object)
    texts = np.array(["a", "b"], dtype=object)
    pool = pool_of(texts, np.array([1, 2]), ids=np.array([7, 8]), sources=sources)  # type: ignore[arg-type]
    assert (pool.ids, pool.texts, pool.sources) == (("7", "8"), ("a", "b"), ("p", ""))
    assert pool.named
