"""Messages speak of parameters as their reader writes them."""

from pathlib import Path
from typing import Any

import pytest

import refless
from command_line import jsonl, run
from refless.commands import function_of
from refless.registry.dialect import SCALE, Blank, called, command_line, dialect
from refless.registry.errors import RefLessError

FLAGS = {"passing": "--pass", "columns": "--column", "n": "-n", "rows": "FILE"}
ROWS = [
    {
        "id": f"t{i}",
        "text": f"text number {i} of some words",
        "rating": 1 + i % 5,
        "system": "AB"[i % 2],
        "item": i // 2,
        "gpt4": i % 4,
    }
    for i in range(24)
]


@pytest.mark.parametrize(
    ("name", "value", "in_python", "as_flags"),
    [
        ("score_column", None, "score_column", "--score-column"),
        ("passing", 4.0, "passing=4", "--pass 4"),
        ("passing", 0.51, "passing=0.51", "--pass 0.51"),
        ("passing", Blank("X"), "passing=X", "--pass X"),
        ("n", 5, "n=5", "-n 5"),
        ("rows", None, "rows", "FILE"),
        ("these_items", True, "these_items=True", "--these-items"),
        ("goal", "mean", "goal='mean'", "--goal mean"),
        ("own", "gpt*", "own='gpt*'", "--own 'gpt*'"),
        (
            "system",
            ["OLD", "NEW"],
            "system=['OLD', 'NEW']",
            "--system OLD --system NEW",
        ),
        ("scale", (1.0, 5.0), "scale=(1, 5)", "--scale 1 5"),
        ("scale", SCALE, "scale=(MIN, MAX)", "--scale MIN MAX"),
        ("columns", {"text": "a b"}, "columns={'text': 'a b'}", "--column 'text=a b'"),
        (
            "columns",
            {"rating": ["r1", "r2"]},
            "columns={'rating': ['r1', 'r2']}",
            "--column rating=r1 --column rating=r2",
        ),
    ],
)
def test_a_parameter_and_its_value(
    name: str, value: object, in_python: str, as_flags: str
) -> None:
    """The keyword argument that Python takes, the words that a shell takes."""
    assert called(name, value) == in_python
    with command_line(FLAGS):
        assert called(name, value) == as_flags
    assert called(name, value) == in_python


def test_docstrings_have_both_readers() -> None:
    """The parameters in backticks."""
    text = "With `columns` or `n=3`: see `refless list` and `other`."
    assert dialect(text) == text
    with command_line(FLAGS):
        assert dialect(text) == "With --column or -n 3: see `refless list` and `other`."


