"""Columns that are left unread: named, or refused where they look as much like the answer."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import refless
from command_line import jsonl, run
from refless.data.tables import (
    Columns,
    Reading,
    SeveralDimensionsError,
    read_outputs,
    read_pool,
    read_scored,
)
from refusals import bad_input
from rows import by_columns, columns_of, digits, only, renamed, without

Rows = list[dict[str, Any]]
WORDS = ["valve", "filter", "seal", "lid", "button", "screw", "hose"]


def answers(n: int = 8) -> Rows:
    """An answer of each of two systems to n questions, with the book's answer beside it."""
    return [
        {
            "question": f"Why does kettle {i} leak?",
            "answer": f"The book says of kettle {i}: {WORDS[i % 7]}.",
            "written": f"Dear customer, {name} thinks of {WORDS[i % 5]} ({i}).",
            "model": name,
            "rating": 1 + (i + k) % 5,
        }
        for i, (k, name) in product(range(n), enumerate(("old", "new")))
    ]


def test_unread_columns_are_named() -> None:
    """On one line, in the order of the file; a long list is cut with a count."""
    more = {f"c{i}": i for i in range(10)}
    read = read_pool(
        [{"text": "a", "rating": 1, **more}, {"text": "b", "rating": 2, **more}]
    )
    listed = ", ".join(f"'c{i}'" for i in range(8))
    assert read.notes[1:] == (f"the rows: left unread: {listed} and 2 more",)


def test_all_is_read() -> None:
    """Nothing is said if every column is read, by flags or inside objects."""
    rows = [{"text": t, "scores": {"a": 1, "b": 2}, "kind": "k"} for t in "xy"]
    columns = Columns(rating=("scores.*",), slice=("kind",))
    assert not any(
        "unread" in note for note in read_pool(rows, Reading(columns=columns)).notes
    )
    one = Columns(rating=("scores.a",), slice=("kind",))
    notes = read_pool(rows, Reading(columns=one)).notes
    assert "the rows: left unread: 'scores.b'" in notes


def test_unread_columns_are_said_once(tmp_path: Path) -> None:
    """On the line of the columns that were read; the result has it, and so has its JSON."""
    rows = [{**row, "minutes": 3} for row in answers()]
    file = jsonl(tmp_path / "rows.jsonl", rows)
    ran = run(
        "compare", file, "--column", "text=written", "--scale", 1, 5, "--format", "json"
    )
    assert "left unread: 'answer', 'minutes'" in ran.err
    assert len(ran.err.splitlines()) == 1
    assert "left unread: 'answer', 'minutes'" in ran.json["notes"][0]
    columns = {"text": "written"}
    found = refless.compare(str(file), columns=columns, scale=(1, 5))
    assert "left unread: 'answer', 'minutes'" in found.notes[0]


def raters(*names: str) -> Rows:
    """Texts of two systems, rated 1, 2, 3 (old) and 2, 4, 3 (new) by three people."""
    ratings = {"old": (1, 2, 3), "new": (2, 4, 3)}
    return [
        {
            "item": i,
            "text": f"{name} {i}",
            "system": name,
            **dict(zip(names, ratings[name], strict=False)),
        }
        for i, name in product(range(5), ratings)
    ]


@pytest.mark.parametrize(
    "names",
    [
        ("rating", "rating.1", "rating.2"),  # as pandas reads three columns of one name
        ("rating", "rating_2", "rating_3"),
        ("Rating", "Rating 2", "Rating 3"),
        ("human", "human2", "human3"),
        ("rating_1", "rating_2", "rating_3"),
        ("stars-1", "stars-2", "stars-3"),
    ],
)
def test_further_ratings_beside_the_ratings(names: tuple[str, ...]) -> None:
    """Refused; the command that is printed reads all: 3 - 2 = 1 in place of 2 - 1 of the first."""
    rows = raters(*names)
    with bad_input("read all, an annotator a column, with") as raised:
        read_pool(rows)
    flags = shlex.split(
        raised.value.remedy.partition("; or one")[0].partition("with ")[2]
    )
    columns = tuple(flag.removeprefix("rating=") for flag in flags[1::2])
    assert columns == names
    pool = read_pool(rows, by_columns(rating=columns)).pool
    assert pool.human.tolist() == [2, 3] * 5
    alone = read_pool(rows, by_columns(rating=names[:1]))
    assert alone.pool.human.tolist() == [1, 2] * 5
    assert any(
        f"left unread: '{names[1]}', '{names[2]}'" in note for note in alone.notes
    )


