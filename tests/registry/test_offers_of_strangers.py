"""Packages of strangers that are broken: all else works, and a note names package and entry."""

import shutil
import subprocess
from pathlib import Path

import pytest

from command_line import jsonl, rated_rows, run_source
from places import ROOT

ABSTRACT = """
from refless.estimators import Estimator
class Half(Estimator):
    name = "half"
"""
MISANNOTATED = """
from dataclasses import dataclass
from refless.extensions.metrics.bleu import BLEU
@dataclass(frozen=True)
class Wrong(BLEU):
    most: "Nowhere" = 1
"""
BROKEN = {  # how: (group, entry, code of the module, what the note says)
    "import fails": (
        "commands",
        "mine2 = stranger.it:IT",
        "import nowhere",
        "nowhere",
    ),
    "it exits": (
        "commands",
        "mine2 = stranger.it:IT",
        "raise SystemExit(3)",
        "SystemExit: 3",
    ),
    "no such name": ("commands", "mine2 = stranger.it:IT", "", "no attribute 'IT'"),
    "no module": ("commands", "mine2 = stranger.it.more:IT", "", "stranger.it.more"),
    "no command": (
        "commands",
        "mine2 = stranger.it:IT",
        "IT = 'refless.x'",
        "'refless.x' is no Command",
    ),
    "no class": (
        "estimators",
        "mine2 = stranger.it:IT",
        "IT = 3",
        "3 is no subclass of Estimator",
    ),
    "another class": (
        "estimators",
        "mine2 = stranger.it:IT",
        "class IT: pass",
        "no subclass",
    ),
    "half a class": (
        "estimators",
        "mine2 = stranger.it:Half",
        ABSTRACT,
        "Half lacks _learn, ",
    ),
    "no metric": (
        "metrics",
        "mine2 = stranger.it:IT",
        "class IT: name = 'x'",
        "IT lacks missing",
    ),
    "no hints": (
        "metrics",
        "mine2 = stranger.it:Wrong",
        MISANNOTATED,
        "'Nowhere' is not defined",
    ),
    "no list": ("lists", "mine2 = stranger.it:IT", "IT = 3", "3 is no Callable"),
    "no export": (
        "formats",
        "mine2 = stranger.it:IT",
        "IT = 3",
        "3 is no refless.data",
    ),
}
ASKED = {
    "commands": ("mine2",),
    "estimators": ("validate", "rated.jsonl", "--estimator", "mine2"),
    "metrics": ("metric", "rated.jsonl", "-m", "mine2"),
    "lists": ("list", "mine2"),
    "formats": ("validate", "rated.jsonl", "--read", "format=mine2"),
}
LISTING = {
    "commands": ("--help",),
    "estimators": ("list", "estimators"),
    "metrics": ("list", "metrics"),
    "lists": ("list", "nothing"),
    "formats": ("validate", "rated.jsonl", "--estimator", "bleu-neighbors"),
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source, rated texts, and room for a package of a stranger."""
    folder = tmp_path_factory.mktemp("strangers")
    shutil.copytree(ROOT / "src", folder, dirs_exist_ok=True)
    jsonl(folder / "rated.jsonl", rated_rows())
    (folder / "stranger").mkdir()
    (folder / "stranger" / "__init__.py").touch()
    facts = folder / "stranger-1.5.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: stranger\nVersion: 1.5\n"
    )
    return folder


def offer(source: Path, group: str, entry: str, code: str) -> None:
    """Lets the stranger's package offer an entry, with this code in its module."""
    facts = source / "stranger-1.5.dist-info" / "entry_points.txt"
    facts.write_text(f"[refless.{group}]\n{entry}\n")
    shutil.rmtree(source / "stranger" / "__pycache__", ignore_errors=True)
    (source / "stranger" / "it.py").write_text(code)


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_offer_is_left_out(source: Path, how: str) -> None:
    """With one note; asked for by name it is an error that names the package, with status 2."""
    group, entry, code, reason = BROKEN[how]
    offer(source, group, entry, code)
    listing = LISTING[group]
    listed = run_source(source, *listing)
    assert listed.returncode == (2 if listing == ("list", "nothing") else 0), (
        listed.stderr
    )
    assert listed.stderr.count("the package stranger 1.5 offers") == 1, listed.stderr
    assert f"'mine2' in refless.{group}" in listed.stderr
    assert reason in listed.stderr
    asked = run_source(source, *ASKED[group])
    assert asked.returncode == 2, asked.stderr
    assert "mine2" in asked.stderr
    assert reason in asked.stderr
    assert "Traceback" not in listed.stderr + asked.stderr


@pytest.mark.parametrize(
    ("code", "status", "told"),
    [
        ("import nowhere", 2, "the command 'mine2' cannot be loaded from stranger.it"),
        ("", 2, "mend or uninstall its package"),
    ],
)
def test_a_command_without_its_function(
    source: Path, code: str, status: int, told: str
) -> None:
    """Other commands do not load it; it is an error when it is asked for."""
    offer(source, "commands", "mine2 = stranger:IT", code)
    offering = "from refless.registry.offered import Command\nIT = Command('It.', 'stranger.it')\n"
    (source / "stranger" / "__init__.py").write_text(offering)
    done = run_source(source, "mine2")
    listed = run_source(source, "--help")
    (source / "stranger" / "__init__.py").write_text("")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert done.returncode == status, done.stderr
    assert told in done.stderr


def test_a_fault_in_a_strangers_code_is_theirs(source: Path) -> None:
    """The last line names the package, and refless takes no blame."""
    code = "from refless.extensions.metrics.bleu import BLEU\n"
    code += "class IT(BLEU):\n    def score(self, outputs): return 1 / 0\n"
    offer(source, "metrics", "mine2 = stranger.it:IT", code)
    rows = [{"text": "a cat", "references": ["a cat"]}]
    done: subprocess.CompletedProcess[str] = run_source(
        source, "metric", jsonl(source / "outputs.jsonl", rows), "-m", "mine2"
    )
    assert done.returncode == 1
    assert "a fault of the package 'stranger'" in done.stderr
    assert "a fault of refless" not in done.stderr
