"""Argilla (records by argilla 2.8.0), MLflow (traces by mlflow 3.17.2), and files that are refused.

Two people submitted 4 and 2 for the first record, one 5 for the third; the second has a draft and
a discarded response.

Langfuse, LangSmith and Phoenix keep ratings apart from their texts. Their samples were made with
the models of langsmith 0.15.0, langfuse 5.0.4 and arize-phoenix-client 3.5.0 (Langfuse's traces
and scores.jsonl by hand, as its server exports them): three texts; person 7 gave the first one 4
and the second one 5 for quality and 1 for helpful, person 8 gave the first one 2; models and
programs gave the others.
"""

import json
import shutil
from collections.abc import Callable
from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from places import EXPORTS, ROOT, blocks
from refless.data.tables import (
    Columns,
    PoolRead,
    Reading,
    read_outputs,
    read_pool,
    read_scored,
)
from refless.registry.errors import InputError
from refusals import bad_input
from rows import only, write

FOLDER = EXPORTS / "argilla"
FLAT = FOLDER / "flat.parquet"


def read(path: object, **more: Any) -> PoolRead:
    return read_pool(str(path), Reading(**more))


def test_flattened_argilla() -> None:
    """Submitted responses alone count; the others are told; suggestions are scores."""
    pytest.importorskip("pyarrow")
    columns = Columns(score=("suggestions.quality",))
    found = read(FLAT, dimension="quality", columns=columns)
    pool = found.pool
    assert (pool.ids, pool.human.tolist(), pool.systems) == (
        ("q-1", "q-3"),
        [0.5, 1],  # 3 and 5 of 1 to 5, as the settings beside it say
        ("sys-a", "sys-b"),
    )
    assert [name[-1] for name in pool.ratings.annotators] == ["1", "2", "3"]
    assert pool.scores[0].tolist() == [5]
    notes = " ".join(found.notes)
    assert (
        "left out: 1 responses with the status 'draft', 1 responses with the status"
        in notes
    )
    assert len(read_outputs(str(FLAT)).outputs) == 4


@pytest.mark.parametrize("path", [FOLDER, FOLDER / "records.json"])
def test_argilla_on_disk(path: Path) -> None:
    """The folder, or its records; the scale from the settings; what JSON does not say is told."""
    found = read(path, dimension="quality")
    assert found.pool.human.tolist() == [0.5, 0.25, 1]
    assert found.pool.scale == (1, 5)
    assert any(
        "does not say which responses are drafts" in note for note in found.notes
    )
    assert read(path, dimension="ok").pool.human.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("words", "numbers"),
    [(["yes", "no", "yes"], [1, 0, 1]), (["partial", "pass", "fail"], [0.5, 1, 0])],
)
def test_words_of_judges_in_mlflow(
    tmp_path: Path, words: list[str], numbers: list[float]
) -> None:
    """Its built-in judges answer yes and no; other words need a map beside pass and fail."""
    file = tmp_path / "traces.jsonl"
    traces = []
    for i, word in enumerate(words):
        judged = {"assessment_name": "relevance", "feedback": {"value": word}}
        rated = {"assessment_name": "correct", "feedback": {"value": True}}
        kinds = ((judged, "LLM_JUDGE"), (rated, "HUMAN"))
        found = [
            one | {"source": {"source_type": kind, "source_id": "x"}}
            for one, kind in kinds
        ]
        about = {
            "trace_id": f"t{i}",
            "request": "q",
            "response": f"r{i}",
            "assessments": found,
        }
        traces.append(json.dumps(about))
    file.write_text("\n".join(traces), "utf-8")
    columns = Columns(score=("scores.relevance",))
    read = read_pool(str(file), Reading(columns=columns, score_map={"partial": 0.5}))
    assert read.pool.score("scores.relevance").tolist() == numbers


