"""DeepEval: a metric that no model judges, and the scores of a whole run for a gate."""

from __future__ import annotations

from deepeval.evaluate.types import EvaluationResult
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase, SingleTurnParams

from refless.commands.parameters import Folder
from refless.extensions.connect.hosts import judged
from refless.extensions.connect.hosts.gates import by_item


def scores_in(result: EvaluationResult, metric: str) -> dict[str, list[float]]:
    """The scores of a metric in what `evaluate` returned, by the input of the test case."""
    return by_item(
        (test.input, data.score)
        for test in result.test_results
        for data in test.metrics_data or []
        if data.name == metric
    )


class ReflessMetric(BaseMetric):
    """Estimates the human rating of a test case's actual output; skipped where there is none.

    Args:
        folder: of `refless fit`; DeepEval makes copies by the names of attributes, so it is called
            as they are.
        threshold: the least estimate that succeeds; None for no threshold.
        use_source: whether the test case's input is what the output is for.
    """

    def __init__(
        self, folder: Folder, threshold: float | None = None, *, use_source: bool = True
    ) -> None:
        self.folder = folder
        self.threshold = threshold
        self.use_source = use_source
        self.async_mode = True
        self.include_reason = True
        self._required_params = [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT]

    def measure(self, test_case: LLMTestCase, *_: object, **__: object) -> float:
        """The estimate; NaN, and the metric is skipped, where there is none."""
        source = test_case.input if self.use_source else None
        result = judged(self.folder, test_case.actual_output or "", source)
        self.skipped = not result.known
        self.error = None
        self.reason = result.said
        self.score = result.value if result.known else None
        self.score_breakdown = result.details()
        self.success = None
        if result.known and self.threshold is not None:
            self.success = result.value >= self.threshold
        return result.value

    async def a_measure(
        self, test_case: LLMTestCase, *_: object, **__: object
    ) -> float:
        """Returns the same as `measure`."""
        return self.measure(test_case)

    def is_successful(self) -> bool | None:
        """Whether the threshold is reached; None without one, or without an estimate."""
        return self.success

    @property
    def __name__(self) -> str:
        return "refless"
