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
def _block(postings, number):
    """A block of rated texts.

    Returns:
        begin: the place of its first text.
        end: of its entries.
        lengths: of its texts, ascending.
        runs: [runs + 1] where texts of another length begin, and their end.
        bits: [words, texts] the common features.
    """
    bits = postings[-2][number]
    begin = number * bits.shape[1]
    lengths = postings[1][begin : begin + bits.shape[1]]
    runs = np.empty(len(lengths) + 1, dtype=np.int64)
    n = 0
    for i in range(len(lengths)):
        if i == 0 or lengths[i] != lengths[i - 1]:
            runs[n] = i
            n += 1
    runs[n] = len(lengths)
    return begin, postings[3][number + 1], lengths, runs[: n + 1], bits


@loop(nogil=True)
def _plan(outputs, postings):
    """The features of some outputs: the common ones as bits, a cursor for each of the others.

    Returns:
        masks: [outputs, words] the common features.
        starts: [outputs, orders + 1] where the cursors of each order begin.
        cursors: the next entry of each feature.
        weights: [cursors] of the features; empty where all weigh 1.
    """
    ids, own_weights, own_starts, lengths = outputs
    entries = postings[2]
    common, _, words = postings[-3:]
    orders = len(own_starts)
    most = np.sum(own_starts[:, -1] - own_starts[:, 0])
    masks = np.zeros((len(lengths), words[-1]), dtype=np.uint32)
    starts = np.empty((len(lengths), orders + 1), dtype=np.int64)
    cursors = np.empty(most, dtype=np.int32)
    weights = np.empty(most if len(own_weights) else 0, dtype=np.uint32)
    n = 0
    for text in range(len(lengths)):
        for k in range(orders):
            starts[text, k] = n
            for i in range(own_starts[k, text], own_starts[k, text + 1]):
                bit = common[ids[i]]
                if bit >= 0:
                    masks[text, bit >> 5] |= np.uint32(1) << np.uint32(bit & 31)
                    continue
                cursors[n] = entries[ids[i]]
                if len(weights):
                    weights[n] = own_weights[i]
                n += 1
        starts[text, orders] = n
    return masks, starts, cursors, weights


@loop(nogil=True)
def _count(plan, postings, block, text, k, counters, shift):
    """Adds an output's matches of the k-th order to counters[texts], so many bits to the left.

    Bits are added two words at a time: counters are read and written half as often.
    """
    masks, starts, cursors, weights = plan
    _, _, entries, _, member_starts, members, common, _, words = postings
    _, end, _, _, bits = block
    for i in range(starts[text, k], starts[text, k + 1]):
        entry = cursors[i]
        if entry < end:
            increment = np.uint32(weights[i] if len(weights) else 1) << shift
            for member in members[member_starts[entry] : member_starts[entry + 1]]:
                counters[member] += increment
            cursors[i] = entries[len(common) + entry]
    last = words[k + 1] - 1
    for w in range(words[k], last + 1, 2):
        one = masks[text, w]
        other = masks[text, w + 1] if w < last else np.uint32(0)
        if one | other != 0:
            row = bits[w]
            next_row = bits[min(w + 1, last)]
            for i in range(len(counters)):
                both = _ones(row[i] & one) + _ones(next_row[i] & other)
                counters[i] += both << shift


@loop(nogil=True)
def _count_packed(plan, postings, block, text):
    """[texts] products of an output's matches of three orders, counted in 10 bits each."""
    counters = np.zeros(len(block[2]), dtype=np.uint32)
    for k in range(PACKED_ORDERS):
        _count(plan, postings, block, text, k, counters, np.uint32(10 * k))
    most = np.uint32(PACKED_MOST)
    for i in range(len(counters)):
        c = counters[i]
        counters[i] = (c & most) * ((c >> np.uint32(10)) & most) * (c >> np.uint32(20))
    return counters


@loop(nogil=True)
def _count_wide(plan, postings, block, text):
    """[texts] the same of any number of orders, counted one by one."""
    products = np.ones(len(block[2]))
    for k in range(plan[1].shape[1] - 1):
        counts = np.zeros(len(products), dtype=np.uint32)
        _count(plan, postings, block, text, k, counts, np.uint32(0))
        for i in range(len(products)):
            products[i] *= counts[i]
    return products