def test_mlflow_itself() -> None:
    """People's feedback counts, a judge's is a score, what was overridden is neither."""
    file = FOLDER.parent / "mlflow" / "traces.jsonl"
    columns = Columns(
        text="response.answer", source="request.ticket", score=("scores.judge",)
    )
    found = read(file, dimension="quality", columns=columns)
    pool = found.pool
    known = dict(zip(pool.sources, pool.human.tolist(), strict=True))
    assert known == {"wrong size": 3, "broken cup": 2, "late parcel": 4.5}
    scores = dict(zip(pool.sources, pool.scores[:, 0].tolist(), strict=True))
    assert (scores["late parcel"], scores["broken cup"]) == (0.9, 0.2)
    assert all(name.startswith("rater-") for name in pool.ratings.annotators)
    assert "2 assessments that are no feedback, or were overridden" in " ".join(
        found.notes
    )
    assert sorted(read(file, dimension="polite").pool.human.tolist()) == [0, 1]
    assert read(file, dimension="quality").pool.texts[0].startswith('{"answer": "')


def test_argilla_without_settings(tmp_path: Path) -> None:
    """No scale is known; several values at once are no rating."""
    record = {
        "id": 1,
        "fields": {
            "text": [
                {"role": "user", "content": "hi"},
                {"role": "bot", "content": "yo"},
            ]
        },
        "responses": {
            "q": [{"value": 3, "user_id": "a"}, {"value": ["x", "y"], "user_id": "b"}]
        },
        "_server_id": None,
    }
    found = read(write(tmp_path, "records.json", json.dumps([record])))
    assert (found.pool.texts, found.pool.human.tolist()) == (
        ("user: hi\nbot: yo",),
        [3],
    )
    notes = " ".join(found.notes)
    assert found.pool.scale is None
    assert "left out: 1 responses to 'q' that are no single value" in notes


def assessment(
    name: str, value: object, kind: str = "HUMAN", **more: Any
) -> dict[str, Any]:
    source = {
        "source_type": kind,
        "source_id": "ann@example.org" if kind == "HUMAN" else "gpt",
    }
    return {
        "assessment_name": name,
        "source": source,
        "feedback": {"value": value},
        **more,
    }


def trace(number: int, *assessments: dict[str, Any]) -> dict[str, Any]:
    return {
        "trace_id": f"tr-{number}",
        "request": {"question": "why?"},
        "response": {"answer": f"because {number}"},
        "assessments": [*assessments],
    }


@pytest.mark.parametrize("written", [json.dumps, repr])
def test_traces_of_mlflow_in_csv(
    tmp_path: Path, written: Callable[[object], str]
) -> None:
    """Cells that hold JSON, or what pandas writes."""
    cells = {k: written(v) if k != "trace_id" else v for k, v in trace(1).items()}
    cells["assessments"] = written([assessment("good", 4)])
    cells["response"] = '"plain"'
    row = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells.values())
    pool = read(write(tmp_path, "traces.csv", f"{','.join(cells)}\n{row}\n")).pool
    assert (pool.texts, pool.human.tolist()) == (("plain",), [4])


RATINGS = st.dictionaries(st.integers(1, 5), st.integers(0, 10), min_size=1, max_size=4)


STATUS = st.sampled_from(["submitted", "submitted", "draft", "discarded"])


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 10), STATUS), max_size=4),
        min_size=1,
        max_size=4,
    )
)
def test_round_trip_of_flattened_argilla(
    tmp_path_factory: pytest.TempPathFactory, texts: list[list[tuple[int, str]]]
) -> None:
    """Every submitted response comes back, and no other."""
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    columns: dict[str, list[Any]] = {
        "id": [str(n) for n, _ in enumerate(texts)],
        "text": [f"t{n}" for n, _ in enumerate(texts)],
        "q.responses": [],
        "q.responses.users": [],
        "q.responses.status": [],
    }
    expected = set()
    for n, responses in enumerate(texts):
        users = [f"u{u}" for u in range(len(responses))]
        values, states = (
            map(list, zip(*responses, strict=True)) if responses else ([], [])
        )
        columns["q.responses"].append(values)
        columns["q.responses.users"].append(users)
        columns["q.responses.status"].append(states)
        for user, value, state in zip(users, values, states, strict=True):
            if state == "submitted":
                expected.add((str(n), user, value))
    kinds = [arrow.list_(arrow.int64()), *[arrow.list_(arrow.string())] * 2]
    schema = arrow.schema(
        [*zip(columns, [arrow.string(), arrow.string(), *kinds], strict=True)]
    )
    file = tmp_path_factory.mktemp("flat") / "flat.parquet"
    parquet.write_table(arrow.table(columns, schema=schema), file)
    if not expected:
        with pytest.raises(InputError):
            read(file)
        return
    pool = read(file).pool
    told = zip(
        pool.ratings.text, pool.ratings.annotator, pool.ratings.values, strict=True
    )
    assert {
        (pool.ids[t], pool.ratings.annotators[a], v) for t, a, v in told
    } == expected


