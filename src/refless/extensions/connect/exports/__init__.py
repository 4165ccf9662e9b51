"""Exports of tools in which ratings already live; EXPORTS has them in the order of their tests."""

from refless.data.tables.exports.format import Export
from refless.extensions.connect.exports import (
    argilla,
    inspect_log,
    label_studio,
    langfuse,
    langsmith,
    lm_eval,
    mlflow,
    mt_metrics,
    phoenix,
    promptfoo,
)

EXPORTS: dict[str, Export] = {
    "inspect": inspect_log.LOG,
    "promptfoo": promptfoo.EVAL,
    "label-studio": label_studio.JSON,
    "label-studio-min": label_studio.JSON_MIN,
    "argilla": argilla.RECORDS,
    "lm-eval": lm_eval.SAMPLES,
    "mlflow": mlflow.TRACES,
    "langfuse-scores": langfuse.SCORES,
    "langfuse-traces": langfuse.TRACES,
    "langsmith-feedback": langsmith.FEEDBACK,
    "langsmith-runs": langsmith.RUNS,
    "phoenix-annotations": phoenix.ANNOTATIONS,
    "phoenix-spans": phoenix.SPANS,
    "mt-metrics-eval": mt_metrics.TEST_SET,
}
