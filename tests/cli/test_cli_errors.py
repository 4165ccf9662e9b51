"""Exit statuses, messages, and what happens when something goes wrong."""

import errno
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from command_line import NEIGHBORS, run, run_well, unnoted
from refless.commands import COMMANDS

MODULE = [sys.executable, "-m", "refless"]


def process(
    words: list[str], folder: Path, stdin: IO[bytes] | None = None, **environment: str
) -> "subprocess.CompletedProcess[bytes]":
    """A command line as a process of its own, with warnings as errors."""
    return subprocess.run(
        words,
        cwd=folder,
        check=False,
        stdin=stdin,
        capture_output=True,
        env={**os.environ, "PYTHONWARNINGS": "error", **environment},
    )


@pytest.mark.parametrize(
    "flags",
    [
        "--scale 5 1",
        "--scale nan 5",
        "--estimator bleu-neighbors:kernel=(bleu*:orders=4-2)",
        "--estimator bleu-neighbors:kernel=(bleu*:orders=1-4",
        "--estimator bleu-neighbors:kernel=nonsense",
        "--estimator bleu-neighbors:tau=2",
        "--estimator bleu-neighbors:nonsense=1",
        "--estimator gp:use_source=maybe",
        "--threads 0",
        "--seed -1",
        "--estimator nonsense",
        "--read format=nonsense",
        "--read encoding=nonsense",
        "--read rating-map=nonsense",
        "--column rating=nonsense",
        "--format nonsense",
        "--group nonsense",
        "--nonsense",
        "--scale 1",
        "--seed half",
    ],
)
def test_wrong_usage(folder: Path, flags: str) -> None:
    """Flags that cannot be honoured: exit 2, a message, nothing on standard output."""
    ran = run("validate", folder / "rated.jsonl", *flags.split())
    assert ran.code == 2
    assert (
        "rror" in ran.err.splitlines()[-1] or "Error" in ran.err
    )  # ours, or typer's box
    assert "Traceback" not in ran.err
    assert ran.out == ""


def test_messages_name_the_place(tmp_path: Path) -> None:
    """File, line, column, what was found, what to do."""
    bad = tmp_path / "bad.tsv"
    bad.write_text("text\trating\nfine\t3\nodd\t9\n", "utf-8")
    ran = run("validate", bad, "--scale", 1, 6)
    assert ran.refuses(
        f"refless: error: {bad}, line 3, column 'rating': rating 9 is outside"
    )
    assert "correct it or change the scale" in ran.err
    skipped = run_well("validate", bad, *NEIGHBORS, "--scale", 1, 6, "--skip-bad")
    assert "line 3" in skipped.err


def test_a_full_disk_is_no_fault_of_ours(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that cannot be written is said plainly, and nothing of it stays."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    monkeypatch.setattr("pathlib.Path.replace", full)
    ran = run("validate", folder / "rated.jsonl", *NEIGHBORS, "-o", tmp_path / "x.json")
    assert ran.refuses("No space left")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_cannot_be_written_is_told_first(name: str, tmp_path: Path) -> None:
    """Not after hours of work: the file that would be read is not even there."""
    own: dict[str, list[object]] = {
        "gate": ["none.csv", "--baseline", "old"],
        "explain": ["--rated", "none.csv", "text"],
        "fit": ["none.csv", "--to", tmp_path / "new.safetensors"],
        "train": ["none.csv", "--to", tmp_path / "new.safetensors"],
        "mine": ["none.csv", "--seeds", "none.csv", "--out-dir", tmp_path],
        "metric": ["none.csv", "-m", "bleu"],
        "route": ["none.csv", "--licence", "none.json"],
        "demo": [],
        "list": ["metrics"],
    }
    file = (
        tmp_path / f"{'x' * 245}.json"
    )  # longer than names can be, with what is written first
    ran = run(name, *own.get(name, ["none.csv"]), "-o", file)
    assert ran.refuses(f"{file}: the file cannot be written")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    "words",
    [
        "validate IT -o IT",
        "validate IT --out=IT",
        "validate --out IT IT",
        "score IT --rated IT -o IT",
        "score IT --rated=IT --out IT",
        "score ODD --rated=ODD --out=ODD",
    ],
)
def test_no_result_overwrites_what_is_read(folder: Path, words: str) -> None:
    """Ratings are dear: a file as input and output is refused by any name, with a = too."""
    path = folder / "rated.jsonl"
    odd = folder / "a=b.jsonl"
    before = path.read_bytes()
    odd.write_bytes(before)
    *inputs, result = words.replace("ODD", str(odd)).split()
    result = result.replace("IT", str(folder / ".." / folder.name / path.name))
    ran = run(*(word.replace("IT", str(path)) for word in inputs), result)
    assert ran.refuses("would overwrite a file that is read")
    assert path.read_bytes() == odd.read_bytes() == before