@given(st.lists(RATINGS, min_size=1, max_size=4))
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, texts: list[dict[int, int]]
) -> None:
    """Every response of Argilla, and every feedback of MLflow, comes back."""
    folder = tmp_path_factory.mktemp("records")
    records = []
    traces = []
    expected = set()
    for n, ratings in enumerate(texts):
        responses = []
        feedback = []
        for number, value in ratings.items():
            user = f"u{number}"
            responses.append({"value": value, "user_id": user})
            source = {"source_type": "HUMAN", "source_id": user}
            feedback.append(assessment("q", value) | {"source": source})
            expected.add((n, user, value))
        record = {"id": str(n), "fields": {"text": f"t{n}"}, "_server_id": ""}
        records.append({**record, "responses": {"q": responses}})
        traces.append(trace(n, *feedback))
    for rows in (records, traces):
        pool = read(write(folder, "rows.json", json.dumps(rows))).pool
        told = zip(
            pool.ratings.text, pool.ratings.annotator, pool.ratings.values, strict=True
        )
        assert {(t, pool.ratings.annotators[a], v) for t, a, v in told} == expected


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (
            {"run_id": 1, "key": "q", "feedback_source": {}},
            "LangSmith without .*; join them",
        ),
        (
            {"span_id": 1, "annotator_kind": "HUMAN"},
            "annotations of Phoenix without their texts",
        ),
        (
            {"instruction": "i", "completions": [{"annotations": {}}]},
            "by GPT-4, not by people",
        ),
    ],
)
def test_files_that_are_refused(
    row: dict[str, Any], found: str, tmp_path: Path
) -> None:
    """The error says what is no rating by people, and how to read it all the same."""
    file = write(tmp_path, "a.jsonl", json.dumps(row))
    with bad_input(found):
        read(file)
    row |= {"text": "a", "rating": 2}
    assert read(
        write(tmp_path, "b.jsonl", json.dumps(row)), format="jsonl"
    ).pool.human == [2]


@pytest.mark.parametrize("name", ["scores.json", "scores.jsonl", "scores.csv"])
def test_scores_of_langfuse_hold_people_and_judges(name: str, tmp_path: Path) -> None:
    """Those of one trace together; texts, which they lack, are asked for where they are needed."""
    file = EXPORTS / "langfuse" / name
    if name == "scores.csv":  # as its server writes it: each cell is text
        pandas = pytest.importorskip("pandas")
        file = tmp_path / name
        pandas.read_json(EXPORTS / "langfuse/scores.jsonl", lines=True).to_csv(
            file, index=False
        )
    scored = read_scored(
        file, Reading(dimension="quality", columns=Columns(score=("scores.*",)))
    )
    assert scored.pool.ids == ("tr-1", "tr-2")
    assert scored.pool.human.tolist() == [3, 5]  # 4 and 2 by two people; 5
    assert [who[-1] for who in scored.pool.ratings.annotators] == ["7", "8"]
    assert scored.scores["scores.quality"][0] == 1
    with bad_input("no column for the text"):
        read_pool(file, Reading(dimension="quality"))


