"""refless train, and what it trains in refless score."""

import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from markupsafe import escape

from command_line import jsonl, output_rows, rated_rows, run
from refless.estimators.saved import load
from refless.extensions.ratpred.model import Course
from refless.extensions.ratpred.result import TrainResult, kept_aside
from refless.registry.signature import Signature
from refless.report.document import Document

pytest.importorskip("torch", reason="torch is not installed")

SMALL_SPEC = "ratpred:embedding=8,hidden=8,epochs=6,synthetic_epochs=2,learning_rate=0.01"


def small(network: str = "") -> tuple[str, ...]:
    """A small network, with other parameters if any."""
    return "--estimator", SMALL_SPEC + network, "--threads", "1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("train")
    jsonl(where / "rated.jsonl", rated_rows())
    jsonl(where / "outputs.jsonl", output_rows())
    return where


def trained(folder: Path, name: str, *more: str, network: str = "") -> Any:
    saved = folder / f"{name}.safetensors"
    words = ("train", folder / "rated.jsonl", "--to", saved, *small(network), *more)
    ran = run(*words, "--format", "json")
    assert ran.code == 0, ran.err
    return ran.json


def test_every_network_is_told(folder: Path) -> None:
    """JSON has them all; the file is a fitted estimator."""
    found = trained(folder, "model", "--scale", "1", "5", network=",ensemble_size=2")
    assert [network["network"] for network in found["networks"]] == [1, 2]
    assert all(1 <= network["kept"] <= network["epochs"] <= 8 for network in found["networks"])
    assert len(load(folder / "model.safetensors").trained.networks) == 2


def test_people_read_which_epoch_was_kept(folder: Path) -> None:
    """Text fits 80 columns and tells how to use the model."""
    ran = run("train", folder / "rated.jsonl", "--to", folder / "text.safetensors", *small())
    assert ran.code == 0, ran.err
    assert "kept" in ran.out
    assert "refless score OUTPUTS --model " in ran.out
    shown = [
        line for line in ran.out.splitlines() if not line.startswith(("signature", "  refless"))
    ]
    assert max(map(len, shown)) <= 80


NASTY = "<img src=x onerror=alert(1)> & 'model'"


def test_the_report_escapes(folder: Path) -> None:
    """The name of a file, and the signature."""
    more = ("--scale", "1", "5", "-o", str(folder / "model.html"))
    found = trained(folder, NASTY, *more, network=",ensemble_size=2")
    text = (folder / "model.html").read_text(encoding="utf-8")
    assert "<img" not in text
    assert str(escape(shlex.quote(str(folder / f"{NASTY}.safetensors")))) in text
    assert str(escape(found["signature"])) in text


def report_of(folder: Path, **changed: Any) -> Document:
    """The report of a model of which something is changed."""
    path = folder / "changed.safetensors"
    if not path.exists():
        trained(folder, "changed")
    model = replace(load(path).trained, **changed)
    result = TrainResult(
        path="changed", model=model, agreement=kept_aside(model, 0), n=120, n_references=0, seed=0,
        signature=Signature("ratpred"), command="refless train",
    )  # fmt: skip
    return result.document()


@pytest.mark.parametrize(
    ("estimates", "said"),
    [
        ([i % 3 for i in range(30)], "the network agrees with people, Spearman 1.000"),
        ([-(i % 3) for i in range(30)], "the network ranks texts against people's ratings"),
        ([i * 7 % 5 for i in range(30)], "no agreement with people that chance could not explain"),
        ([1] * 30, "the network cannot be compared with people: all predictions are equal"),
        ([i % 3 + 1.8 * (i % 5 == 0) for i in range(30)], "the network agrees with people"),
        (
            [i % 3 for i in range(19)],
            "19 rated texts in the validation split are too few to tell how",
        ),
    ],
)
def test_the_verdict_follows_the_interval(folder: Path, estimates: list[float], said: str) -> None:
    """Each way in which a network and people can stand to each other."""
    human = [i % 3 for i in range(len(estimates))]
    report = report_of(folder, validation=np.array([human, estimates], dtype=float))
    assert said in report.verdict
    beaten = any("not shown to be lower than that of" in note for note in report.notes)
    assert beaten == (estimates != human)


@pytest.mark.parametrize(("kept", "advised"), [(8, True), (1, False)])
def test_a_late_best_epoch_asks_for_more(folder: Path, kept: int, advised: bool) -> None:
    """Where all epochs were made and the last one is the best; unless it is an early one."""
    course = Course(epochs=8, kept=kept, pearson=None, spearman=None)
    sections = report_of(folder, courses=(course,)).sections
    (part,) = [s for s in sections if s.title == "The epoch that was kept"]
    assert any("more epochs may do better" in line for line in part.lines) == advised
    assert part.table is not None
    assert part.table.rows == (("1", "8", str(kept), "-", "-"),)


def test_score_takes_the_model_alone(folder: Path) -> None:
    """No rated texts are needed any more, and the scale is the model's."""
    trained(folder, "alone", "--scale", "1", "5")
    model = folder / "alone.safetensors"
    words = ("score", folder / "outputs.jsonl", "--model", model, "--format", "json")
    ran = run(*words)
    assert ran.code == 0, ran.err
    assert ran.json["coverage"] == 1.0
    assert 1.0 <= ran.json["mean"] <= 5.0
    assert ran.json["scale"] == [1, 5]


def test_score_without_either_is_refused(folder: Path) -> None:
    """Rated texts, or a model."""
    for words in (["score", folder / "outputs.jsonl"],
                  ["score", folder / "outputs.jsonl", "--estimator", "ratpred"]):  # fmt: skip
        ran = run(*words)
        assert ran.code == 2
        assert "--rated" in ran.err


def test_validate_trains_for_each_fold(folder: Path) -> None:
    """The learned estimator is validated like the others, with the network that is asked for."""
    words = ("validate", folder / "rated.jsonl", "--estimator", SMALL_SPEC, "--format", "json")
    ran = run(*words, "--group", "source", "--threads", "1")
    assert ran.code == 0, ran.err
    assert ran.json["estimator"]["coverage"] == 1.0
    assert ran.json["signature"].startswith("ratpred|")
    assert "|hidden:8|" in ran.json["signature"]


def test_other_estimators_have_no_network(folder: Path) -> None:
    """A parameter that would do nothing is refused."""
    ran = run("validate", folder / "rated.jsonl", "--estimator", "gp:synthetic_errors=no")
    assert ran.code == 2
    assert "gp has no parameter 'synthetic_errors'" in ran.err


def test_references_and_slots(folder: Path) -> None:
    """People's texts are counted; slots enter the signature."""
    people = str(folder / "outputs.jsonl")
    network = ",slots=none,synthetic_errors=no"
    found = trained(folder, "more", "--references", people, network=network)
    assert found["n_references"] == len(output_rows())
    assert "delex:none" in found["signature"]
    assert "synthetic_errors:no" in found["signature"]


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
    words = ("train", folder / "rated.jsonl", "--to", wrong, "--estimator", "ratpred:hidden=0")
    ran = run(*words)
    assert ran.code == 2
    assert "hidden must be 1 or more" in ran.err
    assert not wrong.exists()
