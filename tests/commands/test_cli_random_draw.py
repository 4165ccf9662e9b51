"""Rated rows that were not drawn at random: what judge, compare, score and next say of them."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng

from command_line import NEIGHBORS, headlines, json_of, run, run_well
from rows import csv_of, read_csv, write

Row = dict[str, object]
SCORED = ("--score-column", "judge", "--scale", "1", "5")
LOOKS = "do not look drawn at random"
ORDER = "nothing else tells them from the others"
COMMANDS = {
    "judge": "corrected means of all rows do not hold",
    "compare": "--selection unknown lets them teach estimates, and no more",
    "score": "have some rated that are drawn at random",
    "next": "forecast is made as if they were",
}


def rows_of(n: int = 160) -> list[Row]:
    """Two systems on the same items, all rated, with a judge of grades; the same at each call."""
    rng = default_rng(3)
    rows: list[Row] = []
    for i, text in enumerate(headlines(n)):
        human = int(rng.integers(1, 6))
        judge = int(np.clip(human + rng.integers(-1, 2), 1, 5))
        row = {"id": i, "item": i // 2, "system": "ab"[i % 2], "text": text}
        rows.append({**row, "rating": human, "judge": judge})
    return rows


def grade(row: Row) -> int:
    """The judge's grade."""
    return int(str(row["judge"]))


def rated_if(rows: Sequence[Row], rated: Callable[[int, Row], bool]) -> list[Row]:
    """The rows, of which these alone keep their rating."""
    return [
        row if rated(i, row) else {**row, "rating": ""} for i, row in enumerate(rows)
    ]


def written(path: Path, rows: Sequence[Row]) -> Path:
    """A CSV file."""
    return Path(write(path.parent, path.name, csv_of(rows)))


def noted(command: str, *words: object) -> str:
    """The standard error of a command."""
    flags = ("--resamples", "40") if command == "judge" else NEIGHBORS
    flags += ("--goal", "compare", "-n", "5") if command == "next" else ()
    ran = run_well(command, *words, *SCORED, *flags)
    return ran.err


