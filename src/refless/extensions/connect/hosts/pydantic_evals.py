"""Pydantic Evals: a report evaluator that says if a run may take the place of an earlier one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_evals.evaluators import ReportEvaluator, ReportEvaluatorContext
from pydantic_evals.reporting import EvaluationReport, ScalarResult

from refless.extensions.connect.hosts.gates import by_item, gated


def scores_in(
    report: EvaluationReport[Any, Any, Any], score: str
) -> dict[str, list[float]]:
    """The scores, or assertions, of this name: of each case one for each time it was run."""
    cases = [
        (case, case.scores.get(score) or case.assertions.get(score))
        for case in report.cases
    ]
    return by_item(
        (case.source_case_name or case.name, result.value)
        for case, result in cases
        if result is not None
    )


@dataclass(repr=False)
class ReflessGate(ReportEvaluator[Any, Any, Any]):
    """Adds the verdict to a report's analyses: passed, failed or undecided, with the difference.

    Attributes:
        score: name of a score or an assertion.
        baseline: `scores_in` an earlier report.
        margin: by how much the new run may be worse.
    """

    score: str
    baseline: dict[str, list[float]]
    margin: float = 0.0

    def evaluate(self, ctx: ReportEvaluatorContext[Any, Any, Any]) -> ScalarResult:
        """The difference of the new run from the baseline; the verdict is in its title."""
        candidate = scores_in(ctx.report, self.score)
        result = gated(candidate, self.baseline, self.score, self.margin)
        (measure,) = result.measures
        return ScalarResult(
            title=f"refless gate {result.gate.verdict}",
            description=result.sentence,
            value=measure.answer.value,
        )
