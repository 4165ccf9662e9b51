"""Longest common subsequences, 64 places at a time (Hyyrö 2004, "Bit-parallel LCS-length")."""

import numpy as np

from refless.loops.caching import loop

NOWHERE = np.uint64(0)
EVERYWHERE = ~NOWHERE
ONE = np.uint64(1)
# halves, quarters, ... of a word, whose ones are added up side by side
PAIRS = np.uint64(0x5555555555555555)
FOURS = np.uint64(0x3333333333333333)
EIGHTS = np.uint64(0x0F0F0F0F0F0F0F0F)
BYTES = np.uint64(0x0101010101010101)


@loop(nogil=True)
def common_loop(tokens, starts, rated, rated_starts, n_tokens):
    """[texts, rated texts] length of the longest common subsequence of every pair.

    Tokens are numbers below n_tokens; a text's lie between its start and the next one.
    """
    n = len(starts) - 1
    common = np.empty((n, len(rated_starts) - 1), np.int64)
    most = _words(np.diff(starts).max()) if n else 1
    # bits of the places of the text where each token stands
    places = np.zeros(n_tokens * most, np.uint64)
    has = np.zeros(n_tokens, np.bool_)
    room = np.empty(most, np.uint64)
    for text in range(n):
        mine = tokens[starts[text] : starts[text + 1]]
        free = room[: _words(len(mine))]
        for i in range(len(mine)):
            places[mine[i] * len(free) + i // 64] |= ONE << np.uint64(i % 64)
            has[mine[i]] = True
        for other in range(common.shape[1]):
            theirs = rated[rated_starts[other] : rated_starts[other + 1]]
            if len(free) == 1:
                common[text, other] = _common_of_short(theirs, places)
            else:
                common[text, other] = _common_of_long(theirs, has, places, free)
        for i in range(len(mine)):
            places[mine[i] * len(free) + i // 64] = NOWHERE
            has[mine[i]] = False
    return common


@loop(nogil=True)
def _words(length):
    """Number of words of 64 bits, at least one, for so many places."""
    return max(1, (length + 63) // 64)


@loop(nogil=True)
def _common_of_short(theirs, places):
    """Length of the longest common subsequence with a text of at most 64 tokens."""
    free = EVERYWHERE
    for token in theirs:
        both = free & places[np.uint64(token)]
        free = (free + both) | (free - both)
    return _ones(~free)


@loop(nogil=True)
def _common_of_long(theirs, has, places, free):
    """The same with a carry from each word to the next; it overwrites `free`."""
    free[:] = EVERYWHERE
    for token in theirs:
        if not has[token]:
            continue
        first = token * len(free)
        carry = NOWHERE
        for word in range(len(free)):
            both = free[word] & places[first + word]
            added = free[word] + both
            total = added + carry
            carry = np.uint64(added < both) | np.uint64(total < carry)
            free[word] = total | (free[word] - both)
    ones = 0
    for word in range(len(free)):
        ones += _ones(~free[word])
    return ones


@loop(nogil=True)
def _ones(bits):
    """Number of ones in a word (Warren, "Hacker's Delight", 5-1)."""
    bits -= (bits >> ONE) & PAIRS
    bits = (bits & FOURS) + ((bits >> np.uint64(2)) & FOURS)
    bits = (bits + (bits >> np.uint64(4))) & EIGHTS
    return np.int64((bits * BYTES) >> np.uint64(56))
