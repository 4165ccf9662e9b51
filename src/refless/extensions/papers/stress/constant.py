"""BLEU of outputs that are the same for every item, from corpus statistics.

The k-th occurrence of an n-gram is a feature of its own, so clipped matches are products of sparse
matrices: which texts have which features, times in how many items' references these are. The latter
is counted once, whatever the number of candidates.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from refless.data.records import Outputs
from refless.extensions.metrics.bleu import BLEU
from refless.extensions.metrics.counting import Counting
from refless.registry.arrays import FloatArray, IntArray
from refless.text.ngrams import Features, Shape, learn, look_up
from refless.text.tokenize import SACREBLEU, distinct, tokenizer

Matrix = Any  # scipy's sparse arrays have no types
References = Sequence[Sequence[str]]


def by_order(features: Features, size: int) -> list[Matrix]:
    """For each order [texts, features] 1 where the text has the feature."""
    from scipy.sparse import csr_array

    matrices = []
    for starts in features.starts:
        ids = features.ids[starts[0] : starts[-1]]
        values = np.ones(len(ids), dtype=np.int64)
        matrices.append(
            csr_array((values, ids, starts - starts[0]), (len(starts) - 1, size))
        )
    return matrices


class ConstantBLEU:
    """BLEU of sentences each of which stands as the output for every item.

    Args:
        metric: BLEU with its settings.
        references: [items] the references of each item.
    """

    def __init__(self, metric: BLEU, references: References) -> None:
        from scipy.sparse import csr_array

        self.metric = metric
        texts, of = distinct(self.read(list(chain.from_iterable(references))))
        # where each item's references begin
        self.first = np.cumsum([0, *map(len, references)])
        tokens = "char" if metric.tokenize == "char" else "words"
        shape = Shape(tokenize=tokens, low=1, high=metric.order, clip=True)
        self.vocabulary, features = learn(texts, shape)
        present: Matrix = sum(by_order(features, self.vocabulary.features))
        values = np.ones(len(of), dtype=np.int64)
        items = csr_array((values, of, self.first), (len(references), len(texts)))
        # [features] items that have it
        self.frequencies = (items @ present).sign().sum(axis=0)
        self.lengths = features.lengths[of]
        self.combine = metric.score(
            Outputs(ids=("1",), texts=("a",), references=(("a",),))
        ).combine

    def read(self, texts: Sequence[str]) -> list[str]:
        """Texts as the metric sees them, with a space between tokens unless they are characters."""
        counting = Counting(
            tokenize=self.metric.tokenize, lowercase=self.metric.lowercase
        )
        folded = [counting.fold(text) for text in texts]
        if self.metric.tokenize not in SACREBLEU:
            return folded
        split = tokenizer(self.metric.tokenize)
        return [" ".join(split(text)) for text in folded]

    def scores(self, texts: Sequence[str]) -> FloatArray:
        """[texts] corpus BLEU of each as the output for every item; texts as `read` gave them."""
        features = look_up(texts, self.vocabulary)
        matches = [
            present @ self.frequencies
            for present in by_order(features, len(self.frequencies))
        ]
        lengths = features.lengths
        n = len(self.first) - 1
        totals = np.maximum(lengths - np.arange(self.metric.order)[:, None], 0)
        sums = np.stack(
            [n * lengths, self._closest(lengths), *matches, *(n * totals)], axis=1
        )
        return self.combine(sums.astype(np.float64))

    def _closest(self, lengths: IntArray) -> IntArray:
        """[texts] the closest reference lengths to each, summed over items."""
        levels, row = np.unique(lengths, return_inverse=True)
        far = int(max(levels.max(initial=0), self.lengths.max(initial=0))) + 1
        keys = np.abs(self.lengths - levels[:, None]) * far + self.lengths
        nearest = np.minimum.reduceat(keys, self.first[:-1], axis=1) % far
        return np.asarray(nearest.sum(axis=1)[row])
