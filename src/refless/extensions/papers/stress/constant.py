"""What an output that is the same for every item scores, from corpus statistics; here BLEU.

With the k-th occurrence of an n-gram as a feature of its own, an output's clipped matches with the
references of one item are the number of its features that any of them has. Summed over items, they
are the sum over its features of the number of items that have the feature: a table that is made
once, whatever the number of candidates.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Protocol

import numpy as np

from refless.data.records import Outputs
from refless.loops import Loops
from refless.metrics.matching import cores
from refless.metrics.references.bleu import BLEU
from refless.metrics.references.cider import CIDEr
from refless.metrics.references.protocol import Combine
from refless.registry.arrays import FloatArray, IntArray
from refless.text.ngrams import Features, Shape, Vocabulary, learn, look_up
from refless.text.tokenize import SACREBLEU, distinct, tokenizer

cider_loops = Loops("cider")
loops = Loops("refless.extensions.papers.stress.loops")

References = Sequence[Sequence[str]]


class Constant(Protocol):
    """Scores of sentences each of which stands as the output for every item."""

    def read(self, texts: Sequence[str]) -> list[str]:
        """The texts as `scores` and `joined` take them: split into tokens, once."""
        ...

    def scores(self, texts: Sequence[str]) -> FloatArray:
        """[texts] corpus score of each."""
        ...

    def joined(self, texts: Sequence[str], chosen: Sequence[str]) -> FloatArray:
        """[texts] corpus score if each joins a set, of which every item has its best sentence."""
        ...


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Known:
    """The references, each distinct text once.

    Attributes:
        texts: the distinct references, as the metric reads them.
        of: [references] which of them each is; item i has `of[first[i]:first[i + 1]]`.
    """

    texts: tuple[str, ...]
    of: IntArray
    first: IntArray


def read(metric: BLEU | CIDEr, texts: Sequence[str]) -> list[str]:
    """Texts as the metric sees them, with a space between tokens (unless they are characters)."""
    if metric.lowercase:
        texts = [text.lower() for text in texts]
    if metric.tokenize not in SACREBLEU:
        return list(texts)
    if isinstance(metric, BLEU):  # sacrebleu cuts the end's space first
        texts = [text.rstrip() for text in texts]
    split = tokenizer(metric.tokenize)
    return [" ".join(split(text)) for text in texts]


def shape_of(metric: BLEU | CIDEr) -> Shape:
    """What is counted in texts that were read."""
    tokens = "char" if metric.tokenize == "char" else "words"
    return Shape(tokenize=tokens, low=1, high=metric.order, clip=True)


def known_of(metric: BLEU | CIDEr, references: References) -> Known:
    """The references of all items."""
    texts, of = distinct(read(metric, list(chain.from_iterable(references))))
    return Known(texts=tuple(texts), of=of, first=np.cumsum([0, *map(len, references)]))


def frequencies_of(features: Features, known: Known, size: int) -> IntArray:
    """[size] in how many items' references each feature is."""
    found = np.zeros(size, dtype=np.int64)
    for starts in features.starts:
        args = (features.ids, starts, known.of, known.first, size)
        found += cider_loops.frequencies_loop(*args)
    return found


