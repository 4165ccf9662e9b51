"""Files for other tools: what each of them reads, in its own words."""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import (
    ANY_NEIGHBOR,
    NEIGHBORS,
    jsonl,
    new_rows,
    output_rows,
    rated_rows,
    run,
    run_well,
)
from refless import RefLessError
from refless.commands.lists.run import list as listed
from refless.data.tables import Reading, read_pool
from refless.report.tools.junit import junit
from rows import read_jsonl

SCALE = ("--scale", 1, 5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rated texts, outputs of two systems, and of one."""
    where = tmp_path_factory.mktemp("tools")
    jsonl(where / "rated.jsonl", rated_rows())
    rows = output_rows()
    jsonl(where / "outputs.jsonl", rows)
    jsonl(where / "one.jsonl", [{**row, "system": "m"} for row in rows])
    return where


def scored(folder: Path, name: str, *words: object) -> Sequence[Mapping[str, Any]]:
    """The rows of `score`, with what else it writes."""
    by = ("--rated", folder / "rated.jsonl", *SCALE, *ANY_NEIGHBOR)
    ran = run("score", folder / name, *by, *words, "--format", "jsonl")
    assert ran.code in {0, 3, 4}, ran.err
    return read_jsonl(ran.out)


def test_inspect_has_a_record_a_sample(folder: Path, tmp_path: Path) -> None:
    """NaN and the reason where there is no estimate; ids are those of the samples."""
    rows = scored(folder, "one.jsonl", "-o", f"inspect:{tmp_path / 's.jsonl'}")
    lines = read_jsonl((tmp_path / "s.jsonl").read_text())
    assert [line["id"] for line in lines] == [row["id"] for row in rows]
    for line, row in zip(lines, rows, strict=True):
        assert {*line} == {"id", "value", "explanation", "metadata"}
        assert line["metadata"]["reason"] == row["reason"]
        if row["reason"]:
            assert line["value"] != line["value"]
            assert line["explanation"] == f"no estimate: {row['reason']}"
        else:
            assert line["value"] == row["estimate"]
            assert (
                f"{row['estimate']:.2f} [" in line["explanation"]
            )  # three digits in all
    assert any(row["reason"] for row in rows)


def test_inspect_knows_epochs_by_their_order(folder: Path, tmp_path: Path) -> None:
    """Answers to one item are its epochs; where one is missing nobody can tell."""
    rows = [
        {**row, "id": f"{row['id']}-{e}", "item": row["id"], "system": "m"}
        for e, row in product((1, 2), output_rows())
    ]
    jsonl(tmp_path / "epochs.jsonl", rows)
    scored(
        tmp_path.parent / folder.name,
        str(tmp_path / "epochs.jsonl"),
        "-o",
        f"inspect:{tmp_path / 's.jsonl'}",
    )
    lines = read_jsonl((tmp_path / "s.jsonl").read_text())
    assert [(line["id"], line["epoch"]) for line in lines] == [
        (row["item"], 1 + i // 12) for i, row in enumerate(rows)
    ]
    jsonl(tmp_path / "epochs.jsonl", rows[1:])
    by = (
        "--rated",
        folder / "rated.jsonl",
        *NEIGHBORS,
        "-o",
        f"inspect:{tmp_path / 's.jsonl'}",
    )
    assert "epochs cannot be told" in run("score", tmp_path / "epochs.jsonl", *by).err
    assert (
        "the outputs are of 2 (m0, m1)"
        in run("score", folder / "outputs.jsonl", *by).err
    )


def test_gates_are_test_cases(tmp_path: Path) -> None:
    """Undecided ones are skipped."""
    for least, kind in ((1.01, None), (4.9, "failure"), (2.9, "skipped")):
        rated = jsonl(tmp_path / "rated.jsonl", rated_rows(96))
        by = ("--rated", rated, *SCALE, *ANY_NEIGHBOR)
        words = (
            "--min-mean",
            least,
            "--min-coverage",
            0.5,
            "-o",
            f"junit:{tmp_path / 'j.xml'}",
        )
        ran = run(
            "score", jsonl(tmp_path / "new.jsonl", new_rows(after=96)), *by, *words
        )
        assert ran.code == {None: 0, "failure": 3, "skipped": 4}[kind]
        suite = ET.parse(tmp_path / "j.xml").getroot()[0]
        assert [case.get("name") for case in suite] == ["gate"]
        assert [child.tag for child in suite[0]] == ([kind] if kind else [])
        counted = {
            name: len(suite.findall(f".//{name}")) for name in ("failure", "skipped")
        }
        assert (suite.get("failures"), suite.get("skipped")) == (
            str(counted["failure"]),
            str(counted["skipped"]),
        )


@given(st.text())
def test_any_reason_is_xml(reason: str) -> None:
    """Characters that XML can hold come back as they were."""
    case = ET.fromstring(junit("score", "failed", reason))[0][0]
    kept = re.sub(
        r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", reason
    )
    assert case[0].get("message") == kept


def chosen(folder: Path, target: str, tool: str) -> list[dict[str, Any]]:
    """The file that `next` writes for a tool."""
    by = ("--rated", folder / "rated.jsonl", *SCALE, "--goal", "mean", "-n", 5)
    run_well("next", folder / "outputs.jsonl", *by, "-o", f"{tool}:{target}")
    found: list[dict[str, Any]] = json.loads(Path(target).read_text())
    return found


def test_label_studio_gets_tasks_and_gives_ratings(
    folder: Path, tmp_path: Path
) -> None:
    """Priorities fall, nothing is rated before, and an export of these tasks is read back."""
    tasks = chosen(folder, str(tmp_path / "tasks.json"), "label-studio")
    scores = [task["predictions"][0]["score"] for task in tasks]
    assert scores == sorted(scores, reverse=True) == [1.0, 0.8, 0.6, 0.4, 0.2]
    assert all(task["predictions"][0]["result"] == [] for task in tasks)
    assert all("rating" not in task["data"] for task in tasks)
    for i, task in enumerate(tasks):
        value = {
            "type": "rating",
            "from_name": "quality",
            "to_name": "t",
            "value": {"rating": 2},
        }
        task |= {
            "id": i,
            "annotations": [{"id": i, "completed_by": 1, "result": [value]}],
        }
    (tmp_path / "project.json").write_text(json.dumps(tasks))
    pool = read_pool(str(tmp_path / "project.json"), Reading(scale=(1, 5))).pool
    assert set(pool.texts) == {task["data"]["text"] for task in tasks}
    assert set(pool.human) == {0.25}


def test_argilla_gets_records(folder: Path, tmp_path: Path) -> None:
    """The text is a field, all that raters need not see is metadata."""
    records = chosen(folder, str(tmp_path / "records.json"), "argilla")
    for record in records:
        assert {*record["fields"]} == {"source", "text"}
        assert {*record["metadata"]} == {"system", "priority"}
        assert record["responses"] == record["suggestions"] == {}
        assert record["id"].startswith("o")


def test_tools_that_there_are_not(folder: Path, tmp_path: Path) -> None:
    """Told before anything is read."""
    for target, told in (
        ("inspct:s.jsonl", "no tool 'inspct'; there are inspect, junit"),
        ("inspect:s.csv", "the ending must be .jsonl"),
        (f"inspect:{tmp_path}/none/s.jsonl", "there is no such folder"),
        ("label-studio:s.json", "label-studio: is for what next find, not score"),
        (f"inspect:{folder}/one.jsonl", "would overwrite a file that is read"),
    ):
        ran = run("score", folder / "one.jsonl", "--rated", "none.csv", "-o", target)
        assert ran.refuses(told)
    with pytest.raises(RefLessError, match="not list"):
        listed("estimators").save("junit:x.xml")
