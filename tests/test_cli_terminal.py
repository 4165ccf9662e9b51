"""What a terminal shows: help, colours, progress."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer

from command_line import jsonl, rated_rows, run, too_wide
from refless.cli import app, console

COMMANDS = ("score", "explain", "validate", "index", "demo")


@pytest.mark.parametrize("name", COMMANDS)
def test_help(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every option is there with a word about it, within 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    ran = run(name, "--help")
    assert ran.code == 0
    assert not too_wide(ran.out)
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    for option in command.params:
        for flag in option.opts:
            assert flag in ran.out, flag
        assert option.help, f"{flag} has no help"


def test_help_has_no_ragged_lines() -> None:
    """Docstrings flow to the width of the terminal instead of keeping their own line ends."""
    lines = [line.strip() for line in run("score", "--help").out.splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith("Prints the mean"))
    assert len(lines[start]) > 60
    assert len(lines[start + 1]) > 60


def in_terminal(words: list[str], folder: Path, **environment: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a command with both in terminals."""
    ends = [pty.openpty() for _ in range(2)]
    env = {**os.environ, "COLUMNS": "80", "TERM": "xterm-256color", **environment}
    env.pop("NO_COLOR", None) if "NO_COLOR" not in environment else None
    process = subprocess.Popen(
        words, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=ends[0][1], stderr=ends[1][1]
    )
    for _, child in ends:
        os.close(child)
    seen = {parent: b"" for parent, _ in ends}
    still = set(seen)
    deadline = time.monotonic() + 120
    while still and time.monotonic() < deadline:
        for parent in select.select(list(still), [], [], 1)[0]:
            try:
                data = os.read(parent, 65536)
            except OSError:  # how Linux ends a terminal
                data = b""
            seen[parent] += data
            if not data:
                still.discard(parent)
    code = process.wait(timeout=10)
    for parent in seen:
        os.close(parent)
    out, err = (text.decode() for text in seen.values())
    return code, out, err


SCRIPT = """
import sys, time
from refless.cli import console
console.PATIENCE = float(sys.argv[1])
with console.progress("judging texts") as show:
    for step in range(12):
        time.sleep(0.02)
        if show is not None:
            show(step / 12)
print("done")
"""


def test_progress_appears_for_long_work(tmp_path: Path) -> None:
    """A bar on standard error once patience is over; standard output stays clean."""
    code, out, err = in_terminal([sys.executable, "-c", SCRIPT, "0.05"], tmp_path)
    assert code == 0
    assert "judging texts" in err
    assert "%" in err
    assert out.strip() == "done"


def test_progress_stays_away_from_short_work(tmp_path: Path) -> None:
    """Within two seconds nothing is drawn."""
    code, out, err = in_terminal([sys.executable, "-c", SCRIPT, "60"], tmp_path)
    assert code == 0
    assert out.strip() == "done"
    assert err == ""
    assert console.PATIENCE == 2.0


def test_progress_is_silent_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Into a file or a pipe no bar is drawn, and none is asked for."""
    with console.progress("judging texts") as show:
        assert show is None
    assert capsys.readouterr().err == ""


def test_progress_of_a_command(tmp_path: Path) -> None:
    """With no patience at all, `validate` draws its bar, and its JSON is still clean."""
    jsonl(tmp_path / "rated.jsonl", rated_rows())
    script = (
        "from refless.cli import console, main; console.PATIENCE = -1.0; import sys;"
        "sys.argv = ['refless', 'validate', 'rated.jsonl', '--format', 'json']; main()"
    )
    code, out, err = in_terminal([sys.executable, "-c", script], tmp_path)
    assert code == 0
    assert "judging each text by the others" in err
    assert out.lstrip().startswith("{")


def test_colours(tmp_path: Path) -> None:
    """Headings are bold in a terminal, and plain with NO_COLOR or in a pipe."""
    jsonl(tmp_path / "rated.jsonl", rated_rows())
    words = [sys.executable, "-m", "refless", "validate", "rated.jsonl"]
    code, bright, _ = in_terminal(words, tmp_path)
    assert code == 0
    _, plain, _ = in_terminal(words, tmp_path, NO_COLOR="1")
    piped = run("validate", tmp_path / "rated.jsonl").out
    assert "\x1b[1m" in bright
    assert "\x1b" not in plain
    assert "\x1b" not in piped
    lines = plain.replace("\r\n", "\n")
    assert lines == piped
    assert re.sub(r"\x1b\[[0-9;]*m", "", bright).replace("\r\n", "\n") == piped
