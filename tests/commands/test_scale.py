"""Notes on ratings whose scale nobody said."""

from pathlib import Path
from typing import Any

import pytest

from command_line import NEIGHBORS, headlines, jsonl, output_rows, rated_rows, run
from refless import pool_of
from refless.commands.rows import note_scale
from refless.commands.warnings import collecting

UNKNOWN = "no scale is known, so numbers are in the raters' units. The ratings "


def said(ratings: list[float], **more: Any) -> str:
    """The note on texts with these ratings."""
    with collecting() as lines:
        note_scale(pool_of([f"t{i}" for i in range(len(ratings))], ratings, **more))
    return " ".join(lines)


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (0, 4), (1, 5), (1, 7), (0, 10), (0, 100), (-3, 3)]
)
def test_a_usual_scale_is_proposed(low: int, high: int) -> None:
    """Both ends were given: what says so, to be copied."""
    ratings = [low, high, *[(low + high) / 2] * 18]
    remedy = f"if these are the ends of a scale, give scale=({low}, {high})"
    expected = f"go from {low} to {high}; {remedy}"
    assert said(ratings) == UNKNOWN + expected


def test_ratings_that_do_not_tell_it() -> None:
    """Few of them, or of ends that no usual scale has: what is missing, and what to do."""
    for ratings, ends in (
        ([1.0, *[5.0] * 18], "1 to 5"),
        ([1.5, *[4.25] * 19], "1.5 to 4.25"),
        ([2.0, *[4.0] * 19], "2 to 4"),
    ):
        expected = f"go from {ends}, which does not tell it; if there is one, give scale=(MIN, MAX)"
        assert said(ratings).startswith(UNKNOWN + expected)


def test_nothing_is_said_of_a_scale_that_is_known() -> None:
    """By the flag, or by words that speak for themselves."""
    assert said([1.0, 5.0] * 10, scale=(1, 5)) == ""


@pytest.mark.parametrize("command", ["validate", "score", "explain", "compare"])
def test_commands_say_it(tmp_path: Path, command: str) -> None:
    """A line on standard error, and with --scale none; a gate is decided beside it."""
    rated = jsonl(tmp_path / "rated.jsonl", rated_rows())
    outputs = jsonl(tmp_path / "outputs.jsonl", output_rows())
    gate = ["--min-mean", 1, "--min-coverage", 0]
    words: dict[str, list[object]] = {
        "validate": [rated, *NEIGHBORS],
        "score": [outputs, "--rated", rated, *NEIGHBORS, *gate],
        "explain": [headlines(2)[1], "--rated", rated, *NEIGHBORS],
        "compare": [rated, *NEIGHBORS],
    }
    assert run(command, *words[command]).err.count("give --scale 1 5") == 1
    assert "no scale is known" not in run(command, *words[command], "--scale", 1, 5).err


def test_no_number_depends_on_the_proposal(tmp_path: Path) -> None:
    """With a higher rating beside them, estimates of other texts keep their units."""
    rows = rated_rows()
    lower = [row for row in rows if row["rating"] != 5]
    for some in (rows, lower):
        ran = run(
            "validate",
            jsonl(tmp_path / "some.jsonl", some),
            *NEIGHBORS,
            "--format",
            "json",
        )
        assert ran.json["in_scale"] is None
        assert ran.json["side_by_side"]["methods"][0]["mse"] > 0.1  # no [0, 1]
