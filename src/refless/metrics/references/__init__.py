"""Metrics: outputs against their references. METRICS is the registry, by name."""

from typing import cast

from refless.metrics.references.protocol import Metric, Scores
from refless.registry.offered import Registry
from refless.registry.spec import made

METRICS: Registry[type[Metric]] = Registry(
    "metrics",
    {
        "bleu": "refless.metrics.references.bleu:BLEU",
        "sbleu": "refless.metrics.references.bleu:SentenceBLEU",
        "delta-bleu": "refless.metrics.references.delta:DeltaBLEU",
        "rouge-l": "refless.metrics.references.rouge:RougeL",
        "cider-d": "refless.metrics.references.cider:CIDErD",
        "meteor": "refless.metrics.meteor:Meteor",
        "bertscore": "refless.metrics.bertscore:BERTScore",
    },
)


def metric_of(metric: str | Metric) -> Metric:
    """The metric that a specification names (`bleu:order=2,smooth=exp`); a metric passes through.

    Raises:
        UsageError: an unknown metric or parameter, or a value that cannot be honoured.
    """
    return cast("Metric", made(metric, METRICS, "metric"))


__all__ = [
    "METRICS",
    "Metric",
    "Scores",
    "metric_of",
]
