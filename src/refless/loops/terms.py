"""Loops over code points: words, their runs and letters as 63-bit keys, text by text.

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
    """Keys of the n-grams of each text of `high` characters or more, and where they begin."""
    keys = np.empty((high - low + 1) * len(points), dtype=np.int64)
    begins = np.zeros(len(starts), dtype=np.int64)
    n = 0
    for text in range(len(starts) - 1):
        end = starts[text + 1]
        for i in range(starts[text] if end - starts[text] >= high else end, end):
            key = np.uint64(0)
            for j in range(i, min(i + high, end)):
                key = _longer(key, points[j])
                if j - i >= low - 1:
                    keys[n] = _stored(key)
                    n += 1
        begins[text + 1] = n
    return keys[:n], begins


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
