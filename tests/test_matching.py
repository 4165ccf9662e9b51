"""Thresholded sums of the compiled loop, against dense similarities and plain Python."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.metrics import matching, postings
from refless.metrics.kernels.bleu import PreparedBleu, bleu_star
from refless.metrics.matching import Exclusions, Sums, WeightedSums, Work, hold_out
from refless.metrics.postings import postings_of
from refless.registry.arrays import FloatArray, IntArray
from refless.text.ngrams import Shape, learn, look_up

TEXT = st.text("aab \U0001f98a", min_size=0, max_size=16)
POOL = st.lists(st.tuples(TEXT, st.integers(-(2**40), 2**40)), max_size=14)
SHAPES = st.builds(
    lambda orders, clip: Shape(low=orders[0], high=orders[1], clip=clip),
    st.sampled_from([(2, 4), (1, 3), (2, 2), (1, 4)]), st.booleans(),
)  # fmt: skip
GROUPS = st.integers(-1, 3)

# enough of a vocabulary for many blocks, bit words and all three orders
RATED = [f"{a} {b} {c}" for a in ("fox", "dog", "the") for b in "abcd" for c in ("is", "was q")]
OUTPUTS = [*RATED[::5], "the fox is quick", "", "abc", "the dog was a fox", "zzzz"] * 30
VALUES = np.arange(len(RATED)) * 7 - 50


def dense(texts: list[str], rated: list[str], shape: Shape) -> FloatArray:
    """Twin similarities; -1 for outputs of too few tokens, which have no neighbours."""
    pairs = [
        [bleu_star(x, s, shape) if len(x) >= shape.high else -1.0 for s in rated] for x in texts
    ]
    return np.array(pairs, dtype=np.float64).reshape(len(texts), len(rated))


def hidden(groups: IntArray, rated_groups: IntArray) -> np.ndarray:
    """[outputs, rated texts] what each output must not see."""
    return (groups[:, None] >= 0) & (groups[:, None] == rated_groups[None, :])


def twin_sums(near: FloatArray, values: IntArray, taus: FloatArray) -> Sums:
    """Counts and sums from dense similarities, in Python's integers."""
    inside = [[[k for k, s in enumerate(row) if s >= t - 1e-12] for t in taus] for row in near]
    counts = [[len(k) for k in row] for row in inside]
    sums = [[sum(int(values[i]) for i in k) for k in row] for row in inside]
    shape = (len(near), len(taus))
    return Sums(np.array(counts).reshape(shape), np.array(sums).reshape(shape))


def some_taus(near: FloatArray) -> FloatArray:
    """0, 1, the published one, similarities that occur, and some just beyond and below them."""
    attained = np.unique(near[near > 0])[:6]
    return np.array([1.0, 0.08, 0.0, *attained, *(attained + 1e-9), *(attained - 1e-9)])


def same(one: Sums | WeightedSums, other: Sums | WeightedSums) -> None:
    """All arrays bitwise equal."""
    for name in type(one).__slots__:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@given(st.lists(st.tuples(TEXT, GROUPS), max_size=6), POOL, SHAPES, st.data())
def test_sums_equal_the_twin(
    outputs: list[tuple[str, int]], pool: list[tuple[str, int]], shape: Shape, data: st.DataObject
) -> None:
    """For many thresholds at once, with groups held out."""
    texts, groups = [x for x, _ in outputs], np.array([g for _, g in outputs], dtype=np.int64)
    rated, values = [s for s, _ in pool], np.array([v for _, v in pool], dtype=np.int64)
    drawn = data.draw(st.lists(GROUPS, min_size=len(pool), max_size=len(pool)))
    rated_groups = np.array(drawn, dtype=np.int64)
    near = dense(texts, rated, shape)
    taus = some_taus(near)
    prepared = PreparedBleu.build(rated, shape)
    same(prepared.neighbor_sums(texts, values, taus), twin_sums(near, values, taus))
    near[hidden(groups, rated_groups)] = -1.0
    held = hold_out(groups, rated_groups)
    found = prepared.neighbor_sums(texts, values, taus, Work(held=held))
    same(found, twin_sums(near, values, taus))


