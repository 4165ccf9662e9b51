"""Rated texts as BLEU* has read them, as arrays of a saved file, and back, checked.

Loops index with these numbers, so none may lead them outside of an array.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from refless.files.arrays import (
    Array,
    Arrays,
    array_of,
    check_sorted,
    check_within,
    json_array,
    json_of,
    require,
)
from refless.metrics.kernels.bleu import PreparedBleu
from refless.metrics.postings import BLOCK, Postings, by_length
from refless.registry.arrays import IntArray, Strings
from refless.text.ngrams import Shape, Vocabulary
from refless.text.tokenize import token_counts

TOKENS = "tokens"
INDEX = {
    "entry_starts": "<i8",
    "entry_blocks": "<i4",
    "member_starts": "<i8",
    "members": "<u2",
    "common": "<i2",
    "bits": "<u4",
    "words": "<i8",
}


def arrays_of(prepared: PreparedBleu) -> Arrays:
    """The n-grams and the postings of rated texts."""
    vocabulary = prepared.vocabulary
    arrays: Arrays = {TOKENS: json_array(vocabulary.tokens)}
    arrays |= {name: getattr(prepared.postings, name) for name in INDEX}
    names = _names(vocabulary.shape)
    return arrays | dict(
        zip(names, (*vocabulary.keys, *vocabulary.firsts), strict=True)
    )


def _names(shape: Shape) -> list[str]:
    """The names of the arrays of n-grams: keys of each order from 2 on, firsts of each counted."""
    keys = [f"keys {order}" for order in range(2, shape.high + 1)]
    return [*keys, *(f"firsts {order}" for order in range(shape.low, shape.high + 1))]


def names_of(shape: Shape) -> set[str]:
    """The names of all arrays."""
    return {TOKENS, *INDEX, *_names(shape)}


def prepared_in(
    texts: Sequence[str], shape: Shape, arrays: Mapping[str, Array]
) -> PreparedBleu:
    """The rated texts as they were read; raises ValueError for arrays that lead elsewhere."""
    vocabulary = _vocabulary(shape, arrays)
    lengths = token_counts(texts, shape.tokenize)
    postings = _postings(lengths, vocabulary, arrays)
    return PreparedBleu.joined(vocabulary, postings)


def _vocabulary(shape: Shape, arrays: Mapping[str, Array]) -> Vocabulary:
    """The n-grams: those of an order are as many as its keys, or as the tokens."""
    tokens = json_of(arrays, TOKENS, Strings)
    check_sorted(TOKENS, tokens)
    are_short = shape.tokenize != "char" or {*map(len, tokens)} <= {1}
    require(are_short, "a token is no character")
    sizes = {1: len(tokens)}
    keys = []
    for order in range(2, shape.high + 1):
        keys.append(_line(arrays, f"keys {order}", "<i8"))
        sizes[order] = len(keys[-1])
    firsts = []
    begin = 0
    for order in range(shape.low, shape.high + 1):
        name = f"firsts {order}"
        first = _starts(arrays, name, sizes[order], begin)
        begin = int(first[-1])
        require(begin < 2**31, f"{name} has too large a number")
        firsts.append(first)
    return Vocabulary(
        shape=shape, tokens=tokens, keys=tuple(keys), firsts=tuple(firsts)
    )


def _postings(
    lengths: IntArray, vocabulary: Vocabulary, arrays: Mapping[str, Array]
) -> Postings:
    """The postings of texts of these lengths."""
    rows = by_length(lengths)
    starts = [*range(0, len(rows), BLOCK), len(rows)]
    sizes = np.array([b - a for a, b in pairwise(starts)], dtype=np.int64)
    entry_blocks = _line(arrays, "entry_blocks", "<i4")
    check_within("entry_blocks", entry_blocks, len(sizes))
    members = _line(arrays, "members", "<u2")
    member_starts = _starts(arrays, "member_starts", len(entry_blocks))
    entry_starts = _starts(arrays, "entry_starts", vocabulary.features)
    require(int(entry_starts[-1]) == len(entry_blocks), "entry_starts end elsewhere")
    require(int(member_starts[-1]) == len(members), "member_starts end elsewhere")
    require(bool((np.diff(member_starts) > 0).all()), "an entry has no members")
    last = np.maximum.reduceat(members, member_starts[:-1]) if len(members) else members
    require(bool((last < sizes[entry_blocks]).all()), "a member is in no block")
    words = _starts(arrays, "words", vocabulary.shape.orders)
    width = int(words[-1])
    require(width <= 2**10, "words has too large a number")
    common = array_of(arrays, "common", (vocabulary.features,), "<i2")
    check_within("common", common + 1, 32 * width + 1)
    block = int(sizes.max(initial=0))
    return Postings(
        block=BLOCK,
        low=vocabulary.shape.low,
        rows=rows,
        lengths=lengths[rows],
        entry_starts=entry_starts,
        entry_blocks=entry_blocks,
        member_starts=member_starts,
        members=members,
        common=common,
        bits=array_of(arrays, "bits", (len(sizes), width, block), "<u4"),
        words=words,
    )


def _line(arrays: Mapping[str, Array], name: str, dtype: str) -> Array:
    """An array of one axis, of any length."""
    return array_of(arrays, name, (arrays[name].size,), dtype)


def _starts(
    arrays: Mapping[str, Array], name: str, size: int, begin: int = 0
) -> IntArray:
    """[size + 1] whole numbers that begin with this one and never fall."""
    starts = array_of(arrays, name, (size + 1,), "<i8")
    require(int(starts[0]) == begin, f"{name} begins elsewhere")
    require(bool((np.diff(starts) >= 0).all()), f"{name} falls")
    return starts
