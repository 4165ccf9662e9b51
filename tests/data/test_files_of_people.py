"""Files as people have them: each kind is read right, or said or refused aloud."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import refless
from command_line import jsonl
from refless.commands.rows import note_scale
from refless.commands.warnings import collecting
from refless.data.tables import Columns, Reading, read_outputs, read_pool, read_scored
from refless.data.tables.exports.preferences import is_pairs
from refless.data.tables.overview import overview
from refless.registry.dialect import command_line
from refusals import bad_input
from rows import without

Rows = list[dict[str, Any]]
STEPS = range(1, 6)


def rated(**more: Callable[[int], object]) -> Rows:
    """Twenty texts with ratings from 1 to 5, and further cells by functions of the row."""
    return [row(i, more) for i in range(20)]


def row(i: int, more: Mapping[str, Callable[[int], object]]) -> dict[str, Any]:
    """The text of a row, its rating, and further cells."""
    further = {name: cell(i) for name, cell in more.items()}
    return {"text": f"all the words of text {i}", "rating": i % 5 + 1} | further


@pytest.mark.parametrize(
    ("name", "cells", "said"),
    [
        (
            "annotator",
            ["ann", "gpt-4o"],
            "'gpt-4o': a model by its name",
        ),
        (
            "rater_type",
            ["human", "llm"],
            "rater_type is 10 'llm'",
        ),
        (
            "item",
            ["q1", "attention_check_1"],
            "'attention_check_1': is that",
        ),
        (
            "system",
            ["gpt-4o", "gpt_4o"],
            "differ in form alone",
        ),
        (
            "rating",
            [5, "\u2014"],
            "10 rating cells '\u2014' are",
        ),
        (
            "rating",
            [5, "skip"],
            "10 rating cells 'skip' are",
        ),
    ],
)
def test_what_is_odd_is_said(name: str, cells: list[object], said: str) -> None:
    """Models among raters, checks among items, two spellings of a name, words for no answer."""
    rows = rated(**{name: lambda i: cells[i % 2]})
    assert said in " ".join(read_pool(rows).notes)


@pytest.mark.parametrize(
    "cells",
    [
        ["\N{WHITE HEAVY CHECK MARK}", "\N{CROSS MARK}"],
        ["Thumbs up", "thumbs down"],
        ["1.0/1.0", "0/1 points"],
    ],
)
def test_ratings_in_other_forms(cells: list[str]) -> None:
    """Marks, words, shares with units."""
    pool = read_pool(rated(rating=lambda i: cells[i % 2])).pool
    assert sorted({*pool.ratings.values.tolist()}) == [0, 1]


@pytest.mark.parametrize("name", ["Note (1 = sehr gut, 6 = schlecht)", "low is good"])
def test_names_that_say_that_low_is_best(name: str) -> None:
    """A scale that is the other way round is said."""
    rows = [{"text": f"t{i}", name: i % 5} for i in range(9)]
    notes = read_pool(rows, Reading(columns=Columns(rating=(name,)))).notes
    assert "if lower is better" in " ".join(notes)


def test_a_scale_in_a_name() -> None:
    """It is no part of the name; the name of a model is."""
    rows = [{"text": f"t{i}", "Rating (1-5)": 2} for i in range(3)]
    assert read_pool(rows).pool.ratings.values.tolist() == [2, 2, 2]
    with bad_input("no column for the rating"):
        read_pool([{"text": "a", "rating (GPT-4)": 2}])


def test_one_rating_in_columns_of_true_and_false() -> None:
    """Three columns of a crowd's table, one true in each row, are no three raters."""
    names = ("bad", "fair", "good")
    rows = rated(
        bad=lambda i: i % 3 == 0, fair=lambda i: i % 3 == 1, good=lambda i: i % 3 == 2
    )
    with bad_input("one rating in several columns"):
        read_pool(rows, Reading(columns=Columns(rating=names)))


@pytest.mark.parametrize("word", ["Average", "Total:"])
def test_a_line_that_sums_up(word: str) -> None:
    """The mean below a table is no rating of the text 'Average'."""
    with bad_input(f"row 21.*'{word}' seems to sum up"):
        read_pool([*rated(), {"text": word, "rating": 3}])
    assert len(read_pool([{"text": word, "rating": 3}] * 2).pool) == 2


