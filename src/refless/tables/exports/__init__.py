"""Exports of tools in which ratings already live; EXPORTS has them in the order of their tests."""

from refless.tables.exports import (
    argilla,
    inspect_log,
    label_studio,
    lm_eval,
    mlflow,
    promptfoo,
    refused,
)
from refless.tables.exports.shape import Export, exported

EXPORTS: dict[str, Export] = {
    "inspect": inspect_log.LOG,
    "promptfoo": promptfoo.EVAL,
    "label-studio": label_studio.JSON,
    "label-studio-min": label_studio.JSON_MIN,
    "argilla": argilla.RECORDS,
    "lm-eval": lm_eval.SAMPLES,
    "mlflow": mlflow.TRACES,
    "ratings-apart": refused.SCORES_APART,
    "preference-pairs": refused.PAIRS,
    "ultrafeedback": refused.BY_GPT4,
}

__all__ = ["EXPORTS", "exported"]
