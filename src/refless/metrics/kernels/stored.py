"""Rated texts as BLEU* has read them, as arrays of a saved file, and back, checked.

Loops index with these numbers, so none may lead them outside of an array.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from refless.files.arrays import Array, Arrays, array_of, check_within, require
from refless.metrics.kernels.bleu import PreparedBleu
from refless.metrics.postings import BLOCK, Postings, by_length
from refless.registry.arrays import IntArray
from refless.text.ngrams import Shape, Vocabulary
from refless.text.stored import (
    line_of,
    starts_of,
    vocabulary_arrays,
    vocabulary_in,
    vocabulary_names,
)
from refless.text.terms import tokens_of

INDEX = {
    "entries": "<i4",
    "block_starts": "<i8",
    "member_starts": "<i8",
    "members": "<u2",
    "common": "<i2",
    "bits": "<u4",
    "words": "<i8",
}


def arrays_of(prepared: PreparedBleu) -> Arrays:
    """The n-grams and the postings of rated texts."""
    postings = {name: getattr(prepared.postings, name) for name in INDEX}
    return vocabulary_arrays(prepared.vocabulary) | postings


def names_of(shape: Shape) -> set[str]:
    """The names of all arrays."""
    return {*INDEX, *vocabulary_names(shape)}


def prepared_in(
    texts: Sequence[str], shape: Shape, arrays: Mapping[str, Array]
) -> PreparedBleu:
    """The rated texts as they were read; raises ValueError for arrays that lead elsewhere."""
    vocabulary = vocabulary_in(shape, arrays)
    lengths = tokens_of(texts, shape.tokenize).lengths
    postings = _postings(lengths, vocabulary, arrays)
    return PreparedBleu.joined(vocabulary, postings)


def _postings(
    lengths: IntArray, vocabulary: Vocabulary, arrays: Mapping[str, Array]
) -> Postings:
    """The postings of texts of these lengths."""
    rows = by_length(lengths)
    starts = [*range(0, len(rows), BLOCK), len(rows)]
    sizes = np.array([b - a for a, b in pairwise(starts)], dtype=np.int64)
    block_starts = starts_of(arrays, "block_starts", len(sizes))
    n_entries = int(block_starts[-1])
    entry_blocks = np.repeat(
        np.arange(len(sizes) + 1), np.diff(block_starts, append=n_entries + 1)
    )
    n_features = vocabulary.features
    entries = array_of(arrays, "entries", (n_features + n_entries,), "<i4")
    check_within("entries", entries, n_entries + 1)
    later = entry_blocks[entries[n_features:]] > entry_blocks[:-1]
    require(bool(later.all()), "an entry's next one is in no later block")
    members = line_of(arrays, "members", "<u2")
    member_starts = starts_of(arrays, "member_starts", n_entries)
    require(int(member_starts[-1]) == len(members), "member_starts end elsewhere")
    require(bool((np.diff(member_starts) > 0).all()), "an entry has no members")
    last = np.maximum.reduceat(members, member_starts[:-1]) if len(members) else members
    require(bool((last < sizes[entry_blocks[:-1]]).all()), "a member is in no block")
    words = starts_of(arrays, "words", vocabulary.shape.orders)
    width = int(words[-1])
    require(width <= 2**10, "words has too large a number")
    common = array_of(arrays, "common", (n_features,), "<i2")
    check_within("common", common + 1, 32 * width + 1)
    block = int(sizes.max(initial=0))
    return Postings(
        low=vocabulary.shape.low,
        rows=rows,
        lengths=lengths[rows],
        entries=entries,
        block_starts=block_starts,
        member_starts=member_starts,
        members=members,
        common=common,
        bits=array_of(arrays, "bits", (len(sizes), width, block), "<u4"),
        words=words,
    )
