"""Counts of concordant and discordant pairs, in O(n log n).

A Fenwick tree over the codes of y holds what has been seen while the rows go by in order of x.
"""

import numpy as np

from refless.loops.caching import loop


@loop(nogil=True)
def _add(tree, code, amount):
    place = code + 1
    while place < len(tree):
        tree[place] += amount
        place += place & -place


@loop(nogil=True)
def _below(tree, code):
    """The sum at codes smaller than `code`."""
    total = 0.0
    place = code
    while place > 0:
        total += tree[place]
        place -= place & -place
    return total


@loop(nogil=True)
def _preceding(weights, x, y, n_codes):
    """[n] weight of rows with smaller x and smaller y, minus those with smaller x and larger y.

    Rows are in order of x. Rows of weight 0 are passed over and get 0.
    """
    n = len(x)
    balance = np.zeros(n)
    at = np.zeros(n_codes)
    tree = np.zeros(n_codes + 1)
    seen = 0.0
    start = 0
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


@loop(nogil=True)
def balances(weights, x, y, n_codes):
    """[b] concordant minus discordant ordered pairs when row i stands weights[b, i] times.

    weights: [b, n] whole numbers; x, y: [n] codes, x in ascending order; n_codes: number of y's.
    """
    sums = np.zeros(len(weights))
    for line in range(len(weights)):
        balance = _preceding(weights[line], x, y, n_codes)
        for row in range(len(x)):
            sums[line] += 2.0 * weights[line, row] * balance[row]
    return sums
