"""How far predictions lie from the truth, in the truth's units."""

from __future__ import annotations

import numpy as np

from refless.records import FloatArray


def mse(human: FloatArray, predicted: FloatArray) -> float:
    """Mean squared error of [n] predictions; NaN without rows."""
    return float(np.square(predicted - human).mean()) if len(human) else float("nan")


def rmse(human: FloatArray, predicted: FloatArray) -> float:
    """Root of the mean squared error; NaN without rows."""
    return float(np.sqrt(mse(human, predicted)))


def mae(human: FloatArray, predicted: FloatArray) -> float:
    """Mean absolute error of [n] predictions; NaN without rows."""
    return float(np.abs(predicted - human).mean()) if len(human) else float("nan")
