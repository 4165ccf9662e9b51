"""refless train, and what it trains in refless score."""

import math
import re
import shlex
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from markupsafe import escape

from command_line import jsonl, output_rows, rated_rows, run
from refless.estimators.saved import load
from refless.extensions.ratpred.report.course import Trained, kept_aside
from refless.extensions.ratpred.report.result import TrainResult
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


def test_every_pass_is_told(folder: Path) -> None:
    """JSON has them all; the file is a fitted estimator."""
    found = trained(folder, "model", "--scale", "1", "5", network=",ensemble_size=2")
    assert len(found["networks"]) == 2
    assert len(found["curve"]) == sum(network["epochs"] for network in found["networks"])
    assert len(load(folder / "model.safetensors").trained.networks) == 2


def test_people_read_a_curve(folder: Path) -> None:
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


def drawings(page: Path) -> list[ET.Element]:
    """The charts of a report, in their order."""
    text = page.read_text(encoding="utf-8")
    charts = re.findall(r'<svg [^>]*class="chart".*?</svg>', text, flags=re.DOTALL)
    return [ET.fromstring(chart) for chart in charts]


def with_class(chart: ET.Element, name: str) -> list[ET.Element]:
    return [part for part in chart.iter() if part.get("class") == name]


def test_the_report_shows_every_pass(folder: Path) -> None:
    """A chart of correlations and one of the loss for each network, its kept pass marked."""
    more = ("--scale", "1", "5", "-o", str(folder / "model.html"))
    found = trained(folder, NASTY, *more, network=",ensemble_size=2")
    text = (folder / "model.html").read_text(encoding="utf-8")
    cloud, *charts = drawings(folder / "model.html")
    assert len(charts) == 2 * len(found["networks"])
    for i, chart in enumerate(charts):
        own = [told for told in found["curve"] if told["network"] == i // 2 + 1]
        lines = [*chart.iter("polyline")]
        assert len(lines) == (1 if i % 2 else 2)
        assert {len(line.get("points", "").split()) for line in lines} == {len(own)}
        (mark,) = with_class(chart, "mark c3")
        places = [pair.split(",")[0] for pair in lines[0].get("points", "").split()]
        kept = found["networks"][i // 2]["epoch"]
        assert float(mark.get("x1", "")) == float(places[kept - 1])
        (shade,) = with_class(chart, "band c2")
        assert float(shade.get("x", "")) + float(shade.get("width", "")) == pytest.approx(
            (float(places[1]) + float(places[2])) / 2, abs=0.2
        )
    areas = sum(float(dot.get("r", "")) ** 2 for dot in with_class(cloud, "knot c0"))
    assert areas == pytest.approx(16 * found["validation"]["n"], rel=0.05)
    assert "<img" not in text
    assert str(escape(shlex.quote(str(folder / f"{NASTY}.safetensors")))) in text
    assert str(escape(found["signature"])) in text


def test_without_made_errors_no_pass_is_shaded(folder: Path) -> None:
    """Then there is nothing to tell apart; and a single pass has a point."""
    page = folder / "plain.html"
    trained(folder, "plain", "-o", str(page), network=",synthetic_errors=no")
    charts = drawings(page)
    assert len(charts) == 3
    assert not any(with_class(chart, "band c2") for chart in charts)
    assert all(with_class(chart, "knot c0") for chart in charts)


def report_of(folder: Path, signature: str = "ratpred", **changed: Any) -> Document:
    """The report of a model of which something is changed."""
    path = folder / "changed.safetensors"
    if not path.exists():
        trained(folder, "changed")
    model = replace(load(path).trained, **changed)
    found = Trained(
        path="changed", model=model, agreement=kept_aside(model, 0), size=120, references=0,
        signature=Signature.parse(signature), seed=0,
    )  # fmt: skip
    result = TrainResult(trained=found, signature=found.signed, command="refless train")
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


@pytest.mark.parametrize(("best", "advised"), [(7, True), (0, False)])
def test_a_late_best_pass_asks_for_more(folder: Path, best: int, advised: bool) -> None:
    """Where all passes were made and the last one is the best; unless it is an early one."""
    told = {"network": 0, "loss": 1.0, "pearson": None, "spearman": math.nan}
    curve = tuple(
        {**told, "number": i + 1, "synthetic": i < 2, "best": i == best} for i in range(8)
    )
    sections = report_of(folder, history=curve).sections
    (part,) = [s for s in sections if s.title == "Epoch by epoch"]
    (network,) = [s for s in sections if s.title == "Network 1: 8 epochs"]
    assert any("more epochs may do better" in line for line in part.lines) == advised
    assert "Pearson -, Spearman -" in network.figures[0].caption
    assert "polyline" not in network.figures[0].svg


def test_of_many_texts_some_are_drawn(folder: Path) -> None:
    """The same ones in whatever order; the numbers are over all."""
    both = np.stack([np.arange(2_500.0), np.arange(2_500.0)[::-1]])
    reports = [report_of(folder, validation=rows) for rows in (both, both[:, ::-1])]
    first, second = (
        [s for s in one.sections if s.title == "Estimate against human rating"] for one in reports
    )
    (figure,) = first[0].figures
    assert "2,000 of 2,500 texts, drawn at random" in figure.caption
    assert figure.svg.count("<circle") == 2_000
    assert second[0].figures[0].svg == figure.svg


@pytest.mark.parametrize(("signature", "said"), [("rounded:yes", True), ("rounded:no", False)])
def test_rounding_is_told_only_where_it_was_done(folder: Path, signature: str, said: bool) -> None:
    """The caption follows the model's settings."""
    both = np.stack([np.arange(40.0) % 5, np.arange(40.0) % 4])
    report = report_of(folder, f"ratpred|{signature}", validation=both)
    (part,) = [s for s in report.sections if s.title == "Estimate against human rating"]
    assert ("rounded to the steps" in part.figures[0].caption) == said


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


def test_variants_are_what_the_flags_say(folder: Path) -> None:
    """Each flag reaches the settings, and the signature of what is scored with the model."""
    vectors = folder / "vectors.txt"
    vectors.write_text("the 1 2 3 4 5 6 7 8\n")
    network = f",cell=lstm,bidirectional=yes,target=ordered,ranking=0.5,vectors={vectors}"
    found = trained(folder, "variants", network=network)
    described = asdict(load(folder / "variants.safetensors").trained.settings)
    asked = {"cell": "lstm", "bidirectional": True, "target": "ordered", "ranking": 0.5}
    assert {name: described[name] for name in asked} == asked
    assert "cell:lstm" in found["signature"]
    assert "vectors:" in found["signature"]


@pytest.mark.parametrize(
    ("network", "said"),
    [
        ("cell=rnn", "cell must be one of gru, lstm, cnn"),
        ("cell=cnn,bidirectional=yes", "a cnn reads no direction"),
        ("target=rank", "target must be one of number, ordered, levels"),
        ("vectors=none.txt", "no such file"),
    ],
)
def test_wrong_variants_are_refused(folder: Path, network: str, said: str) -> None:
    """Exit 2, with what may be given."""
    wrong = folder / "wrong.safetensors"
    ran = run("train", folder / "rated.jsonl", "--to", wrong, "--estimator", f"ratpred:{network}")
    assert ran.code == 2
    assert said in ran.err
    assert not (folder / "wrong.safetensors").exists()
