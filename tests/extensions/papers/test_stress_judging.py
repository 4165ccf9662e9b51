"""Other tools' scorers: what they are given, and every way in which they can fail."""

import sys
from pathlib import Path

import numpy as np
import pytest

from refless.data.records import Outputs
from refless.extensions.papers.stress.judging import Scorer
from refusals import bad_input, bad_usage

OUTPUTS = Outputs(
    ids=("a", "b"),
    texts=("one two", "drei \u2028 vier"),
    references=(("r",), ("s", "t")),
)


def scorer(folder: Path, code: str) -> Scorer:
    """A scorer of these lines of Python."""
    path = folder / "my scorer.py"
    path.write_text(f"import sys, json\n{code}\n", "utf-8")
    return Scorer(command=f"{sys.executable} '{path}'")


def test_reads_jsonl_and_writes_scores(tmp_path: Path) -> None:
    """Text and references arrive; nan and null are undefined, the corpus score is the mean."""
    code = (
        "for line in sys.stdin:\n"
        "    row = json.loads(line)\n"
        "    print(len(row['references']) if row['id'] == 'b' else 'null')"
    )
    scores = scorer(tmp_path, code).score(OUTPUTS)
    np.testing.assert_array_equal(scores.segments, [np.nan, 2.0])
    assert scores.corpus == 2.0


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("print(1)", "wrote 1 line for 2 outputs"),
        ("print(1, 2, 3, sep=chr(10))", "wrote 3 lines for 2 outputs"),
        ("print(1); print('good')", "line 2: the scorer .* wrote 'good'"),
        ("print(1); print('inf')", "wrote 'inf'"),
        ("sys.exit('no model here')", "ended with status 1: no model here"),
        ("sys.exit(3)", "ended with status 3: nothing on stderr"),
    ],
)
def test_failures_are_told(tmp_path: Path, code: str, message: str) -> None:
    """The message says what was found and what to do."""
    with bad_input(message):
        scorer(tmp_path, f"sys.stdin.read(); {code}").score(OUTPUTS)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "needs a command"),
        ("'open", "cannot be split"),
        ("/no/such/program --x", "cannot run: No such file"),
    ],
)
def test_commands_that_cannot_be(command: str, message: str) -> None:
    """Wrong usage."""
    with bad_usage(message):
        Scorer(command=command).score(OUTPUTS)


def test_a_reader_that_stops_early_is_judged_by_its_lines(tmp_path: Path) -> None:
    """A scorer that never reads its input is no crash of ours."""
    many = Outputs(ids=tuple(map(str, range(5000))), texts=("x" * 200,) * 5000)
    with bad_input("wrote 0 lines for 5,000"):
        scorer(tmp_path, "pass").score(many)


def test_signature_names_the_command() -> None:
    """Everything that can change the scores, as far as it can be seen."""
    assert (
        str(Scorer(command="my-tool --fast").signature())
        == "scorer|command:my-tool --fast"
    )
