"""Compiled counts of concordant and discordant pairs; import this module only where it is used.

Columns are settled, so that values tie that rounding alone sets apart.

A Fenwick tree over the codes of y holds what has been seen while the rows go by in order of x.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np

from refless.loops.caching import loop
from refless.registry.arrays import FloatArray, IntArray

P = ParamSpec("P")
T = TypeVar("T")


def _compiled(function: Callable[P, T]) -> Callable[P, T]:
    """The function compiled on first use, free of the interpreter's lock."""
    fast: Callable[P, T] = loop(nogil=True)(function)
    return fast


@_compiled
def _add(tree: FloatArray, code: int, amount: float) -> None:
    place = code + 1
    while place < len(tree):
        tree[place] += amount
        place += place & -place


@_compiled
def _below(tree: FloatArray, code: int) -> float:
    """What lies at codes smaller than `code`."""
    total, place = 0.0, code
    while place > 0:
        total += tree[place]
        place -= place & -place
    return total


@_compiled
def _preceding(weights: FloatArray, x: IntArray, y: IntArray, n_codes: int) -> FloatArray:
    """[n] weight of rows with smaller x and smaller y, minus those with smaller x and larger y.

    Rows are in order of x. Rows of weight 0 are passed over and get 0.
    """
    n = len(x)
    balance, at, tree = np.zeros(n), np.zeros(n_codes), np.zeros(n_codes + 1)
    seen, start = 0.0, 0
    while start < n:
        end = start
        while end < n and x[end] == x[start]:
            if weights[end] > 0:
                below = _below(tree, y[end])
                balance[end] = below - (seen - below - at[y[end]])
            end += 1
        for row in range(start, end):
            if weights[row] > 0:
                _add(tree, y[row], weights[row])
                at[y[row]] += weights[row]
                seen += weights[row]
        start = end
    return balance


@_compiled
def balances(weights: FloatArray, x: IntArray, y: IntArray, n_codes: int) -> FloatArray:
    """[b] concordant minus discordant ordered pairs when row i stands weights[b, i] times.

    Args:
        weights: [b, n] whole numbers, columns in the order of `sorted_codes`.
        x, y: [n] codes in that order; n_codes: number of y's codes.
    """
    sums = np.zeros(len(weights))
    for line in range(len(weights)):
        balance = _preceding(weights[line], x, y, n_codes)
        for row in range(len(x)):
            sums[line] += 2.0 * weights[line, row] * balance[row]
    return sums


def sorted_codes(x: FloatArray, y: FloatArray) -> tuple[IntArray, IntArray, IntArray, int]:
    """The order of x, the codes of x and y in that order, and the number of y's codes."""
    order = np.argsort(x, kind="stable")
    _, x_codes = np.unique(x, return_inverse=True)
    values, y_codes = np.unique(y, return_inverse=True)
    return order, x_codes[order], y_codes[order], len(values)
