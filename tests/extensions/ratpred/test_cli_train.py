"""refless train, and what it trains in refless score."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from markupsafe import escape

from command_line import output_rows, run_well
from refless.estimators.saved import load
from refless.extensions.ratpred.model import Course
from refless.extensions.ratpred.result import TrainResult, kept_aside
from refless.registry.signature import Signature
from refless.report.document import Document

pytest.importorskip("torch", reason="torch is not installed")

SMALL_SPEC = (
    "ratpred:embedding=8,hidden=8,epochs=6,synthetic_epochs=2,learning_rate=0.01"
)


def small(network: str = "") -> tuple[str, ...]:
    """A small network, with other parameters if any."""
    return "--estimator", SMALL_SPEC + network, "--threads", "1"


def trained(folder: Path, name: str, *more: str, network: str = "") -> Any:
    saved = folder / f"{name}.safetensors"
    words = ("train", folder / "rated.jsonl", "--to", saved, *small(network), *more)
    ran = run_well(*words, "--format", "json")
    return ran.json


def test_every_network_is_told(folder: Path) -> None:
    """JSON has them all; the file is a fitted estimator."""
    found = trained(folder, "model", "--scale", "1", "5", network=",ensemble_size=2")
    assert [network["network"] for network in found["networks"]] == [1, 2]
    assert all(
        1 <= network["kept"] <= network["epochs"] <= 8 for network in found["networks"]
    )
    assert len(load(folder / "model.safetensors").trained.networks) == 2


def test_people_read_which_epoch_was_kept(folder: Path) -> None:
    """Text fits 80 columns and tells how to use the model."""
    ran = run_well(
        "train", folder / "rated.jsonl", "--to", folder / "text.safetensors", *small()
    )
    assert "kept" in ran.out
    assert "refless score OUTPUTS --model " in ran.out
    shown = [
        line
        for line in ran.out.splitlines()
        if not line.startswith(("signature", "  refless"))
    ]
    assert max(map(len, shown)) <= 80


NASTY = "<img src=x onerror=alert(1)> & 'model'"


def test_the_report_escapes(folder: Path) -> None:
    """The name of a file, and the signature."""
    more = ("--scale", "1", "5", "-o", str(folder / "model.html"))
    found = trained(folder, NASTY, *more, network=",ensemble_size=2")
    text = (folder / "model.html").read_text("utf-8")
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
        path="changed",
        model=model,
        agreement=kept_aside(model, 0),
        n=120,
        n_references=0,
        seed=0,
        signature=Signature("ratpred"),
        command="refless train",
    )
    return result.document()


@pytest.mark.parametrize(
    ("estimates", "said"),
    [
        ([i % 3 for i in range(30)], "the network agrees with people, Spearman 1.000"),
        (
            [-(i % 3) for i in range(30)],
            "the network ranks texts against people's ratings",
        ),
        (
            [i * 7 % 5 for i in range(30)],
            "no agreement with people that chance could not explain",
        ),
        (
            [1] * 30,
            "the network cannot be compared with people: all predictions are equal",
        ),
        (
            [i % 3 + 1.8 * (i % 5 == 0) for i in range(30)],
            "the network agrees with people",
        ),
        (
            [i % 3 for i in range(19)],
            "19 rated texts in the validation split are too few to tell how",
        ),
    ],
)
def test_the_verdict_follows_the_interval(
    folder: Path, estimates: list[float], said: str
) -> None:
    """Each way in which a network and people can stand to each other."""
    human = [i % 3 for i in range(len(estimates))]
    report = report_of(folder, validation=np.array([human, estimates], dtype=float))
    assert said in report.verdict
    beaten = any("not shown to be lower than that of" in note for note in report.notes)
    assert beaten == (estimates != human)


@pytest.mark.parametrize(("kept", "advised"), [(8, True), (1, False)])
def test_a_late_best_epoch_asks_for_more(
    folder: Path, kept: int, advised: bool
) -> None:
    """A note says that the last of all epochs is the best; unless it is an early one."""
    course = Course(epochs=8, kept=kept, pearson=None, spearman=None)
    sections = report_of(folder, courses=(course,)).sections
    (part,) = [s for s in sections if s.title == "The epoch that was kept"]
    assert any("more epochs may do better" in line for line in part.lines) == advised
    assert part.table is not None
    assert part.table.rows == (("1", "8", str(kept), "-", "-"),)


def test_references_and_slots(folder: Path) -> None:
    """People's texts are counted; slots enter the signature."""
    people = str(folder / "outputs.jsonl")
    network = ",slots=none,synthetic_errors=no"
    found = trained(folder, "more", "--references", people, network=network)
    assert found["n_references"] == len(output_rows())
    assert "delex:none" in found["signature"]
    assert "synthetic_errors:no" in found["signature"]
