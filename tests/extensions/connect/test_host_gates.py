"""A gate in each host, where it is installed: whole runs pass, fail, or stay undecided.

No other file of tests is needed, and nothing but pytest, refless and the host. See scripts/hosts.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from refless.extensions.connect.hosts.gates import Scores, gated

ITEMS = 24
SHIFTS = {"passed": 0.2, "undecided": -0.02, "failed": -0.2}
RUNS = pytest.mark.parametrize("verdict", SHIFTS)


def score_of(item: int, verdict: str = "") -> float:
    """The score of an item by the earlier run, or by one with another verdict.

    Differences are a shift and -.1, 0 or .1: a t interval of the shift +-.035 or so.
    """
    earlier = 0.5 + 0.05 * (item * 7 % 5)
    if not verdict:
        return earlier
    return earlier + SHIFTS[verdict] + 0.1 * (item % 3 - 1)


BASELINE = {f"q{item}": [score_of(item)] for item in range(ITEMS)}


def rows_of(**runs: str) -> list[dict[str, Any]]:
    """A row a system and item; of each system the verdict of its run."""
    rows: list[dict[str, Any]] = []
    for name, run in runs.items():
        scores = [score_of(item, run) for item in range(ITEMS)]
        rows += [
            {"system": name, "item": item, "score": score}
            for item, score in enumerate(scores)
        ]
    return rows


@RUNS
def test_a_run_beside_an_earlier_one(verdict: str) -> None:
    """Items by name; one without a score is left out of both."""
    run: Scores = {f"q{item}": [score_of(item, verdict)] for item in range(ITEMS - 1)}
    result = gated(run, BASELINE, "accuracy")
    assert result.gate.verdict == verdict
    assert "accuracy" in result.sentence
    (pair,) = result.compared.metrics["accuracy"].pairs
    assert pair.both_rated == ITEMS - 1


@RUNS
def test_host_pydantic_evals(verdict: str) -> None:
    """A dataset with a report evaluator; the baseline is what an earlier report says."""
    pytest.importorskip("pydantic_evals", reason="Pydantic Evals is not installed")
    from pydantic_evals import Case, Dataset
    from pydantic_evals.evaluators import Evaluator, EvaluatorContext

    from refless.extensions.connect.hosts.pydantic_evals import ReflessGate, scores_in

    class Quality(Evaluator[int, float, None]):
        def evaluate(self, ctx: EvaluatorContext[int, float, None]) -> dict[str, float]:
            return {"quality": ctx.output}

    def report_of(run: str, *gates: ReflessGate) -> Any:
        cases = [Case(name=f"q{item}", inputs=item) for item in range(ITEMS)]
        dataset = Dataset(
            name="items", cases=cases, evaluators=[Quality()], report_evaluators=gates
        )
        return dataset.evaluate_sync(lambda item: score_of(item, run), progress=False)

    baseline = scores_in(report_of(""), "quality")
    assert baseline == BASELINE
    (analysis,) = report_of(verdict, ReflessGate("quality", baseline)).analyses
    assert analysis.title == f"refless gate {verdict}"
    assert analysis.value == pytest.approx(SHIFTS[verdict])
    assert analysis.description.startswith(f"Gate {verdict}: ")


@RUNS
def test_host_langfuse(verdict: str) -> None:
    """An experiment on local items, without a server; a failed gate raises RegressionError."""
    langfuse = pytest.importorskip("langfuse", reason="Langfuse is not installed")
    from refless.extensions.connect.hosts.langfuse import check, refless_gate, scores_in

    client = langfuse.Langfuse(
        public_key="none", secret_key="none", tracing_enabled=False
    )

    def quality(*, output: float, **_: object) -> Any:
        return langfuse.Evaluation(name="quality", value=output)

    def experiment(run: str, *evaluators: Any) -> Any:
        return client.run_experiment(
            name="run",
            data=[{"id": f"q{item}", "input": item} for item in range(ITEMS)],
            task=lambda *, item, **_: score_of(item["input"], run),
            evaluators=[quality],
            run_evaluators=[*evaluators],
        )

    baseline = scores_in(experiment("").item_results, "quality")
    assert baseline == BASELINE
    result = experiment(verdict, refless_gate("quality", baseline))
    (evaluation,) = result.run_evaluations
    assert (evaluation.name, evaluation.value) == ("refless gate", verdict)
    if verdict == "failed":
        with pytest.raises(langfuse.RegressionError, match="Gate failed: candidate is"):
            check(result)
    else:
        check(result)


@RUNS
def test_host_inspect_gate(verdict: str, tmp_path: Path) -> None:
    """A metric of a scorer; the baseline is the log of an earlier run."""
    ai = pytest.importorskip("inspect_ai", reason="Inspect is not installed")
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import Score, mean, scorer

    from refless.extensions.connect.hosts.inspect import refless_gate

    def log_of(run: str, *metrics: Any) -> Any:
        @scorer(metrics=[mean(), *metrics])
        def quality() -> Any:
            async def score(state: Any, target: Any) -> Score:
                return Score(value=score_of(int(state.sample_id[1:]), run))

            return score

        outputs = [ModelOutput.from_content("mockllm/model", "yes")] * ITEMS
        for (
            output
        ) in outputs:  # else Inspect counts tokens, with a file from the network
            output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        samples = [Sample(id=f"q{item}", input="?") for item in range(ITEMS)]
        model = get_model("mockllm/model", custom_outputs=outputs)
        task = ai.Task(dataset=samples, scorer=quality())
        (log,) = ai.eval(
            task, model=model, log_dir=str(tmp_path), display="none", max_connections=1
        )
        assert log.status == "success", log.error
        return log

    earlier = log_of("")
    (result,) = log_of(
        verdict, refless_gate(earlier.location, "quality")
    ).results.scores
    gate = {"passed": 1, "undecided": 0, "failed": -1}[verdict]
    assert result.metrics["gate"].value == gate
    assert result.metrics["difference"].value == pytest.approx(SHIFTS[verdict])


@RUNS
def test_host_deepeval_gate(verdict: str) -> None:
    """A result of `evaluate` beside that of an earlier run."""
    deepeval = pytest.importorskip("deepeval", reason="DeepEval is not installed")
    from deepeval.evaluate.configs import AsyncConfig, DisplayConfig
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase

    from refless.extensions.connect.hosts.deepeval import scores_in

    class Quality(BaseMetric):
        def __init__(self) -> None:
            self.threshold = 0.0
            self.async_mode = False

        def measure(self, test_case: LLMTestCase, *_: object, **__: object) -> float:
            self.score = float(test_case.actual_output or 0)
            self.success = True
            self.reason = ""
            return self.score

        async def a_measure(self, case: LLMTestCase, *_: object, **__: object) -> float:
            return self.measure(case)

        def is_successful(self) -> bool:
            return True

        @property
        def __name__(self) -> str:
            return "quality"

    def evaluated(run: str) -> Any:
        cases = [
            LLMTestCase(input=f"q{item}", actual_output=str(score_of(item, run)))
            for item in range(ITEMS)
        ]
        return deepeval.evaluate(
            cases,
            [Quality()],
            async_config=AsyncConfig(run_async=False),
            display_config=DisplayConfig(print_results=False, show_indicator=False),
        )

    baseline = scores_in(evaluated(""), "quality")
    assert baseline == BASELINE
    result = gated(scores_in(evaluated(verdict), "quality"), baseline, "quality")
    assert result.gate.verdict == verdict


@RUNS
def test_host_mlflow_gate(
    verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result of `mlflow.genai.evaluate` beside that of an earlier run."""
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")
    from mlflow.genai.scorers import scorer

    from refless.extensions.connect.hosts.mlflow import scores_in

    monkeypatch.chdir(tmp_path)
    # more than SQLite's connections wait half a minute for each other
    monkeypatch.setenv("MLFLOW_GENAI_EVAL_MAX_WORKERS", "1")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")

    @scorer
    def quality(*, outputs: str) -> float:
        return float(outputs)

    def evaluated(run: str) -> Any:
        data = [
            {"inputs": {"question": f"q{item}"}, "outputs": str(score_of(item, run))}
            for item in range(ITEMS)
        ]
        return mlflow.genai.evaluate(data=data, scorers=[quality])

    baseline = scores_in(evaluated(""), "quality")
    assert sorted(baseline.values()) == sorted(BASELINE.values())
    result = gated(scores_in(evaluated(verdict), "quality"), baseline, "quality")
    assert result.gate.verdict == verdict