@pytest.mark.parametrize(
    "cells", [("late", "early"), (None, None), ("2024-01-02", "2024-01-03")]
)
def test_numbered_columns_that_are_no_ratings(cells: tuple[object, object]) -> None:
    """They are named, not refused."""
    rows = [
        {"text": t, "rating": 1, "rating 2": cell}
        for t, cell in zip("ab", cells, strict=True)
    ]
    assert "the rows: left unread: 'rating 2'" in read_pool(rows).notes


def test_a_text_that_all_systems_share() -> None:
    """Refused if another column differs where the chosen one does not, whatever its name is."""
    rows = answers()
    said = "more than one column could be the text: 'written', 'answer': 'answer' is the same"
    with bad_input(re.escape(said)) as raised:
        read_pool(rows)
    assert "--column text=written or --column text=answer" in raised.value.remedy
    read = read_pool(rows, by_columns(text="answer"))
    assert "the rows: left unread: 'written'" in read.notes


def test_an_article_beside_its_summaries() -> None:
    """A column `text` that all systems share is no output, though no column names items."""
    rows = [
        {
            "text": row["answer"],
            "abstract": row["written"],
            "system": row["model"],
            "rating": 1,
        }
        for row in answers()
    ]
    with bad_input("'abstract', 'text': 'text' is the same for all"):
        read_outputs(rows)


@pytest.mark.parametrize(
    ("chosen", "other", "refused"),
    [
        ("answer", "prediction", True),
        ("text", "summary", True),
        ("answer", "Model Output", True),
        ("output", "summary", False),
        ("answer", "gold_prediction", False),
        ("answer", "comment", False),
    ],
)
def test_names_of_outputs_beside_names_that_may_be_none(
    chosen: str, other: str, refused: bool
) -> None:
    """One system tells nothing by values: names of outputs beside uncertain ones are refused."""
    rows = [
        {chosen: row["answer"], other: row["written"], "rating": 1}
        for row in answers()[::2]
    ]
    if refused:
        with bad_input("more than one column could be the text"):
            read_pool(rows)
    else:
        assert f"the rows: left unread: '{other}'" in read_pool(rows).notes


def test_the_raw_form_of_a_text_is_no_other() -> None:
    """A column named as an output that holds the text, and more around it, leaves no choice."""
    rows = [
        {
            "text": row["written"],
            "raw_response": f"Answer: {row['written']}\n",
            "rating": 1,
        }
        for row in answers()[::2]
    ]
    assert "the rows: left unread: 'raw_response'" in read_pool(rows).notes


def test_comments_of_annotators_are_no_texts() -> None:
    """They differ where the text does not, for one system alone."""
    rows = [
        {
            **row,
            "annotator": name,
            "remark": f"I, {name}, think so of {row['question']}",
        }
        for row, name in product(answers(), "ab")
    ]
    rows = without(rows, "answer")
    rows = renamed(rows, written="output")
    assert "the rows: left unread: 'remark'" in read_pool(rows).notes


