"""Inspect: the scorer `refless/refless` and the metric `refless/refless_gate`.

The entry point `inspect_ai` makes them known.
"""

from inspect_ai.log import read_eval_log
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    mean,
    metric,
    scorer,
    stderr,
    value_to_float,
)
from inspect_ai.solver import TaskState

from refless.extensions.connect.hosts import judged
from refless.extensions.connect.hosts.gates import NUMBERS, by_item, gated


@scorer(metrics=[mean(), stderr()])
def refless(model: str, use_source: bool = True) -> Scorer:
    """Estimates the human rating of a sample's answer; unscored where there is no estimate.

    Args:
        model: folder of `refless fit`.
        use_source: whether the sample's input is what the answer is for.
    """

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - nothing is compared
        answer = state.output.completion
        result = judged(model, answer, state.input_text if use_source else None)
        shown = {
            "answer": answer,
            "explanation": result.said,
            "metadata": result.details(),
        }
        if result.known:
            return Score(value=result.value, **shown)
        return Score.unscored(reason=result.reason, **shown)

    return score


def scores_in(log: str, scorer_name: str) -> dict[str, list[float]]:
    """The scores in a log, by sample: one of each epoch."""
    as_number = value_to_float()
    samples = read_eval_log(log).samples or []
    return by_item(
        (sample.id, as_number(sample.scores[scorer_name].value))
        for sample in samples
        if sample.scores and scorer_name in sample.scores
    )


@metric
def refless_gate(baseline: str, scorer_name: str, margin: float = 0.0) -> Metric:
    """Whether a run may take the place of an earlier one: 1 passed, 0 undecided, -1 failed.

    The difference and its interval stand beside it.

    Args:
        baseline: log of the earlier run; scorer_name: of the scores in it.
        margin: by how much the new run may be worse.
    """

    def compute(scores: list[SampleScore]) -> Value:
        as_number = value_to_float()
        candidate = by_item(
            (score.sample_id, as_number(score.score.value)) for score in scores
        )
        earlier = scores_in(baseline, scorer_name)
        result = gated(candidate, earlier, scorer_name, margin)
        (measure,) = result.measures
        low, high = result.interval
        return {
            "gate": NUMBERS[result.gate.verdict],
            "difference": measure.answer.value,
            "low": low,
            "high": high,
        }

    return compute
