"""The worked examples of docs/architecture.md: added to a copy of the source, they run."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from command_line import jsonl, rated_rows, run_source
from places import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def blocks(title: str) -> list[tuple[str, str, str]]:
    """Kind, file and text of each block below a heading that begins so."""
    part = re.split(r"^##+ ", PAGE.split(f"\n### {title}")[1], flags=re.MULTILINE)[0]
    return re.findall(
        r"^```(python new|diff) (\S+)\n(.*?)^```$", part, re.DOTALL | re.MULTILINE
    )


def promised(title: str) -> int:
    """The number of files that the heading names."""
    return int(re.findall(rf"\n### {title}[^\n]*: (\d+) files?\n", PAGE)[0])


def added(lines: str, text: str) -> str:
    """The text with the lines that are marked by +, each group below the line that precedes it."""
    for before, more in re.findall(r"^ (.*\n)((?:\+.*\n)+)", lines, re.MULTILINE):
        assert text.count(before) == 1, before
        text = text.replace(
            before, before + re.sub(r"^\+", "", more, flags=re.MULTILINE)
        )
    return text


def source_with(title: str, folder: Path) -> Path:
    """A copy of the source with the example in it."""
    shutil.copytree(ROOT / "src", folder, dirs_exist_ok=True)
    shutil.copy(ROOT / "pyproject.toml", folder)
    for kind, name, text in blocks(title):
        file = folder / name.removeprefix("src/")
        assert file.exists() == (kind == "diff"), name
        file.parent.mkdir(exist_ok=True)
        known = file.read_text(encoding="utf-8") if kind == "diff" else ""
        file.write_text(added(text, known) if known else text, encoding="utf-8")
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    offer(folder, "refless", project["entry-points"])
    return folder


def offer(folder: Path, package: str, groups: Mapping[str, Mapping[str, str]]) -> None:
    """Writes the entry points that a package would have if it were installed in the folder."""
    facts = folder / f"{package}-1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n"
    )
    lines = []
    for group, entries in groups.items():
        lines.append(f"[{group}]")
        lines += [f"{name} = {value}" for name, value in entries.items()]
    (facts / "entry_points.txt").write_text("\n".join(lines))


def ran(source: Path, *words: object) -> str:
    """Standard output of the command line of that source."""
    done = run_source(source, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def offered(title: str, folder: Path, group: str, entry: str) -> Path:
    """The source as it is, and beside it a package that offers the new files of an example."""
    shutil.copytree(ROOT / "src", folder, dirs_exist_ok=True)
    (folder / "yours").mkdir()
    (folder / "yours" / "__init__.py").touch()
    for kind, name, text in blocks(title):
        if kind != "diff":
            (folder / "yours" / Path(name).name).write_text(text, encoding="utf-8")
    name, value = entry.split(" = ")
    offer(folder, "yours", {f"refless.{group}": {name: value}})
    return folder


def source_of(title: str, folder: Path, outside: Sequence[str]) -> Path:
    """The source with an example in it, or beside it: as which entry of which group."""
    return offered(title, folder, *outside) if outside else source_with(title, folder)


@pytest.mark.parametrize(
    ("title", "most"),
    [("A metric", 2), ("An estimator", 3), ("A study", 5), ("A role", 1)],
)
def test_few_files_are_touched(title: str, most: int) -> None:
    """There are as many as the heading says, and no more than was promised to whoever adds one."""
    assert len({name for _, name, _ in blocks(title)}) == promised(title) <= most


@pytest.mark.parametrize("outside", [False, True])
def test_a_metric(tmp_path: Path, *, outside: bool) -> None:
    """It scores, checks its parameter, and is listed; a stranger's package may offer it."""
    entry = "length-ratio = yours.length_ratio:LengthRatio"
    source = source_of(
        "A metric", tmp_path / "src", ("metrics", entry) if outside else ()
    )
    rows = [
        {"text": "four", "references": ["12345678"]},
        {"text": "long" * 9, "references": ["a"]},
    ]
    path = jsonl(tmp_path / "outputs.jsonl", rows)
    found = json.loads(
        ran(source, "metric", path, "-m", "length-ratio:most=3", "--format", "json")
    )
    assert [item["scores"]["length-ratio:most=3"] for item in found["items"]] == [
        0.5,
        3.0,
    ]
    assert "largest ratio" in ran(source, "list", "metrics")