@loop(nogil=True)
def _fits(outputs, block, text):
    """Whether packed counters can hold the matches of an output with the texts of a block."""
    _, weights, starts, lengths = outputs
    most = lengths[text] if len(weights) else min(lengths[text], block[2][-1])
    return len(starts) == PACKED_ORDERS and most <= PACKED_MOST


@loop(nogil=True)
def _too_short(outputs, postings, text):
    return outputs[3][text] < postings[0] + len(outputs[2]) - 1


@loop(nogil=True)
def _needs(block, output, low, orders, tau, products, most):
    """[texts] the products that reach tau, of the type of `products`, at most so large."""
    _, _, lengths, runs, _ = block
    grams = _grams(output, low, orders)
    needs = np.empty_like(products)
    need = 0.0
    for run in range(len(runs) - 1):
        length = lengths[runs[run]]
        if run == 0 or length > output:
            need = min(_needed(tau, grams, _beta(length, output), orders), most)
        needs[runs[run] : runs[run + 1]] = need
    return needs


@loop(nogil=True)
def _hits(products, needs, values, hidden):
    """The number of texts that reach their need and the sum of their values, without hidden ones."""
    count = np.int64(0)
    total = np.int64(0)
    for i in range(len(products)):
        hit = products[i] >= needs[i]
        count += hit
        total += values[i] * hit
    for i in hidden:
        if 0 <= i < len(products) and products[i] >= needs[i]:
            count -= 1
            total -= values[i]
    return count, total


@loop(nogil=True)
def _hidden(exclusions, text):
    group, starts, places = exclusions
    if group[text] < 0:
        return places[:0]
    return places[starts[group[text]] : starts[group[text] + 1]]


@loop(nogil=True)
def sums_loop(outputs, postings, exclusions, tau, values, counts, sums):
    """Adds to counts and sums [outputs] the rated texts that reach tau, and their values."""
    low = postings[0]
    orders = len(outputs[2])
    lengths = outputs[3]
    plan = _plan(outputs, postings)
    for number in range(len(postings[-2])):
        block = _block(postings, number)
        begin = block[0]
        own = values[begin : begin + len(block[2])]
        for text in range(len(lengths)):
            if _too_short(outputs, postings, text):
                continue
            hidden = _hidden(exclusions, text) - begin
            need = lengths[text], low, orders, tau
            if _fits(outputs, block, text):
                packed = _count_packed(plan, postings, block, text)
                needs = _needs(block, *need, packed, 4294967295.0)
                count, total = _hits(packed, needs, own, hidden)
            else:
                wide = _count_wide(plan, postings, block, text)
                wide_needs = _needs(block, *need, wide, np.inf)
                count, total = _hits(wide, wide_needs, own, hidden)
            counts[text] += count
            sums[text] += total


@loop(nogil=True)
def _row(outputs, plan, postings, block, text, row):
    """Fills row[texts of the block] with the similarities of one output."""
    _, _, lengths, runs, _ = block
    orders = len(outputs[2])
    length = outputs[3][text]
    if _fits(outputs, block, text):
        row[:] = _count_packed(plan, postings, block, text)
    else:
        row[:] = _count_wide(plan, postings, block, text)
    grams = _grams(length, postings[0], orders)
    for run in range(len(runs) - 1):
        beta = _beta(lengths[runs[run]], length)
        for i in range(runs[run], runs[run + 1]):
            row[i] = similarity(row[i], grams, beta, orders)


@loop(nogil=True)
def similarities_loop(outputs, postings, rows, out):
    """Fills out[outputs, rows] with the similarities."""
    plan = _plan(outputs, postings)
    for number in range(len(postings[-2])):
        block = _block(postings, number)
        row = np.empty(len(block[2]))
        for text in range(len(out)):
            if _too_short(outputs, postings, text):
                continue
            _row(outputs, plan, postings, block, text, row)
            for i in range(len(row)):
                out[text, rows[block[0] + i]] = row[i]
