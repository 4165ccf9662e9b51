"""Methods that only the papers need: stress tests, HUSE, mined references."""

from refless.registry.offered import Command

HUSE = Command(
    "Quality and diversity of a model in one number (HUSE).",
    "refless.extensions.papers.huse.command",
    "Metrics and papers",
)
MINE = Command(
    "Mine references for delta-BLEU, have them rated, get weights.",
    "refless.extensions.papers.mine",
    "Metrics and papers",
)
STRESS = Command(
    "Find out whether a metric, an estimator or a scorer can be fooled.",
    "refless.extensions.papers.stress.command",
    "Metrics and papers",
)
