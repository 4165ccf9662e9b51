"""A slice of the campaigns that kill, race, fill disks and lie: seconds of each."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RUNS = {"kill": 12, "race": 4, "full_disk": 12, "loaders": 300}
PROGRAM = """
import sys
from importlib import import_module
statuses = {}
for word in sys.argv[1:]:
    name, runs = word.split("=")
    statuses[name] = import_module(f"fuzz.{name}").main(["--runs", runs, "--seed", "7"])
print(statuses)
sys.exit(max(statuses.values()))
"""
pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture(scope="module")
def told() -> str:
    """What all campaigns print, in one process that loads everything once."""
    words = (f"{name}={runs}" for name, runs in RUNS.items())
    command = [sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.parametrize("campaign", RUNS)
def test_a_slice(told: str, campaign: str) -> None:
    """No fault, and as many executions as were asked for."""
    assert f"'{campaign}': 0" in told, told
    (last,) = re.findall(rf"^{campaign}: .* executions, .*$", told, re.MULTILINE)
    assert last.endswith(" 0 unique faults")
    assert int(last.split()[1]) >= RUNS[campaign]
