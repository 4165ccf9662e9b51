"""The workflow that `refless gate --workflow` writes, and the action: their scripts run."""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import refless
from command_line import run
from places import ROOT

SHIFTS = {"passed": 0.2, "undecided": -0.02, "failed": -0.2}
STATUSES = {"passed": 0, "undecided": 0, "failed": 3}


def script(text: str) -> str:
    """The commands of the step that asks the gate."""
    found = re.search(r"\n( +)run: \|\n((?:\1  .*\n?)+)", text)
    assert found
    return textwrap.dedent(found[2])


def evals(verdict: str) -> str:
    """Scores of v1 and v2 on 24 items; the difference varies by .1 around a shift."""
    rows = []
    for item in range(24):
        noise = 0.1 * (item % 3 - 1)
        rows.append({"system": "v1", "item": item, "score": 1.0})
        new = 1.0 + SHIFTS[verdict] + noise
        rows.append({"system": "v2", "item": item, "score": new})
    return json.dumps(rows)


def done(commands: str, place: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """The script as a runner of GitHub runs it, in which `refless` is this one."""
    (place / "bin").mkdir()
    (place / "bin" / "refless").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -m refless "$@"\n'
    )
    (place / "bin" / "refless").chmod(0o755)
    own = {
        "PATH": f"{place / 'bin'}:{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(place / "summary.md"),
        "GITHUB_OUTPUT": str(place / "outputs.txt"),
        **more,
    }
    return subprocess.run(
        ["bash", "-e", "-c", commands],
        cwd=place,
        env={**os.environ, **own},
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("verdict", SHIFTS)
def test_the_workflow(
    verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written once; passed and failed are the step's status, undecided passes with a warning."""
    monkeypatch.chdir(tmp_path)
    Path("evals.json").write_text(evals(verdict))
    asked = ("gate", "evals.json", "--baseline", "v1", "--workflow")
    ran = run(*asked)
    assert "wrote .github/workflows/refless-gate.yml" in ran.err
    workflow = Path(".github/workflows/refless-gate.yml").read_text()
    assert f"refless-{refless.__version__}-py3-none-any.whl" in workflow
    ran = done(script(workflow), tmp_path)
    assert ran.returncode == STATUSES[verdict], ran.stderr
    assert ("::warning title=refless::" in ran.stdout) is (verdict == "undecided")
    assert ("cannot be told yet" in ran.stdout) is (verdict == "undecided")
    assert f"Gate {verdict}: " in (tmp_path / "summary.md").read_text()
    assert {"gate.html", "gate.xml"} <= {path.name for path in tmp_path.iterdir()}
    assert run(*asked).ended(2, "is there already")


@pytest.mark.parametrize("verdict", ["undecided", "failed"])
def test_the_action(verdict: str, tmp_path: Path) -> None:
    """The same with the arguments as one text; the verdict is an output."""
    (tmp_path / "evals.json").write_text(evals(verdict))
    commands = script((ROOT / "action.yml").read_text("utf-8"))
    ran = done(commands, tmp_path, ARGUMENTS="evals.json --baseline 'v1'")
    assert ran.returncode == STATUSES[verdict], ran.stderr
    assert (tmp_path / "outputs.txt").read_text() == f"verdict={verdict}\n"


def test_a_wrong_call_fails(tmp_path: Path) -> None:
    """Status 2 of wrong usage is the job's too."""
    (tmp_path / "evals.json").write_text(evals("passed"))
    commands = script((ROOT / "action.yml").read_text("utf-8"))
    ran = done(commands, tmp_path, ARGUMENTS="evals.json --baseline v9")
    assert ran.returncode == 2
