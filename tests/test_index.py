"""Saved pools: round trips, appended files, refusals, and runs that are killed."""

import json
import shutil
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refless.data.human import pool_of
from refless.data.joining import joined
from refless.data.records import RatedPool, Ratings, scored
from refless.data.simulate import simulate
from refless.data.tables import Reading, read_pool
from refless.estimators import BLEUNeighbors
from refless.metrics.index import RatedIndex, is_index, load_index
from refless.metrics.kernels import BleuStar
from refless.registry.errors import InputError, UsageError
from refless.text.ngrams import Shape

OUTPUTS = ("You could try the Blue Swan for Thai dishes.", "A quiet room is free", "x", "")
TEXT = st.text(st.sampled_from("ab \n\0\U0001f98a\ud83d\u0301"), max_size=8)


def same_index(one: RatedIndex, other: RatedIndex) -> None:
    """Equal in every column and every array."""
    assert one.fingerprint == other.fingerprint
    assert one.shape == other.shape
    for name in (
        "ids",
        "texts",
        "sources",
        "systems",
        "items",
        "tasks",
        "scale",
        "aggregate",
        "named",
    ):
        assert getattr(one.pool, name) == getattr(other.pool, name), name
    assert one.pool.ratings.annotators == other.pool.ratings.annotators
    assert np.array_equal(one.pool.human, other.pool.human)
    mine, theirs = one._arrays(), other._arrays()
    assert mine.keys() == theirs.keys()
    for name, array in mine.items():
        assert array.dtype == theirs[name].dtype, name
        assert np.array_equal(array, theirs[name]), name


def same_predictions(one: RatedPool | RatedIndex, other: RatedPool | RatedIndex) -> None:
    """Bitwise, with intervals, reasons and signature; held out too."""
    first, second = BLEUNeighbors(min_neighbors=1), BLEUNeighbors(min_neighbors=1)
    for found, wanted in (
        (first.fit(one).estimate(OUTPUTS), second.fit(other).estimate(OUTPUTS)),
        (first.held_out(one), second.held_out(other)),
    ):
        rows = [found.ids.index(name) for name in wanted.ids]
        assert tuple(found.reasons[i] for i in rows) == wanted.reasons
        for name in ("values", "support", "low", "high"):
            left, right = getattr(found, name)[rows], getattr(wanted, name)
            assert np.array_equal(left, right, equal_nan=True), name
    assert first.signature() == second.signature()


@pytest.fixture
def pool() -> RatedPool:
    """Sixty simulated texts."""
    return simulate(60, seed=2).pool


@pytest.fixture
def folder(tmp_path: Path, pool: RatedPool) -> Path:
    """Their index, saved."""
    RatedIndex.build(pool).save(tmp_path / "index")
    return tmp_path / "index"


def test_a_saved_pool_predicts_like_the_pool(folder: Path, pool: RatedPool) -> None:
    """And like the index that was never saved."""
    loaded = load_index(folder)
    same_index(loaded, RatedIndex.build(pool))
    same_predictions(loaded, pool)
    assert is_index(folder)
    assert not is_index(folder / "index.json")


@pytest.mark.parametrize(
    "shape", [Shape(low=1, high=6), Shape(clip=False), Shape(tokenize="words", low=1, high=2)]
)
def test_tokens_orders_and_clipping_are_kept(tmp_path: Path, pool: RatedPool, shape: Shape) -> None:
    """An estimator with the same settings takes the index, any other refuses it."""
    index = RatedIndex.build(pool, shape)
    index.save(tmp_path)
    same_index(load_index(tmp_path), index)
    orders = (shape.low, shape.high)
    model = BLEUNeighbors(kernel=BleuStar(tokenize=shape.tokenize, orders=orders, clip=shape.clip))
    wanted = model.fit(pool).estimate(OUTPUTS).values
    found = model.fit(load_index(tmp_path)).estimate(OUTPUTS).values
    assert np.array_equal(found, wanted, equal_nan=True)
    with pytest.raises(UsageError, match="make another index with these settings"):
        BLEUNeighbors().fit(load_index(tmp_path))


def test_a_sub_sample_of_an_index_is_that_of_its_pool(folder: Path, pool: RatedPool) -> None:
    """Drawn by the same seed."""
    one, other = (BLEUNeighbors(subsample=0.5, seed=4) for _ in range(2))
    one.fit(load_index(folder))
    other.fit(pool)
    left, right = one.estimate(OUTPUTS), other.estimate(OUTPUTS)
    assert np.array_equal(left.values, right.values, equal_nan=True)
    assert one.signature() == other.signature()


