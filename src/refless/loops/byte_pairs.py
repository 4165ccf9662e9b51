"""Byte-pair encoding over code points: the tokens that a tokenizer's merges make of texts."""

import numpy as np

from refless.loops.caching import loop
from refless.loops.terms import _longer, _stored

SPACE = ord(" ")
BLANK = 0x2581  # stands for a space, and before each text
LONGEST = 500  # characters of a part: each merge looks at all of them
SLOTS = 1 << 14  # parts whose tokens are found again
TOKEN_BITS = 20
RANK_BITS = 63 - 2 * TOKEN_BITS
NONE = 1 << RANK_BITS  # the rank of a pair that does not merge


@loop()
def _slot(table, pair):
    """The slot of a pair of tokens, or the free one where it would be (linear probing)."""
    mask = np.uint64(len(table) - 1)
    slot = ((np.uint64(pair) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask
    while table[slot] != -1 and table[slot] >> RANK_BITS != pair:
        slot = (slot + np.uint64(1)) & mask
    return slot


@loop(nogil=True)
def merges_loop(first, second):
    """A table of the pairs of tokens that merge: a pair and its rank are one number, -1 is free."""
    size = 16
    while size < 2 * len(first):
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    for i in range(len(first)):
        pair = (np.int64(first[i]) << TOKEN_BITS) | second[i]
        table[_slot(table, pair)] = (pair << RANK_BITS) | i
    return table


@loop()
def _rank(table, first, second):
    """The rank of the pair, one more than every rank if it does not merge."""
    pair = (np.int64(first) << TOKEN_BITS) | second
    entry = table[_slot(table, pair)]
    return NONE if entry < 0 else entry & (NONE - 1)


@loop()
def _read(point):
    """The character that the tokenizer reads in place of this one."""
    return BLANK if point == SPACE else point


@loop()
def _spelt(point, characters, of_bytes, symbols, n):
    """Puts the token of a character, or those of its bytes, at place n; returns the next place."""
    if characters[point] >= 0:
        symbols[n] = characters[point]
        return n + 1
    if point < 0x80:
        symbols[n] = of_bytes[point]
        return n + 1
    more = 1 + (point >= 0x800) + (point >= 0x10000)  # bytes that follow the first
    lead = (0xFF << (7 - more)) & 0xFF
    symbols[n] = of_bytes[lead | (point >> (6 * more))]
    for k in range(1, more + 1):
        symbols[n + k] = of_bytes[0x80 | ((point >> (6 * (more - k))) & 0x3F)]
    return n + 1 + more


@loop()
def _merged(symbols, n, own, table, made):
    """Merges neighbours, the first of those of the lowest rank at a time; returns how many remain."""
    for i in range(n - 1):
        own[i] = _rank(table, symbols[i], symbols[i + 1])
    while n > 1:
        place = 0
        for i in range(1, n - 1):
            if own[i] < own[place]:
                place = i
        if own[place] == NONE:
            break
        symbols[place] = made[own[place]]
        n -= 1
        for i in range(place + 1, n):
            symbols[i] = symbols[i + 1]
            own[i - 1] = own[i]
        for i in range(max(place - 1, 0), min(place + 1, n - 1)):
            own[i] = _rank(table, symbols[i], symbols[i + 1])
    return n


@loop(nogil=True)
def tokens_loop(points, starts, characters, of_bytes, merges):
    """Tokens of texts, where those of each begin, and which texts have a part that is too long.

    A part ends before a blank, beyond which no token goes. One that was read before is copied.
    """
    table, made = merges
    tokens = np.empty(4 * len(points), dtype=np.int32)
    begins = np.zeros(len(starts), dtype=np.int64)
    is_long = np.zeros(len(starts) - 1, dtype=np.bool_)
    known = np.full(SLOTS, -1, dtype=np.int64)
    places = np.empty((SLOTS, 2), dtype=np.int64)
    symbols = np.empty(4 * LONGEST, dtype=np.int32)
    own = np.empty(4 * LONGEST, dtype=np.int32)
    n = 0
    for text in range(len(starts) - 1):
        i = starts[text]
        end = starts[text + 1]
        while i < end:
            first = i
            key = np.uint64(0)
            before = BLANK
            while i < end:
                point = _read(points[i])
                if point == BLANK and before != BLANK:
                    break
                key = _longer(key, point)
                before = point
                i += 1
            if i - first > LONGEST:
                is_long[text] = True
                continue
            stored = _stored(key)
            slot = (stored >> 20) & (SLOTS - 1)
            if known[slot] != stored:
                size = 0
                for k in range(first, i):
                    size = _spelt(_read(points[k]), characters, of_bytes, symbols, size)
                size = _merged(symbols, size, own, table, made)
                known[slot] = stored
                places[slot, 0] = n
                places[slot, 1] = n + size
                for k in range(size):
                    tokens[n + k] = symbols[k]
                n += size
                continue
            for k in range(places[slot, 0], places[slot, 1]):
                tokens[n] = tokens[k]
                n += 1
        begins[text + 1] = n
    return tokens[:n], begins, is_long
