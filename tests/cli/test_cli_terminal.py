"""Help, colours and progress in a terminal."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from command_line import NEIGHBORS, jsonl, rated_rows, run, run_well, too_wide
from refless.cli import console
from refless.cli.flags import command_of, help_of
from refless.commands import COMMANDS, function_of

MOST_FLAGS = 30  # that help lists for one command


def options_of(name: str) -> tuple[list[Any], list[Any]]:
    """The flags that help lists, and those that it only names."""
    flags = [one for one in command_of(name).params if one.param_type_name == "option"]
    return [one for one in flags if not one.hidden], [
        one for one in flags if one.hidden
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_help(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every flag is there with a word about it, within 80 columns; rare ones are named below.

    Thirty are listed at most, --help among them; the list of commands has the first sentence.
    """
    monkeypatch.setenv("COLUMNS", "80")
    ran = run_well(name, "--help")
    assert not too_wide(ran.out)
    listed, rare = options_of(name)
    table, _, below = ran.out.partition("Seldom needed")
    for option in listed:
        for flag in option.opts:
            assert f" {flag} " in table or f" {flag}, " in table, flag
        assert option.help, f"{option.name} has no help"
    for option in rare:
        assert max(option.opts, key=len) in below
        assert f"  {option.opts[0]} " not in table
        assert option.help, f"{option.name} has no help"
    assert bool(below) == bool(rare)
    assert len(listed) + 1 <= MOST_FLAGS
    sentence, example, *_ = help_of(function_of(name)).split("\n\n")
    assert sentence == COMMANDS[name].sentence
    assert example.startswith("For example: refless ")


def test_help_lists_commands() -> None:
    """`refless --help` has a line for each in five groups, those of extensions too."""
    out = run("--help").out
    groups = ["Compare and judge", "Estimate", "Collect", "Data", "Metrics and papers"]
    assert [*dict.fromkeys(one.group for one in COMMANDS.values())] == groups
    listed = [
        name
        for group, (name, one) in product(groups, COMMANDS.items())
        if one.group == group
    ]
    places = [out.index(f"\n  {name} ") for name in listed]
    assert places == sorted(places)
    assert not too_wide(out)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (("refless", "va"), ["validate"]),
        (("refless", "judge", "--resam"), ["--resamples"]),
        (("refless", "score", "--min-"), ["--min-mean", "--min-coverage"]),
        (("refless", "train", "--ref"), ["--references"]),
    ],
    ids=lambda words: words[-1],
)
def test_completion(typed: tuple[str, ...], offered: list[str]) -> None:
    """A shell that asks is offered commands, and flags of the command that is typed."""
    environment = {
        **os.environ,
        "_REFLESS_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(typed),
        "COMP_CWORD": str(len(typed) - 1),
    }
    code = "import sys; sys.argv = ['refless']; from refless.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert sorted(done.stdout.split()) == sorted(offered), done.stderr


def in_terminal(
    words: list[str], folder: Path, **environment: str
) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a command with both in terminals."""
    ends = [pty.openpty() for _ in range(2)]
    env = {**os.environ, "COLUMNS": "80", "TERM": "xterm-256color", **environment}
    env.pop("NO_COLOR", None) if "NO_COLOR" not in environment else None
    process = subprocess.Popen(
        words,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=ends[0][1],
        stderr=ends[1][1],
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


@pytest.mark.parametrize(("patience", "drawn"), [("0.05", True), ("60", False)])
def test_progress_appears_for_long_work(
    tmp_path: Path, patience: str, *, drawn: bool
) -> None:
    """A bar on standard error once patience is over; standard output stays clean."""
    code, out, err = in_terminal([sys.executable, "-c", SCRIPT, patience], tmp_path)
    assert (code, out.strip()) == (0, "done")
    assert ("judging texts" in err, "%" in err, bool(err)) == (drawn, drawn, drawn)
    assert console.PATIENCE == 2.0


def test_progress_is_silent_without_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Into a file or a pipe no bar is drawn, and none is asked for."""
    with console.progress("judging texts") as show:
        assert show is None
    assert capsys.readouterr().err == ""


def test_progress_of_a_command(tmp_path: Path) -> None:
    """With no patience at all, `validate` draws its bar, and its JSON is still clean."""
    jsonl(tmp_path / "rated.jsonl", rated_rows())
    script = (
        "from refless.cli import console, main; console.PATIENCE = -1.0; import sys;"
        "sys.argv = ['refless', 'validate', 'rated.jsonl', '--estimator', 'bleu-neighbors',"
        "'--format', 'json']; main()"
    )
    code, out, err = in_terminal([sys.executable, "-c", script], tmp_path)
    assert code == 0
    assert "holding out each text: BLEU Neighbors" in err
    assert out.lstrip().startswith("{")


def test_colours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Headings are bold in a terminal, and plain with NO_COLOR or in a pipe."""
    jsonl(tmp_path / "rated.jsonl", rated_rows())
    words = [sys.executable, "-m", "refless", "validate", "rated.jsonl", *NEIGHBORS]
    code, bright, _ = in_terminal(words, tmp_path)
    assert code == 0
    _, plain, _ = in_terminal(words, tmp_path, NO_COLOR="1")
    monkeypatch.chdir(tmp_path)
    brief = ("--format", "brief")
    piped = run("validate", "rated.jsonl", *NEIGHBORS, *brief).out
    assert "\x1b[1m" in bright
    assert "\x1b" not in plain
    assert "\x1b" not in piped
    lines = plain.replace("\r\n", "\n")
    assert lines == piped
    assert re.sub(r"\x1b\[[0-9;]*m", "", bright).replace("\r\n", "\n") == piped
