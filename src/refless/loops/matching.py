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

A cursor for each feature of each output says which of its entries comes next: blocks are visited in
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
def _runs(lengths):
    """[runs + 1] where texts of another length begin, given ascending lengths, and their end."""
    starts = np.empty(len(lengths) + 1, dtype=np.int64)
    n = 0
    for i in range(len(lengths)):
        if i == 0 or lengths[i] != lengths[i - 1]:
            starts[n] = i
            n += 1
    starts[n] = len(lengths)
    return starts[: n + 1]


@loop(nogil=True)
def _fill_needs(lengths, runs, output, low, orders, tau, limit, needs):
    """Fills needs[rated texts] with the products that reach tau, given runs of equal lengths."""
    grams = _grams(output, low, orders)
    need = 0.0
    for run in range(len(runs) - 1):
        length = lengths[runs[run]]
        if run == 0 or length > output:
            need = min(_needed(tau, grams, _beta(length, output), orders), limit)
        needs[runs[run] : runs[run + 1]] = need


@loop(nogil=True)
def _plan(outputs, postings, first, last):
    """The features of some outputs: the common ones as bits, a cursor for each of the others.

    Returns:
        masks: [outputs, words] the common features.
        starts: [outputs * orders + 1] where the cursors of each order of each output begin.
        cursors: the next entry of each feature, order by order of each output.
        weights: [cursors] of the features; empty where all weigh 1.
    """
    ids, own_weights, own_starts, _ = outputs
    first_entries = postings[2]
    common, _, words = postings[-3:]
    orders = len(own_starts)
    most = 0
    for k in range(orders):
        most += own_starts[k, last] - own_starts[k, first]
    masks = np.zeros((last - first, words[-1]), dtype=np.uint32)
    starts = np.zeros((last - first) * orders + 1, dtype=np.int64)
    cursors = np.empty(most, dtype=np.int32)
    weights = np.empty(most if len(own_weights) else 0, dtype=np.uint32)
    n = 0
    for text in range(first, last):
        for k in range(orders):
            for i in range(own_starts[k, text], own_starts[k, text + 1]):
                bit = common[ids[i]]
                if bit >= 0:
                    masks[text - first, bit >> 5] |= np.uint32(1) << np.uint32(bit & 31)
                    continue
                cursors[n] = first_entries[ids[i]]
                if len(weights):
                    weights[n] = own_weights[i]
                n += 1
            starts[(text - first) * orders + k + 1] = n
    return masks, starts, cursors, weights


@loop(nogil=True)
def _meet(plan, postings, number, place, counters, shift):
    """Adds rarer matches to counters[rated texts], so many bits to the left.

    The place is that of an order of an output in the plan.
    """
    _, starts, cursors, weights = plan
    _, _, _, next_entries, block_starts, member_starts, members, _, _, _ = postings
    end = block_starts[number + 1]
    for i in range(starts[place], starts[place + 1]):
        entry = cursors[i]
        if entry < end:
            increment = np.uint32(weights[i] if len(weights) else 1) << shift
            for member in members[member_starts[entry] : member_starts[entry + 1]]:
                counters[member] += increment
            cursors[i] = next_entries[entry]


@loop(nogil=True)
def _add_bits(bits, mask, first, last, counters, shift):
    """Adds matches of common features, those of some words, to counters[rated texts], so shifted.

    Two words at a time, so that counters are read and written half as often.
    """
    for w in range(first, last, 2):
        one = mask[w]
        other = mask[w + 1] if w + 1 < last else np.uint32(0)
        if one | other == 0:
            continue
        row = bits[w]
        next_row = bits[min(w + 1, last - 1)]
        for i in range(len(counters)):
            counters[i] += (_ones(row[i] & one) + _ones(next_row[i] & other)) << shift


@loop(nogil=True)
def _count_packed(plan, postings, number, text, bits, products):
    """Counts matches of three orders in 10 bits each, and multiplies them."""
    words = postings[-1]
    mask = plan[0][text]
    counters = np.zeros(len(products), dtype=np.uint32)
    for k in range(PACKED_ORDERS):
        shift = np.uint32(10 * k)
        _meet(plan, postings, number, PACKED_ORDERS * text + k, counters, shift)
        _add_bits(bits, mask, words[k], words[k + 1], counters, shift)
    most = np.uint32(PACKED_MOST)
    for i in range(len(counters)):
        c = counters[i]
        products[i] = (c & most) * ((c >> np.uint32(10)) & most) * (c >> np.uint32(20))


