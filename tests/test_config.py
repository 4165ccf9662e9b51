"""Files of settings: what they set, what wins and what is refused."""

from pathlib import Path

import pytest

import refless
from command_line import NEIGHBORS, jsonl, output_rows, rated_rows, run
from refless.commands import COMMANDS, function_of
from refless.commands.config import UNSAFE
from refless.commands.declared import parameters_of
from refless.registry.errors import InputError

SPEC = "bleu-neighbors:tau=0.1,min_neighbors=1"
READ_ONLY = """
before by columns config
device dimension encoding estimator goal group human_label id judged_by
kernel lower_is_better metrics model outputs probe project rated
own ratings reading reference_file references require score_column where
rubric seeds slots source system target
tokenize train
"""  # names of parameters that take text and that a file may set


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with rated texts and outputs, in which commands run."""
    monkeypatch.chdir(tmp_path)
    jsonl(tmp_path / "rated.jsonl", rated_rows())
    jsonl(tmp_path / "outputs.jsonl", output_rows())
    return tmp_path


def settings(here: Path, text: str) -> Path:
    """A file of settings."""
    path = here / "own.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_settings_do_what_flags_do(here: Path) -> None:
    """The same numbers and the same command line, which names no file."""
    settings(here, f'estimator = "{SPEC}"\nscale = [1, 5]\n[score]\nmin-coverage = 0.25\n')
    words = ("score", "outputs.jsonl", "--rated", "rated.jsonl", "--format", "json")
    flags = ("--estimator", SPEC, "--scale", 1, 5, "--min-coverage", 0.25)
    ours, theirs = run(*words, "--config", "own.toml"), run(*words, *flags)
    assert ours.out == theirs.out
    assert ours.code == theirs.code
    assert f"from own.toml: --estimator {SPEC} --min-coverage 0.25 --scale 1 5\n" in ours.err
    told = refless.score("outputs.jsonl", "rated.jsonl", config="own.toml")
    assert (
        told.command
        == refless.score(
            "outputs.jsonl", "rated.jsonl", estimator=SPEC, scale=(1, 5), min_coverage=0.25
        ).command
    )
    assert told.notes[0].startswith(f"from own.toml: estimator={SPEC!r} scale=(1.0, 5.0)")


def test_flags_win(here: Path) -> None:
    """Also one that says what the default is; and in Python."""
    settings(here, f'estimator = "{SPEC}"\n')
    words = ("score", "outputs.jsonl", "--rated", "rated.jsonl", "--config", "own.toml")
    assert "signature: gp|" in run(*words, "--estimator", "gp").out
    assert "signature: bleu-neighbors|" in run(*words).out
    found = refless.score("outputs.jsonl", "rated.jsonl", estimator="gp", config="own.toml")
    assert found.signature.name == "gp"


def test_a_command_takes_its_own(here: Path) -> None:
    """Its table comes before what is common; another command's table and flags are not its."""
    common, others = 'estimator = "gp"\nseed = 3\n', "[score]\nthese-items = true\n"
    settings(here, f'{common}[validate]\nestimator = ["{SPEC}"]\n{others}')
    ran = run("validate", "rated.jsonl", "--config", "own.toml")
    assert ran.code == 0
    assert f"from own.toml: --estimator {SPEC} --seed 3\n" in ran.err
    assert "|seed:3" in ran.out
    ran = run("metric", "rated.jsonl", "-m", "rouge-l", "--config", "own.toml")
    assert "from own.toml: --seed 3\n" in ran.err


