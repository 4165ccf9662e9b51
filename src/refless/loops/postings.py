"""Loops that build postings: one block's counting sort, and the bits of common features."""

import numpy as np

from refless.loops.caching import loop


@loop(nogil=True)
def bits(ids, starts, order, common, words):
    bits = np.zeros((words, len(order)), dtype=np.uint32)
    if words == 0:
        return bits
    for k in range(len(starts)):
        for place in range(len(order)):
            for i in range(starts[k, order[place]], starts[k, order[place] + 1]):
                bit = common[ids[i]]
                if bit >= 0:
                    bits[bit >> 5, place] |= np.uint32(1) << np.uint32(bit & 31)
    return bits


@loop(nogil=True)
def block(ids, starts, rows, common, n_features):
    """One block's features, how many postings each has, and the postings (a counting sort)."""
    counts = np.zeros(n_features, dtype=np.int64)
    for k in range(len(starts)):
        for row in rows:
            for i in range(starts[k, row], starts[k, row + 1]):
                if common[ids[i]] < 0:
                    counts[ids[i]] += 1
    present = np.nonzero(counts)[0]
    kept = counts[present]
    after = np.cumsum(counts) - counts
    members = np.empty(kept.sum(), dtype=np.uint16)
    for k in range(len(starts)):
        for place in range(len(rows)):
            for i in range(starts[k, rows[place]], starts[k, rows[place] + 1]):
                if common[ids[i]] < 0:
                    members[after[ids[i]]] = place
                    after[ids[i]] += 1
    return present.astype(np.int32), kept, members
