"""BLEU* whose n-grams do not all count alike: variants that the paper proposes (section 6).

* Without stop words: an n-gram of words all of which are stop words is left out of matches and
  totals alike, so that "of the" makes nobody a neighbour. One content word keeps it in.
* Rarer n-grams weigh more: an n-gram g weighs log((N + 1) / (df(g) + 1)), df(g) being the number of
  the N rated texts that hold it; each order's precision becomes the matched weight over the weight
  of all n-grams of the output. An n-gram that every rated text has weighs nothing.

Both change precisions only; the brevity penalty stays. Frequencies count every rated text, also
those that are held out from an output.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from refless.metrics.kernels.dense import Dense, Rows
from refless.metrics.similarities.bleu import brevity_penalty
from refless.registry.arrays import BoolArray, FloatArray, IntArray
from refless.registry.errors import UsageError
from refless.text.ngrams import Features, Shape, Vocabulary, learn
from refless.text.stopwords import stop_settings, stop_words

Weigh = Callable[[Vocabulary, Features], FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """How n-grams count.

    Attributes:
        stop_words: `english` or a file with a word a line; None leaves all n-grams in.
        rarity: whether rarer n-grams weigh more.
    """

    stop_words: str | None = None
    rarity: bool = False

    def __bool__(self) -> bool:
        return self.stop_words is not None or self.rarity

    def words(self) -> frozenset[str]:
        """The stop words."""
        return frozenset() if self.stop_words is None else stop_words(self.stop_words)

    def settings(self) -> dict[str, object]:
        """What belongs in a signature, nothing for plain BLEU*."""
        listed = {} if self.stop_words is None else stop_settings(self.stop_words)
        return {**listed, **({"rarity": "log"} if self.rarity else {})}


def check_weighing(weighing: Weighing, shape: Shape) -> None:
    """Raises UsageError for stop words with characters for tokens."""
    if weighing.stop_words is not None and shape.tokenize == "char":
        raise UsageError("stop words are words: give a tokenizer of words too (tokenize words)")


def prepare_weighted(texts: Sequence[str], shape: Shape, weighing: Weighing) -> Dense:
    """The kernel against rated texts, through products of sparse matrices."""
    check_weighing(weighing, shape)
    weigh = partial(_weights, rated=len(texts), stop=weighing.words(), rarity=weighing.rarity)
    return Dense(
        size=len(texts),
        rows=partial(_rows, rated=tuple(texts), shape=shape, weigh=weigh),
        tokenize=shape.tokenize,
        least=shape.high,
        stretch=shape.low,
    )


def _rows(texts: Sequence[str], *, rated: tuple[str, ...], shape: Shape, weigh: Weigh) -> Rows:
    """Outputs and rated texts get one vocabulary, so that no n-gram of an output is lost."""
    from scipy.sparse import csr_array

    n = len(rated)
    vocabulary, features = learn([*rated, *texts], shape)
    weights = weigh(vocabulary, features)
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


def _weights(
    vocabulary: Vocabulary, features: Features, *, rated: int, stop: frozenset[str], rarity: bool
) -> FloatArray:
    """[features] weight of each; the first `rated` of the texts are the rated ones."""
    out = np.ones(vocabulary.features)
    stopped = _stopped(vocabulary, stop)
    holding = np.bincount(_ids_of(features, rated), minlength=vocabulary.features)
    for first, left_out in zip(vocabulary.firsts, stopped, strict=True):
        weight = np.where(left_out, 0.0, 1.0)
        if rarity:
            weight = weight * np.log((rated + 1) / (holding[first[:-1]] + 1))
        out[first[0] : first[-1]] = np.repeat(weight, np.diff(first))
    return out


def _ids_of(features: Features, rated: int) -> IntArray:
    parts = [features.ids[starts[0] : starts[rated]] for starts in features.starts]
    return np.concatenate(parts).astype(np.int64)


def _stopped(vocabulary: Vocabulary, stop: frozenset[str]) -> list[BoolArray]:
    """For each order, which n-grams are made of stop words only."""
    tokens = np.array([token in stop for token in vocabulary.tokens], dtype=np.bool_)
    level, found = tokens, [tokens]
    for keys in vocabulary.keys:
        head, last = np.divmod(keys, max(1, len(tokens)))
        level = level[head] & tokens[last]
        found.append(level)
    return found[vocabulary.shape.low - 1 :]
