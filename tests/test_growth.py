"""Indexes that grow on the disk: whatever the batches, the answers are those of one pool."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refless.data.human import canonical_order, pool_of
from refless.data.joining import joined
from refless.data.records import COLUMNS, RatedPool
from refless.data.simulate import simulate
from refless.estimators import BLEUNeighbors
from refless.files.folders import claimed
from refless.metrics import growth
from refless.metrics.growth import add_to_index, put_batches
from refless.metrics.index import INDEX, RatedIndex, load_index
from refless.metrics.kernels import bleu
from refless.metrics.kernels.bleu import PreparedBleu
from refless.metrics.matching import Work, hold_out
from refless.registry.errors import InputError, UsageError
from refless.registry.version import __version__
from refless.text.ngrams import Shape

OUTPUTS = ("You could try the Blue Swan for Thai dishes.", "abab", "A quiet room is free", "")
WORDS = st.text(st.sampled_from("ab \0\U0001f98aé"), max_size=7)
SCORES = ("a", "b")


@pytest.fixture(autouse=True)
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is small enough to be made anew, and segments hold five texts."""
    monkeypatch.setattr(growth, "SMALL", -1)
    monkeypatch.setattr(growth, "FEW", 0)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # which would take most of the time
    for module in (growth, bleu):
        monkeypatch.setattr(module, "SEGMENT", 5)


def grown(folder: Path, batches: list[RatedPool]) -> RatedIndex:
    """All batches at once."""
    with claimed(folder, INDEX) as claim:
        return put_batches(claim, batches, Shape())


def same(found: RatedIndex, wanted: RatedIndex) -> None:
    """The same rated texts in the same order, whose every number is the same."""
    assert found.fingerprint == wanted.fingerprint
    for name in (*COLUMNS, "score_names", "scale", "aggregate", "named", "merged"):
        assert getattr(found.pool, name) == getattr(wanted.pool, name), name
    for name in ("text", "annotator", "values", "annotators"):
        mine, theirs = getattr(found.pool.ratings, name), getattr(wanted.pool.ratings, name)
        assert np.array_equal(mine, theirs), name
    assert np.array_equal(found.pool.scores, wanted.pool.scores, equal_nan=True)
    one, other = (
        BLEUNeighbors(min_neighbors=1, max_fraction=1, tau=0.01).fit(index)
        for index in (found, wanted)
    )
    for left, right in (
        (one.estimate(OUTPUTS), other.estimate(OUTPUTS)),
        (one.held_out(found), other.held_out(wanted)),
    ):
        assert left.reasons == right.reasons
        for name in ("values", "support", "low", "high"):
            assert np.array_equal(getattr(left, name), getattr(right, name), equal_nan=True), name
    assert one.signature() == other.signature()


Row = tuple[str, str, int, str]
KINDS = ("named", "plain", "merged")
ROWS = st.lists(
    st.tuples(WORDS, st.sampled_from("xy"), st.integers(1, 5), st.sampled_from(["ann", "bob"])),
    min_size=1,
    max_size=8,
)


def pool_for(kind: str, rows: list[Row], first: int) -> RatedPool:
    """Rows as a pool of one kind; where rows may be of one text, equal ones are dropped."""
    if kind == "merged":
        rows = [*{row[:2]: row for row in rows}.values()]
    texts, systems, values, raters = zip(*rows, strict=True)
    lists = [[value if name == who else None for name in ("ann", "bob")]
             for value, who in zip(values, raters, strict=True)]  # fmt: skip
    ids = [f"{first + i}" for i in range(len(rows))] if kind == "named" else None
    scores = {"a": values, "b": [None, *values[1:]]} if kind == "plain" else {}
    pool = pool_of(texts, lists, ids=ids, systems=systems, annotators=("ann", "bob"),
                   scale=(1, 5), scores=scores)  # fmt: skip
    return replace(pool, merged=kind == "merged")


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.sampled_from(KINDS), st.lists(ROWS, min_size=2, max_size=5))
def test_batches_are_the_whole(
    tmp_path_factory: pytest.TempPathFactory,
    kind: str,
    parts: list[list[tuple[str, str, int, str]]],
) -> None:
    """At once or appended one by one: the pool, the estimates, the signature."""
    pools = [pool_for(kind, rows, 10 * i) for i, rows in enumerate(parts)]
    whole = pools[0]
    for more in pools[1:]:
        whole = joined(whole, more)
    wanted = RatedIndex.build(whole)
    folder = tmp_path_factory.mktemp("grown")
    found = grown(folder / "at once", pools)
    same(found, wanted)
    grown(folder / "by one", pools[:1])
    for more in pools[1:]:
        add_to_index(folder / "by one", more)
    same(load_index(folder / "by one"), wanted)
    assert len([*(folder / "by one").iterdir()]) == 2


