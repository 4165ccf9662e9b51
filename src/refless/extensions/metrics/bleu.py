"""BLEU (Papineni et al. 2002) and sentence-level BLEU."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar

import numpy as np

from refless.data.records import Outputs
from refless.extensions.metrics.counting import Counting, statistics
from refless.extensions.metrics.references import check_references
from refless.metrics.bleu import SMOOTHINGS, Smoothing, bleu_of_sums
from refless.metrics.protocol import Metric, Scores, averaged
from refless.registry.arrays import FloatArray
from refless.registry.signature import Signature
from refless.registry.spec import About, check
from refless.registry.version import __version__
from refless.text.ngrams import HIGHEST_ORDER
from refless.text.tokenize import TOKENS, tokenizer

ORDER = About("highest n-gram order", at_least=1, at_most=HIGHEST_ORDER)
CASE = About("ignore case")
SMOOTH = About("smoothing", choices=tuple(SMOOTHINGS))


@dataclass(frozen=True, kw_only=True)
class BLEU(Metric):
    """Corpus BLEU, 0 to 100, equal to sacrebleu's; each segment equals its `sentence_bleu`.

    A segment leaves out orders that are longer than the output; the corpus score never does.

    Attributes:
        order: highest n-gram order.
        tokenize: a name of `refless.text.tokenize`; `char` skips white space, as sacrebleu's does.
        lowercase: whether case is ignored.
        smooth: exp, none, floor, add-k (sacrebleu's), or coco: coco-caption's BLEU.
        value: what floor puts and add-k adds; None for 0.1 and 1.
    """

    name: ClassVar[str] = "bleu"
    needs: ClassVar[tuple[str, ...]] = ("references",)

    order: Annotated[int, ORDER] = 4
    tokenize: Annotated[str, TOKENS] = "13a"
    lowercase: Annotated[bool, CASE] = False
    smooth: Annotated[str, SMOOTH] = "exp"
    value: Annotated[
        float | None, About("what floor puts, and add-k adds", above=0)
    ] = None

    def __post_init__(self) -> None:
        check(self)
        tokenizer(self.tokenize)
        self._smoothing()

    def score(self, outputs: Outputs) -> Scores:
        """Scores of the outputs against their references.

        Raises:
            InputError: an output without references, or references in another shape.
        """
        check_references(outputs)
        counts = statistics(replace(outputs, weights=()), self._counting())
        return scores_of(counts, self._smoothing())

    def signature(self) -> Signature:
        """Everything that can change the scores."""
        return signature_of(self.name, self._counting(), self._smoothing()).plus(
            v=__version__
        )

    def _counting(self) -> Counting:
        return Counting(
            order=self.order, tokenize=self.tokenize, lowercase=self.lowercase
        )

    def _smoothing(self) -> Smoothing:
        return Smoothing(name=self.smooth, value=self.value)


@dataclass(frozen=True, kw_only=True)
class SentenceBLEU(BLEU):
    """BLEU of every output by itself; the corpus score is the mean.

    The default is BLEU+1 (Lin & Och 2004; Nakov et al. 2012): one is added to matches and totals
    of every order above 1.
    """

    name: ClassVar[str] = "sbleu"

    smooth: Annotated[str, SMOOTH] = "add-k"

    def score(self, outputs: Outputs) -> Scores:
        """Scores of the outputs against their references; raises as BLEU does."""
        return averaged(super().score(outputs).segments)


def scores_of(counts: FloatArray, smoothing: Smoothing) -> Scores:
    """Scores out of statistics [n, k]; the corpus score does not depend on the order of rows."""
    sums = np.array([math.fsum(column) for column in counts.T.tolist()])
    combine = partial(bleu_of_sums, smoothing=smoothing)
    return Scores(
        segments=bleu_of_sums(counts, smoothing, single=True),
        corpus=float(combine(sums)),
        statistics=counts,
        combine=combine,
    )


def signature_of(name: str, counting: Counting, smoothing: Smoothing) -> Signature:
    """The part of a signature that BLEU and its kin share."""
    return Signature(name).plus(
        order=counting.order,
        tok=counting.tokenize,
        lower=counting.lowercase,
        smooth=smoothing.name,
        value=smoothing.amount,
    )