def test_an_index_with_a_name() -> None:
    """The index of a frame is a column like others, of several levels too."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(raters("rating"))
    for index in ("item", ["item", "system"]):
        pool = read_pool(frame.set_index(index)).pool
        assert pool.items == read_pool(frame).pool.items
        assert pool.systems == read_pool(frame).pool.systems
    named = frame.rename(columns={"item": "number"}).set_index("number")
    assert "the data frame: left unread: 'number'" in read_pool(named).notes
    assert not any("unread" in note for note in read_pool(frame).notes)


def chats(message: str = "user", answer: str = "assistant") -> Rows:
    """A question of a customer to each of two systems, and their answers."""
    rows = only(answers(), "question", "written", "model", "rating")
    return renamed(rows, question=message, written=answer)


def test_a_user_who_writes_is_a_source() -> None:
    """Of chats `user` is the message; of ratings it is who rated."""
    read = read_pool(chats())
    assert read.pool.texts[0] == answers()[0]["written"]
    assert read.pool.sources[:2] == ("Why does kettle 0 leak?",) * 2
    assert read.pool.ratings.annotators == ()
    people = [
        {**row, "user": name}
        for row, name in product(chats("prompt"), ("ann", "Bo Li"))
    ]
    assert read_pool(people).pool.ratings.annotators == ("Bo Li", "ann")


def test_a_user_beside_a_prompt() -> None:
    """A message is no annotator, and no second source; a flag decides otherwise."""
    rows = [{**row, "prompt": f"p {i // 2}"} for i, row in enumerate(chats())]
    read = read_pool(rows)
    assert (read.pool.sources[0], read.pool.ratings.annotators) == ("p 0", ())
    said = "left unread: 'user'; 'user' does not look like the annotator; --column annotator=user"
    assert any(said in note for note in read.notes)
    named = read_pool(rows, by_columns(annotator="user"))
    assert len(named.pool.ratings.annotators) == 8


def test_a_system_that_is_a_prompt() -> None:
    """A column of long sentences names no system beside `model`."""
    prompt = "You are a helpful assistant. Answer all questions briefly, and in a friendly way."
    read = read_pool([{**row, "system": prompt} for row in chats()])
    assert read.pool.systems[:2] == ("old", "new")


def test_a_confidence_is_no_chance_of_being_rated() -> None:
    """It differs within systems and items; chances of a drawing do not, and a flag decides."""
    rows = [{**row, "probability": 0.1 + i / 20} for i, row in enumerate(chats())]
    plain: Any = refless.compare(chats(), scale=(1, 5))
    read: Any = refless.compare(rows, scale=(1, 5))
    difference = read.comparison.pairs[0].difference
    assert difference.value == plain.comparison.pairs[0].difference.value
    assert any("'inclusion_probability' would be read" in note for note in read.notes)
    drawn = [
        {**row, "probability": 0.3 if i < 8 else 0.6} for i, row in enumerate(chats())
    ]
    weighted: Any = refless.compare(drawn, scale=(1, 5))
    assert not any("unread" in note for note in weighted.notes)
    named = renamed(rows, probability="inclusion_probability")
    flagged: Any = refless.compare(named, scale=(1, 5))
    assert flagged.comparison.pairs[0].difference.value != difference.value


def rated_twice(name: str, *values: object) -> Rows:
    """Ratings of answers under two values of a column: 1 lower under the second, if not 1."""
    return [
        {**row, name: value, "annotator": who, "rating": max(1, row["rating"] - k)}
        for (k, value), row, who in product(
            enumerate(values), chats("prompt", "output"), "ab"
        )
    ]


@pytest.mark.parametrize(
    "name", ["criterion", "Aspect", "metric", "question", "turn", "name"]
)
def test_criteria_are_dimensions(name: str) -> None:
    """Counted, as a column `dimension` is; with its name the ratings are those of one criterion."""
    rows = rated_twice(name, "fluency", "is it true?")
    if name == "question":  # else it is the source beside `prompt`
        rows = without(rows, "prompt")
    with pytest.raises(
        SeveralDimensionsError, match=r"'fluency' \(32\), 'is it true\?' \(32\)"
    ) as raised:
        read_pool(rows)
    assert f"ratings of several dimensions in '{name}'" in raised.value.found
    for dimension, mean in (("fluency", 2.8125), ("is it true?", 2.0)):
        for columns in (Columns(), Columns(dimension=name)):
            read = read_pool(rows, Reading(columns=columns, dimension=dimension))
            assert read.pool.human.mean() == mean
            assert len(read.pool.ratings.values) == 32
            assert not any("unread" in note for note in read.notes)


def test_criteria_within_a_dimension() -> None:
    """A second column in which ratings of a text differ is refused with conditions that choose."""
    rows = [
        {**row, "aspect": aspect}
        for row, aspect in product(rated_twice("turn", 1, 2), ("fluency", "truth"))
    ]
    with bad_input("would be pooled: by 'turn', 'aspect'") as raised:
        read_pool(rows, Reading(dimension="2"))
    assert raised.value.remedy.endswith("such as --where aspect=VALUE")
    reading = Reading(dimension="2", where=("aspect=truth",))
    assert len(read_pool(rows, reading).pool.ratings.values) == 32


@pytest.mark.parametrize(("name", "n"), [("question", 20), ("category", 3)])
@pytest.mark.parametrize("words", ["ABCD", ("yes", "no")])
def test_short_answers_have_no_criteria(
    name: str, n: int, words: Sequence[str]
) -> None:
    """The question, or its topic, tells outputs apart that are alike in their few words."""
    rows = [
        {name: f"q{i % n}", "answer": words[i * 7 % len(words)], "rating": i % 2}
        for i in range(40)
    ]
    assert len(read_pool(rows).pool) == 40


def test_criteria_without_texts() -> None:
    """Ratings and a judge's scores alone do not say which rows are about one text."""
    rows = [{"rating": i % 2, "judge": 1, "category": "ab"[i % 2]} for i in range(8)]
    reading = by_columns(score=("judge",))
    human = read_scored(rows, reading).pool.human
    assert sorted(human.tolist()) == [0] * 4 + [1] * 4


