"""CIDEr's sums over the n-grams that an output shares with a reference."""

import numpy as np

from refless.loops.caching import loop


@loop(nogil=True)
def norms_loop(ids, counts, starts, idf):
    """[texts] Euclidean norm of each text's tf-idf vector, for one order."""
    norms = np.zeros(len(starts) - 1)
    for text in range(len(norms)):
        for k in range(starts[text], starts[text + 1]):
            norms[text] += (counts[k] * idf[ids[k]]) ** 2
    return np.sqrt(norms)


@loop(nogil=True)
def frequencies_loop(ids, starts, of, first, features):
    """[features] number of items with the feature in a reference.

    Item i's references are the texts `of[first[i]:first[i + 1]]`.
    """
    frequencies = np.zeros(features, dtype=np.int64)
    last_item = np.full(features, -1, dtype=np.int64)
    for item in range(len(first) - 1):
        for place in range(first[item], first[item + 1]):
            text = of[place]
            for k in range(starts[text], starts[text + 1]):
                if last_item[ids[k]] != item:
                    last_item[ids[k]] = item
                    frequencies[ids[k]] += 1
    return frequencies


@loop(nogil=True)
def dots_loop(ids, counts, starts, idf, outputs, of, first, dots):
    """[references] dot product of each reference with its output, for one order.

    An output's n-gram weighs at most as much as in the reference.
    """
    weights = np.zeros(len(idf))
    for item in range(len(outputs)):
        text = outputs[item]
        for k in range(starts[text], starts[text + 1]):
            weights[ids[k]] = counts[k] * idf[ids[k]]
        for place in range(first[item], first[item + 1]):
            total = 0.0
            for k in range(starts[of[place]], starts[of[place] + 1]):
                theirs = counts[k] * idf[ids[k]]
                total += min(weights[ids[k]], theirs) * theirs
            dots[place] = total
        for k in range(starts[text], starts[text + 1]):
            weights[ids[k]] = 0.0
