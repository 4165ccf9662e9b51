"""Partly rated rows: those with a rating are the pool, the others outputs."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.data.tables import (
    Columns,
    Reading,
    read_both,
    read_outputs,
    read_pool,
    read_scored,
)
from refless.data.tables.partly_rated import read_partly
from refusals import bad_input
from rows import csv_of, without, write

ROWS: list[dict[str, Any]] = [
    {"text": "a", "prompt": "p", "system": "x", "rating": 1},
    {"text": "b", "prompt": "q", "system": "y", "rating": None},
    {"text": "c", "prompt": "p", "system": "y", "rating": "n/a"},
    {"text": "d", "prompt": "q", "system": "x", "rating": 4},
]


def test_rated_and_unrated_rows() -> None:
    """Outputs keep sources, systems and items; numbers of rows are ids, none twice."""
    pool, outputs = read_both(ROWS, Reading(scale=(1, 5)))
    assert (pool.pool.ids, pool.pool.texts) == (("1", "4"), ("a", "d"))
    assert pool.pool.human.tolist() == [0, 0.75]
    found = outputs.outputs
    assert (found.ids, found.texts) == (("2", "3"), ("b", "c"))
    assert (found.sources, found.systems, found.items) == (
        ("q", "p"),
        ("y", "y"),
        ("q", "p"),
    )
    assert pool.notes[0].startswith(
        "the rows: text from 'text', source from 'prompt', system from"
    )
    assert pool.notes[1:] == (
        "1 rating cell 'n/a' is read as blank",
        "2 of 4 rows have no rating: estimates may stand for them",
    )
    assert outputs.notes == ()


def test_a_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard input, which can be read only once, gives both."""
    import io
    import sys

    data = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    pool, outputs = read_both("-")
    assert (pool.pool.texts, outputs.outputs.texts) == (("a", "d"), ("b", "c"))


def test_a_text_is_rated_if_any_of_its_rows_is() -> None:
    """By id: the row that another annotator left blank is no output; rows must agree."""
    rows: list[dict[str, Any]] = [
        {"id": 1, "text": "a", "annotator": "x", "rating": None},
        {"id": 2, "text": "b", "annotator": "x", "rating": None},
        {"id": 1, "text": "a", "annotator": "y", "rating": 3},
        {"id": 2, "text": "b", "annotator": "y", "rating": None},
    ]
    pool, outputs = read_both(rows)
    assert (pool.pool.ids, pool.pool.ratings.annotators) == (("1",), ("y",))
    assert outputs.outputs.ids == ("2",)
    assert "2 rows merged into 1 text on id" in outputs.notes
    nameless = without(rows, "id")
    pool, outputs = read_both(nameless)
    assert (pool.pool.texts, outputs.outputs.texts) == (("a",), ("b",))
    rows[0]["text"] = "other"
    with bad_input(r"the rows, row 3: id '1' has two texts: here and on row 1"):
        read_both(rows)


def test_a_row_without_any_rating_is_an_output() -> None:
    """With one annotator a column; one rating is enough to be rated."""
    rows = [
        {"text": "a", "r1": 1, "r2": None},
        {"text": "b", "r1": "", "r2": "-"},
        {"text": "c", "r1": "NA", "r2": 2},
    ]
    pool, outputs = read_both(rows, Reading(columns=Columns(rating=("r1", "r2"))))
    assert (pool.pool.texts, outputs.outputs.texts) == (("a", "c"), ("b",))


def test_scores_of_rated_rows_only() -> None:
    """If scores are compared with ratings, rows without a rating are left out aloud."""
    rows = [{**row, "bleu": i, "references": [str(i)]} for i, row in enumerate(ROWS)]
    read = read_scored(rows, Reading(columns=Columns(score=("bleu",))))
    assert (read.pool.texts, read.scores["bleu"].tolist()) == (("a", "d"), [0, 3])
    assert (read.outputs.texts, read.outputs.references) == (
        ("a", "d"),
        (("0",), ("3",)),
    )
    assert "2 of 4 rows have no rating: left out of the rated texts" in read.notes


def test_rows_apart() -> None:
    """Each row is an output of its own if that is asked for, whatever its id."""
    rows = [{"id": "1", "text": "a"}, {"id": "1", "text": "b"}]
    assert read_outputs(rows, apart=True).outputs.texts == ("a", "b")
    with bad_input("id '1' has two texts"):
        read_outputs(rows)


