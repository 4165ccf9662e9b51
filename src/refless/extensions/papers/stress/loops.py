"""Sums for outputs that are the same for every item: one candidate against all references."""

import numpy as np

from refless.loops.caching import loop


@loop(nogil=True)
def spans_loop(ids, begins, ends, values):
    """[spans] sum of `values` over the features `ids[begins[i]:ends[i]]`."""
    found = np.zeros(len(begins))
    for span in range(len(found)):
        for k in range(begins[span], ends[span]):
            found[span] += values[ids[k]]
    return found


@loop(nogil=True)
def items_loop(ids, starts, of, first, frequencies):
    """The items of each feature, over all orders: (begins [features + 1], items).

    Item i's references are the texts `of[first[i]:first[i + 1]]`; `frequencies` says in how many
    items each feature is.
    """
    begins = np.zeros(len(frequencies) + 1, dtype=np.int64)
    begins[1:] = np.cumsum(frequencies)
    place = begins[:-1].copy()
    items = np.empty(begins[-1], dtype=np.int32)
    for order in range(len(starts)):
        for item in range(len(first) - 1):
            for k in range(first[item], first[item + 1]):
                for f in ids[starts[order, of[k]] : starts[order, of[k] + 1]]:
                    if place[f] == begins[f] or items[place[f] - 1] != item:
                        items[place[f]] = item
                        place[f] += 1
    return begins, items


@loop(nogil=True)
def bleu_sets_loop(
    ids, starts, lengths, begin, end, begins, items, closest, row, logs, best, known, out
):
    """[end - begin, 2 + 2 * order] sums of statistics if a candidate joins a set of sentences.

    An item takes the candidate where its BLEU+1 is above that of the set so far: `best` [items],
    with the statistics `known` [items, 2 + 2 * order]. `closest[row[c]]` [items] are the closest
    reference lengths for candidate c's length; `logs[k]` is the logarithm of k.
    """
    order, n = len(starts), closest.shape[1]
    matches = np.zeros((order, n), dtype=np.int64)
    for text in range(begin, end):
        matches[:] = 0
        for k in range(order):
            for f in ids[starts[k, text] : starts[k, text + 1]]:
                for p in range(begins[f], begins[f + 1]):
                    matches[k, items[p]] += 1
        length = lengths[text]
        total = out[text - begin]
        for item in range(n):
            score = bleu_plus_one(matches[:, item], length, closest[row[text], item], logs)
            if score > best[item] + 1e-9:
                total[0] += length
                total[1] += closest[row[text], item]
                for k in range(order):
                    total[2 + k] += matches[k, item]
                    total[2 + order + k] += max(length - k, 0)
            else:
                total += known[item]


@loop(nogil=True)
def bleu_plus_one(matches, length, closest, logs):
    """BLEU+1 of one sentence, 0 to 1: one is added to matches and totals above order 1."""
    if matches[0] == 0:
        return 0.0
    score = logs[matches[0]] - logs[length]
    for k in range(1, len(matches)):
        score += logs[matches[k] + 1] - logs[max(length - k, 0) + 1]
    return np.exp(score / len(matches) + min(0.0, 1 - closest / length))


@loop(nogil=True)
def shares_loop(ids, starts, of, share, base, idf, norms, clip, shares):
    """What each feature of each reference adds to a cosine, where the output has it.

    For one order. `of` are the references' texts, `share` what each counts; with k-th occurrences
    as features, min(mine, theirs) * theirs is theirs for each of the first k that both have.
    Without `clip` the first occurrence stands for all of the output's.
    """
    counts = np.zeros(len(base), dtype=np.int64)
    at = 0
    for r in range(len(of)):
        text = of[r]
        mine = ids[starts[text] : starts[text + 1]]
        for f in mine:
            counts[base[f]] += 1
        for f in mine:
            if norms[text] > 0 and (clip or f == base[f]):
                shares[at] = share[r] * counts[base[f]] * idf[f] ** 2 / norms[text]
            at += 1
        for f in mine:
            counts[base[f]] = 0


@loop(nogil=True)
def tallies_loop(ids, starts, of, shares, penalties, values):
    """Adds to `values` [features] the shares of all references, times their penalty, one order."""
    at = 0
    for r in range(len(of)):
        for f in ids[starts[of[r]] : starts[of[r] + 1]]:
            values[f] += shares[at] * penalties[r]
            at += 1


@loop(nogil=True)
def counts_loop(ids, starts, of, counts):
    """Adds to `counts` [features] how many references have each feature, for one order."""
    for text in of:
        for f in ids[starts[text] : starts[text + 1]]:
            counts[f] += 1


@loop(nogil=True)
def sorted_loop(ids, starts, of, item, shares, place, items, values, texts):
    """Sorts one order's shares by feature from `place` on: item, value and text of each."""
    at = 0
    for r in range(len(of)):
        for f in ids[starts[of[r]] : starts[of[r] + 1]]:
            p = place[f]
            items[p], values[p], texts[p] = item[r], shares[at], of[r]
            place[f] += 1
            at += 1


@loop(nogil=True)
def cider_items_loop(ids, starts, text, norms, begins, items, values, lengths, penalties, found):
    """[items] CIDEr of one candidate for each item, into `found`; lengths are the postings'."""
    found[:] = 0.0
    for order in range(len(starts)):
        if norms[order, text] > 0:
            for f in ids[starts[order, text] : starts[order, text + 1]]:
                for p in range(begins[f], begins[f + 1]):
                    found[items[p]] += values[p] * penalties[lengths[p]] / norms[order, text]


@loop(nogil=True)
def cider_sets_loop(
    ids, starts, begin, end, norms, begins, items, values, lengths, penalties, row, best, out
):
    """[end - begin] sum over items of the higher of `best` and the candidate's CIDEr."""
    found = np.zeros(len(best))
    for text in range(begin, end):
        cider_items_loop(
            ids, starts, text, norms, begins, items, values, lengths, penalties[row[text]], found
        )
        for item in range(len(best)):
            out[text - begin] += max(best[item], found[item])