def test_a_score_of_langfuse_whose_value_is_no_number(tmp_path: Path) -> None:
    """A list or an object is no score; the text beside it is."""
    row = {"name": "q", "dataType": "NUMERIC", "value": [1], "stringValue": "2"}
    scores = [row | {"source": "API", "traceId": f"t{i}"} for i in range(3)]
    scores += [row | {"source": "ANNOTATION", "traceId": f"t{i}"} for i in range(3)]
    file = write(tmp_path, "scores.json", json.dumps(scores))
    scored = read_scored(file, Reading(columns=Columns(score=("scores.*",))))
    assert scored.pool.human.tolist() == [2, 2, 2]
    assert scored.scores["scores.q"].tolist() == [2, 2, 2]


def test_categories_of_langfuse(tmp_path: Path) -> None:
    """The label counts, not its place, of people and judges; without a label it is refused.

    Langfuse stores 0 as the value without a score configuration (langfuse/langfuse#13033).
    """
    labels = ["good", "bad", "good", "good"]
    row = {"name": "ok", "dataType": "CATEGORICAL", "value": 0}
    scores = [
        row | {"source": source, "traceId": f"t{i}", "stringValue": label}
        for source, (i, label) in product(("API", "ANNOTATION"), enumerate(labels))
    ]
    reading = Reading(columns=Columns(score=("scores.*",)))
    file = write(tmp_path, "scores.json", json.dumps(scores))
    scored = read_scored(file, reading)
    assert scored.pool.human.tolist() == [1, 0, 1, 1]
    assert scored.scores["scores.ok"].tolist() == [1, 0, 1, 1]
    cells = write(tmp_path, "scores.csv", "")
    header = ["name", "dataType", "value", "source", "traceId", "stringValue"]
    lines = [",".join(map(str, row.values())) for row in only(scores, *header)]
    Path(cells).write_text("\n".join([",".join(header), *lines]), "utf-8")
    assert read_scored(cells, reading).pool.human.tolist() == [1, 0, 1, 1]
    del scores[-1]["stringValue"]
    with bad_input(r"a CATEGORICAL score without its label; .*stringValue"):
        read_scored(write(tmp_path, "scores.json", json.dumps(scores)), reading)


def test_ratings_alone_are_refused(tmp_path: Path) -> None:
    """With the line of pandas that joins them; so are any ratings that have ids and no texts."""
    pattern = (
        r"without their texts; join them in pandas .*\.merge\(ratings, left_on='id'"
    )
    ratings = ("feedback.jsonl", "annotations.json")
    for file in chain.from_iterable(map(EXPORTS.rglob, ratings)):
        with bad_input(pattern):
            read_pool(file)
    with bad_input(r"no column for the text: .*texts\.merge\(ratings, on="):
        read(write(tmp_path, "ratings.csv", "id,rating\n1,2\n"))


