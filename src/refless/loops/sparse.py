"""Products of sparse rows, and rows made of lists of numbers."""

import numpy as np

from refless.loops.caching import loop


@loop(nogil=True)
def products(starts, columns, values, held_starts, held_rows, held_values, out):
    """Adds to out[texts, anchors] the products of texts, by row, with anchors, by column."""
    for i in range(len(starts) - 1):
        for j in range(starts[i], starts[i + 1]):
            value, column = values[j], columns[j]
            for k in range(held_starts[column], held_starts[column + 1]):
                out[i, held_rows[k]] += value * held_values[k]


@loop(nogil=True)
def counted(ids, starts, times, size):
    """Each row's different ids, all below a size, by first place: ids, starts, how often each.

    `times` says how often an id stands for itself where it stands; empty: once.
    """
    row_of, place = np.full(size, -1, dtype=np.int64), np.empty(size, dtype=np.int64)
    found, counts = np.empty_like(ids), np.empty_like(ids)
    ends, n = np.zeros_like(starts), 0
    for row in range(len(starts) - 1):
        for j in range(starts[row], starts[row + 1]):
            one = ids[j]
            if row_of[one] != row:
                row_of[one], place[one] = row, n
                found[n], counts[n] = one, 0
                n += 1
            counts[place[one]] += times[j] if len(times) else 1
        ends[row + 1] = n
    return found[:n], ends, counts[:n]
