"""Longest common subsequences, 64 places at a time (Hyyrö 2004, "Bit-parallel LCS-length")."""

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from refless.loops.caching import loop

ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@intrinsic
def _ones(typing_context, word):
    """Number of ones in a 64-bit word."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@loop(nogil=True)
def _short(s_ids, begin, end, places, length):
    """The length of the LCS where the output fits one word.

    `places` maps a token to the bits of the places where it stands in the output.
    """
    rest = ALL
    for i in range(begin, end):
        both = rest & places[np.uint32(s_ids[i])]
        rest = (rest + both) | (rest - both)
    wanted = ALL if length == 64 else (np.uint64(1) << np.uint64(length)) - np.uint64(1)
    return np.int64(_ones(~rest & wanted))


@loop(nogil=True)
def _long(s_ids, begin, end, slot, masks, length, rest):
    """The same with carries from word to word; `slot` maps a token to its row of `masks`, or -1."""
    rest[:] = ALL
    for i in range(begin, end):
        row = slot[s_ids[i]]
        if row < 0:
            continue
        carry = np.uint64(0)
        for word in range(len(rest)):
            both = rest[word] & masks[row, word]
            total = rest[word] + both
            over = np.uint64(total < both)
            total += carry
            over |= np.uint64(total < carry)
            rest[word] = total | (rest[word] - both)
            carry = over
    found = np.uint64(0)
    for word in range(len(rest)):
        wanted = ALL
        if length - 64 * word < 64:
            wanted = (np.uint64(1) << np.uint64(length - 64 * word)) - np.uint64(1)
        found += _ones(~rest[word] & wanted)
    return np.int64(found)


@loop(nogil=True)
def _short_row(x, s_ids, s_starts, places, row):
    for i in range(len(x)):
        if x[i] >= 0:
            places[x[i]] |= np.uint64(1) << np.uint64(i)
    for other in range(len(row)):
        begin, end = s_starts[other], s_starts[other + 1]
        common = _short(s_ids, begin, end, places, len(x))
        row[other] = 2.0 * common / (len(x) + (end - begin))
    for token in x:
        if token >= 0:
            places[token] = np.uint64(0)


@loop(nogil=True)
def _long_row(x, s_ids, s_starts, slot, row):
    words = (len(x) + 63) // 64
    masks = np.zeros((len(x), words), dtype=np.uint64)
    rest = np.empty(words, dtype=np.uint64)
    rows = 0
    for i in range(len(x)):
        token = x[i]
        if token >= 0:
            if slot[token] < 0:
                slot[token] = rows
                rows += 1
            masks[slot[token], i >> 6] |= np.uint64(1) << np.uint64(i & 63)
    for other in range(len(row)):
        begin, end = s_starts[other], s_starts[other + 1]
        common = _long(s_ids, begin, end, slot, masks, len(x), rest)
        row[other] = 2.0 * common / (len(x) + (end - begin))
    for token in x:
        if token >= 0:
            slot[token] = -1


@loop(nogil=True)
def f1_loop(x_ids, x_starts, begin, end, s_ids, s_starts, tokens, out):
    """[end - begin, rated texts] ROUGE-L's F1 of every pair, 2 LCS / (|x| + |s|).

    Tokens of x that are not among the `tokens` ids are -1.
    """
    slot = np.full(tokens, -1, dtype=np.int32)
    places = np.zeros(tokens, dtype=np.uint64)
    for text in range(begin, end):
        x = x_ids[x_starts[text] : x_starts[text + 1]]
        if len(x) == 0:
            out[text - begin] = 0.0
        elif len(x) <= 64:
            _short_row(x, s_ids, s_starts, places, out[text - begin])
        else:
            _long_row(x, s_ids, s_starts, slot, out[text - begin])
