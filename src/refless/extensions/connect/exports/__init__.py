"""Exports of tools in which ratings already live; EXPORTS has them in the order of their tests."""

from refless.data.tables.exports.format import Export
from refless.extensions.connect.exports import (
    argilla,
    inspect_log,
    label_studio,
    lm_eval,
    prodigy,
    promptfoo,
    qualtrics,
    traces,
)

EXPORTS: dict[str, Export] = {
    "inspect": inspect_log.LOG,
    "promptfoo": promptfoo.EVAL,
    "label-studio": label_studio.JSON,
    "label-studio-min": label_studio.JSON_MIN,
    "argilla": argilla.RECORDS,
    "lm-eval": lm_eval.SAMPLES,
    "prodigy": prodigy.TASKS,
    "mlflow": traces.MLFLOW,
    "langfuse-scores": traces.LANGFUSE_SCORES,
    "langfuse-traces": traces.LANGFUSE_TRACES,
    "langsmith-feedback": traces.LANGSMITH_FEEDBACK,
    "phoenix-annotations": traces.PHOENIX_ANNOTATIONS,
    "qualtrics": qualtrics.ANSWERS,
}
