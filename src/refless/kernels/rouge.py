"""ROUGE-L (Lin 2004) between an output and a rated text: F1 of their longest common subsequence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from refless.compiled import rouge as loops
from refless.kernels.dense import Dense, Rows, stretches
from refless.records import FloatArray, IntArray
from refless.tokenize import TokenIds, encode, tokenizer, vocabulary


def rouge_l(output: str, rated: str, tokenize: str = "words") -> float:
    """ROUGE-L's F1, 2 LCS / (|x| + |s|), in [0, 1]; 0 where either text has no token.

    The slow twin of the compiled loop.
    """
    from rapidfuzz.distance import LCSseq

    split = tokenizer(tokenize)
    x, s = split(output), split(rated)
    if not x or not s:
        return 0.0
    return 2 * LCSseq.similarity(x, s) / (len(x) + len(s))


@dataclass(frozen=True, slots=True, kw_only=True)
class RougeL:
    """ROUGE-L's F1, symmetric in its texts.

    Attributes:
        tokenize: words split at white space, as the paper's numbers need it, or another tokenizer.
    """

    tokenize: str = "words"

    @property
    def default_tau(self) -> float:
        """0.06 as published."""
        return 0.06

    def prepare(self, texts: Sequence[str]) -> Dense:
        """The rated texts as token ids."""
        tokens = vocabulary(texts, self.tokenize)
        rated = encode(texts, self.tokenize, tokens)
        return Dense(
            size=len(texts),
            rows=partial(_rows, rated=rated, tokenize=self.tokenize, tokens=tokens),
            count=partial(token_counts, tokenize=self.tokenize),
            common=partial(shared_stretches, tokenize=self.tokenize),
        )

    def settings(self) -> dict[str, object]:
        """The tokens."""
        return {"tok": self.tokenize}


def _rows(texts: Sequence[str], *, rated: TokenIds, tokenize: str, tokens: tuple[str, ...]) -> Rows:
    outputs = encode(texts, tokenize, tokens)
    starts = np.ascontiguousarray(rated.starts)

    def block(begin: int, end: int) -> FloatArray:
        out = np.empty((end - begin, len(starts) - 1))
        loops.f1_loop(outputs.ids, outputs.starts, begin, end, rated.ids, starts, len(tokens), out)
        return out

    return block


def token_counts(texts: Sequence[str], *, tokenize: str) -> IntArray:
    """[texts] number of tokens."""
    split = tokenizer(tokenize)
    return np.array([len(split(text)) for text in texts], dtype=np.int64)


def shared_stretches(text: str, rated: str, *, tokenize: str) -> tuple[str, ...]:
    """Stretches of tokens that both texts hold, longest first."""
    split = tokenizer(tokenize)
    return stretches(split(text), split(rated), 1, "" if tokenize == "char" else " ")
