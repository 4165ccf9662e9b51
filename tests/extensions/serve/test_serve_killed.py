"""kill -9 while raters write: what was acknowledged is there, and once."""

import subprocess
import sys

import pytest

from places import ROOT


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is of POSIX")
def test_no_acknowledged_rating_is_lost() -> None:
    """Three kills under five raters; benchmarks/rating.py does hundreds."""
    script = ROOT / "benchmarks" / "rating.py"
    words = (
        "kills",
        "--kills",
        "3",
        "--raters",
        "5",
        "--items",
        "1500",
        "--apart",
        "1",
    )
    ran = subprocess.run(
        [sys.executable, str(script), *words],
        capture_output=True,
        check=False,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    acknowledged = int(ran.stdout.split(" acknowledged")[0].split()[-1])
    assert acknowledged > 10
    assert " 0 lost, 0 doubled, 0 refused, integrity ok" in ran.stdout