def test_turns_of_conversations_are_texts() -> None:
    """MT-Bench's two turns are two texts of one question and model, and no dimensions."""
    rows = [
        {**row, "turn": turn, "output": f"{row['output']} ({turn})"}
        for row, turn in product(chats("prompt", "output"), (1, 2))
    ]
    assert len(read_pool(rows).pool) == 32
    reading = Reading(columns=Columns(dimension="turn"), dimension="2")
    assert all(text.endswith("(2)") for text in read_pool(rows, reading).pool.texts)


def test_turns_of_pairs_are_not_pooled() -> None:
    """Choices as MT-Bench's people made them: a judge, a question, two models, two turns."""
    rows = [
        {
            "question_id": i,
            "prompt": f"question {i}",
            "response_a": f"a {i}",
            "response_b": f"b {i}",
            "model_a": "old",
            "model_b": "new",
            "winner": ("model_a", "model_b")[i % turn],
            "judge": "expert_1",
            "turn": turn,
        }
        for i, turn in product(range(6), (1, 2))
    ]
    with pytest.raises(SeveralDimensionsError, match=r"'1' \(12\), '2' \(12\)"):
        read_pool(rows)
    read = read_pool(rows, Reading(dimension="2"))
    assert len(read.pool.ratings.values) == 12
    counted = [{**row, "turn": 1 + row["question_id"] % 3} for row in rows[::2]]
    assert len(read_pool(counted).pool) == 12  # Arena's turn is how many there are


@pytest.mark.parametrize("name", ["metric", "category"])
def test_kinds_of_items_are_no_criteria(name: str) -> None:
    """A column that is equal in all ratings of a text tells kinds of texts."""
    rows = [
        {**row, name: f"kind {i % 4}", "annotator": who}
        for (i, row), who in product(enumerate(chats("prompt", "output")), "ab")
    ]
    assert f"the rows: left unread: '{name}'" in read_pool(rows).notes


