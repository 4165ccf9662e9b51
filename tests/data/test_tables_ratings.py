"""Ratings: numerals, words that speak for themselves, the user's map."""

import json
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.data.human import unscaled
from refless.data.tables import PoolRead, Reading, parse_word_map, read_pool
from refusals import bad_input, bad_usage
from rows import by_columns, digits


def rated(folder: Path, *ratings: Any, **reading: Any) -> PoolRead:
    path = folder / "pool.jsonl"
    rows = (json.dumps({"text": f"t{i}", "rating": r}) for i, r in enumerate(ratings))
    path.write_text("\n".join(rows))
    return read_pool([str(path)], Reading(**reading))


@pytest.mark.parametrize(
    ("high", "low"),
    [
        ("up", "down"),
        ("True", "FALSE"),
        (True, False),
        ("yes", "No"),
        ("👍", "👎"),
        ("👍🏽", "👎️"),
        ("good", " bad "),
    ],
)
def test_pairs_that_speak_for_themselves(tmp_path: Path, high: Any, low: Any) -> None:
    """The five pairs are mapped to 1 and 0, whatever their case, and said aloud."""
    read = rated(tmp_path, high, low, high)
    assert read.pool.human.tolist() == [1, 0, 1]
    assert "' is 1, '" in read.notes[1]
    assert rated(tmp_path, high, high).pool.human.tolist() == [
        1,
        1,
    ]  # one of them is enough


@pytest.mark.parametrize(
    "ratings",
    [
        ("4/5", "3 / 5", "5/5"),
        ("4 out of 5", "3 out of 5", "5 of 5"),
        ("4 - Good", "3: Fair", "5 (Great)"),
        ("4 stars", 3, "5 stars"),
        (
            "\u2605\u2605\u2605\u2605\u2606",
            "\u2605\u2605\u2605",
            "\u2605\u2605\u2605\u2605\u2605",
        ),
    ],
)
def test_numbers_within_words(tmp_path: Path, ratings: tuple[Any, ...]) -> None:
    """Cells of spreadsheets and forms, said aloud; 5 is the most if all are out of 5."""
    read = rated(tmp_path, *ratings)
    assert unscaled(read.pool.human, read.pool.scale).tolist() == [4, 3, 5]
    out_of = {"4/5", "4 out of 5"} & {*ratings}
    assert read.pool.scale == ((1, 5) if out_of else None)
    assert ", and others likewise" in " ".join(read.notes)


@pytest.mark.parametrize(
    "ratings",
    [
        ("4/5", "3/6"),
        ("6/5", "3/5"),
        ("4 good", "4 great"),
        ("4-5", "3-4"),
        ("3 jan", "4 feb"),
    ],
)
def test_numbers_that_words_do_not_tell(
    tmp_path: Path, ratings: tuple[str, ...]
) -> None:
    """Out of different numbers, out of fewer, one number for two labels, ranges, dates."""
    with bad_input("ratings that are not numbers"):
        rated(tmp_path, *ratings)


@pytest.mark.parametrize(
    "ratings", [("great", "poor"), ("up", "no"), ("yes", 0.5), ({"n": 3}, 4)]
)
def test_words_without_meaning(tmp_path: Path, ratings: tuple[Any, ...]) -> None:
    """Other words, mixed pairs and words among numbers are an error that lists them."""
    word = str(min((r for r in ratings if not isinstance(r, float | int)), key=str))
    with bad_input("ratings that are not numbers") as caught:
        rated(tmp_path, *ratings)
    assert word in str(caught.value)
    if word.startswith("{"):
        assert "cells hold JSON" in str(caught.value)
    else:
        assert "--read rating-map=" in str(caught.value)
        assert f"{word}=NUMBER" in str(caught.value)
    assert (caught.value.line, caught.value.column) == (1, "rating")


