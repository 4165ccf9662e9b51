"""CIDEr-D (Vedantam et al. 2015): agreement in n-grams, telling ones weighing more."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from refless.data.records import Outputs
from refless.loops import Loops
from refless.metrics.references.bleu import CASE
from refless.metrics.references.counting import Counted, counted
from refless.metrics.references.protocol import Metric, Scores, averaged, check_references
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.signature import Signature
from refless.registry.spec import About, check
from refless.registry.version import __version__
from refless.text.ngrams import HIGHEST_ORDER
from refless.text.tokenize import TOKENS, tokenizer

loops = Loops("cider")

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

    order: Annotated[int, About("highest n-gram order", at_least=1, at_most=HIGHEST_ORDER)] = 4
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
        texts, documents = counted(outputs, self.order, self.tokenize, fold), _documents(outputs)
        lengths = np.maximum(texts.features.lengths - 1, 0)
        apart = texts.repeated(lengths[texts.outputs]) - lengths[texts.references]
        pairs = _cosines(texts, documents) * np.exp(-(apart**2) / (2 * self.sigma**2))
        segments = FACTOR * np.add.reduceat(pairs, texts.begins[:-1]) / np.diff(texts.begins)
        return averaged(segments if documents.max() > 0 else np.full(len(segments), np.nan))

    def signature(self) -> Signature:
        """Everything that can change the scores."""
        signed = Signature(self.name).plus(order=self.order, sigma=self.sigma, tok=self.tokenize)
        return signed.plus(lower=self.lowercase, df="references", v=__version__)


def _cosines(texts: Counted, documents: IntArray) -> FloatArray:
    """[references] mean over the orders of the cosine between output and reference."""
    of, begins, features = texts.references, texts.begins, texts.features
    totals, output = np.zeros(len(of)), texts.repeated(texts.outputs)
    # each text once a document, documents one after the other
    held = np.unique(np.stack([texts.repeated(documents), of], axis=1), axis=0)
    ends = np.concatenate([[0], np.cumsum(np.bincount(held[:, 0]))])
    within, n = np.ascontiguousarray(held[:, 1]), len(ends) - 1
    for starts in features.starts:
        seen = loops.frequencies_loop(features.ids, starts, within, ends, texts.size)
        idf = np.log(n) - np.log(np.maximum(seen, 1))
        weighed = (features.ids, features.weights, starts, idf)
        norms = loops.norms_loop(*weighed)
        dots = np.zeros(len(of))
        loops.dots_loop(*weighed, texts.outputs, of, begins, dots)
        both = norms[output] * norms[of]
        totals += np.divide(dots, both, out=np.zeros_like(dots), where=both > 0)
    return totals / len(features.starts)


def _documents(outputs: Outputs) -> IntArray:
    """[n] number of each output's document: several systems' outputs of one item have one.

    Without items, outputs of several systems with the same references have one; else each its own.
    """
    keys: Sequence[object] = outputs.items
    if not keys and outputs.systems:
        keys = [tuple(sorted(reference)) for reference in outputs.references]
    place: dict[object, int] = {}
    return np.array([place.setdefault(key, len(place)) for key in keys or range(len(outputs))])