REFUSED: list[tuple[str, dict[str, Any], str, str, str]] = [
    (
        "compare",
        {"margin": 0.1},
        "--margin 0.1",
        "margin goes with planned looks",
        "--margin goes with planned looks",
    ),
    (
        "compare",
        {"system": ["A", "C"]},
        "--system A --system C",
        "system='C' is none of the systems: A, B",
        "--system C is none of the systems: A, B",
    ),
    (
        "gate",
        {"baseline": "C"},
        "--baseline C",
        "baseline='C' is none of the systems: A, B",
        "--baseline C is none of the systems: A, B",
    ),
    (
        "compare",
        {"selection": "lot"},
        "--selection lot",
        "selection must be one of random, unknown; got 'lot'",
        "--selection must be one of random, unknown; got 'lot'",
    ),
    (
        "judge",
        {},
        "",
        "at least one score_column or metrics='METRIC' is needed",
        "at least one --score-column or --metric METRIC is needed",
    ),
    (
        "judge",
        {"max_drift": 0.1},
        "--max-drift 0.1",
        "max_drift goes with before",
        "--max-drift goes with --before",
    ),
    (
        "judge",
        {"score_column": "gpt4", "require": "kapa>=0.6"},
        "--score-column gpt4 --require kapa>=0.6",
        "require needs MEASURE>=NUMBER, got 'kapa>=0.6'",
        "--require needs MEASURE>=NUMBER, got 'kapa>=0.6'",
    ),
    (
        "judge",
        {"score_column": "gpt4", "require": "bias>=0.6"},
        "--score-column gpt4 --require bias>=0.6",
        "require='bias>=0.6': the size of the bias is what counts",
        "--require 'bias>=0.6': the size of the bias is what counts",
    ),
    (
        "judge",
        {"score_column": "gpt4", "own": "X*"},
        "--score-column gpt4 --own X*",
        "own='X*' matches none of the systems: A, B",
        "--own 'X*' matches none of the systems: A, B",
    ),
    (
        "validate",
        {"columns": {"txt": "text"}},
        "--column txt=text",
        "columns: no role 'txt' (did you mean 'text'?)",
        "--column: no role 'txt' (did you mean 'text'?)",
    ),
    (
        "validate",
        {"columns": {"text": ["a", "b"]}},
        "--column text=a --column text=b",
        "columns: text takes one column, got a, b",
        "--column: text takes one column, got a, b",
    ),
    (
        "validate",
        {"reading": {"max-bytes": 0.5}},
        "--read max-bytes=0.5",
        "reading: max-bytes must be a whole number, got '0.5'",
        "--read: max-bytes must be a whole number, got '0.5'",
    ),
    (
        "validate",
        {"reading": {"codec": "x"}},
        "--read codec=x",
        "reading: no option 'codec'",
        "--read: no option 'codec'",
    ),
    (
        "validate",
        {"group": "topic"},
        "--group topic",
        "no column 'topic' (group)",
        "no column 'topic' (--group)",
    ),
    (
        "validate",
        {"group": "source"},
        "--group source",
        "group='source': the texts have no source column",
        "--group source: the texts have no source column",
    ),
    (
        "score",
        {"rubric": "rubric.txt"},
        "--rubric rubric.txt",
        "rubric goes with judged_by",
        "--rubric goes with --judged-by",
    ),
    (
        "score",
        {"rated": ROWS, "min_mean": 9, "scale": (1, 5)},
        "--rated rows.jsonl --min-mean 9 --scale 1 5",
        "min_mean is in the raters' units, from 1 to 5; got 9",
        "--min-mean is in the raters' units, from 1 to 5; got 9",
    ),
    (
        "score",
        {"at_most_wrong": 2},
        "--at-most-wrong 2",
        "at_most_wrong must be above 0 and below 1, got 2",
        "--at-most-wrong must be above 0 and below 1, got 2",
    ),
    ("next", {"goal": "worst"}, "--goal worst", "goal is needed", "--goal is needed"),
    (
        "next",
        {"goal": "mean", "n": 0},
        "--goal mean -n 0",
        "n must be 2 or more with goal='mean', got 0",
        "-n must be 2 or more with --goal mean, got 0",
    ),
    (
        "next",
        {"goal": "learn", "system": "A"},
        "--goal learn --system A",
        "system names the two systems of goal='compare': system=['A', 'B']",
        "--system names the two systems of --goal compare: --system A --system B",
    ),
    (
        "next",
        {"plan": True, "sd": 1, "base_rate": 0.7},
        "--plan --sd 1 --base-rate 0.7",
        "outputs tells how far ratings differ: leave out sd, base_rate",
        "FILE tells how far ratings differ: leave out --sd, --base-rate",
    ),
    (
        "next",
        {"sd": 1},
        "--sd 1",
        "sd: for plan alone, which is not there",
        "--sd: for --plan alone, which is not there",
    ),
    (
        "stress",
        {},
        "",
        "say what to test: metrics='METRIC', scorer='COMMAND' or rated='POOL'",
        "say what to test: --metric METRIC, --scorer COMMAND or --rated POOL",
    ),
    (
        "huse",
        {},
        "",
        "name it with columns={'logprob': 'NAME'}",
        "name it with --column logprob=NAME",
    ),
    (
        "mine",
        {},
        "",
        "out_dir is needed",
        "--out-dir is needed",
    ),
    (
        "compare",
        {"columns": {"text": "txt"}},
        "--column text=txt",
        "no column 'txt' (columns text)",
        "no column 'txt' (--column text)",
    ),
    (
        "compare",
        {"where": "status"},
        "--where status",
        "where needs COLUMN=VALUE or COLUMN!=VALUE, got 'status'",
        "--where needs COLUMN=VALUE or COLUMN!=VALUE, got 'status'",
    ),
    (
        "compare",
        {"where": "system=C"},
        "--where system=C",
        "no row is left by where='system=C'",
        "no row is left by --where system=C",
    ),
    (
        "compare",
        {"dimension": "truth"},
        "--dimension truth",
        "leave dimension out: none has a name",
        "leave --dimension out: none has a name",
    ),
    (
        "validate",
        {"lower_is_better": "errors"},
        "--lower-is-better errors",
        "lower_is_better='errors': it is no score_column and",
        "--lower-is-better errors: it is no --score-column and",
    ),
]


