"""Metrics that need references: BLEU, delta-BLEU, ROUGE-L, METEOR, CIDEr-D, BERTScore."""

from refless.registry.offered import Command

METRIC = Command(
    "Score outputs by one or more metrics against references.",
    "refless.extensions.metrics.command",
    "Metrics and papers",
)
