"""Slow twins that several tests use."""

import math
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from refless.metrics.bleu import gram_counts
from refless.registry.arrays import FloatArray
from refless.text.ngrams import Shape
from refless.text.tokenize import tokenizer


def gram_cosine(output: str, rated: str, shape: Shape | None = None) -> float:
    """The slow twin of `PreparedBleu.cosine`."""
    shape = shape or Shape()
    split = tokenizer(shape.tokenize)
    x = split(output)
    s = split(rated)
    if min(len(x), len(s)) < shape.high:
        return 0.0
    total = 0.0
    for n in range(shape.low, shape.high + 1):
        mine = gram_counts(x, n)
        theirs = gram_counts(s, n)
        matches = sum(min(c, theirs[g]) for g, c in mine.items() if g in theirs)
        total += matches / math.sqrt((len(x) - n + 1) * (len(s) - n + 1))
    return total / shape.orders


def table(
    similarity: Callable[[str, str], float], texts: Sequence[str], rated: Sequence[str]
) -> FloatArray:
    """Similarities of each text and each rated one [texts, rated]."""
    values = [similarity(text, other) for text, other in product(texts, rated)]
    return np.array(values, dtype=np.float64).reshape(len(texts), len(rated))
