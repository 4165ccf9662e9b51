"""ROUGE-L as a kernel: F1 of the longest common subsequence of an output and a rated text."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

import numpy as np

from refless.metrics.kernels.dense import Dense, Rows
from refless.registry.arrays import FloatArray
from refless.registry.spec import check
from refless.text.tokenize import TOKENS, tokenizer


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
        """The rated texts, split into tokens."""
        rated = [*map(tokenizer(self.tokenize), texts)]
        return Dense(
            size=len(texts),
            rows=partial(_rows, rated=rated, tokenize=self.tokenize),
            tokenize=self.tokenize,
        )

    def settings(self) -> dict[str, object]:
        """The tokens."""
        return {"tok": self.tokenize}


def _rows(texts: Sequence[str], *, rated: Sequence[list[str]], tokenize: str) -> Rows:
    from rapidfuzz.distance import LCSseq
    from rapidfuzz.process import cdist

    outputs = [*map(tokenizer(tokenize), texts)]
    ids = {
        token: i
        for i, token in enumerate({t for tokens in (*rated, *outputs) for t in tokens})
    }
    # rapidfuzz compares strings of characters quickest: each token is one
    x, s = (
        ["".join(chr(ids[token]) for token in tokens) for tokens in column]
        for column in (outputs, rated)
    )
    lengths = np.array([*map(len, rated)])

    def block(begin: int, end: int) -> FloatArray:
        common = cdist(x[begin:end], s, scorer=LCSseq.similarity, dtype=np.uint32)
        total = np.array([*map(len, x[begin:end])])[:, None] + lengths
        shares: FloatArray = np.zeros(total.shape)
        np.divide(2.0 * common, total, out=shares, where=total > 0)
        return shares

    return block
