"""The package as it is published."""

import os
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

import refless
from places import ROOT
from refless.registry.errors import MissingExtraError
from refless.registry.version import INSTALLED_FROM


def test_version_is_one_number() -> None:
    """pyproject.toml and the package name the same version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert refless.__version__ == project["version"]


def test_changelog_knows_the_version() -> None:
    """The version that is being built has an entry for users."""
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"## [{refless.__version__}]" in changelog


def test_citation_names_the_version() -> None:
    """The citation names the version that is installed."""
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {refless.__version__}\n" in citation


def test_install_lines_name_where_refless_is() -> None:
    """A clone until it is on PyPI: `INSTALLED_FROM` is the switch, and CONTRIBUTING.md turns it."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    text = "\n".join(page.read_text("utf-8") for page in pages)
    named = re.findall(r"pip install ([^`\n]*)", text)
    place = re.compile(r"(?<![\w/^])(refless|\.)(?=['\[ ]|$)")
    assert {*chain.from_iterable(map(place.findall, named))} == {INSTALLED_FROM}
    assert f"pip install '{INSTALLED_FROM}[serve]'" in str(
        MissingExtraError("rate", "serve")
    )


def test_types_travel_along() -> None:
    """The marker that lets users' type checkers read ours is in the package."""
    assert Path(refless.__file__).with_name("py.typed").exists()


def pinned(name: str) -> dict[str, str]:
    """The versions that a file of requirements names; of several by platform, the first."""
    found: dict[str, str] = {}
    for line in (ROOT / name).read_text("utf-8").splitlines():
        if match := re.match(r"([\w.-]+)==([\w.+-]+)", line):
            found.setdefault(match[1].lower(), match[2])
    return found


def required() -> dict[str, str]:
    """Requirements with bounds of the package and the extras that scripts/test-oldest installs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    script = (ROOT / "scripts" / "test-oldest").read_text("utf-8")
    named = ",".join(re.findall(r"\.\[([\w,]+)\]", script)).split(",")
    lines = [*project["dependencies"]]
    extras = project["optional-dependencies"]
    assert {*extras} - {*named} == {
        "spark",
        "ray",
        "meteor",
        "mcp",
    }  # theirs are not tested
    lines += chain.from_iterable(extras[name] for name in named)
    found = (re.fullmatch(r"([\w-]+)(?:\[\w+\])?([^;]*).*", line) for line in lines)
    return {match[1].lower(): match[2] for match in found if match}


def test_oldest_versions_are_the_lower_bounds() -> None:
    """constraints-oldest.txt, which the tests run on, says what pyproject.toml promises."""
    oldest = pinned("constraints-oldest.txt")
    assert oldest.keys() == required().keys()
    for name, bounds in required().items():
        least = re.search(r"[>=]=([\w.]+)", bounds)
        assert least, name
        assert re.fullmatch(re.escape(least[1]) + r"(\.0)*", oldest[name]), name


def test_locked_versions_are_within_the_bounds() -> None:
    """requirements-lock.txt holds every dependency, each with hashes, within its bounds."""
    packaging = pytest.importorskip("packaging.specifiers")
    locked = pinned("requirements-lock.txt")
    for name, bounds in required().items():
        if name == "torch":  # its build is of an index of its own
            continue
        assert packaging.SpecifierSet(bounds).contains(locked[name]), name
    text = (ROOT / "requirements-lock.txt").read_text("utf-8")
    for block in re.split(r"\n(?=\w)", text)[1:]:
        assert "--hash=sha256:" in block, block[:60]


def test_what_runs_weekly_is_there() -> None:
    """Each script of the workflow can be run; both with what is heavy are among them."""
    text = (ROOT / ".github" / "workflows" / "weekly.yml").read_text("utf-8")
    named = re.findall(r"^ +script: \[(.*)\]$", text, flags=re.MULTILINE)[0].split(", ")
    assert named == ["test-oldest", "test-oldest --neural", "test-clusters"]
    for line in named:
        assert os.access(ROOT / "scripts" / line.split()[0], os.X_OK), line


@pytest.mark.parametrize("name", ["test", "docs", "release"])
def test_workflows_run_scripts(name: str) -> None:
    """Each calls the script of its name, and names the version of every action."""
    text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text("utf-8")
    assert f"- run: scripts/{name}\n" in text
    actions = re.findall(r"uses: \S+?@(\S+)", text)
    assert actions
    assert all(re.fullmatch(r"v\d+\.\d+\.\d+", version) for version in actions)


def test_the_wheel_is_reproducible(tmp_path: Path) -> None:
    """Built twice, in two time zones: the same bytes."""
    pytest.importorskip("hatchling", reason="no hatchling")
    pytest.importorskip("build", reason="no build")
    wheels = []
    for zone in ("UTC+7", "UTC-8"):
        command = [
            sys.executable,
            "-m",
            "build",
            "--wheel",
            "--no-isolation",
            "--outdir",
        ]
        environment = {
            name: value for name, value in os.environ.items() if name != "PYTHONPATH"
        }
        environment.pop("SOURCE_DATE_EPOCH", None)
        subprocess.run(
            [*command, str(tmp_path / zone), str(ROOT)],
            check=True,
            capture_output=True,
            env={**environment, "TZ": zone},
        )
        (wheel,) = (tmp_path / zone).iterdir()
        wheels.append(wheel.read_bytes())
    assert wheels[0] == wheels[1]


def test_published_readme_has_no_dead_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """Links lead into the repository once its address has a name; until then they are words."""
    pytest.importorskip("hatchling", reason="no hatchling")
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    from long_description import long_description

    text = (ROOT / "README.md").read_text("utf-8")
    assert not re.findall(r"\]\((?!https://)", long_description(text, ""))
    assert "Can I trust my judge?" in long_description(text, "")
    links = re.findall(
        r"\]\(([^)]+)\)", long_description(text, "https://x.org/blob/v1")
    )
    assert "https://x.org/blob/v1/docs/judges.md" in links
    assert all(link.startswith("https://") for link in links)
