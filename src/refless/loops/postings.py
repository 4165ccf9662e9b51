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
def _link(ids, starts, rows, common, n, latest, first_entries, next_entries, sizes):
    """Numbers the entries of a block from n on, adds to sizes[entries], returns the next number.

    `latest` holds the latest entry of each feature, -1 before its first one.
    """
    begin = n
    for k in range(len(starts)):
        for row in rows:
            for feature in ids[starts[k, row] : starts[k, row + 1]]:
                if common[feature] >= 0:
                    continue
                entry = latest[feature]
                if entry < begin:
                    if entry < 0:
                        first_entries[feature] = n
                    else:
                        next_entries[entry] = n
                    entry = n
                    latest[feature] = n
                    n += 1
                sizes[entry] += 1
    return n


@loop(nogil=True)
def _put(ids, starts, rows, common, begin, latest, ends, members):
    """Puts the places of a block's texts among the members; ends[entries - begin] moves on."""
    for k in range(len(starts)):
        for place in range(len(rows)):
            for feature in ids[starts[k, rows[place]] : starts[k, rows[place] + 1]]:
                if common[feature] < 0:
                    entry = latest[feature] - begin
                    members[ends[entry]] = place
                    ends[entry] += 1


@loop(nogil=True)
def fill_loop(ids, starts, rows, common, n_members, n_entries, block):
    """First and next entries, where blocks and the members of entries begin, and members.

    Entries, and with them their members, lie block by block, for one block is matched at a time.
    """
    first_entries = np.full(len(common), n_entries, dtype=np.int32)
    next_entries = np.full(n_entries, n_entries, dtype=np.int32)
    latest = np.full(len(common), -1, dtype=np.int32)
    block_starts = np.zeros(-(-len(rows) // block) + 1, dtype=np.int64)
    member_starts = np.zeros(n_entries + 1, dtype=np.int64)
    members = np.empty(n_members, dtype=np.uint16)
    for number in range(len(block_starts) - 1):
        begin = block_starts[number]
        own = rows[number * block : (number + 1) * block]
        sizes = member_starts[1:]
        entries = latest, first_entries, next_entries, sizes
        end = _link(ids, starts, own, common, begin, *entries)
        block_starts[number + 1] = end
        for entry in range(begin, end):
            member_starts[entry + 1] += member_starts[entry]
        ends = member_starts[begin:end].copy()
        _put(ids, starts, own, common, begin, latest, ends, members)
    return first_entries, next_entries, block_starts, member_starts, members


@loop(nogil=True)
def bits_loop(ids, starts, rows, common, n_words, block):
    """[blocks, words, texts of a block] the common features that each rated text holds, as bits."""
    n_blocks = -(-len(rows) // block)
    bits = np.zeros((n_blocks, n_words, min(block, len(rows))), dtype=np.uint32)
    if n_words == 0:
        return bits
    for k in range(len(starts)):
        for place in range(len(rows)):
            number = place // block
            for i in range(starts[k, rows[place]], starts[k, rows[place] + 1]):
                bit = common[ids[i]]
                if bit >= 0:
                    bits[number, bit >> 5, place - number * block] |= np.uint32(
                        1
                    ) << np.uint32(bit & 31)
    return bits
