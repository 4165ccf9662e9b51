"""Workbooks as people keep them: several sheets, merged cells, percents, formulas; gaps."""

from pathlib import Path

import numpy as np
import pytest

from command_line import run_well
from refless.data.tables import Reading, read_outputs, read_pool
from refusals import bad_input
from rows import by_columns, workbook

pytest.importorskip("openpyxl")

HEADER = ["item", "output", "system", "rating"]
ANN = [
    HEADER,
    [1, "a", "old", 2],
    [1, "b", "new", 4],
    [2, "c", "old", 1],
    [2, "d", "new", 5],
]
BOB = [
    HEADER,
    [1, "a", "old", 4],
    [1, "b", "new", 4],
    [2, "c", "old", 3],
    [2, "d", "new", 3],
]
NOTES = [["Please rate each answer"], ["1 is bad"], ["5 is good"]]


def test_sheets_with_the_same_columns(tmp_path: Path) -> None:
    """They are refused with the words that read them; all are read as annotators, or one."""
    path = tmp_path / "rated.xlsx"
    workbook(path, ann=ANN, bob=BOB)
    with bad_input(r"sheets 'ann', 'bob' have the same columns.*rated.xlsx#\*"):
        read_pool(path)
    pool = read_pool(f"{path}#*", by_columns(annotator="sheet")).pool
    assert pool.human.tolist() == [3, 4, 2, 4]  # means of both people
    assert pool.ratings.annotators == ("ann", "bob")
    assert read_pool(f"{path}#bob").pool.human.tolist() == [4, 4, 3, 3]
    both = read_pool([f"{path}#ann", f"{path}#bob"], by_columns(annotator="sheet"))
    assert both.pool.human.tolist() == [3, 4, 2, 4]


def test_a_sheet_a_system(tmp_path: Path) -> None:
    """Sheets are systems if a flag says so, and in `compare` without a column of systems."""
    path = tmp_path / "outputs.xlsx"
    rows = [
        [["item", "output", "rating"], [1, f"{s}1", r], [2, f"{s}2", r]]
        for s, r in ("a3", "b4")
    ]
    workbook(path, a=rows[0], b=rows[1])
    outputs = read_outputs(f"{path}#*", by_columns(system="sheet")).outputs
    assert outputs.systems == ("a", "a", "b", "b")
    ran = run_well("compare", f"{path}#*", "--scale", 1, 5)
    assert "xlsx#b" in ran.out


def test_instructions_on_the_first_sheet(tmp_path: Path) -> None:
    """The sheet that has the columns is read, and the others are named; in clean files no note."""
    path = tmp_path / "rated.xlsx"
    workbook(path, Notes=NOTES, Rated=ANN, Totals=[["mean"], [3]])
    read = read_pool(path)
    assert read.pool.human.tolist() == [2, 4, 1, 5]
    note = "sheet 'Rated' is read; not read: 'Notes', 'Totals'"
    assert [line for line in read.notes if note in line]
    workbook(path, Rated=ANN, Template=[HEADER])
    assert "not read: 'Template'" in " ".join(read_pool(path).notes)
    workbook(path, Rated=ANN)
    assert "sheet" not in " ".join(read_pool(path).notes)
    workbook(path, Notes=NOTES, Other=[["b"], [1]])
    with bad_input(r"no column for the text.*not read: 'Other'"):
        read_pool(path)
    with bad_input(r"no sheet has columns to read.*'Notes', 'Other'"):
        read_pool(f"{path}#*")