def test_ratings_again_are_no_criteria() -> None:
    """An annotator may rate a text again; every rating counts, as it did."""
    rows = rated_twice("session", "monday", "friday")
    notes = read_pool(rows).notes
    assert (
        "32 times an annotator rated the same text again; every rating counts" in notes
    )


def test_tasks_with_blank_inputs() -> None:
    """Alpaca's input is blank in many rows; the remedy names the column that is the source."""
    rows = [
        {
            "instruction": f"do {i}",
            "input": "it" * (i % 2),
            "output": f"done {i}",
            "rating": i % 3,
        }
        for i in range(6)
    ]
    with bad_input("or name another column with --column source=instruction"):
        read_pool(rows)
    named = read_pool(rows, by_columns(source="instruction"))
    assert named.pool.sources[0] == "do 0"


def test_scores_inside_objects() -> None:
    """The remedy names what an object holds, also as JSON in a text."""
    for cell in ({"fluency": 1}, '{"fluency": 1}'):
        rows = [{"text": t, "rating": 1, "judge": cell} for t in "ab"]
        with bad_input(r"as in --score-column judge\.fluency"):
            read_scored(rows, by_columns(score=("judge",)))
        named = by_columns(score=("judge.fluency",))
        assert read_scored(rows, named).scores["judge.fluency"].tolist() == [1, 1]


def test_rejected_contents_are_no_marks() -> None:
    """Few rejected rows were rejected by a tool; many are what a column says of the texts."""
    rows = [
        {"text": f"t{i}", "rating": i % 3, "rejected": int(i < 4)} for i in range(20)
    ]
    assert len(read_pool(rows).pool) == 16
    assert len(read_pool(rows[:8]).pool) == 8


def test_people_who_are_called_as_models() -> None:
    """A name that some model family has is a person's if it is no certain name of a model."""
    for people in (["Gemma Large"], ["Gemma Large", "gpt-4"], ["gpt-4", "Ann"]):
        rows = [
            {"text": f"t{i}", "rating": i, "annotator": who}
            for i, who in enumerate(people)
        ]
        assert len(read_pool(rows).pool) == len(people)
    with bad_input("are models by their names: 'mistral-large'"):
        read_pool([{"text": "t", "rating": 1, "annotator": "mistral-large"}])


PEOPLE = dict(zip(("ann", "bo", "cy"), digits("12345 22445 54321"), strict=True))


def shuffled(name: str = "rater") -> Rows:
    """Three people's ratings of five texts in lists whose order changes from text to text."""
    rows = []
    for i, ratings in enumerate(zip(*PEOPLE.values(), strict=True)):
        by = zip(PEOPLE, ratings, strict=True)
        people = [{name: who, "rating": rating} for who, rating in by]
        turned = people[i % 3 :] + people[: i % 3]
        rows.append({"text": f"t{i}", "annotations": turned})
    return rows


def by_person(rows: Any, columns: Columns) -> dict[str, tuple[float, ...]]:
    """The ratings of each annotator in the order of texts."""
    ratings = read_pool(rows, Reading(columns=columns)).pool.ratings
    return {
        name: tuple(ratings.values[ratings.annotator == i].tolist())
        for i, name in enumerate(ratings.annotators)
    }


@pytest.mark.parametrize(
    "name", ["annotator", "rater", "worker_id", "User", "evaluator"]
)
def test_objects_in_lists_name_who_rated(name: str) -> None:
    """The place in the list says nothing."""
    columns = Columns(rating=("annotations.*.rating",))
    assert by_person(shuffled(name), columns) == PEOPLE
    first = read_pool(shuffled(name), Reading(columns=columns)).notes[0]
    assert first.endswith(f"annotators from 'annotations.*.{name}'")


@pytest.mark.parametrize(
    ("rating", "who"),
    [
        ("rating_{}", "annotator_{}"),
        ("Rating {}", "Rater {}"),
        ("rating.{}", "worker.{}"),
    ],
)
def test_numbered_columns_of_annotators(rating: str, who: str) -> None:
    """Of `rating_2` the annotator is `annotator_2`."""
    rows = []
    for row in shuffled():
        cells = {"text": row["text"]}
        for i, annotation in enumerate(row["annotations"], 1):
            cells[rating.format(i)] = annotation["rating"]
            cells[who.format(i)] = annotation["rater"]
        rows.append(cells)
    assert by_person(rows, Columns(rating=(rating.format("*"),))) == PEOPLE


