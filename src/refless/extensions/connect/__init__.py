"""Other tools, clusters and public data sets."""

from refless.registry.offered import Command

DATASETS = Command(
    "List public data sets of human ratings, or fetch some by name.",
    "refless.extensions.connect.datasets.command",
    "Data",
)
