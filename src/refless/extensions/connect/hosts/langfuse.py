"""Langfuse: a run evaluator of experiments, and the error that fails a workflow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from langfuse import Evaluation, RegressionError

from refless.extensions.connect.hosts.gates import Scores, by_item, gated

NAME = "refless gate"


def scores_in(item_results: Iterable[Any], score: str) -> dict[str, list[float]]:
    """The evaluations of this name, by item: its id, or its input if it has none."""
    return by_item(
        (_name_of(result.item), evaluation.value)
        for result in item_results
        for evaluation in result.evaluations
        if evaluation.name == score
    )


def _name_of(item: Any) -> object:  # noqa: ANN401 - a mapping, or Langfuse's own
    if isinstance(item, dict):
        return item.get("id") or item.get("input")
    return item.id


def refless_gate(
    score: str, baseline: Scores, *, margin: float = 0.0
) -> Callable[..., Evaluation]:
    """An evaluator for `run_evaluators`: its value is passed, failed or undecided.

    Args:
        score: name of an evaluation of items.
        baseline: `scores_in` an earlier run.
        margin: by how much the new run may be worse.
    """

    def evaluate(*, item_results: list[Any], **_: object) -> Evaluation:
        result = gated(scores_in(item_results, score), baseline, score, margin)
        return Evaluation(name=NAME, value=result.gate.verdict, comment=result.sentence)

    return evaluate


def check(result: Any) -> None:  # noqa: ANN401 - an ExperimentResult
    """Raises RegressionError for an experiment whose gate has failed."""
    for evaluation in result.run_evaluations:
        if evaluation.name == NAME and evaluation.value == "failed":
            raise RegressionError(result=result, message=evaluation.comment)