@pytest.mark.parametrize("outside", [False, True])
def test_an_estimator(tmp_path: Path, *, outside: bool) -> None:
    """Validated, with its parameters, and listed."""
    entry = "same-length = yours.same_length:SameLength"
    source = source_of(
        "An estimator", tmp_path / "src", ("estimators", entry) if outside else ()
    )
    path = jsonl(tmp_path / "rated.jsonl", rated_rows())
    words = ("--estimator", "same-length:nearest=3", "--format", "json")
    found = json.loads(ran(source, "validate", path, *words))
    assert found["estimator"]["coverage"] == 1
    assert "nearest:3" in found["signature"]
    assert "same-length" in ran(source, "list", "estimators")


def test_a_study(tmp_path: Path) -> None:
    """A command with help, text, JSON and a page."""
    source = source_with("A study", tmp_path / "src")
    path = jsonl(
        tmp_path / "rated.jsonl", [{"text": t, "rating": 1} for t in ("a", "b", "a")]
    )
    assert "Texts to show" in ran(source, "repeats", "--help")
    page = tmp_path / "page.html"
    found = json.loads(ran(source, "repeats", path, "--format", "json", "-o", page))
    assert (found["n"], found["n_different"]) == (3, 2)
    assert "3 rated texts, 2 of them different" in page.read_text(encoding="utf-8")


def test_a_role(tmp_path: Path) -> None:
    """It is found by its names, named by a flag, grouped by and explained; texts may keep it."""
    source = source_with("A role", tmp_path / "src")
    languages = ("de", "fr", "en")
    rows = [{**row, "lang": languages[int(row["id"][1:]) % 3]} for row in rated_rows()]
    path = jsonl(tmp_path / "rated.jsonl", rows)
    words = ("--estimator", "bleu-neighbors", "--group", "language", "--format", "json")
    done = run_source(source, "validate", path, *words)
    assert "language from 'lang'" in done.stderr
    assert "heldout:language" in json.loads(done.stdout)["signature"]
    assert "system, task, language" in ran(source, "score", "--help")
    records = source / "refless" / "data" / "records.py"
    lines = "     tasks: Strings = ()\n+    languages: Strings = ()\n"
    records.write_text(
        added(lines, records.read_text(encoding="utf-8")), encoding="utf-8"
    )
    known = f"import refless; print(refless.read_pool('{path}').pool.take([2, 1]).languages)"
    words = (sys.executable, "-c", known)
    done = subprocess.run(words, cwd=source, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "('en', 'fr')"


def test_a_command_from_outside(tmp_path: Path) -> None:
    """It is in the list of commands, and has help and flags as ours have."""
    source = offered("A study", tmp_path / "src", "commands", "repeats = yours:REPEATS")
    told = "from refless.registry.offered import Command\n"
    told += "REPEATS = Command('Count.', 'yours.run')\n"
    (source / "yours" / "__init__.py").write_text(told, encoding="utf-8")
    for name in ("run.py", "result.py"):
        file = source / "yours" / name
        text = file.read_text(encoding="utf-8")
        text = text.replace("refless.commands.repeats.", "yours.")
        text = text.replace("refless.evaluation.repeats", "yours.repeats")
        file.write_text(text, encoding="utf-8")
    assert "Count." in ran(source, "--help")
    path = jsonl(
        tmp_path / "rated.jsonl", [{"text": t, "rating": 1} for t in ("a", "b", "a")]
    )
    assert (
        json.loads(ran(source, "repeats", path, "--format", "json"))["n_different"] == 2
    )
