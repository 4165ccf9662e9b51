"""Slow twins that several tests use."""

import math
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from refless.metrics.bleu import gram_counts
from refless.registry.arrays import FloatArray


def gram_cosine(output: str, rated: str) -> float:
    """The slow twin of products of `KnownGrams`: clipped matches of 2 to 4 characters."""
    if min(len(output), len(rated)) < 4:
        return 0.0
    total = 0.0
    for n in (2, 3, 4):
        mine = gram_counts([*output], n)
        theirs = gram_counts([*rated], n)
        matches = (mine & theirs).total()
        total += matches / math.sqrt(mine.total() * theirs.total())
    return total / 3


def table(
    similarity: Callable[[str, str], float], texts: Sequence[str], rated: Sequence[str]
) -> FloatArray:
    """Similarities of each text and each rated one [texts, rated]."""
    values = [similarity(text, other) for text, other in product(texts, rated)]
    return np.array(values, dtype=np.float64).reshape(len(texts), len(rated))
