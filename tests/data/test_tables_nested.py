"""Objects, lists of ratings, arrays, patterns of names, sheets, which every file may have."""

import json
import zipfile
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.data.tables import Columns, Reading, read_outputs, read_pool
from refless.registry.errors import InputError, MissingExtraError
from refusals import bad_input
from rows import by_columns, workbook, write

NESTED = [
    {"text": "a", "scores": {"fluency": 4, "by": [{"who": "x", "n": 1}]}, "rating": 1},
    {"text": "b", "scores": {"fluency": 5, "by": [{"who": "y", "n": 2}]}, "rating": 2},
]


def nested(name: str, tmp_path: Path) -> object:
    if name == "rows":
        return NESTED
    if name == "parquet":
        pa = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pa.Table.from_pylist(NESTED), tmp_path / "pool.parquet")
        return str(tmp_path / "pool.parquet")
    lines = "".join(json.dumps(row) + "\n" for row in NESTED)
    return write(
        tmp_path, name, lines if name.endswith("l") else json.dumps(NESTED, indent=1)
    )


@pytest.mark.parametrize("name", ["pool.jsonl", "pool.json", "rows", "parquet"])
def test_dotted_names(name: str, tmp_path: Path) -> None:
    """The contents of an object or a list, from every kind of rows."""
    columns = Columns(
        rating=("scores.fluency",), source="scores.by.0.who", score=("scores.*.n",)
    )
    read = read_pool(nested(name, tmp_path), Reading(columns=columns))
    assert read.pool.human.tolist() == [4, 5]
    assert read.pool.sources == ("x", "y")
    assert (read.pool.score_names, read.pool.scores.tolist()) == (
        ("scores.by.0.n",),
        [[1], [2]],
    )


def test_a_column_that_has_a_dot_comes_first(tmp_path: Path) -> None:
    """A name as it stands beats a way into an object."""
    row = '{"text": "a", "scores": {"fluency": 4}, "scores.fluency": 2}\n'
    file = write(tmp_path, "pool.jsonl", row)
    read = read_pool(file, by_columns(rating=("scores.fluency",)))
    assert read.pool.human.tolist() == [2]


def test_a_misspelled_dotted_name(tmp_path: Path) -> None:
    """The nearest one is suggested."""
    with bad_input(r"did you mean 'scores.fluency'"):
        read_pool(NESTED, by_columns(rating=("scores.fluencies",)))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"text": "a", "rating": [4, 5, 3]}\n{"text": "b", "rating": 2}\n'),
        ("a.csv", 'text,rating\na,"[4, 5, 3]"\nb,2\n'),
        ("a.csv", 'text,rating\na,"[4, 5, null, 3]"\nb," [2] "\n'),
    ],
)
def test_lists_of_ratings(name: str, content: str, tmp_path: Path) -> None:
    """Each is a rating of the text; their places are nobody's."""
    pool = read_pool(write(tmp_path, name, content)).pool
    assert pool.human.tolist() == [4, 2]
    assert sorted(pool.ratings.values[pool.ratings.text == 0].tolist()) == [3, 4, 5]
    assert pool.ratings.annotators == ()


def test_places_as_annotators() -> None:
    """A pattern of dotted names makes each place an annotator."""
    rows = [{"text": "a", "rating": [4, 5]}, {"text": "b", "rating": [1, None]}]
    pool = read_pool(rows, by_columns(rating=("rating.*",))).pool
    assert pool.ratings.annotators == ("rating.0", "rating.1")
    assert pool.human.tolist() == [4.5, 1]


def test_lists_by_annotators() -> None:
    """All ratings of a list are by the annotator of its row, or of its column."""
    rows = [
        {"text": "a", "rating": [4, 5], "annotator": "x"},
        {"text": "a", "rating": [2], "annotator": "y"},
    ]
    ratings = read_pool(rows).pool.ratings
    told = [ratings.annotators[i] for i in ratings.annotator]
    assert sorted(zip(told, ratings.values.tolist(), strict=True)) == [
        ("x", 4),
        ("x", 5),
        ("y", 2),
    ]
    wide = [{"text": "a", "rater1": [4, 5], "rater2": 1}]
    ratings = read_pool(wide, by_columns(rating=("rater*",))).pool.ratings
    assert ratings.annotators == ("rater1", "rater2")
    assert ratings.annotator.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ([9, 4], "rating 9 is outside"),
        ([4, 9], r"column 'rating': rating 9 is outside"),
        ([4] * 101, "more than 100 ratings in one cell"),
        ([[4]], "not numbers"),
        ("[4, 5", "not numbers"),
        ([], "no rating"),
    ],
)
def test_lists_that_hold_no_ratings(cell: object, found: str) -> None:
    """Each is told with its place; an empty list is a blank."""
    with bad_input(found):
        read_pool([{"text": "a", "rating": cell}], Reading(scale=(1, 5)))


