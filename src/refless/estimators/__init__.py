"""Estimators of quality that need no reference."""

from __future__ import annotations

from refless.estimators.explanation import Explanation
from refless.estimators.kriging import Kriging
from refless.estimators.neighbors import BLEUNeighbors
from refless.estimators.protocol import Estimator
from refless.estimators.ratpred import RatPred

ESTIMATORS: dict[str, type[BLEUNeighbors | Kriging | RatPred]] = {
    "bleu-neighbors": BLEUNeighbors,
    "kriging": Kriging,
    "ratpred": RatPred,
}

__all__ = ["ESTIMATORS", "BLEUNeighbors", "Estimator", "Explanation", "Kriging", "RatPred"]
