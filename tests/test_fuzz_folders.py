"""A slice of the campaigns that kill, race, fill disks and lie: seconds of each."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytest.importorskip("torch", reason="torch is not installed")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.parametrize(
    ("campaign", "runs"), [("kill", 12), ("race", 4), ("full_disk", 12), ("loaders", 300)]
)
def test_a_slice(campaign: str, runs: int) -> None:
    """No fault, and as many executions as were asked for."""
    words = [sys.executable, "-m", f"fuzz.{campaign}", "--runs", str(runs), "--seed", "7"]
    done = subprocess.run(words, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith(f"{campaign}: ")
    assert last.endswith(" 0 unique faults")
    assert int(last.split()[1]) >= runs
