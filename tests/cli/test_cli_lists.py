"""refless list: what there is, with every parameter."""

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from command_line import json_of, jsonl, run, too_wide
from refless.commands import COMMANDS
from refless.estimators import ESTIMATORS
from refless.extensions.connect.datasets import DATASETS
from refless.metrics.kernels import KERNELS
from refless.metrics.protocol import METRICS
from refless.registry.signature import Signature
from rows import read_csv
from schemas import fits

KINDS = {
    "estimators": {
        **ESTIMATORS,
        **{f"kernel {name}": kind for name, kind in KERNELS.items()},
    },
    "metrics": {**METRICS},
}


@pytest.mark.parametrize("name", KINDS)
def test_json(name: str) -> None:
    """Each thing with a line about it; what its parameters take, their defaults and purposes."""
    found = json_of("list", name)
    fits(found)
    assert (found["command"], found["kind"]) == ("list", name)
    assert str(Signature.parse(found["signature"])) == found["signature"]
    assert [row["name"] for row in found["listed"]] == [*KINDS[name]]
    by_name = {row["name"]: row for row in found["listed"]}
    if name == "metrics":
        assert "Needs references, weights." in by_name["delta-bleu"]["about"]
    else:
        tau = next(
            one
            for one in by_name["bleu-neighbors"]["parameters"]
            if one["name"] == "tau"
        )
        assert (tau["default"], tau["range"]) == ("none", "from 0 to 1")


@pytest.mark.parametrize("name", KINDS)
def test_text_and_rows(name: str) -> None:
    """A table each within 80 columns; a row a parameter in CSV."""
    out = run("list", name).out
    assert not too_wide(out)
    listed = json_of("list", name)["listed"]
    for row in listed:
        assert f"\n{row['name']}\n" in f"\n{out}"
        for one in row["parameters"]:
            assert f"\n{one['name']} " in out
    table = read_csv(run("list", name, "--format", "csv").out)
    assert len(table) == sum(len(row["parameters"]) for row in listed)
    assert {"name", "parameter", "takes", "default", "range", "help"} == set(table[0])


@pytest.mark.parametrize("name", [*KINDS, "datasets"])
def test_page(name: str, tmp_path: Path) -> None:
    """A list is a page too."""
    page = tmp_path / "page.html"
    assert run("list", name, "-o", page).code == 0
    headings = re.findall("<h2[^>]*>(.*?)</h2>", page.read_text("utf-8"))
    assert {*KINDS.get(name, DATASETS)} <= {*headings}


def test_what_there_is_no_list_of() -> None:
    """Other words, and what cannot be fetched."""
    ran = run("list", "people")
    assert ran.refuses("there are estimators, metrics, datasets")
    ran = run("list", "metrics", "--get", "bleu")
    assert ran.refuses("--get goes with the list of datasets")


@pytest.mark.parametrize(
    ("words", "heavy"),
    [
        ([""], ["numpy", "numba", "torch", "rich"]),
        (
            [*COMMANDS],
            [
                "numba",
                "scipy",
                "torch",
                "ssl",
                "rich",
                "tokenizers",
                "safetensors",
                "pydantic",
            ],
        ),
    ],
)
def test_help_loads_no_arithmetic(words: list[str], heavy: list[str]) -> None:
    """`refless --help` loads neither numpy nor numba, that of each command nothing compiled."""
    if version("typer") == "0.19.0":  # which loads rich itself
        heavy = [name for name in heavy if name != "rich"]
    code = (
        "import sys; from refless.cli import app;"
        "[app(word)([*word.split(), '--help'], standalone_mode=False) for word in sys.argv[1:]];"
        f"sys.exit(' '.join(name for name in {heavy} if name in sys.modules) or 0)"
    )
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr.strip()) == (0, "")


def test_texts_are_not_converted() -> None:
    """Pydantic, which reads numbers on a command line, is loaded for a number alone."""
    code = (
        "import sys; from refless.cli import app;"
        "app('list')(['list', 'estimators'], standalone_mode=False);"
        "sys.exit('pydantic' in sys.modules)"
    )
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0


def test_judge_loads_only_what_it_uses(tmp_path: Path) -> None:
    """No compiled loop, tokenizer, table of vectors or page: a cold start is most of the work."""
    rows = [
        {"text": f"text {i}", "rating": i % 2, "judge": i % 3 % 2} for i in range(30)
    ]
    path = jsonl(tmp_path / "rated.jsonl", rows)
    heavy = ["numba", "tokenizers", "safetensors", "wordllama", "jinja2", "scipy.stats"]
    code = (
        "import sys; from refless.cli import app;"
        "app()(['judge', *sys.argv[1:]], standalone_mode=False);"
        f"sys.exit(' '.join(name for name in {heavy} if name in sys.modules) or 0)"
    )
    words = ["--score-column", "judge", "--at-most-wrong", "0.1", "--resamples", "40"]
    command = [sys.executable, "-c", code, str(path), *words]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
