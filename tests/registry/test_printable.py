"""Nothing that comes from files or names commands a terminal, or a spreadsheet where asked."""

import json
import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import ANY_NEIGHBOR, jsonl, rated_rows, run
from refless.registry.sanitize import printable
from refless.report.export import as_csv
from rows import read_csv

ESCAPE = "\x1b[31m\x1b]0;title\x07\u202ered\x9b5m"
COMMANDS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@given(st.text())
def test_nothing_is_left_to_command(text: str) -> None:
    """No control characters, no marks of direction, no surrogates; other text is as it was."""
    shown = printable(text)
    assert not COMMANDS.search(shown)
    assert "\n" not in shown
    shown.encode()
    if not COMMANDS.search(text) and "\n" not in text:
        assert shown == text


def test_what_is_written_instead() -> None:
    """Python's own escapes; what languages and emoji need stays."""
    assert printable("a\x1b[2J\u202eb\n\ud800") == r"a\x1b[2J\u202eb\n\ud800"
    assert printable("a\nb\tc", keep="\n") == "a\nb\\tc"
    for text in ("naïve", "日本語", "👩‍👩‍👧 👍🏽", "می‌خواهم", "e\u0301"):
        assert printable(text) == text


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    """Rated texts whose ids, systems, sources and texts would command a terminal."""
    rows = rated_rows()
    for row, name in product(rows, ("id", "system", "source", "text")):
        row[name] = f"{ESCAPE}{row[name]}"
    return jsonl(tmp_path / f"r{ESCAPE[:5]}.jsonl", rows)


COMMAND_LINES = {
    "score": ["score", "IT", "--rated", "IT"],
    "validate": ["validate", "IT", "--group", "system"],
    "explain": ["explain", f"the ferry {ESCAPE}", "--rated", "IT"],
    "no file": ["validate", f"no{ESCAPE}.csv"],
    "no column": ["validate", "IT", "--column", f"rating=x{ESCAPE}"],
    "no flag": ["validate", "IT", f"--x{ESCAPE}"],
    "no value": ["validate", "IT", "--format", f"x{ESCAPE}"],
    "no command": [f"x{ESCAPE}"],
    "no estimator": ["validate", "IT", "--estimator", f"gp:x{ESCAPE}=1"],
    "no ending": ["validate", "IT", "-o", f"x{ESCAPE}.txt"],
}


@pytest.mark.parametrize("case", COMMAND_LINES)
def test_nothing_commands_the_terminal(rated: Path, case: str) -> None:
    """Tables, notes, errors, those of the command line itself, Markdown."""
    words = [str(rated) if word == "IT" else word for word in COMMAND_LINES[case]]
    if words[0] in {"score", "validate", "explain"} and "--estimator" not in words:
        words += ANY_NEIGHBOR
    for shape in ("text", "md"):
        ran = run(*words, "--format", shape)
        assert not COMMANDS.search(ran.out), ran.out
        assert not COMMANDS.search(ran.err), ran.err
        assert ran.code in {0, 2}


def test_our_own_faults_command_nothing(
    rated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A traceback quotes what it was about."""

    def broken(*_: object, **__: object) -> None:
        raise KeyError(ESCAPE)

    monkeypatch.setattr("refless.commands.validate.run.told_pool", broken)
    ran = run("validate", rated)
    assert (ran.code, COMMANDS.search(ran.err)) == (1, None)


def test_data_stay_data(rated: Path) -> None:
    """JSON and CSV hold the ids as they are."""
    words = ["score", rated, "--rated", rated, *ANY_NEIGHBOR, "--format"]
    assert ESCAPE in json.dumps(run(*words, "json").json, ensure_ascii=False).replace(
        "\\u001b", "\x1b"
    ).replace("\\u0007", "\x07")
    assert ESCAPE in run(*words, "csv").out


FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@x",
    "\tx",
    "\rx",
    "'=1",
    "''=1",
    "'a",
    "a",
    "",
    "1",
    "a=1",
]


def test_formulas_are_text_where_asked(tmp_path: Path) -> None:
    """`--csv-safe` puts ' before them; one ' less gives the text back."""
    rows = [
        {**row, "system": "=SUM(A1)", "text": f"-{row['text']}"} for row in rated_rows()
    ]
    path = jsonl(tmp_path / "r.jsonl", rows)
    words = ["score", path, "--rated", path, *ANY_NEIGHBOR, "--format", "csv"]
    plain = run(*words)
    safe = run(*words, "--csv-safe", "-o", tmp_path / "o.csv")
    assert {row["system"] for row in read_csv(plain.out)} == {"=SUM(A1)"}
    read = read_csv(safe.out)
    assert {row["system"] for row in read} == {"'=SUM(A1)"}
    assert {row["text"][:2] for row in read} == {"'-"}
    assert (tmp_path / "o.csv").read_text("utf-8") == safe.out


@given(st.lists(st.one_of(st.sampled_from(FORMULAS), st.text()), min_size=1))
def test_the_way_back_from_safe_cells(texts: list[str]) -> None:
    """Cells are as docs/security.md has them; numbers stay numbers."""
    written = as_csv([{"x": text, "n": -1.5} for text in texts], safe=True)
    read = read_csv(written)
    back = [re.sub(r"^'(?='*[=+\-@\t\r])", "", row["x"]) for row in read]
    assert back == texts
    assert not any(re.match(r"[=+\-@\t\r]", row["x"]) for row in read)
    assert {row["n"] for row in read} == {"-1.5"}