def test_host_promptfoo_gate(tmp_path: Path) -> None:
    """`refless gate` reads the JSON that promptfoo exports: a provider is a system."""
    promptfoo = os.environ.get("PROMPTFOO")
    if not promptfoo:
        pytest.skip("promptfoo is not installed; PROMPTFOO names its executable")
    (tmp_path / "provider.py").write_text(
        "def call_api(prompt, options, context):\n"
        "    return {'output': context['vars'][options['config']['of']]}\n"
    )
    names = ["", *SHIFTS]
    tests = []
    for item in range(ITEMS):
        answers = {name or "earlier": str(score_of(item, name)) for name in names}
        tests.append({"vars": {"item": f"q{item}", **answers}})
    config = {
        "prompts": [{"raw": "{{item}}", "label": "1"}],
        "providers": [
            {"id": "file://provider.py", "label": name, "config": {"of": name}}
            for name in ("earlier", *SHIFTS)
        ],
        "defaultTest": {
            "assert": [
                {"type": "javascript", "value": "Number(output)", "metric": "quality"}
            ]
        },
        "tests": tests,
    }
    (tmp_path / "promptfooconfig.json").write_text(json.dumps(config))
    own = {"PROMPTFOO_PYTHON": sys.executable, "PROMPTFOO_DISABLE_UPDATE": "1"}
    environment = {**os.environ, **own, "PROMPTFOO_CONFIG_DIR": str(tmp_path / "home")}
    words = ["eval", "-c", "promptfooconfig.json", "-o", "out.json", "--no-cache"]
    subprocess.run(
        [promptfoo, *words], check=False, cwd=tmp_path, env=environment, timeout=300
    )
    line = [sys.executable, "-m", "refless", "gate", "out.json"]
    line += ["--baseline", "earlier 1"]
    line += ["--score-column", "scores.quality", "--candidate"]
    codes = [
        subprocess.run([*line, f"{verdict} 1"], check=False, cwd=tmp_path).returncode
        for verdict in SHIFTS
    ]
    assert codes == [0, 4, 3]


