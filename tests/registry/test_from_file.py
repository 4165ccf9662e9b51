"""Estimators and metrics of a user's own file, and functions in Python."""

import json
from pathlib import Path

import pytest

import refless
from command_line import jsonl, rated_rows, run, run_well
from refless.estimators.own import own_estimator
from refless.registry.errors import RefLessError
from refless.registry.from_file import own_thing
from refusals import bad_usage

FILE = """
import dataclasses

import numpy as np


@dataclasses.dataclass
class Mean:
    share: float = 1.0

    def fit(self, texts, ratings):
        self.mean = float(np.mean(ratings))

    def predict(self, texts):
        return np.full(len(texts), self.mean)


class Sourced:
    def fit(self, texts, ratings, sources=None):
        self.of_sources = sources

    def predict(self, texts):
        return {}[self.of_sources[0]]


class Needy:
    def __init__(self, size):
        self.size = size


def words(text):
    return len(text.split())


def overlap(text, references):
    return float(text in references)


def broken(text):
    return {}["missing"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file of an estimator and of metrics, in which commands run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FILE)
    jsonl(tmp_path / "rated.jsonl", rated_rows())
    rows = [{"text": "a b c", "reference": "a b c"}, {"text": "a", "reference": "b"}]
    jsonl(tmp_path / "outputs.jsonl", rows)
    return tmp_path


def test_an_own_estimator(folder: Path) -> None:
    """It is validated, its signature changes with its file, and the command line says it again."""
    line = ("validate", "rated.jsonl", "--scale", 1, 5, "--estimator", "mine.py:Mean")
    ran = run_well(*line, "--format", "json")
    signature = ran.json["signature"]
    assert signature.startswith("Mean|")
    assert "|file:" in signature
    result = refless.validate("rated.jsonl", scale=(1, 5), estimator="mine.py:Mean")
    assert str(result.signature) == signature
    assert "--estimator mine.py:Mean" in result.command
    assert result.card().further.startswith("too little is known")
    (folder / "mine.py").write_text(FILE + "\n# more\n")
    again = refless.validate("rated.jsonl", scale=(1, 5), estimator="mine.py:Mean")
    assert str(again.signature) != signature
    one, other = (own_thing("mine.py:Sourced") for _ in "ab")
    assert one is not None is not other
    assert str(own_estimator(one).signature()) == str(own_estimator(other).signature())


def test_an_own_subclass(folder: Path) -> None:
    """A subclass of an estimator of ours has its parameters, and the estimates of its parent."""
    (folder / "sub.py").write_text(
        "from refless import BLEUNeighbors\n\n\nclass Sub(BLEUNeighbors):\n    pass\n"
    )
    sub, ours = (
        refless.score(
            "outputs.jsonl",
            rated="rated.jsonl",
            estimator=f"{name}:min_neighbors=1,max_fraction=1",
        )
        for name in ("sub.py:Sub", "bleu-neighbors")
    )
    assert str(sub.rows()) == str(ours.rows())  # NaN is not equal to itself
    assert "|file:" in str(sub.signature)
    with bad_usage("Sub has no parameter 'neighbours'"):
        refless.score(
            "outputs.jsonl", rated="rated.jsonl", estimator="sub.py:Sub:neighbours=1"
        )


def test_own_metrics(folder: Path) -> None:
    """Words: (3 + 1) / 2; overlap: 1 of 2. A function in Python gives the same."""
    line = ("metric", "outputs.jsonl", "-m", "mine.py:words", "-m", "mine.py:overlap")
    ran = run_well(*line, "--format", "json")
    text = json.dumps(ran.json)
    assert "|file:" in text

    def words(text: str) -> int:
        return len(text.split())

    by_file = refless.metric(
        "outputs.jsonl", metrics=["mine.py:words", "mine.py:overlap"]
    )
    by_function = refless.metric("outputs.jsonl", metrics=words)
    scores = [run.overall.score for run in (*by_file.runs, *by_function.runs)]
    assert scores == [2.0, 0.5, 2.0]
    with bad_usage("of the text alone has one parameter"):
        refless.metric("rated.jsonl", metrics="mine.py:overlap")
    with bad_usage("'a b c'\\) of output '1': KeyError: 'missing'; it must return"):
        refless.metric("outputs.jsonl", metrics="mine.py:broken")
    votes = [{"prompt": "p", "chosen": "a b", "rejected": "c", "references": ["a"]}] * 2
    with bad_usage("needs references, which are not read of choices"):
        refless.judge_choices(votes, metrics="mine.py:overlap")


def test_own_estimators_are_not_saved(folder: Path) -> None:
    """A folder of outputs needs a saved one: the message leads on, not to `fit` and back."""
    rated = ("--rated", "rated.jsonl", "--scale", 1, 5)
    ran = run("score", ".", *rated, "--estimator", "mine.py:Mean", "-o", "out/")
    assert ran.refuses(
        "cannot be saved, and a folder needs a saved one: name the files"
    )


class Given:
    """An estimator in Python."""

    def __init__(self, share: float = 1.0) -> None:
        self.share = share

    def fit(self, texts: list[str], ratings: list[float]) -> None:
        """Learns nothing."""

    def predict(self, texts: list[str]) -> list[float]:
        """The same for all."""
        return [self.share / 2] * len(texts)


def test_an_instance_is_said_again_and_a_class_is_none(folder: Path) -> None:
    """The line to go on with makes the instance; no address is in it."""
    found = refless.score(
        "outputs.jsonl", "rated.jsonl", scale=(1, 5), estimator=Given(0.8)
    )
    assert "estimator=Given(share=0.8)" in str(found)
    with bad_usage("Given is a class: give an instance of it, Given()"):
        refless.score("outputs.jsonl", "rated.jsonl", scale=(1, 5), estimator=Given)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("none.py:Mean", "none.py: it cannot be read"),
        ("mine.py", "mine.py: name what is in it, mine.py:NAME"),
        ("mine.py:Maen", "has no 'Maen' (did you mean 'Mean'?)"),
        ("mine.py:Mean:share=2", "set them in the file"),
        ("mine.py:Needy", "Needy() cannot be made"),
        ("mine.py:words", "words is no estimator: give it fit(texts, ratings)"),
        ("mine.py:Sourced", "mine.py, line 23: Sourced.predict KeyError: 's"),
        ("bad.py:Mean", "bad.py, line 3: NameError: name 'oops' is not defined"),
        ("worse.py:Mean", "worse.py, line 1: SyntaxError"),
    ],
)
def test_estimators_that_cannot_be(folder: Path, spec: str, message: str) -> None:
    """Each error names the file, the line where there is one, and what to do."""
    (folder / "bad.py").write_text("import math\n\noops\n")
    (folder / "worse.py").write_text("def (:\n")
    ran = run("validate", "rated.jsonl", "--scale", 1, 5, "--estimator", spec)
    assert ran.refuses(message)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("mine.py:broken", "mine.py, line 40: broken('a b c') of output '1': K"),
        ("mine.py:FILE", "has no 'FILE'"),
        ("mine.py:words:x=1", "words:x=1 is no function"),
    ],
)
def test_metrics_that_cannot_be(folder: Path, spec: str, message: str) -> None:
    """The same of metrics."""
    ran = run("metric", "outputs.jsonl", "-m", spec)
    assert ran.refuses(message)


def test_files_of_strangers_run_nothing(folder: Path) -> None:
    """A specification in a certificate or in a model is none of a file that is run."""
    (folder / "evil.py").write_text("open('ran', 'w').close()\n")
    with pytest.raises(RefLessError, match="no estimator"):
        refless.estimator_of("evil.py:Class")
    assert not (folder / "ran").exists()


def test_a_function_is_not_asked_without_references(folder: Path) -> None:
    """A blank cell of references is no text that shares nothing with them."""
    rows = [{"text": "a", "rating": i % 3, "reference": "a"} for i in range(9)]
    jsonl(folder / "blank.jsonl", [*rows, {"text": "b", "rating": 1, "reference": ""}])
    ran = run("judge", "blank.jsonl", "-m", "mine.py:overlap")
    assert "output '10' has an empty list of references" in ran.err