@given(st.lists(st.tuples(TEXT, GROUPS), max_size=6), POOL, SHAPES, st.sampled_from([0.5, 1, 2]))
def test_weighted_sums_equal_the_twin(
    outputs: list[tuple[str, int]], pool: list[tuple[str, int]], shape: Shape, power: float
) -> None:
    """Each neighbour weighs similarity**power; a similarity of 0 is no neighbour."""
    texts, groups = [x for x, _ in outputs], np.array([g for _, g in outputs], dtype=np.int64)
    rated = [s for s, _ in pool]
    values = np.array([v for _, v in pool], dtype=np.float64) / 2**40
    rated_groups = np.arange(len(pool)) % 5 - 1
    near = dense(texts, rated, shape)
    near[hidden(groups, rated_groups)] = -1.0
    prepared, held = PreparedBleu.build(rated, shape), hold_out(groups, rated_groups)
    for tau in some_taus(near)[:6]:
        weights = np.where((near >= tau - 1e-12) & (near > 0), near, 0.0)
        found = prepared.weighted_sums(texts, values, float(tau), power, Work(held=held))
        assert np.array_equal(found.counts, (weights > 0).sum(axis=1))
        wanted = np.where(weights > 0, weights**power, 0.0)
        np.testing.assert_allclose(found.weights, wanted.sum(axis=1), rtol=1e-9)
        np.testing.assert_allclose(found.sums, wanted @ values, rtol=1e-9, atol=1e-9)


def test_a_threshold_that_is_attained_counts_as_in() -> None:
    """(3/4 * 2/3 * 1/2)^(1/3) by hand; a hair above it is out."""
    attained = 0.25 ** (1 / 3)
    taus = np.array([attained, attained + 5e-13, attained + 1e-11])
    prepared = PreparedBleu.build(["abcdx"], Shape())
    assert prepared.neighbor_sums(["abcde"], np.array([3]), taus).counts.tolist() == [[1, 1, 0]]
    for tau, count in zip(taus, (1, 1, 0), strict=True):
        weighted = prepared.weighted_sums(["abcde"], np.array([3.0]), float(tau), 2.0)
        assert weighted.counts.tolist() == [count]


def test_thresholds_at_the_ends() -> None:
    """0 takes every text in, 1 only copies (and what is contained in full)."""
    prepared = PreparedBleu.build(["abcd", "wxyz", ""], Shape())
    sums = prepared.neighbor_sums(["abcd", "abc"], np.array([1, 10, 100]), np.array([0.0, 1.0]))
    assert sums.counts.tolist() == [[3, 1], [0, 0]]  # "abc" is too short for any neighbour
    assert sums.sums.tolist() == [[111, 1], [0, 0]]


def test_long_texts_are_summed_like_the_twin() -> None:
    """Some beyond the packed counters, some not, in one block; taus that are attained."""
    rated = ["a" * 1_030, "a" * 900 + "b" * 300, "ab" * 600, "aab", "a" * 50, "b" * 2_000]
    texts = ["a" * 1_100, "ab" * 520, "a" * 60, "b" * 1_025]
    values = 10 ** np.arange(6)
    for shape in (Shape(), Shape(clip=False), Shape(low=1, high=4)):
        near = dense(texts, rated, shape)
        taus = np.array([0.0, 1.0, *np.unique(near)])
        prepared = PreparedBleu.build(rated, shape)
        same(prepared.neighbor_sums(texts, values, taus), twin_sums(near, values, taus))


def test_a_weight_that_is_too_small_for_a_number_is_no_neighbor() -> None:
    """exp(1 - 2400/4) is a similarity, its square is 0: no weight, so no estimate from it."""
    prepared = PreparedBleu.build(["abcd" * 600], Shape())
    found = prepared.weighted_sums(["abcd"], np.ones(1), 0.0, 2.0)
    assert prepared.similarities(["abcd"])[0, 0] > 0
    assert (found.counts.tolist(), found.weights.tolist()) == ([0], [0.0])


