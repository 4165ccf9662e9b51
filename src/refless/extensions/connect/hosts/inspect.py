"""Inspect: the scorer `refless/refless`, which the entry point `inspect_ai` makes known."""

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from refless.extensions.connect.hosts import judged


@scorer(metrics=[mean(), stderr()])
def refless(model: str, use_source: bool = True) -> Scorer:
    """Estimates the human rating of a sample's answer; unscored where there is no estimate.

    Args:
        model: folder of `refless fit`.
        use_source: whether the sample's input is what the answer is for.
    """

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - nothing is compared
        answer = state.output.completion
        found = judged(model, answer, state.input_text if use_source else None)
        if not found.known:
            return Score.unscored(
                reason=found.reason,
                answer=answer,
                explanation=found.said,
                metadata=found.details(),
            )
        return Score(
            value=found.value, answer=answer, explanation=found.said, metadata=found.details()
        )

    return score
