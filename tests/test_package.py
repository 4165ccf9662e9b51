"""The package as it is published."""

import tomllib
from pathlib import Path

import refless

ROOT = Path(__file__).parents[1]


def test_version_is_one_number() -> None:
    """pyproject.toml and the package name the same version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert refless.__version__ == project["version"]


def test_changelog_knows_the_version() -> None:
    """The version that is being built has an entry for users."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{refless.__version__}]" in changelog


def test_types_travel_along() -> None:
    """The marker that lets users' type checkers read ours is in the package."""
    assert Path(refless.__file__).with_name("py.typed").exists()
