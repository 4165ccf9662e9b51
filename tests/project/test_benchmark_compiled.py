"""benchmarks/compiled.py: the tables of gp beside the exact process, on ratings it makes."""

import subprocess
import sys

from places import ROOT


def test_tables_correlate_with_people_as_the_process_does() -> None:
    """Status 0, and a row with correlations, coverage, deviations and abstention."""
    script = ROOT / "benchmarks" / "compiled.py"
    done = subprocess.run(
        [sys.executable, str(script), "--quick"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    name, size, *_ = done.stdout.split()
    assert (name, size) == ("self-made", "102")
