"""What counts as a tie: values that differ by less than rounding can make them differ.

Estimates that are equal in exact arithmetic differ in their sixteenth digit, by the order in which
a machine sums. Every rank, every pair and every "is it constant" goes by what `settled` leaves.
"""

import numpy as np

from refless.registry.arrays import FloatArray

BITS = 40  # about twelve digits


def settled(column: FloatArray) -> FloatArray:
    """[n] the column rounded to twelve digits: of each value, or of the median one if larger.

    The order of rows does not matter, no value overtakes another, and a far larger one takes no
    digits from the others.
    """
    sizes = np.abs(column)
    _, exponents = np.frexp(np.maximum(sizes, _median(sizes) if len(sizes) else 0.0))
    return np.asarray(np.ldexp(np.rint(np.ldexp(column, BITS - exponents)), exponents - BITS))


def _median(column: FloatArray) -> float:
    """Numpy's median of finite values, in an eighth of its time for short columns."""
    low, high = (len(column) - 1) // 2, len(column) // 2
    return float(np.partition(column, (low, high))[low : high + 1].mean())
