"""Loops over token ids: n-grams by way of a hash table, and their occurrences.

`level` holds for each token the n-gram that starts there, -1 where there is none. Loops change it in
place, because it is as long as all texts.
"""

import numpy as np

from refless.loops.caching import loop


@loop()
def _slot(table, key):
    """The slot of a key, or the free one where it would be (linear probing, Fibonacci hashing)."""
    mask = np.uint64(len(table) - 1)
    slot = ((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask
    while table[slot] != -1 and table[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@loop()
def _key(level, tokens, i, end, order, n_tokens):
    """The key of the n-gram that starts at a token, -1 where there is none."""
    if i + order > end or level[i] < 0 or tokens[i + order - 1] < 0:
        return np.int64(-1)
    return np.int64(level[i]) * n_tokens + tokens[i + order - 1]


@loop(nogil=True)
def distinct_loop(level, tokens, starts, order, n_tokens):
    """The distinct keys of n-grams that are a token longer, in order of appearance."""
    table = np.full(1024, -1, dtype=np.int64)
    keys = np.empty(512, dtype=np.int64)
    n = 0
    for text in range(len(starts) - 1):
        for i in range(starts[text], starts[text + 1]):
            key = _key(level, tokens, i, starts[text + 1], order, n_tokens)
            if key < 0:
                continue
            slot = _slot(table, key)
            if table[slot] == key:
                continue
            table[slot] = key
            keys[n] = key
            n += 1
            if n == len(keys):
                grown = np.empty(2 * n, dtype=np.int64)
                table = np.full(4 * n, -1, dtype=np.int64)
                for k in range(n):
                    grown[k] = keys[k]  # a slice takes three seconds more to compile
                    table[_slot(table, keys[k])] = keys[k]
                keys = grown
    return keys[:n].copy()


@loop(nogil=True)
def look_up_loop(level, tokens, starts, order, n_tokens, keys):
    """Makes n-grams longer by a token, numbered by the place of their keys; -1 if unknown."""
    size = 16
    while size < 2 * len(keys):
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    number = np.full(size, -1, dtype=np.int32)
    for i in range(len(keys)):
        slot = _slot(table, keys[i])
        table[slot] = keys[i]
        number[slot] = i
    for text in range(len(starts) - 1):
        for i in range(starts[text], starts[text + 1]):
            key = _key(level, tokens, i, starts[text + 1], order, n_tokens)
            level[i] = number[_slot(table, key)] if key >= 0 else -1


@loop(nogil=True)
def most_loop(level, starts, most):
    """Raises most[n-grams] to the most that each occurs in any text."""
    count = np.zeros(len(most), dtype=np.int32)
    for text in range(len(starts) - 1):
        own = level[starts[text] : starts[text + 1]]
        for gram in own:
            if gram >= 0:
                count[gram] += 1
        for gram in own:
            if gram >= 0:
                most[gram] = max(most[gram], count[gram])
                count[gram] = 0


@loop(nogil=True)
def part_loop(level, starts, first, clip, n, ids, weights):
    """Puts the features of one order into `ids` from place n on, and weights without clipping.

    Returns where those of each text begin, and the last ones end.
    """
    begins = np.full(len(starts), n, dtype=np.int64)
    seen_in = np.full(len(first), -1, dtype=np.int32)
    count = np.zeros(len(first), dtype=np.int32)
    place = np.zeros(0 if clip else len(first), dtype=np.int64)
    for text in range(len(starts) - 1):
        for i in range(starts[text], starts[text + 1]):
            gram = level[i]
            if gram < 0:
                continue
            if seen_in[gram] != text:
                seen_in[gram] = text
                count[gram] = 0
            if not clip and count[gram] > 0:
                weights[place[gram]] += 1
                continue
            feature = first[gram] + count[gram]
            if feature == first[gram + 1]:
                continue  # beyond what any text of the pool has
            if not clip:
                place[gram] = n
                weights[n] = 1
            count[gram] += 1
            ids[n] = feature
            n += 1
        begins[text + 1] = n
    return begins
