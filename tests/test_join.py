"""Ratings joined with their texts: of any tables, and of tools that keep them apart.

The samples in `exports/` were made with the models of langsmith 0.15.0, langfuse 5.0.4 and
arize-phoenix-client 3.5.0 (Langfuse's traces and scores.jsonl by hand, as its server exports them):
three texts; person 7 gave the first one 4 and the second one 5 for quality and 1 for helpful,
person 8 gave the first one 2; models and programs gave the others.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import refless
from command_line import jsonl, run
from refless import InputError, Reading, UsageError, read_outputs, read_pool
from refless.report.export import as_csv, as_jsonl
from refless.tables import Columns, Joined, joined

EXPORTS = Path(__file__).parent / "exports"
TEXTS = [{"doc": n, "text": f"t{n}", "system": "s"} for n in (1, 2, 3)]
RATINGS = [
    {"id": "r1", "of": "1", "annotator": "ann", "rating": 4, "system": "s"},
    {"id": "r2", "of": "1", "annotator": "bob", "rating": 5, "system": "s"},
    {"id": "r3", "of": "2", "annotator": "ann", "rating": 3, "system": "s"},
    {"id": "r4", "of": "9", "annotator": "ann", "rating": 3, "system": "s"},
]


def join(texts: Any, ratings: Any, on: str | None = None, **more: Any) -> Joined:
    return joined(texts, ratings, on, Reading(**more))


def test_rows_have_the_columns_of_both() -> None:
    """A row a rating and one a text without; `id` is the key; equal columns are there once."""
    found = join(TEXTS, RATINGS, "doc=of")
    about = {"text": "t1", "system": "s"}
    assert found.rows == [
        {"id": "1", **about, "ratings.id": "r1", "annotator": "ann", "rating": 4},
        {"id": "1", **about, "ratings.id": "r2", "annotator": "bob", "rating": 5},
        {"id": "2", **about, "text": "t2", "ratings.id": "r3", "annotator": "ann", "rating": 3},
        {"id": "3", **about, "text": "t3", "ratings.id": None, "annotator": None, "rating": None},
    ]
    counts = (found.n_texts, found.n_rated, found.n_ratings, found.n_matched)
    assert counts == (3, 2, 4, 3)


def test_columns_that_differ_are_both_kept() -> None:
    """What is about the text is the text's, what is about the rating is the rating's."""
    texts = [{"id": 1, "text": "a", "note": "x", "timestamp": "2026-01-01"}]
    ratings = [{"id": 1, "rating": 3, "note": "y", "timestamp": "2026-02-02"}]
    assert join(texts, ratings).rows == [
        {
            "id": "1",
            "text": "a",
            "note": "x",
            "texts.timestamp": "2026-01-01",
            "rating": 3,
            "ratings.note": "y",
            "timestamp": "2026-02-02",
        }
    ]


def test_nested_keys() -> None:
    """By dots, on either side."""
    texts = [{"meta": {"key": 7}, "text": "a", "id": "x"}]
    ratings = [{"about": [{"key": 7}], "rating": 3}]
    (row,) = join(texts, ratings, "meta.key=about.0.key").rows
    assert row["id"] == "7"
    assert (row["texts.id"], row["rating"]) == ("x", 3)
    assert [name for name in row if "." in name] == ["texts.id"]


@pytest.mark.parametrize(
    ("texts", "ratings", "on", "found"),
    [
        (TEXTS, RATINGS, "doc=id", r"'doc' is '1', '2', '3' there, and id is 'r1', 'r2', 'r3' in"),
        ([*TEXTS, TEXTS[0]], RATINGS, "doc=of", "row 4, .*'1' is that of two texts: .* row 1"),
        (TEXTS, [*RATINGS, RATINGS[0]], "doc=of", "row 5, .*'ann' rated a text twice: .* row 1"),
        (TEXTS, RATINGS, "doc=nope", r"no column 'nope' \(--on\)"),
        (TEXTS, RATINGS, None, "Say so with --on NAME, .*; both have 'system'"),
        (TEXTS, RATINGS, "doc=", "--on needs a column"),
    ],
)
def test_what_cannot_be_joined(texts: Any, ratings: Any, on: str, found: str) -> None:
    """Keys of each side, or the rows that clash, are told."""
    with pytest.raises((InputError, UsageError), match=found):
        join(texts, ratings, on)


def test_several_ratings_by_one_person() -> None:
    """Of several dimensions, or by people who are not named."""
    ratings = [{"doc": 1, "rating": 3, "annotator": "ann", "aspect": one} for one in "ab"]
    with pytest.raises(InputError, match="rated a text twice"):
        join(TEXTS, ratings, "doc")
    columns = Columns(dimension="aspect")
    assert join(TEXTS, ratings, "doc", columns=columns).n_matched == 2
    with pytest.raises(InputError, match="rated a text twice in dimension 'a'"):
        join(TEXTS, [*ratings, ratings[0]], "doc", columns=columns)
    nameless = [{"doc": 1, "rating": 3}] * 2 + [{"doc": 1, "rating": 3, "annotator": ""}] * 2
    assert join(TEXTS, nameless, "doc").n_matched == 4


PLATFORMS = [
    ("langsmith/runs.jsonl", "langsmith/feedback.jsonl", "00000000-0000-0000-0000-00000000000"),
    ("langfuse/traces.json", "langfuse/scores.json", "u"),
    ("langfuse/traces.json", "langfuse/scores.jsonl", "u"),
    ("phoenix/spans.json", "phoenix/annotations.json", "u"),
    ("phoenix/spans.json", "phoenix/annotations.csv", "u"),
]


@pytest.mark.parametrize(("texts", "ratings", "who"), PLATFORMS)
@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_platforms(texts: str, ratings: str, who: str, ending: str, tmp_path: Path) -> None:
    """Known by content, joined without --on, and read again by every command."""
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    file = tmp_path / f"joined.{ending}"
    ran = run("join", EXPORTS / texts, EXPORTS / ratings, "-o", file)
    assert (ran.code, ran.out.split(" on ")[0]) == (0, "4 of 4 ratings joined with 2 of 3 texts")
    assert "not by people" in ran.err
    assert "1 text of 3 has no rating" in ran.err
    pool = read_pool(file, Reading(dimension="quality")).pool
    assert (pool.texts, pool.sources) == (
        ("Sure, for how many?", "Yes, until ten."),
        ("Book a table", "Is it open?"),
    )
    assert pool.ratings.annotators == (f"{who}7", f"{who}8")
    assert pool.ratings.values.tolist() == [4, 2, 5]
    assert read_pool(file, Reading(dimension="helpful")).pool.human.tolist() == [1]
    if not texts.startswith("langfuse"):
        assert pool.systems == ("bot-a", "bot-a")


def test_what_people_did_not_say(tmp_path: Path) -> None:
    """Scores of others, comments, preferences, and of sessions: counted and left out."""
    feedback = json.loads((EXPORTS / "langsmith/feedback.jsonl").read_text().splitlines()[0])
    apart = [{**feedback, "comparative_experiment_id": "x"}, {**feedback, "score": None}, feedback]
    file = jsonl(tmp_path / "feedback.jsonl", apart)
    notes = " ".join(join(str(EXPORTS / "langsmith/runs.jsonl"), str(file)).notes)
    assert "1 preferences, which rate no text, 1 feedback without a value" in notes
    score = json.loads((EXPORTS / "langfuse/scores.jsonl").read_text().splitlines()[0])
    text = {**score, "dataType": "TEXT", "stringValue": "odd"}
    words = {**score, "dataType": "CATEGORICAL", "value": 1, "stringValue": "good"}
    file = jsonl(tmp_path / "scores.jsonl", [text, {**score, "traceId": None}, words])
    found = join(str(EXPORTS / "langfuse/traces.json"), str(file))
    notes = " ".join(found.notes)
    assert "1 comments and corrections, which are no ratings, 1 scores of sessions or runs" in notes
    assert "left out: 3 scores without an author, in traces" in notes
    assert found.rows[0]["rating"] == "good"
    note = json.loads((EXPORTS / "phoenix/annotations.json").read_text())["data"][0]
    label = {**note, "result": {"label": "good"}, "user_id": None, "identifier": "ann"}
    parts = [{**note, "document_position": 1}, {**note, "result": {}}, label]
    file = jsonl(tmp_path / "notes.jsonl", parts)
    found = join(str(EXPORTS / "phoenix/spans.json"), str(file))
    notes = " ".join(found.notes)
    assert "1 annotations of documents, not of what came out, 1 annotations without a" in notes
    assert (found.rows[0]["rating"], found.rows[0]["annotator"]) == ("good", "ann")


def test_data_frames_of_phoenix(tmp_path: Path) -> None:
    """Spans as the client's frame has them; attributes in objects within objects."""
    row = {
        "name": "chat",
        "span_kind": "LLM",
        "context.span_id": "sp1",
        "attributes.input.value": "q",
        "attributes.output.value": "a",
    }
    nested = {
        "name": "chat",
        "span_kind": "LLM",
        "context": {"span_id": "sp2"},
        "attributes": {"output": {"value": '{"answer": "b"}'}},
    }
    file = jsonl(tmp_path / "spans.jsonl", [row, nested])
    found = join(str(file), str(EXPORTS / "phoenix/annotations.json"))
    texts = {row["id"]: (row["text"], row["source"]) for row in found.rows}
    assert texts == {"sp1": ("a", "q"), "sp2": ('{"answer": "b"}', None)}


