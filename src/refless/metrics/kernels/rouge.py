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
from refless.text.tokenize import TOKENS, IdArray, TokenIds, encode, learn_tokens


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
        tokens, rated = learn_tokens(texts, self.tokenize)
        ranks = _ranks(rated.ids, len(tokens))
        rows = partial(
            _rows,
            rated=_sequences(rated, ranks),
            lengths=rated.lengths,
            tokenize=self.tokenize,
            tokens=tokens,
            ranks=ranks,
        )
        return Dense(size=len(texts), rows=rows, tokenize=self.tokenize)

    def settings(self) -> dict[str, object]:
        """The tokens."""
        return {"tok": self.tokenize}


def _ranks(ids: IdArray, n: int) -> IdArray:
    """[n + 1] the place of each token by frequency: rapidfuzz finds numbers below 256 quickest.

    The last one is that of tokens that no rated text has.
    """
    order = np.argsort(-np.bincount(ids, minlength=n), kind="stable")
    ranks = np.empty(n + 1, dtype=np.int32)
    ranks[order] = np.arange(n)
    ranks[n] = n
    return ranks


def _sequences(texts: TokenIds, ranks: IdArray) -> list[array[int]]:
    """The tokens of each text as numbers."""
    numbers = array("i", ranks[texts.ids].tobytes())
    starts = texts.starts.tolist()
    return [numbers[begin:end] for begin, end in pairwise(starts)]


def _rows(
    texts: Sequence[str],
    *,
    rated: list[array[int]],
    lengths: IntArray,
    tokenize: str,
    tokens: tuple[str, ...],
    ranks: IdArray,
) -> Rows:
    from rapidfuzz.distance import LCSseq
    from rapidfuzz.process import cdist

    encoded = encode(texts, tokenize, tokens)
    outputs = _sequences(encoded, ranks)
    # at least 1: an empty output shares nothing, even with an empty text
    halves = 0.5 * np.maximum(encoded.lengths, 1)[:, None]

    def block(begin: int, end: int) -> FloatArray:
        mine = outputs[begin:end]
        common = cdist(mine, rated, scorer=LCSseq.similarity, dtype=np.uint32)
        means = halves[begin:end] + 0.5 * lengths
        shares: FloatArray = np.divide(common, means, out=means)
        return shares

    return block
