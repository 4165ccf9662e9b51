"""Clipped and weighted matches of outputs with several references each, for one n-gram order."""

import numpy as np

from refless.loops.caching import loop


@loop(nogil=True)
def matches(ids, counts, starts, outputs, references, begins, weights, size, by_code):
    """[outputs] sum over an output's distinct n-grams of its best weighted match.

    Text i has the n-grams ids[starts[i]:starts[i + 1]], each once, with their counts. outputs and
    references [all references] are places of texts; references begins[i]:begins[i + 1] and their
    weights belong to output i; size: number of ids.

    An n-gram's match is the highest weight * clipped count over the references that hold it;
    by_code it is the highest weight among them times the count clipped by their highest count.
    Between two outputs the counters `mine` and `most` are all zero.
    """
    totals = np.zeros(len(outputs), dtype=np.float64)
    mine = np.zeros(size, dtype=np.int64)  # counts in the output
    most = np.zeros(size, dtype=np.int64)  # the highest count in a reference
    best = np.zeros(size, dtype=np.float64)
    for i in range(len(outputs)):
        first = starts[outputs[i]]
        last = starts[outputs[i] + 1]
        for k in range(first, last):
            mine[ids[k]] = counts[k]
        for j in range(begins[i], begins[i + 1]):
            for k in range(starts[references[j]], starts[references[j] + 1]):
                gram = ids[k]
                if mine[gram] > 0:
                    value = (
                        weights[j]
                        if by_code
                        else weights[j] * min(mine[gram], counts[k])
                    )
                    best[gram] = value if most[gram] == 0 else max(best[gram], value)
                    most[gram] = max(most[gram], counts[k])
        for k in range(first, last):
            gram = ids[k]
            if most[gram] > 0:
                totals[i] += best[gram] * (
                    min(mine[gram], most[gram]) if by_code else 1
                )
            mine[gram] = 0
            most[gram] = 0
    return totals
