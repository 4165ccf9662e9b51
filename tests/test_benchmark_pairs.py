"""The benchmark of preference pairs runs, and on self-made pairs ours is ahead of its rivals."""

import re
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "pairs.py"


def test_self_made_pairs() -> None:
    """Held out by source, more often right than length; a table and no warning."""
    command = [sys.executable, "-W", "error", str(SCRIPT), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (row,) = (line for line in done.stdout.splitlines() if line.startswith("| self-made |"))
    ours, length = (float(re.split(r"\s+", cell.strip())[0]) for cell in row.split("|")[4:6])
    assert ours > 0.6
    assert ours > length
