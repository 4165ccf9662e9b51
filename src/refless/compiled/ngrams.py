"""Loops over token ids: keys of n-grams, a hash table of them, and their occurrences."""

import numpy as np

from refless.compiled import loop


@loop(nogil=True)
def keys_of_loop(level, tokens, starts, order, n_tokens):
    keys = np.full(len(level), -1, dtype=np.int64)
    for text in range(len(starts) - 1):
        for i in range(starts[text], starts[text + 1] - order + 1):
            last = tokens[i + order - 1]
            if level[i] >= 0 and last >= 0:
                keys[i] = np.int64(level[i]) * n_tokens + last
    return keys


@loop()
def _slot(table, key):
    """Where a key sits, or the free slot where it would (linear probing, Fibonacci hashing)."""
    mask = np.uint64(len(table) - 1)
    slot = ((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask
    while table[slot] != -1 and table[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@loop(nogil=True)
def distinct(keys):
    """The distinct keys >= 0, in order of appearance."""
    table = np.full(1024, -1, dtype=np.int64)
    found = np.empty(512, dtype=np.int64)
    n = 0
    for key in keys:
        if key < 0:
            continue
        slot = _slot(table, key)
        if table[slot] == key:
            continue
        table[slot] = key
        found[n] = key
        n += 1
        if n == len(found):
            grown = np.empty(2 * n, dtype=np.int64)
            grown[:n] = found
            found = grown
            table = np.full(4 * n, -1, dtype=np.int64)
            for i in range(n):
                table[_slot(table, found[i])] = found[i]
    return found[:n].copy()


@loop(nogil=True)
def table(distinct):
    """A hash table from the sorted keys to their ranks."""
    size = 16
    while size < 2 * len(distinct):
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    rank = np.full(size, -1, dtype=np.int32)
    for i in range(len(distinct)):
        slot = _slot(table, distinct[i])
        table[slot] = distinct[i]
        rank[slot] = i
    return table, rank


@loop(nogil=True)
def ranks(keys, table, rank):
    """[keys] rank of each key, -1 for unknown ones."""
    ranks = np.full(len(keys), -1, dtype=np.int32)
    for i in range(len(keys)):
        if keys[i] >= 0:
            ranks[i] = rank[_slot(table, keys[i])]
    return ranks


@loop(nogil=True)
def occurrences(level, starts, size):
    """How often each n-gram has occurred before in its text; the most it occurs in any text."""
    before = np.zeros(len(level), dtype=np.int32)
    seen_in = np.full(size, -1, dtype=np.int64)
    count = np.zeros(size, dtype=np.int32)
    most = np.zeros(size, dtype=np.int64)
    for text in range(len(starts) - 1):
        for i in range(starts[text], starts[text + 1]):
            gram = level[i]
            if gram < 0:
                continue
            if seen_in[gram] != text:
                seen_in[gram] = text
                count[gram] = 0
            before[i] = count[gram]
            count[gram] += 1
            most[gram] = max(most[gram], count[gram])
    return before, most


@loop(nogil=True)
def part(level, starts, before, first, clip):
    """Features of one order: ids, weights, and where each text's begin."""
    ids = np.empty(len(level), dtype=np.int32)
    weights = np.ones(0 if clip else len(level), dtype=np.int32)
    begins = np.zeros(len(starts), dtype=np.int64)
    place = np.zeros(len(first), dtype=np.int64)
    n = 0
    for text in range(len(starts) - 1):
        for i in range(starts[text], starts[text + 1]):
            gram = level[i]
            if gram < 0:
                continue
            if clip and first[gram] + before[i] < first[gram + 1]:
                ids[n] = first[gram] + before[i]
                n += 1
            elif not clip and before[i] == 0:
                ids[n] = first[gram]
                place[gram] = n
                n += 1
            elif not clip:
                weights[place[gram]] += 1
        begins[text + 1] = n
    return ids[:n].copy(), weights[:n].copy(), begins
