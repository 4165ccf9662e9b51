"""Worked examples of a maintainer's tasks: made in a copy of the source, they run."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from command_line import jsonl, rated_rows, run_source
from places import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
EXAMPLES = ROOT / "tests" / "project" / "worked_examples"
HEADER = re.compile(r"^--- (/dev/null|a/\S+)\n\+\+\+ b/(\S+)\n", re.MULTILINE)
NEW = "/dev/null"


def edits(example: str) -> list[tuple[str, bool, str]]:
    """File, whether it is new, and lines of each part of an example."""
    text = (EXAMPLES / f"{example}.diff").read_text("utf-8")
    parts = HEADER.split(text)[1:]
    return [
        (parts[i + 1], parts[i] == NEW, parts[i + 2]) for i in range(0, len(parts), 3)
    ]


def promised() -> dict[str, int]:
    """The number of files that each example takes, by the table of the page."""
    rows = re.findall(r"^\| .* \| `(\w+)\.diff` \| (\d+)", PAGE, re.MULTILINE)
    return {name: int(files) for name, files in rows}


def edited(lines: str, text: str) -> str:
    """The text after the hunks of a diff, which @@ parts: their context says where."""
    for hunk in re.split(r"^@@\n", lines, flags=re.MULTILINE):
        pairs = [(line[0], line[1:]) for line in hunk.splitlines(keepends=True)]
        before = "".join(line for mark, line in pairs if mark in " -")
        after = "".join(line for mark, line in pairs if mark in " +")
        assert f"\n{text}".count(f"\n{before}") == 1, before
        text = f"\n{text}".replace(f"\n{before}", f"\n{after}")[1:]
    return text


def added(lines: str) -> str:
    """A whole file, each line of which is marked by +."""
    return re.sub(r"^\+", "", lines, flags=re.MULTILINE)


def source_with(*examples: str, folder: Path) -> Path:
    """A copy of the source with examples in it."""
    shutil.copytree(ROOT / "src", folder, dirs_exist_ok=True)
    shutil.copy(ROOT / "pyproject.toml", folder)
    for example in examples:
        for name, is_new, lines in edits(example):
            file = folder / name.removeprefix("src/")
            assert file.exists() != is_new, name
            file.parent.mkdir(exist_ok=True)
            text = added(lines) if is_new else edited(lines, file.read_text("utf-8"))
            file.write_text(text, "utf-8")
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
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


def python(source: Path, line: str) -> str:
    """Standard output of a line of Python with that source."""
    words = (sys.executable, "-c", line)
    done = subprocess.run(words, cwd=source, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def offered(example: str, folder: Path, group: str, entry: str) -> Path:
    """The source as it is, and beside it a package that offers the new files of an example."""
    shutil.copytree(ROOT / "src", folder, dirs_exist_ok=True)
    (folder / "yours").mkdir()
    (folder / "yours" / "__init__.py").touch()
    for name, is_new, lines in edits(example):
        if is_new:
            file = folder / "yours" / Path(name).name
            file.write_text(added(lines), "utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    offer(folder, "refless", project["project"]["entry-points"])
    name, value = entry.split(" = ")
    offer(folder, "yours", {f"refless.{group}": {name: value}})
    return folder


def test_few_files_are_touched() -> None:
    """The page says how many; at most two, but for a study with a command and a page."""
    files = {}
    for path in EXAMPLES.glob("*.diff"):
        touched = {name for name, _, _ in edits(path.stem)}
        files[path.stem] = len(touched)
    assert files == promised()
    assert max(number for name, number in files.items() if name != "study") <= 2
    assert files["study"] <= 5


@pytest.mark.parametrize("outside", [False, True])
def test_a_metric(tmp_path: Path, *, outside: bool) -> None:
    """It scores, checks its parameter, and is listed; a stranger's package may offer it."""
    entry = "length-ratio = yours.length_ratio:LengthRatio"
    folder = tmp_path / "src"
    if outside:
        source = offered("metric", folder, "metrics", entry)
    else:
        source = source_with("metric", folder=folder)
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


def test_an_estimator(tmp_path: Path) -> None:
    """Validated, with its parameters, and listed."""
    source = source_with("estimator", folder=tmp_path / "src")
    path = jsonl(tmp_path / "rated.jsonl", rated_rows())
    words = ("--estimator", "same-length:nearest=3", "--format", "json")
    found = json.loads(ran(source, "validate", path, *words))
    assert found["estimator"]["coverage"] == 1
    assert "nearest:3" in found["signature"]
    assert "same-length" in ran(source, "list", "estimators")


def test_a_study(tmp_path: Path) -> None:
    """A command with help, text, JSON and a page."""
    source = source_with("study", folder=tmp_path / "src")
    path = jsonl(
        tmp_path / "rated.jsonl", [{"text": t, "rating": 1} for t in ("a", "b", "a")]
    )
    assert "Texts to show" in ran(source, "repeats", "--help")
    page = tmp_path / "page.html"
    found = json.loads(ran(source, "repeats", path, "--format", "json", "-o", page))
    assert (found["n"], found["n_different"]) == (3, 2)
    assert "3 rated texts, 2 of them different" in page.read_text("utf-8")


