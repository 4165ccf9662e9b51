"""Clipped and weighted matches of outputs with several references each, for one n-gram order."""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def matches(grams, starts, output, reference, begins, weights, size, by_code):
    """[outputs] sum over an output's distinct n-grams of its best weighted match.

    grams: [tokens] id of the n-gram that starts at each token, -1 for none; starts: [texts + 1];
    output: [outputs] and reference: [all references] places of texts; references
    begins[i]:begins[i + 1] and their weights belong to output i; size: number of ids.

    An n-gram's match is the highest weight * clipped count over the references that hold it;
    by_code it is the highest weight among them times the count clipped by their highest count.
    Between two outputs (or references) the counters are all zero.
    """
    found = np.zeros(len(output), dtype=np.float64)
    mine = np.zeros(size, dtype=np.int64)  # counts in the output
    other = np.zeros(size, dtype=np.int64)  # counts in one reference
    most = np.zeros(size, dtype=np.int64)  # the highest count in a reference
    best = np.zeros(size, dtype=np.float64)
    for i in range(len(output)):
        text = grams[starts[output[i]] : starts[output[i] + 1]]
        _count(text, mine)
        for j in range(begins[i], begins[i + 1]):
            rest = grams[starts[reference[j]] : starts[reference[j] + 1]]
            _count(rest, other)
            _compare(rest, mine, other, most, best, weights[j], by_code)
        found[i] = _sum(text, mine, most, best, by_code)
    return found


@numba.njit(cache=True, nogil=True)
def _count(text, counts):
    for gram in text:
        if gram >= 0:
            counts[gram] += 1


@numba.njit(cache=True, nogil=True)
def _compare(text, mine, other, most, best, weight, by_code):
    """Takes one reference's n-grams into `most` and `best`; clears its counts."""
    for gram in text:
        if gram < 0 or other[gram] == 0:
            continue
        if mine[gram] > 0:
            value = weight if by_code else weight * min(mine[gram], other[gram])
            best[gram] = value if most[gram] == 0 else max(best[gram], value)
            most[gram] = max(most[gram], other[gram])
        other[gram] = 0


@numba.njit(cache=True, nogil=True)
def _sum(text, mine, most, best, by_code):
    """Adds up an output's distinct n-grams; clears its counts."""
    total = 0.0
    for gram in text:
        if gram < 0:
            continue
        if most[gram] > 0:
            total += best[gram] * (min(mine[gram], most[gram]) if by_code else 1)
        mine[gram] = 0
        most[gram] = 0
    return total
