"""promptfoo 0.123.1 and lm-evaluation-harness 0.4.13.

`rated.json` and `fresh.jsonl` are by promptfoo itself (echo provider; two thumbs and a typed 0.7
were given in its web view), `samples_filters_...` by lm_eval with its dummy model; `eval.*` and
`samples_why_...` were made by hand in the same shapes.
"""

import json
from pathlib import Path

import pytest

from command_line import run
from places import EXPORTS
from refless.data.tables import Columns, Reading, read_outputs, read_pool
from refusals import bad_input
from rows import write

FOLDER = EXPORTS
EVALS = [str(FOLDER / "promptfoo" / f"eval.{ending}") for ending in ("json", "jsonl")]
SAMPLES = FOLDER / "lm-eval" / "samples_why_2026-11-20T10-00-00.000000.jsonl"


@pytest.mark.parametrize("file", EVALS)
def test_thumbs_of_promptfoo(file: str) -> None:
    """People give the rating; verdicts of assertions are scores, though people overwrite."""
    columns = Columns(score=("namedScores.tone", "scores.rouge-n"))
    found = read_pool(file, Reading(columns=columns))
    pool = found.pool
    assert pool.texts == ("Sorry! Let me check.", "No.", '{"reply": "Soon"}')
    assert pool.human.tolist() == [1, 0, 0.5]
    assert pool.systems == ("candidate", "baseline", "candidate")
    assert (pool.items, pool.sources[0]) == (("0", "0", "1"), "Reply to: late parcel")
    assert pool.scores.tolist() == [[0.3, 0.8]] * 3
    notes = " ".join(found.notes)
    assert "left out: 1 results without an output" in notes


@pytest.mark.parametrize("threshold", [0.75, 0.3])
def test_thresholds_of_promptfoo(tmp_path: Path, threshold: float) -> None:
    """An assertion's own verdict is a score, too, and it is said where 0.5 passes others."""
    rows = []
    for i in range(24):
        score = (0.25, 0.5, 0.75, 1.0)[i % 4]
        rubric = {"type": "llm-rubric", "metric": "polite", "threshold": threshold}
        checks = [
            {"pass": score >= threshold, "score": score, "assertion": rubric},
            {
                "pass": i % 3 > 0,
                "score": float(i % 3 > 0),
                "assertion": {"type": "human"},
            },
        ]
        row = {"promptIdx": 0, "testIdx": i, "response": {"output": f"a{i}"}}
        rows.append(json.dumps(row | {"gradingResult": {"componentResults": checks}}))
    path = write(tmp_path, "a.jsonl", "\n".join(rows))
    flags = ("--resamples", "60", "--format", "json")

    def rate(column: str, *more: object) -> tuple[float, str]:
        ran = run("judge", path, "--score-column", column, *flags, *more)
        return ran.json["judges"][0]["measures"]["judge_rate"]["value"], ran.err

    share = sum(score >= threshold for score in (0.25, 0.5, 0.75, 1.0)) / 4
    half, lines = rate("scores.polite")
    assert half == 0.75
    assert "scores.polite: scores pass from 0.5 on; --pass X sets another bar" in lines
    assert ("--score-column passes.polite reads what it passed" in lines) == (
        threshold == 0.75
    )
    assert rate("passes.polite")[0] == share
    assert rate("scores.polite", "--pass", threshold)[0] == share
    assert "scores pass from" not in rate("passes.polite")[1]


def test_outputs_of_promptfoo() -> None:
    """All that have an output, rated or not; references are what assertions compare with."""
    outputs = read_outputs(EVALS[0]).outputs
    assert (len(outputs), outputs.references[0]) == (4, ("Sorry, I will look.",))


def test_no_ratings_in_promptfoo(tmp_path: Path) -> None:
    """The error names the scores that there are."""
    row = {
        "promptIdx": 0,
        "testIdx": 0,
        "response": {"output": "a"},
        "gradingResult": {},
    }
    checks = [{"score": 1, "assertion": {"type": "python"}}]
    row["gradingResult"] = {"componentResults": checks}
    with bad_input(r"no column for the rating.*'scores' may be a judge's"):
        read_pool(write(tmp_path, "a.jsonl", json.dumps(row)))


@pytest.mark.parametrize(
    "place", ["Infinity", "-Infinity", "NaN", "1e400", '"2"', "[]"]
)
def test_a_place_of_promptfoo_that_is_none(tmp_path: Path, place: str) -> None:
    """A prompt is numbered by a whole number; by anything else it has no number."""
    raw = "Say hi to Ann"
    label = "Say hi to {{name}}"
    row = {
        "promptIdx": 0,
        "testIdx": 0,
        "response": {"output": "a"},
        "provider": "echo",
    }
    text = json.dumps(row | {"prompt": {"raw": raw, "label": label}})
    path = write(
        tmp_path, "a.jsonl", text.replace('"promptIdx": 0', f'"promptIdx": {place}')
    )
    assert read_outputs(path).outputs.systems == ("echo",)


def test_old_promptfoo(tmp_path: Path) -> None:
    """The error says how to write the file anew."""
    old = {"results": {"version": 2, "table": {}, "results": None}, "config": {}}
    with bad_input("an old promptfoo; write it anew: promptfoo export eval"):
        read_pool(write(tmp_path, "a.json", json.dumps(old)))


def test_promptfoo_itself() -> None:
    """A typed number is no component; a template is no name of a prompt; failed is not absent."""
    found = read_pool(
        str(FOLDER / "promptfoo" / "rated.json"),
        Reading(columns=Columns(score=("scores.on-topic",))),
    )
    pool = found.pool
    assert pool.human.tolist() == [1, 0, 0.7]
    assert pool.texts == (
        "Reply to: late parcel",
        "Reply to: broken cup",
        "Reply to: wrong size",
    )
    assert (set(pool.systems), pool.items) == ({"candidate"}, ("0", "1", "2"))
    assert pool.scores.tolist() == [[1], [1], [0]]
    fresh = read_outputs(str(FOLDER / "promptfoo" / "fresh.jsonl")).outputs
    assert (fresh.texts, fresh.systems) == (pool.texts, pool.systems)
    assert fresh.references == (("Sorry! It is on its way.",), (), ())


def test_lm_eval_itself() -> None:
    """The first filter's outputs; references in a list."""
    file = next((FOLDER / "lm-eval").glob("samples_filters_*.jsonl"))
    read = read_outputs(str(file))
    assert read.outputs.references[0] == (
        "Light is scattered.",
        "Blue light scatters more.",
    )
    assert (read.outputs.texts, read.outputs.items) == (("lol", "lol"), ("0", "1"))
    assert any(
        "left out: 2 outputs of the filter 'trimmed'" in note for note in read.notes
    )


def test_samples_of_lm_eval() -> None:
    """One filter of each document; references out of what Python wrote; NaN is no score."""
    read = read_outputs(str(SAMPLES), Reading(columns=Columns(score=("scores.bleu",))))
    outputs = read.outputs
    assert outputs.texts == ("because ", "no idea ")
    assert (outputs.ids, outputs.items) == (
        ("lm-eval why 0", "lm-eval why 1"),
        ("0", "1"),
    )
    assert (outputs.systems, outputs.sources[0]) == (("lm-eval",) * 2, "Q: Why?\nA:")
    assert outputs.references == (("a", "b"), ("a", "b"))
    assert bool((outputs.scores != outputs.scores).all())
    notes = " ".join(read.notes)
    left = "2 outputs of the filter 'strip', not 'none', 1 documents without a generated text"
    assert f"left out: {left}" in notes