def test_ratings_of_texts_that_are_there(tmp_path: Path) -> None:
    """A text that two batches rate is one text; what they say of it must agree."""
    first = simulate(30, seed=3).pool
    again = first.take(np.arange(7, 12))
    found = grown(tmp_path / "index", [first, again])
    same(found, RatedIndex.build(joined(first, again)))
    assert len(found.pool) == 30
    other = replace(again, texts=tuple("x" + text for text in again.texts))
    with pytest.raises(InputError, match="names another text in the index"):
        add_to_index(tmp_path / "index", other)
    with pytest.raises(UsageError, match="scale"):
        add_to_index(tmp_path / "index", replace(again, scale=None))
    same(load_index(tmp_path / "index"), found)
    assert len([*(tmp_path / "index").iterdir()]) == 2


def test_a_batch_that_fails_leaves_the_old_index(tmp_path: Path) -> None:
    """And nothing else."""
    pool = simulate(30, seed=3).pool
    old = grown(tmp_path / "index", [pool])

    def batches() -> Iterator[RatedPool]:
        yield simulate(10, seed=4).pool.take(np.arange(0))
        raise InputError("row 17 is odd", remedy="mend it")

    with pytest.raises(InputError, match="row 17"):
        add_to_index(tmp_path / "index", batches())
    same(load_index(tmp_path / "index"), old)
    assert len([*(tmp_path / "index").iterdir()]) == 2


def test_postings_that_are_there_are_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not written again: the same file under another name. Only order, the rows, is new."""
    monkeypatch.setattr(bleu, "SEGMENT", 100)
    grown(tmp_path, [simulate(40, seed=3).pool])
    (before,) = tmp_path.glob("data-*/postings.members.npy")
    inode = before.stat().st_ino
    late = simulate(43, seed=3).pool.take(np.arange(40, 43))
    add_to_index(tmp_path, late)
    (after,) = tmp_path.glob("data-*/postings.members.npy")
    assert after.stat().st_ino == inode
    assert [*tmp_path.glob("data-*/postings.members.s1.npy")] != []
    assert json.loads((tmp_path / "index.json").read_text())["refless"] == __version__


@pytest.mark.parametrize(
    ("sizes", "total", "count"),
    [
        ([], 1, 0), ([4], 0, 0), ([3], 1, 0), ([2], 1, 1), ([2, 1], 0, 2), ([3, 1], 0, 0),
        ([5, 2, 1], 1, 2), ([3, 2, 1], 0, 2), ([5], 5, 0),
    ],
)  # fmt: skip
def test_small_segments_become_one(sizes: list[int], total: int, count: int) -> None:
    """By hand: what is at most twice as large joins, up to five texts."""
    assert growth._absorbed(sizes, total) == count


@settings(max_examples=30, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=14), st.lists(WORDS, max_size=4), st.integers(1, 6))
def test_segments_match_as_one(rated: list[str], texts: list[str], size: int) -> None:
    """Sums, similarities and cosines, also of texts that are hidden; weighted sums but for
    rounding, as they are no whole numbers."""
    shape, taus = Shape(low=1, high=2), np.array([0.0, 0.1, 0.5])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(bleu, "SEGMENT", 100)
        one = PreparedBleu.build(rated, shape)
        patched.setattr(bleu, "SEGMENT", size)
        many = PreparedBleu.build(rated, shape)
    assert len(many.segments) == -(-len(rated) // size)
    values = np.arange(len(rated)) * 7 - 20
    groups = np.arange(len(texts)) % 3
    work = Work(held=hold_out(groups, np.arange(len(rated)) % 3))
    for how in (Work(), work) if texts else (Work(),):
        left, right = (p.neighbor_sums(texts, values, taus, how) for p in (many, one))
        assert np.array_equal(left.counts, right.counts)
        assert np.array_equal(left.sums, right.sums)
        assert np.array_equal(many.similarities(texts, how), one.similarities(texts, how))
        assert np.array_equal(many.cosine(texts, how), one.cosine(texts, how))
        weighed = [p.weighted_sums(texts, values / 3, 0.1, 2.0, how) for p in (many, one)]
        assert np.array_equal(weighed[0].counts, weighed[1].counts)
        np.testing.assert_allclose(weighed[0].sums, weighed[1].sums, rtol=1e-12, atol=1e-12)


def test_packed_rows_sort_as_their_characters_do() -> None:
    """Whatever the characters: merged halves are in the order that Python sorts them in."""
    texts = ["", "a", "a\0", "ab", "é", "\ud83d", "\uffff", "\U0001f98a", "b"]
    pool = pool_of(texts, [1.0] * len(texts), ids=texts)
    ordered = pool.take(canonical_order(pool))
    one, other = (ordered.take(np.arange(begin, len(texts), 2)) for begin in (0, 1))
    order = growth._order(one, other, np.arange(len(other)))
    both = one.texts + other.texts
    assert tuple(both[i] for i in order) == ordered.texts == tuple(sorted(texts))
