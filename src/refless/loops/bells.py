"""Exponentials of many numbers in single precision, in one pass."""

import numpy as np

from refless.loops.caching import loop

FLOOR = np.float32(-87.0)  # below it nothing is left
PER_DOUBLING = np.float32(1.44269504)  # 1 / log 2
# log 2 in two parts, the first with few digits, so that its multiples are exact
HIGH = np.float32(0.693359375)
LOW = np.float32(-2.12194440e-4)
ROUNDING = np.float32(12582912.0)  # 1.5 * 2**23: what is added to it loses its fraction
# of (exp(r) - 1 - r) / r**2 up to |r| = log(2) / 2: Moshier (Cephes, expf.c)
CURVE = np.array(
    [
        1.9875691500e-4,
        1.3981999507e-3,
        8.3334519073e-3,
        4.1665795894e-2,
        1.6666665459e-1,
        5.0000001201e-1,
    ],
    np.float32,
)


@loop(nogil=True)
def bells_loop(exponents, highest, total):
    """Adds exp(exponent), each at most exp(highest), to the total in its place.

    All are of single precision, and so is the result, to its last digit. numba makes one vector
    loop of it, which NumPy's four passes over the same arrays take twice as long for.
    """
    exponents = exponents.reshape(-1)
    total = total.reshape(-1)
    for i in range(len(total)):
        exponent = max(min(exponents[i], highest), FLOOR)
        doublings = (exponent * PER_DOUBLING + ROUNDING) - ROUNDING
        rest = exponent - doublings * HIGH - doublings * LOW
        curve = CURVE[0]
        for k in range(1, len(CURVE)):
            curve = curve * rest + CURVE[k]
        mantissa = curve * (rest * rest) + rest + np.float32(1.0)
        bits = (np.int32(doublings) + np.int32(127)) << np.int32(23)
        total[i] += mantissa * np.int32(bits).view(np.float32)