def test_words_that_are_understood_are_not_named(tmp_path: Path) -> None:
    """`good` has a meaning, `poor` beside it has none; a map leaves nothing to guess."""
    with bad_input(r"not numbers: 'poor'; say what all rating words mean"):
        rated(tmp_path, "good", "poor")
    with bad_input("not numbers: 'good'; "):
        rated(tmp_path, "good", "poor", rating_map={"poor": 0})


def test_words_among_numbers_can_be_skipped(tmp_path: Path) -> None:
    """Under skip_bad a word among numbers is a bad row; words alone stay an error."""
    read = rated(tmp_path, 1, "great", 2, skip_bad=True)
    assert (read.pool.human.tolist(), read.n_skipped) == ([1, 2], 1)
    with bad_input("ratings that are not numbers"):
        rated(tmp_path, "great", "poor", skip_bad=True)


def test_rating_map(tmp_path: Path) -> None:
    """The user's map is used for words, booleans and numerals; what it lacks is an error."""
    mapped = {"Great": 1.0, "poor": -1.0, "3": 0.5, "true": 2.0}
    ratings = ["great", "POOR", 3, "3.0", True, 7]
    pool = rated(tmp_path, *ratings, rating_map=mapped).pool
    assert pool.human.tolist() == [1, -1, 0.5, 0.5, 2, 7]
    with bad_input("'fair'"):
        rated(tmp_path, "great", "fair", rating_map=mapped)


def test_pairs_are_decided_over_all_rating_columns(tmp_path: Path) -> None:
    """Several rating columns share their words."""
    path = tmp_path / "p.csv"
    path.write_text("text,a,b\nx,yes,no\ny,,no\n")
    reading = by_columns(rating=("a", "b"))
    assert read_pool([str(path)], reading).pool.human.tolist() == [0.5, 0]
    path.write_text("text,a,b\nx,yes,down\n")
    with bad_input("'down', 'yes'"):
        read_pool([str(path)], reading)


def test_parse_word_map() -> None:
    """Words are folded, numbers read; nonsense and repeats are wrong usage."""
    assert parse_word_map("Up=1, down = -0.5") == {"up": 1.0, "down": -0.5}
    assert parse_word_map("a=b=2") == {"a=b": 2.0}
    assert str(parse_word_map("99=")) == "{'99': nan}"
    for text in ("", "up", "=1", "up=one", "up=inf", "up=1,UP=2"):
        with bad_usage("--read rating-map"):
            parse_word_map(text)


@given(
    st.dictionaries(
        st.from_regex("[a-z]{1,8}", fullmatch=True), st.integers(-9, 9), min_size=1
    )
)
def test_rating_maps_parse_back(mapping: dict[str, int]) -> None:
    """Any map written as WORD=NUMBER comes back."""
    assert parse_word_map(",".join(f"{k}={v}" for k, v in mapping.items())) == mapping


@pytest.mark.parametrize("rating", [float("inf"), "inf", "-Infinity", "1e999"])
def test_not_finite(tmp_path: Path, rating: Any) -> None:
    """Infinity is a bad row, as a JSON extension and as a string."""
    with bad_input(r"line 2, column 'rating': rating .* is not finite"):
        rated(tmp_path, 1, rating)
    assert rated(tmp_path, 1, rating, skip_bad=True).pool.texts == ("t0",)


def test_huge_number(tmp_path: Path) -> None:
    """A number beyond floating point is not finite."""
    path = tmp_path / "p.jsonl"
    path.write_text(
        '{"text": "a", "rating": 1e999}\n{"text": "b", "rating": 1' + "0" * 400 + "}\n"
    )
    with bad_input(r"line 1, .*not finite"):
        read_pool([str(path)])


@pytest.mark.parametrize("rating", [0.999, 7, "-1"])
def test_outside_the_scale(tmp_path: Path, rating: Any) -> None:
    """A rating outside the scale is a bad row; its ends are inside."""
    with bad_input("outside the scale 1 to 6") as caught:
        rated(tmp_path, 1, 6, rating, scale=(1, 6))
    assert caught.value.line == 3
    assert rated(tmp_path, 1, 6, scale=(1, 6)).pool.human.tolist() == [0, 1]


