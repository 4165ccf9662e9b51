"""The hot loop: match counts of one output with a block of rated texts, and what becomes of them.

Arrays travel in three tuples, so that the loops cannot differ in their order:

* outputs: ids, weights, starts, lengths;
* block: low, lengths of the rated texts, slots, feature_starts, members, common, bits, words;
* held: group, starts, place.
"""

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from refless.loops.caching import loop

SLACK = 1e-12  # a similarity this close to tau counts as in
PACKED_ORDERS = 3
PACKED_MOST = 1023


@intrinsic
def _ones(typing_context, word):
    """Number of ones in a 32-bit word."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint32(types.uint32), generate


@loop(nogil=True)
def similarity(product, grams, beta, orders):
    """BLEU* from the product of match counts and the product of the output's n-gram counts."""
    if product <= 0.0:
        return 0.0
    return beta * (product / grams) ** (1.0 / orders)


@loop(nogil=True)
def needed(tau, grams, beta, orders):
    """The smallest product of match counts whose similarity is at least tau (less the slack)."""
    reach = tau - SLACK
    if reach <= 0.0:
        return 0.0
    if beta <= 0.0:
        return np.inf
    product = max(1.0, np.floor((reach / beta) ** orders * grams * (1.0 - 1e-13)) - 1.0)
    while product < 4503599627370496.0 and similarity(product, grams, beta, orders) < reach:
        product += 1.0
    return product


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
def _needs(lengths, output, low, orders, tau, limit, need):
    """Fills need[rated texts], given their ascending lengths."""
    grams = _grams(output, low, orders)
    last = -1
    value = 0.0
    for i in range(len(lengths)):
        if lengths[i] != last:
            if last < 0 or lengths[i] > output:
                value = min(needed(tau, grams, _beta(lengths[i], output), orders), limit)
            last = lengths[i]
        need[i] = value


@loop(nogil=True)
def _meet(outputs, block, text, k, mask, counters, shift):
    """Adds the k-th order's rarer matches to counters[rated texts], so many bits to the left.

    Features that are common are only marked in the mask.
    """
    ids, weights, starts, _ = outputs
    _, _, slots, feature_starts, members, common, _, _ = block
    for i in range(starts[k, text], starts[k, text + 1]):
        bit = common[ids[i]]
        if bit >= 0:
            mask[bit >> 5] |= np.uint32(1) << np.uint32(bit & 31)
            continue
        slot = slots[ids[i]]
        if slot >= 0:
            increment = np.uint32(weights[i] if len(weights) else 1) << shift
            for j in range(feature_starts[slot], feature_starts[slot + 1]):
                counters[members[j]] += increment


@loop(nogil=True)
def _count_packed(outputs, block, text, products):
    """Counts matches of three orders in 10 bits each, and multiplies them."""
    bits, words = block[6], block[7]
    counters = np.zeros(len(products), dtype=np.uint32)
    mask = np.zeros(len(bits), dtype=np.uint32)
    for k in range(PACKED_ORDERS):
        _meet(outputs, block, text, k, mask, counters, np.uint32(10 * k))
    for k in range(PACKED_ORDERS):
        shift = np.uint32(10 * k)
        for w in range(words[k], words[k + 1]):
            wanted = mask[w]
            if wanted != 0:
                row = bits[w]
                for i in range(len(counters)):
                    counters[i] += _ones(row[i] & wanted) << shift
    _unpack(counters, products)


@loop(nogil=True)
def _unpack(counters, products):
    low = np.uint32(PACKED_MOST)
    for i in range(len(counters)):
        c = counters[i]
        products[i] = (c & low) * ((c >> np.uint32(10)) & low) * (c >> np.uint32(20))


@loop(nogil=True)
def _count(outputs, block, text, k, mask, counts):
    """Fills counts[rated texts] with the matches of the k-th order; the mask keeps what it held."""
    bits, words = block[6], block[7]
    counts[:] = 0
    _meet(outputs, block, text, k, mask, counts, np.uint32(0))
    for w in range(words[k], words[k + 1]):
        for i in range(len(counts)):
            counts[i] += _ones(bits[w, i] & mask[w])


@loop(nogil=True)
def _count_wide(outputs, block, text, products):
    """Counts matches order by order and multiplies as it goes."""
    products[:] = 1.0
    counts = np.empty(len(products), dtype=np.uint32)
    mask = np.zeros(len(block[6]), dtype=np.uint32)
    for k in range(len(outputs[2])):
        _count(outputs, block, text, k, mask, counts)
        for i in range(len(products)):
            products[i] *= counts[i]


