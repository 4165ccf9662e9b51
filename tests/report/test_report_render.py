"""Documents as text and Markdown; rows as CSV, objects as JSON."""

import json
import math

from refless.report.document import Document, Section, Table
from refless.report.export import as_csv, as_json, as_jsonl
from refless.report.text import as_markdown, as_text
from rows import read_csv

JSON = {"format": 1, "value": math.nan, "odd": "\ud800", "list": [math.inf * 0]}
ROWS: list[dict[str, str | float | None]] = [
    {"id": "a", "value": math.nan, "text": 'say "x", \n|y|'},
    {"id": "b", "value": 0.1, "text": None},
]
DOCUMENT = Document(
    sections=(
        Section(lines=("something is wrong",), warning=True),
        Section(
            title="Numbers",
            lines=("  refless score " + "x" * 100,),
            table=Table(
                header=("name", "two\nlines"),
                rows=(("a|b\nc", "1.0"), ("d", "-")),
                numeric=(False, True),
            ),
        ),
    ),
)


def test_undefined_is_null_in_json() -> None:
    """Strict JSON, also of what UTF-8 cannot hold."""
    found = json.loads(as_json(JSON), parse_constant=lambda name: 1 / 0)
    assert found == {"format": 1, "value": None, "odd": "?", "list": [None]}


def test_jsonl_is_one_object_a_row() -> None:
    """In the order of the rows."""
    lines = as_jsonl(ROWS).splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["a", "b"]


def test_csv_reads_back() -> None:
    """RFC 4180 quoting; an undefined number and None are empty cells."""
    rows = read_csv(as_csv(ROWS))
    assert rows[0] == {"id": "a", "value": "", "text": 'say "x", \n|y|'}
    assert rows[1] == {"id": "b", "value": "0.1", "text": ""}
    assert as_csv([]).strip() == ""


def test_markdown_cells_stay_in_their_row() -> None:
    """Pipes are escaped, line ends become breaks, warnings quotes, titles headings."""
    lines = as_markdown(DOCUMENT).splitlines()
    assert "> something is wrong" in lines
    assert "## Numbers" in lines
    assert r"| a\|b<br>c | 1.0 |" in lines
    assert "| name | two<br>lines |" in lines


def test_text_keeps_commands_whole() -> None:
    """A command line is not broken, so that it can be copied; tables fit the width."""
    lines = as_text(DOCUMENT, width=40).splitlines()
    assert "  refless score " + "x" * 100 in lines
    assert max(len(line) for line in lines if "refless" not in line) <= 40
    assert "\x1b" not in as_text(DOCUMENT)
    assert "\x1b[33m" in as_text(DOCUMENT, color=True)
