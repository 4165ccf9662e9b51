"""The benchmark runs and shows every row; nothing is said about seconds."""

import gzip
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

import pytest

from places import ROOT, TESTS
from published import started
from refless.metrics.matching import cores

SCRIPT = ROOT / "benchmarks" / "matching.py"
SAID = {
    "all_ratings": "self-made",
    "compiled": "self-made",
    "metrics": "SIMULATED texts: 300",
    "stress": "Peak memory",
    "pairs": "| self-made |",
    "sources": "| texts |",
}
ROW = re.compile(r"(\S.*?) {2,}([\d,]+) +[\d.]+ +[\d.]+ +[\d,]+ +[\d,.]+")


def run(*arguments: str, script: Path = SCRIPT) -> subprocess.CompletedProcess[str]:
    return started(script, *arguments)


def rows_of(text: str) -> dict[str, int]:
    """Method and number of pairs of each row."""
    found = (ROW.fullmatch(line) for line in text.splitlines())
    return {row[1]: int(row[2].replace(",", "")) for row in found if row}


def test_no_script_hides_a_library() -> None:
    """The folder of a script comes first where Python looks, so a name may be taken by it alone."""
    scripts = [path.stem for path in SCRIPT.parent.glob("*.py")]
    ours = {SCRIPT.parent, TESTS}  # folders of tests are no libraries
    elsewhere = [
        folder
        for folder in sys.path
        if ours.isdisjoint({Path(folder), *Path(folder).parents})
    ]
    taken = {name for name in scripts if PathFinder.find_spec(name, elsewhere)}
    assert taken | ({*scripts} & sys.stdlib_module_names) == set()


@pytest.fixture(scope="module")
def benchmark() -> Iterator[ModuleType]:
    """The script as a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPT.parent))
        yield importlib.import_module(SCRIPT.stem)


@pytest.fixture(scope="module")
def quick() -> subprocess.CompletedProcess[str]:
    """One quick run for all tests."""
    return run("--quick")


def test_quick_run_is_sound(quick: subprocess.CompletedProcess[str]) -> None:
    """Ours and its peers agree where they should; what is absent, machine and memory are named."""
    assert (quick.returncode, quick.stderr) == (0, "")
    assert "FAULT" not in quick.stdout
    assert ("fast-bleu, C++" in quick.stdout) != ("fast_bleu: skipped" in quick.stdout)
    assert re.search(r"\d+ cores; Python 3\.\d+", quick.stdout)
    assert re.search(r"Peak\s+memory\s+of\s+the\s+process:\s+\d+\s+MiB", quick.stdout)
    assert max(map(len, quick.stdout.splitlines())) <= 80


def test_every_method_has_its_row(quick: subprocess.CompletedProcess[str]) -> None:
    """Pairs are outputs times rated texts: 500 x 500, 100 x 500, 10 x 10."""
    rows = rows_of(quick.stdout)
    assert rows.pop("refless, 1 thread") == 500 * 500
    if cores() > 1:
        assert rows.pop(f"refless, {cores()} threads") == 500 * 500
    peers = {"scipy, sparse": 100 * 500, "sacrebleu, loop": 100, "NLTK, loop": 100}
    assert rows.pop("fast-bleu, C++", 100) == 100
    assert rows == peers


def test_own_texts(
    benchmark: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """--texts takes one text a line, gzipped too; empty lines are none."""
    path = tmp_path / "mine.txt.gz"
    lines = [f"this is text number {i}, and it is mine" for i in range(30)]
    path.write_bytes(gzip.compress("\r\n\r\n".join(lines).encode()))
    monkeypatch.setattr(benchmark, "ours_alone", benchmark.ours)
    assert benchmark.main(["--quick", "--texts", str(path), "--limit", "25"]) == 0
    assert rows_of(capsys.readouterr().out)["refless, 1 thread"] == 25 * 25


@pytest.mark.parametrize(
    "content", [None, b"", b"one text\n", b"\x1f\x8bbroken", b"\xff\xfe"]
)
def test_texts_that_cannot_be_used(
    benchmark: ModuleType,
    tmp_path: Path,
    content: bytes | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No file, no two texts, or no text: exit status 2 and the file's name."""
    path = tmp_path / "mine.txt.gz"
    if content is not None:
        path.write_bytes(
            content if content[:2] == b"\x1f\x8b" else gzip.compress(content)
        )
    assert benchmark.main(["--texts", str(path)]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("error: ")
    assert said.out == ""


@pytest.mark.parametrize("name", SAID)
def test_other_quick_runs(name: str) -> None:
    """Ours is what the peer, or the loop, gives; on self-made pairs it is ahead of length."""
    done = run("--quick", script=SCRIPT.with_stem(name))
    assert (done.returncode, done.stderr if name != "pairs" else "") == (0, ""), (
        done.stderr
    )
    assert "FAULT" not in done.stdout
    assert SAID[name] in done.stdout
    for row in (
        line for line in done.stdout.splitlines() if line.startswith("| self-made |")
    ):
        ours, length = (float(cell.split()[0]) for cell in row.split("|")[4:6])
        assert ours > max(0.6, length)
