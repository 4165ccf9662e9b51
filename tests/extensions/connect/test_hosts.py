"""Hosts: each of them, where it is installed, gives what the estimator says. See scripts/hosts.

No other file of tests is needed, and nothing but pytest, refless and the host.
"""

import json
import math
import os
import shutil
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from benchmarks.simulate import simulate

import refless
from refless.extensions.connect.hosts import judged
from refless.extensions.connect.hosts.promptfoo import get_assert
from refusals import bad_input, bad_usage

TEXT = "You could try the Blue Swan."
SOURCE = "Where can I eat?"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of two estimators: one reads sources, the other does not."""
    where = tmp_path_factory.mktemp("hosts")
    pool = simulate(60, seed=2).pool
    refless.save(refless.GaussianProcess().fit(pool), where / "sourced.safetensors")
    refless.save(
        refless.GaussianProcess(use_source=False).fit(pool), where / "plain.safetensors"
    )
    return where


def wanted(models: Path, text: str = TEXT, source: str | None = SOURCE) -> float:
    """The estimates of `refless.load`."""
    given = {"text": [text]} | ({} if source is None else {"source": [source]})
    found = refless.load(
        models / f"{'plain' if source is None else 'sourced'}.safetensors"
    ).estimate(given)
    return float(found.values[0])


def test_one_output_is_judged_as_by_the_estimator(models: Path) -> None:
    """Opened once, and again when the file has changed."""
    found = judged(models / "sourced.safetensors", TEXT, SOURCE)
    assert found.value == wanted(models)
    assert found.low < found.value < found.high
    assert found.known
    assert found.signature.startswith("gp|")
    nothing = judged(str(models / "sourced.safetensors"), " ", SOURCE)
    assert (nothing.reason, nothing.known) == ("empty", False)
    assert nothing.value != nothing.value
    assert json.dumps(nothing.details(), allow_nan=False)
    assert nothing.said == "refless has no estimate: empty"
    copy = models / "copy.safetensors"
    shutil.copy(models / "plain.safetensors", copy)
    assert judged(copy, TEXT).value == wanted(models, source=None)
    refless.save(refless.BLEUNeighbors().fit(simulate(60, seed=2).pool), copy)
    os.utime(copy, (2e9, 2e9))
    assert judged(copy, TEXT).signature.startswith("bleu-neighbors|")


def test_what_a_host_cannot_give_is_told(models: Path, tmp_path: Path) -> None:
    """No file, no source, scores of others."""
    with bad_input("name a file made by"):
        judged(tmp_path, TEXT)
    with bad_usage("outputs have none"):
        judged(models / "sourced.safetensors", TEXT)
    rows = [{"text": f"{TEXT} {i}", "rating": i % 5, "judge": i % 3} for i in range(30)]
    refless.fit(rows, to=tmp_path / "m.safetensors", score_column="judge")
    with bad_usage(r"reads scores of others \(judge\)"):
        judged(tmp_path / "m.safetensors", TEXT)


def test_promptfoo_assertion(models: Path) -> None:
    """Pass, fail, abstain, and configurations that are wrong."""
    value = wanted(models)
    context: dict[str, Any] = {"vars": {"q": SOURCE, "other": 3}}
    config = {"model": str(models / "sourced.safetensors"), "source": "q"}

    def told(output: str, **more: object) -> dict[str, Any]:
        return get_assert(output, {**context, "config": {**config, **more}})

    passed = told(TEXT, min=value)
    assert (passed["pass"], passed["score"]) == (True, value)
    assert passed["named_scores"] == {"refless": value, "refless_coverage": 1.0}
    assert not told(TEXT, min=math.nextafter(value, 2))["pass"]
    nothing = told("", min=0.9)
    assert (nothing["pass"], nothing["named_scores"]) == (
        True,
        {"refless_coverage": 0.0},
    )
    assert "no estimate: empty" in nothing["reason"]
    with bad_usage("no text in a field 'x'; there are q, other"):
        told(TEXT, source="x")
    with bad_usage("config takes model, min, source"):
        told(TEXT, threshold=1)


def test_host_inspect(models: Path, tmp_path: Path) -> None:
    """A scorer by its name, a log scored on the command line, and scores of `-o inspect:`."""
    ai = pytest.importorskip("inspect_ai", reason="Inspect is not installed")
    from inspect_ai.dataset import Sample
    from inspect_ai.log import read_eval_log
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from refless.extensions.connect.hosts.inspect import refless as scorer

    answers = [TEXT, " ", "No idea."]
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in answers]
    for output in outputs:  # else Inspect counts tokens, with a file from the network
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    samples = [Sample(id=f"q{i}", input=SOURCE, target="") for i in range(3)]
    task = ai.Task(dataset=samples, scorer=scorer(str(models / "sourced.safetensors")))
    given: dict[str, Any] = {
        "log_dir": str(tmp_path),
        "display": "none",
        "max_connections": 1,
    }
    model = get_model("mockllm/model", custom_outputs=outputs)
    (log,) = ai.eval(task, model=model, **given)
    assert log.status == "success", log.error
    scores = [sample.scores["refless"] for sample in log.samples]
    assert scores[0].value == pytest.approx(wanted(models), abs=1e-12)
    assert math.isnan(scores[1].value)
    assert scores[1].reason == "empty"
    (summary,) = log.results.scores
    assert summary.unscored_samples == 1
    known = [wanted(models), wanted(models, answers[2])]
    assert summary.metrics["mean"].value == pytest.approx(sum(known) / 2)

    line = [
        sys.executable,
        "-m",
        "inspect_ai",
        "score",
        log.location,
        "--action",
        "append",
    ]
    line += ["--model", "mockllm/model", "--overwrite", "--display", "none"]
    by_name = [
        "--scorer",
        "refless/refless",
        "-S",
        f"model={models / 'sourced.safetensors'}",
    ]
    subprocess.run([*line, *by_name], check=True, env={**os.environ, "COLUMNS": "80"})
    written = tmp_path / "scores.jsonl"
    result = refless.score(log.location, model=models / "sourced.safetensors")
    result.save(f"inspect:{written}")
    ready = ["--scorer", "precomputed_scores", "-S", f"scores={written}"]
    subprocess.run([*line, *ready], check=True)
    again = read_eval_log(log.location)
    for sample, score in zip(again.samples, scores, strict=True):
        others = [one for name, one in sample.scores.items() if name != "refless"]
        assert len(others) == 2
        for other in others:
            assert math.isnan(other.value) == math.isnan(score.value)
    assert [one.unscored_samples for one in again.results.scores] == [1, 1, 1]


def test_host_deepeval(models: Path) -> None:
    """A threshold, none, and a test case without an estimate, by `evaluate` too."""
    deepeval = pytest.importorskip("deepeval", reason="DeepEval is not installed")
    from deepeval.evaluate.configs import AsyncConfig, DisplayConfig
    from deepeval.test_case import LLMTestCase

    from refless.extensions.connect.hosts.deepeval import ReflessMetric

    value = pytest.approx(wanted(models), abs=1e-12)
    for threshold, success in ((0.0, True), (1.01, False), (None, None)):
        metric = ReflessMetric(models / "sourced.safetensors", threshold)
        assert metric.measure(LLMTestCase(input=SOURCE, actual_output=TEXT)) == value
        assert metric.is_successful() is success
    cases = [LLMTestCase(input=SOURCE, actual_output=text) for text in (TEXT, " ")]
    for run_async in (True, False):
        found = deepeval.evaluate(
            cases,
            [ReflessMetric(models / "sourced.safetensors", 0.0)],
            async_config=AsyncConfig(run_async=run_async),
            display_config=DisplayConfig(print_results=False, show_indicator=False),
        )
        by_output = {one.actual_output: one for one in found.test_results}
        (data,) = by_output[TEXT].metrics_data
        assert (data.score, data.success, data.name) == (value, True, "refless")
        left = by_output[
            " "
        ].metrics_data  # skipped, or told without a score when not async
        assert len(left) == (0 if run_async else 1)
        assert all((one.score, one.success) == (None, None) for one in left)
        assert by_output[" "].success


def test_host_mlflow(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Feedback on each row, and their mean."""
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")
    from refless.extensions.connect.hosts.mlflow import refless_scorer

    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    data = [
        {"inputs": {"question": SOURCE}, "outputs": text}
        for text in (TEXT, "No idea.", " ")
    ]
    found = mlflow.genai.evaluate(
        data=data, scorers=[refless_scorer(models / "sourced.safetensors")]
    )
    known = sorted([wanted(models), wanted(models, "No idea.")])
    assert found.metrics["refless/mean"] == pytest.approx(sum(known) / 2)
    traces = mlflow.search_traces(return_type="list")
    told = [*chain.from_iterable(trace.info.assessments for trace in traces)]
    values = sorted(one.value for one in told if one.value is not None)
    assert values == pytest.approx(known, abs=1e-12)
    assert [one.metadata["reason"] for one in told if one.value is None] == ["empty"]


