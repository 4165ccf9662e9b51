"""MLflow: a scorer for `mlflow.genai.evaluate`, and the scores of a whole run for a gate."""

from __future__ import annotations

from typing import Any

from mlflow.entities import Feedback
from mlflow.genai.scorers import scorer

from refless.commands.parameters import Folder
from refless.extensions.connect.hosts import judged, text_in
from refless.extensions.connect.hosts.gates import by_item


def scores_in(result: Any, name: str) -> dict[str, list[float]]:  # noqa: ANN401 - MLflow's own
    """The values of a scorer in what `mlflow.genai.evaluate` returned, by the inputs of a row."""
    frame = result.result_df
    return by_item(zip(frame["request"], frame[f"{name}/value"], strict=True))


def refless_scorer(
    model: Folder,
    *,
    name: str = "refless",
    source: str | None = None,
    answer: str | None = None,
) -> Any:  # noqa: ANN401 - a scorer of MLflow
    """A scorer that estimates the human rating of outputs.

    An output without an estimate has feedback without a value, and the reason.

    Args:
        model: folder of `refless fit`.
        name: of the feedback.
        source: field of the inputs that an output answers; without it their only field.
        answer: field of the outputs that is the text; without it their only field, or the output.
    """

    @scorer(name=name)
    def estimated(*, inputs: object, outputs: object) -> Feedback:
        result = judged(model, text_in(outputs, answer) or "", text_in(inputs, source))
        return Feedback(
            name=name,
            value=result.value if result.known else None,
            rationale=result.said,
            metadata={key: str(value) for key, value in result.details().items()},
        )

    return estimated