def test_no_result_overwrites_standard_input(folder: Path) -> None:
    """`-o FILE < FILE` is refused as well."""
    path = folder / "rated.jsonl"
    before = path.read_bytes()
    with path.open("rb") as opened:
        ran = process([*MODULE, "validate", "-", "-o", str(path)], folder, stdin=opened)
    assert (ran.returncode, b"would overwrite a file that is read" in ran.stderr) == (
        2,
        True,
    )
    assert path.read_bytes() == before


def test_a_long_text_is_no_file(folder: Path) -> None:
    """One too long for a file's name is a text."""
    text = "a ferry opens at noon in Torby " * 20
    assert run("explain", *NEIGHBORS, "--rated", folder / "rated.jsonl", text).code == 0


def test_interrupted_process(folder: Path) -> None:
    """The same for a real signal to a process that waits for its input."""
    script = (
        "import signal, sys; from refless.cli import main; import refless.estimators;"
        # shells have what they start in the background ignore this signal
        "signal.signal(signal.SIGINT, signal.default_int_handler); import refless.data.tables;"
        "import refless.commands.validate.document; print('ready', file=sys.stderr, flush=True);"
        "sys.argv = ['refless', 'validate', '-', '--read', 'format=jsonl']; main()"
    )
    words = [sys.executable, "-c", script]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        assert process.stderr.readline() == b"ready\n"
        process.stdin.write(b'{"text": "one of many", "rating": 1}\n' * 10_000)
        process.stdin.flush()  # a pipe holds less: it has read some, and now waits for more
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert b"Traceback" not in error


def test_a_reader_who_leaves(folder: Path) -> None:
    """`| head` ends nothing badly: the status is the command's own, and no complaint."""
    command = (
        f"{shlex.quote(sys.executable)} -m refless score outputs.jsonl --rated rated.jsonl "
        "--estimator bleu-neighbors --min-coverage 1 --format csv | true; echo ${PIPESTATUS[0]}"
    )
    done = process(["bash", "-c", command], folder)
    assert done.stdout.decode() == "3\n"
    assert b"Broken" not in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_flag_that_is_given_twice(folder: Path) -> None:
    """Of two values the last is taken, as everywhere, and that is said."""
    twice = ("--dimension", "tone", "--dimension", "fluency")
    ran = run("validate", folder / "rated.jsonl", *twice)
    assert "--dimension was given twice: the last one counts" in ran.err


def test_a_terminal_without_unicode(folder: Path) -> None:
    """Data leave as UTF-8 whatever the terminal; text shows question marks instead of failing."""
    words = [
        *MODULE,
        "explain",
        "café wins at noon",
        *NEIGHBORS,
        "--rated",
        "rated.jsonl",
    ]
    shapes = {"text": b"caf? wins at noon", "json": '"café wins at noon"'.encode()}
    for shape, expected in shapes.items():
        plain = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
        done = process([*words, "--format", shape], folder, **plain)
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout


def test_as_a_process(folder: Path) -> None:
    """The installed command and `python -m refless` are one, with warnings as errors."""
    rest = [*NEIGHBORS, "--format", "json"]
    rated = ("--rated", folder / "rated.jsonl")
    expected = run("score", folder / "outputs.jsonl", *rated, *rest).found
    for start in ([str(Path(sys.executable).parent / "refless")], MODULE):
        words = [*start, "score", "outputs.jsonl", "--rated", "rated.jsonl", *rest]
        done = process(words, folder)
        assert done.returncode == 0, done.stderr
        assert unnoted(json.loads(done.stdout)) == expected


def test_version_and_no_command() -> None:
    """--version says which; no command at all shows the help."""
    from refless.registry.version import __version__

    assert run("--version").out == f"refless {__version__}\n"
    nothing = run()
    assert nothing.code in {0, 2}
    assert all(command in nothing.out + nothing.err for command in COMMANDS)
