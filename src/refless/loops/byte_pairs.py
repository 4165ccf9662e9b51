"""Byte-pair encoding over code points: the tokens that a tokenizer's merges make of texts."""

import numpy as np

from refless.loops.caching import loop
from refless.loops.terms import _longer, _slot, _stored

BLANK = 0x2581  # stands for a blank, and before each text
LONGEST = 500  # characters of a part: each merge looks at all of them
SLOTS = 1 << 14  # parts whose tokens are found again


@loop()
def _pair(first, second):
    """The key of two tokens."""
    return _stored(_longer(_longer(np.uint64(0), first), second))


@loop(nogil=True)
def merges_loop(first, second):
    """A table of the pairs of tokens that merge, and the rank of each; the last is for others."""
    size = 16
    while size < 3 * len(first):
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    ranks = np.full(size, len(first), dtype=np.int32)
    for i in range(len(first)):
        key = _pair(first[i], second[i])
        slot = _slot(table, key)
        table[slot] = key
        ranks[slot] = i
    return table, ranks


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
def _merged(symbols, n, own, table, ranks, made):
    """Merges neighbours, the first of those of the lowest rank at a time; returns how many remain."""
    for i in range(n - 1):
        own[i] = ranks[_slot(table, _pair(symbols[i], symbols[i + 1]))]
    while n > 1:
        place = 0
        for i in range(1, n - 1):
            if own[i] < own[place]:
                place = i
        if own[place] == len(made):
            break
        symbols[place] = made[own[place]]
        n -= 1
        for i in range(place + 1, n):
            symbols[i] = symbols[i + 1]
            own[i - 1] = own[i]
        for i in range(max(place - 1, 0), min(place + 1, n - 1)):
            own[i] = ranks[_slot(table, _pair(symbols[i], symbols[i + 1]))]
    return n


@loop(nogil=True)
def tokens_loop(points, starts, characters, of_bytes, merges):
    """Tokens of texts, where those of each begin, and which texts have a part that is too long.

    A part ends before a blank, beyond which no token goes. One that was read before is copied.
    """
    table, ranks, made = merges
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
            while i < end and (
                points[i] != BLANK or i == first or points[i - 1] == BLANK
            ):
                key = _longer(key, points[i])
                i += 1
            if i - first > LONGEST:
                is_long[text] = True
                continue
            stored = _stored(key)
            slot = (stored >> 20) & (SLOTS - 1)
            if known[slot] != stored:
                size = 0
                for k in range(first, i):
                    size = _spelt(points[k], characters, of_bytes, symbols, size)
                size = _merged(symbols, size, own, table, ranks, made)
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
