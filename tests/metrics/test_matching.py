"""Thresholded sums of the compiled loop, against dense similarities and plain Python."""

from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.metrics import postings
from refless.metrics.kernels.bleu import PreparedBleu, bleu_star
from refless.metrics.matching import PLAIN, Exclusions, Work, hold_out
from refless.registry.arrays import FloatArray, IntArray
from refless.text.ngrams import Shape
from slow_twins import table

TEXT = st.text("aab \U0001f98a", min_size=0, max_size=16)
POOL = st.lists(st.tuples(TEXT, st.integers(-(2**40), 2**40)), max_size=14)
SHAPES = st.builds(
    lambda orders, clip: Shape(low=orders[0], high=orders[1], clip=clip),
    st.sampled_from([(2, 4), (1, 3), (2, 2), (1, 4)]),
    st.booleans(),
)
GROUPS = st.integers(-1, 3)

# enough of a vocabulary for many blocks and all three orders
RATED = [
    f"{a} {b} {c}"
    for a, b, c in product(("fox", "dog", "the"), "abcd", ("is", "was q"))
]
OUTPUTS = [*RATED[::5], "the fox is quick", "", "abc", "the dog was a fox", "zzzz"] * 30
VALUES = np.arange(len(RATED)) * 7 - 50


class Sums(NamedTuple):
    """[outputs, thresholds] number of neighbours, and the sum of their values."""

    counts: IntArray
    sums: IntArray


def sums_of(
    prepared: PreparedBleu,
    texts: list[str],
    values: IntArray,
    taus: FloatArray,
    work: Work = PLAIN,
) -> Sums:
    """Of each threshold."""
    columns = [
        prepared.neighbor_sums(texts, values, tau, work) for tau in taus.tolist()
    ]
    return Sums(*(np.stack(arrays, axis=1) for arrays in zip(*columns, strict=True)))


def dense(texts: list[str], rated: list[str], shape: Shape) -> FloatArray:
    """Twin similarities; -1 for outputs of too few tokens, which have no neighbours."""
    similarities = table(partial(bleu_star, shape=shape), texts, rated)
    similarities[[len(text) < shape.high for text in texts]] = -1.0
    return similarities


def hidden(groups: IntArray, rated_groups: IntArray) -> np.ndarray:
    """[outputs, rated texts] what each output must not see."""
    return (groups[:, None] >= 0) & (groups[:, None] == rated_groups[None, :])


def twin_sums(near: FloatArray, values: IntArray, taus: FloatArray) -> Sums:
    """Counts and sums from dense similarities, in Python's integers."""
    counts = []
    sums = []
    for row, tau in product(near, taus):
        inside = [k for k, similarity in enumerate(row) if similarity >= tau - 1e-12]
        counts.append(len(inside))
        sums.append(sum(int(values[k]) for k in inside))
    shape = (len(near), len(taus))
    return Sums(np.array(counts).reshape(shape), np.array(sums).reshape(shape))


def some_taus(near: FloatArray) -> FloatArray:
    """0, 1, the published one, similarities that occur, and some just beyond and below them."""
    attained = np.unique(near[near > 0])[:6]
    return np.array([1.0, 0.08, 0.0, *attained, *(attained + 1e-9), *(attained - 1e-9)])


def same(one: Sums, other: Sums) -> None:
    """All arrays bitwise equal."""
    for name in Sums._fields:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@given(st.lists(st.tuples(TEXT, GROUPS), max_size=6), POOL, SHAPES, st.data())
def test_sums_equal_the_twin(
    outputs: list[tuple[str, int]],
    pool: list[tuple[str, int]],
    shape: Shape,
    data: st.DataObject,
) -> None:
    """For many thresholds at once, with groups held out."""
    texts = [x for x, _ in outputs]
    groups = np.array([g for _, g in outputs], dtype=np.int64)
    rated = [s for s, _ in pool]
    values = np.array([v for _, v in pool], dtype=np.int64)
    drawn = data.draw(st.lists(GROUPS, min_size=len(pool), max_size=len(pool)))
    rated_groups = np.array(drawn, dtype=np.int64)
    near = dense(texts, rated, shape)
    taus = some_taus(near)
    prepared = PreparedBleu.build(rated, shape)
    same(sums_of(prepared, texts, values, taus), twin_sums(near, values, taus))
    near[hidden(groups, rated_groups)] = -1.0
    held = hold_out(groups, rated_groups)
    found = sums_of(prepared, texts, values, taus, Work(held=held))
    same(found, twin_sums(near, values, taus))


def test_a_threshold_that_is_attained_counts_as_in() -> None:
    """(3/4 * 2/3 * 1/2)^(1/3) by hand; a hair above it is out."""
    attained = 0.25 ** (1 / 3)
    taus = np.array([attained, attained + 5e-13, attained + 1e-11])
    prepared = PreparedBleu.build(["abcdx"], Shape())
    assert sums_of(prepared, ["abcde"], np.array([3]), taus).counts.tolist() == [
        [1, 1, 0]
    ]