def outcome(**settings: object) -> tuple[Sums, WeightedSums, FloatArray]:
    """All three results of one fixed task, with groups held out."""
    words, threads = settings.get("words"), settings.get("threads", 1)
    shape = Shape()
    known, features = learn(RATED, shape)
    starts = np.array([*(int(f[0]) for f in known.firsts), known.features], dtype=np.int64)
    pool = postings_of(features, starts, shape.low, clip=True, words=words)
    outputs = look_up(OUTPUTS, known)
    held = hold_out(np.arange(len(OUTPUTS)) % 9 - 1, np.arange(len(RATED)) % 8)
    work = Work(held=held, threads=threads)
    taus = np.array([0.3, 0.0, 0.08, 1.0])
    return (
        matching.neighbor_sums(pool, outputs, VALUES, taus, work),
        matching.weighted_sums(pool, outputs, VALUES / 7, 0.1, 2.0, work),
        matching.similarities(pool, outputs, work),
    )


def assert_same_outcome(one: tuple, other: tuple) -> None:
    """Bitwise equality of all three results."""
    same(one[0], other[0])
    same(one[1], other[1])
    assert np.array_equal(one[2], other[2])


def test_the_fixed_task_is_worth_comparing() -> None:
    """It equals the twin, and thresholds, groups and weights all matter in it."""
    near = dense(OUTPUTS, RATED, Shape())
    near[hidden(np.arange(len(OUTPUTS)) % 9 - 1, np.arange(len(RATED)) % 8)] = -1.0
    sums, weighted, _ = outcome()
    same(sums, twin_sums(near, VALUES, np.array([0.3, 0.0, 0.08, 1.0])))
    assert (sums.counts.sum(axis=0) > 0).all()
    assert len(set(sums.counts.sum(axis=0).tolist())) == 4
    assert (weighted.weights > 0).any()


