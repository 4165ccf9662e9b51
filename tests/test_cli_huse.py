"""refless huse: who wrote what, and estimates in place of ratings."""

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from command_line import headlines, jsonl, run, too_wide
from refless.extensions.papers.huse.result import HuseResult


def rows(n: int = 40) -> list[dict[str, object]]:
    """Rated headlines by people and by a model."""
    return [
        {
            "id": str(i),
            "system": "human" if i % 2 else "machine",
            "text": text,
            "rating": 1 + (i * 7) % 5,
            "logprob": -5 - (i * 3) % 11,
        }
        for i, text in enumerate(headlines(n))
    ]


def fits(found: object) -> None:
    """The schema of its record."""
    schema = HuseResult.schema()
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(found)


def test_estimated_ratings(tmp_path: Path) -> None:
    """Beside the human ones; the estimator signs; texts without an estimate are counted."""
    path = jsonl(tmp_path / "rated.jsonl", rows())
    ran = run("huse", path, "--estimated", "--estimator", "gp", "--scale", 1, 5)
    assert ran.code == 0, ran.err
    assert too_wide(ran.out) == []
    assert "estimated ratings" in ran.out
    ran = run(
        "huse", path, "--estimated", "--estimator", "bleu-neighbors:tau=0.3", "--format", "json"
    )
    fits(ran.json)
    assert ran.json["estimator"].startswith("bleu-neighbors|")
    assert ran.json["estimated"]["n"] + ran.json["estimated"]["n_left_out"] == 40


def test_scale_changes_nothing(tmp_path: Path) -> None:
    """The arithmetic is in the raters' units."""
    path = jsonl(tmp_path / "rated.jsonl", rows())
    one = run("huse", path, "--format", "json").json
    other = run("huse", path, "--scale", 1, 5, "--format", "json").json
    assert one["human"] == other["human"]
    assert "ties:float" in one["signature"]
    assert "ties:exact" in run("huse", path, "--exact-ties", "--format", "json").json["signature"]


@pytest.mark.parametrize(
    ("change", "flags", "said"),
    [
        ({"logprob": None}, (), "texts"),
        ({"logprob": "x"}, (), "scores are finite numbers"),
        ({"system": "machine"}, (), "--human-label"),
        (
            {},
            ("--human-label", "nobody"),
            "The labels are 'human', 'machine': name the one for people",
        ),
        ({}, ("--neighbors", "0"), "neighbour"),
    ],
)
def test_wrong_input(tmp_path: Path, change, flags, said: str) -> None:
    """Exit 2, with what to do."""
    path = jsonl(tmp_path / "rated.jsonl", [{**row, **change} for row in rows()])
    ran = run("huse", path, *flags)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_no_logprob_column(tmp_path: Path) -> None:
    """It says what HUSE needs."""
    bare = [{key: value for key, value in row.items() if key != "logprob"} for row in rows()]
    ran = run("huse", jsonl(tmp_path / "rated.jsonl", bare))
    assert ran.code == 2
    assert "--column logprob" in ran.err
