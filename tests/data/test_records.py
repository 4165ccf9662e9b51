"""The records: columns stay together."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from records import estimates_of
from refless.data.human import human_ratings, pool_of
from refless.data.records import Outputs, RatedPool, as_outputs, columns_of, outputs_of
from refusals import bad_usage

POOL = pool_of(
    ["a", "b", "c", "d"],
    [[1, 2], [3], [4, 4, 5], [2]],
    ids=["i", "j", "k", "l"],
    sources=["s", "s", "t", "t"],
    systems=["x", "y", "x", "y"],
    items=["1", "1", "2", "2"],
    scale=(1, 5),
)


def ratings_of(pool: RatedPool) -> dict[str, list[float]]:
    """Each id's ratings, in order."""
    return {
        name: pool.ratings.values[pool.ratings.text == i].tolist()
        for i, name in enumerate(pool.ids)
    }


@given(st.permutations(range(4)), st.integers(0, 4))
def test_take_keeps_columns_together(order: list[int], size: int) -> None:
    """Each text taken keeps its own name, ratings, rating and company, in the order asked for."""
    rows = np.array(order[:size], dtype=np.int64)
    some = POOL.take(rows)
    assert some.ids == tuple("ijkl"[i] for i in rows)
    assert some.texts == tuple("abcd"[i] for i in rows)
    assert some.sources == tuple("sstt"[i] for i in rows)
    assert some.systems == tuple("xyxy"[i] for i in rows)
    assert some.items == tuple("1122"[i] for i in rows)
    assert some.tasks == ()
    assert ratings_of(some) == {name: ratings_of(POOL)[name] for name in some.ids}
    np.testing.assert_array_equal(
        some.human, human_ratings(some.ratings, len(some), scale=(1, 5))
    )


def test_outputs_of_lists_and_outputs() -> None:
    """Lists are numbered from 1; Outputs pass through untouched."""
    outputs = outputs_of(["one", "two"])
    assert outputs.ids == ("1", "2")
    assert outputs.texts == ("one", "two")
    assert outputs_of(outputs) is outputs
    assert len(outputs_of([])) == 0


def test_outputs_of_one_string() -> None:
    """A bare string would be read letter by letter; it is refused."""
    with bad_usage("one string"):
        outputs_of("text")


def test_as_outputs_keeps_who_answered_what() -> None:
    """A pool's texts as outputs, with every column that is not a rating."""
    outputs = as_outputs(POOL)
    assert isinstance(outputs, Outputs)
    assert (outputs.ids, outputs.texts, outputs.items) == (
        POOL.ids,
        POOL.texts,
        POOL.items,
    )
    assert (outputs.sources, outputs.systems) == (POOL.sources, POOL.systems)


def test_coverage() -> None:
    """Share of outputs with an estimate, 0 being an estimate; NaN where there are no outputs."""
    assert estimates_of([0.0, np.nan, 0.5, np.nan]).coverage == 0.5
    assert estimates_of([0.0]).coverage == 1.0
    assert np.isnan(estimates_of([]).coverage)


def test_columns_of_other_lengths_are_refused() -> None:
    """One id for three texts would give one estimate a name that three share."""
    for wrong in ({"ids": ("1",)}, {"ids": ()}, {"sources": ("a", "b")}):
        with bad_usage("3 texts but"):
            Outputs(**{"ids": ("1", "2", "3"), "texts": ("a", "b", "c"), **wrong})


def test_any_sequence_makes_outputs() -> None:
    """Lists and arrays become tuples, as everything downstream takes them for."""
    outputs = Outputs(ids=["1", "2"], texts=np.array(["a", "b"], dtype=object))  # type: ignore[arg-type]
    assert (outputs.ids, outputs.texts) == (("1", "2"), ("a", "b"))


def test_texts_of_any_kind_are_taken_the_same_way() -> None:
    """Pools and outputs share their columns, and `take` brings along what each has besides."""
    outputs = Outputs(
        **columns_of(POOL),
        references=(("r",), (), ("s", "t"), ("u",)),
        weights=((1.0,), (), (0.5, -1.0), (0.0,)),
        bad=(False, True, False, False),
    )
    some = outputs.take([2, 1])
    assert (some.ids, some.tasks, some.bad) == (("k", "j"), (), (False, True))
    assert (some.references, some.weights) == ((("s", "t"), ()), ((0.5, -1.0), ()))
    assert columns_of(some) == columns_of(POOL.take([2, 1]))
    assert outputs_of(["a", "b"]).take([1]).references == ()


def test_records_print_a_summary() -> None:
    """Their counts are on a line."""
    assert repr(POOL) == "RatedPool: 4 texts, 7 ratings from 1 to 5"
    named = pool_of(["a"], [[1, 2]], annotators=["ann", "bob"])
    assert repr(named) == "RatedPool: 1 text, 2 ratings by 2 annotators"
    assert repr(outputs_of([])) == "Outputs: 0 texts"
    assert (
        repr(estimates_of([0.25, np.nan])) == "Estimates: 2 texts, 1 with an estimate"
    )
