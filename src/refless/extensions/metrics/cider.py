"""CIDEr-D (Vedantam et al. 2015): agreement in n-grams, telling ones weighing more."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from refless.data.records import Outputs
from refless.extensions.metrics.bleu import CASE
from refless.extensions.metrics.counting import Counted, counted
from refless.extensions.metrics.references import check_references
from refless.metrics.protocol import Metric, Scores, averaged
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.signature import Signature
from refless.registry.spec import About, check
from refless.registry.version import __version__
from refless.text.ngrams import HIGHEST_ORDER
from refless.text.tokenize import TOKENS, tokenizer

FACTOR = 10.0  # as in coco-caption and its like


@dataclass(frozen=True, kw_only=True)
class CIDErD(Metric):
    """CIDEr-D in [0, 10], equal to coco-caption's; the corpus score is the mean.

    Words are not stemmed. Document frequencies come from the references that are scored: numbers
    over different sets of references cannot be compared, and a single item has no score (NaN), for
    nothing in it is rarer than anything else. An item is a document, as an image is in
    coco-caption: all references that any of its rows has, whatever their order.

    Attributes:
        order: highest n-gram order.
        tokenize: a name of `refless.text.tokenize`.
        lowercase: whether case is ignored.
        sigma: width of the penalty on lengths that differ (counted in bigrams, as coco-caption).
    """

    name: ClassVar[str] = "cider-d"
    needs: ClassVar[tuple[str, ...]] = ("references",)

    order: Annotated[
        int, About("highest n-gram order", at_least=1, at_most=HIGHEST_ORDER)
    ] = 4
    tokenize: Annotated[str, TOKENS] = "words"
    lowercase: Annotated[bool, CASE] = False
    sigma: Annotated[float, About("width of the penalty on lengths", above=0)] = 6.0

    def __post_init__(self) -> None:
        check(self)
        tokenizer(self.tokenize)

    def score(self, outputs: Outputs) -> Scores:
        """Scores of the outputs.

        Raises:
            InputError: an output without references, or references in another shape.
        """
        check_references(outputs)
        fold = str.lower if self.lowercase else str
        texts = counted(outputs, self.order, self.tokenize, fold)
        documents = _documents(outputs)
        lengths = np.maximum(texts.features.lengths - 1, 0)
        apart = texts.repeated(lengths[texts.outputs]) - lengths[texts.references]
        damping = np.exp(-(apart**2) / (2 * self.sigma**2))
        pairs = _cosines(texts, documents) * damping
        sums = np.add.reduceat(pairs, texts.begins[:-1])
        segments = FACTOR * sums / np.diff(texts.begins)
        if documents.max() == 0:
            segments = np.full(len(segments), np.nan)
        return averaged(segments)

    def signature(self) -> Signature:
        """Everything that can change the scores."""
        signed = Signature(self.name).plus(
            order=self.order, sigma=self.sigma, tok=self.tokenize
        )
        return signed.plus(lower=self.lowercase, df="references", v=__version__)


def _cosines(texts: Counted, documents: IntArray) -> FloatArray:
    """[references] mean over the orders of the cosine between output and reference."""
    from refless.extensions.metrics.loops import (  # which loads numba
        clipped_cosines,
        document_frequencies,
    )

    features = texts.features
    # each text once a document, documents one after the other
    n = len(features.lengths)
    owned = np.unique(texts.repeated(documents) * n + texts.references)
    ends = np.cumsum(np.append(0, np.bincount(owned // n)))
    members = owned % n
    pairs = (texts.outputs, texts.references, texts.begins)
    totals = np.zeros(len(texts.references))
    for starts in features.starts:
        frequencies = document_frequencies(
            features.ids, starts, members, ends, texts.size
        )
        idf = np.log(len(ends) - 1) - np.log(np.maximum(frequencies, 1))
        totals += clipped_cosines(features.ids, features.weights, starts, idf, *pairs)
    return totals / len(features.starts)


def _documents(outputs: Outputs) -> IntArray:
    """[n] number of each output's document: several systems' outputs of one item have one.

    Without items, outputs of several systems with the same references have one; else each its own.
    """
    keys: Sequence[object] = outputs.items
    if not keys and outputs.systems:
        keys = [tuple(sorted(reference)) for reference in outputs.references]
    place: dict[object, int] = {}
    return np.array(
        [place.setdefault(key, len(place)) for key in keys or range(len(outputs))]
    )
