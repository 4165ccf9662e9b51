"""N-grams of rated texts as arrays of a saved file, and back, checked.

Loops index with these numbers, so none may lead them outside of an array.
"""

from collections.abc import Mapping

import numpy as np

from refless.files.arrays import Array, Arrays, array_of, require
from refless.registry.arrays import IntArray
from refless.text.ngrams import Shape, Vocabulary
from refless.text.terms import KnownTerms


def vocabulary_names(shape: Shape) -> list[str]:
    """The names of the arrays: the keys of each order."""
    return [f"keys {order}" for order in range(shape.low, shape.high + 1)]


def vocabulary_arrays(vocabulary: Vocabulary) -> Arrays:
    """The n-grams of a pool."""
    names = vocabulary_names(vocabulary.shape)
    keys = (known.keys for known in vocabulary.known)
    return dict(zip(names, keys, strict=True))


def vocabulary_in(shape: Shape, arrays: Mapping[str, Array]) -> Vocabulary:
    """The n-grams; raises ValueError for arrays that are others."""
    known = tuple(terms_in(arrays, name) for name in vocabulary_names(shape))
    vocabulary = Vocabulary(shape, known)
    require(vocabulary.features < 2**31, "n-grams are too many")
    return vocabulary


def terms_in(arrays: Mapping[str, Array], name: str) -> KnownTerms:
    """The terms of these keys; raises ValueError where they are not sorted."""
    keys = line_of(arrays, name, "<i8")
    require(bool((np.diff(keys) > 0).all()), f"{name} are not sorted")
    return KnownTerms(keys)


def line_of(arrays: Mapping[str, Array], name: str, dtype: str) -> Array:
    """An array of one axis, of any length; raises ValueError for another one, or for none."""
    require(name in arrays, f"{name} is missing")
    return array_of(arrays, name, (arrays[name].size,), dtype)


def starts_of(arrays: Mapping[str, Array], name: str, size: int) -> IntArray:
    """[size + 1] whole numbers that begin with 0 and never fall; else ValueError."""
    starts = array_of(arrays, name, (size + 1,), "<i8")
    require(int(starts[0]) == 0, f"{name} begins elsewhere")
    require(bool((np.diff(starts) >= 0).all()), f"{name} falls")
    return starts