def test_nothing_is_silent(here: Path) -> None:
    """A file that sets nothing here says so."""
    settings(here, "min_mean = 3\n")
    ran = run("validate", "rated.jsonl", *NEIGHBORS, "--config", "own.toml")
    assert "from own.toml: nothing that changes this\n" in ran.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('\nestimatr = "gp"', r"line 2: 'estimatr' is no flag \(did you mean 'estimator'\?\)"),
        ("[scroe]\nseed = 1", r"line 1: 'scroe' is no flag.*; there are .*estimator, group, "),
        ("seed = 1\n[validate]\ntau = 0.1", "line 3: 'tau' is no flag of validate; there are "),
        ("[validate]\nrated = ['x']", "line 2: 'rated' is no flag of validate"),
        ("config = 'x.toml'", "line 1: 'config' is no flag"),
        ('seed = "1"', 'line 1: seed must be a whole number, got "1"'),
        ("seed = true", "line 1: seed must be a whole number, got true"),
        ("scale = [1]", r"line 1: scale must be two numbers in brackets, got \[1\]"),
        ("scale = [1, true]", "scale must be two numbers"),
        ("estimator = 3", "line 1: estimator must be text in quotes, or several in brackets"),
        ("skip_bad = 1", "line 1: skip_bad must be true or false, got 1"),
        ("[validate]\nseed = '3'", 'line 2: seed must be a whole number, got "3"'),
        ("group = 1979-05-27", "group must be text in quotes, got 1979-05-27"),
        ("[validate.group]\nx = 1", "group must be text in quotes"),
        ("seed 1", r"this is not TOML: .*\(at line 1, column 6\)"),
        ("seed = 1\nseed = 2", "this is not TOML: Cannot overwrite a value"),
        ("a = " + "[" * 5000, "this is not TOML"),
    ],
)
def test_what_is_refused(here: Path, text: str, message: str) -> None:
    """With the file, the line, what was found and what there is."""
    settings(here, text)
    with pytest.raises(InputError, match=f"own.toml.*{message}"):
        refless.validate("rated.jsonl", config="own.toml")
    assert run("validate", "rated.jsonl", "--config", "own.toml").code == 2


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("stress rated.jsonl", "[stress]\nscorer = 'touch mark'"),
        (
            "validate rated.jsonl",
            "[stress]\nscorer = 'touch mark'",
        ),  # nor for a command that comes later
        ("rate outputs.jsonl", "\nhost = '0.0.0.0'"),
        ("serve rated.jsonl", "[serve]\nport = 80"),
        ("fit rated.jsonl --to m.safetensors", "\nto = '/tmp/m.safetensors'"),
        ("list datasets", "\nmirror = 'http://localhost'"),
        ("rate outputs.jsonl", "[rate]\ndatabase = 'ratings.db'"),
        ("rate outputs.jsonl", "[rate]\nbackup = 'ratings.db'"),
        ("rate outputs.jsonl", "[rate]\nrestore = 'ratings.db'"),
        ("rate outputs.jsonl", "[rate]\ntrust_proxy = '0.0.0.0/0'"),
    ],
)
def test_what_a_file_cannot_do(here: Path, command: str, text: str) -> None:
    """Start a program, listen, fetch or write: whose file it is, nobody knows."""
    settings(here, text)
    ran = run(*command.split(), "--config", "own.toml")
    name = text.partition(" = ")[0].split()[-1]
    assert f"own.toml, line 2: '{name}' is not read from a file of settings" in ran.err
    assert f"give --{name.replace('_', '-')} on the command line" in ran.err
    assert (ran.code, (here / "mark").exists()) == (2, False)


def test_every_flag_with_text_is_judged() -> None:
    """A new flag that takes text is read only, or is one that a file cannot set."""
    names = {
        one.name
        for command in COMMANDS
        for one in parameters_of(function_of(command))
        if not one.about.argument and "str" in str(one.kind) and not one.about.choices
    }
    assert names - {*READ_ONLY.split()} <= UNSAFE


def test_files_that_are_none(here: Path) -> None:
    """A missing file, a folder, bytes that are no UTF-8, and a file that is too large."""
    (here / "latin.toml").write_bytes(b'group = "\xe9"')
    (here / "large.toml").write_bytes(b"#" * (1 << 20) + b"#")
    for name, message in [
        ("none.toml", "no such file"),
        (".", "no such file"),
        ("latin.toml", "byte 0xe9 at offset 9 is not UTF-8"),
        ("large.toml", "holds 1,048,576 bytes at most"),
    ]:
        with pytest.raises(InputError, match=message):
            refless.validate("rated.jsonl", config=name)
