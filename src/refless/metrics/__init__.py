"""Metrics: outputs against their references. METRICS is the registry, by name."""

from typing import cast

from refless.metrics.bertscore import BERTScore
from refless.metrics.bleu import BLEU, SentenceBLEU
from refless.metrics.cider import CIDEr, CIDErD
from refless.metrics.delta import DeltaBLEU
from refless.metrics.meteor import Meteor
from refless.metrics.movers import Movers
from refless.metrics.protocol import Metric, Scores
from refless.metrics.rouge import RougeL
from refless.metrics.slor import SLOR
from refless.spec import made

METRICS: dict[str, type[Metric]] = {
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
}


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