def test_host_promptfoo(models: Path, tmp_path: Path) -> None:
    """`promptfoo eval` with the provider echo, and this Python."""
    promptfoo = os.environ.get("PROMPTFOO")
    if not promptfoo:
        pytest.skip("promptfoo is not installed; PROMPTFOO names its executable")
    (tmp_path / "refless_assert.py").write_text(
        "from refless.extensions.connect.hosts.promptfoo import get_assert\n"
    )
    check = {
        "type": "python",
        "value": "file://refless_assert.py:get_assert",
        "config": {
            "model": str(models / "sourced.safetensors"),
            "min": 0.0,
            "source": "question",
        },
    }
    config = {
        "prompts": ["{{answer}}"],
        "providers": ["echo"],
        "defaultTest": {"assert": [check]},
        "tests": [
            {"vars": {"question": SOURCE, "answer": text}}
            for text in (TEXT, "No idea.")
        ],
    }
    (tmp_path / "promptfooconfig.json").write_text(json.dumps(config))
    own = {
        "PROMPTFOO_PYTHON": sys.executable,
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_CONFIG_DIR": str(tmp_path / "home"),
    }
    words = [
        promptfoo,
        "eval",
        "-c",
        "promptfooconfig.json",
        "-o",
        "out.json",
        "--no-cache",
    ]
    subprocess.run(words, check=True, cwd=tmp_path, env={**os.environ, **own})
    rows = json.loads((tmp_path / "out.json").read_text())["results"]["results"]
    values = {row["response"]["output"]: row["namedScores"]["refless"] for row in rows}
    assert values[TEXT] == pytest.approx(wanted(models))
    assert {row["namedScores"]["refless_coverage"] for row in rows} == {1}
    assert all(row["success"] for row in rows)
