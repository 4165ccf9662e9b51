"""The core without its extensions: the folder is removed, and it works."""

import json
from pathlib import Path

import pytest

from command_line import jsonl, rated_rows, run_source
from places import ROOT

EXTENDED = ("rate", "serve", "huse", "metric", "mine", "stress")


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source without extensions: links, beside which compiled loops are found again."""
    folder = tmp_path_factory.mktemp("core")
    package = folder / "refless"
    package.mkdir()
    for part in (ROOT / "src" / "refless").iterdir():
        if part.name not in {"extensions", "__pycache__"}:
            (package / part.name).symlink_to(part)
    return folder


def test_help_lists_what_is_there(core: Path) -> None:
    """Commands of extensions are not listed, and not known."""
    told = run_source(core, "--help").stdout
    assert "validate" in told
    assert not any(f"\n  {name} " in told for name in EXTENDED)
    assert run_source(core, "rate").returncode == 2


def test_estimates(core: Path, tmp_path: Path) -> None:
    """The core needs no extension."""
    rated = jsonl(tmp_path / "rated.jsonl", rated_rows())
    done = run_source(core, "fit", rated, "--to", "fitted.safetensors")
    assert done.returncode == 0, done.stderr
    done = run_source(
        core, "score", rated, "--model", core / "fitted.safetensors", "--format", "json"
    )
    assert json.loads(done.stdout)["command"] == "score"
    assert "ratpred" not in run_source(core, "list", "estimators").stdout


def test_a_metric_is_not_there(core: Path, tmp_path: Path) -> None:
    """Metrics come with an extension; a judge's scores need none."""
    rated = jsonl(tmp_path / "rated.jsonl", rated_rows())
    done = run_source(core, "judge", rated, "-m", "bleu")
    assert (done.returncode, "no metric 'bleu'; there are none" in done.stderr) == (
        2,
        True,
    )
