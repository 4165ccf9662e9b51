"""refless demo: the main job without a file."""

import json
import shlex
from pathlib import Path

import pytest

from command_line import run_well, too_wide


def test_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Says that it is simulated, shows trust and estimates, writes the sample, and its last
    command lines run on it."""
    monkeypatch.chdir(tmp_path)
    ran = run_well("demo", "--out-dir", "sample")
    assert "SIMULATED" in ran.out.splitlines()[0]
    assert "Agreement with people" in ran.out
    assert "Your raters would give" in ran.out
    assert not too_wide(ran.out)
    commands = [line for line in ran.out.splitlines() if line.startswith("  refless ")]
    assert (
        commands[0] == "  refless score OUTPUTS --rated sample/rated.jsonl --scale 1 5"
    )
    assert len(commands) == 5
    assert commands[4].startswith("  refless compare ")
    for command in commands[2:4]:
        again = run_well(*shlex.split(command)[1:])
        assert (
            again.out.split("signature: ")[0].strip() in ran.out
        )  # the same numbers, from files
    rows = (tmp_path / "sample" / "rated.jsonl").read_text("utf-8").splitlines()
    assert {"text", "rating", "annotator"} <= set(json.loads(rows[0]))