@given(
    st.lists(
        st.lists(st.integers(1, 9), min_size=1, max_size=5), min_size=1, max_size=5
    )
)
def test_lists_are_the_rows_they_stand_for(lists: list[list[int]]) -> None:
    """The slow twin: a row for each rating."""
    packed = [
        {"id": str(i), "text": f"t{i}", "rating": one} for i, one in enumerate(lists)
    ]
    rows = []
    for row in packed:
        rows += [{**row, "rating": rating} for rating in row["rating"]]
    first = read_pool(packed).pool
    second = read_pool(rows).pool
    assert first.human.tolist() == second.human.tolist()
    assert first.ratings.values.tolist() == second.ratings.values.tolist()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('[{"text": "a"}', "line 1: not JSON: it is cut off"),
        ('[{"text": "a"},\n {"text"', "line 2: not JSON"),
        ('[{"text": "a"},\n {"text": tru}]', "line 2: not JSON"),
        ('[{"text": "a", "rating": 1}] x', "more behind the array"),
        (
            '[{"text": "a", "rating": 1}, 7]',
            "row 2: a JSON int where an object is needed",
        ),
        ("[" * 100_000, "nested too deep"),
        (
            '[{"text": "a", "rating": ' + "9" * 5000 + "}]",
            "not JSON: Exceeds the limit",
        ),
        ("[]", "there are no rows"),
    ],
)
def test_arrays_that_are_none(text: str, found: str, tmp_path: Path) -> None:
    """Told with the line, or the number of the item."""
    with bad_input(found):
        read_pool(write(tmp_path, "pool.json", text))


def test_json_by_content(tmp_path: Path) -> None:
    """An array, one object over several lines, and lines, whatever the ending says."""
    row = {"text": "a", "rating": 1}
    for name, text in (
        ("a.json", json.dumps(row, indent=2)),
        ("b.json", json.dumps(row) + "\n" + json.dumps(row)),
        ("c.jsonl.txt", json.dumps([row])),
        ("d", "\ufeff" + json.dumps([row])),
    ):
        reading = Reading(format="json") if name.endswith("txt") else Reading()
        assert read_pool(write(tmp_path, name, text), reading).pool.texts[0] == "a"


def test_patterns_of_names(tmp_path: Path) -> None:
    """A pattern that no shell has expanded gives sorted files; a file of that very name wins."""
    for name in ("b.txt", "a.txt", "c.csv"):
        write(tmp_path, name, f"text of {name}\n")
    assert read_outputs(f"{tmp_path}/*.txt").outputs.texts == (
        "text of a.txt",
        "text of b.txt",
    )
    write(tmp_path, "[a].txt", "brackets\n")
    assert read_outputs(f"{tmp_path}/[a].txt").outputs.texts == ("brackets",)
    with bad_input("no such file"):
        read_outputs(f"{tmp_path}/*.tsv")


SHEETS: dict[str, list[list[object]]] = {
    "March": [
        [],
        ["id", "text", "rating"],
        [1, "a", 4],
        [],
        [2, "+b", None],
        [3, "c", 2.5],
    ],
    "April": [["text", "rating", None], ["d", "#N/A"], ["e", 5]],
    "Empty": [],
    "Wide": [["text", "rating"], ["f", 1, "x"]],
    "Days": [["text", "rating", "item"], ["g", 1, datetime(2026, 5, 1)]],  # noqa: DTZ001
}


def test_sheets(tmp_path: Path) -> None:
    """The first one, or the one named; blank rows are none; rows are counted as Excel does."""
    file = str(tmp_path / "pool.xlsx")
    workbook(Path(file), **SHEETS)
    pool = read_pool(file).pool
    assert (pool.ids, pool.texts, pool.human.tolist()) == (
        ("1", "3"),
        ("a", "c"),
        [4, 2.5],
    )
    assert read_pool(f"{file}#April").pool.texts == ("e",)
    assert read_pool(f"{file}#Days").pool.items == ("2026-05-01 00:00:00",)
    with bad_input(
        r"xlsx#Wide, row 2: a cell beyond the 2 columns .*above the header",
    ):
        read_pool(f"{file}#Wide")
    with bad_input("the sheet is empty"):
        read_pool(f"{file}#Empty")
    with bad_input(r"no sheet 'May'; name a sheet .* are 'March', 'April'"):
        read_pool(f"{file}#May")


def test_workbooks_that_are_none(tmp_path: Path) -> None:
    """Told with what to do; what unpacks to too much is refused before it is unpacked."""
    file = str(tmp_path / "pool.xlsx")
    workbook(Path(file), **SHEETS)
    whole = Path(file).read_bytes()
    for content in (
        b"PK\x03\x04",
        whole[:2000],
        b"\xd0\xcf\x11\xe0 old",
        b"text,rating\na,1\n",
    ):
        with bad_input(r"not (a sound zip file|an Excel workbook)"):
            read_pool(write(tmp_path, "broken.xlsx", content))
    with bad_input("more than 9000 bytes, unpacked"):
        read_pool(file, Reading(max_bytes=9000))


def test_a_workbook_with_a_style_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """openpyxl prints what it meets, and standard output is for results."""
    path = tmp_path / "pool.xlsx"
    workbook(path, a=[["text", "rating"], ["x", 1]])
    damaged = tmp_path / "damaged.xlsx"
    with zipfile.ZipFile(path) as sound, zipfile.ZipFile(damaged, "w") as broken:
        for name in sound.namelist():
            broken.writestr(
                name, sound.read(name).replace(b'xfId="0" b', b'xfId="7" b')
            )
    with suppress(InputError):  # old versions of openpyxl read it all the same
        read_pool(str(damaged))
    assert capsys.readouterr().out == ""


def test_excel_without_its_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is the line that installs it."""
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"'\.\[excel\]'"):
        read_pool(write(tmp_path, "pool.xlsx", b"PK\x03\x04"))


def test_mail_addresses_of_annotators() -> None:
    """A pseudonym each, the same in every file and for any case; other names stay."""
    rows = [
        {"text": "a", "rating": 4, "annotator": who}
        for who in ("Ann@example.org", "ann@example.org", "bob", "@bob")
    ]
    read = read_pool(rows)
    assert read.pool.ratings.annotators == ("@bob", "bob", "rater-438c4c7a")
    assert "2 annotators named by an e-mail address: pseudonyms are used" in read.notes
