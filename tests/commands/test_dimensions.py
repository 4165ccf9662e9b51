"""Several things that were rated: read one by one, and validated and estimated side by side."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

import refless
from command_line import jsonl, output_rows, rated_rows, run
from refless import Reading, read_pool
from refless.data.tables import Columns, SeveralDimensionsError, dimension_of
from refusals import bad_input, bad_usage

LONG = [
    {"id": "1", "text": "a", "rating": 4, "dimension": "fluency"},
    {"id": "1", "text": "a", "rating": 2, "dimension": "adequacy"},
    {"id": "2", "text": "b", "rating": 1, "dimension": "fluency"},
    {"id": "2", "text": "b", "rating": 3, "dimension": "adequacy"},
]
WIDE: list[dict[str, Any]] = [
    {"text": "a", "ratings": {"fluency": [4, 5], "adequacy": 2}},
    {"text": "b", "ratings": {"fluency": 1, "adequacy": 3}},
]


@pytest.mark.parametrize("name", ["fluency", "ratings.fluency"])
def test_a_column_is_a_dimension(name: str) -> None:
    """Ratings by a plain name or within an object; lists are ratings by several people."""
    rows = [{**row, **row["ratings"]} for row in WIDE]
    assert read_pool(rows, Reading(dimension=name)).pool.human.tolist() == [4.5, 1]
    with bad_input(r"leave dimension out.*the columns are 'text'"):
        read_pool(rows, Reading(dimension="grammar"))
    with bad_input("no ratings of a dimension 'x'; the dimensions are 'flu"):
        read_pool(LONG, Reading(dimension="x"))


@pytest.mark.parametrize(
    "score", ["ratings.fluency", "ratings.f*", "ratings.fluency.0"]
)
def test_ratings_of_a_dimension_are_no_scores(score: str) -> None:
    """An estimate would know what is held out; another dimension may be a score."""
    rows = [{**row, "ratings": {**row["ratings"], "fluency": [4, 5]}} for row in WIDE]
    columns = Columns(score=(score,))
    with bad_usage("it would tell what is held out"):
        read_pool(rows, Reading(columns=columns, dimension="ratings.fluency"))
    pool = (
        read_pool(rows, Reading(columns=columns, dimension="ratings.adequacy")).pool
        if (score == "ratings.fluency.0")
        else None
    )
    assert pool is None or pool.scores.tolist() == [[4], [4]]


def test_a_pattern_of_dimensions() -> None:
    """All columns that match, without the places of their lists; values of a column likewise."""
    with pytest.raises(SeveralDimensionsError) as found:
        read_pool(WIDE, Reading(dimension="ratings.*"))
    assert found.value.names == ("ratings.fluency", "ratings.adequacy")
    with pytest.raises(SeveralDimensionsError) as found:
        read_pool(LONG, Reading(dimension="f*"))
    assert found.value.names == ("fluency",)


def test_outputs_need_no_dimension_of_the_rated_texts(tmp_path: Path) -> None:
    """compare and next read it of the rated texts alone; a column of ratings must have a name."""
    folder = tmp_path
    rows = [{**row, "dimension": "ok"} for row in rated_rows(30)]
    path = jsonl(folder / "long.jsonl", [*rows, {**rows[0], "dimension": "fit"}])
    rated = ("--rated", path, "--scale", 1, 6, "--dimension", "ok")
    both = jsonl(
        folder / "both.jsonl",
        [
            {**row, "system": f"S{i % 2}", "item": f"i{i // 2}"}
            for i, row in enumerate(output_rows())
        ],
    )
    assert run("compare", both, *rated).code == 0
    assert run("next", both, *rated, "--goal", "learn", "-n", 2).code == 0
    odd = jsonl(folder / "odd.jsonl", [{**row, "rating": 3} for row in output_rows()])
    ran = run("compare", odd, *rated)
    assert ran.refuses("no ratings of a dimension 'ok'")


def test_choices_have_dimensions(tmp_path: Path) -> None:
    """Choices between two texts are read of one dimension, too."""
    rows = [
        {"chosen": "a", "rejected": "b", "dimension": "fluency"},
        {"chosen": "b", "rejected": "a", "dimension": "adequacy"},
    ]
    path = jsonl(tmp_path / "pairs.jsonl", rows)
    for dimension, human in (
        ("fluency", {"a": 1, "b": 0}),
        ("adequacy", {"a": 0, "b": 1}),
    ):
        pool = read_pool(path, Reading(dimension=dimension)).pool
        assert dict(zip(pool.texts, pool.human.tolist(), strict=True)) == human
    with pytest.raises(
        SeveralDimensionsError, match=r"'fluency' \(2\), 'adequacy' \(2\)"
    ):
        read_pool(path)
    with bad_input("the dimensions are 'fluency', 'adequacy'"):
        read_pool(path, Reading(dimension="grammar"))


def test_several_dimensions_are_never_one() -> None:
    """Not in rows, in frames, or spread over files; a rating that names none is an error."""
    pandas = pytest.importorskip("pandas")
    for rows in (LONG, pandas.DataFrame(LONG)):
        with bad_input(r"'fluency' \(2\), 'adequacy' \(2\); choose one"):
            read_pool(rows)
        assert read_pool(rows, Reading(dimension="adequacy")).pool.human.tolist() == [
            2,
            3,
        ]
    bare = [*LONG, {"id": "3", "text": "c", "rating": 3}]
    with bad_input("row 5, column 'dimension': a rating without a dimension"):
        read_pool(bare, Reading(dimension="fluency"))
    unrated = [*LONG, {"id": "3", "text": "c", "rating": None}]
    assert len(read_pool(unrated, Reading(dimension="fluency")).pool) == 2


def test_dimensions_of_several_files(tmp_path: Path) -> None:
    """Each file has one: together they have two."""
    for name in ("fluency", "adequacy"):
        jsonl(
            tmp_path / f"{name}.jsonl",
            [row for row in LONG if row["dimension"] == name],
        )
    files = [str(tmp_path / "fluency.jsonl"), str(tmp_path / "adequacy.jsonl")]
    with bad_input("several dimensions"):
        read_pool(files)
    assert read_pool(files, Reading(dimension="fluency")).pool.human.tolist() == [4, 1]


def test_the_column_of_dimensions(tmp_path: Path) -> None:
    """It may have another name, also in Parquet, of which few columns are read."""
    rows = [{**row, "aspect": row["dimension"]} for row in LONG]
    for row in rows:
        del row["dimension"]
    columns = Columns(dimension="aspect")
    with bad_input("several dimensions"):
        read_pool(rows, Reading(columns=columns))
    with bad_input(r"no column 'nope' \(columns dimension\)"):
        read_pool(rows, Reading(columns=Columns(dimension="nope")))
    pandas = pytest.importorskip("pandas")
    _ = pytest.importorskip("pyarrow")
    pandas.DataFrame(rows).to_parquet(tmp_path / "rows.parquet")
    found = read_pool(
        str(tmp_path / "rows.parquet"), Reading(columns=columns, dimension="fluency")
    )
    assert found.pool.human.tolist() == [4, 1]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("fluency", ("fluency", None)),
        ("fluency=1..5", ("fluency", (1, 5))),
        ("a=b=-1..1", ("a=b", (-1, 1))),
        ("fluency=low..high", ("fluency=low..high", None)),
    ],
)
def test_a_scale_of_its_own(given: str, expected: object) -> None:
    """Behind the name; what is no scale is a part of the name."""
    assert dimension_of(given) == expected
    with bad_usage("the lower first"):
        dimension_of("fluency=5..1")


def test_from_python() -> None:
    """The type that validate and score return does not depend on rows: one dimension is named."""
    rows = [
        {**row, "dimension": name, "rating": int(str(row["rating"])) + (name == "fit")}
        for row, name in product(rated_rows(30), ("ok", "fit"))
    ]
    assert isinstance(refless.validate(rows, dimension="ok"), refless.ValidateResult)
    with pytest.raises(
        SeveralDimensionsError, match="dimension='ok' or dimension='fit'"
    ):
        refless.validate(rows)
