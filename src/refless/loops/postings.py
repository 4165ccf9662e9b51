"""Loops that build postings: a counting sort, and the bits of common features."""

import numpy as np

from refless.loops.caching import loop


@loop(nogil=True)
def occurrences_loop(ids, starts, rows, n_features, block):
    """[features] how many texts have each, and how many blocks."""
    n_members = np.zeros(n_features, dtype=np.int64)
    n_entries = np.zeros(n_features, dtype=np.int64)
    last_block = np.full(n_features, -1, dtype=np.int32)
    for k in range(len(starts)):
        for place in range(len(rows)):
            number = place // block
            for feature in ids[starts[k, rows[place]] : starts[k, rows[place] + 1]]:
                n_members[feature] += 1
                if last_block[feature] != number:
                    last_block[feature] = number
                    n_entries[feature] += 1
    return n_members, n_entries


@loop(nogil=True)
def _link(ids, starts, rows, common, n, latest, entries, sizes):
    """Numbers the entries of a block from n on, adds to sizes[entries], returns the next number.

    `latest` holds for each feature where in `entries` its latest one is named, or itself.
    """
    n_features = len(common)
    begin = n_features + n
    for k in range(len(starts)):
        for row in rows:
            for feature in ids[starts[k, row] : starts[k, row + 1]]:
                if common[feature] < 0:
                    if latest[feature] < begin:
                        entries[latest[feature]] = n
                        latest[feature] = n_features + n
                        n += 1
                    sizes[latest[feature] - n_features] += 1
    return n


@loop(nogil=True)
def _put(ids, starts, rows, common, first, latest, ends, members, bits):
    """Puts the places of a block's texts among the members, or their features into bits.

    `first` stands for the block's first entry in `latest`; ends[entries of the block] move on.
    """
    for k in range(len(starts)):
        for place in range(len(rows)):
            for feature in ids[starts[k, rows[place]] : starts[k, rows[place] + 1]]:
                bit = common[feature]
                if bit >= 0:
                    bits[bit >> 5, place] |= np.uint32(1) << np.uint32(bit & 31)
                    continue
                entry = latest[feature] - first
                members[ends[entry]] = place
                ends[entry] += 1


@loop(nogil=True)
def fill_loop(ids, starts, rows, common, n_members, n_entries, n_words, block):
    """Entries, where blocks and the members of entries begin, members, and bits, as of `Postings`.

    Entries, and with them their members, lie block by block, for one block is matched at a time.
    """
    n_features = len(common)
    n_blocks = -(-len(rows) // block)
    entries = np.full(n_features + n_entries, n_entries, dtype=np.int32)
    latest = np.arange(n_features, dtype=np.int32)
    block_starts = np.zeros(n_blocks + 1, dtype=np.int64)
    member_starts = np.zeros(n_entries + 1, dtype=np.int64)
    members = np.empty(n_members, dtype=np.uint16)
    bits = np.zeros((n_blocks, n_words, min(block, len(rows))), dtype=np.uint32)
    for number in range(n_blocks):
        begin = block_starts[number]
        own = rows[number * block : (number + 1) * block]
        end = _link(ids, starts, own, common, begin, latest, entries, member_starts[1:])
        block_starts[number + 1] = end
        for entry in range(begin, end):
            member_starts[entry + 1] += member_starts[entry]
        first = n_features + begin
        ends = member_starts[begin:end].copy()
        _put(ids, starts, own, common, first, latest, ends, members, bits[number])
    return entries, block_starts, member_starts, members, bits
