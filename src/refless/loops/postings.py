"""The loop that builds postings: a counting sort of one block."""

import numpy as np

from refless.loops.caching import loop


@loop(nogil=True)
def block(ids, starts, rows, n_features):
    """One block's features, how many postings each has, and the postings."""
    counts = np.zeros(n_features, dtype=np.int64)
    for k in range(len(starts)):
        for row in rows:
            for i in range(starts[k, row], starts[k, row + 1]):
                counts[ids[i]] += 1
    present = np.nonzero(counts)[0]
    kept = counts[present]
    after = np.cumsum(counts) - counts
    members = np.empty(kept.sum(), dtype=np.uint16)
    for k in range(len(starts)):
        for place in range(len(rows)):
            for i in range(starts[k, rows[place]], starts[k, rows[place] + 1]):
                members[after[ids[i]]] = place
                after[ids[i]] += 1
    return present.astype(np.int32), kept, members
