"""refless index: a saved pool, and more ratings added to it."""

from pathlib import Path

import pytest

from command_line import NEIGHBORS, jsonl, rated_rows, run
from refless import load_index


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "rated.jsonl", rated_rows())


def test_one_line(rated: Path, tmp_path: Path) -> None:
    """Says how many texts the index holds, the pool's name in signatures, and how to use it."""
    ran = run("index", rated, "--out-dir", tmp_path / "ix")
    assert ran.code == 0
    pool = (
        run("validate", rated, *NEIGHBORS, "--format", "json")
        .json["signature"]
        .split("|pool:")[1][:12]
    )
    assert ran.out.startswith(f"An index of 48 rated texts, pool {pool}.\n")
    assert ran.out.endswith(f"  refless score OUTPUTS --rated {tmp_path / 'ix'}\n")
    found = run("index", rated, "--out-dir", tmp_path / "ix", "--format", "json").json
    assert found["signature"] == f"index|pool:{pool}|size:48"
    assert (found["folder"], found["n"]) == (str(tmp_path / "ix"), 48)


def test_append(rated: Path, tmp_path: Path) -> None:
    """Halves added one after the other are the whole."""
    rows = rated_rows()
    half = jsonl(tmp_path / "half.jsonl", rows[:72])
    rest = jsonl(tmp_path / "rest.jsonl", rows[72:])
    run("index", half, "--out-dir", tmp_path / "ix")
    added = run("index", rest, "--out-dir", tmp_path / "ix", "--append")
    whole = run("index", rated, "--out-dir", tmp_path / "whole")
    assert added.code == 0
    assert added.out.splitlines()[0] == whole.out.splitlines()[0]


def test_append_keeps_the_n_grams(rated: Path, tmp_path: Path) -> None:
    """Other n-grams for an index that is there are refused, not ignored."""
    run("index", rated, "--out-dir", tmp_path / "ix", "--kernel", "bleu*:orders=1-3")
    more = jsonl(tmp_path / "more.jsonl", [{**rated_rows()[0], "id": "new", "text": "new text"}])
    words = ("index", more, "--out-dir", tmp_path / "ix", "--append", "--kernel")
    assert run(*words, "bleu*:orders=2-3").code == 2
    assert run(*words, "bleu*:orders=1-3").code == 0


@pytest.mark.parametrize("shape", ["orders=1-3", "clip=no", "tokenize=words"])
def test_other_n_grams(rated: Path, tmp_path: Path, shape: str) -> None:
    """An index with its own n-grams serves a command that asks for the same."""
    run("index", rated, "--out-dir", tmp_path / "ix", "--kernel", f"bleu*:{shape}")
    estimator = f"bleu-neighbors:kernel=(bleu*:{shape}),min_neighbors=1"
    words = ("--format", "json", "--estimator", estimator)
    saved, plain = (run("validate", f, *words).json for f in (tmp_path / "ix", rated))
    for found in (saved, plain):
        if found["advice"]:
            del found["advice"]["command"]  # which names the file
    assert saved == plain
    assert run("validate", tmp_path / "ix", *NEIGHBORS).code == 2


def test_wrong_usage(rated: Path, tmp_path: Path) -> None:
    """An index of an index, a file for a folder, nothing to add to, a folder of other things."""
    run("index", rated, "--out-dir", tmp_path / "ix")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all of it")
    for words in (
        (tmp_path / "ix", "--out-dir", tmp_path / "other"),
        (rated, "--out-dir", rated),
        (rated, "--out-dir", tmp_path / "nothing", "--append"),
        (rated, "--out-dir", tmp_path / "mine"),
    ):
        ran = run("index", *words)
        assert ran.code == 2
        assert ran.err.splitlines()[-1].startswith("refless: error: ")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "all of it"


def test_rows_are_read_in_batches(
    rated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ratings of one text in several of them, batches without a rating: the index of the whole."""
    rows = rated_rows()
    blank = [{**row, "rating": None} for row in rows[:9]]
    file = jsonl(tmp_path / "more.jsonl", [*rows[:60], *blank, *rows[60:]])
    whole = run("index", rated, "--out-dir", tmp_path / "whole")
    monkeypatch.setattr("refless.commands.index.run.WHOLE", 0)
    monkeypatch.setattr("refless.commands.index.run.SEGMENT", 7)
    monkeypatch.setattr("refless.metrics.growth.SEGMENT", 7)
    parts = run("index", file, "--out-dir", tmp_path / "parts")
    assert parts.code == 0
    assert parts.out.splitlines()[0] == whole.out.splitlines()[0]
    assert "rows 57 to 63: 3 of 7 rows have no rating" in parts.err
    none = run("index", jsonl(tmp_path / "none.jsonl", blank), "--out-dir", tmp_path / "none")
    assert (none.code, "no rating" in none.err) == (2, True)
    late = [*rows[:8], {**rows[8], "task": "now there is one"}]
    found = run("index", jsonl(tmp_path / "late.jsonl", late), "--out-dir", tmp_path / "late")
    assert "column 'task' begins after 7 rows" in found.err


def test_rows_that_disagree_are_both_named(rated: Path, tmp_path: Path) -> None:
    """Small files are read as one: the error has both places, and columns may differ."""
    odd = jsonl(tmp_path / "odd.jsonl", [{**rated_rows()[3], "text": "another", "task": "t"}])
    found = run("index", rated, odd, "--out-dir", tmp_path / "ix")
    assert found.code == 2
    assert f"{odd}, line 1: " in found.err
    assert f"{rated}, line 4" in found.err


def test_append_is_on_the_scale_of_the_index(rated: Path, tmp_path: Path) -> None:
    """Nobody has to say the scale again, and another one is refused by what was asked for."""
    new = {"id": "new", "text": "A new text.", "rating": 2, "annotator": "a1"}
    more = jsonl(tmp_path / "more.jsonl", [{**rated_rows()[0], **new}])
    run("index", rated, "--scale", "1", "5", "--out-dir", tmp_path / "ix")
    words = ("index", more, "--out-dir", tmp_path / "ix", "--append")
    refused = run(*words, "--scale", "1", "7")
    assert refused.code == 2
    assert "the scale of the index, --scale 1 5; got --scale 1 7" in refused.err
    assert run(*words).code == 0
    pool = load_index(tmp_path / "ix").pool
    assert (len(pool), pool.scale) == (49, (1.0, 5.0))
    assert pool.human[pool.ids.index("new")] == 0.25


def test_a_folder_that_is_no_index(tmp_path: Path) -> None:
    """Says what to name, and not that an index which never was should be made again."""
    ran = run("validate", tmp_path)
    assert ran.code == 2
    assert f"{tmp_path}: a folder without index.json; name a file of rated texts" in ran.err