@loop(nogil=True)
def _fits(outputs, block, text):
    """Whether packed counters can hold the matches of an output with this block."""
    _, weights, starts, lengths = outputs
    most = lengths[text] if len(weights) else min(lengths[text], block[1][-1])
    return len(starts) == PACKED_ORDERS and most <= PACKED_MOST


@loop(nogil=True)
def _too_short(outputs, block, text):
    return outputs[3][text] < block[0] + len(outputs[2]) - 1


@loop(nogil=True)
def _add_hits(products, need, values, begin, hidden, t, text, counts, sums):
    """Adds the texts that reach their need, and takes the hidden ones away again."""
    count = np.int64(0)
    total = np.int64(0)
    for i in range(len(products)):
        hit = products[i] >= need[i]
        count += hit
        total += values[i] * hit
    for place in hidden:
        i = place - begin
        if 0 <= i < len(products) and products[i] >= need[i]:
            count -= 1
            total -= values[i]
    counts[text, t] += count
    sums[text, t] += total


@loop(nogil=True)
def _hidden(held, text):
    group, starts, place = held
    if group[text] < 0:
        return place[:0]
    return place[starts[group[text]] : starts[group[text] + 1]]


@loop(nogil=True)
def sums_loop(outputs, block, first, last, held, begin, taus, values, counts, sums):
    """Adds to counts and sums [outputs, taus] what reaches tau in the block that starts there.

    `values` has a row for each tau, or one for all.
    """
    low, rated, orders, lengths = block[0], block[1], len(outputs[2]), outputs[3]
    packed = np.empty(len(rated), dtype=np.uint32)
    packed_need = np.empty(len(rated), dtype=np.uint32)
    wide = np.empty(len(rated))
    wide_need = np.empty(len(rated))
    for text in range(first, last):
        if _too_short(outputs, block, text):
            continue
        hidden = _hidden(held, text)
        fits = _fits(outputs, block, text)
        if fits:
            _count_packed(outputs, block, text, packed)
        else:
            _count_wide(outputs, block, text, wide)
        for t in range(len(taus)):
            own = values[min(t, len(values) - 1)]
            if fits:
                _needs(rated, lengths[text], low, orders, taus[t], 4294967295.0, packed_need)
                _add_hits(packed, packed_need, own, begin, hidden, t, text, counts, sums)
            else:
                _needs(rated, lengths[text], low, orders, taus[t], np.inf, wide_need)
                _add_hits(wide, wide_need, own, begin, hidden, t, text, counts, sums)


@loop(nogil=True)
def _row(outputs, block, text, row):
    """Fills row[rated texts] with the similarities of one output."""
    low, rated, orders, length = block[0], block[1], len(outputs[2]), outputs[3][text]
    if _fits(outputs, block, text):
        packed = np.empty(len(rated), dtype=np.uint32)
        _count_packed(outputs, block, text, packed)
        row[:] = packed
    else:
        _count_wide(outputs, block, text, row)
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
    mask = np.zeros(len(block[6]), dtype=np.uint32)
    for k in range(orders):
        _count(outputs, block, text, k, mask, counts)
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
def add_weighted(row, values, tau, power, text, counts, totals, sums):
    """Adds the neighbours of one output with weights similarity**power; 0 does not count."""
    for i in range(len(row)):
        weight = row[i] ** power if row[i] > 0.0 else 0.0
        if row[i] >= tau - SLACK and weight > 0.0:
            counts[text] += 1
            totals[text] += weight
            sums[text] += weight * values[i]


@loop(nogil=True)
def weighted_loop(
    outputs, block, first, last, held, begin, tau, power, values, counts, totals, sums
):
    """The same as `sums_loop` for one tau, with weights similarity**power."""
    row = np.empty(len(block[1]))
    for text in range(first, last):
        if _too_short(outputs, block, text):
            continue
        _row(outputs, block, text, row)
        for hidden in _hidden(held, text):
            if 0 <= hidden - begin < len(row):
                row[hidden - begin] = -1.0
        add_weighted(row, values, tau, power, text, counts, totals, sums)


@loop(nogil=True)
def similarities_loop(outputs, block, first, last, cosine, rows, out):
    """Fills out[outputs, rows] with the similarities, or cosines, of the block."""
    row = np.empty(len(block[1]))
    for text in range(first, last):
        if _too_short(outputs, block, text):
            continue
        if cosine:
            _cosine_row(outputs, block, text, row)
        else:
            _row(outputs, block, text, row)
        for i in range(len(row)):
            out[text, rows[i]] = row[i]
