"""Loops over code points: words, their runs and letters as 63-bit keys, counted text by text.

Equal strings have equal keys. Different ones differ, but for one pair in some 10**19.
"""

import numpy as np

from refless.loops.caching import loop

# classes of characters, as bits
WORD = 1  # a letter, a digit, or _
SPACE = 2
MARK = 4  # belongs to the letter before
UNBROKEN = 8  # of a script without blanks
ALNUM = 16
CAPITAL = 32
DIGIT = 64
FULL_STOP = 128
SENTENCE_END = 256
QUESTION = 512
COMMA = 1024
KNOWN = 2048

BLANK = 32  # stands at both ends of a word whose letters are read


@loop()
def _longer(key, part):
    """The key of a string, or a run of words, that is longer by one character, or one word."""
    key = (key ^ np.uint64(part)) * np.uint64(0x9E3779B97F4A7C15)
    return key ^ (key >> np.uint64(29))


@loop()
def _stored(key):
    """A key as a number that is not negative: -1 marks free slots of tables."""
    return np.int64(key >> np.uint64(1))


@loop(nogil=True)
def words_loop(points, starts, classes, whole):
    """Words and marks: where each text's begin, and the place, the size and the key of each."""
    begins = np.zeros(len(starts), dtype=np.int64)
    places = np.empty(len(points), dtype=np.int64)
    sizes = np.empty(len(points), dtype=np.int64)
    keys = np.empty(len(points), dtype=np.int64)
    n = 0
    for text in range(len(starts) - 1):
        i = starts[text]
        end = starts[text + 1]
        while i < end:
            kind = classes[points[i]]
            if kind & SPACE:
                i += 1
                continue
            begin = i
            key = _longer(np.uint64(0), points[i])
            i += 1
            joined = MARK if kind & UNBROKEN and not whole else MARK | WORD
            while kind & WORD and i < end:
                following = classes[points[i]]
                apart = following & UNBROKEN and not following & MARK and not whole
                if apart or not following & joined:
                    break
                key = _longer(key, points[i])
                i += 1
            places[n] = begin
            sizes[n] = i - begin
            keys[n] = _stored(key)
            n += 1
        begins[text + 1] = n
    return begins, places[:n], sizes[:n], keys[:n]


