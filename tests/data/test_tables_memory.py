"""Rows in memory: data frames, columns and dicts give what the same rows in a file give."""

import copy
import json
from collections import UserDict
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.data.human import pool_of
from refless.data.records import RatedPool, outputs_of
from refless.data.tables import Reading, read_outputs, read_pool, read_scored
from refless.registry.errors import InputError
from refusals import bad_input, bad_usage
from rows import Frame, by_columns, columns_of

ROWS: list[dict[str, Any]] = [
    {"id": 7, "text": "a", "rating": 4.5, "annotator": "x", "prompt": "p"},
    {"id": 7, "text": "a", "rating": 2, "annotator": "y", "prompt": "p"},
    {"id": 8, "text": "b", "rating": 3, "annotator": "x", "prompt": ["q", "r"]},
]


class NAType:
    """Missing, as pandas has it: no truth value, not even of a comparison."""

    def __bool__(self) -> bool:
        raise TypeError("boolean value of NA is ambiguous")

    def __eq__(self, other: object) -> Any:
        return self

    __ne__ = __eq__
    __hash__ = None  # type: ignore[assignment]


def contents(pool: RatedPool) -> tuple[Any, ...]:
    ratings = pool.ratings
    return (
        (pool.ids, pool.texts, pool.sources, pool.systems, pool.items, pool.tasks),
        (pool.human.tolist(), pool.scale, pool.named),
        (ratings.values.tolist(), ratings.text.tolist(), ratings.annotator.tolist()),
        ratings.annotators,
    )


CELLS = {
    "id": st.sampled_from([1, 2, "1", "x"]),
    "text": st.sampled_from(["a", "b", "", "N/A", "none"]),
    "prompt": st.sampled_from(["p", "q", None, ["turn", "turn"]]),
    "annotator": st.sampled_from(["u", "v", None, ""]),
    "rating": st.sampled_from([1, 2.5, "3", "N/A", None, "", "4,5", "-", True, 9]),
    "system": st.sampled_from(["s", 3]),
}


@given(st.data(), st.sets(st.sampled_from(sorted(CELLS))), st.booleans())
def test_rows_from_anywhere_are_one(
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
    names: set[str],
    skip: bool,
) -> None:
    """The same rows as a file, dicts, columns and a frame: one pool, notes and faults."""
    row = st.fixed_dictionaries(
        {name: CELLS[name] for name in sorted({*names, "text", "rating"})}
    )
    rows = data.draw(st.lists(row, min_size=1, max_size=8))
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    reading = Reading(scale=(1, 5), skip_bad=skip)
    before = copy.deepcopy(rows)
    columns = columns_of(rows)
    arrays = {
        name: np.array([*column, None], dtype=object)[:-1]
        for name, column in columns.items()
    }
    answers = []
    for source in (str(path), rows, columns, Frame(columns), Frame(arrays)):
        try:
            read = read_pool(source, reading)
        except InputError as fault:
            places = (
                fault.line or fault.row,
                fault.column,
                fault.found.replace("on line", "on row"),
            )
            answers.append(places)
        else:
            kinds = [(fault.found, fault.line or fault.row) for fault in read.skipped]
            answers.append((contents(read.pool), read.notes[1:], read.n_skipped, kinds))
    assert answers[1:] == answers[:1] * 4
    assert (rows, columns) == (before, columns_of(before))


def test_a_frame_without_rows() -> None:
    """A frame that is still to be computed is refused, with what gives its rows."""
    polars = pytest.importorskip("polars")
    lazy = polars.DataFrame({"text": ["a", "b"], "rating": [1, 2]}).lazy()
    with bad_usage("give what its collect\\(\\) returns"):
        read_pool(lazy)
    assert len(read_pool(lazy.collect()).pool) == 2


@pytest.mark.parametrize("word", ["NaN", "sNaN", "-sNaN12"])
def test_decimals_that_are_no_number(word: str) -> None:
    """They are blanks, as NaN of other kinds is."""
    rows = [
        {"text": "a", "rating": Decimal(word)},
        {"text": "b", "rating": Decimal("2.5")},
    ]
    read = read_pool(rows)
    assert (read.pool.texts, [*read.pool.human]) == (("b",), [2.5])


def test_places_in_memory() -> None:
    """Rows are counted from 1, and what they are is named."""
    rows = [*ROWS, {**ROWS[0], "id": 9, "rating": 9}]
    told = {
        "the rows": rows,
        "the columns": columns_of(rows),
        "the data frame": Frame(columns_of(rows)),
    }
    for name, source in told.items():
        with pytest.raises(InputError) as caught:
            read_pool(source, Reading(scale=(1, 6)))
        message = (
            "rating 9 is outside the scale 1 to 6; correct it or change the scale."
        )
        assert str(caught.value) == f"{name}, row 4, column 'rating': {message}"
        assert (caught.value.path, caught.value.line, caught.value.row) == (
            name,
            None,
            4,
        )
        with bad_input(f"^{name}: there is no column 'txt'"):
            read_pool(source, by_columns(text="txt"))
        with bad_input(f"^{name}: there is no column 'rater'"):
            read_pool(source, by_columns(rating=("rater",)))


