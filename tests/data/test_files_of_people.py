"""Files as people have them: each kind is read right, or said or refused aloud."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import refless
from refless.commands.rows import note_scale
from refless.commands.warnings import collecting
from refless.data.tables import Columns, Reading, read_outputs, read_pool, read_scored
from refless.data.tables.overview import overview
from refless.registry.dialect import command_line
from refusals import bad_input

Rows = list[dict[str, Any]]
STEPS = range(1, 6)


def rated(**more: Any) -> Rows:
    """Twenty texts with a rating from 1 to 5, and further cells by functions of the row."""
    return [
        {
            "text": f"all the words of text {i}",
            "rating": i % 5 + 1,
            **{name: cell(i) for name, cell in more.items()},
        }
        for i in range(20)
    ]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"annotator": lambda i: ["ann", "gpt-4o"][i % 2]}, "'gpt-4o': a model by"),
        ({"rater_type": lambda i: ["human", "llm"][i % 2]}, "rater_type is 10 'llm'"),
        ({"item": lambda i: f"attention_check_{i}" if i > 17 else i}, "check_18', "),
        ({"system": lambda i: ["gpt-4o", "gpt_4o"][i % 2]}, "differ in form alone"),
        ({"rating": lambda i: ["\u2014", 5][i % 2]}, "10 rating cells '\u2014' are"),
        ({"rating": lambda i: ["skip", 5][i % 2]}, "10 rating cells 'skip' are"),
    ],
)
def test_what_is_odd_is_said(more: dict[str, Any], said: str) -> None:
    """Models among raters, checks among items, two spellings of a name, words for no answer."""
    assert said in " ".join(read_pool(rated(**more)).notes)


@pytest.mark.parametrize(
    "cells",
    [
        ["\N{WHITE HEAVY CHECK MARK}", "\N{CROSS MARK}"],
        ["Thumbs up", "thumbs down"],
        ["1.0/1.0", "0/1 points"],
        ["'1", "0"],
    ],
)
def test_ratings_in_other_forms(cells: list[str]) -> None:
    """Marks, words, shares with units, numbers behind the apostrophe of a spreadsheet."""
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
    """Five columns of a crowd's table, one true in each row, are no five raters."""
    rows = [
        {"text": f"t{i}", **{f"Answer.good.{k}": i % 5 + 1 == k for k in STEPS}}
        for i in range(20)
    ]
    with bad_input("one rating in several columns"):
        read_pool(rows, Reading(columns=Columns(rating=("Answer.good.*",))))


@pytest.mark.parametrize("word", ["Average", "Total:"])
def test_a_line_that_sums_up(word: str) -> None:
    """The mean below a table is no rating of the text 'Average'."""
    with bad_input(f"row 21.*'{word}' seems to sum up"):
        read_pool([*rated(), {"text": word, "rating": 3}])
    assert len(read_pool([{"text": word, "rating": 3}] * 2).pool) == 2


def test_a_file_for_each_rater(tmp_path: Path) -> None:
    """Equal texts in two files are said to be those of two people, different ones are not."""
    for name in "abc":
        rows = [{**row, "text": row["text"] + "c" * (name == "c")} for row in rated()]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows), "utf-8")
    a, b, c = (str(tmp_path / f"{name}.json") for name in "abc")
    assert "most texts are in several files" in " ".join(read_pool([a, b]).notes)
    assert "most texts are in several files" not in " ".join(read_pool([a, c]).notes)


def test_two_scales_of_two_raters() -> None:
    """From 1 to 5 and from 20 to 100 are not averaged in silence."""
    rows = [
        {**row, "rater": who, "rating": row["rating"] * times}
        for row in rated()
        for who, times in (("ann", 1), ("ben", 20))
    ]
    said = "highest rating is 5 of one, 100 of another"
    same = [{**row, "rater": who} for row in rated() for who in ("ann", "ben")]
    with collecting() as notes:
        note_scale(read_pool(same).pool)
        assert said not in " ".join(notes)
        note_scale(read_pool(rows).pool)
        assert said in " ".join(notes)


@pytest.mark.parametrize(
    ("file", "mark"), [("a.txt", "\t"), ("a.txt", ","), ("a.csv", "|")]
)
def test_tables_under_other_names(tmp_path: Path, file: str, mark: str) -> None:
    """A table called .txt is one, and so is one with bars; a text with a comma is none."""
    lines = [mark.join(row) for row in [("text", "rating"), ("a b", "1"), ("c", "2")]]
    path = tmp_path / file
    path.write_text("\n".join(lines), "utf-8")
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
        ({"Ann": 1, "Ben": 2}, ["Ann", "Ben"], {}),
        ({"rater_1": 1, "rater_2": 2}, ["rater_1", "rater_2"], {}),
        ({"fluency": 1, "overall": 2}, ["overall", "fluency"], {}),
        ({"user_score": 1, "human_ease": 2}, ["human_ease", "user_score"], {}),
        ({"scores": '{"a": 1, "b": 2}'}, ["scores.a", "scores.b"], {}),
        ({"by": [{"who": "ann", "said": 4}]}, [], {"rating": "by.*.said"}),
        ({"thumbs": 4, "tokens": 7}, [], {"rating": "thumbs"}),
    ],
)
def test_several_columns_of_ratings(
    cells: dict[str, Any], ratings: list[str], guesses: dict[str, str]
) -> None:
    """People, criteria, and what objects hold are shown, and none of them is chosen alone."""
    rows = [{"text": row["text"], **cells} for row in rated()]
    seen = overview(rows, Reading())
    assert (list(seen.ratings), seen.proposed) == (ratings, guesses)


def test_criteria_are_named_with_the_way_to_choose() -> None:
    """The card says what may be ratings, and its line reads the first."""
    rows = [{**row, "fluency": 3} for row in rated(overall=lambda i: i % 5)]
    rows = [{name: row[name] for name in row if name != "rating"} for row in rows]
    with command_line({}):
        card = refless.look(rows).cards[0]
    assert "'overall', 'fluency' may be people's ratings" in card.answer
    assert "a person, read all" in card.advice
    assert card.command.endswith("--dimension overall")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Which response is better?", ["Response A", "Response B", "Tie"]),
        ("verdict", ["A>>B", "B>A", "A=B"]),
        ("vote", ["a", "b", "neither"]),
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


def test_texts_of_named_systems_in_a_row() -> None:
    """The columns of the systems name them, not the ends of names."""
    row = {"output_a": "x", "output_b": "y", "model_a": "m", "model_b": "n"}
    pool = read_pool([{**row, "rating_a": 1, "rating_b": 2}]).pool
    assert sorted(pool.systems) == ["m", "n"]


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
    assert read.pool.ratings.values.tolist() == ([4, 4] if choice else [1, 0])
    assert "1 ignored tasks" in " ".join(read.notes)


def test_discarded_responses_of_argilla_in_csv(tmp_path: Path) -> None:
    """Lists are written as Python writes them."""
    names = [f"q.responses{part}" for part in ("", ".users", ".status")]
    cells = ["[4, 2]", "['a', 'b']", "['submitted', 'discarded']"]
    path = tmp_path / "a.csv"
    quoted = ",".join(f'"{cell}"' for cell in cells)
    path.write_text(f"id,text,{','.join(names)}\n1,t,{quoted}\n", "utf-8")
    assert read_pool(path).pool.ratings.values.tolist() == [4]