@pytest.mark.parametrize("threads", [2, 5, None])
def test_threads_change_nothing(threads: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """With chunks of outputs so small that every thread has several."""
    wanted = outcome()
    monkeypatch.setattr(matching, "CHUNK", 7)
    assert_same_outcome(outcome(threads=threads), wanted)


@pytest.mark.parametrize("block", [1, 4, 7])
def test_blocks_change_nothing(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also not the order of floating-point sums."""
    wanted = outcome()
    monkeypatch.setattr(matching, "BLOCK", block)
    monkeypatch.setattr(postings, "BLOCK", block)
    assert_same_outcome(outcome(threads=2), wanted)


@pytest.mark.parametrize("words", [0, 1, 3, 8, 100])
def test_bits_change_nothing(words: int) -> None:
    """However many common features are kept as bits instead of postings."""
    assert_same_outcome(outcome(words=words), outcome())


@pytest.mark.parametrize("orders", [(1, 4), (2, 2)])
def test_bits_serve_other_numbers_of_orders(orders: tuple[int, int]) -> None:
    """The wide path counts bits too, when it is asked to."""
    shape = Shape(low=orders[0], high=orders[1])
    known, features = learn(RATED, shape)
    starts = np.array([*(int(f[0]) for f in known.firsts), known.features], dtype=np.int64)
    outputs = look_up(OUTPUTS[:20], known)
    for words in (0, 2, 9):
        pool = postings_of(features, starts, shape.low, clip=True, words=words)
        found = matching.similarities(pool, outputs)
        wanted = np.maximum(dense(OUTPUTS[:20], RATED, shape), 0.0)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


REPEATS = st.lists(st.tuples(st.sampled_from(["ab", "a", "abc "]), st.integers(0, 500)), max_size=3)


@given(st.lists(REPEATS, min_size=1, max_size=6), st.lists(REPEATS, max_size=4), st.booleans())
def test_runs_change_nothing(
    rated: list[list[tuple[str, int]]], outputs: list[list[tuple[str, int]]], clip: bool
) -> None:
    """Occurrences one by one, whatever the path: texts of 0 to 6,000 characters."""
    shape = Shape(clip=clip)
    pool = ["".join(part * times for part, times in text) for text in rated]
    texts = ["".join(part * times for part, times in text) for text in outputs]
    known, features = learn(pool, shape)
    starts = np.array([*(int(f[0]) for f in known.firsts), known.features], dtype=np.int64)
    plain = postings_of(features, starts, shape.low, clip=clip, words=0)
    wanted = matching.similarities(plain, look_up(texts, known))
    assert np.array_equal(PreparedBleu.build(pool, shape).similarities(texts), wanted)


@given(st.permutations(range(len(RATED))), st.permutations(range(12)))
def test_the_order_of_rows_changes_nothing(rows: list[int], outputs: list[int]) -> None:
    """Neither that of rated texts nor that of outputs; integer sums are exact in any order."""
    taus = np.array([0.08, 0.3])
    texts = OUTPUTS[:12]
    wanted = PreparedBleu.build(RATED, Shape()).neighbor_sums(texts, VALUES, taus)
    prepared = PreparedBleu.build([RATED[i] for i in rows], Shape())
    found = prepared.neighbor_sums([texts[i] for i in outputs], VALUES[rows], taus)
    same(found, Sums(wanted.counts[outputs], wanted.sums[outputs]))
    near = prepared.similarities(texts)
    assert np.array_equal(near, PreparedBleu.build(RATED, Shape()).similarities(texts)[:, rows])


PROGRAM = """
import hashlib
import numpy as np
from refless.metrics.kernels.bleu import PreparedBleu
from refless.text.ngrams import Shape
from refless.data.simulate import simulate
rated, texts = simulate(40).pool.texts, simulate(15, seed=1).pool.texts
digest = hashlib.sha256()
for tokenize in ("char", "words"):
    prepared = PreparedBleu.build(rated, Shape(tokenize=tokenize))
    values = np.arange(40)
    sums = prepared.neighbor_sums(texts, values, np.array([0.05, 0.08]))
    weighted = prepared.weighted_sums(texts, values / 3, 0.02, 2.0)
    known, p = prepared.vocabulary, prepared.postings
    cosines = prepared.cosine(texts)
    for array in (cosines, sums.counts, sums.sums, weighted.weights, weighted.sums, p.members,
                  p.bits, p.features, *known.keys, *known.firsts):
        digest.update(array.tobytes())
    digest.update(repr(known.tokens).encode())
print(digest.hexdigest())
"""


def test_processes_agree() -> None:
    """Whatever seed Python hashes strings with."""
    prints = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
                "PATH": "",
            },
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert len(prints[0]) == 65
    assert prints[0] == prints[1]


def test_a_failure_in_a_thread_is_raised() -> None:
    """Not swallowed: here values that are too few for the pool."""
    prepared = PreparedBleu.build(RATED, Shape())
    with pytest.raises(IndexError):
        prepared.neighbor_sums(OUTPUTS, VALUES[:3], np.array([0.1]))


def test_rated_texts_lie_by_length_and_row() -> None:
    """The order in which floating-point sums run must not be left to chance."""
    built = PreparedBleu.build(["bb", "a", "", "aa", "b"], Shape()).postings
    assert built.order.tolist() == [2, 1, 4, 0, 3]
    assert built.lengths.tolist() == [0, 1, 1, 2, 2]


def test_hold_out_lists_each_group() -> None:
    """By hand: groups 0 and 2, one text of no group."""
    held = hold_out(np.array([2, -1]), np.array([2, 0, -1, 2]))
    assert isinstance(held, Exclusions)
    groups = [held.places[a:b].tolist() for a, b in zip(held.starts, held.starts[1:], strict=False)]
    assert groups == [[1], [], [0, 3]]
