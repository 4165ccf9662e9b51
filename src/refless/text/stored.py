"""N-grams of rated texts as arrays of a saved file, and back, checked.

Loops index with these numbers, so none may lead them outside of an array.
"""

from collections.abc import Mapping

import numpy as np

from refless.files.arrays import (
    Array,
    Arrays,
    array_of,
    check_sorted,
    json_array,
    json_of,
    require,
)
from refless.registry.arrays import IntArray, Strings
from refless.text.ngrams import Shape, Vocabulary

TOKENS = "tokens"


def vocabulary_names(shape: Shape) -> list[str]:
    """The names of the arrays: tokens, keys of each order from 2 on, firsts of each counted."""
    keys = [f"keys {order}" for order in range(2, shape.high + 1)]
    firsts = [f"firsts {order}" for order in range(shape.low, shape.high + 1)]
    return [TOKENS, *keys, *firsts]


def vocabulary_arrays(vocabulary: Vocabulary) -> Arrays:
    """The n-grams of a pool."""
    tokens = json_array(vocabulary.tokens)
    arrays = (tokens, *vocabulary.keys, *vocabulary.firsts)
    return dict(zip(vocabulary_names(vocabulary.shape), arrays, strict=True))


def vocabulary_in(shape: Shape, arrays: Mapping[str, Array]) -> Vocabulary:
    """The n-grams: those of an order are as many as its keys, or as the tokens.

    Raises:
        ValueError: arrays that lead elsewhere.
    """
    tokens = json_of(arrays, TOKENS, Strings)
    check_sorted(TOKENS, tokens)
    are_short = shape.tokenize != "char" or {*map(len, tokens)} <= {1}
    require(are_short, "a token is no character")
    sizes = {1: len(tokens)}
    keys = []
    for order in range(2, shape.high + 1):
        keys.append(line_of(arrays, f"keys {order}", "<i8"))
        sizes[order] = len(keys[-1])
    firsts = []
    begin = 0
    for order in range(shape.low, shape.high + 1):
        name = f"firsts {order}"
        first = starts_of(arrays, name, sizes[order], begin)
        begin = int(first[-1])
        require(begin < 2**31, f"{name} has too large a number")
        firsts.append(first)
    return Vocabulary(
        shape=shape, tokens=tokens, keys=tuple(keys), firsts=tuple(firsts)
    )


def line_of(arrays: Mapping[str, Array], name: str, dtype: str) -> Array:
    """An array of one axis, of any length; raises ValueError for another one, or for none."""
    require(name in arrays, f"{name} is missing")
    return array_of(arrays, name, (arrays[name].size,), dtype)


def starts_of(
    arrays: Mapping[str, Array], name: str, size: int, begin: int = 0
) -> IntArray:
    """[size + 1] whole numbers that begin with this one and never fall; else ValueError."""
    starts = array_of(arrays, name, (size + 1,), "<i8")
    require(int(starts[0]) == begin, f"{name} begins elsewhere")
    require(bool((np.diff(starts) >= 0).all()), f"{name} falls")
    return starts
