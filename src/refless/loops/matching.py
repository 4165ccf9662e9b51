"""The hot loop: match counts of one output with a block of rated texts, and what becomes of them.

Two ways of counting, chosen for each output and block by what the counters can hold:

* packed: three counters of 10 bits in one 32-bit word, so that one addition counts a match of any
  order;
* wide: a 32-bit counter for each order, for texts whose counts could pass 1,023, and for any other
  number of orders.

Arrays travel in tuples, so that the loops cannot differ in their order:

* outputs: ids, weights, starts, lengths;
* postings: as `Postings.arrays` gives them;
* exclusions: group, starts, places.

A cursor for each feature of each output says which of its blocks comes next: blocks are visited in
ascending order.
"""

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from refless.loops.caching import loop

SLACK = 1e-12  # a similarity this close to tau counts as in
PACKED_ORDERS = 3
PACKED_MOST = 1023
LARGEST = 4503599627370496.0  # whole numbers below it are exact


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
def _needed(tau, grams, beta, orders):
    """The smallest product of match counts whose similarity is at least tau (less the slack).

    Similarity rises with the product, so comparing products is exact, and no root is taken.
    """
    reach = tau - SLACK
    if reach <= 0.0:
        return 0.0
    if beta <= 0.0:
        return np.inf
    product = max(1.0, np.floor((reach / beta) ** orders * grams * (1.0 - 1e-13)) - 1.0)
    while product < LARGEST and similarity(product, grams, beta, orders) < reach:
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
def _fill_needs(lengths, output, low, orders, tau, limit, needs):
    """Fills needs[rated texts] with the products that reach tau, given ascending lengths."""
    grams = _grams(output, low, orders)
    last = -1
    need = 0.0
    for i in range(len(lengths)):
        if lengths[i] != last:
            if last < 0 or lengths[i] > output:
                need = min(
                    _needed(tau, grams, _beta(lengths[i], output), orders), limit
                )
            last = lengths[i]
        needs[i] = need


@loop(nogil=True)
def _cursors(outputs, postings, first, last):
    """The first entry of each feature of some outputs, order by order, and where orders begin."""
    ids, _, starts, _ = outputs
    entry_starts = postings[2]
    orders = np.zeros(len(starts) + 1, dtype=np.int64)
    for k in range(len(starts)):
        orders[k + 1] = orders[k] + starts[k, last] - starts[k, first]
    cursors = np.empty(orders[-1], dtype=np.int64)
    for k in range(len(starts)):
        begin = starts[k, first]
        for i in range(begin, starts[k, last]):
            cursors[orders[k] + i - begin] = entry_starts[ids[i]]
    return cursors, orders[:-1] - starts[:, first]


@loop(nogil=True)
def _meet(outputs, postings, cursors, number, text, k, mask, counters, shift):
    """Adds the k-th order's rarer matches to counters[rated texts], so many bits to the left.

    Features that are common are only marked in the mask.
    """
    ids, weights, starts, _ = outputs
    _, _, entry_starts, entry_blocks, member_starts, members, common, _, _ = postings
    entries, places = cursors
    for i in range(starts[k, text], starts[k, text + 1]):
        bit = common[ids[i]]
        if bit >= 0:
            mask[bit >> 5] |= np.uint32(1) << np.uint32(bit & 31)
            continue
        place = places[k] + i
        entry = entries[place]
        if entry < entry_starts[ids[i] + 1] and entry_blocks[entry] == number:
            entries[place] += 1
            increment = np.uint32(weights[i] if len(weights) else 1) << shift
            for j in range(member_starts[entry], member_starts[entry + 1]):
                counters[members[j]] += increment


@loop(nogil=True)
def _count_packed(outputs, postings, cursors, number, text, bits, products):
    """Counts matches of three orders in 10 bits each, and multiplies them."""
    words = postings[8]
    counters = np.zeros(len(products), dtype=np.uint32)
    mask = np.zeros(len(bits), dtype=np.uint32)
    for k in range(PACKED_ORDERS):
        _meet(
            outputs,
            postings,
            cursors,
            number,
            text,
            k,
            mask,
            counters,
            np.uint32(10 * k),
        )
    for k in range(PACKED_ORDERS):
        shift = np.uint32(10 * k)
        for w in range(words[k], words[k + 1]):
            wanted = mask[w]
            if wanted != 0:
                row = bits[w]
                for i in range(len(counters)):
                    counters[i] += _ones(row[i] & wanted) << shift
    most = np.uint32(PACKED_MOST)
    for i in range(len(counters)):
        c = counters[i]
        products[i] = (c & most) * ((c >> np.uint32(10)) & most) * (c >> np.uint32(20))


@loop(nogil=True)
def _count(outputs, postings, cursors, number, text, k, bits, mask, counts):
    """Fills counts[rated texts] with the matches of the k-th order."""
    words = postings[8]
    counts[:] = 0
    _meet(outputs, postings, cursors, number, text, k, mask, counts, np.uint32(0))
    for w in range(words[k], words[k + 1]):
        for i in range(len(counts)):
            counts[i] += _ones(bits[w, i] & mask[w])