@pytest.mark.parametrize("tool", ["langfuse", "langsmith", "phoenix"])
def test_lines_that_join(
    tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the page: people's ratings alone, each with its text, and texts without any."""
    pytest.importorskip("pandas")
    shutil.copytree(EXPORTS / tool, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    joins = [
        one for one in blocks(ROOT / "docs" / "formats.md", "python") if "merge" in one
    ]
    exec(joins[["langfuse", "langsmith", "phoenix"].index(tool)], {})
    columns = Columns(text="outputs.answer", source="inputs.question")
    own: dict[str, Any] = {"columns": columns} if tool == "langsmith" else {}
    pool = read("joined.jsonl", dimension="quality", **own).pool
    assert pool.texts == ("Sure, for how many?", "Yes, until ten.")
    assert pool.ratings.values.tolist() == [4, 2, 5]
    assert [who[-1] for who in pool.ratings.annotators] == ["7", "8"]
    assert read("joined.jsonl", dimension="helpful", **own).pool.human.tolist() == [1]
    rows = Path("joined.jsonl").read_text("utf-8").splitlines()
    assert (len(rows), '"rating":null' in rows[-1]) == (5, True)


def test_lines_that_join_potato(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Likert scales, whose points are text, beside a text box; a text that nobody rated stays."""
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    said = [
        {
            "instance_id": "1",
            "user_id": who,
            "spans": {},
            "links": {},
            "labels": {"quality": {point: point}, "why": {"text_box": "because"}},
        }
        for who, point in (("ann", "4"), ("bob", "2"))
    ]
    texts = [{"id": k, "text": f"text {k}"} for k in (1, 2)]
    Path("out").mkdir()
    for name, rows in (("out/annotations.jsonl", said), ("data.jsonl", texts)):
        write(tmp_path, name, "".join(json.dumps(row) + "\n" for row in rows))
    (lines,) = (
        one for one in blocks(ROOT / "docs" / "formats.md", "python") if "scheme" in one
    )
    exec(lines, {})
    pool = read("joined.jsonl", dimension="quality").pool
    assert (pool.texts, pool.ratings.values.tolist()) == (("text 1",), [4, 2])
    assert pool.ratings.annotators == ("ann", "bob")
    assert read_outputs("joined.jsonl").outputs.texts == ("text 1", "text 2")


def test_lines_that_make_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Choices of Label Studio between two texts; a draw is half for each; comments are left out."""
    monkeypatch.chdir(tmp_path)

    def task(number: int, choice: str) -> dict[str, Any]:
        data = {f"summary_{k}": f"text {k} of {number}" for k in (1, 2)}
        parts = [("preference", {"choices": [choice]}), ("why", {"text": ["so"]})]
        result = [{"from_name": name, "value": value} for name, value in parts]
        done = {"completed_by": 5, "was_cancelled": False, "result": result}
        return {
            "id": number,
            "data": data,
            "annotations": [done, done | {"was_cancelled": True}],
        }

    tasks = [task(1, "Summary 2"), task(2, "Draw")]
    write(tmp_path, "project-5.json", json.dumps(tasks))
    (lines,) = (
        one for one in blocks(ROOT / "docs" / "formats.md", "python") if "places" in one
    )
    exec(lines, {})
    pool = read("pairs.jsonl").pool
    assert dict(zip(pool.texts, pool.human.tolist(), strict=True)) == {
        "text 1 of 1": 0,
        "text 2 of 1": 1,
        "text 1 of 2": 0.5,
        "text 2 of 2": 0.5,
    }


def test_lines_that_flatten_pearmut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row for each system's text; tutorials and what was skipped have no rating."""
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    item = {"item_id": "en-0", "src": "Hello.", "tgt": {"A": "Hallo.", "B": "Halo."}}
    answers = {
        name: {"score": score, "error_spans": []}
        for name, score in (("A", 90), ("B", 40))
    }
    rows = [
        {
            "item": [item, item | {"item_id": "en-1"}],
            "annotation": [answers, None],
            "user_id": "u1",
            "item_i": 0,
        },
        {
            "item": [item],
            "annotation": [answers],
            "user_id": "u1",
            "item_i": "welcome_0",
        },
    ]
    Path("data/outputs").mkdir(parents=True)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    write(tmp_path, "data/outputs/campaign.jsonl", lines)
    (lines,) = (
        one
        for one in blocks(ROOT / "docs" / "formats.md", "python")
        if "welcome_" in one
    )
    exec(lines, {})
    pool = read("joined.jsonl", scale=(0, 100)).pool
    assert (pool.texts, pool.systems) == (("Hallo.", "Halo."), ("A", "B"))
    assert (pool.sources, pool.items) == (("Hello.",) * 2, ("en-0",) * 2)
    assert pool.human.tolist() == [0.9, 0.4]
    assert len(read_outputs("joined.jsonl").outputs) == 4


def test_traces_of_langfuse(tmp_path: Path) -> None:
    """Without an output they are counted; lists of numbers without authors are left out, aloud."""
    row = {"id": "x", "traceId": "y", "name": "n", "input": "q", "output": None}
    rows = f"{json.dumps(row)}\n{json.dumps({**row, 'output': 'a'})}\n"
    found = read_outputs(write(tmp_path, "traces.jsonl", rows))
    assert found.outputs.texts == ("a",)
    assert "left out: 1 traces without an output" in " ".join(found.notes)
    notes = " ".join(read_outputs(EXPORTS / "langfuse" / "traces.json").notes)
    assert "left out: 3 scores without an author, in traces" in notes
