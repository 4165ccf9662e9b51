"""Metrics: outputs against their references. METRICS is the registry, by name."""

from collections.abc import Sequence
from functools import partial
from typing import cast

from refless.metrics.references.protocol import Metric, Scores
from refless.registry.errors import UsageError
from refless.registry.offered import Registry, check_class
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
    partial(check_class, attributes=("name", "needs", "score", "signature", "missing")),
)


def metric_of(metric: str | Metric) -> Metric:
    """The metric that a specification names (`bleu:order=2,smooth=exp`); a metric passes through.

    Raises:
        UsageError: an unknown metric or parameter, or a value that cannot be honoured.
    """
    return cast("Metric", made(metric, METRICS, "metric"))


def metrics_of(specs: Sequence[str]) -> dict[str, Metric]:
    """The metrics by what the user called them; what one lacks is said before any work is done.

    Raises:
        UsageError: an unknown one, one given twice, or one that cannot run here.
    """
    metrics: dict[str, Metric] = {}
    for spec in specs:
        if spec in metrics:
            raise UsageError(f"-m {spec} is given twice")
        metrics[spec] = metric_of(spec)
        if missing := metrics[spec].missing():
            raise UsageError(f"-m {spec} cannot run here: {missing}")
    return metrics


__all__ = [
    "METRICS",
    "Metric",
    "Scores",
    "metric_of",
    "metrics_of",
]