def test_texts_that_are_none(tmp_path: Path) -> None:
    """Runs, traces and spans without an output are counted."""
    empty: dict[str, dict[str, Any]] = {
        "runs": {"id": "x", "run_type": "llm", "inputs": {}, "outputs": None},
        "traces": {"id": "x", "traceId": "y", "name": "n", "input": "q", "output": None},
        "spans": {"span_kind": "LLM", "context": {"span_id": "x"}, "attributes": {}},
    }
    full = {
        "runs": {"outputs": {"answer": "a"}},
        "traces": {"output": "a"},
        "spans": {"attributes": {"output.value": "a"}},
    }
    for name, row in empty.items():
        file = jsonl(tmp_path / f"{name}.jsonl", [row, {**row, **full[name]}])
        read = read_outputs(file)
        assert read.outputs.texts == ("a",)
        assert f"left out: 1 {name} without an output" in " ".join(read.notes)


def test_ratings_alone_are_refused() -> None:
    """With the command that brings them and their texts together; the texts come first."""
    for _, ratings, _ in PLATFORMS:
        with pytest.raises(InputError, match=r"without their texts; .*refless join TEXTS"):
            read_pool(EXPORTS / ratings)
    with pytest.raises(InputError, match="ratings where the texts are to be"):
        join(str(EXPORTS / PLATFORMS[0][1]), str(EXPORTS / PLATFORMS[0][0]))