@pytest.mark.parametrize(
    "missing", [None, float("nan"), np.float64("nan"), np.datetime64("NaT"), NAType()]
)
def test_missing_cells(missing: Any) -> None:
    """None, NaN, NaT and NA are blanks in every column."""
    frame = Frame({"text": ["a", "b"], "rating": [1, missing], "task": [missing, "p"]})
    pool = read_pool(frame).pool
    assert (pool.texts, pool.human.tolist(), pool.tasks) == (("a",), [1], ("",))
    assert "read as blank" not in " ".join(read_pool(frame).notes)
    with bad_input("the data frame, row 1, column 'text': no text"):
        read_outputs(Frame({"text": [missing]}))


def test_numpy_scalars_and_arrays() -> None:
    """Numbers of numpy are numbers; 32 bits are read as they print; labels may be numbers."""
    short = np.array([4.8, 1.2], dtype=np.float32)
    for ratings in (short, list(short)):
        pool = read_pool({"text": np.array(["a", "b"]), "rating": ratings}).pool
        assert pool.human.tolist() == [4.8, 1.2]
        assert {*map(type, pool.texts)} == {str}
    rows = [
        {
            "text": np.str_("a"),
            "rating": np.int64(3),
            "id": np.int64(5),
            "keep": np.bool_(1),
        }
    ]
    pool = read_pool(rows, by_columns(task="keep")).pool
    assert (pool.ids, pool.human.tolist(), pool.tasks) == (("5",), [3], ("true",))
    frame = Frame({0: ["a"], 1: [2]})
    assert read_pool(frame, by_columns(text="0", rating=("1",))).pool.texts == ("a",)
    listed = {
        "text": ["a"],
        "references": [np.array(["r", "s"], dtype=object)],
        "weights": [(1, 0.5)],
    }
    outputs = read_outputs(listed).outputs
    assert (outputs.references, outputs.weights) == ((("r", "s"),), ((1, 0.5),))


def test_mappings_that_are_no_dicts() -> None:
    """Rows and columns may be any mappings."""
    assert read_pool([UserDict(row) for row in ROWS]).pool.ids == ("7", "8")
    assert read_pool(UserDict(columns_of(ROWS))).pool.ids == ("7", "8")


def test_rows_that_are_none() -> None:
    """Columns of different lengths or one name, no rows, no columns, other things."""
    with bad_input("the columns: columns of different lengths: 'rating' has 1"):
        read_pool({"text": ["a", "b"], "rating": [1]})
    for value in ("a", 3):
        with bad_input(r"column 'text': .* where a column is needed"):
            read_outputs({"text": value})  # type: ignore[dict-item]
    twice = Frame({"text": ["a"]})
    twice.columns = ["text", "text"]
    with bad_input("the data frame: there are two columns 'text'"):
        read_outputs(twice)
    for empty in ({"text": []}, Frame({"text": []}), Frame({}), {}):
        with bad_input("there are no rows"):
            read_outputs(empty)
    with bad_input(r"no column for the text.*the columns are 'words'"):
        read_outputs(Frame({"words": ["a"]}))
    with bad_input("the rows, row 2: a str where a dict is needed"):
        read_outputs([{"text": "a"}, "b"])  # type: ignore[list-item]


def test_records_pass_through() -> None:
    """A pool is a pool and outputs are outputs, unless something else is asked of them."""
    pool = pool_of(["a"], [3], scale=(1, 5), sources=["p"])
    assert read_pool(pool).pool is pool
    assert read_pool(pool, Reading(scale=(1, 5))).pool is pool
    outputs = outputs_of(["a"])
    assert read_outputs(outputs).outputs is outputs
    assert read_outputs(pool).outputs.sources == ("p",)
    for reading, told in (
        (Reading(scale=(1, 6)), "made with --scale 1 5"),
        (by_columns(group="prompt"), "no column 'prompt'"),
    ):
        with bad_usage(told):
            read_pool(pool, reading)
    with bad_usage("not Outputs"):
        read_pool(outputs)  # type: ignore[arg-type]
    with bad_usage("no columns of scores"):
        read_scored(pool)


FRAMES = {
    "pandas": lambda module: module.DataFrame(ROWS),
    "polars": lambda module: module.DataFrame(
        columns_of([{**row, "prompt": "p"} for row in ROWS])
    ),
    "pyarrow": lambda module: module.table(
        columns_of([{**row, "prompt": "p"} for row in ROWS])
    ),
}


@pytest.mark.parametrize("library", FRAMES)
def test_real_frames(library: str) -> None:
    """The libraries' own frames, with a missing rating and 32-bit numbers."""
    module = pytest.importorskip(library)
    pool = read_pool(FRAMES[library](module)).pool
    assert (pool.ids, pool.texts, pool.human.tolist()) == (
        ("7", "8"),
        ("a", "b"),
        [3.25, 3],
    )
    make = module.table if library == "pyarrow" else module.DataFrame
    column = {"text": ["a", "b"], "rating": np.array([4.8, np.nan], dtype=np.float32)}
    if library == "pyarrow":
        column["rating"] = module.array([4.8, None], type=module.float32())
    assert read_pool(make(column)).pool.human.tolist() == [4.8]
