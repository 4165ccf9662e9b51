"""One time of a gated recurrent unit, all of it but the products of matrices, and its gradient."""

import numba
import numpy as np
from numba.extending import overload

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


def _wide(x):
    """A number as 32 bits: those of 16 bits are bfloat16, the upper half of the 32."""


@overload(_wide, inline="always")
def _wide_of(x):
    if x == numba.types.uint16:
        return lambda x: np.uint32(np.uint32(x) << np.uint32(16)).view(np.float32)
    return lambda x: x


def _put(table, i, j, x):
    """Writes x, rounded to the nearest bfloat16, to the even one of two, if the table is narrow."""


@overload(_put, inline="always")
def _put_of(table, i, j, x):
    if table.dtype != numba.types.uint16:

        def put(table, i, j, x):
            table[i, j] = x

        return put

    def put_narrow(table, i, j, x):
        bits = np.float32(x).view(np.uint32)
        odd = (bits >> np.uint32(16)) & np.uint32(1)
        table[i, j] = np.uint16((bits + np.uint32(0x7FFF) + odd) >> np.uint32(16))

    return put_narrow


@numba.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def narrowed(table, out):
    """Writes a table [n, k] of finite numbers as bfloat16 into the first n rows of another."""
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            _put(out, i, j, table[i, j])


@numba.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def open_gates(begin, count, later, gates, share, biases, state, before, inner, fresh, opened):
    """One time of the unit, for the rows begin .. begin + count of the tables of all times.

    Tables are float32, or uint16 that hold bfloat16.

    Args:
        later: how many sequences go on at the next time, whose rows follow.
        gates: [n, 3h] the inputs' share in the gates reset, update, new; share: [b, 3h] the
            state's; biases: [4h] of reset, update and new, and the state's own in `new`.
        state: float32 [b, h]; the first `count` rows move on.
        before: [n, h] the state before; its rows of the next time are written.
        inner, fresh: [n, h], opened: [n, 2h]: written, for the gradient: the state's share in
            `new`, `new`, and both gates.
    """
    size = state.shape[1]
    for i in range(count):
        at = begin + i
        for j in range(size):
            x = _wide(gates[at, j]) + biases[j]
            reset = _sigmoid(x + _wide(share[i, j]))
            x = _wide(gates[at, size + j]) + biases[size + j]
            update = _sigmoid(x + _wide(share[i, size + j]))
            own = _wide(share[i, 2 * size + j]) + biases[3 * size + j]
            x = _wide(gates[at, 2 * size + j]) + biases[2 * size + j]
            new = _tanh(x + reset * own)
            inner[at, j], fresh[at, j] = own, new
            opened[at, j], opened[at, size + j] = reset, update
            state[i, j] = new + update * (state[i, j] - new)
    for i in range(later):
        for j in range(size):
            _put(before, begin + count + i, j, state[i, j])


@numba.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def close_gates(
    begin, count, later, carried, pulled, before, inner, fresh, opened, factors, slopes, biases
):
    """The gradient of one time, backwards, for rows as in `open_gates`.

    Args:
        later: how many sequences went on at the next time; `pulled` has their gradient.
        carried: float32 [b, h] gradient of the state after, less what has flowed through the gates
            of the next time: [b, h] `pulled`. Becomes the same of the state before.
        before, inner, fresh, opened: as `open_gates` wrote them.
        factors: [n, 3h] written: gradients of the state's share in the gates.
        slopes: [n, h] written: gradient of the inputs' share in `new`; those in the other two
            gates are the state's.
        biases: float32 [4h] sums over rows of the gradients, in the order of `open_gates`; grow.
    """
    size = carried.shape[1]
    for i in range(later):
        for j in range(size):
            carried[i, j] += _wide(pulled[i, j])
    for i in range(count):
        at = begin + i
        for j in range(size):
            reset, update, new = opened[at, j], opened[at, size + j], fresh[at, j]
            pull = carried[i, j]
            slope = pull * (ONE - update) * (ONE - new * new)
            to_reset = slope * inner[at, j] * reset * (ONE - reset)
            to_update = pull * (_wide(before[at, j]) - new) * update * (ONE - update)
            _put(factors, at, j, to_reset)
            _put(factors, at, size + j, to_update)
            _put(factors, at, 2 * size + j, slope * reset)
            _put(slopes, at, j, slope)
            biases[j] += to_reset
            biases[size + j] += to_update
            biases[2 * size + j] += slope
            biases[3 * size + j] += slope * reset
            carried[i, j] = pull * update
