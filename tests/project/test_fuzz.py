"""A slice of the campaigns in fuzz/, whatever they have found, and that they find what is there."""

import random
import subprocess
import sys
from base64 import b64decode
from pathlib import Path

import pytest
from fuzz import __main__ as main
from fuzz import command_lines, forks, worker
from fuzz.making import mutated
from fuzz.targets import TARGETS, Target, attempt

from places import ROOT
from rows import read_jsonl

pytest.importorskip("pyarrow")
FOUND = sorted((ROOT / "fuzz" / "found").glob("*/*.bin"))


@pytest.mark.parametrize(
    "path", FOUND, ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_what_was_found_stays_mended(path: Path) -> None:
    """Each input that made a fault once."""
    fault = attempt(TARGETS[path.parent.name].call, path.read_bytes())
    if fault is not None:
        raise fault


@pytest.mark.filterwarnings("ignore")  # of the libraries that make frames
@pytest.mark.parametrize("name", TARGETS)
def test_a_slice_of_each_target(name: str) -> None:
    """Made and mutated input: only errors of refless come out."""
    target = TARGETS[name]
    rng = random.Random(7)
    for _ in range(60):
        data = mutated(target.make(rng), rng, target.make)
        fault = attempt(target.call, data)
        assert fault is None, (data, fault)


def test_faults_are_found(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    """A planted fault is told once, with an input that makes it, and is the exit status."""

    def broken(data: bytes) -> None:
        if data.count(b"a") > 2:
            raise KeyError("planted")

    planted = Target(
        call=broken, make=lambda rng: rng.choice((b"a", b"b")) * rng.randrange(5)
    )
    monkeypatch.setitem(TARGETS, "planted", planted)
    assert worker.main(["planted", "--runs", "2000", "--drawn"]) == 1
    said = read_jsonl(capfd.readouterr().out)
    (fault,) = (one for one in said if "fault" in one)
    assert fault["fault"].startswith("KeyError in")
    assert attempt(broken, b64decode(fault["data"])) is not None
    assert said[-1] == {"done": 2000}


def test_without_atheris_it_is_said(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    """Mutation is then drawn, aloud."""
    monkeypatch.setitem(sys.modules, "atheris", None)
    assert worker.main(["signature", "--runs", "20"]) == 0
    assert "drawn at random, as atheris is not installed" in capfd.readouterr().out


def test_the_command_line_of_the_campaigns() -> None:
    """Executions and unique faults are printed; an unknown campaign is refused."""
    words = [sys.executable, "-m", "fuzz", "--minutes", "0.02", "--seed", "1", "--only"]
    done = subprocess.run(
        [*words, "signature", "acts"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].endswith(" executions, 0 unique faults")
    assert not done.stdout.splitlines()[-1].startswith("fuzz: 0 ")
    done = subprocess.run(
        [*words, "nope"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "no campaign nope" in done.stderr) == (1, True)


def test_a_campaign_ends_by_itself() -> None:
    """It has some executions however little time it is given."""
    told = main._rounds("command_lines", 0.01, 1)
    assert (told.executions, told.faults) == (forks.FEWEST, [])


def test_nasty_command_lines() -> None:
    """A slice of the command lines, another part of them as processes; there are more than 290."""
    with command_lines.workplace() as lines:
        assert len(lines) > 290
        random.Random(3).shuffle(lines)
        for way, some in (
            (command_lines.ran, lines[:60]),
            (command_lines.as_process, lines[60:62]),
        ):
            for words in some:
                assert command_lines.wrong(*way(words)) == "", words


@pytest.mark.parametrize(
    ("status", "said", "found"),
    [
        (0, "fine", ""),
        (2, "refless: error: no", ""),
        (1, "refless: no", "exit status 1"),
        (-11, "", "exit status -11"),
        (2, "Traceback (most recent call last):\nKeyError", "a traceback: KeyError"),
        (2, "refless: \x1b[2J", "reaches the terminal"),
    ],
)
def test_what_counts_as_wrong(status: int, said: str, found: str) -> None:
    """Another exit status, a traceback, an escape sequence."""
    told = command_lines.wrong(status, said)
    assert found in told if found else told == ""
