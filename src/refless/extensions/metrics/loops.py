"""Loops over outputs with several references each, for one n-gram order."""

import numpy as np

from refless.loops.caching import loop


@loop(nogil=True)
def matches(ids, counts, starts, outputs, references, begins, weights, size, by_code):
    """[outputs] sum over an output's distinct n-grams of its best weighted match.

    Text i has the n-grams ids[starts[i]:starts[i + 1]], each once, with their counts. outputs and
    references [all references] are places of texts; references begins[i]:begins[i + 1] and their
    weights belong to output i; size: number of ids.

    An n-gram's match is the highest weight * clipped count over the references that hold it;
    by_code it is the highest weight among them times the count clipped by their highest count.
    Between two outputs the counters `mine` and `most` are all zero.
    """
    totals = np.zeros(len(outputs), dtype=np.float64)
    mine = np.zeros(size, dtype=np.int64)  # counts in the output
    most = np.zeros(size, dtype=np.int64)  # the highest count in a reference
    best = np.zeros(size, dtype=np.float64)
    for i in range(len(outputs)):
        first = starts[outputs[i]]
        last = starts[outputs[i] + 1]
        for k in range(first, last):
            mine[ids[k]] = counts[k]
        for j in range(begins[i], begins[i + 1]):
            for k in range(starts[references[j]], starts[references[j] + 1]):
                gram = ids[k]
                if mine[gram] > 0:
                    value = (
                        weights[j]
                        if by_code
                        else weights[j] * min(mine[gram], counts[k])
                    )
                    best[gram] = value if most[gram] == 0 else max(best[gram], value)
                    most[gram] = max(most[gram], counts[k])
        for k in range(first, last):
            gram = ids[k]
            if most[gram] > 0:
                totals[i] += best[gram] * (
                    min(mine[gram], most[gram]) if by_code else 1
                )
            mine[gram] = 0
            most[gram] = 0
    return totals


@loop(nogil=True)
def document_frequencies(ids, starts, texts, begins, size):
    """[size] number of documents with the n-gram; document d has texts[begins[d]:begins[d + 1]]."""
    frequencies = np.zeros(size, dtype=np.int64)
    seen_in = np.full(size, -1, dtype=np.int64)
    for document in range(len(begins) - 1):
        for i in range(begins[document], begins[document + 1]):
            for k in range(starts[texts[i]], starts[texts[i] + 1]):
                gram = ids[k]
                if seen_in[gram] != document:
                    seen_in[gram] = document
                    frequencies[gram] += 1
    return frequencies


@loop(nogil=True)
def clipped_cosines(ids, counts, starts, idf, outputs, references, begins):
    """[references] cosine of each with its output; its output's weights are at most its own.

    Texts, outputs and references are as in `matches`; an n-gram weighs its count times its idf.
    Between two outputs all of `mine` is zero.
    """
    norms = np.zeros(len(starts) - 1)
    for text in range(len(norms)):
        for k in range(starts[text], starts[text + 1]):
            norms[text] += (counts[k] * idf[ids[k]]) ** 2
    norms = np.sqrt(norms)
    cosines = np.zeros(len(references))
    mine = np.zeros(len(idf))
    for i in range(len(outputs)):
        first = starts[outputs[i]]
        last = starts[outputs[i] + 1]
        for k in range(first, last):
            mine[ids[k]] = counts[k] * idf[ids[k]]
        for j in range(begins[i], begins[i + 1]):
            text = references[j]
            total = 0.0
            for k in range(starts[text], starts[text + 1]):
                weight = counts[k] * idf[ids[k]]
                total += min(mine[ids[k]], weight) * weight
            size = norms[outputs[i]] * norms[text]
            if size > 0.0:
                cosines[j] = total / size
        for k in range(first, last):
            mine[ids[k]] = 0.0
    return cosines
