"""The functions: the numbers of the command line, from files and from memory."""

import inspect
import json
import re
import shlex
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import refless
from command_line import (
    headlines,
    jsonl,
    output_rows,
    rated_rows,
    run,
    run_well,
    unnoted,
)
from refless.cli.flags import flags_of
from refless.commands import COMMANDS, function_of
from refless.commands.parameters import parameters_of
from refless.registry.dialect import command_line
from refless.registry.errors import RefLessError
from refless.report.result import Result
from refusals import bad_input, bad_usage

QUICK = 60  # resamples


def scored_rows() -> list[dict[str, Any]]:
    """Headlines of two systems with a reference, a score, a rating and a log-probability."""
    texts = headlines(40)
    return [
        {
            "id": f"t{i:02}",
            "item": f"i{i // 2}",
            "system": ("human", "machine")[i % 2],
            "text": text,
            "reference": f"{texts[i - i % 2].split()[0]} sings at noon",
            "rating": 1 + (i * 7) % 5,
            "quick": (i * 5) % 11,
            "logprob": -5 - (i * 3) % 11,
        }
        for i, text in enumerate(texts)
    ]


def triples() -> list[dict[str, Any]]:
    """Contexts, messages and responses to mine."""
    return [
        {
            "id": f"q{i}",
            "context": f"at {i % 3}",
            "message": text,
            "response": f"{text} indeed",
        }
        for i, text in enumerate(headlines(30))
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("application")
    jsonl(where / "rated.jsonl", rated_rows())
    jsonl(where / "outputs.jsonl", output_rows())
    jsonl(where / "scored.jsonl", scored_rows())
    jsonl(where / "triples.jsonl", triples())
    (where / "mined").mkdir()
    return where


CALLS: dict[str, Callable[[Path], Result]] = {
    "validate": lambda f: refless.validate(f / "rated.jsonl", scale=(1, 5)),
    "validate-one": lambda f: refless.validate(
        f / "rated.jsonl", estimator="bleu-neighbors:tau=0.1", group="source", seed=3
    ),
    "score": lambda f: refless.score(
        f / "outputs.jsonl", f / "rated.jsonl", scale=(1, 5), these_items=True
    ),
    "score-gate": lambda f: refless.score(
        f / "outputs.jsonl",
        rated=[f / "rated.jsonl"],
        estimator="bleu-neighbors",
        min_mean=1.1234567891,
        min_coverage=0.1,
        threads=1,
    ),
    "explain": lambda f: refless.explain(
        "choir wins at noon in Torby",
        rated=f / "rated.jsonl",
        estimator="bleu-neighbors",
        most=3,
    ),
    "explain-id": lambda f: refless.explain(rated=f / "rated.jsonl", id="t001"),
    "metric": lambda f: refless.metric(
        f / "scored.jsonl", ["bleu:order=2", "rouge-l"], resamples=QUICK
    ),
    "judge": lambda f: refless.judge(
        f / "scored.jsonl",
        score_column="quick",
        metrics="sbleu",
        lower_is_better="quick",
        resamples=QUICK,
    ),
    "huse": lambda f: refless.huse(f / "scored.jsonl", neighbors=7),
    "stress": lambda f: refless.stress(
        f / "scored.jsonl",
        metrics="bleu",
        probe=["frequent", "references"],
        resamples=QUICK,
    ),
    "mine": lambda f: refless.mine(
        f / "triples.jsonl", seeds=[f / "triples.jsonl"], out_dir=str(f / "mined"), n=2
    ),
}


@cache
def made(name: str, folder: Path) -> Result:
    """The result of the call."""
    return CALLS[name](folder)


@pytest.mark.parametrize("name", CALLS)
def test_the_command_does_the_same(folder: Path, name: str) -> None:
    """`.command` is the line that gives the same object, the same words and the same status."""
    with command_line(flags_of(function_of(name.partition("-")[0]))):
        result = CALLS[name](folder)
        shown = str(result)
    words = shlex.split(result.command)[1:]
    assert words[0] == name.partition("-")[0]
    again = run(*words, "--format", "json")
    assert again.code == result.exit_status, again.err
    assert again.json == result.to_dict()
    assert run(*words).out == shown
    assert [*result.notes] == [
        line.removeprefix("refless: ") for line in again.err.splitlines()
    ]
    assert again.json.get("signature", str(result.signature)) == str(result.signature)


def test_training_does_the_same(folder: Path, tmp_path: Path) -> None:
    """Parameters of the network too, words among them; the folder may be a path."""
    pytest.importorskip("torch", reason="torch is not installed")
    network = "embedding=8,hidden=8,epochs=3,learning_rate=0.01,slots=name+near"
    found = refless.train(
        folder / "rated.jsonl",
        to=tmp_path / "m.safetensors",
        references=output_rows(),
        scale=(1, 5),
        estimator=f"ratpred:{network}",
        threads=1,
    )
    assert network in found.command
    outputs = str(folder / "outputs.jsonl")
    words = [
        outputs if word == "FILE" else word for word in shlex.split(found.command)[1:]
    ]
    assert run(*words, "--format", "json").found == unnoted(found.to_dict())
    assert found.to_dict()["model"] == str(tmp_path / "m.safetensors")
    assert (
        refless.score(outputs, model=tmp_path / "m.safetensors").scored.overall.coverage
        == 1
    )


@pytest.mark.parametrize("name", CALLS)
def test_results_save_themselves(folder: Path, tmp_path: Path, name: str) -> None:
    """Each format, and the report; that files are what is printed, test_cli_score has."""
    result = made(name, folder)
    for kind in ("json", "jsonl", "csv", "md", "html"):
        result.save(tmp_path / f"x.{kind}")
    assert json.loads((tmp_path / "x.json").read_text("utf-8")) == result.to_dict()
    page = (tmp_path / "x.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "<h1>" in page
    assert page == result.content("html")
    lines = (tmp_path / "x.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == len(result.rows())
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "x.csv",
        "x.html",
        "x.json",
        "x.jsonl",
        "x.md",
    ]


def test_rows_in_memory(folder: Path) -> None:
    """Dicts give the object of the file; `validate` and `judge` have all that holds rows."""
    files = str(folder / "outputs.jsonl"), folder / "rated.jsonl"
    rows = output_rows(), rated_rows()
    one = {"estimator": "bleu-neighbors", "scale": (1, 5)}
    found = refless.score(*rows, **one)
    assert unnoted(found.to_dict()) == unnoted(refless.score(*files, **one).to_dict())
    assert found.command == (
        "refless score FILE --rated FILE --estimator bleu-neighbors --scale 1 5"
    )
    assert "from 'text'" in found.notes[0]
    explained, of_files = (
        refless.explain(rated=rated, id="o03", outputs=outputs, **one)
        for outputs, rated in (rows, files)
    )
    assert unnoted(explained.to_dict()) == unnoted(of_files.to_dict())


def test_pools(folder: Path) -> None:
    """A pool that was read already serves as rows do."""
    path = folder / "rated.jsonl"
    pool = refless.read_pool(path, refless.Reading(scale=(1, 5))).pool
    outputs = refless.read_outputs(folder / "outputs.jsonl").outputs
    one = {"estimator": "bleu-neighbors"}
    whole = refless.score(folder / "outputs.jsonl", path, scale=(1, 5), **one).to_dict()
    assert unnoted(refless.score(outputs, pool, **one).to_dict()) == unnoted(whole)


def test_estimators_of_ones_own(folder: Path) -> None:
    """An instance stands where a specification does, is not fitted, and is in the command line."""
    given = refless.BLEUNeighbors(
        kernel=refless.BleuStar(orders=(1, 3)), min_neighbors=2
    )
    said = "bleu-neighbors:kernel=(bleu*:orders=1-3),min_neighbors=2"
    rated = folder / "rated.jsonl"
    outputs = folder / "outputs.jsonl"
    found = refless.score(outputs, rated, estimator=given, seed=4, threads=1)
    assert (
        found.to_dict()
        == refless.score(outputs, rated, estimator=said, seed=4, threads=1).to_dict()
    )
    assert f"--estimator '{said}'" in found.command
    both = refless.validate(rated, estimator=[given, "gp"])
    assert both.command.count("--estimator") == 2
    printed = run(*shlex.split(both.command)[1:], "--format", "json")
    assert printed.found == unnoted(both.to_dict())
    assert given.get_params()["threads"] is None
    with bad_usage("fit"):
        given.predict(["a text"])


WORDS = {"rating-map": {"good": 1, "bad": 0.5}}


@pytest.mark.parametrize(
    "more",
    [
        {"reading": WORDS},
        {"reading": {"rating-map": "good=1,bad=0.5"}, "skip_bad": True},
        {"reading": {**WORDS, "quoting": False, "format": "tsv"}},
        {"reading": WORDS, "columns": {"rating": ["rating", "second"]}},
        {
            "reading": {
                "rating_map": {"good": 1 / 3, "bad": 1e-7},
                "encoding": "latin-1",
            },
            "scale": (0.0, 1 / 3),
        },
    ],
    ids=str,
)
def test_every_parameter_becomes_words(tmp_path: Path, more: dict[str, Any]) -> None:
    """Maps, pairs, switches that can be on, off or neither, names: the line reads them back."""
    path = tmp_path / "a file's name.tsv"
    lines = [
        f"{t}\t{('good', 'bad')[i % 2]}\tgood" for i, t in enumerate(headlines(30))
    ]
    path.write_text("text\trating\tsecond\n" + "\n".join(lines), "utf-8")
    found = refless.validate(path, estimator="bleu-neighbors", **more)
    again = run_well(*shlex.split(found.command)[1:], "--format", "json")
    assert again.found == unnoted(found.to_dict())
    for role in more.get("columns", ()):
        assert found.command.count(f"--column {role}=") == 2
    for option in more["reading"]:
        assert option in found.command


def test_results_in_a_notebook(folder: Path) -> None:
    """Text where text is shown, tables in HTML, nothing that runs; texts are escaped."""
    rows = [{**row, "text": f"<b>{row['text']}</b>"} for row in rated_rows()]
    text = "<i>choir wins at noon in Torby"
    found = refless.explain(text, rated=rows, estimator="bleu-neighbors", most=3)
    assert repr(found) == str(found)
    fragment = found._repr_html_()
    assert "<table>" in fragment
    assert "&lt;i&gt;choir" in fragment
    assert "<i>" not in fragment
    assert "<b>choir" not in fragment
    assert "<script" not in fragment
    assert all(note.split("'")[0] in fragment for note in found.notes[1:])


def test_frames(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows in the library that is there; without one, what to install."""
    found = refless.explain(rated=folder / "rated.jsonl", id="t001", most=4)
    monkeypatch.setattr("refless.report.result.find_spec", lambda name: None)
    with bad_usage("pip install pandas"):
        found.to_frame()
    polars = SimpleNamespace(DataFrame=lambda rows: ("polars", rows))
    monkeypatch.setitem(sys.modules, "polars", polars)
    monkeypatch.setattr(
        "refless.report.result.find_spec",
        lambda name: name if name == "polars" else None,
    )
    assert found.to_frame() == ("polars", found.rows())


def test_functions_print_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Notes are in the result; the arguments are as they were."""
    rows = rated_rows()
    found = refless.score(output_rows(), rows, estimator="bleu-neighbors")
    assert rows == rated_rows()
    assert "144 rows merged into 48 texts on id" in found.notes
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name in refless.__all__])
def test_signatures_name_every_parameter(name: str) -> None:
    """Parameters are shown by help() and editors one by one; Python refuses unknown ones."""
    function = getattr(refless, name)
    parameters = inspect.signature(function).parameters
    assert "rows" not in parameters
    if name != "list":
        assert "columns" in parameters
    needed = {one.name: "x" for one in parameters.values() if one.default is one.empty}
    needed.pop("network", None)
    with pytest.raises(TypeError, match="nonsense"):
        function(**needed, nonsense=1)


@pytest.mark.parametrize("name", COMMANDS)
def test_what_parameters_take_is_declared(name: str) -> None:
    """A number outside its range, and a word that is no choice, is refused by its flag's name."""
    function = function_of(name)
    taken = inspect.signature(function).parameters.values()
    needed = {
        one.name: "x"
        for one in taken
        if one.default is one.empty and one.name != "network"
    }
    for one in parameters_of(function):
        ends = ((one.about.at_least, -1), (one.about.at_most, 1))
        wrong: list[Any] = [end + step for end, step in ends if end is not None]
        wrong += ["nonsense"] if one.about.choices else []
        for value in wrong:
            with bad_usage(f"^{one.name} must be .*[,;] got '?{value}"):
                function(**{**needed, one.name: value})


@pytest.mark.parametrize("name", [name for name in COMMANDS if name in refless.__all__])
def test_help_explains_every_parameter_once(name: str) -> None:
    """In plain types, those that several functions share too, and what comes back."""
    function = getattr(refless, name)
    said = inspect.getdoc(function) or ""
    signature = str(inspect.signature(function))
    assert "About(" not in signature + str(function.__annotations__)
    for parameter in inspect.signature(function).parameters:
        assert len(re.findall(rf"^    {parameter}: \S", said, re.MULTILINE)) == 1, (
            parameter
        )
    assert re.search(r"^Returns:\n    \w*(Result|Dimension)\b", said, re.MULTILINE)


def test_messages_speak_the_language_of_the_caller(folder: Path) -> None:
    """Keywords in Python, flags on the command line."""
    rated = str(folder / "rated.jsonl")
    outputs = str(folder / "outputs.jsonl")
    with bad_usage(r"^columns: no role 'txt'"):
        refless.score(outputs, rated, columns={"txt": "a"})
    with bad_input(r"no column 'gpt4' \(score_column\)"):
        refless.validate(rated, score_column="gpt4")
    ran = run("validate", rated, "--score-column", "gpt4")
    assert "no column 'gpt4' (--score-column)" in ran.err
    with bad_input(r"name it with columns=\{'text': 'NAME'\}, one text"):
        refless.validate([{"txt": "a", "rating": 1}])
    with bad_input(r"name it with columns=\{'text': 'NAME'\}, one text"):
        refless.read_pool([{"txt": "a", "rating": 1}])
    assert "Of each `score_column`: " in (inspect.getdoc(refless.judge) or "")
    assert "Of each --score-column: " in run("judge", "--help").out


def test_wrong_values_are_told(folder: Path) -> None:
    """The errors of the command line, as exceptions."""
    rated = folder / "rated.jsonl"
    for scale in ("1 6", (1,), 5, ("low", "high")):
        with bad_usage(r"scale must be two numbers.*such as \(1, 5\); got"):
            refless.validate(rated, scale=scale)
    for texts in (["a text."], ["文"], "a text " * 999, {"a text"}):
        with pytest.raises(
            RefLessError, match=r"texts alone are given as \{'text': \[...\]\}"
        ):
            refless.score(texts, rated)
    for name, said in (
        ("x.htm", "the ending must be"),
        ("no/x.json", "there is no folder"),
    ):
        with bad_usage(said):
            refless.explain(rated=rated, id="t001").save(folder / name)
    with pytest.raises(TypeError):
        refless.validate()