@loop(nogil=True)
def _count_wide(outputs, postings, cursors, number, text, bits, products):
    """Counts matches order by order and multiplies as it goes."""
    products[:] = 1.0
    counts = np.empty(len(products), dtype=np.uint32)
    mask = np.zeros(len(bits), dtype=np.uint32)
    for k in range(len(outputs[2])):
        _count(outputs, postings, cursors, number, text, k, bits, mask, counts)
        for i in range(len(products)):
            products[i] *= counts[i]


@loop(nogil=True)
def _fits(outputs, rated, text):
    """Whether packed counters can hold the matches of an output with texts of these lengths."""
    _, weights, starts, lengths = outputs
    most = lengths[text] if len(weights) else min(lengths[text], rated[-1])
    return len(starts) == PACKED_ORDERS and most <= PACKED_MOST


@loop(nogil=True)
def _too_short(outputs, postings, text):
    return outputs[3][text] < postings[0] + len(outputs[2]) - 1


@loop(nogil=True)
def _add_hits(products, needs, values, begin, hidden, text, counts, sums):
    """Adds the texts that reach their need, and takes the hidden ones away again."""
    count = np.int64(0)
    total = np.int64(0)
    for i in range(len(products)):
        hit = products[i] >= needs[i]
        count += hit
        total += values[i] * hit
    for place in hidden:
        i = place - begin
        if 0 <= i < len(products) and products[i] >= needs[i]:
            count -= 1
            total -= values[i]
    counts[text] += count
    sums[text] += total


@loop(nogil=True)
def _hidden(exclusions, text):
    group, starts, places = exclusions
    if group[text] < 0:
        return places[:0]
    return places[starts[group[text]] : starts[group[text] + 1]]


@loop(nogil=True)
def sums_loop(
    outputs, postings, block, first, last, exclusions, tau, values, counts, sums
):
    """Adds to counts and sums [outputs] the rated texts that reach tau, and their values."""
    low = postings[0]
    rated = postings[1]
    orders = len(outputs[2])
    lengths = outputs[3]
    cursors = _cursors(outputs, postings, first, last)
    for number in range(-(-len(rated) // block)):
        begin = number * block
        end = min(begin + block, len(rated))
        block_lengths = rated[begin:end]
        block_values = values[begin:end]
        bits = postings[7][number]
        packed = np.empty(end - begin, dtype=np.uint32)
        packed_needs = np.empty(end - begin, dtype=np.uint32)
        wide = np.empty(end - begin)
        wide_needs = np.empty(end - begin)
        for text in range(first, last):
            if _too_short(outputs, postings, text):
                continue
            hidden = _hidden(exclusions, text)
            if _fits(outputs, block_lengths, text):
                _count_packed(outputs, postings, cursors, number, text, bits, packed)
                _fill_needs(
                    block_lengths,
                    lengths[text],
                    low,
                    orders,
                    tau,
                    4294967295.0,
                    packed_needs,
                )
                _add_hits(
                    packed,
                    packed_needs,
                    block_values,
                    begin,
                    hidden,
                    text,
                    counts,
                    sums,
                )
            else:
                _count_wide(outputs, postings, cursors, number, text, bits, wide)
                _fill_needs(
                    block_lengths, lengths[text], low, orders, tau, np.inf, wide_needs
                )
                _add_hits(
                    wide, wide_needs, block_values, begin, hidden, text, counts, sums
                )


@loop(nogil=True)
def _row(outputs, postings, cursors, number, text, block_lengths, bits, row):
    """Fills row[rated texts of the block] with the similarities of one output."""
    low = postings[0]
    orders = len(outputs[2])
    length = outputs[3][text]
    if _fits(outputs, block_lengths, text):
        packed = np.empty(len(row), dtype=np.uint32)
        _count_packed(outputs, postings, cursors, number, text, bits, packed)
        row[:] = packed
    else:
        _count_wide(outputs, postings, cursors, number, text, bits, row)
    grams = _grams(length, low, orders)
    last = -1
    beta = 1.0
    for i in range(len(row)):
        if block_lengths[i] != last:
            last = block_lengths[i]
            beta = _beta(last, length)
        row[i] = similarity(row[i], grams, beta, orders)


@loop(nogil=True)
def similarities_loop(outputs, postings, block, first, last, rows, out):
    """Fills out[outputs from `first` on, rows] with the similarities."""
    rated = postings[1]
    cursors = _cursors(outputs, postings, first, last)
    for number in range(-(-len(rated) // block)):
        begin = number * block
        end = min(begin + block, len(rated))
        block_lengths = rated[begin:end]
        bits = postings[7][number]
        row = np.empty(end - begin)
        for text in range(first, last):
            if _too_short(outputs, postings, text):
                continue
            _row(outputs, postings, cursors, number, text, block_lengths, bits, row)
            for i in range(len(row)):
                out[text - first, rows[begin + i]] = row[i]