@settings(max_examples=15)
@given(
    st.lists(st.tuples(TEXT, st.lists(st.integers(1, 5), min_size=1)), max_size=5), st.booleans()
)
def test_any_text_survives(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, list[int]]], named: bool
) -> None:
    """NUL, lone surrogates, empty texts, an empty pool; as ids, too."""
    ids = [f"{i}{text}" for i, (text, _) in enumerate(rows)] if named else None
    ratings = [row for _, row in rows]
    built = RatedIndex.build(pool_of([text for text, _ in rows], ratings, ids=ids, scale=(1, 5)))
    path = tmp_path_factory.mktemp("any")
    built.save(path)
    same_index(load_index(path), built)


def test_saving_twice_writes_the_same_arrays(tmp_path: Path, pool: RatedPool) -> None:
    """Rows in another order leave no trace but in the order of single ratings."""
    order = np.random.default_rng(0).permutation(len(pool))
    RatedIndex.build(pool).save(tmp_path / "a")
    RatedIndex.build(pool.take(order)).save(tmp_path / "b")
    one, other = (json.loads((tmp_path / x / "index.json").read_text())["files"] for x in "ab")
    assert one == other


def write(path: Path, header: str, rows: list[str]) -> str:
    """A CSV file."""
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return str(path)


FILES = {
    "named": (
        "id,source,text,rating,annotator",
        ["a,s1,the fox is quick,5,ann", "b,s1,a dog was here,1,bob", "c,s2,the fox is red,3,ann"],
        ["c,s2,the fox is red,4,bob", "d,s2,a dog was there,2,zoe", "a,s1,the fox is quick,1,abe"],
    ),
    "annotators": (
        "source,system,text,rating,annotator",
        ["s1,x,the fox is quick,5,ann", "s1,y,the fox is quick,1,bob", "s2,x,a dog was here,2,ann"],
        ["s1,x,the fox is quick,4,bob", "s3,x,the fox is quick,3,zoe", "s0,x,a dog is here,2,abe"],
    ),
    "annotators and items": (
        "item,text,rating,annotator",
        ["i1,the fox is quick,5,ann", "i2,the fox is quick,1,bob", "i2,a dog was here,2,ann"],
        ["i3,the fox is quick,4,bob", "i1,the fox is quick,3,zoe"],
    ),
    "plain rows": (
        "text,rating",
        ["the fox is quick,5", "a dog was here,1", "the fox is quick,3", "the fox is quick,5"],
        ["the fox is quick,5", "a fox was there,2", "the fox is quick,4"],
    ),
    "a column an annotator": (
        "text,score_1,score_2",
        ["the fox is quick,5,4", "a dog was here,1,", "the fox is red,4,5"],
        ["the fox is quick,4,5", "a dog was there,,2"],
    ),
}  # header, first file, second file


@pytest.mark.parametrize("kind", FILES)
def test_appending_equals_both_files_at_once(tmp_path: Path, kind: str) -> None:
    """Fingerprint, columns, arrays and predictions; from memory and through a saved index."""
    header, *parts = FILES[kind]
    columns = Reading().columns
    if "score_1" in header:
        columns = replace(columns, rating=("score_1", "score_2"))
    reading = Reading(scale=(1, 5), columns=columns)
    paths = [write(tmp_path / f"{i}.csv", header, rows) for i, rows in enumerate(parts)]
    both = read_pool(paths, reading).pool
    first, second = (read_pool([path], reading).pool for path in paths)
    RatedIndex.build(first).save(tmp_path / "index")
    wanted = RatedIndex.build(both)
    for index in (RatedIndex.build(first), load_index(tmp_path / "index")):
        appended = index.append(second)
        same_index(appended, wanted)
        same_predictions(appended, both)


