"""Loops that look up the keys of `terms`: how often texts have them, their places, and products."""

import numpy as np

from refless.loops.caching import loop
from refless.loops.terms import _longer, _stored


@loop()
def _slot(table, key):
    """The slot of a key, or the free one where it would be (linear probing)."""
    mask = np.uint64(len(table) - 1)
    slot = (np.uint64(key) >> np.uint64(20)) & mask
    while table[slot] != -1 and table[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@loop()
def _room(begins):
    """A free table for the keys of the longest text, and places for those of its slots in use."""
    longest = 0
    for text in range(len(begins) - 1):
        longest = max(longest, begins[text + 1] - begins[text])
    size = 16
    while size < 2 * longest:
        size *= 2
    return np.full(size, -1, dtype=np.int64), np.empty(longest, dtype=np.int64)


@loop()
def _counted(keys, table, slots, row, different, counts):
    """The number of different keys, which are put in order of appearance, and their counts.

    The table is left free, as `_room` makes it; row: [table] room for places.
    """
    n = 0
    for key in keys:
        slot = _slot(table, key)
        if table[slot] == key:
            counts[row[slot]] += 1
            continue
        table[slot] = key
        row[slot] = n
        slots[n] = slot
        different[n] = key
        counts[n] = 1
        n += 1
    for i in range(n):
        table[slots[i]] = -1
    return n


@loop(nogil=True)
def counts_loop(keys, begins):
    """Each text's different keys in order of appearance, their counts, and where they begin."""
    table, slots = _room(begins)
    row = np.empty(len(table), dtype=np.int64)
    different = np.empty(len(keys), dtype=np.int64)
    counts = np.empty(len(keys), dtype=np.int64)
    starts = np.zeros(len(begins), dtype=np.int64)
    n = 0
    for text in range(len(begins) - 1):
        own = keys[begins[text] : begins[text + 1]]
        n += _counted(own, table, slots, row, different[n:], counts[n:])
        starts[text + 1] = n
    return different[:n].copy(), counts[:n].copy(), starts


@loop(nogil=True)
def occurrences_loop(keys, begins):
    """Makes keys that a text has again others, by how often it had them: all differ then."""
    table, slots = _room(begins)
    count = np.empty(len(table), dtype=np.int64)
    for text in range(len(begins) - 1):
        own = keys[begins[text] : begins[text + 1]]
        n = 0
        for i in range(len(own)):
            key = own[i]
            slot = _slot(table, key)
            if table[slot] == key:
                count[slot] += 1
                own[i] = _stored(_longer(np.uint64(key), count[slot]))
                continue
            table[slot] = key
            count[slot] = 0
            slots[n] = slot
            n += 1
        for i in range(n):
            table[slots[i]] = -1


@loop()
def _place(table, key):
    """The place of a key among those of a table, -1 for one that it lacks."""
    low = len(table) - 1
    slot = np.uint64(key & low)
    entry = table[slot]
    while entry >= 0 and entry ^ key > low:
        slot = (slot + np.uint64(1)) & np.uint64(low)
        entry = table[slot]
    return entry & low if entry >= 0 else entry


@loop()
def _put(table, key, place):
    """Makes the entry of a key that the table lacks."""
    low = len(table) - 1
    slot = np.uint64(key & low)
    while table[slot] >= 0:
        slot = (slot + np.uint64(1)) & np.uint64(low)
    table[slot] = (key | low) ^ low | place


@loop(nogil=True)
def table_loop(keys):
    """A table to look up the places of keys: one number an entry, -1 where there is none.

    Its low bits are the place; the others are those of the key, whose own low bits say where the
    entry is, unless others lie there. So keys need not be kept beside it: one that is not known is
    taken for another only if it meets its entry and has the same other bits.
    """
    size = 16
    while size < 4 * len(keys):
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    for i in range(len(keys)):
        _put(table, keys[i], i)
    return table


@loop(nogil=True)
def numbers_loop(keys):
    """The different keys in order of appearance, and the number of each key by that order."""
    table = table_loop(keys[:0])
    different = np.empty_like(keys)
    numbers = np.empty(len(keys), dtype=np.int32)
    n = 0
    for i in range(len(keys)):
        place = _place(table, keys[i])
        if place >= 0:
            numbers[i] = place
            continue
        _put(table, keys[i], n)
        different[n] = keys[i]
        numbers[i] = n
        n += 1
        if 2 * n > len(table):
            table = table_loop(different[:n])
    return different[:n].copy(), numbers


@loop(nogil=True)
def features_loop(places, counts, starts, first, size, ids, weights, ends):
    """Puts first + places into `ids` where they are below `size`, and their counts into `weights`.

    ends: [texts + 1] where those of texts end; the first number says where they begin.
    """
    n = ends[0]
    for text in range(len(starts) - 1):
        for i in range(starts[text], starts[text + 1]):
            place = places[i]
            if place < size:
                ids[n] = first + place
                if len(weights) > 0:
                    weights[n] = counts[i]
                n += 1
        ends[text + 1] = n


@loop(nogil=True)
def find_loop(keys, table, unknown):
    """[keys] the place of each key, `unknown` for one that the table lacks."""
    places = np.empty(len(keys), dtype=np.int32)
    for i in range(len(keys)):
        place = _place(table, keys[i])
        places[i] = place if place >= 0 else unknown
    return places


@loop()
def _value_orders(length, low, high, value):
    """Gives each order the value of one of a text's n-grams, by the text's length."""
    for order in range(low, high + 1):
        value[order] = 1.0 / np.sqrt((high - low + 1) * max(1, length - order + 1))


@loop(nogil=True)
def known_grams_loop(keys, begins, lengths, low, high, table, size):
    """Places of each text's n-grams among `size` known ones, their values, and where they begin.

    Keys are those of `grams_loop`, and what is known are those that `occurrences_loop` makes
    different. By their values n-grams of each order have the same length together, all of them 1.
    New ones are left out, but a text that has no others has the place `size` once, of value 0.

    lengths: [texts] their characters.
    """
    places = np.empty(len(keys), dtype=np.int32)
    values = np.empty(len(keys))
    starts = np.zeros(len(begins), dtype=np.int64)
    value = np.empty(high + 1)
    count = np.zeros(size, dtype=np.int32)
    n = 0
    for text in range(len(lengths)):
        _value_orders(lengths[text], low, high, value)
        remaining = lengths[text]
        order = low
        for i in range(begins[text], begins[text + 1]):
            place = _place(table, keys[i])
            if place >= 0 and count[place] > 0:
                again = _longer(np.uint64(keys[i]), count[place])
                count[place] += 1
                place = _place(table, _stored(again))
            elif place >= 0:
                count[place] = 1
            if place >= 0:
                places[n] = place
                values[n] = value[order]
                n += 1
            order += 1
            if order > min(high, remaining):
                remaining -= 1
                order = low
        for i in range(starts[text], n):
            count[places[i]] = 0
        if n == starts[text] and begins[text] < begins[text + 1]:
            places[n] = size
            values[n] = 0.0
            n += 1
        starts[text + 1] = n
    return places[:n], values[:n], starts


@loop(nogil=True)
def products_loop(features, weights, starts, place, table):
    """[texts, k] each text's rows of the table, times their weights, in the table's precision.

    place: [features] the row of each. Four rows are added at once, as reading and writing the sums
    takes longest; they are found without a look at whether they count from the table's end.
    """
    size = table.shape[1]
    numbers = table.reshape(-1)
    products = np.zeros((len(starts) - 1, size), table.dtype)
    weights = weights.astype(table.dtype)
    for text in range(len(products)):
        total = products[text]
        begin = starts[text]
        end = starts[text + 1]
        last = end - (end - begin) % 4
        for i in range(begin, last, 4):
            first = np.uint64(place[features[i]] * size)
            second = np.uint64(place[features[i + 1]] * size)
            third = np.uint64(place[features[i + 2]] * size)
            fourth = np.uint64(place[features[i + 3]] * size)
            a = weights[i]
            b = weights[i + 1]
            c = weights[i + 2]
            d = weights[i + 3]
            for k in range(np.uint64(size)):
                one_pair = a * numbers[first + k] + b * numbers[second + k]
                another = c * numbers[third + k] + d * numbers[fourth + k]
                total[k] += one_pair + another
        for i in range(last, end):
            row = table[place[features[i]]]
            for k in range(size):
                total[k] += weights[i] * row[k]
    return products


@loop(nogil=True)
def matches_loop(terms, values, starts, others, other_values, other_starts, size):
    """[texts, size] products of texts' terms with others, which are given term by term."""
    products = np.zeros((len(starts) - 1, size))
    for text in range(len(products)):
        total = products[text]
        for i in range(starts[text], starts[text + 1]):
            for j in range(other_starts[terms[i]], other_starts[terms[i] + 1]):
                total[others[j]] += values[i] * other_values[j]
    return products


@loop()
def _weight(idf, count):
    """The weight of a term that a text has so often."""
    return idf if count == 1 else idf * (1.0 + np.log(count))


@loop(nogil=True)
def tfidf_loop(keys, begins, table, idf):
    """Terms and values of each text's vector of length 1, and where they begin.

    table: of the known terms. The last idf is that of new ones, which count in the length alone.
    """
    count = np.zeros(len(idf), dtype=np.int32)
    free, slots = _room(begins)
    row = np.empty(len(free), dtype=np.int64)
    new = np.empty(len(slots), dtype=np.int64)
    new_counts = np.empty(len(slots), dtype=np.int64)
    terms = np.empty(len(keys), dtype=np.int32)
    values = np.empty(len(keys))
    starts = np.zeros(len(begins), dtype=np.int64)
    n = 0
    for text in range(len(begins) - 1):
        n_new = 0
        for i in range(begins[text], begins[text + 1]):
            place = _place(table, keys[i])
            if place < 0:
                new[n_new] = keys[i]
                n_new += 1
                continue
            if count[place] == 0:
                terms[n] = place
                n += 1
            count[place] += 1
        square = 0.0
        for i in range(starts[text], n):
            values[i] = _weight(idf[terms[i]], count[terms[i]])
            count[terms[i]] = 0
            square += values[i] * values[i]
        for i in range(_counted(new[:n_new], free, slots, row, new, new_counts)):
            square += _weight(idf[-1], new_counts[i]) ** 2
        length = np.sqrt(square)
        for i in range(starts[text], n):
            values[i] /= length
        starts[text + 1] = n
    return terms[:n], values[:n], starts