@pytest.mark.parametrize("rating", [None, "", "  "])
def test_no_rating(tmp_path: Path, rating: Any) -> None:
    """Rows without a rating are left out and counted; where none has one, that is the error."""
    read = rated(tmp_path, 1, rating, 2)
    assert (read.pool.texts, read.pool.human.tolist()) == (("t0", "t2"), [1, 2])
    assert "1 of 3 rows has no rating: left out of the rated texts" in read.notes
    assert read.n_skipped == 0
    with bad_input("line 1, column 'rating': no rating"):
        rated(tmp_path, rating, rating)


def test_no_rating_in_any_column(tmp_path: Path) -> None:
    """With one annotator a column, a row that nobody rated is left out."""
    path = tmp_path / "p.csv"
    reading = by_columns(rating=("a", "b"))
    path.write_text("text,a,b\nx,1,2\ny,,\nz,,4\n")
    pool = read_pool([str(path)], reading).pool
    assert (pool.texts, pool.human.tolist()) == (("x", "z"), [1.5, 4])
    path.write_text("text,a,b\nx,,\n")
    with bad_input("line 2: no rating"):
        read_pool([str(path)], reading)


def test_a_bad_rating_beside_blank_ones(tmp_path: Path) -> None:
    """A cell that is neither blank nor a number stays an error among rows without a rating."""
    with bad_input(r"line 3, .*'great'"):
        rated(tmp_path, 1, None, "great")
    with bad_input(r"line 3, .*outside the scale"):
        rated(tmp_path, 1, None, 9, scale=(1, 6))


BLANK = [
    "N/A",
    "NA",
    "n/a",
    "nan",
    "NaN",
    "null",
    "None",
    " - ",
    "--",
    "?",
    "#N/A",
    float("nan"),
]


@pytest.mark.parametrize("blank", BLANK)
def test_words_for_no_rating(tmp_path: Path, blank: Any) -> None:
    """They are blanks whatever their case, counted aloud; alone they are no ratings."""
    read = rated(tmp_path, 1, blank, 4, blank)
    assert read.pool.human.tolist() == [1, 4]
    assert f"2 rating cells '{str(blank).strip()}' are read as blank" in read.notes
    read = rated(tmp_path, "yes", blank, "no")
    assert (read.pool.human.tolist(), read.pool.scale) == ([1, 0], (0, 1))
    with bad_input("no rating"):
        rated(tmp_path, blank)


def test_words_for_no_rating_may_be_mapped(tmp_path: Path) -> None:
    """A word that the user's map has keeps its meaning; others stay blank."""
    read = rated(
        tmp_path,
        "none",
        "NaN",
        "--",
        "some",
        rating_map={"none": 0, "nan": 3, "some": 1},
    )
    assert read.pool.human.tolist() == [0, 3, 1]
    assert "1 rating cell '--' is read as blank" in read.notes


def test_wide_table_with_words_for_no_rating(tmp_path: Path) -> None:
    """One annotator a column: such a cell is no rating of that annotator."""
    path = tmp_path / "p.csv"
    path.write_text("text,ann,bob,cy\nnull,1,N/A,3\nNA,N/A,N/A,-\nx,n/a,5,?\n")
    read = read_pool(str(path), by_columns(rating=("ann", "bob", "cy")))
    assert (read.pool.texts, read.pool.human.tolist()) == (("null", "x"), [2, 5])
    assert read.pool.ratings.annotators == ("ann", "bob", "cy")
    assert [note for note in read.notes if "read as blank" in note] == [
        "3 rating cells 'N/A' are read as blank",
        "1 rating cell 'n/a' is read as blank",
        "1 rating cell '-' is read as blank",
        "1 rating cell '?' is read as blank",
    ]


PAIRS = digits("12 22 34 44 54 55 21 43 33 11")


