"""The hot loop: match counts of one output with a block of rated texts, and what becomes of them.

Arrays travel in two tuples, so that the loops cannot differ in their order:

* outputs: ids, weights, starts, lengths;
* block: low, lengths of the rated texts, slots, feature_starts, members.
"""

import numpy as np

from refless.loops.caching import loop

SLACK = 1e-12  # a similarity this close to tau counts as in


@loop(nogil=True)
def similarity(product, grams, beta, orders):
    """BLEU* from the product of match counts and the product of the output's n-gram counts."""
    if product <= 0.0:
        return 0.0
    return beta * (product / grams) ** (1.0 / orders)


@loop(nogil=True)
def _grams(length, low, orders):
    """Product over the orders of the number of n-grams in a text of that length."""
    product = 1.0
    for order in range(low, low + orders):
        product *= max(0, length - order + 1)
    return product


@loop(nogil=True)
def _beta(rated, output):
    """Brevity penalty of an output against a rated text, from their lengths."""
    if output == 0:
        return 0.0
    return np.exp(min(0.0, 1.0 - rated / output))


@loop(nogil=True)
def _count(outputs, block, text, k, counts):
    """Fills counts[rated texts] with the matches of the k-th order."""
    ids, weights, starts, _ = outputs
    _, _, slots, feature_starts, members = block
    counts[:] = 0
    for i in range(starts[k, text], starts[k, text + 1]):
        slot = slots[ids[i]]
        if slot >= 0:
            increment = np.uint32(weights[i] if len(weights) else 1)
            for j in range(feature_starts[slot], feature_starts[slot + 1]):
                counts[members[j]] += increment


@loop(nogil=True)
def _too_short(outputs, block, text):
    return outputs[3][text] < block[0] + len(outputs[2]) - 1


@loop(nogil=True)
def _row(outputs, block, text, row):
    """Fills row[rated texts] with the similarities of one output."""
    low, rated, orders, length = block[0], block[1], len(outputs[2]), outputs[3][text]
    counts = np.empty(len(rated), dtype=np.uint32)
    row[:] = 1.0
    for k in range(orders):
        _count(outputs, block, text, k, counts)
        for i in range(len(row)):
            row[i] *= counts[i]
    grams = _grams(length, low, orders)
    last = -1
    beta = 1.0
    for i in range(len(rated)):
        if rated[i] != last:
            last = rated[i]
            beta = _beta(last, length)
        row[i] = similarity(row[i], grams, beta, orders)


@loop(nogil=True)
def _cosine_row(outputs, block, text, row):
    """Fills row[rated texts] with the mean over orders of the cosines of one output."""
    low, rated, orders, length = block[0], block[1], len(outputs[2]), outputs[3][text]
    row[:] = 0.0
    counts = np.empty(len(row), dtype=np.uint32)
    for k in range(orders):
        _count(outputs, block, text, k, counts)
        missing = low + k - 1  # a text has so many n-grams less than tokens
        mine = length - missing
        last = -1
        scale = 0.0
        for i in range(len(row)):
            if rated[i] != last:
                last = rated[i]
                enough = last >= low + orders - 1
                both = np.float64(mine * (last - missing))  # exact, so the same both ways
                scale = 1.0 / (orders * np.sqrt(both)) if enough else 0.0
            row[i] += scale * counts[i]


@loop(nogil=True)
def similarities_loop(outputs, block, first, last, cosine, rows, out):
    """Fills out[outputs from `first` on, rows] with the similarities, or cosines, of the block."""
    row = np.empty(len(block[1]))
    for text in range(first, last):
        if _too_short(outputs, block, text):
            continue
        if cosine:
            _cosine_row(outputs, block, text, row)
        else:
            _row(outputs, block, text, row)
        for i in range(len(row)):
            out[text - first, rows[i]] = row[i]
