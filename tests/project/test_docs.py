"""Examples of the documentation run, and print what it says."""

import os
import re
import shlex
import shutil
import sys
import tomllib
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import pytest

from command_line import run, run_well
from places import ROOT, blocks
from refless.commands import COMMANDS, function_of
from refless.commands.parameters import parameters_of

sys.path.insert(0, str(ROOT / "scripts"))

from prose import long_sentences, pages, words

DATA = Path(os.environ.get("REFLESS_DATA", ROOT.parent / "shared" / "data"))
HUSE = DATA / "huse-summarization" / "judgements.tsv"
NAMES = """
command-line compare estimating estimators guards hosts index judges metrics next quality studies
"""
WRITTEN = pages()  # all Markdown of the project
MOST_WORDS = 30_000  # of all of them: whoever writes more leaves something out
SKILL = ROOT / "docs" / "skills" / "refless" / "SKILL.md"
PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in NAMES.split()),
    SKILL,
    pytest.param(
        ROOT / "docs" / "ratpred.md",
        marks=pytest.mark.skipif(
            not find_spec("torch"), reason="torch is not installed"
        ),
    ),
]
ELSEWHERE = (
    "potato.export",
    "papers/",
    "benchmarks/",
    "pip install",
    "pip wheel",
    "scripts/",
    "inspect score",
    "lm-eval",
    "-m fuzz",
    "reproduce(",
)  # lines with others' flags


FILES = {"--model", "--out-dir", "--to", "-o"}  # flags of files beside the sample
RAN: set[str] = set()  # lines that read the sample alone, which run once


def commands(page: Path) -> list[str]:
    """Lines of shell blocks that call refless."""
    lines = "".join(blocks(page, "sh")).splitlines()
    return [line for line in lines if line.startswith("refless ")]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample of the demo."""
    where = tmp_path_factory.mktemp("demo") / "sample"
    assert run("demo", "--out-dir", where).code == 0
    return where


@pytest.fixture
def folder(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a copy of the sample, in which commands run."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(sample, tmp_path / "sample")
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_run(page: Path, folder: Path) -> None:
    """Every command line, in its order, ends with status 0."""
    found = commands(page)
    printed = []
    assert found or page.stem in {
        "compare",
        "guards",
        "metrics",
        "next",
        "studies",
    }  # their examples need files
    if page.stem == "judges":  # its first block writes the files of its commands
        exec(compile(blocks(page, "python")[0], str(page), "exec"), {})
    for line in found:
        if line in RAN:
            continue
        ran = run_well(*shlex.split(line)[1:])
        if "sample/" in line and FILES.isdisjoint(line.split()):
            RAN.add(line)
        if page.stem == "judges" and is_locked("numpy", "scipy"):
            printed.append(ran.out)
    if printed:
        every = "\n".join(printed)
        assert all(part in every for part in blocks(page, "text"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_runs(
    page: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every Python block runs by itself and prints something."""
    found = blocks(page, "python")
    assert found
    for block in found:
        exec(compile(block, str(page), "exec"), {})
        assert capsys.readouterr().out


