"""The workflow in docs/ci.md: its gate's script, run as it is printed."""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import refless
from command_line import jsonl, new_rows, rated_rows, run
from places import ROOT


def script(step: str = "Gate") -> str:
    """The commands of a step."""
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    found = re.search(rf"- name: {step}\n(.*?)\n {{6}}- ", text, flags=re.DOTALL)
    assert found
    return textwrap.dedent(found[1].partition("run: ")[2].removeprefix("|\n"))


def test_it_is_installed_from_where_it_is(tmp_path: Path) -> None:
    """A wheel of this version, as it is not on PyPI; its hash is a part of the cache's key."""
    (tmp_path / "pip").write_text(
        '#!/bin/sh\ntest "$1" = freeze || exec printf "%s\\n" "$@"\n'
        'printf "numpy==2.4.6\\nrefless @ file:///wheels/refless.whl#sha256=abc\\n"\n'
    )
    (tmp_path / "pip").chmod(0o755)
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    (where,) = re.findall(r"^  REFLESS: (\S+)$", text, flags=re.MULTILINE)
    own = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "REFLESS": where}
    done = subprocess.run(
        ["bash", "-e", "-c", script("Install")],
        cwd=tmp_path,
        env={**os.environ, **own},
        check=True,
        capture_output=True,
        text=True,
    )
    wheel = f"wheels/refless-{refless.__version__}-py3-none-any.whl"
    assert done.stdout.split() == ["install", wheel]
    assert (tmp_path / "version.txt").read_text().endswith("refless.whl#sha256=abc\n")
    assert "numpy" not in (tmp_path / "version.txt").read_text()


def test_the_file_that_fit_writes_is_cached() -> None:
    """The cache keeps what the next step looks for and makes."""
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    (path,) = re.findall(r"^ +path: (\S+)\n +key: ", text, flags=re.MULTILINE)
    assert f"run: test -f {path} || refless fit" in text
    assert f"--to {path}\n" in text


@pytest.mark.parametrize(
    ("least", "status", "checks"), [("4.9", 3, False), ("2.9", 0, True)]
)
def test_undecided_is_neutral(
    tmp_path: Path, least: str, status: int, checks: bool
) -> None:
    """Passed and failed are the step's status; undecided passes, and is told by a neutral check."""
    jsonl(tmp_path / "outputs.jsonl", new_rows())
    jsonl(tmp_path / "rated.jsonl", rated_rows())
    model = ("--to", tmp_path / "model.safetensors", "--estimator", "gp:use_source=no")
    assert run("fit", tmp_path / "rated.jsonl", "--scale", 1, 5, *model).code == 0
    for name, line in {
        "refless": f'exec "{sys.executable}" -m refless "$@"',
        "python": f'exec "{sys.executable}" "$@"',
        "gh": f'printf "%s\\n" "$@" > "{tmp_path}/asked"',
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    own = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "LEAST": least,
        "SHA": "abc",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_REPOSITORY": "some/one",
    }
    done = subprocess.run(
        ["bash", "-e", "-c", script()],
        cwd=tmp_path,
        env={**os.environ, **own},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stderr
    assert (tmp_path / "asked").exists() is checks
    gate = json.loads((tmp_path / "quality.json").read_text())["gate"]
    assert (gate["verdict"] == "undecided") is checks
    if checks:
        asked = (tmp_path / "asked").read_text().splitlines()
        assert "conclusion=neutral" in asked
        assert f"output[summary]={gate['reason']}" in asked
        assert f"::warning title=refless::{gate['reason']}" in done.stdout
    assert "mean" in (tmp_path / "summary.md").read_text()
    assert {"quality.html", "quality.xml"} <= {path.name for path in tmp_path.iterdir()}
