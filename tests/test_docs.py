"""What the documentation shows runs, and prints what it says."""

import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest

from command_line import run

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("command-line", "estimating", "estimators")),
    pytest.param(
        ROOT / "docs" / "ratpred.md",
        marks=pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed"),
    ),
]


def blocks(page: Path, language: str) -> list[str]:
    """Fenced blocks of a language."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def commands(page: Path) -> list[str]:
    """Lines of shell blocks that call refless."""
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("refless ")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the sample of the demo, in which commands run."""
    monkeypatch.chdir(tmp_path)
    assert run("demo", "--out-dir", "sample").code == 0
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_run(page: Path, folder: Path) -> None:
    """Every command line, in its order, ends with status 0."""
    found = commands(page)
    assert found
    for line in found:
        ran = run(*shlex.split(line)[1:])
        assert ran.code == 0, f"{line}\n{ran.err}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_runs(page: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every Python block runs by itself and prints something."""
    for block in blocks(page, "python"):
        exec(compile(block, str(page), "exec"), {})
        assert capsys.readouterr().out


def test_readme_shows_real_output(folder: Path) -> None:
    """Output in the README is what the demo prints; if this fails, paste the new output."""
    printed = run("demo").out
    shown = blocks(ROOT / "README.md", "text")
    assert shown
    for block in shown:
        assert block in printed


def test_links_lead_somewhere() -> None:
    """Files that a page links to are there, and so are headings that it links to."""
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            if link.startswith(("https://", "http://")):
                continue
            name, _, heading = link.partition("#")
            target = page.parent / name if name else page
            assert target.exists(), f"{page.name}: {link}"
            if heading:
                text = target.read_text(encoding="utf-8").lower()
                assert f"# {heading.replace('-', ' ')}\n" in text, f"{page.name}: {link}"


def test_commands_are_documented() -> None:
    """Each command has a section, each exit status and column flag a row."""
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    for name in ("validate", "score", "explain", "index", "demo"):
        assert f"\n## {name}\n" in text
    for status in (0, 1, 2, 3, 4, 130):
        assert f"\n| {status} | " in text