def test_pytest_plugin(tmp_path: Path) -> None:
    """The fixture passes, skips or fails a test, with the sentence."""
    for verdict in SHIFTS:
        (tmp_path / verdict).write_text(json.dumps(rows_of(v1="", v2=verdict)))
    (tmp_path / "test_release.py").write_text(
        "import pytest\n\n\n"
        f'@pytest.mark.parametrize("evals", {[*SHIFTS]})\n'
        '@pytest.mark.refless(baseline="v1")\n'
        "def test_release(refless, evals):\n"
        "    assert refless(evals).exit_status == 0\n"
    )
    plugin = "refless.extensions.connect.pytest_plugin"
    words = ["-q", "-rsf", "--strict-markers", "-p", "no:cacheprovider"]
    words += ["-p", plugin, "-p", "no:refless"]  # once, installed or not
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "test_release.py"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    counts = "1 failed, 1 passed, 1 skipped"
    assert counts in done.stdout, done.stdout + done.stderr
    for verdict in ("undecided", "failed"):
        assert f"Gate {verdict}: " in done.stdout


def test_host_mcp(tmp_path: Path) -> None:
    """A client over standard input and output: five tools, an answer, an error."""
    pytest.importorskip("mcp", reason="the package mcp is not installed")
    import asyncio

    from mcp import Client, StdioServerParameters, stdio_client

    (tmp_path / "evals.json").write_text(json.dumps(rows_of(v1="", v2="passed")))
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "refless.extensions.connect.mcp"],
        env={**os.environ},
    )

    async def asked() -> list[Any]:
        async with Client(stdio_client(started)) as client:
            tools = await client.list_tools()
            arguments = {"files": [str(tmp_path / "evals.json")]}
            answer = await client.call_tool("compare", arguments)
            wrong = await client.call_tool("compare", {"files": ["none.csv"]})
            planned = await client.call_tool(
                "plan", {"files": [], "options": {"n": 50, "scale": [1, 5]}}
            )
            return [tools.tools, answer, wrong, planned]

    tools, answer, wrong, planned = asyncio.run(asked())
    assert {tool.name for tool in tools} == {
        "judge",
        "compare",
        "validate",
        "next",
        "plan",
    }
    assert "v2 leads by" in answer.content[0].text
    assert wrong.is_error
    assert "none.csv" in wrong.content[0].text
    assert not planned.is_error
