"""One time of a gated recurrent unit, all of it but the products of matrices, and its gradient."""

import numba
import numpy as np

REACH = np.float32(9.0)  # tanh is 1 beyond, to the last bit but one
HALF, ONE = np.float32(0.5), np.float32(1.0)


def _lambert(depth):
    """Coefficients of x^0, x^2, ... of both parts of a fraction p(x^2) x / q(x^2) near tanh x.

    Lambert: tanh x = x / (1 + x^2 / (3 + x^2 / (5 + ...))), cut after `depth` parts. All
    coefficients are positive, so nothing cancels.
    """
    over, under = np.poly1d([1]), np.poly1d([2 * depth - 1])
    for odd in range(2 * depth - 3, 0, -2):
        over, under = under, odd * under + over * np.poly1d([1, 0])
    unit = under.c[-1]
    return tuple(tuple(np.float32(c / unit) for c in part.c) for part in (over, under))


OVER, UNDER = _lambert(13)


@numba.njit(cache=True, nogil=True, fastmath=True, error_model="numpy", inline="always")
def _tanh(x):
    """The hyperbolic tangent to 3e-7, in numbers of 32 bits; compilers can do many at once."""
    x = min(max(x, -REACH), REACH)
    square = x * x
    over, under = OVER[0], UNDER[0]
    for i in range(1, len(OVER)):
        over = over * square + OVER[i]
    for i in range(1, len(UNDER)):
        under = under * square + UNDER[i]
    return x * over / under


@numba.njit(cache=True, nogil=True, fastmath=True, error_model="numpy", inline="always")
def _sigmoid(x):
    return HALF * _tanh(HALF * x) + HALF


@numba.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def open_gates(gates, share, bias, state, before, inner, fresh, opened):
    """One time of the unit; the first n rows of `state` move on.

    Args:
        gates: [n, 3h] the inputs' share in the gates reset, update, new, biases of the first two
            included; share: [n, 3h] the state's; bias: [h] the state's own in `new`.
        state: [b, h].
        before, inner, fresh: [n, h], opened: [n, 2h]: written, for the gradient: the state before,
            the state's share in `new`, `new`, and both gates.
    """
    count, size = before.shape
    for i in range(count):
        for j in range(size):
            reset = _sigmoid(gates[i, j] + share[i, j])
            update = _sigmoid(gates[i, size + j] + share[i, size + j])
            own = share[i, 2 * size + j] + bias[j]
            new = _tanh(gates[i, 2 * size + j] + reset * own)
            old = state[i, j]
            before[i, j], inner[i, j], fresh[i, j] = old, own, new
            opened[i, j], opened[i, size + j] = reset, update
            state[i, j] = new + update * (old - new)


@numba.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def close_gates(carried, before, inner, fresh, opened, factors, slopes):
    """The gradient of one time, backwards.

    Args:
        carried: [b, h] gradient of the state after; its first n rows become that of the state
            before, less what flows through the gates.
        before, inner, fresh, opened: as `open_gates` wrote them.
        factors: [n, 3h] written: gradients of the state's share in the gates.
        slopes: [n, h] written: gradient of the inputs' share in `new`; those in the other two
            gates are the state's.
    """
    count, size = before.shape
    for i in range(count):
        for j in range(size):
            reset, update, new = opened[i, j], opened[i, size + j], fresh[i, j]
            pull = carried[i, j]
            slope = pull * (ONE - update) * (ONE - new * new)
            factors[i, j] = slope * inner[i, j] * reset * (ONE - reset)
            factors[i, size + j] = pull * (before[i, j] - new) * update * (ONE - update)
            factors[i, 2 * size + j] = slope * reset
            slopes[i, j] = slope
            carried[i, j] = pull * update
