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
        result = judged(model, answer, state.input_text if use_source else None)
        if not result.known:
            return Score.unscored(
                reason=result.reason,
                answer=answer,
                explanation=result.said,
                metadata=result.details(),
            )
        return Score(
            value=result.value,
            answer=answer,
            explanation=result.said,
            metadata=result.details(),
        )

    return score
