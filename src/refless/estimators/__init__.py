"""Estimators of quality that need no reference."""

from __future__ import annotations

from refless.estimators.neighbors import BLEUNeighbors, Explanation
from refless.estimators.protocol import Estimator

ESTIMATORS: dict[str, type[BLEUNeighbors]] = {"bleu-neighbors": BLEUNeighbors}

__all__ = ["ESTIMATORS", "BLEUNeighbors", "Estimator", "Explanation"]