def test_a_file_for_each_rater(tmp_path: Path) -> None:
    """Equal texts in two files are said to be those of two people, different ones are not."""
    a = jsonl(tmp_path / "a.jsonl", rated())
    b = jsonl(tmp_path / "b.jsonl", rated())
    c = jsonl(tmp_path / "c.jsonl", rated(text=lambda i: f"another text {i}"))
    assert "most texts are in several files" in " ".join(read_pool([a, b]).notes)
    assert "most texts are in several files" not in " ".join(read_pool([a, c]).notes)


@pytest.mark.parametrize(("times", "is_said"), [(20, True), (1, False)])
def test_two_scales_of_two_raters(times: int, is_said: bool) -> None:
    """From 1 to 5 and from 20 to 100 are not averaged in silence."""
    rows = rated(rater=lambda _: "ann")
    rows += rated(rater=lambda _: "ben", rating=lambda i: times * (i % 5 + 1))
    with collecting() as notes:
        note_scale(read_pool(rows).pool)
    assert ("highest rating is 5 of one, 100 of" in " ".join(notes)) is is_said


@pytest.mark.parametrize(
    ("file", "mark"), [("a.txt", "\t"), ("a.txt", ","), ("a.csv", "|")]
)
def test_tables_under_other_names(tmp_path: Path, file: str, mark: str) -> None:
    """A table called .txt is one, and so is one with bars; a text with a comma is none."""
    path = tmp_path / file
    path.write_text(f"text{mark}rating\na b{mark}1\nc{mark}2\n", "utf-8")
    assert read_pool(path).pool.texts == ("a b", "c")
    path = tmp_path / "b.txt"
    path.write_text("Yes, text\nNo, text\n", "utf-8")
    assert [column.name for column in overview(path, Reading()).columns] == ["text"]


def test_the_header_again(tmp_path: Path) -> None:
    """Two tables one below the other: the second header is no output."""
    path = tmp_path / "a.csv"
    path.write_text("text,system\na,x\ntext,system\nb,y\n", "utf-8")
    with bad_input("line 3: the header again"):
        read_outputs(path)


@pytest.mark.parametrize(
    ("cells", "ratings", "guesses"),
    [
        (
            {"Ann": 1, "Ben": 2},
            ["Ann", "Ben"],
            {},
        ),
        (
            {"rater_1": 1, "rater_2": 2},
            ["rater_1", "rater_2"],
            {},
        ),
        (
            {"fluency": 1, "overall": 2},
            ["overall", "fluency"],
            {},
        ),
        (
            {"user_score": 1, "human_ease": 2},
            ["human_ease", "user_score"],
            {},
        ),
        (
            {"scores": '{"a": 1, "b": 2}'},
            ["scores.a", "scores.b"],
            {},
        ),
        (
            {"by": [{"who": "ann", "said": 4}]},
            [],
            {"rating": "by.*.said"},
        ),
        (
            {"thumbs": 4, "tokens": 7},
            [],
            {"rating": "thumbs"},
        ),
    ],
)
def test_several_columns_of_ratings(
    cells: dict[str, Any], ratings: list[str], guesses: dict[str, str]
) -> None:
    """People, criteria, and what objects hold are shown, and none of them is chosen alone."""
    rows = [row | cells for row in without(rated(), "rating")]
    seen = overview(rows, Reading())
    assert (list(seen.ratings), seen.proposed) == (ratings, guesses)


def test_criteria_are_named_with_the_way_to_choose() -> None:
    """The card says what may be ratings, and its line reads the first."""
    rows = without(rated(overall=lambda i: i % 5, fluency=lambda _: 3), "rating")
    with command_line({}):
        card = refless.look(rows).cards[0]
    assert "'overall', 'fluency' may be people's ratings" in card.answer
    assert "a person, read all" in card.advice
    assert card.command.endswith("--dimension overall")