def test_lists_that_name_nobody() -> None:
    """Each place is one annotator, which is said."""
    rows = [
        {**row, "annotations": only(row["annotations"], "rating")} for row in shuffled()
    ]
    notes = read_pool(rows, by_columns(rating=("annotations.*.rating",))).notes
    assert (
        "the rows: each place in 'annotations' counts as one annotator; if only one is people's, "
        "name it, as in --column rating=annotations.0.rating"
    ) in notes


def wide(**more: Any) -> Rows:
    """A column a person, and further columns made of these."""
    rows = []
    for i, ratings in enumerate(zip(*PEOPLE.values(), strict=True)):
        row = dict(zip(PEOPLE, ratings, strict=True))
        row |= {name: summary(ratings) for name, summary in more.items()}
        cells = {f"rating_{name}": cell for name, cell in row.items()}
        rows += [{**cells, "text": f"t{i}"}] * 2
    return rows


@pytest.mark.parametrize("name", ["avg", "Mean", "total", "std"])
def test_summaries_are_no_annotators(name: str) -> None:
    """A pattern leaves them out, and they are named as unread."""
    read = read_pool(wide(**{name: sum}), by_columns(rating=("rating_*",)))
    assert read.pool.ratings.annotators == ("rating_ann", "rating_bo", "rating_cy")
    assert f"the rows: left unread: 'rating_{name}'" in read.notes


def test_a_mean_under_another_name() -> None:
    """It is told by its values, rounded to one digit, and refused."""
    rows = wide(final=lambda ratings: round(sum(ratings) / 3, 1))
    every = (
        "--column rating=rating_ann --column rating=rating_bo --column rating=rating_cy"
    )
    with bad_input(f"'rating_final' is the mean .* alone: {every}"):
        read_pool(rows, by_columns(rating=("rating_*",)))


def test_annotators_who_agree_are_no_means() -> None:
    """Of three equal columns each is the mean of the others; a fourth person may be near it."""
    rows = [{"text": f"t{i}", "a": i % 5, "b": i % 5, "c": i % 5} for i in range(20)]
    pool = read_pool(rows, by_columns(rating=("a", "b", "c"))).pool
    assert len(pool.ratings.annotators) == 3
    rows[0] |= {"a": 1, "b": 3, "c": 2}
    assert len(read_pool(rows, by_columns(rating=("a", "b", "c"))).pool) == 20


@pytest.mark.parametrize(
    "name",
    [
        *(
            "weighted_alpaca_eval_gpt4_turbo",
            "GPT-4o",
            "claude-3-opus",
            "Llama 3",
            "an-llm",
        ),
        "Command R+",
    ],
)
def test_models_are_no_annotators(name: str) -> None:
    """Annotators who are all called as models are: refused, unless a flag says that they are."""
    rows = [{**row, "annotator": name} for row in chats("prompt", "output")]
    with bad_input("the annotators are models by their names: ") as raised:
        read_pool(rows)
    assert "say so: --column annotator=annotator" in raised.value.remedy
    named = by_columns(annotator="annotator")
    assert read_pool(rows, named).pool.ratings.annotators == (name,)
    choices = [
        {
            "output_1": f"a {i}",
            "output_2": f"b {i}",
            "annotator": name,
            "preference": 1 + i % 2,
        }
        for i in range(4)
    ]
    with bad_input("the annotators are models by their names: "):
        read_pool(choices)


