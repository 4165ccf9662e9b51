"""Scores of others as they are read: files, frames, pools; what is missing, wrong or lacking."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_line import jsonl
from refless.data.human import pool_of
from refless.data.tables import (
    Columns,
    Reading,
    parse_word_map,
    read_both,
    read_outputs,
    read_pool,
)
from refless.registry.arrays import FloatArray
from refless.registry.errors import InputError
from refusals import bad_input, bad_usage

NAN = float("nan")
ROWS = "text,rating,gpt4,comet\na,1,4,0.5\nb,2,N/A,-1e3\nc,3,,nan\n"


def reading(*names: str, **more: Any) -> Reading:
    """With these columns as scores."""
    return Reading(columns=Columns(score=names), **more)


def same(found: FloatArray, *wanted: list[float]) -> None:
    np.testing.assert_array_equal(found, wanted)


def test_files(tmp_path: Path) -> None:
    """Sorted by name whatever the order of flags; blanks, NaN and N/A are missing."""
    path = tmp_path / "rated.csv"
    path.write_text(ROWS, "utf-8")
    for names in (("gpt4", "comet"), ("comet", "gpt4"), ("*t*4", "com*")):
        pool = read_pool(path, reading(*names)).pool
        assert pool.score_names == ("comet", "gpt4")
        same(pool.scores, [0.5, 4], [-1000, NAN], [NAN, NAN])
    assert read_pool(path).pool.score_names == ()
    outputs = read_outputs(path, reading("gpt4")).outputs
    same(outputs.scores, [4], [NAN], [NAN])


def test_partly_rated(tmp_path: Path) -> None:
    """Outputs keep theirs."""
    rows = [
        {"text": t, "rating": r, "judge": s}
        for t, r, s in (("a", 1, 5), ("b", None, 4))
    ]
    pool, outputs = read_both(jsonl(tmp_path / "one.jsonl", rows), reading("judge"))
    same(pool.pool.scores, [5])
    same(outputs.outputs.scores, [4])


@pytest.mark.parametrize("other", [8, None])
def test_rows_of_one_text_must_agree(other: float | None) -> None:
    """In their scores as in all that is about the text; a blank is no 7."""
    rows = [
        {"id": "1", "text": "a", "rating": 1, "judge": score} for score in (7, other)
    ]
    with bad_input("id '1' has two judge scores: here and on row 1"):
        read_pool(rows, reading("judge"))


def test_wrong_cells(tmp_path: Path) -> None:
    """File, line and column; such rows can be skipped."""
    path = tmp_path / "rated.csv"
    path.write_text(ROWS + "d,4,high,1\ne,5,inf,1\n", "utf-8")
    with bad_input("score 'high' is not a number") as caught:
        read_pool(path, reading("gpt4"))
    assert (caught.value.path, caught.value.line, caught.value.column) == (
        str(path),
        5,
        "gpt4",
    )
    assert len(read_pool(path, reading("gpt4", skip_bad=True)).pool) == 3
    outputs = read_outputs(path, reading("gpt4", skip_bad=True)).outputs
    assert outputs.bad == (False, False, False, True, True)


@pytest.mark.parametrize(
    "words",
    [["SAFE", "UNSAFE"], ["pass", "partial", "fail"], ["low", "medium", "high"]],
)
def test_words_of_a_judge(words: list[str]) -> None:
    """Words that are no pair are an error with a map of those that were seen, which is read."""
    rows = [
        {"text": f"t{i}", "rating": 1, "judge": word} for i, word in enumerate(words)
    ]
    with pytest.raises(InputError) as caught:
        read_pool(rows, reading("judge"))
    seen = ",".join(f"{word}=NUMBER" for word in sorted(map(str.casefold, words)))
    assert f"say what its words mean: --read score-map={seen} (" in str(caught.value)
    score_map = {word: i / 2 for i, word in enumerate(words)}
    pool = read_pool(rows, reading("judge", score_map=score_map)).pool
    assert pool.score("judge").tolist() == [*score_map.values()]


def test_a_map_of_some_words() -> None:
    """Beside pass and fail it gives what lies between; what it has as nothing is a blank."""
    cells = ["pass", "fail", "partial", "unsure"]
    rows = [
        {"text": f"t{i}", "rating": 1, "judge": word} for i, word in enumerate(cells)
    ]
    score_map = parse_word_map("partial=0.5,unsure=", "score-map")
    pool = read_pool(rows, reading("judge", score_map=score_map)).pool
    np.testing.assert_array_equal(pool.score("judge"), [1, 0, 0.5, NAN])


def test_a_column_that_a_file_lacks(tmp_path: Path) -> None:
    """Each file needs it, not just one of them."""
    both = [
        jsonl(tmp_path / name, [{"text": name, "rating": 1}])
        for name in ("a.jsonl", "b.csv")
    ]
    both[1].write_text("text,rating,judge\nb,2,3\n", "utf-8")
    with bad_input("there is no column 'judge'") as caught:
        read_pool(both, reading("judge"))
    assert caught.value.path == str(both[0])
    with bad_input(r"there is no column 'judge' \(--score-column\)"):
        read_outputs(both[0], reading("judge"))
    with bad_input(r"no column matches 'j\*' \(--score-column\)"):
        read_outputs(both[0], reading("j*"))


def test_pools_keep_what_is_asked_for() -> None:
    """All without a name; an unknown name, or a pool without any, is refused."""
    pool = pool_of(["a"], [1], scores={"gpt4": [1], "gpt35": [2], "comet": [3]})
    assert read_pool(pool).pool.score_names == ("comet", "gpt35", "gpt4")
    assert read_pool(pool, reading("gpt*")).pool.score_names == ("gpt35", "gpt4")
    same(read_outputs(pool, reading("gpt4")).outputs.scores, [1])
    with bad_input("no column 'gpt5'"):
        read_pool(pool, reading("gpt5"))
    with bad_usage("keep no scores; make them again with --score-column j"):
        read_pool(pool_of(["a"], [1]), reading("judge"))


def test_two_marks_of_a_judge(tmp_path: Path) -> None:
    """Scores such as '7,9' of two judges are no decimals either."""
    cells = [f"{mark},{mark % 5 + 1}" for mark in (1, 2, 3, 4, 5) * 3]
    rows = [
        {"text": f"t{i}", "rating": i % 5, "judge": cell}
        for i, cell in enumerate(cells)
    ]
    path = jsonl(tmp_path / "r.jsonl", rows)
    with bad_input("'1,2' looks like two ratings in one cell"):
        read_pool([str(path)], Reading(columns=Columns(score=("judge",))))
