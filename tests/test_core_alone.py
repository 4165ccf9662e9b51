"""The core without its extensions: the folder is removed, and it works."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import jsonl, rated_rows

ROOT = Path(__file__).parents[1]
EXTENDED = ("rate", "serve", "huse", "mine", "stress")


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source without extensions."""
    folder = tmp_path_factory.mktemp("core")
    hidden = shutil.ignore_patterns("extensions", "__pycache__")
    shutil.copytree(ROOT / "src", folder, dirs_exist_ok=True, ignore=hidden)
    return folder


def ran(core: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """The command line of that source."""
    return subprocess.run(
        [sys.executable, "-m", "refless", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(core), "PATH": "", "HOME": str(core)},
        cwd=core,
    )


def test_help_lists_what_is_there(core: Path) -> None:
    """Commands of extensions are not listed, and not known."""
    told = ran(core, "--help").stdout
    assert "validate" in told
    assert not any(f"\n  {name} " in told for name in EXTENDED)
    assert ran(core, "rate").returncode == 2


def test_estimates_and_comparisons(core: Path, tmp_path: Path) -> None:
    """What most people use needs no extension."""
    rated = jsonl(tmp_path / "rated.jsonl", rated_rows())
    fit = ("fit", rated, "--to", "fitted.safetensors")
    for words in (("validate", rated), ("score", rated, "--rated", rated), fit):
        done = ran(core, *words)
        assert done.returncode == 0, done.stderr
    done = ran(core, "score", rated, "--model", core / "fitted.safetensors", "--format", "json")
    assert json.loads(done.stdout)["command"] == "score"
    assert "ratpred" not in ran(core, "list", "estimators").stdout
