"""Exponentials of many numbers in single precision, in one pass."""

import numpy as np

from refless.loops.caching import loop

FLOOR = np.float32(-87.0)  # below it nothing is left
PER_DOUBLING = np.float32(1.44269504)  # 1 / log 2
# 1.5 * 2**23 + 127: a number added to it loses its fraction, and what is whole of it ends up in the
# last bits, as the exponent of a power of two has it
SHIFT = np.float32(12583039.0)
# 2**r up to |r| = 1/2: Moshier (Cephes, exp2f.c)
POWER = np.array(
    [
        1.535336188319500e-4,
        1.339887440266574e-3,
        9.618437357674640e-3,
        5.550332471162809e-2,
        2.402264791363012e-1,
        6.931472028550421e-1,
        1.0,
    ],
    np.float32,
)


@loop(nogil=True)
def bells_loop(exponents, highest, total):
    """Adds exp(exponent), each at most exp(highest), to the total in its place.

    All are of single precision, up to 0, and right to 1e-7. numba makes one vector loop of it,
    which NumPy's four passes over the same arrays take twice as long for.
    """
    exponents = exponents.reshape(-1)
    total = total.reshape(-1)
    for i in range(len(total)):
        doublings = max(min(exponents[i], highest), FLOOR) * PER_DOUBLING
        shifted = np.float32(doublings + SHIFT)
        rest = doublings - (shifted - SHIFT)
        power = POWER[0]
        for k in range(1, len(POWER)):
            power = power * rest + POWER[k]
        scale = np.int32(shifted.view(np.int32) << 23)
        total[i] += power * scale.view(np.float32)
