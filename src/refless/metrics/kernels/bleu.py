"""BLEU*, the non-unigram BLEU-4 of the BLEU Neighbors paper (definition 3.1, equation 2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

import numpy as np

from refless.metrics.bleu import gram_counts
from refless.metrics.kernels.dense import BLOCK_ROWS, Dense, Rows
from refless.metrics.matching import PLAIN, Work
from refless.metrics.postings import Postings, postings_of
from refless.registry.arrays import IntArray
from refless.registry.spec import About, check
from refless.text.ngrams import Shape, Vocabulary, learn, look_up
from refless.text.tokenize import TOKENS, tokenizer


def bleu_star(output: str, rated: str, shape: Shape | None = None) -> float:
    """BLEU* of an output (hypothesis) against a rated text, in [0, 1]: the definition, spelled out.

    The brevity penalty times the geometric mean of the clipped n-gram precisions; 0 where an order
    has no match. The slow twin of the compiled loop.
    """
    shape = shape or Shape()
    split = tokenizer(shape.tokenize)
    x = split(output)
    s = split(rated)
    product = 1
    grams = 1
    for n in range(shape.low, shape.high + 1):
        mine = gram_counts(x, n)
        theirs = gram_counts(s, n)
        limit = theirs if shape.clip else mine
        product *= sum(min(c, limit[g]) for g, c in mine.items() if g in theirs)
        grams *= max(0, len(x) - n + 1)
    if product == 0:
        return 0.0
    beta = math.exp(min(0.0, 1.0 - len(s) / len(x)))
    return float(beta * (product / grams) ** (1.0 / shape.orders))


@dataclass(frozen=True, slots=True, kw_only=True)
class BleuStar:
    """BLEU*; by default, as published, of characters.

    Attributes:
        tokenize: `char`, `words`, `13a`, `intl`, `zh`, `ja-mecab`, `ko-mecab`.
        orders: lowest and highest n-gram order.
        clip: whether each n-gram of the output is matched at most once, as in BLEU.
    """

    name: ClassVar[str] = "bleu*"
    default_tau: ClassVar[float] = 0.08

    tokenize: Annotated[str, TOKENS] = "char"
    orders: Annotated[tuple[int, int], About("lowest and highest n-gram order")] = (
        2,
        4,
    )
    clip: Annotated[bool, About("match each n-gram at most once, as in BLEU")] = True

    def __post_init__(self) -> None:
        check(self)
        # checks the orders
        Shape(tokenize=self.tokenize, low=self.orders[0], high=self.orders[1])

    @property
    def shape(self) -> Shape:
        """The n-grams that are counted."""
        low, high = self.orders
        return Shape(tokenize=self.tokenize, low=low, high=high, clip=self.clip)

    def prepare(self, texts: Sequence[str]) -> PreparedBleu:
        """The postings of the rated texts."""
        return PreparedBleu.build(texts, self.shape)

    def settings(self) -> dict[str, object]:
        """Tokens, orders and clipping."""
        shape = self.shape
        return {
            "tok": shape.tokenize,
            "n": f"{shape.low}-{shape.high}",
            "clip": shape.clip,
        }


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PreparedBleu(Dense):
    """BLEU* against a fixed list of rated texts, through postings of their n-grams."""

    vocabulary: Vocabulary
    postings: Postings

    @classmethod
    def build(cls, texts: Sequence[str], shape: Shape) -> PreparedBleu:
        """Postings of the texts."""
        vocabulary, features = learn(texts, shape)
        return cls.joined(vocabulary, postings_of(features, vocabulary))

    @classmethod
    def joined(cls, vocabulary: Vocabulary, postings: Postings) -> PreparedBleu:
        """Texts that were read before."""
        shape = vocabulary.shape
        return cls(
            size=len(postings.rows),
            rows=partial(_rows, vocabulary=vocabulary, postings=postings),
            tokenize=shape.tokenize,
            least=shape.high,
            stretch=shape.low,
            vocabulary=vocabulary,
            postings=postings,
        )

    def neighbor_sums(
        self, texts: Sequence[str], values: IntArray, tau: float, work: Work = PLAIN
    ) -> tuple[IntArray, IntArray]:
        """A kernel's sums without a table of similarities: products of counts are compared."""
        n = len(texts)
        outputs = look_up(texts, self.vocabulary)
        hidden = self.postings.placed(work.held, n)
        placed = np.ascontiguousarray(values[self.postings.rows])
        counts = np.zeros(n, dtype=np.int64)
        sums = np.zeros(n, dtype=np.int64)

        def job(begin: int) -> None:
            span = begin, min(begin + BLOCK_ROWS, n)
            self.postings.add_sums(outputs, span, hidden, tau, placed, (counts, sums))

        jobs = [partial(job, begin) for begin in range(0, n, BLOCK_ROWS)]
        work.run([jobs], len(jobs))
        return counts, sums


def _rows(texts: Sequence[str], *, vocabulary: Vocabulary, postings: Postings) -> Rows:
    return partial(postings.similarities, look_up(texts, vocabulary))
