"""Rows that count: conditions of the user's, and rows that their tool marks as invalid."""

import json
from pathlib import Path

import pytest

from command_line import run_well
from refless.data.tables import Columns, Reading, read_pool
from refusals import bad_input, bad_usage


def table(path: Path, name: str, *rows: tuple[object, object]) -> Path:
    """A file of texts with ratings, and a column."""
    lines = [f"t{i},{rating},{mark}" for i, (rating, mark) in enumerate(rows)]
    path.write_text("\n".join([f"text,rating,{name}", *lines]) + "\n", "utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("AssignmentStatus", "Approved", "Rejected"),  # Mechanical Turk's batch results
        ("ASSIGNMENT:status", "APPROVED", "REJECTED"),  # Toloka's
        ("Status", "IP Address", "Survey Preview"),  # Qualtrics, with labels
        ("status", "submitted", "discarded"),  # Argilla's, flattened by hand
        ("itemType", "TGT", "BAD"),  # Appraise, WMT's control items
        ("type", "SYSTEM", "BAD_REF"),  # WMT's releases of direct assessment
        ("was_cancelled", "False", "True"),  # Label Studio's, in tables
        ("_golden", "false", "true"),  # Appen's test questions
    ],
)
def test_rows_that_a_tool_marks(tmp_path: Path, name: str, good: str, bad: str) -> None:
    """They are left out with their number, and kept if the user says so."""
    path = table(tmp_path / "rated.csv", name, (1, good), (5, bad), (2, good), (5, bad))
    read = read_pool(path)
    assert read.pool.texts == ("t0", "t2")
    note = f"{path}: left out: rows whose {name} is 2 '{bad}' (--where '{name}=*' keeps them)"
    assert note in read.notes
    assert len(read_pool(path, Reading(where=(f"{name}=*",))).pool) == 4
    assert len(read_pool(path, Reading(where=(f"{name}!={good}",))).pool) == 2
    named = Reading(columns=Columns(task=name))
    assert (
        len(read_pool(path, named).pool) == 4
    )  # a column that the user gives a role is no mark


def test_columns_that_mark_nothing(tmp_path: Path) -> None:
    """Other words, all rows alike, or many words: nothing is left out, nothing is said."""
    for name, marks in (
        ("status", ("open", "closed", "open")),
        ("status", ("rejected",) * 3),
        ("type", ("bad", "good", "bad")),
        ("note", ("rejected", "fine", "fine")),
        (
            "order_status",
            ("shipped", "returned", "cancelled"),
        ),  # what the text is about
        ("skipped", (0, 1, 2)),  # a number of words, say
        ("control", (0, 1, 0)),  # an arm of an experiment
        ("type", ("control", "treatment", "treatment")),
        ("type", ("gold", "model", "model")),  # a reference among outputs
    ):
        rows = [(i, mark) for i, mark in enumerate(marks)]
        read = read_pool(table(tmp_path / "rated.csv", name, *rows))
        assert len(read.pool) == 3
        assert "left out" not in " ".join(read.notes)


@pytest.mark.parametrize(("name", "bad"), [("control", "1"), ("item_type", "control")])
def test_few_controls_are_controls(tmp_path: Path, name: str, bad: str) -> None:
    """A value that could name an arm as well is left out as a small part; the column is read."""
    marks = [(i, bad if i == 3 else "0") for i in range(10)]
    read = read_pool(table(tmp_path / "rated.csv", name, *marks))
    assert len(read.pool) == 9
    assert "left unread" not in " ".join(read.notes)


def test_conditions(tmp_path: Path) -> None:
    """Rows must meet all; numbers are equal as numbers, words in any case; dots reach inside."""
    rows = [
        {"text": f"t{i}", "rating": i, "of": {"batch": batch}, "lang": lang}
        for i, (batch, lang) in enumerate(
            [(1, "DE"), ("1.0", "en"), (2, "de"), (None, "de")]
        )
    ]
    path = tmp_path / "rated.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    read = read_pool([path], Reading(where=("of.batch=1",)))
    assert read.pool.texts == ("t0", "t1")
    assert f"{path}: left out: 2 of 4 rows by --where of.batch=1" in read.notes
    assert read_pool(rows, Reading(where=("lang=de", "of.batch!=2"))).pool.texts == (
        "t0",
        "t3",
    )
    assert read_pool([path, path], Reading(where=("lang!=de",))).pool.texts == (
        "t1",
        "t1",
    )
    with bad_input(r"no row is left .* of 'lang' are 'DE', 'en', 'de'"):
        read_pool(path, Reading(where=("lang=fr",)))
    with bad_input(r"there is no column 'long' \(--where\); did you mean"):
        read_pool(path, Reading(where=("long=fr",)))
    with bad_usage("--where needs COLUMN=VALUE"):
        read_pool(path, Reading(where=("lang",)))


def test_places_stay_right(tmp_path: Path) -> None:
    """Faults of rows behind those left out are told with their own line, of their own file."""
    first = table(tmp_path / "a.csv", "lang", (1, "de"), (2, "en"))
    second = table(tmp_path / "b.csv", "lang", (1, "en"), (9, "de"))
    with bad_input(r"b\.csv, line 3, column 'rating': rating 9 is outside"):
        read_pool([first, second], Reading(where=("lang=de",), scale=(1, 5)))


def test_conditions_are_in_the_signature(tmp_path: Path) -> None:
    """A number that rests on some rows says which."""
    path = tmp_path / "rated.csv"
    lines = [
        f"{i % 2}answer {i},{s},{i % 5 + 1},{i // 2},{i % 3}"
        for i, s in enumerate("ab" * 20)
    ]
    path.write_text("\n".join(["text,system,rating,item,k", *lines]), "utf-8")
    ran = run_well(
        "compare", path, "--scale", 1, 5, "--where", "k!=2", "--format", "json"
    )
    assert "where:k%21=2" in json.loads(ran.out)["signature"].replace("%3D", "=")
    assert "left out: 13 of 40 rows by --where 'k!=2'" in ran.err