def test_thresholds_at_the_ends() -> None:
    """0 takes every text in, 1 only copies (and what is contained in full)."""
    prepared = PreparedBleu.build(["abcd", "wxyz", ""], Shape())
    sums = sums_of(
        prepared, ["abcd", "abc"], np.array([1, 10, 100]), np.array([0.0, 1.0])
    )
    assert sums.counts.tolist() == [
        [3, 1],
        [0, 0],
    ]  # "abc" is too short for any neighbour
    assert sums.sums.tolist() == [[111, 1], [0, 0]]


def test_long_texts_are_summed_like_the_twin() -> None:
    """In one block with short ones; taus that are attained."""
    rated = [
        "a" * 1_030,
        "a" * 900 + "b" * 300,
        "ab" * 600,
        "aab",
        "a" * 50,
        "b" * 2_000,
    ]
    texts = ["a" * 1_100, "ab" * 520, "a" * 60, "b" * 1_025]
    values = 10 ** np.arange(6)
    for shape in (Shape(), Shape(clip=False), Shape(low=1, high=4)):
        near = dense(texts, rated, shape)
        taus = np.array([0.0, 1.0, *np.unique(near)])
        prepared = PreparedBleu.build(rated, shape)
        same(sums_of(prepared, texts, values, taus), twin_sums(near, values, taus))


def outcome(threads: int | None = 1) -> tuple[Sums, FloatArray]:
    """Both results of one fixed task, with groups held out."""
    prepared = PreparedBleu.build(RATED, Shape())
    held = hold_out(np.arange(len(OUTPUTS)) % 9 - 1, np.arange(len(RATED)) % 8)
    work = Work(held=held, threads=threads)
    taus = np.array([0.3, 0.0, 0.08, 1.0])
    return (
        sums_of(prepared, OUTPUTS, VALUES, taus, work),
        prepared.similarities(OUTPUTS, work),
    )


def assert_same_outcome(
    one: tuple[Sums, FloatArray], other: tuple[Sums, FloatArray]
) -> None:
    """Bitwise equality of both results."""
    same(one[0], other[0])
    assert np.array_equal(one[1], other[1])


def test_the_fixed_task_is_worth_comparing() -> None:
    """It equals the twin, and thresholds and groups matter in it."""
    near = dense(OUTPUTS, RATED, Shape())
    near[hidden(np.arange(len(OUTPUTS)) % 9 - 1, np.arange(len(RATED)) % 8)] = -1.0
    sums, _ = outcome()
    same(sums, twin_sums(near, VALUES, np.array([0.3, 0.0, 0.08, 1.0])))
    assert (sums.counts.sum(axis=0) > 0).all()
    assert len(set(sums.counts.sum(axis=0).tolist())) == 4


@pytest.mark.parametrize("threads", [2, 5, None])
def test_threads_change_nothing(
    threads: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With chunks of outputs so small that every thread has several."""
    wanted = outcome()
    monkeypatch.setattr("refless.metrics.kernels.bleu.BLOCK_ROWS", 7)
    assert_same_outcome(outcome(threads=threads), wanted)


@pytest.mark.parametrize(
    ("name", "value"),
    [("BLOCK", 1), ("BLOCK", 7), ("SHARE", 0.2), ("SHARE", 1.0)],
)
def test_postings_change_nothing(
    name: str, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of rated texts, and how many features are kept as bits: few, or none."""
    wanted = outcome()
    monkeypatch.setattr(postings, name, value)
    assert_same_outcome(outcome(threads=2), wanted)


def test_a_failure_in_a_thread_is_raised() -> None:
    """Not swallowed."""

    def broken(share: float) -> None:
        raise OSError("no terminal")

    prepared = PreparedBleu.build(RATED, Shape())
    with pytest.raises(OSError, match="no terminal"):
        prepared.neighbor_sums(OUTPUTS, VALUES, 0.1, Work(progress=broken))


def test_rated_texts_lie_by_length_and_row() -> None:
    """Brevity penalties are computed once for texts of one length."""
    built = PreparedBleu.build(["bb", "a", "", "aa", "b"], Shape()).postings
    assert built.rows.tolist() == [2, 1, 4, 0, 3]
    assert built.lengths.tolist() == [0, 1, 1, 2, 2]


def test_hold_out_lists_each_group() -> None:
    """By hand: groups 0 and 2, one text of no group."""
    held = hold_out(np.array([2, -1]), np.array([2, 0, -1, 2]))
    assert isinstance(held, Exclusions)
    groups = [
        held.places[a:b].tolist()
        for a, b in zip(held.starts, held.starts[1:], strict=False)
    ]
    assert groups == [[1], [], [0, 3]]