def test_numbered_and_lettered_raters_are_people() -> None:
    """Their line reads both; the one that is left beside a chosen one names no raters."""
    rows = without(
        rated(**{"Rater A": lambda i: i % 5, "Rater B": lambda _: 3}), "rating"
    )
    with command_line({}):
        card = refless.look(rows).cards[0]
    read = "--column 'rating=Rater A' --column 'rating=Rater B'"
    assert card.command.endswith(read)
    chosen = Reading(dimension="Rater A")
    assert "annotator" not in overview(rows, chosen).proposed


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "Which response is better?",
            ["Response A", "Response B", "Tie"],
        ),
        (
            "verdict",
            ["A>>B", "B>A", "A=B"],
        ),
        (
            "vote",
            ["a", "b", "neither"],
        ),
    ],
)
def test_winners_under_other_names(name: str, words: list[str]) -> None:
    """A question, a judge's arrows; a choice that nobody made is left out."""
    rows = [
        {"Response A": f"a{i}", "Response B": f"b{i}", name: word}
        for i, word in enumerate([*words, "", "N/A"])
    ]
    read = read_pool(rows)
    wins = dict(zip(read.pool.texts, read.pool.human, strict=True))
    assert [wins["a0"], wins["a1"], wins["a2"]] == [1, 0, 0.5]
    assert "2 pairs without a vote" in " ".join(read.notes)


def test_the_winner_of_a_judge_is_nobodys_choice() -> None:
    """A column called as a judge's scores are makes no pairs, nor does a language."""
    texts = {"output_a": "x", "output_b": "y"}
    assert is_pairs(texts | {"helpful_winner": "a"})
    assert not is_pairs(texts | {"gpt4_winner": "a"})
    assert not is_pairs(texts | {"preferred_language": "de"})


def test_texts_of_named_systems_in_a_row() -> None:
    """The columns of the systems name them, not the ends of names."""
    row = {"output_a": "x", "output_b": "y", "model_a": "m", "model_b": "n"}
    pool = read_pool([{**row, "rating_a": 1, "rating_b": 2}]).pool
    assert sorted(pool.systems) == ["m", "n"]


def test_columns_of_systems_are_told_apart_or_asked() -> None:
    """Two columns for one text make no versions; neither a user of old ones nor a blank does."""
    texts = {"answer_v1": "x y z", "answer_v2": "y z x", "rating_v1": 1, "rating_v2": 2}
    with bad_input("no column for the text"):
        read_pool([{**texts, "answer (v1)": "z"}])
    assert read_pool([{**texts, "v1_user": "u"}]).pool.systems == ("v1", "v2")
    texts = {"answer_GPT": "", "answer_llama": "a text of many words"}
    assert len(read_pool([texts | {"rating_gpt": 1, "rating_llama": 2}]).pool) == 2


@pytest.mark.parametrize("form", ["{}/5", "{} points", "{}.0 of 5"])
def test_a_judge_in_other_forms(form: str) -> None:
    """A judge's cells are read as people's are."""
    rows = rated(judge=lambda i: form.format(i % 5 + 1))
    scored = read_scored(rows, Reading(columns=Columns(score=("judge",))))
    assert sorted({*scored.scores["judge"].tolist()}) == [*STEPS]


@pytest.mark.parametrize("choice", [True, False])
def test_tasks_of_prodigy(tmp_path: Path, choice: bool) -> None:
    """The chosen option, or whether the offered label was accepted; ignored tasks are none.

    Fields: prodi.gy/docs/api-interfaces (choice, classification), read from memory.
    """
    answers = ["accept", "reject", "ignore"]
    own = {"accept": ["4"]} if choice else {"label": "GOOD"}
    rows = [
        {"text": f"t{i}", "_input_hash": i, "_task_hash": i, "answer": word, **own}
        for i, word in enumerate(answers)
    ]
    path = tmp_path / "tasks.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    read = read_pool(path)
    assert read.pool.ratings.values.tolist() == ([4] if choice else [1, 0])
    assert "1 ignored tasks" in " ".join(read.notes)


def test_discarded_responses_of_argilla_in_csv(tmp_path: Path) -> None:
    """Lists are written as Python writes them."""
    names = [f"q.responses{part}" for part in ("", ".users", ".status")]
    cells = ["[4, 2]", "['a', 'b']", "['submitted', 'discarded']"]
    path = tmp_path / "a.csv"
    quoted = ",".join(f'"{cell}"' for cell in cells)
    path.write_text(f"id,text,{','.join(names)}\n1,t,{quoted}\n", "utf-8")
    assert read_pool(path).pool.ratings.values.tolist() == [4]
