"""Single annotators as JSON has them."""

from dataclasses import dataclass

from refless.evaluation.annotators import Annotators
from refless.report.record import Count, record


@dataclass(frozen=True, kw_only=True)
class AnnotatorsRecord:
    """Single annotators against the human rating, by measure.

    Attributes:
        n_few: annotators who are left out, as they rated fewer than 10 texts.
        average: undefined correlations are left out.
        best: for each measure by itself.
    """

    n: Count
    n_few: Count
    average: dict[str, float]
    best: dict[str, float]


def annotators_record(found: Annotators | None) -> AnnotatorsRecord | None:
    """Single annotators as JSON has them."""
    return None if found is None else record(AnnotatorsRecord, found)
