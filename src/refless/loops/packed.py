"""Loops over packed columns of strings: UTF-8 bytes and where each string begins.

Bytes of UTF-8 sort as the characters do, so rows are compared without being decoded. A table is two
tuples of arrays, the columns' bytes and their starts.
"""

import numpy as np

from refless.loops.caching import loop


@loop(nogil=True)
def hashes(raw, starts, found):
    """Goes on with found[rows], 64-bit hashes (FNV-1a, mixed), by one more column."""
    prime = np.uint64(0x100000001B3)
    for row in range(len(found)):
        value = (found[row] ^ np.uint64(0xCBF29CE484222325)) * prime
        for i in range(starts[row], starts[row + 1]):
            value = (value ^ np.uint64(raw[i])) * prime
        value ^= value >> np.uint64(32)
        value *= np.uint64(0xD6E8FEB86659FD93)
        found[row] = value ^ (value >> np.uint64(32))


@loop(nogil=True)
def _compared(raws, starts, row, others, begins, other):
    """Below, at or above 0: how one row stands to one of another table."""
    for c in range(len(raws)):
        a, b = starts[c][row], begins[c][other]
        mine, theirs = starts[c][row + 1] - a, begins[c][other + 1] - b
        for i in range(min(mine, theirs)):
            if raws[c][a + i] != others[c][b + i]:
                return np.int64(raws[c][a + i]) - np.int64(others[c][b + i])
        if mine != theirs:
            return mine - theirs
    return np.int64(0)


@loop(nogil=True)
def merge(raws, starts, others, begins, rows):
    """One sorted table and some sorted rows of another in one order, and which rows are in both.

    Rows of the other table are counted on from the first one's; equal ones follow the first's.
    """
    n, m = len(starts[0]) - 1, len(rows)
    order, tied = np.empty(n + m, dtype=np.int64), np.zeros(n + m, dtype=np.bool_)
    i = j = 0
    for k in range(n + m):
        sign = np.int64(-1) if j == m else np.int64(1)
        if i < n and j < m:
            sign = _compared(raws, starts, i, others, begins, rows[j])
        if i < n and sign <= 0:
            order[k] = i
            tied[k] = sign == 0 and j < m
            i += 1
            continue
        order[k] = n + rows[j]
        if k > 0 and tied[k - 1]:
            last = rows[max(j - 1, 0)]
            same = order[k - 1] < n or _compared(others, begins, last, others, begins, rows[j]) == 0
            tied[k] = same
        j += 1
    return order, tied


@loop(nogil=True)
def gather(raw, starts, other, begins, order, ends, out):
    """Fills out with the strings of both columns in that order; string k ends at ends[k]."""
    n, end = len(starts) - 1, np.int64(0)
    for k in range(len(order)):
        row = order[k]
        if row < n:
            out[end : ends[k]] = raw[starts[row] : starts[row + 1]]
        else:
            out[end : ends[k]] = other[begins[row - n] : begins[row - n + 1]]
        end = ends[k]