@pytest.mark.parametrize(
    ("name", "values", "words", "in_python", "as_flags"),
    REFUSED,
    ids=[f"{name} {words}" for name, _, words, _, _ in REFUSED],
)
def test_refusals_in_both_dialects(
    name: str,
    values: dict[str, Any],
    words: str,
    in_python: str,
    as_flags: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same call from Python and from a command line: the same words, but for parameters."""
    monkeypatch.chdir(tmp_path)
    jsonl(tmp_path / "rows.jsonl", ROWS)
    with pytest.raises(RefLessError) as caught:
        function_of(name)(ROWS, **values)
    assert in_python in str(caught.value)
    assert "--" not in str(caught.value)
    ran = run(name, "rows.jsonl", *words.split())
    assert ran.refuses(as_flags)


def test_results_speak_to_their_reader(tmp_path: Path) -> None:
    """Notes, sentences of a report and help."""
    path = jsonl(tmp_path / "rows.jsonl", ROWS)
    judged = refless.judge(ROWS, score_column="gpt4", resamples=40)
    ran = run("judge", path, "--score-column", "gpt4", "--resamples", 40)
    assert "--" not in "\n".join(judged.notes)
    assert "give scale=(MIN, MAX)" in "\n".join(judged.notes)
    assert "give --scale MIN MAX" in ran.err
    assert "after each change, with before." in judged.content("html")
    assert "after each change, with --before." in ran.out


RATED_TWICE = [
    {"id": i // 2, "text": f"t {i // 2}", "rating": 1 + i % 5} for i in range(8)
]
UNREADABLE: list[tuple[list[dict[str, Any]], str, str]] = [
    (
        [{"text": "t", "opinion": 1}],
        "name it with columns={'rating': 'NAME'}; repeat it",
        "name it with --column rating=NAME; repeat it",
    ),
    (
        [{"text": "t", "rating": 1, "rating.1": 2}],
        "{'rating': ['rating', 'rating.1']}; or one alone with columns={'rating': 'rating'}",
        "rating=rating --column rating=rating.1; or one alone with --column rating=rating",
    ),
    (
        [
            {**row, "criterion": ("fluency", "truth")[i % 2]}
            for i, row in enumerate(RATED_TWICE)
        ],
        "choose one with dimension='fluency' or dimension='truth'",
        "choose one with --dimension fluency or --dimension truth",
    ),
    (
        [{"text": "t", "rating": "fine"}],
        "reading={'rating-map': 'fine=NUMBER'}",
        "--read rating-map=fine=NUMBER",
    ),
    (
        [{"text": "t", "rating": 1, "annotator": "gpt-4o"}],
        "say so: columns={'annotator': 'annotator'}",
        "say so: --column annotator=annotator",
    ),
    (
        [{"instruction": "i", "completions": [{"annotations": {}}]}],
        "`reading={'format': 'jsonl'}`, to read",
        "--read format=jsonl, to read",
    ),
]


@pytest.mark.parametrize(
    ("rows", "in_python", "as_flags"), UNREADABLE, ids=[case[1] for case in UNREADABLE]
)
def test_rows_that_cannot_be_read(
    rows: list[dict[str, Any]], in_python: str, as_flags: str, tmp_path: Path
) -> None:
    """Faults of rows, of which all functions say the same."""
    path = jsonl(tmp_path / "rows.jsonl", rows)
    with pytest.raises(RefLessError) as caught:
        refless.validate(path)
    assert in_python in str(caught.value)
    assert "--" not in str(caught.value)
    ran = run("validate", path)
    assert as_flags in ran.err