class ConstantBLEU:
    """BLEU of constant outputs.

    Args:
        metric: BLEU with its settings.
        references: [items] the references of each item.
    """

    def __init__(self, metric: BLEU, references: References) -> None:
        self.metric, self.known = metric, known_of(metric, references)
        self.vocabulary, self.features = learn(self.known.texts, shape_of(metric))
        size = self.vocabulary.features
        self.frequencies = frequencies_of(self.features, self.known, size)
        self.postings = loops.items_loop(
            self.features.ids,
            self.features.starts,
            self.known.of,
            self.known.first,
            self.frequencies,
        )
        one = Outputs(ids=("1",), texts=("a",), references=(("a",),))
        self.combine: Combine | None = metric.score(one).combine

    def read(self, texts: Sequence[str]) -> list[str]:
        """The texts, split into tokens."""
        return read(self.metric, texts)

    def scores(self, texts: Sequence[str]) -> FloatArray:
        """[texts] corpus BLEU of each as the output for every item."""
        features = look_up(texts, self.vocabulary)
        ends = np.concatenate([[0], np.cumsum(self.frequencies[features.ids])])
        matches = [ends[starts[1:]] - ends[starts[:-1]] for starts in features.starts]
        closest, row = self._closest(features.lengths)
        lengths, n = features.lengths, len(self.known.first) - 1
        totals = [n * np.maximum(lengths - k, 0) for k in range(self.metric.order)]
        sums = np.stack([n * lengths, closest.sum(axis=1)[row], *matches, *totals], axis=1)
        return self._combined(sums.astype(np.float64))

    def joined(self, texts: Sequence[str], chosen: Sequence[str]) -> FloatArray:
        """[texts] corpus BLEU if each joins the chosen sentences.

        Every item has the sentence of the set with the highest BLEU+1 there (its first if equal).
        """
        features = look_up(texts, self.vocabulary)
        best, state = self._best(chosen)
        closest, row = self._closest(features.lengths)
        logs = self._logs(features)
        sums = np.zeros((len(texts), state.shape[1]))

        def part(begin: int, end: int) -> None:
            args = (features.ids, features.starts, features.lengths, begin, end, *self.postings)
            loops.bleu_sets_loop(*args, closest, row, logs, best, state, sums[begin:end])

        in_parts(part, len(texts))
        return self._combined(sums)

    def _best(self, chosen: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """For each item BLEU+1 and the statistics of its best sentence."""
        order, n = self.metric.order, len(self.known.first) - 1
        best, state = np.full(n, -1.0), np.zeros((n, 2 + 2 * order))
        for text in chosen:
            features = look_up([text], self.vocabulary)
            length, logs = int(features.lengths[0]), self._logs(features)
            closest = self._closest(features.lengths)[0][0]
            begins, items = self.postings
            found = np.zeros((order, n), dtype=np.int64)
            for k in range(order):
                for f in features.ids[features.starts[k, 0] : features.starts[k, 1]]:
                    found[k, items[begins[f] : begins[f + 1]]] += 1
            totals = np.maximum(length - np.arange(order), 0)
            for i in range(n):
                score = loops.bleu_plus_one(found[:, i], length, closest[i], logs)
                if score > best[i] + 1e-9:
                    best[i] = score
                    state[i] = [length, closest[i], *found[:, i], *totals]
        return best, state

    def _logs(self, features: Features) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.arange(int(features.lengths.max(initial=0)) + 3)))

    def _combined(self, sums: FloatArray) -> FloatArray:
        if self.combine is None:
            return np.full(len(sums), np.nan)
        return self.combine(sums)

    def _closest(self, lengths: IntArray) -> tuple[IntArray, IntArray]:
        """[distinct lengths, items] the closest reference length, and the row of each length."""
        distinct, row = np.unique(lengths, return_inverse=True)
        others = self.features.lengths[self.known.of]
        far = int(max(distinct.max(initial=0), others.max(initial=0))) + 1
        found = np.empty((len(distinct), len(self.known.first) - 1), dtype=np.int64)
        for i, length in enumerate(distinct):
            keys = np.abs(others - length) * far + others
            found[i] = np.minimum.reduceat(keys, self.known.first[:-1]) % far
        return found, row


def in_parts(work: Callable[[int, int], None], n: int) -> None:
    """Runs `work(begin, end)` over parts of n rows, on all cores; no result depends on it."""
    bounds = np.linspace(0, n, 4 * cores() + 1).astype(int).tolist()
    with ThreadPoolExecutor(cores()) as threads:
        list(threads.map(lambda pair: work(*pair), pairwise(bounds)))


def first_of(vocabulary: Vocabulary) -> IntArray:
    """[features] the first occurrence's feature of each feature's n-gram."""
    rows = [np.repeat(first[:-1], np.diff(first)) for first in vocabulary.firsts]
    return np.concatenate(rows)