@pytest.fixture(scope="module")
def disliked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts that the judge gave 1 to 3 are rated, but for one in six."""
    rows = rated_if(rows_of(), lambda i, row: (grade(row) <= 3) != (i % 6 == 5))
    return written(tmp_path_factory.mktemp("rows") / "disliked.csv", rows)


@pytest.mark.parametrize("command", COMMANDS)
def test_labels_of_what_the_judge_disliked(command: str, disliked: Path) -> None:
    """The draw is named first, with what follows; the judge alone is not blamed."""
    notes = noted(command, disliked)
    assert LOOKS in notes
    assert "the mean 'judge' is 2." in notes
    assert COMMANDS[command] in notes
    assert "unless the same judge, prompt and scale scored both" not in notes


def test_ratings_that_were_picked_answer_no_comparison(disliked: Path) -> None:
    """Ratings not drawn at random teach the estimates, unless the user says that it was."""
    answers = {
        said: json_of("compare", disliked, *SCORED, *words)
        for said, words in {
            "nothing": (),
            "unknown": ("--selection", "unknown"),
            "random": ("--selection", "random"),
        }.items()
    }
    assert answers["nothing"]["selection"] == "unknown"
    assert answers["nothing"]["pairs"] == answers["unknown"]["pairs"]
    assert answers["nothing"]["pairs"] != answers["random"]["pairs"]


def test_no_corrected_mean_is_the_one_to_print(disliked: Path) -> None:
    """Nor are the labels alone; what is not claimed says why."""
    ran = run("judge", disliked, *SCORED, "--resamples", "40", "--format", "json")
    (judge,) = ran.json["judges"]
    assert judge["first"] == ""
    assert (
        "the ratings stand for all rows: they do not look drawn at random." in ran.out
    )
    told = run("judge", disliked, *SCORED, "--format", "text").line
    assert "no mean is told, as these are no random draw of all" in told
    assert "ratings alone" not in told


@pytest.mark.parametrize("command", COMMANDS)
def test_random_labels_are_no_matter(command: str, tmp_path: Path) -> None:
    """Rows at random; whole items at random; another share of each system."""
    rng = default_rng(0)
    draws = {
        "rows": rng.random(160) < 0.4,
        "items": np.repeat(rng.random(80) < 0.4, 2),
        "systems": rng.random(160) < np.tile([1.0, 0.25], 80),
    }
    if command == "judge":
        del draws["systems"]
    for name, drawn in draws.items():
        rows = rated_if(rows_of(), lambda i, _, drawn=drawn: bool(drawn[i]))
        notes = noted(command, written(tmp_path / f"{name}.csv", rows))
        assert LOOKS not in notes
        assert ORDER not in notes


def test_a_judge_hears_of_systems_that_are_rated_unlike(tmp_path: Path) -> None:
    """Its means are about all rows; compare tells the shares, and no bias."""
    rows = rated_if(rows_of(), lambda i, row: row["system"] == "a" or i % 10 == 1)
    path = written(tmp_path / "rows.csv", rows)
    notes = noted("judge", path)
    assert "Of 'a' 100 % are rated, of 'b' 20 %; within each, rated rows look" in notes
    assert LOOKS not in noted("compare", path)
    answer = run("compare", path, *SCORED, *NEIGHBORS).line
    assert "Of 'a' 100 % are rated, of 'b' 20 %; within each, rated rows look" in answer
    even = "rate about 64 more of 'b', drawn at random"
    assert even in notes
    shares = "of 'a' 100 % are rated, of 'b' 20 %"
    drawing = f"refless next {path} --goal mean -n 64 --system b"
    licence = ("--pass", "4", "--at-most-wrong", "0.1")
    for words, asked in {(): "1. Rate", licence: "rate"}.items():
        page = run("judge", path, *SCORED, *words).line
        assert f"Do now: {asked}{even[4:]}" in page
        assert "or ask now of one version" in page
        assert f"({shares}; within each, rated rows look like the unrated)" in page
        assert f"for a limit on errors {even}." in page
        assert drawing in page
        assert f"refless judge {path} to-rate.csv " in page
    named = run("judge", path, *SCORED).line
    assert "the 0.6 that is needed is met. How many of its decisions are" in named
    assert "--pass X --at-most-wrong 0.1" in named


def test_the_rows_that_a_judge_asks_for_are_drawn_and_enough(tmp_path: Path) -> None:
    """Those of the named version alone; with them the judge asks for no more."""
    drawn = default_rng(0).random(160) < np.tile([0.7, 0.2], 80)
    rows = rated_if(rows_of(), lambda i, _: bool(drawn[i]))
    path = written(tmp_path / "rows.csv", rows)
    asked = re.findall(r"rate about (\d+) more of 'b'", noted("judge", path))[0]
    filled = tmp_path / "filled.csv"
    words = ("--goal", "mean", "--system", "b", "-n", asked, *SCORED)
    page = run_well("next", path, *words, *NEIGHBORS, "-o", filled).line
    assert f"refless judge {path} {filled} " in page
    listed = read_csv(filled.read_text())
    assert [row["system"] for row in listed] == ["b"] * int(asked)
    written(filled, [{**row, "rating": 1 + i % 5} for i, row in enumerate(listed)])
    assert "rate about" not in noted("judge", path, filled)
    unknown = run("next", path, "--goal", "mean", "--system", "c")
    assert "--system c: no output is of 'c'; they are of 'a', 'b'" in unknown.err


def test_a_judge_that_agrees_has_the_whole_next_command(tmp_path: Path) -> None:
    """The line asks for a licence; X stands for the bar that no column tells."""
    path = written(tmp_path / "rows.csv", rows_of())
    asks = f"refless judge {path} --pass X --at-most-wrong 0.1 --scale 1 5 --score-column judge"
    assert asks in run("judge", path, *SCORED).line


@pytest.mark.parametrize("command", COMMANDS)
def test_the_first_rows_of_a_file(command: str, tmp_path: Path) -> None:
    """If nothing but their place tells them, the remark is milder, and a mean is to be printed."""
    path = written(tmp_path / "rows.csv", rated_if(rows_of(), lambda i, _: i < 60))
    notes = noted(command, path)
    assert "The rated rows are the first 60 of 160 in the file" in notes
    assert ORDER in notes
    assert LOOKS not in notes
    if command == "judge":
        ran = run("judge", path, *SCORED, "--resamples", "40", "--format", "json")
        assert ran.json["judges"][0]["first"] == "ratings and scores"


def test_the_order_changes_the_remark_and_no_number(tmp_path: Path) -> None:
    """The same rows in the order of the file and in another."""
    rows = rated_if(rows_of(), lambda i, _: i < 60)
    order = default_rng(0).permutation(len(rows)).tolist()
    files = {"sorted": rows, "mixed": [rows[i] for i in order]}
    found: dict[str, str] = {}
    for name, content in files.items():
        path = written(tmp_path / f"{name}.csv", content)
        ran = run("judge", path, *SCORED, "--resamples", "40", "--format", "json")
        assert (ORDER in ran.err) == (name == "sorted")
        found[name] = json.dumps(
            {key: value for key, value in ran.json.items() if key != "notes"},
            sort_keys=True,
        )
    assert found["sorted"] == found["mixed"]


def test_ratings_of_another_file_have_no_place(tmp_path: Path) -> None:
    """With --rated, or in files that divide the rows of a system, the order tells nothing."""
    rows = rows_of()
    new = written(tmp_path / "new.csv", rated_if(rows, lambda *_: False))
    old = written(tmp_path / "old.csv", rows[:60])
    rest = written(tmp_path / "rest.csv", rated_if(rows[60:], lambda *_: False))
    assert ORDER not in noted("compare", new, "--rated", old)
    for command in ("judge", "compare", "score"):
        assert ORDER not in noted(command, old, rest)


def test_a_file_for_each_system_has_places(tmp_path: Path) -> None:
    """The first rows of each are rated."""
    rows = rows_of()
    files: list[Path] = []
    for system in "ab":
        mine = [row for row in rows if row["system"] == system]
        files.append(
            written(tmp_path / f"{system}.csv", rated_if(mine, lambda i, _: i < 30))
        )
    assert "rated rows mostly stand before the others" in noted("compare", *files)


def test_where_nothing_is_asked(disliked: Path, tmp_path: Path) -> None:
    """With chances of being drawn, or if nobody says that the draw was random."""
    assert LOOKS not in noted("compare", disliked, "--selection", "unknown")
    rows = read_csv(disliked.read_text())
    chances = [{**row, "probability": "0.5" if row["rating"] else ""} for row in rows]
    path = written(tmp_path / "chances.csv", chances)
    assert LOOKS not in noted("compare", path)
    mixed = [{**row, "use": 1 + int(row["id"]) % 2} for row in rows]
    path = written(tmp_path / "mix.csv", mixed)
    assert LOOKS not in noted("judge", path, "--column", "mix=use")


@pytest.mark.parametrize(
    "command",
    [("compare",), ("gate", "--baseline", "a"), ("next", "--goal", "compare")],
)
def test_a_score_that_nothing_reads_tells_who_was_picked(
    tmp_path: Path, command: Sequence[str]
) -> None:
    """Ratings of the texts that a judge likes least are noticed without a flag for the judge."""
    rows = rated_if(rows_of(), lambda _, row: row["system"] == "a" or grade(row) < 3)
    picked = written(tmp_path / "picked.csv", rows)
    name, *flags = command
    scale = ("--scale", "1", "5", *NEIGHBORS)
    ran = run(name, picked, *flags, *scale)
    assert f"{LOOKS} (p at most 0.001): the mean 'judge' is" in ran.err
    if name != "next":
        assert ran.refuses("--score-column judge lets estimates know 'judge'")
        assert run(name, picked, *flags, *scale, "--selection", "random").code != 2