def test_merged_cells(tmp_path: Path) -> None:
    """They count in all their rows, also where they are the only cells of a row's end."""
    path = tmp_path / "merged.xlsx"
    rows = [["output", "rating", "item", "system"]]
    rows += [
        [f"t{i}", i % 5 + 1, i // 2 if i % 2 == 0 else None, None] for i in range(6)
    ]
    rows[1][3] = "old"
    rows[4][3] = "new"
    book = workbook(path, Rated=rows)
    for cells in ("C2:C3", "C4:C5", "C6:C7", "D2:D4", "D5:D40"):
        book["Rated"].merge_cells(cells)
    book.save(path)
    pool = read_pool(path).pool
    assert pool.systems == ("old",) * 3 + ("new",) * 3
    assert pool.items == ("0", "0", "1", "1", "2", "2")
    assert len(pool) == 6


def test_merged_headers(tmp_path: Path) -> None:
    """A header of two rows is refused with its place."""
    path = tmp_path / "merged.xlsx"
    rows = [["output", "ratings", None], [None, "ann", "bob"], ["a", 1, 2]]
    book = workbook(path, Rated=rows)
    book["Rated"].merge_cells("A1:A2")
    book.save(path)
    with bad_input(r"merged cells join the header, row 1, with the row below"):
        read_pool(path)


@pytest.mark.parametrize("form", ["0%", "0.00%", "0.0 %"])
def test_cells_in_percent(tmp_path: Path, form: str) -> None:
    """80 % is 80 on a scale to 100, which is said, and 0.8 on others; chances are shares."""
    path = tmp_path / "percents.xlsx"
    rows = [
        ["text", "rating", "probability"],
        ["a", 0.8, 0.5],
        ["b", 0.57, 0.5],
        ["c", 1, 0.5],
    ]
    book = workbook(path, Rated=rows)
    for row in range(2, 5):
        for column in "BC":
            book["Rated"][f"{column}{row}"].number_format = form
    book.save(path)
    read = read_pool(path, Reading(scale=(0, 100)))
    np.testing.assert_allclose(
        read.pool.human, [0.8, 0.57, 1], atol=1e-15
    )  # of 0 to 100
    assert f"{path}: column 'rating': a cell shown as 80 % is 80" in read.notes
    assert read_pool(path, Reading(scale=(0, 1))).pool.human.tolist() == [0.8, 0.57, 1]
    for row in range(2, 5):
        book["Rated"][f"B{row}"].value = 80
        book["Rated"][f"B{row}"].number_format = '0" %"'  # shows 80 % for 80
    book.save(path)
    assert read_pool(path, Reading(scale=(0, 100))).pool.human.tolist() == [0.8] * 3


def test_formulas_without_values(tmp_path: Path) -> None:
    """A formula that no spreadsheet has computed is named, in columns that are read."""
    path = tmp_path / "formulas.xlsx"
    rows = [["text", "rating", "sum"], ["a", 4, "=B2+1"], ["b", "=B2+1", "=B3+1"]]
    workbook(path, Rated=rows)
    problem = (
        r"row 3, column 'rating': a formula without a saved value; open the workbook"
    )
    with bad_input(problem):
        read_pool(path)
    rows[2][1] = 5
    workbook(path, Rated=rows)
    assert read_pool(path).pool.human.tolist() == [4, 5]


def test_zip_files_that_are_no_workbooks(tmp_path: Path) -> None:
    """Their files are named."""
    import zipfile

    path = tmp_path / "ratings.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("ratings.csv", "text,rating\na,1\n")
    with bad_input(r"a zip file of 1 file, .*unpack it.*'ratings.csv'"):
        read_pool(path)


def test_gaps_of_systems_and_sources(tmp_path: Path) -> None:
    """Cells that merging leaves blank in CSV are refused; a column may be blank throughout."""
    path = tmp_path / "gaps.csv"
    path.write_text("output,system,rating\na,old,1\nb,,2\nc,new,3\n", "utf-8")
    with bad_input(r"line 3, column 'system': no system; .*merged cells"):
        read_pool(path)
    assert read_pool(path, Reading(skip_bad=True)).pool.systems == ("old", "new")
    path.write_text("output,prompt,rating\na,p,1\nb,,2\n", "utf-8")
    with bad_input(r"line 3, column 'prompt': no source; .*source=NAME"):
        read_pool(path)
    path.write_text("output,prompt,rating,item\na,p,1,1\nb,,2,2\n", "utf-8")
    assert read_pool(path).pool.sources == ("p", "")
    path.write_text("output,prompt,rating\na,,1\nb,,2\n", "utf-8")
    assert read_pool(path).pool.sources == ("", "")