NAMED = {"sklearn": "scikit-learn"}  # imports that their packages do not name


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "quality.md"])
def test_what_first_pages_import_is_there(page: Path) -> None:
    """Python's own, what refless needs, or what the page says how to install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    there = {re.match(r"[\w-]+", line)[0] for line in project["dependencies"]} | {
        "refless"
    }  # type: ignore[index]
    text = page.read_text("utf-8")
    code = "\n".join(blocks(page, "python"))
    for name in re.findall(r"^(?:from|import) (\w+)", code, flags=re.MULTILINE):
        package = NAMED.get(name, name)
        known = package in there or name in sys.stdlib_module_names
        assert known or f"pip install {package}`" in text, package


def is_locked(*packages: str) -> bool:
    """Whether these have the versions that are locked."""
    lock = "\n" + (ROOT / "requirements-lock.txt").read_text("utf-8")
    return all(f"\n{name}=={version(name)} " in lock for name in packages)


NUMBER = re.compile(r"\d+(?:\.\d+)?")


def is_printed(part: str, printed: str) -> bool:
    """Whether `part` is there, but for .002: processors add up in other orders."""
    start = NUMBER.sub("#", printed).find(NUMBER.sub("#", part))
    before = NUMBER.sub("#", printed)[:start].count("#")
    wanted = [float(number) for number in NUMBER.findall(part)]
    numbers = [float(number) for number in NUMBER.findall(printed)][before:]
    return start >= 0 and wanted == pytest.approx(numbers[: len(wanted)], abs=0.002)


def test_other_numbers_are_not_printed() -> None:
    """Only the last digit may differ, and only the words that are there count."""
    assert is_printed("is 0.881 of 240", "x 1: it is 0.880 of 240.")
    assert not is_printed("is 0.889 of 240", "x 1: it is 0.880 of 240.")
    assert not is_printed("was 0.880", "it is 0.880 of 240.")


@pytest.mark.skipif(
    not is_locked("numpy", "scipy"), reason="other versions may round otherwise"
)
def test_readme_shows_real_output(folder: Path) -> None:
    """Output in the README is what the demo prints, `...` for what it skips; else paste it anew."""
    printed = run("demo").out
    shown = blocks(ROOT / "README.md", "text") + blocks(
        ROOT / "docs" / "quality.md", "text"
    )
    assert len(shown) == 3
    for part in "...\n".join(shown).split("...\n"):
        assert is_printed(part, printed), part


def test_pages_show_what_explain_prints(folder: Path) -> None:
    """The parts of the estimate in the first example."""
    page = ROOT / "docs" / "command-line.md"
    (shown,) = (
        block for block in blocks(page, "text") if block.startswith("What adds up")
    )
    first = next(line for line in commands(page) if line.startswith("refless explain "))
    assert shown in run(*shlex.split(first)[1:]).out


@pytest.mark.skipif(
    not is_locked("numpy", "scipy"), reason="other versions may round otherwise"
)
def test_readme_shows_what_compare_prints(folder: Path) -> None:
    """The answer to its first question."""
    shows(ROOT / "README.md")


@pytest.mark.skipif(
    not is_locked("numpy", "scipy"), reason="other versions may round otherwise"
)
@pytest.mark.skipif(not HUSE.exists(), reason="the ratings are not here")
def test_pages_show_real_ratings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page says of HUSE's headlines what validate prints."""
    monkeypatch.chdir(HUSE.parent)
    shows(ROOT / "docs" / "quality.md")


def shows(page: Path) -> None:
    """The console block is what its command prints, `...` for what it skips."""
    (block,) = blocks(page, "console")
    command, _, shown = block.removeprefix("$ ").partition("\n")
    ran = run_well(*shlex.split(command)[1:])
    for part in shown.split("...\n"):
        assert part in ran.out


def test_links_lead_somewhere() -> None:
    """Files that a page links to are there, and so are headings that it links to."""
    for page in WRITTEN:
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
            if link.startswith(("https://", "http://")):
                continue
            name, _, heading = link.partition("#")
            target = page.parent / name if name else page
            assert target.exists(), f"{page.name}: {link}"
            if heading:
                text = target.read_text("utf-8").lower()
                named = re.sub("[,:]", "", text).replace(" ", "-")  # as GitHub does
                assert f"#-{heading}\n" in named, f"{page.name}: {link}"


def test_commands_are_documented() -> None:
    """Each command has a section, each exit status a row."""
    text = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    for name in COMMANDS:
        assert f"\n## {name}\n" in text
    for status in (0, 1, 2, 3, 4, 130):
        assert f"\n| {status} | " in text


def test_every_parameter_is_told() -> None:
    """Help of the command line, and of Python, leaves none without a word."""
    for name in COMMANDS:
        function = function_of(name)
        assert all(one.about.help for one in parameters_of(function)), name


def test_pages_name_flags_that_there_are() -> None:
    """Every flag in the pages is one of some command."""
    own = {
        "--help",
        "--version",
        "--install-completion",
        "--format",
        "--out",
        "--csv-safe",
    }
    for name in COMMANDS:
        function = function_of(name)
        flags = {*chain.from_iterable(one.flags for one in parameters_of(function))}
        own |= flags | {f"--no-{flag.removeprefix('--')}" for flag in flags}
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for line in page.read_text("utf-8").splitlines():
            if not any(word in line for word in ELSEWHERE):
                named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", line))
                assert named <= own, f"{page.name}: {named - own}"


def test_pages_can_be_read() -> None:
    """All pages together have fewer words than a reader gives an evening to."""
    assert sum(map(words, WRITTEN)) <= MOST_WORDS
    assert words(ROOT / "CHANGELOG.md") <= 2_000


def test_few_sentences_are_long() -> None:
    """At most ten have more than thirty words; scripts/prose.py lists them."""
    assert len(long_sentences()) <= 10


def test_readme_is_short() -> None:
    """A page of a screen or two."""
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 90


def test_threats_have_tests() -> None:
    """Each threat of docs/security.md names tests that there are."""
    rows = re.findall(
        r"^\| .* \| .* \| (`.*) \|$",
        (ROOT / "docs/security.md").read_text(),
        re.MULTILINE,
    )
    named = {*re.findall(r"`(test_\w+)`", " ".join(rows))}
    there = [path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    assert len(rows) >= 15
    assert {
        name for name in named if not any(f"def {name}(" in text for text in there)
    } == set()
