"""How far predictions lie from the human rating, in the human rating's units."""

import numpy as np

from refless.registry.arrays import FloatArray


def mse(human: FloatArray, predicted: FloatArray) -> float:
    """Mean squared error of [n] predictions; NaN without rows."""
    return float(np.square(predicted - human).mean()) if len(human) else float("nan")


def mae(human: FloatArray, predicted: FloatArray) -> float:
    """Mean absolute error of [n] predictions; NaN without rows."""
    return float(np.abs(predicted - human).mean()) if len(human) else float("nan")
