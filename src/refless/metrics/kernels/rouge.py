"""ROUGE-L as a kernel: F1 of the longest common subsequence of an output and a rated text."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Annotated, ClassVar

import numpy as np

from refless.metrics.kernels.dense import Dense, Rows
from refless.registry.arrays import FloatArray, IntArray
from refless.registry.spec import check
from refless.text.terms import tokens_of
from refless.text.tokenize import TOKENS, IdArray


@dataclass(frozen=True, slots=True, kw_only=True)
class RougeL:
    """ROUGE-L's F1, symmetric in its texts.

    Attributes:
        tokenize: words split at white space, as the paper's numbers need it, or another tokenizer.
    """

    name: ClassVar[str] = "rouge-l"
    default_tau: ClassVar[float] = 0.06

    tokenize: Annotated[str, TOKENS] = "words"

    def __post_init__(self) -> None:
        check(self)

    def prepare(self, texts: Sequence[str]) -> Dense:
        """The rated texts as token ids."""
        tokens = tokens_of(texts, self.tokenize)
        known, places = np.unique(tokens.keys, return_inverse=True)
        ranks = _ranks(places, len(known))
        rows = partial(
            _rows,
            rated=_sequences(ranks[places], tokens.starts),
            lengths=tokens.lengths,
            tokenize=self.tokenize,
            known=np.append(known.astype(np.int64), -1),
            ranks=ranks,
        )
        return Dense(size=len(texts), rows=rows, tokenize=self.tokenize)

    def settings(self) -> dict[str, object]:
        """The tokens."""
        return {"tok": self.tokenize}


def _ranks(ids: IntArray, n: int) -> IdArray:
    """[n + 1] the place of each token by frequency: rapidfuzz finds numbers below 256 quickest.

    The last one is that of tokens that no rated text has.
    """
    order = np.argsort(-np.bincount(ids, minlength=n), kind="stable")
    ranks = np.empty(n + 1, dtype=np.int32)
    ranks[order] = np.arange(n)
    ranks[n] = n
    return ranks


def _sequences(tokens: IdArray, starts: IntArray) -> list[array[int]]:
    """The tokens of each text."""
    numbers = array("i", tokens.tobytes())
    return [numbers[begin:end] for begin, end in pairwise(starts.tolist())]


def _rows(
    texts: Sequence[str],
    *,
    rated: list[array[int]],
    lengths: IntArray,
    tokenize: str,
    known: IntArray,
    ranks: IdArray,
) -> Rows:
    from rapidfuzz.distance import LCSseq
    from rapidfuzz.process import cdist

    tokens = tokens_of(texts, tokenize)
    places = np.searchsorted(known[:-1], tokens.keys)
    places[known[places] != tokens.keys] = len(known) - 1
    outputs = _sequences(ranks[places], tokens.starts)
    # at least 1: an empty output shares nothing, even with an empty text
    halves = 0.5 * np.maximum(tokens.lengths, 1)[:, None]

    def block(begin: int, end: int) -> FloatArray:
        mine = outputs[begin:end]
        common = cdist(mine, rated, scorer=LCSseq.similarity, dtype=np.uint32)
        means = halves[begin:end] + 0.5 * lengths
        shares: FloatArray = np.divide(common, means, out=means)
        return shares

    return block