def test_appending_a_simulated_pool_in_three_parts(pool: RatedPool) -> None:
    """Ids of their own, ratings of one text in two parts."""
    ratings = pool.ratings
    late = np.arange(len(ratings.values)) % 7 == 0

    def part(kept: np.ndarray) -> RatedPool:
        rows = Ratings(
            text=ratings.text[kept],
            annotator=ratings.annotator[kept],
            values=ratings.values[kept],
            annotators=ratings.annotators,
        )
        return replace(pool, ratings=rows).take(np.unique(rows.text))

    index = RatedIndex.build(part(~late & (ratings.text < 30)))
    index = index.append(part(~late & (ratings.text >= 30))).append(part(late))
    same_predictions(index, pool)
    assert index.fingerprint == RatedIndex.build(pool).fingerprint


def test_an_id_that_names_another_text_is_refused() -> None:
    """The same for what else the pools say about the text."""
    first = pool_of(["the fox", "a dog"], [1, 2], ids=["a", "b"], sources=["s", "s"])
    other = pool_of(["a cat"], [3], ids=["b"], sources=["s"])
    with pytest.raises(InputError, match="id 'b' names another text in the index"):
        RatedIndex.build(first).append(other)
    moved = pool_of(["a dog"], [3], ids=["b"], sources=["t"])
    with pytest.raises(InputError, match="id 'b' names another source in the index"):
        RatedIndex.build(first).append(moved)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scale": (0.0, 9.0)}, "scale"),
        ({"aggregate": "median"}, "ratings of a text: mean for the first, median for"),
        ({"named": False}, "ids: yes for the first, no for the second"),
        ({"merged": True}, "annotators of texts without ids: no for the first, yes"),
        ({"systems": ()}, "systems: yes for the first, no for the second"),
    ],
)
def test_pools_of_another_kind_are_refused(
    pool: RatedPool, changes: dict[str, object], message: str
) -> None:
    """Scale, aggregate, ids or columns that differ."""
    with pytest.raises(UsageError, match=message):
        RatedIndex.build(pool).append(replace(pool, **changes))


def test_nameless_ratings_are_nobody_elses(pool: RatedPool) -> None:
    """Ratings without an annotator must not count as the first named one's."""
    nameless = replace(pool.ratings, annotators=(), annotator=pool.ratings.annotator * 0)
    with pytest.raises(UsageError, match="annotators: yes for the first, no for the second"):
        joined(pool, replace(pool, ratings=nameless))


def test_a_moved_index_is_still_one(folder: Path, tmp_path: Path, pool: RatedPool) -> None:
    """Nothing in it names its place."""
    shutil.move(folder, tmp_path / "elsewhere")
    same_predictions(load_index(tmp_path / "elsewhere"), pool)


def judged(pool: RatedPool) -> RatedPool:
    """The same texts with scores of two judges, of which one is silent about the first text."""
    n = len(pool)
    columns = {"b": [None, *range(1, n)], "a": [(7 * i) % 5 / 2 for i in range(n)]}
    return replace(pool, **scored(columns))


def test_scores_are_saved(tmp_path: Path, pool: RatedPool) -> None:
    """With what is missing; a pool with scores has another fingerprint than one without."""
    index = RatedIndex.build(judged(pool))
    index.save(tmp_path / "index")
    again = load_index(tmp_path / "index")
    assert again.fingerprint == index.fingerprint != RatedIndex.build(pool).fingerprint
    assert again.pool.score_names == ("a", "b")
    np.testing.assert_array_equal(again.pool.scores, index.pool.scores)
    assert np.isnan(again.pool.scores).sum() == 1


def test_scores_are_appended(pool: RatedPool) -> None:
    """As if all had been there at once; pools with other scores cannot be joined."""
    whole = judged(pool)
    half = len(pool) // 2
    first, second = (whole.take(np.arange(*ends)) for ends in ((0, half), (half, len(pool))))
    made = RatedIndex.build(first).append(second)
    assert made.fingerprint == RatedIndex.build(whole).fingerprint
    with pytest.raises(UsageError, match="scores of others: a b for the first, a for the second"):
        RatedIndex.build(first).append(second.with_scores(["a"]))
    other = replace(first, scores=first.scores + 1)
    with pytest.raises(InputError, match="has other scores in the index"):
        RatedIndex.build(first).append(other)


def test_no_column_of_a_pool_is_forgotten(pool: RatedPool) -> None:
    """All are saved but the human rating, which follows from the ratings."""
    index = RatedIndex.build(judged(pool))
    saved = {name.split(".")[0] for name in index._arrays()}
    facts = set(index.facts())
    assert {f.name for f in fields(RatedPool)} - saved - facts == {"human"}