def test_first_names_are_no_models() -> None:
    """A first name is no model; nor are all annotators if one of them is."""
    for names in (("Claude", "Gemma"), ("Claude R.", "Gemma R."), ("gpt-4", "ann")):
        rows = [
            {**r, "annotator": names[i % 2]}
            for i, r in enumerate(chats("prompt", "output"))
        ]
        assert read_pool(rows).pool.ratings.annotators == tuple(sorted(names))


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize(
    "names", [("role", "content", "assistant"), ("from", "value", "gpt")]
)
def test_chats_are_texts(
    tmp_path: Path, names: tuple[str, str, str], as_text: bool
) -> None:
    """The last turn of the model is the text, all before is the source, in files and frames."""
    who, what, model = names
    turns = [
        ("user", "Hi"),
        (model, "Hello!"),
        ("user", "Does it leak?"),
        (model, "No."),
    ]
    chat = [{who: speaker, what: said} for speaker, said in turns]
    rows = [{"messages": chat[: 2 * n], "rating": n, "criterion": "a"} for n in (1, 2)]
    if as_text:
        rows = [{**row, "messages": json.dumps(row["messages"])} for row in rows]
    for source in (rows, columns_of(rows), str(jsonl(tmp_path / "rows.jsonl", rows))):
        read = read_pool(source)
        assert read.pool.texts == ("Hello!", "No.")
        assert read.pool.sources[0] == "Hi"
        assert read.pool.sources[1] == f"user: Hi\n{model}: Hello!\nuser: Does it leak?"
        assert (
            "the last turn of the model in 'messages', the source what is bef"
            in read.notes[0]
        )


def test_chats_beside_texts_or_without_a_model() -> None:
    """A column of texts comes first; a chat in which the model says nothing is a bad row."""
    chat = [{"role": "user", "content": "Hi"}]
    read = read_pool([{"text": "a", "messages": chat, "rating": 1}])
    assert (read.pool.texts, read.pool.sources) == (("a",), ())
    with bad_input("no text"):
        read_pool([{"messages": chat, "rating": 1}])


def two_files(folder: Path, change: str = " now", *, shift: int = 0) -> list[str]:
    """A file a prompt: answers of two models to the same questions, 1 better in the second."""
    rows = [
        {
            "prompt": f"p {i // 2}",
            "output": f"o {i}",
            "model": f"m{i % 2}",
            "rating": 1 + i % 4,
        }
        for i in range(24)
    ]
    more = [
        row
        | {"output": row["output"] + change, "rating": row["rating"] + 1}
        | {"prompt": f"p {i // 2 + shift}"}
        for i, row in enumerate(rows)
    ]
    files = {"before.jsonl": rows, "after.jsonl": more}
    return [str(jsonl(folder / name, content)) for name, content in files.items()]


def test_two_files_of_the_same_models(tmp_path: Path) -> None:
    """The files are compared, by the items of both: 1, of 12 pairs that differ by 1 each."""
    files = two_files(tmp_path)
    found: Any = refless.compare(files, scale=(1, 5))
    pair = found.comparison.pairs[0]
    assert {pair.first, pair.second} == {"before", "after"}
    assert abs(pair.difference.value) == pytest.approx(1)
    said = "the files are compared: each has answers of 'm0', 'm1' to the same items"
    told = f"{said}; --column system=model compares these instead"
    assert told in found.notes
    by_model: Any = refless.compare(files, scale=(1, 5), columns={"system": "model"})
    assert {
        by_model.comparison.pairs[0].first,
        by_model.comparison.pairs[0].second,
    } == {"m0", "m1"}


@pytest.mark.parametrize("how", ["other items", "the same texts"])
def test_files_that_are_parts_of_one(tmp_path: Path, how: str) -> None:
    """Other items, or the same texts rated again, are no other answers: models are compared."""
    files = two_files(
        tmp_path, "" if how == "the same texts" else " now", shift=50 * (how[0] == "o")
    )
    found: Any = refless.compare(files, scale=(1, 5))
    assert {found.comparison.pairs[0].first, found.comparison.pairs[0].second} == {
        "m0",
        "m1",
    }