def test_a_role(tmp_path: Path) -> None:
    """It is found by its names, named by a flag, grouped by and explained; texts may keep it."""
    source = source_with("role", folder=tmp_path / "src")
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
    records.write_text(edited(lines, records.read_text("utf-8")), "utf-8")
    known = f"import refless; print(refless.read_pool('{path}').pool.take([2, 1]).languages)"
    assert python(source, known) == "('en', 'fr')"


def test_a_command_from_outside(tmp_path: Path) -> None:
    """It is in the list of commands, and has help and flags as ours have."""
    source = offered("study", tmp_path / "src", "commands", "repeats = yours:REPEATS")
    told = "from refless.registry.offered import Command\n"
    told += "REPEATS = Command('Count.', 'yours.run')\n"
    (source / "yours" / "__init__.py").write_text(told, "utf-8")
    for name in ("run.py", "result.py"):
        file = source / "yours" / name
        text = file.read_text("utf-8")
        text = text.replace("refless.commands.repeats.", "yours.")
        file.write_text(text, "utf-8")
    assert "Count." in ran(source, "--help")
    path = jsonl(
        tmp_path / "rated.jsonl", [{"text": t, "rating": 1} for t in ("a", "b", "a")]
    )
    assert (
        json.loads(ran(source, "repeats", path, "--format", "json"))["n_different"] == 2
    )


def judged(folder: Path) -> Path:
    """Verdicts of people and of a judge: 40 both pass, 10 and 10 one of them, 40 neither."""
    cells = [(1, 1)] * 40 + [(0, 1)] * 10 + [(1, 0)] * 10 + [(0, 0)] * 40
    rows = [
        {"id": f"t{i}", "text": f"answer {i}", "human": human, "judge": judge}
        for i, (human, judge) in enumerate(cells)
    ]
    return jsonl(folder / "judged.jsonl", rows)


def test_a_judge_page(tmp_path: Path) -> None:
    """A number, a rule, a sentence and a colour: each is on the page, the first two in JSON."""
    examples = ("number", "rule", "verdict", "colour")
    source = source_with(*examples, folder=tmp_path / "src")
    page = tmp_path / "page.html"
    options = ("--score-column", "judge", "--require", "f1>=0.5", "--format", "json")
    found = json.loads(ran(source, "judge", judged(tmp_path), *options, "-o", page))
    (audit,) = found["judges"]
    f1 = 2 * 40 / (2 * 40 + 10 + 10)  # by hand
    assert audit["measures"]["f1"]["value"] == pytest.approx(f1)
    answers = {use["purpose"]: use["answer"] for use in audit["uses"]}
    assert answers["catch failures"] == "no"  # TNR is 40 / 50, less than .9
    text = page.read_text("utf-8")
    assert ">F1<" in text
    assert "catch failures" in text
    assert "Open: its agreement lies" in text
    assert "#00695c" in text
    assert "#0072b2" not in text


def test_a_kernel(tmp_path: Path) -> None:
    """The default estimator reads it, and says what it adds to an estimate."""
    source = source_with("kernel", folder=tmp_path / "src")
    path = jsonl(tmp_path / "rated.jsonl", rated_rows())
    words = ("explain", "--rated", path, "--id", "t003", "--format", "json")
    assert "the first three words" in ran(source, *words)


def test_an_export(tmp_path: Path) -> None:
    """A file is known by its names, and what is left out of it is counted."""
    source = source_with("export", folder=tmp_path / "src")
    votes = [{"who": "ann", "stars": 4}, {"who": "bob", "stars": 1}]
    rows = [
        {"ballot": 1, "shown": "an answer", "votes": votes},
        {"ballot": 2, "votes": votes},
    ]
    path = jsonl(tmp_path / "ballots.jsonl", rows)
    line = f"import refless; read = refless.read_pool('{path}')"
    line += "; print(read.pool.texts, read.pool.human)"
    assert python(source, line) == "('an answer',) [2.5]"
    done = run_source(source, "judge", path, "--format", "json")
    assert "ballots without an answer" in done.stderr


def test_a_limit(tmp_path: Path) -> None:
    """It holds wherever files of rows are read."""
    source = source_with("limit", folder=tmp_path / "src")
    line = "from refless.data.tables.reading import PLAIN; print(PLAIN.max_bytes)"
    assert python(source, line) == str(1 << 33)


def test_a_tokenizer(tmp_path: Path) -> None:
    """A parameter names it: BLEU* compares its n-grams, and signs with it."""
    source = source_with("tokenizer", folder=tmp_path / "src")
    path = jsonl(tmp_path / "rated.jsonl", rated_rows())
    kernel = "bleu-neighbors:kernel=(bleu*:tokenize=lower-words)"
    words = ("--rated", path, "--estimator", kernel, "--format", "json")
    found = json.loads(ran(source, "explain", "FERRY OPENS AT NOON 0", *words))
    assert "tok:lower-words" in found["signature"]
    assert found["neighbors"][0]["shared"] == ["ferry opens at noon 0"]
