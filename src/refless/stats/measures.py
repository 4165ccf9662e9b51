"""Every measure of agreement in its two forms, by name: the one list of them."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from refless.registry.arrays import FloatArray
from refless.stats import correlation, weighted
from refless.stats.weighted import Prepare


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of [n] predictions against [n] human ratings.

    Attributes:
        title: its name in tables.
        value: the measure; NaN where it is undefined.
        weighted: the same as a function of weights, for the bootstrap.
        low, high: smallest and largest value that it can take.
    """

    title: str
    value: Callable[[FloatArray, FloatArray], float]
    weighted: Prepare
    low: float
    high: float


def mse(human: FloatArray, predicted: FloatArray) -> float:
    """Mean squared error of [n] predictions; NaN without rows."""
    return float(np.square(predicted - human).mean()) if len(human) else float("nan")


def mae(human: FloatArray, predicted: FloatArray) -> float:
    """Mean absolute error of [n] predictions; NaN without rows."""
    return float(np.abs(predicted - human).mean()) if len(human) else float("nan")


MEASURES: dict[str, Measure] = {
    "mse": Measure("MSE", mse, weighted.mse, 0.0, math.inf),
    "mae": Measure("MAE", mae, weighted.mae, 0.0, math.inf),
    "pearson": Measure("Pearson", correlation.pearson, weighted.pearson, -1.0, 1.0),
    "spearman": Measure("Spearman", correlation.spearman, weighted.spearman, -1.0, 1.0),
    "kendall": Measure("Kendall", correlation.kendall, weighted.kendall, -1.0, 1.0),
    "auc": Measure("AUC", correlation.auc, weighted.auc, 0.0, 1.0),
}
WEIGHTED: dict[str, Prepare] = {
    name: measure.weighted for name, measure in MEASURES.items()
}
ERRORS = ("mse", "mae")  # the lowest is best
CORRELATIONS = ("pearson", "spearman", "kendall")  # the highest is best