@loop(nogil=True)
def _count(plan, postings, number, place, k, bits, mask, counts):
    """Fills counts[rated texts] with the matches of the k-th order."""
    words = postings[-1]
    counts[:] = 0
    _meet(plan, postings, number, place, counts, np.uint32(0))
    _add_bits(bits, mask, words[k], words[k + 1], counts, np.uint32(0))


@loop(nogil=True)
def _count_wide(plan, postings, number, text, orders, bits, products):
    """Counts matches order by order and multiplies as it goes."""
    products[:] = 1.0
    counts = np.empty(len(products), dtype=np.uint32)
    for k in range(orders):
        place = orders * text + k
        _count(plan, postings, number, place, k, bits, plan[0][text], counts)
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
    plan = _plan(outputs, postings, first, last)
    for number in range(-(-len(rated) // block)):
        begin = number * block
        end = min(begin + block, len(rated))
        block_lengths = rated[begin:end]
        block_values = values[begin:end]
        runs = _runs(block_lengths)
        bits = postings[-2][number]
        packed = np.empty(end - begin, dtype=np.uint32)
        packed_needs = np.empty(end - begin, dtype=np.uint32)
        wide = np.empty(end - begin)
        wide_needs = np.empty(end - begin)
        for text in range(first, last):
            if _too_short(outputs, postings, text):
                continue
            hidden = _hidden(exclusions, text)
            if _fits(outputs, block_lengths, text):
                _count_packed(plan, postings, number, text - first, bits, packed)
                _fill_needs(
                    block_lengths,
                    runs,
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
                _count_wide(plan, postings, number, text - first, orders, bits, wide)
                _fill_needs(
                    block_lengths,
                    runs,
                    lengths[text],
                    low,
                    orders,
                    tau,
                    np.inf,
                    wide_needs,
                )
                _add_hits(
                    wide, wide_needs, block_values, begin, hidden, text, counts, sums
                )


@loop(nogil=True)
def _row(outputs, plan, postings, number, first, text, block_lengths, bits, row):
    """Fills row[rated texts of the block] with the similarities of one output."""
    low = postings[0]
    orders = len(outputs[2])
    length = outputs[3][text]
    if _fits(outputs, block_lengths, text):
        packed = np.empty(len(row), dtype=np.uint32)
        _count_packed(plan, postings, number, text - first, bits, packed)
        row[:] = packed
    else:
        _count_wide(plan, postings, number, text - first, orders, bits, row)
    grams = _grams(length, low, orders)
    last = -1
    beta = 1.0
    for i in range(len(row)):
        if block_lengths[i] != last:
            last = block_lengths[i]
            beta = _beta(last, length)
        row[i] = similarity(row[i], grams, beta, orders)


@loop(nogil=True)
def _cosine_row(outputs, plan, postings, number, first, text, block_lengths, bits, row):
    """Fills row[rated texts of the block] with the mean over orders of the cosines of one output."""
    low = postings[0]
    orders = len(outputs[2])
    length = outputs[3][text]
    row[:] = 0.0
    counts = np.empty(len(row), dtype=np.uint32)
    mask = plan[0][text - first]
    for k in range(orders):
        place = orders * (text - first) + k
        _count(plan, postings, number, place, k, bits, mask, counts)
        missing = low + k - 1  # a text has so many n-grams less than tokens
        n_grams = length - missing
        last = -1
        scale = 0.0
        for i in range(len(row)):
            if block_lengths[i] != last:
                last = block_lengths[i]
                enough = last >= low + orders - 1
                # exact, so the same both ways
                both = np.float64(n_grams * (last - missing))
                scale = 1.0 / (orders * np.sqrt(both)) if enough else 0.0
            row[i] += scale * counts[i]


@loop(nogil=True)
def similarities_loop(outputs, postings, block, first, last, cosine, rows, out):
    """Fills out[outputs from `first` on, rows] with the similarities, or cosines."""
    rated = postings[1]
    plan = _plan(outputs, postings, first, last)
    for number in range(-(-len(rated) // block)):
        begin = number * block
        end = min(begin + block, len(rated))
        block_lengths = rated[begin:end]
        bits = postings[-2][number]
        row = np.empty(end - begin)
        for text in range(first, last):
            if _too_short(outputs, postings, text):
                continue
            if cosine:
                _cosine_row(
                    outputs,
                    plan,
                    postings,
                    number,
                    first,
                    text,
                    block_lengths,
                    bits,
                    row,
                )
            else:
                _row(
                    outputs,
                    plan,
                    postings,
                    number,
                    first,
                    text,
                    block_lengths,
                    bits,
                    row,
                )
            for i in range(len(row)):
                out[text - first, rows[begin + i]] = row[i]