@pytest.mark.parametrize(
    ("marks", "scale"),
    [
        (PAIRS, (1, 5)),
        (PAIRS, None),
        ([(2 * a - 1, 2 * b - 1) for a, b in PAIRS * 4], (1, 10)),
        ([(a - 1, b - 1) for a, b in PAIRS * 2], (0, 10)),  # 0 is a mark, too
        ([(19 * a, 19 * b) for a, b in PAIRS * 2], (0, 100)),
        (digits("34 45 55 44 33 54 43") * 3, (1, 5)),
    ],
)
def test_two_marks_in_a_cell(
    tmp_path: Path, marks: list[tuple[int, int]], scale: tuple[int, int] | None
) -> None:
    """Two annotators' marks are no decimals; a list of both is read."""
    cells = [f"{a},{b}" for a, b in marks]
    with bad_input("looks like two ratings in one cell") as caught:
        rated(tmp_path, *cells, scale=scale)
    assert (caught.value.line, caught.value.column) == (1, "rating")
    lists = rated(tmp_path, *(f"[{cell}]" for cell in cells), scale=scale)
    assert lists.pool.ratings.values.tolist() == [*chain.from_iterable(marks)]


@pytest.mark.parametrize(
    "cells",
    [
        ["4,5", "3,5", "2,5", "4", "1,5", "3,5", "2,5"],  # halves
        ["3,3", "3,7", "2,3", "4", "4,7", "1,3", "3,7", "2,7"],  # means of three
        ["3,2", "4,4", "2,2", "1,4", "3,4", "4,2", "2,4", "3,2"],  # means of five
        ["7,9", "8,2", "6,1", "7,4", "9,3", "5,5", "6,8", "8,0", "7,2", "8,8"],
        ["0,8", "0,4", "0,9", "0,1", "0,5", "0,3"],
        [
            f"{i // 10},{i % 10}".removesuffix(",0")
            for i in (10 + 37 * k % 90 for k in range(90))
        ],
        ["4,25", "3,75", "4,5", "2,25", "4,0", "3,5"],
        ["4,5", "3,2"],
        ["85,5", "90,2", "71,9", "64,4", "88,1", "93,7"],
    ],
)
def test_commas_of_decimals(tmp_path: Path, cells: list[str]) -> None:
    """Halves, means of a few raters, marks with one decimal, shares; 4 where others say 4,0."""
    expected = [float(cell.replace(",", ".")) for cell in cells]
    assert rated(tmp_path, *cells).pool.human.tolist() == expected


def test_decimal_commas(tmp_path: Path) -> None:
    """1,5 is a number; before three digits a comma may mean thousands, so that is asked."""
    rows = '{"text": "a", "rating": "1,5"}\n{"text": "b", "rating": "-2,75"}\n'
    path = tmp_path / "p.jsonl"
    path.write_text(rows)
    read = read_pool([str(path)])
    assert read.pool.human.tolist() == [1.5, -2.75]
    assert "ratings with decimal commas: '1,5' is 1.5" in read.notes
    path.write_text(rows + '{"text": "c", "rating": "4,125"}\n')
    with bad_input(r"'4,125'.*write decimals with a point"):
        read_pool([str(path)])


@pytest.mark.parametrize(
    ("scale", "expected"),
    [((0, 100), [80, 62.5]), ((0, 1), [0.8, 0.625]), (None, [0.8, 0.625])],
)
def test_percents(
    tmp_path: Path, scale: tuple[int, int] | None, expected: list[float]
) -> None:
    """Shares, but of a scale that ends at 100, as of cells in percent in a workbook."""
    read = rated(tmp_path, "80%", "62,5 %", scale=scale)
    assert read.pool.ratings.values.tolist() == pytest.approx(expected)
    assert any(f"'80%' is {expected[0]:g}" in note for note in read.notes)


@pytest.mark.parametrize(
    "row", [{"rating": "x" * 10_000}, {"rating": 1, "text": ["x" * 10_000]}]
)
def test_long_cells_are_not_quoted(row: dict[str, Any]) -> None:
    """A message has at most some 60 characters of a cell."""
    with bad_input("xxxxx") as raised:
        read_pool([{"text": "a", **row}])
    assert "x" * 61 not in str(raised.value)