def test_outputs_with_a_row_for_each_rater() -> None:
    """Rows of one text merge as rated texts do if each is somebody's rating; else they stay."""
    rows = [
        {"source": source, "text": text, "rater": rater, "rating": 3}
        for (source, text), rater in product(
            (("q", "yes"), ("q", "no"), ("r", "yes")), "abc"
        )
    ]
    read = read_outputs(rows)
    assert read.outputs.texts == ("yes", "no", "yes")
    assert read.outputs.sources == ("q", "q", "r")
    assert (
        "9 rows merged into 3 texts on task, system, source, item and text"
        in read.notes
    )
    assert read_pool(rows).pool.texts == read.outputs.texts
    for missing in ("rater", "rating"):
        alone = without(rows, missing)
        assert len(read_outputs(alone).outputs) == 9
    assert len(read_outputs(rows, apart=True).outputs) == 9


def test_rows_for_raters_who_have_not_rated_yet() -> None:
    """An output that waits for two raters is one; without annotators equal rows stay apart."""
    rows = [{"text": "a", "annotator": "p", "rating": 1}]
    rows += [{"text": "b", "annotator": name, "rating": None} for name in "pq"]
    rows += [{"text": "c", "annotator": "", "rating": None} for _ in range(2)]
    assert read_both(rows)[1].outputs.texts == ("b", "c", "c")


def test_nothing_or_everything_rated() -> None:
    """Neither makes a pool and outputs."""
    with bad_input(r"the rows: no text has a rating.*--rated"):
        read_both(ROWS[1:3])
    with bad_input(r"every text has a rating.*--rated"):
        read_both([ROWS[0], ROWS[3]])
    with bad_input(r"no column for the rating.*--column rating.*--rated"):
        read_both([{"text": "a"}])


def test_bad_rows_of_both_kinds() -> None:
    """A bad rating is skipped from the pool, a bad text without a rating keeps its place."""
    rows = [
        *ROWS,
        {**ROWS[0], "text": "e", "rating": 9},
        {"text": None, "rating": None},
        "no row",
    ]
    with bad_input(r"the rows, row 7: a str where a dict is needed"):
        read_both(rows)  # type: ignore[arg-type]
    pool, outputs = read_both(rows, Reading(scale=(1, 5), skip_bad=True))  # type: ignore[arg-type]
    assert (pool.pool.texts, pool.n_skipped) == (("a", "d"), 1)
    assert pool.notes[-1] == "1 bad row skipped: 1 rating 9 is outside the scale 1 to 5"
    assert outputs.outputs.texts == ("b", "c", "", "")
    assert outputs.outputs.bad == (False, False, True, True)
    assert outputs.n_skipped == 2
    assert [fault.row for fault in outputs.skipped] == [6, 7]


def test_references_are_those_of_outputs() -> None:
    """A reference that is no text is nobody's fault where the row is rated."""
    rows = [
        {"text": "a", "rating": 1, "references": [5]},
        {"text": "b", "references": ["r"]},
    ]
    outputs = read_both(rows)[1].outputs
    assert outputs.references == (("r",),)


@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.one_of(st.none(), st.integers(1, 5))),
        min_size=1,
    )
)
def test_both_is_pool_and_outputs(rows: list[tuple[str, int | None]]) -> None:
    """The pool is what read_pool gives, the outputs what read_outputs gives of the other ids."""
    table = [{"id": i, "text": i * 3, "rating": r} for i, r in rows]
    rated = {i for i, r in rows if r is not None}
    if not rated or rated == {i for i, _ in rows}:
        return
    pool, outputs = read_both(table)
    alone = read_pool(table).pool
    assert pool.pool.ids == alone.ids
    assert pool.pool.human.tolist() == alone.human.tolist()
    others = read_outputs([row for row in table if row["id"] not in rated]).outputs
    assert (outputs.outputs.ids, outputs.outputs.texts) == (others.ids, others.texts)
    assert not {*pool.pool.ids} & {*outputs.outputs.ids}


def test_what_a_list_leaves_blank_is_rated_in_the_next(tmp_path: Path) -> None:
    """Each list for raters is read beside its outputs, which alone have scores."""
    outputs = [
        {"source": "q", "text": text, "system": "a", "judge": i, "rating": ""}
        for i, text in enumerate("xyz")
    ]
    first = [
        {"source": "q", "text": text, "system": "a", "rating": rating}
        for text, rating in (("x", 1), ("y", ""))
    ]
    files = [outputs, first, [{**first[1], "rating": 5}]]
    paths = [write(tmp_path, f"{i}.csv", csv_of(rows)) for i, rows in enumerate(files)]
    read = read_partly(paths, Reading(columns=Columns(score=("judge",))))
    assert read.pool is not None
    assert read.pool.ratings.values.tolist() == [1, 5]
    assert read.pool.score("judge").tolist() == [0, 1]