def test_the_command(tmp_path: Path) -> None:
    """JSON fits its schema; rows go through a pipe; from Python likewise."""
    texts, ratings = jsonl(tmp_path / "t.jsonl", TEXTS), jsonl(tmp_path / "r.jsonl", RATINGS)
    words = ("join", texts, ratings, "--on", "doc=of")
    ran = run(*words, "--format", "json")
    Draft202012Validator(refless.JoinResult.schema()).validate(ran.json)
    assert (ran.json["n_matched"], ran.json["on"]) == (3, "doc=of")
    assert "left out: 1 rating of 4 without a text" in ran.err
    piped = run(*words, "--format", "jsonl").out
    again = run("validate", "-", "--estimator", "gp", "--format", "json", stdin=piped)
    assert (again.code, again.json["n"]) == (0, 2)
    result = refless.join(TEXTS, RATINGS, on="doc=of")
    assert (len(result.rows()), result.signature.get("on")) == (4, "doc=of")
    assert result.command == "refless join FILE FILE --on doc=of"


CELLS = st.dictionaries(st.sampled_from("pqr"), st.integers(0, 9), max_size=3)


@given(st.lists(CELLS, min_size=1, max_size=5).filter(any))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, given: list[dict[str, int]]) -> None:
    """Every rating comes back with its text, by whom, in JSONL and CSV; a slow twin tells which."""
    texts = [{"key": f"k{n}", "text": f"t{n}, {n}"} for n in range(len(given))]
    ratings = [
        {"key": f"k{n}", "rating": value, "annotator": who}
        for n, of_text in enumerate(given)
        for who, value in of_text.items()
    ]
    expected = [
        (text["text"], one["annotator"], one["rating"])
        for text in texts
        for one in ratings
        if one["key"] == text["key"]
    ]
    rows = join(texts, ratings[::-1], "key").rows
    assert len(rows) == len(expected) + sum(not one for one in given)
    folder = tmp_path_factory.mktemp("joined")
    for name, content in (("a.jsonl", as_jsonl(rows)), ("a.csv", as_csv(rows))):
        (folder / name).write_text(content, encoding="utf-8")
        pool = read_pool(folder / name).pool
        told = zip(pool.ratings.text, pool.ratings.annotator, pool.ratings.values, strict=True)
        found = [(pool.texts[t], pool.ratings.annotators[a], v) for t, a, v in told]
        assert sorted(found) == sorted(expected)


VALUES = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["q", "r"]), st.sampled_from("ab"), st.integers()),
    min_size=1,
    unique_by=lambda one: one[:3],
)


@given(VALUES)
@pytest.mark.parametrize("tool", ["langsmith", "langfuse", "phoenix"])
def test_round_trip_of_platforms(
    tmp_path_factory: pytest.TempPathFactory,
    tool: str,
    given: list[tuple[int, str, str, int]],
) -> None:
    """Every rating of every person and dimension comes back from exports of these shapes."""
    rows: dict[str, Any] = {
        "langsmith": [
            {"run_id": n, "key": key, "score": value, "feedback_source": {"user_id": who}}
            for n, key, who, value in given
        ],
        "langfuse": [
            {"traceId": n, "name": key, "dataType": "NUMERIC", "value": value}
            | {"source": "ANNOTATION", "authorUserName": who}
            for n, key, who, value in given
        ],
        "phoenix": [
            {"span_id": n, "name": key, "annotator_kind": "HUMAN", "user_id": who}
            | {"result": {"score": value}}
            for n, key, who, value in given
        ],
    }
    folder = tmp_path_factory.mktemp("platform")
    jsonl(folder / "ratings.jsonl", rows[tool])
    jsonl(folder / "texts.jsonl", [{"id": n, "text": f"t{n}"} for n in range(3)])
    found = join(str(folder / "texts.jsonl"), str(folder / "ratings.jsonl")).rows
    told = {
        (row["id"], row["dimension"], row["annotator"], row["rating"])
        for row in found
        if row["rating"] is not None
    }
    assert told == {(str(n), key, who, value) for n, key, who, value in given}