@loop(nogil=True)
def split_loop(points, starts, classes):
    """Keys of what stands between blanks, and where each text's begin."""
    keys = np.empty((len(points) + len(starts)) // 2, dtype=np.int64)
    begins = np.zeros(len(starts), dtype=np.int64)
    n = 0
    for text in range(len(starts) - 1):
        key = np.uint64(0)
        size = 0
        for i in range(starts[text], starts[text + 1] + 1):
            if i < starts[text + 1] and not classes[points[i]] & SPACE:
                key = _longer(key, points[i])
                size += 1
            elif size > 0:
                keys[n] = _stored(key)
                n += 1
                key = np.uint64(0)
                size = 0
        begins[text + 1] = n
    return keys[:n], begins


@loop(nogil=True)
def runs_loop(keys, begins, length, most):
    """Keys of the runs of so many words, out of each text's first ones; and where they begin."""
    runs = np.empty(len(keys), dtype=np.int64)
    starts = np.zeros(len(begins), dtype=np.int64)
    n = 0
    for text in range(len(begins) - 1):
        own = keys[begins[text] : min(begins[text + 1], begins[text] + most)]
        for i in range(len(own) - length + 1):
            key = np.uint64(length)
            for k in range(i, i + length):
                key = _longer(key, own[k])
            runs[n] = _stored(key)
            n += 1
        starts[text + 1] = n
    return runs[:n], starts


@loop(nogil=True)
def pairs_loop(keys, begins):
    """Keys of each text's words and pairs of neighbours, and where they begin."""
    terms = np.empty(2 * len(keys), dtype=np.int64)
    starts = np.zeros(len(begins), dtype=np.int64)
    n = 0
    for text in range(len(begins) - 1):
        for i in range(begins[text], begins[text + 1]):
            terms[n] = keys[i]
            n += 1
            if i + 1 < begins[text + 1]:
                terms[n] = _stored(_longer(_longer(np.uint64(2), keys[i]), keys[i + 1]))
                n += 1
        starts[text + 1] = n
    return terms[:n], starts


@loop(nogil=True)
def letters_loop(points, begins, places, sizes, low, high):
    """Keys of the runs of `low` to `high` letters of each word with a blank at both ends."""
    total = 0
    for size in sizes:
        total += (size + 2) * (high - low + 1)
    runs = np.empty(total, dtype=np.int64)
    starts = np.zeros(len(begins), dtype=np.int64)
    n = 0
    for text in range(len(begins) - 1):
        for word in range(begins[text], begins[text + 1]):
            last = sizes[word] + 1  # the blank behind
            before = places[word] - 1
            for i in range(last - low + 2):
                key = np.uint64(0)
                for j in range(i, min(i + high, last + 1)):
                    inside = 0 < j < last
                    key = _longer(key, points[before + j] if inside else BLANK)
                    if j - i >= low - 1:
                        runs[n] = _stored(key)
                        n += 1
        starts[text + 1] = n
    return runs[:n], starts


@loop(nogil=True)
def grams_loop(points, starts, low, high):
    """Keys of the n-grams of each text of `high` characters or more, and where they begin.

    And values, by which the n-grams of each order have the same length together, all of them 1.
    """
    orders = high - low + 1
    keys = np.empty(orders * len(points), dtype=np.int64)
    values = np.empty(len(keys))
    begins = np.zeros(len(starts), dtype=np.int64)
    value = np.empty(high + 1)
    n = 0
    for text in range(len(starts) - 1):
        end = starts[text + 1]
        size = end - starts[text]
        for order in range(low, high + 1):
            value[order] = 1.0 / np.sqrt(orders * max(1, size - order + 1))
        for i in range(starts[text] if size >= high else end, end):
            key = np.uint64(0)
            for j in range(i, min(i + high, end)):
                key = _longer(key, points[j])
                if j - i >= low - 1:
                    keys[n] = _stored(key)
                    values[n] = value[j - i + 1]
                    n += 1
        begins[text + 1] = n
    return keys[:n], values[:n], begins


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
        first = n
        for i in range(begins[text], begins[text + 1]):
            key = keys[i]
            slot = _slot(table, key)
            if table[slot] == key:
                counts[row[slot]] += 1
                continue
            table[slot] = key
            row[slot] = n
            slots[n - first] = slot
            different[n] = key
            counts[n] = 1
            n += 1
        for i in range(n - first):
            table[slots[i]] = -1
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


@loop(nogil=True)
def table_loop(keys):
    """A table to look keys up in, and the place of each among these keys."""
    size = 16
    while size < 3 * len(keys):
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    place = np.empty(size, dtype=np.int32)
    for i in range(len(keys)):
        slot = _slot(table, keys[i])
        table[slot] = keys[i]
        place[slot] = i
    return table, place


@loop(nogil=True)
def numbers_loop(keys):
    """The different keys in order of appearance, and the number of each key by that order."""
    table, place = table_loop(keys[:0])
    different = np.empty_like(keys)
    numbers = np.empty(len(keys), dtype=np.int32)
    n = 0
    for i in range(len(keys)):
        key = keys[i]
        slot = _slot(table, key)
        if table[slot] == key:
            numbers[i] = place[slot]
            continue
        table[slot] = key
        place[slot] = n
        different[n] = key
        numbers[i] = n
        n += 1
        if 2 * n > len(table):
            table, place = table_loop(different[:n])
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
def find_loop(keys, table, place, unknown):
    """[keys] the place of each key, `unknown` for one that the table lacks."""
    places = np.empty(len(keys), dtype=np.int32)
    for i in range(len(keys)):
        slot = _slot(table, keys[i])
        places[i] = place[slot] if table[slot] == keys[i] else unknown
    return places


@loop(nogil=True)
def marks_loop(points, starts, classes):
    """[texts, 7] capitals, digits, questions, commas, sentences; capital first, full stop last."""
    numbers = np.zeros((len(starts) - 1, 7))
    for text in range(len(starts) - 1):
        row = numbers[text]
        inside = False
        last = 0
        for i in range(starts[text], starts[text + 1]):
            kind = classes[points[i]]
            row[0] += (kind & CAPITAL) > 0
            row[1] += (kind & DIGIT) > 0
            row[2] += (kind & QUESTION) > 0
            row[3] += (kind & COMMA) > 0
            ends = (kind & SENTENCE_END) > 0
            row[4] += ends and not inside
            inside = ends
            if not kind & SPACE:
                last = kind
        if starts[text] < starts[text + 1]:
            row[5] = (classes[points[starts[text]]] & CAPITAL) > 0
        row[6] = (last & FULL_STOP) > 0
    return numbers


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


@loop(nogil=True)
def tfidf_loop(places, counts, starts, idf):
    """Terms and values of each text's vector of length 1, and where they begin.

    The last idf is that of new terms, which count in the length alone.
    """
    n_terms = len(idf) - 1
    terms = np.empty(len(places), dtype=np.int32)
    values = np.empty(len(places))
    begins = np.zeros(len(starts), dtype=np.int64)
    n = 0
    for text in range(len(starts) - 1):
        square = 0.0
        for i in range(starts[text], starts[text + 1]):
            value = idf[places[i]]
            if counts[i] > 1:
                value *= 1.0 + np.log(counts[i])
            square += value * value
            if places[i] < n_terms:
                terms[n] = places[i]
                values[n] = value
                n += 1
        length = np.sqrt(square)
        for i in range(begins[text], n):
            values[i] /= length
        begins[text + 1] = n
    return terms[:n].copy(), values[:n].copy(), begins
