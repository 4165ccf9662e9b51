"""Metrics: outputs against their references. METRICS is the registry, by name."""

from typing import cast

from refless.metrics.references.bertscore import BERTScore
from refless.metrics.references.bleu import BLEU, SentenceBLEU
from refless.metrics.references.cider import CIDEr, CIDErD
from refless.metrics.references.delta import DeltaBLEU
from refless.metrics.references.meteor import Meteor
from refless.metrics.references.movers import Movers
from refless.metrics.references.protocol import Metric, Scores
from refless.metrics.references.rouge import RougeL
from refless.metrics.references.slor import SLOR
from refless.registry.offered import Registry
from refless.registry.spec import made

METRICS: Registry[type[Metric]] = Registry(
    "metrics",
    {
        "bleu": BLEU,
        "sbleu": SentenceBLEU,
        "delta-bleu": DeltaBLEU,
        "rouge-l": RougeL,
        "cider-d": CIDErD,
        "cider": CIDEr,
        "meteor": Meteor,
        "bertscore": BERTScore,
        "movers": Movers,
        "slor": SLOR,
    },
)


def metric_of(metric: str | Metric) -> Metric:
    """The metric that a specification names (`bleu:order=2,smooth=exp`); a metric passes through.

    Raises:
        UsageError: an unknown metric or parameter, or a value that cannot be honoured.
    """
    return cast("Metric", made(metric, METRICS, "metric"))


__all__ = [
    "BLEU",
    "METRICS",
    "SLOR",
    "BERTScore",
    "CIDEr",
    "CIDErD",
    "DeltaBLEU",
    "Meteor",
    "Metric",
    "Movers",
    "RougeL",
    "Scores",
    "SentenceBLEU",
    "metric_of",
]
