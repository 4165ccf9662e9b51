"""refless train, and what it trains in refless score."""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from command_line import jsonl, output_rows, rated_rows, run
from refless.estimators import ESTIMATORS, RatPred
from refless.estimators.ratpred import Settings

pytest.importorskip("torch", reason="torch is not installed")

SCHEMA = Path(__file__).parents[1] / "docs" / "schema" / "train.json"
SMALL = (
    "--embedding", "8", "--hidden", "8", "--passes", "6", "--synthetic-passes", "2", "--rate",
    "0.01", "--threads", "1",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("train")
    jsonl(where / "rated.jsonl", rated_rows())
    jsonl(where / "outputs.jsonl", output_rows())
    return where


def trained(folder: Path, name: str, *more: str) -> Any:
    words = ("train", folder / "rated.jsonl", "--out-dir", folder / name, *SMALL, *more)
    ran = run(*words, "--format", "json")
    assert ran.code == 0, ran.err
    return ran.json


def test_the_result_fits_its_schema(folder: Path) -> None:
    """JSON for programs, with every pass."""
    found = trained(folder, "model", "--members", "2", "--scale", "1", "5")
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(found)
    assert len(found["members"]) == 2
    assert len(found["curve"]) == sum(member["passes"] for member in found["members"])
    assert {p.name for p in (folder / "model").iterdir()} == {"model.json", "model.safetensors"}


def test_people_read_a_curve(folder: Path) -> None:
    """Text fits 80 columns and tells how to use the model."""
    ran = run("train", folder / "rated.jsonl", "--out-dir", folder / "text", *SMALL)
    assert ran.code == 0, ran.err
    assert "kept" in ran.out
    assert "refless score OUTPUTS --estimator ratpred --model" in ran.out
    shown = [
        line for line in ran.out.splitlines() if not line.startswith(("signature", "  refless"))
    ]
    assert max(map(len, shown)) <= 80


def test_score_takes_the_model_alone(folder: Path) -> None:
    """No rated texts are needed any more, and the scale is the model's."""
    trained(folder, "alone", "--scale", "1", "5")
    words = ("score", folder / "outputs.jsonl", "--estimator", "ratpred", "--format", "json")
    ran = run(*words, "--model", folder / "alone")
    assert ran.code == 0, ran.err
    assert ran.json["coverage"] == 1.0
    assert 0.0 <= ran.json["mean"] <= 1.0
    assert ran.json["in_scale"]["scale"] == [1, 5]
    with_pool = run(
        *words, "--model", folder / "alone", "--rated", folder / "rated.jsonl", "--scale", 1, 5
    )
    assert with_pool.json["items"] == ran.json["items"]


def test_score_without_either_is_refused(folder: Path) -> None:
    """Rated texts, or a model."""
    for words in (["score", folder / "outputs.jsonl"],
                  ["score", folder / "outputs.jsonl", "--estimator", "ratpred"]):  # fmt: skip
        ran = run(*words)
        assert ran.code == 2
        assert "--rated" in ran.err
    ran = run("score", folder / "outputs.jsonl", "--estimator", "ratpred", "--model", folder / "no")
    assert ran.code == 2
    assert "refless train" in ran.err


@dataclass(kw_only=True)
class SmallRatPred(RatPred):
    """The estimator with a network that trains in no time."""

    settings: Settings = field(
        default_factory=lambda: Settings(embedding=8, hidden=8, passes=3, synthetic_passes=1)
    )


def test_validate_trains_for_each_fold(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The learned estimator is validated like the others."""
    monkeypatch.setitem(ESTIMATORS, "ratpred", SmallRatPred)
    words = ("validate", folder / "rated.jsonl", "--estimator", "ratpred", "--format", "json")
    ran = run(*words, "--resamples", "40", "--group", "source")
    assert ran.code == 0, ran.err
    assert ran.json["estimator"]["coverage"] == 1.0
    assert ran.json["signature"].startswith("ratpred|")


def test_a_stopped_run_goes_on(folder: Path) -> None:
    """What a stopped run left is used; the result is that of a run that was not stopped."""
    whole = trained(folder, "whole", "--passes", "12")
    code = (
        "import sys; from refless.estimators.ratpred import training as t; keep = t.Store.keep\n"
        "def stop(self, *rest):\n    keep(self, *rest); sys.exit(9)\n"
        "t.Store.keep = stop\nfrom refless.cli import main; main()"
    )
    words = ["train", folder / "rated.jsonl", "--out-dir", folder / "again", *SMALL]
    words += ["--passes", "12", "--format", "json"]
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], check=False)
    assert done.returncode == 9
    assert (folder / "again" / "unfinished" / "state.json").exists()
    again = trained(folder, "again", "--passes", "12")
    assert again["curve"] == whole["curve"]
    assert again["development"] == whole["development"]
    assert not (folder / "again" / "unfinished").exists()


def test_references_and_slots(folder: Path) -> None:
    """People's texts are counted; slots enter the signature."""
    more = ("--references", str(folder / "outputs.jsonl"), "--slots", "none", "--no-errors")
    found = trained(folder, "more", *more)
    assert found["n_references"] == len(output_rows())
    assert "delex:none" in found["signature"]
    assert "errors:no" in found["signature"]


def test_help_does_not_load_torch() -> None:
    """Help and the other estimators stay quick."""
    code = (
        "import sys, refless.cli, refless.estimators, refless.estimators.ratpred\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
