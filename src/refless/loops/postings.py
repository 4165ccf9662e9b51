"""Loops that build postings: a counting sort, and the bits of common features."""

import numpy as np

from refless.loops.caching import loop


@loop(nogil=True)
def occurrences_loop(ids, n_features):
    """[features] how many texts have each: `np.bincount`, which would copy the ids as 64 bits."""
    counts = np.zeros(n_features, dtype=np.int64)
    for feature in ids:
        counts[feature] += 1
    return counts


@loop(nogil=True)
def count_loop(ids, starts, rows, common, n_features, block):
    """Number of postings, and of blocks that have any, of each feature but the common ones."""
    n_members = np.zeros(n_features, dtype=np.int64)
    n_entries = np.zeros(n_features, dtype=np.int64)
    last_block = np.full(n_features, -1, dtype=np.int32)
    for k in range(len(starts)):
        for place in range(len(rows)):
            number = place // block
            for i in range(starts[k, rows[place]], starts[k, rows[place] + 1]):
                feature = ids[i]
                if common[feature] >= 0:
                    continue
                n_members[feature] += 1
                if last_block[feature] != number:
                    last_block[feature] = number
                    n_entries[feature] += 1
    return n_members, n_entries


@loop(nogil=True)
def fill_loop(ids, starts, rows, common, entry_starts, member_ends, block):
    """Fills the blocks of entries, where the members of each begin, and the members.

    `member_ends` holds where each feature's members begin, and is moved to their ends.
    """
    n_members = member_ends[-1]
    entry_blocks = np.empty(entry_starts[-1], dtype=np.int32)
    member_starts = np.full(entry_starts[-1] + 1, n_members, dtype=np.int64)
    members = np.empty(n_members, dtype=np.uint16)
    next_entry = entry_starts[:-1].copy()
    last_block = np.full(len(next_entry), -1, dtype=np.int32)
    for k in range(len(starts)):
        for place in range(len(rows)):
            number = place // block
            for i in range(starts[k, rows[place]], starts[k, rows[place] + 1]):
                feature = ids[i]
                if common[feature] >= 0:
                    continue
                if last_block[feature] != number:
                    last_block[feature] = number
                    entry_blocks[next_entry[feature]] = number
                    member_starts[next_entry[feature]] = member_ends[feature]
                    next_entry[feature] += 1
                members[member_ends[feature]] = place - number * block
                member_ends[feature] += 1
    return entry_blocks, member_starts, members


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
