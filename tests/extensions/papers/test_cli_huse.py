"""refless huse: who wrote what."""

from pathlib import Path

import pytest

from command_line import headlines, json_of, jsonl, run, run_well, too_wide
from rows import without
from schemas import fits


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


def test_huse_of_a_file(tmp_path: Path) -> None:
    """Its parts in a table; texts without a probability are counted."""
    partly = [row | {"logprob": None} if row["id"] == "3" else row for row in rows()]
    path = jsonl(tmp_path / "rated.jsonl", partly)
    ran = run_well("huse", path)
    assert too_wide(ran.out) == []
    assert "HUSE-Q, quality" in ran.out
    assert "missing: 1." in ran.out
    ran = run("huse", path, "--format", "json")
    fits(ran.json)
    assert (ran.json["human"]["n"], ran.json["human"]["n_left_out"]) == (39, 1)


def test_scale_changes_nothing(tmp_path: Path) -> None:
    """The arithmetic is in the raters' units."""
    path = jsonl(tmp_path / "rated.jsonl", rows())
    one = json_of("huse", path)
    other = json_of("huse", path, "--scale", 1, 5)
    assert one["human"] == other["human"]
    assert "ties:float" in one["signature"]
    assert "ties:exact" in json_of("huse", path, "--exact-ties")["signature"]


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
    bare = without(rows(), "logprob")
    ran = run("huse", jsonl(tmp_path / "rated.jsonl", bare))
    assert ran.refuses("--column logprob")
