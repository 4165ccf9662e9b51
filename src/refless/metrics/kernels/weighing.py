"""BLEU* whose rarer n-grams weigh more, as the paper proposes (section 6).

An n-gram g weighs log((N + 1) / (df(g) + 1)), df(g) being the number of the N rated texts that
contain it; each order's precision becomes the matched weight over the weight of all n-grams of the
output. An n-gram that every rated text has weighs nothing. Only precisions change; the brevity
penalty stays. Frequencies count every rated text, also those that are held out from an output.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from refless.metrics.bleu import brevity_penalty
from refless.metrics.kernels.dense import Dense, Rows
from refless.registry.arrays import FloatArray
from refless.text.ngrams import Features, Shape, Vocabulary, learn


def prepare_weighted(texts: Sequence[str], shape: Shape) -> Dense:
    """The kernel against rated texts, through products of sparse matrices."""
    return Dense(
        size=len(texts),
        rows=partial(_rows, rated=tuple(texts), shape=shape),
        tokenize=shape.tokenize,
        least=shape.high,
        stretch=shape.low,
    )


def _rows(texts: Sequence[str], *, rated: tuple[str, ...], shape: Shape) -> Rows:
    """Outputs and rated texts get one vocabulary, so that no n-gram of an output is lost."""
    from scipy.sparse import csr_array

    n = len(rated)
    vocabulary, features = learn([*rated, *texts], shape)
    weights = _weights(vocabulary, features, rated=n)
    size = (len(features.lengths), vocabulary.features)
    levels = []
    for starts in features.starts:
        first, last = starts[0], starts[-1]
        columns, counts = features.ids[first:last], np.ones(last - first)
        if not shape.clip:
            counts = features.weights[first:last].astype(np.float64)
        held = csr_array((np.ones(last - first), columns, starts - first), shape=size)
        weighed = csr_array((counts * weights[columns], columns, starts - first), shape=size)
        totals = np.asarray(weighed.sum(axis=1)).ravel()[n:]
        levels.append((weighed[n:], held[:n].T.tocsr(), totals))
    x, s = features.lengths[n:], features.lengths[:n]

    def block(begin: int, end: int) -> FloatArray:
        product = np.ones((end - begin, n))
        for weighed, others, totals in levels:
            matched = (weighed[begin:end] @ others).toarray()
            total = totals[begin:end, None]
            shares = np.divide(matched, total, out=np.zeros_like(matched), where=total > 0)
            product *= np.maximum(shares, 0.0) ** (1.0 / shape.orders)
        penalty = brevity_penalty(x[begin:end, None], s)
        return np.minimum(penalty * product, 1.0)

    return block


def _weights(vocabulary: Vocabulary, features: Features, *, rated: int) -> FloatArray:
    """[features] weight of each; the first `rated` of the texts are the rated ones."""
    out = np.ones(vocabulary.features)
    parts = [features.ids[starts[0] : starts[rated]] for starts in features.starts]
    frequency = np.bincount(np.concatenate(parts), minlength=vocabulary.features)
    for first in vocabulary.firsts:
        weight = np.log((rated + 1) / (frequency[first[:-1]] + 1))
        out[first[0] : first[-1]] = np.repeat(weight, np.diff(first))
    return out
