"""The command line as a process: streams that are closed or full, a package that is read-only."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import refless
from command_line import NEIGHBORS

REFLESS = f"{shlex.quote(sys.executable)} -m refless"
SCORE = shlex.join(["score", "outputs.jsonl", "--rated", "rated.jsonl", *NEIGHBORS])
FULL = Path("/dev/full")
DAC = "-dac_override,-dac_read_search"  # what lets root write where modes forbid it


def shell(
    line: str, folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """The words that bash makes of a line."""
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "", **environment},
    )


def test_standard_error_closed(folder: Path) -> None:
    """Notes go nowhere, least of all into standard output."""
    open_, closed = (
        shell(f"{REFLESS} {SCORE} --format json {how}", folder) for how in ("", "2>&-")
    )
    assert closed.returncode == 0
    assert json.loads(closed.stdout) == json.loads(open_.stdout)
    assert open_.stderr.startswith("refless: ")


def test_standard_error_closed_and_an_error(folder: Path) -> None:
    """The status alone tells of it."""
    done = shell(f"{REFLESS} score nothing.jsonl --rated rated.jsonl 2>&-", folder)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("words", [f"{SCORE} -o new.json", "--help"])
def test_standard_output_closed(words: str, folder: Path) -> None:
    """One line, status 2, before any work is done."""
    done = shell(f"{REFLESS} {words} >&-", folder)
    assert done.returncode == 2
    assert done.stderr.startswith("refless: error: standard output is closed")
    assert done.stderr.count("\n") == 1
    assert not (folder / "new.json").exists()


def test_every_stream_closed(folder: Path) -> None:
    """Nothing that a library prints lands in a file that took a stream's number."""
    assert shell(f"{REFLESS} list metrics <&- >&- 2>&-", folder).returncode == 2
    done = shell(f"{REFLESS} score - --rated rated.jsonl <&-", folder)
    assert done.returncode == 2
    assert "standard input is empty" in done.stderr
    done = shell(f"{REFLESS} {SCORE} -o saved.json <&- 2>&- >/dev/null", folder)
    assert done.returncode == 0
    assert json.loads((folder / "saved.json").read_text("utf-8"))["command"] == "score"


@pytest.mark.skipif(not FULL.exists(), reason="a device that is always full is Linux's")
@pytest.mark.parametrize("words", ["list estimators --format json", "--help"])
def test_standard_output_full(words: str, folder: Path) -> None:
    """One line, status 2; also for a gate that would have passed."""
    done = shell(f"{REFLESS} {words} >/dev/full", folder)
    assert done.returncode == 2
    assert done.stderr.startswith("refless: error: ")
    assert "No space left on device" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(not FULL.exists(), reason="a device that is always full is Linux's")
def test_standard_error_full(folder: Path) -> None:
    """Nobody can be told, and nothing else changes."""
    assert shell(f"{REFLESS} {SCORE} 2>/dev/full", folder).returncode == 0
    assert shell(f"{REFLESS} nothing 2>/dev/full", folder).returncode == 2


@pytest.mark.parametrize("words", ["--help", "list estimators --format json"])
def test_a_closed_pipe(words: str, folder: Path) -> None:
    """Whoever stops reading is no error: quiet, status 0."""
    done = shell(f"{REFLESS} {words} | true; exit ${{PIPESTATUS[0]}}", folder)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_package_that_cannot_be_written(folder: Path, tmp_path: Path) -> None:
    """Without a home and a place for compiled loops, as in a container, numbers are the same."""
    capable = os.geteuid() == 0  # root writes anywhere unless it is told not to
    if capable and shutil.which("setpriv") is None:
        pytest.skip("root, and no setpriv to give its rights away")
    package = Path(refless.__file__).parent
    copy = tmp_path / "refless"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for path in [*copy.rglob("*"), copy, tmp_path]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    limits = f"setpriv --bounding-set={DAC} " if capable else ""
    few_loops = "metric outputs.jsonl -m bleu --column reference=source"
    line = f"{REFLESS} {few_loops} --format json"
    environment = {
        "PYTHONPATH": str(tmp_path),
        "HOME": "/proc/nowhere",
        "NUMBA_CACHE_DIR": "",
    }
    done = shell(limits + line, folder, **environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("compiles its loops anew") == 1
    assert json.loads(done.stdout) == json.loads(shell(line, folder).stdout)
    assert not list(copy.rglob("__pycache__"))
    for path in [tmp_path, copy, *copy.rglob("*")]:
        path.chmod(0o755)
