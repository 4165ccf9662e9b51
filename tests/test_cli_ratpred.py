"""RatPred on the command line: fit, score and validate."""

import subprocess
import sys
from pathlib import Path

import pytest

from command_line import jsonl, output_rows, rated_rows, run
from refless.estimators.saved import load

pytest.importorskip("torch", reason="torch is not installed")

SMALL = "ratpred:embedding=8,hidden=8,epochs=6,synthetic_epochs=2,learning_rate=0.01"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("ratpred")
    jsonl(where / "rated.jsonl", rated_rows())
    jsonl(where / "outputs.jsonl", output_rows())
    return where


def test_score_takes_the_networks_alone(folder: Path) -> None:
    """No rated texts are needed any more, and the scale is the model's; words are parameters."""
    model, more = folder / "model.safetensors", ",ensemble_size=2,slots=name+near"
    words = ("--to", model, "--estimator", SMALL + more, "--scale", "1", "5", "--threads", "1")
    ran = run("fit", folder / "rated.jsonl", *words)
    assert ran.code == 0, ran.err
    assert len(load(model).trained.networks) == 2
    assert "delex:name,near" in str(load(model).signature())
    ran = run("score", folder / "outputs.jsonl", "--model", model, "--format", "json")
    assert ran.code == 0, ran.err
    assert ran.json["coverage"] == 1.0
    assert 1.0 <= ran.json["mean"] <= 5.0
    assert ran.json["scale"] == [1, 5]


def test_validate_trains_for_each_fold(folder: Path) -> None:
    """The learned estimator is validated like the others, with the network that is asked for."""
    words = ("validate", folder / "rated.jsonl", "--estimator", SMALL, "--format", "json")
    ran = run(*words, "--group", "source", "--threads", "1")
    assert ran.code == 0, ran.err
    assert ran.json["estimator"]["coverage"] == 1.0
    assert ran.json["signature"].startswith("ratpred|")
    assert "|hidden:8|" in ran.json["signature"]


def test_help_does_not_load_torch() -> None:
    """Help and the other estimators stay quick."""
    code = (
        "import sys, refless.cli, refless.estimators, refless.extensions.ratpred\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_wrong_settings_are_refused(folder: Path) -> None:
    """Exit 2, with what may be given."""
    wrong = folder / "wrong.safetensors"
    words = ("fit", folder / "rated.jsonl", "--to", wrong, "--estimator", "ratpred:hidden=0")
    ran = run(*words)
    assert ran.code == 2
    assert "hidden must be 1 or more" in ran.err
    assert not wrong.exists()
