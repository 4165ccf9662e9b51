"""Corrections of p-values for the number of questions that were asked."""

from collections.abc import Iterable

import numpy as np

from refless.registry.arrays import FloatArray


def corrected(p_values: Iterable[float]) -> list[float]:
    """The p-values of several questions after Holm, in their order."""
    numbers: list[float] = holm(np.array([*p_values])).tolist()
    return numbers


def holm(p_values: FloatArray) -> FloatArray:
    """[m] p-values after Holm (1979): the chance of any false alarm stays below the level.

    Undefined ones (NaN) stay so and are not counted.
    """
    defined = np.flatnonzero(~np.isnan(p_values))
    order = defined[np.argsort(p_values[defined], kind="stable")]
    steps = p_values[order] * np.arange(len(order), 0, -1)
    corrected = np.full(len(p_values), np.nan)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected
